"""Findings as JSON, and back.

Layer: cache.
"""

from collections.abc import Iterable
from typing import Any

from schemac.source.diagnostic import Diagnostic, Edit, Fix, Label, Severity

_SEVERITIES = {str(severity): severity for severity in Severity}


def findings_to_json(findings: Iterable[Diagnostic]) -> list[list[Any]]:
    """Return findings with all that is printed of them."""
    return [
        [
            *(d.code, d.slug, str(d.severity), d.message, d.file),
            *(d.line, d.column, d.end_line, d.end_column),
            *(d.path, d.help, [_label(label) for label in d.labels], list(d.excerpt), _fix(d.fix)),
        ]
        for d in findings
    ]


def _label(label: Label) -> list[Any]:
    place = (label.file, label.line, label.column, label.end_line, label.end_column)
    return [label.message, *place, label.excerpt]


def _fix(fix: Fix | None) -> list[Any] | None:
    return None if fix is None else [fix.title, fix.is_safe, [list(edit) for edit in fix.edits]]


def findings_of_json(value: Any) -> tuple[Diagnostic, ...]:
    """Return the findings. Raises ValueError, KeyError or TypeError for what is none."""
    return tuple([_finding(*row) for row in value])


def _finding(
    code: str,
    slug: str,
    severity: str,
    message: str,
    file: str,
    line: int,
    column: int,
    end_line: int,
    end_column: int,
    path: str,
    help: str,
    labels: list[list[Any]],
    excerpt: list[str],
    fix: list[Any] | None,
) -> Diagnostic:
    texts, numbers = (code, slug, message, file, path, help, *excerpt), (line, column, end_line, end_column)
    if not all(type(text) is str for text in texts) or not all(type(number) is int for number in numbers):
        raise TypeError("no finding")
    return Diagnostic(
        *(code, slug, _SEVERITIES[severity], message, file),
        *(line, column, end_line, end_column),
        path,
        help,
        tuple([Label(*label) for label in labels]),
        tuple(excerpt),
        _fix_of(fix),
    )


def _fix_of(value: list[Any] | None) -> Fix | None:
    if value is None:
        return None
    title, is_safe, edits = value
    if type(title) is not str or type(is_safe) is not bool:
        raise TypeError("no fix")
    return Fix(title, tuple([Edit(*edit) for edit in edits]), is_safe)
