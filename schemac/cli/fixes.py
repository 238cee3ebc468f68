"""`--fix`, `--unsafe-fixes` and `--diff` of `schemac check`.

Layer: cli.
"""

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from schemac.cli.exit_code import ExitCode
from schemac.cli.output import exit_code, print_status, show
from schemac.cli.pipelines import apart, check_pipelines
from schemac.cli.terminal import notify, put_source
from schemac.project.compile import Output, compile_files
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.project.fixing import Fixing
from schemac.project.options import CompileOptions
from schemac.source.diagnostic import Diagnostic
from schemac.source.listing import listed
from schemac.source.render.text import count_summary, render_text
from schemac.source.report import Report

if TYPE_CHECKING:
    # For start-up time: few runs have one.
    from schemac.project.overlays import RunOverlay


def add_fix_arguments(parser: argparse.ArgumentParser) -> None:
    """`--fix`, `--unsafe-fixes`, `--diff`."""
    parser.add_argument("--fix", action="store_true", help="apply the safe fixes")
    parser.add_argument(
        "--unsafe-fixes",
        action="store_true",
        help="with --fix or --diff: also fixes that are a guess, or that change the meaning of a manifest",
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
    return "checked " + ", ".join(f"{n} {noun}{'s' if n != 1 else ''}" for n, noun in counts)


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
    """Fix what can be fixed, say what is left; the exit code is that of the check after it."""
    output, pipelines = Output(), list[ManifestFile]()

    def check(edited: dict[str, bytes]) -> Sequence[Diagnostic]:
        nonlocal output, pipelines
        local_report = Report()
        local_report.extend(report.diagnostics)
        overlay = _overlay(options, compile_options, edited, local_report)
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
        put_source(_standard_output(fixing, named, compile_options))
        notify(render_text(findings).rstrip() or "no findings")
        return exit_code(findings, options)
    written = Report()
    fixing.write(written)
    findings = (*findings, *written.diagnostics)
    show(findings, options)
    print_status(f"{checked(output, pipelines)}: {count_summary(findings) or 'no findings'}", options)
    print_status(_summary(fixing, findings, "fixed"), options)
    return exit_code(findings, options)


def _overlay(
    options: argparse.Namespace, compile_options: CompileOptions, edited: dict[str, bytes], report: Report
) -> "RunOverlay | None":
    """Return the overlay of a run as its fixes have made it so far."""
    content = edited.get(os.path.abspath(options.overlay)) if options.overlay is not None else None
    if content is None:
        return compile_options.overlay
    from schemac.project.overlays import overlay_of  # for start-up time: few runs have one

    return overlay_of(content, str(options.overlay), report)


def _standard_output(fixing: Fixing, files: Sequence[ManifestFile], compile_options: CompileOptions) -> str:
    """Return the text of the standard input after its fixes; without any it comes out as it was."""
    name = files[0].name
    return fixing.text(name) if name in fixing.after else next(iter(compile_options.edited.values())).decode()


def _diff(fixing: Fixing) -> str:
    from schemac.source.render.diff import render_diff  # for start-up time: few runs show a change

    return "".join(render_diff(n, fixing.before[n], fixing.text(n)) for n in fixing.after)


def _summary(fixing: Fixing, findings: Sequence[Diagnostic], done: str) -> str:
    """Return the last line: `fixed 3, 2 more with --unsafe-fixes`."""
    left = fixing.left(findings)
    more = f", {left[False]} more with --unsafe-fixes" if left[False] and not fixing.is_unsafe else ""
    return f"{done} {len(fixing.done)}{more}"
