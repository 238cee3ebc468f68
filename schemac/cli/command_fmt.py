"""`schemac fmt`: manifests in one style, with the same meaning and the same comments.

Layer: cli.
"""

import argparse
from typing import NamedTuple

from schemac.cli.output import add_output_arguments, add_paths, exit_code, print_status, show
from schemac.cli.project import edited_of, open_project
from schemac.cli.terminal import ExitCode, notify, put, put_source
from schemac.language.formatting.format import formatted
from schemac.project.fixing import rewrite
from schemac.project.options import CompileOptions
from schemac.project.workers import PROGRESS
from schemac.text.source.phrases import counted
from schemac.text.source.rendering import render_diff, render_text
from schemac.text.source.report import Report
from schemac.text.source.text import decode_text
from schemac.text.syntax.document import parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_paths(parser)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if a manifest would be reformatted"
    )
    parser.add_argument("--diff", action="store_true", help="show what would change, and write nothing")
    add_output_arguments(parser)


class _Text(NamedTuple):
    """A file before and after."""

    name: str
    before: str
    after: str


def run(options: argparse.Namespace) -> int:
    """Format; return the exit code."""
    report = Report()
    _, files = open_project(options, report)
    compile_options = CompileOptions(targets=(), edited=edited_of(files))
    PROGRESS.expect(len(files))
    texts: list[_Text] = []
    mistake: AssertionError | None = None
    for file in files:
        content = compile_options.read(file, report)
        source = decode_text(content, file.name, report) if content is not None else None
        if source is None or content is None:
            continue
        before, local_report = content.decode("utf-8"), Report()
        try:
            PROGRESS.begin("parse", file.name)
            parse(source, local_report)
            report.extend(local_report.diagnostics)
            PROGRESS.begin("lay out", file.name)
            # What YAML cannot read stays as it is.
            after = before if local_report.has_errors else formatted(before, file.name)
        except AssertionError as error:
            # A mistake of ours in one file is told when the others are done.
            mistake = error
        else:
            texts.append(_Text(file.name, before, after))
    code = _finish(options, texts, report)
    if mistake is not None:
        raise mistake
    return code


def _finish(options: argparse.Namespace, texts: list[_Text], report: Report) -> int:
    """Write or show what changes; return the exit code."""
    changed = [text for text in texts if text.after != text.before]
    left = len(texts) - len(changed)
    if options.format == "json":
        if not (options.diff or options.check):
            changed = [text for text in changed if rewrite(*text, report)]
        show(report.diagnostics, options, changed=[text.name for text in changed])
        return _exit_code(options, report, changed)
    if options.diff:
        put_source("".join(render_diff(*text) for text in changed))
    elif options.paths == ["-"] and not options.check:
        put_source("".join(text.after for text in texts))
        if report.diagnostics:
            # The output is the text: what is wrong with it goes to the standard error.
            notify(render_text(report.diagnostics).rstrip())
        return exit_code(report.diagnostics, options)
    elif options.check:
        for text in changed:
            put(text.name)
    else:
        changed = [text for text in changed if rewrite(*text, report)]
    show(report.diagnostics, options)
    is_dry = options.diff or options.check
    print_status(
        f"{'would reformat' if is_dry else 'formatted'} {_counted_files(len(changed))}; {_counted_files(left)} unchanged",
        options,
    )
    return _exit_code(options, report, changed)


def _exit_code(options: argparse.Namespace, report: Report, changed: list[_Text]) -> int:
    is_dry = options.diff or options.check
    return ExitCode.FINDINGS if is_dry and changed else exit_code(report.diagnostics, options)


def _counted_files(number: int) -> str:
    return counted(number, "file")
