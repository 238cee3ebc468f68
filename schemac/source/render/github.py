"""Findings as workflow commands of GitHub Actions, which shows them in the changed lines.

Layer: source.
Source: GitHub's documentation of workflow commands; `%`, line ends and, in properties, `:` and `,` are escaped.
"""

from collections.abc import Iterable

from schemac.source.diagnostic import Diagnostic, Severity
from schemac.source.printable import printable

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """One command a finding."""
    return "".join(_command(d) for d in diagnostics)


def _command(d: Diagnostic) -> str:
    # GitHub shows what is in the repository; all else is told by name.
    is_inside = bool(d.file) and not d.file.startswith("/") and "://" not in d.file
    properties = {"file": d.file} if is_inside else {}
    if d.line and is_inside:
        properties |= {"line": str(d.line), "endLine": str(d.end_line), "col": str(d.column)}
        # GitHub takes an end column only for a finding within one line.
        if d.end_line == d.line:
            properties["endColumn"] = str(d.end_column)
    properties["title"] = f"{d.code} {d.slug}"
    listed = ",".join(f"{key}={_escape(value, ':,')}" for key, value in properties.items())
    place = "" if is_inside or not d.file else f"{d.file}:{d.line}: " if d.line else f"{d.file}: "
    message = place + d.message + (f"\nhelp: {d.help}" if d.help else "")
    return f"::{_COMMANDS[d.severity]} {listed}::{_escape(message)}\n"


def _escape(text: str, more: str = "") -> str:
    text = printable(text, keep="\r\n")
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
