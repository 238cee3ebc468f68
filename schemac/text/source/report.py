"""Collects findings until all of them are shown at once.

Layer: text.
Shape: a report is handed down through the stages; each adds and goes on. Nothing is raised by the stages.
As JSON, findings are `{"diagnostics": [...], "summary": {"error": n, "warning": n, "note": n}}`; lines and columns are one-based, and
0 if a finding is about a whole file. `fix` is null, or an object with a title, `safe` and edits. The envelope of all JSON that commands
print begins with the command and the version of schemac, and ends with the members of the command; `schemas/output.schema.json`
describes it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from schemac.text.source.diagnostic import Code, Diagnostic, Fix, Label, SchemaError, Severity
from schemac.text.source.help import Help, Located, ReportedText
from schemac.text.source.json_object import Json
from schemac.text.source.span import WHOLE_FILE, Region, Span
from schemac.version import __version__


class Report:
    """Findings of one run, in the order of their places."""

    def __init__(self) -> None:
        self._diagnostics: dict[Diagnostic, None] = {}
        self.has_errors = False

    def add(
        self,
        code: Code,
        message: str,
        *,
        source: ReportedText | None = None,
        span: Span | None = None,
        file: str = "",
        at: Region = WHOLE_FILE,
        path: str = "",
        help: str = "",
        labels: tuple[Label, ...] = (),
        severity: Severity | None = None,
        fix: Fix | None = None,
        location: Located | None = None,
    ) -> None:
        """Record a finding at a location in a text, at a span of it, or at a line and column.

        A help that names a fix becomes that fix where there is a location.
        """
        excerpt: tuple[str, ...] = ()
        if location is not None:
            source, span, labels = location.source, location.span, (*labels, *location.labels)
            if fix is None and isinstance(help, Help):
                fix = location.fix(help)
        if source is not None:
            file = source.name
            if span is not None:
                at = source.region(span)
                excerpt = (source.line(at.line),)
        about = (file, *at, path, str(help), labels, excerpt, fix)
        self.extend([Diagnostic(code.id, code.slug, severity or code.severity, message, *about)])

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add findings of another report; the same finding twice counts once."""
        for diagnostic in diagnostics:
            self._diagnostics.setdefault(diagnostic)
            self.has_errors = self.has_errors or diagnostic.is_error

    def raise_errors(self) -> None:
        """Raise SchemaError with all findings, if there is an error among them."""
        if self.has_errors:
            raise SchemaError(self.diagnostics)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Those findings that stop artifacts."""
        return tuple(one for one in self.diagnostics if one.is_error)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All findings by file, place and code; equal places keep the order in which they were found.

        One that was found several times, from different places, is one finding with these places.
        """
        findings = list(self._diagnostics)
        if any(d.labels for d in findings):
            labels: dict[Diagnostic, dict[Label, None]] = {}
            for d in findings:
                labels.setdefault(replace(d, labels=()), {}).update(dict.fromkeys(d.labels))
            findings = [replace(d, labels=_first_labels(tuple(of))) if of else d for d, of in labels.items()]
        return tuple(sorted(findings, key=lambda d: (d.file, d.line, d.column, d.severity.rank, d.code)))


def _first_labels(labels: tuple[Label, ...]) -> tuple[Label, ...]:
    """Return the first of many labels; the last one has the number of the others."""
    more = len(labels) - _MOST_LABELS
    if more <= 0:
        return labels
    *first, last = labels[:_MOST_LABELS]
    noun = "place" if more == 1 else "places"
    return (*first, replace(last, message=f"{last.message}; and {more} more {noun}"))


_MOST_LABELS = 5
"""Further places that are shown with one finding."""


def label(message: str, source: ReportedText, span: Span) -> Label:
    """Return a secondary place in a source text."""
    at = source.region(span)
    return Label(message, source.name, *at, excerpt=source.line(at.line))


_MEMBERS = [one.name for one in fields(Diagnostic) if one.name not in ("labels", "excerpt", "fix")]
_LABEL_MEMBERS = [one.name for one in fields(Label) if one.name != "excerpt"]


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
