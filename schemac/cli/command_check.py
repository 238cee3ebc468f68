"""`schemac check`: findings in manifests and pipelines, and their fixes.

Layer: cli.
Shape: a named pipeline is checked as by `schemac run --dry-run`. Pipelines in a named folder are skipped, because their
input may not be on the machine that checks manifests.
"""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from schemac.cli.output import add_compile_arguments, add_deny, exit_code, print_status, show, with_denied
from schemac.cli.project import (
    Watched,
    add_stdin,
    add_watch,
    edited_of,
    imported_files,
    open_project,
    overlay_of,
    report_files,
    watch,
)
from schemac.cli.terminal import ExitCode, notify, put_source
from schemac.language.manifest.documents import is_pipeline
from schemac.language.physical import numpy_left_out
from schemac.project.building import Output, compile_files
from schemac.project.configuration import Project, find_project
from schemac.project.discovery import ManifestFile, lock_path
from schemac.project.fixing import Fixing
from schemac.project.options import CompileOptions
from schemac.text.source.diagnostic import Diagnostic
from schemac.text.source.phrases import counted, listed
from schemac.text.source.rendering import count_summary, render_text
from schemac.text.source.report import Report
from schemac.text.source.text import decode_text, read_file
from schemac.text.syntax.document import parse

if TYPE_CHECKING:
    pass

_WORDS = (b"target", b"source")
"""A pipeline has one of them at least."""


def apart(
    files: Sequence[ManifestFile], edited: Mapping[str, bytes]
) -> tuple[list[ManifestFile], list[ManifestFile]]:
    """Return the manifests, and the pipelines among the named files."""
    pipelines = [file for file in files if file.is_named and is_pipeline(_value(file, edited))]
    return [file for file in files if file not in pipelines], pipelines


def _value(file: ManifestFile, edited: Mapping[str, bytes]) -> object:
    """Return the value of a file that may be a pipeline; None otherwise."""
    content = edited.get(os.path.abspath(file.path)) or file.content(Report())
    if content is None or not any(word in content for word in _WORDS):
        return None
    source = decode_text(content, file.name, Report())
    documents = parse(source, Report()) if source is not None else []
    return documents[0].value if documents else None


def manifests_of(pipelines: Sequence[ManifestFile], edited: Mapping[str, bytes]) -> Iterator[Path]:
    """Yield the manifests that pipelines name, also those that cannot be read, and their locks."""
    for file in pipelines:
        value = _value(file, edited)
        named = value.get("schema") if isinstance(value, dict) else None
        manifest = file.path.parent / named if isinstance(named, str) else Path()
        # A path such as `.` has no name that a lock's could be made of.
        if manifest.name:
            yield from (manifest, lock_path(manifest))


def check_pipelines(pipelines: Sequence[ManifestFile], options: CompileOptions, report: Report) -> None:
    """Report what is wrong with pipelines and their manifests."""
    for file in pipelines:
        local_report = Report()
        try:
            # Imported here for start-up time, and because Spark is an extra that may not be there.
            from schemac.pipeline.conforming.load import checked_job
        except ModuleNotFoundError as error:
            report_missing_package(error, local_report)
        else:
            checked_job(Path(file.name), local_report, options.overlay, options.edited)
            local_report = without_ignored_in(file.name, local_report, options.edited)
        report.extend(local_report.diagnostics)


def report_missing_package(error: ModuleNotFoundError, report: Report) -> None:
    """Report that a package of the pipeline is not installed."""
    # Imported here for start-up time: few checks are of pipelines.
    from schemac.pipeline.codes import MISSING_PACKAGE
    from schemac.text.source.files import install_help

    message = f"the pipeline needs {error.name}, which is not installed"
    report.add(MISSING_PACKAGE, message, help=install_help(error))


def without_ignored_in(pipeline: str, report: Report, edited: Mapping[str, bytes]) -> Report:
    """Return what no comment in a pipeline, its manifest or its overlay ignores."""
    if not report.diagnostics:
        return report
    from schemac.project.fixing import without_ignored  # for start-up time: most runs find nothing

    def text(name: str) -> bytes | None:
        try:
            return edited.get(os.path.abspath(name)) or read_file(name)
        except OSError:
            return None

    project = find_project(Path(pipeline).resolve().parent, Report())
    remaining = Report()
    remaining.extend(without_ignored(report.diagnostics, text, project))
    return remaining


def add_fix_arguments(parser: argparse.ArgumentParser) -> None:
    """`--fix`, `--unsafe-fixes`, `--diff`."""
    parser.add_argument("--fix", action="store_true", help="apply the safe fixes")
    parser.add_argument(
        "--unsafe-fixes",
        action="store_true",
        help="with --fix or --diff: also apply fixes that are guesses or change the meaning of a manifest",
    )
    parser.add_argument(
        "--diff",
        action="store_true",
        help="show what --fix would change, and write nothing; with --format json or sarif, the findings with their fixes",
    )


def fix_hint(diagnostics: Sequence[Diagnostic]) -> str:
    """Return how many of the findings have fixes, for the end of a summary."""
    safe = sum(d.fix is not None and d.fix.is_safe for d in diagnostics)
    unsafe = sum(d.fix is not None and not d.fix.is_safe for d in diagnostics)
    if not safe and not unsafe:
        return ""
    parts = [f"{safe} with --fix"] if safe else []
    parts += [f"{unsafe} with --fix --unsafe-fixes"] if unsafe else []
    return f"; can be fixed: {', '.join(parts)}"


def checked(output: Output, pipelines: Sequence[ManifestFile]) -> str:
    """Return what was checked, for the summary: `checked 3 datasets, 1 pipeline`."""
    counts = [(len(output.datasets), "dataset")] if output.datasets or not pipelines else []
    counts += [(len(pipelines), "pipeline")] if pipelines else []
    return "checked " + ", ".join(counted(n, noun) for n, noun in counts)


def is_fixing(options: argparse.Namespace) -> bool:
    """Whether fixes are to be carried out or shown. In a format for programs, findings have their fixes: `--diff` shows them as they are."""
    return options.format == "text" if options.diff else bool(options.fix)


def fix_settings(options: argparse.Namespace, report: Report) -> bool:
    """Fix what a configuration or an overlay is refused for; whether a file was written, and all has to be read again."""
    fixing = Fixing(options.unsafe_fixes)
    fixing.run(lambda _: () if fixing.after else report.diagnostics, {})
    if options.diff:
        put_source(_diff(fixing))
        return False
    fixing.write(report)
    if fixing.written:
        print_status(f"{_summary(fixing, report.diagnostics, 'fixed')} in {listed(fixing.written)}", options)
    return bool(fixing.written)


def run_fixes(
    options: argparse.Namespace,
    named: Sequence[ManifestFile],
    project: Project,
    compile_options: CompileOptions,
    report: Report,
) -> int:
    """Apply all fixes and show the remaining findings; return the exit code of the check afterwards."""
    output, pipelines = Output(), list[ManifestFile]()

    def check(edited: dict[str, bytes]) -> Sequence[Diagnostic]:
        nonlocal output, pipelines
        local_report = Report()
        local_report.extend(report.diagnostics)
        overlay = compile_options.overlay
        content = edited.get(os.path.abspath(options.overlay)) if options.overlay is not None else None
        if content is not None:
            # As the fixes have made it so far.
            from schemac.project.options import (
                overlay_of as overlay_in,
            )  # for start-up time: few runs have one

            overlay = overlay_in(content, str(options.overlay), local_report)
        now = replace(compile_options, edited={**compile_options.edited, **edited}, overlay=overlay)
        # What a fix has made readable may turn out to be a pipeline.
        files, pipelines = apart(named, now.edited)
        output = compile_files(files, project, now, local_report, is_whole=not options.paths)
        check_pipelines(pipelines, now, local_report)
        return local_report.diagnostics

    fixing = Fixing(options.unsafe_fixes)
    findings = fixing.run(check, dict(compile_options.edited))
    project.cache.save()
    if options.diff:
        put_source(_diff(fixing))
        left = count_summary(findings)
        print_status(f"{_summary(fixing, findings, 'would fix')}{f'; left: {left}' if left else ''}", options)
        return ExitCode.FINDINGS if fixing.after else exit_code(findings, options)
    if options.paths == ["-"]:
        name = named[0].name
        put_source(
            fixing.text(name)
            if name in fixing.after
            else next(iter(compile_options.edited.values())).decode()
        )
        notify(render_text(findings).rstrip() or "no findings")
        return exit_code(findings, options)
    written = Report()
    fixing.write(written)
    findings = (*findings, *written.diagnostics)
    show(findings, options)
    print_status(f"{checked(output, pipelines)}: {count_summary(findings) or 'no findings'}", options)
    print_status(_summary(fixing, findings, "fixed"), options)
    return exit_code(findings, options)


def _diff(fixing: Fixing) -> str:
    """Return the changes of all fixed files as unified diffs."""
    from schemac.text.source.rendering import render_diff  # for start-up time: few runs show a change

    return "".join(render_diff(n, fixing.before[n], fixing.text(n)) for n in fixing.after)


def _summary(fixing: Fixing, findings: Sequence[Diagnostic], done: str) -> str:
    """Return the last line: `fixed 3, 2 more with --unsafe-fixes`."""
    left = fixing.left(findings)
    more = f", {left[False]} more with --unsafe-fixes" if left[False] and not fixing.is_unsafe else ""
    return f"{done} {len(fixing.done)}{more}"


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
    """Check once, or fix if that was asked for; return the exit code with the files to watch."""
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
