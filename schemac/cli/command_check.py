"""`schemac check`: findings, and nothing written.

Layer: cli.
"""

import argparse
from contextlib import nullcontext
from dataclasses import replace

from schemac.cli.denial import add_deny, with_denied
from schemac.cli.fixes import add_fix_arguments, checked, fix_hint, fix_settings, is_fixing, run_fixes
from schemac.cli.output import add_compile_arguments, exit_code, print_status, show
from schemac.cli.pipelines import apart, check_pipelines, manifests_of
from schemac.cli.project import (
    add_stdin,
    edited_of,
    imported_files,
    open_project,
    overlay_of,
    report_files,
)
from schemac.cli.watching import Watched, add_watch, watch
from schemac.physical.arrow import numpy_left_out
from schemac.project.compile import compile_files
from schemac.project.options import CompileOptions
from schemac.source.render.text import count_summary
from schemac.source.report import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_compile_arguments(parser)
    add_fix_arguments(parser)
    add_deny(parser)
    add_stdin(parser)
    add_watch(parser)


def run(options: argparse.Namespace) -> int:
    """Check; return the exit code."""
    return watch(options, lambda: _once(options)) if options.watch else _once(options).code


def _once(options: argparse.Namespace) -> Watched:
    report = Report()
    project, named_files = open_project(options, report)
    compile_options = CompileOptions.of(project, strict=options.strict, system_columns=options.system_columns)
    compile_options = replace(
        with_denied(compile_options, options),
        overlay=overlay_of(options, report),
        edited=edited_of(named_files),
        has_rules=True,
    )
    if is_fixing(options) and not report.has_errors:
        return Watched(run_fixes(options, named_files, project, compile_options, report), project)
    if is_fixing(options) and fix_settings(options, report):
        return _once(options)
    files, pipelines = apart(named_files, compile_options.edited)
    # Targets make schemas with Arrow and no arrays; a pipeline needs Arrow with numpy, and it is loaded once.
    with nullcontext() if pipelines else numpy_left_out():
        output = compile_files(files, project, compile_options, report, is_whole=not options.paths)
    check_pipelines(pipelines, compile_options, report)
    project.cache.save()
    diagnostics = report.diagnostics
    show(diagnostics, options)
    report_files(output.files, project, options)
    print_status(
        f"{checked(output, pipelines)}: {count_summary(diagnostics) or 'no findings'}{fix_hint(diagnostics)}",
        options,
    )
    # Read again for those who watch alone.
    manifests = manifests_of(pipelines, compile_options.edited) if options.watch else ()
    others = (*imported_files(output.files), *manifests)
    return Watched(exit_code(diagnostics, options), project, others)
