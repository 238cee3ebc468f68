"""Findings as a code quality report of GitLab, which shows them in the diff of a merge request.

Layer: source.
Source: GitLab's documentation of the code quality report format: a JSON array whose items have `description`, `check_name`,
`fingerprint`, `severity` and `location`. GitLab takes two findings of one fingerprint for the same one, also between commits.
"""

import json
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256

from schemac.source.diagnostic import Diagnostic, Severity
from schemac.source.json_object import Json
from schemac.source.printable import printable

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}
_NOWHERE = "."
"""Path of a finding that is about no file."""


def render_gitlab(diagnostics: Sequence[Diagnostic]) -> str:
    """One document, with a line end."""
    seen: Counter[str] = Counter()
    document: list[Json] = []
    for d in diagnostics:
        # Without the line, so that a finding stays the same where lines are inserted above it.
        what = f"{d.code}\0{d.file}\0{d.path}\0{d.message}"
        seen[what] += 1
        fingerprint = sha256(f"{what}\0{seen[what]}".encode(errors="backslashreplace")).hexdigest()
        help = f"\nhelp: {d.help}" if d.help else ""
        document.append(
            {
                "description": printable(f"{d.code}: {d.message}{help}", keep="\n"),
                "check_name": d.slug,
                "fingerprint": fingerprint,
                "severity": _SEVERITIES[d.severity],
                "location": {
                    "path": d.file or _NOWHERE,
                    "lines": {"begin": max(1, d.line), "end": max(1, d.end_line)},
                },
            }
        )
    return json.dumps(document, indent=2) + "\n"
