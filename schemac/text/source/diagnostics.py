"""Source texts, findings at places in them, and the report that collects these until all of them are shown at once.

Layer: text.
Shape: a report is handed down through the stages; each adds and goes on. Nothing is raised by the stages.
As JSON, findings are `{"diagnostics": [...], "summary": {"error": n, "warning": n, "note": n}}`; lines and columns are one-based, and
0 if a finding is about a whole file. `fix` is null, or an object with a title, `safe` and edits. The envelope of all JSON that commands
print begins with the command and the version of schemac, and ends with the members of the command; `schemas/output.schema.json`
describes it.
Units: offsets are zero-based and half-open, in Unicode code points of the decoded text (its byte order mark removed); rendered lines
      and columns are one-based, columns in code points.
"""

import dataclasses
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

from schemac.text.source.catalogue import Code, Severity
from schemac.text.source.json_object import Json
from schemac.version import __version__

__all__ = ["Code", "Diagnostic", "Edit", "Fix", "Label", "Report", "SchemaError", "Severity", "Span"]


class Span(NamedTuple):
    """A half-open range of code points, `start <= end`."""

    start: int
    end: int


class Position(NamedTuple):
    """A one-based line and column, as editors count them."""

    line: int
    column: int


class Region(NamedTuple):
    """A range of lines and columns, one-based, the end exclusive; line 0 means "the file as a whole"."""

    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    @classmethod
    def within(cls, line: int, column: int, end_column: int) -> "Region":
        """Return a range of one line; it may be empty."""
        return cls(line, column, line, end_column)


WHOLE_FILE = Region()


_LINE_END = re.compile("\r\n|\n|\r")


class SourceText:
    """Decoded content with the name it is spoken of; lines are counted only when someone asks."""

    def __init__(self, content: str, name: str = "<text>") -> None:
        self.content = content.removeprefix("\ufeff")
        self.name = name
        self._lines: dict[int, str] = {}

    @cached_property
    def _line_starts(self) -> list[int]:
        """The offset at which each line starts."""
        return [0, *(match.end() for match in _LINE_END.finditer(self.content))]

    def position(self, offset: int) -> Position:
        """Return the line and column of a code point offset; an offset past the end is the end."""
        offset = max(0, min(offset, len(self.content)))
        line = bisect_right(self._line_starts, offset) - 1
        return Position(line + 1, offset - self._line_starts[line] + 1)

    def offset(self, line: int, column: int) -> int:
        """Return the code point offset of a one-based line and column."""
        return self._line_starts[line - 1] + column - 1

    def region(self, span: Span) -> Region:
        """Return the lines and columns of a span."""
        return Region(*self.position(span.start), *self.position(max(span.start, span.end)))

    def line(self, number: int) -> str:
        """Return the text of a one-based line without its line end; empty past the last line."""
        if not 1 <= number <= len(self._line_starts):
            return ""
        line = self._lines.get(number)
        if line is None:
            start = self._line_starts[number - 1]
            end = self._line_starts[number] if number < len(self._line_starts) else len(self.content)
            # Kept, for a single long line may have many findings, and each of them shows it.
            line = self._lines[number] = self.content[start:end].rstrip("\r\n")
        return line

    def excerpt(self, span: Span) -> str:
        """Return the author's own words at a span."""
        return self.content[span.start : span.end]

    def __repr__(self) -> str:
        return f"SourceText({self.name!r}, {len(self.content)} code points)"


@dataclass(frozen=True, slots=True)
class Label:
    """A second place that explains the first, such as the first of two equal names."""

    message: str
    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    excerpt: str = dataclasses.field(default="", repr=False, compare=False)
    """The source line in which the place starts."""


class Edit(NamedTuple):
    """A replacement of a part of a file. Lines and columns are one-based, the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    """The new text."""


class Fix(NamedTuple):
    """A fix of a finding that can be applied automatically."""

    title: str
    """What it does, as an imperative: "write `Int32`"."""
    edits: tuple[Edit, ...]
    """Edits that do not overlap; all of them are applied, or none."""
    is_safe: bool = True
    """Whether it keeps the meaning of the manifest, or makes it what the author must have meant."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding. Lines and columns are one-based, the end is exclusive; line 0 means "the file as a whole"."""

    code: str
    slug: str
    severity: Severity
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    path: str = ""
    """The field's path, such as `trips.stops.item.name`; empty if no field is meant."""
    help: str = ""
    labels: tuple[Label, ...] = ()
    excerpt: tuple[str, ...] = dataclasses.field(default=(), repr=False, compare=False)
    """The source line in which the finding starts; empty if there is none."""
    fix: Fix | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def is_error(self) -> bool:
        """Whether it stops artifacts."""
        return self.severity is Severity.ERROR

    @property
    def message_with_help(self) -> str:
        """The message, and the way out on a line below it."""
        return f"{self.message}\nhelp: {self.help}" if self.help else self.message

    @property
    def place(self) -> str:
        """The file, with line and column where there are some; empty if it is about no file."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        return f"{place}{self.severity}[{self.code}]: {self.message}"


class SchemaError(Exception):
    """Raised by the Python API if a manifest or schema has errors; `diagnostics` has all findings."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        errors = [d for d in diagnostics if d.is_error]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        text = f"{errors[0]}{more}" if errors else "no diagnostics"
        # A name of the caller may hold half of a pair of surrogates, which no stream writes.
        super().__init__(text.encode(errors="backslashreplace").decode())


@dataclass(frozen=True, slots=True)
class Located:
    """Where something is that a finding is about."""

    source: SourceText
    span: Span
    """What the finding underlines."""
    labels: tuple[Label, ...] = ()
    """Further locations that explain this one, such as where a group is used."""

    @property
    def region(self) -> Region:
        """Its lines and columns."""
        return self.source.region(self.span)

    def label(self, message: str) -> Label:
        """Return this place as one that explains another."""
        region = self.region
        return Label(message, self.source.name, *region, excerpt=self.source.line(region.line))

    def fix(self, help: str) -> Fix | None:
        """Return the fix that a help names; None if it names none, or the text here is written in a way that it would damage."""
        return None


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
        location: Located | None = None,
        file: str = "",
        at: Region = WHOLE_FILE,
        path: str = "",
        help: str = "",
        labels: tuple[Label, ...] = (),
        severity: Severity | None = None,
        fix: Fix | None = None,
    ) -> None:
        """Record a finding at a location in a text, or at a line and column of a file.

        A help that names a fix becomes that fix where there is a location.
        """
        excerpt: tuple[str, ...] = ()
        if location is not None:
            file, at, labels = location.source.name, location.region, (*labels, *location.labels)
            excerpt = (location.source.line(at.line),)
            fix = location.fix(help) if fix is None else fix
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


def labels_at(location: Located | None, message: str) -> tuple[Label, ...]:
    """Return a label at a location, and those that explain it; none if there is no location."""
    return () if location is None else (location.label(message), *location.labels)


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
