"""Findings as one JSON document, and the envelope of all JSON that commands print.

Layer: text.
Shape: `{"diagnostics": [...], "summary": {"error": n, "warning": n, "note": n}}`; lines and columns are one-based, and
0 if a finding is about a whole file. `fix` is null, or an object with a title, `safe` and edits. An envelope begins
with the command and the version of schemac, and ends with the members of the command; `schemas/output.schema.json`
describes it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from schemac.text.source.diagnostic import Diagnostic, Severity
from schemac.text.source.json_object import Json
from schemac.version import __version__

_MEMBERS = (
    "code",
    "slug",
    "severity",
    "message",
    "file",
    "line",
    "column",
    "end_line",
    "end_column",
    "path",
    "help",
)


_LABEL_MEMBERS = ("message", "file", "line", "column", "end_line", "end_column")


def envelope(command: str, diagnostics: Sequence[Diagnostic], members: Mapping[str, Any]) -> Json:
    """Return what a command prints as JSON: `members` are those that only this command has."""
    return {"command": command, "schemac": __version__, **findings_document(diagnostics), **members}


def findings_document(diagnostics: Sequence[Diagnostic]) -> Json:
    """Return findings with their counts."""
    return {
        "diagnostics": [
            {
                **{name: getattr(d, name) for name in _MEMBERS},
                "labels": [{name: getattr(label, name) for name in _LABEL_MEMBERS} for label in d.labels],
                "fix": d.fix
                and {
                    "title": d.fix.title,
                    "safe": d.fix.is_safe,
                    "edits": [edit._asdict() for edit in d.fix.edits],
                },
            }
            for d in diagnostics
        ],
        "summary": {severity: sum(d.severity is severity for d in diagnostics) for severity in Severity},
    }
