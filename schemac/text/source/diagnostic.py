"""Diagnostics: messages to the author about one place.

Layer: text.
"""

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

from schemac.text.source.catalogue import Code, Severity

__all__ = ["Code", "Diagnostic", "Edit", "Fix", "Label", "SchemaError", "Severity"]


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


@dataclass(frozen=True, slots=True)
class Fix:
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
