"""Where findings are gathered until all of them are shown at once.

Layer: source.
Shape: a report is handed down through the stages; each adds and goes on. Nothing is raised.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from schemac.source.diagnostic import Code, Diagnostic, Label, Severity
from schemac.source.span import Span

if TYPE_CHECKING:
    from schemac.source.text import SourceText


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
        source: "SourceText | None" = None,
        span: Span | None = None,
        file: str = "",
        at: tuple[int, int, int, int] = (0, 0, 0, 0),
        path: str = "",
        help: str = "",
        labels: tuple[Label, ...] = (),
        severity: Severity | None = None,
    ) -> None:
        """Record a finding, either at a span of a source text or at a place that is given outright."""
        excerpt: tuple[str, ...] = ()
        if source is not None:
            file = source.name
            if span is not None:
                at = _place(source, span)
                excerpt = (source.line(at[0]),)
        severity = severity or code.severity
        self.extend(
            [Diagnostic(code.id, code.slug, severity, message, file, *at, path, help, labels, excerpt)]
        )

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Take over findings that were made elsewhere; the same finding twice counts once."""
        for diagnostic in diagnostics:
            self._diagnostics.setdefault(diagnostic)
            self.has_errors = self.has_errors or diagnostic.severity is Severity.ERROR

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All findings by file, place and code; equal places keep the order in which they were found."""
        return tuple(
            sorted(self._diagnostics, key=lambda d: (d.file, d.line, d.column, d.severity.rank, d.code))
        )


def label(message: str, source: "SourceText", span: Span) -> Label:
    """Return a secondary place in a source text."""
    at = _place(source, span)
    return Label(message, source.name, *at, excerpt=source.line(at[0]))


def _place(source: "SourceText", span: Span) -> tuple[int, int, int, int]:
    start, end = source.position(span.start), source.position(max(span.start, span.end))
    return (start.line, start.column, end.line, end.column)
