"""Prints the findings of a command and returns its exit code; writes the files that options name.

Layer: cli.
Shape: such a file is written whole or not at all, also if the command is interrupted.
"""

import argparse
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from schemac.cli.arguments import CI_FORMATS
from schemac.cli.terminal import (
    ExitCode,
    OutputError,
    is_colourful,
    notify,
    put,
    put_json,
    put_rendered,
    width,
)
from schemac.project.writing import replace_file
from schemac.text.source.catalogue import (
    INVALID_CONFIGURATION,
    NOTHING_TO_COMPILE,
    STALE_ARTIFACT,
    UNLOCKED_CHANGE,
)
from schemac.text.source.diagnostics import Diagnostic, Severity, envelope
from schemac.text.source.rendering import count_summary, render_text
from schemac.text.source.text import reason_of


def show(diagnostics: Sequence[Diagnostic], options: argparse.Namespace, **members: object) -> ExitCode:
    """Print findings in the form that was asked for, in JSON with the members that only this command has; return the exit code."""
    if options.format == "json":
        manifest_members = {"manifest": options.manifest} if options.manifest is not None else {}
        put_json(envelope(options.command, diagnostics, manifest_members | members))
    elif options.format in CI_FORMATS:
        # Imported here for start-up time: XML and the codes of all engines take a while to load.
        from schemac.registry.codes import codes
        from schemac.text.source.ci_reports import from_root, render

        from_folder = from_root(diagnostics, Path.cwd())
        put_rendered(render(options.format, from_folder, Severity(options.fail_on), codes))
    else:
        selected = sorted(diagnostics, key=lambda d: d.severity.rank)[: options.max_findings]
        selected_ids = set(map(id, selected))
        in_order = (d for d in diagnostics if id(d) in selected_ids)
        put_rendered(render_text(in_order, colour=is_colourful(options), width=width()))
        hidden = [d for d in diagnostics if id(d) not in selected_ids]
        if hidden:
            put(f"… and {count_summary(hidden)} more; see them with --max-findings {len(diagnostics)}")
    return exit_code(diagnostics, options)


def exit_code(diagnostics: Sequence[Diagnostic], options: argparse.Namespace) -> ExitCode:
    """Return the exit code that these findings call for."""
    lowest = Severity(options.fail_on).rank
    failing = {d.code for d in diagnostics if d.severity.rank <= lowest}
    if not failing:
        return ExitCode.CLEAN
    if failing <= {STALE_ARTIFACT.id, UNLOCKED_CHANGE.id}:
        return ExitCode.STALE
    return (
        ExitCode.USAGE if failing & {INVALID_CONFIGURATION.id, NOTHING_TO_COMPILE.id} else ExitCode.FINDINGS
    )


def print_status(message: str, options: argparse.Namespace) -> None:
    """Print a sentence for the person at the terminal, in addition to the output for programs."""
    if options.format == "text" and not options.quiet:
        notify(message)


def why_not(path: str) -> str | None:
    """Return why a file cannot be written, if that is known before the command has done its work; else None."""
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        return f"there is no folder {folder}"
    if Path(path).is_dir():
        return "it is a folder"
    return None if os.access(folder, os.W_OK) else "its folder cannot be written to"


@contextmanager
def printed_to(path: str) -> Iterator[None]:
    """Write everything printed inside to the file of `--output-file`. Raises OutputError if it cannot be written."""
    with redirect_stdout(io.StringIO()) as printed:
        yield
    try:
        replace_file(Path(path), printed.getvalue().encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise OutputError(error.errno, f"{path}: {reason_of(error)}") from error
