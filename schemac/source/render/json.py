"""Findings as one JSON document.

Layer: source.
Shape: `{"diagnostics": [...], "summary": {"error": n, "warning": n, "note": n}}`; lines and columns one-based,
0 where a finding is about a file as a whole. `fix` is null, or a title, `safe` and edits: pieces of files and what takes their place.
"""

import json
from collections.abc import Sequence

from schemac.source.diagnostic import Diagnostic, Fix, Severity
from schemac.source.json_object import Json

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


def render_json(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the document, with a line end."""
    document = {
        "diagnostics": [
            {
                **{name: getattr(d, name) for name in _MEMBERS},
                "labels": [{name: getattr(label, name) for name in _LABEL_MEMBERS} for label in d.labels],
                "fix": _fix(d.fix),
            }
            for d in diagnostics
        ],
        "summary": {severity: sum(d.severity is severity for d in diagnostics) for severity in Severity},
    }
    return json.dumps(document, indent=2) + "\n"


def _fix(fix: Fix | None) -> Json | None:
    if fix is None:
        return None
    return {"title": fix.title, "safe": fix.is_safe, "edits": [edit._asdict() for edit in fix.edits]}
