"""What is said to the author about one place.

Layer: source.
"""

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

from schemac.source.code import Code, Severity

__all__ = ["Code", "Diagnostic", "Edit", "Fix", "Label", "SchemaError", "Severity"]


@dataclass(frozen=True, slots=True)
class Label:
    """A second place that explains the first, such as the earlier of two equal names."""

    message: str
    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    excerpt: str = dataclasses.field(default="", repr=False, compare=False)
    """The source line that the place starts in."""


class Edit(NamedTuple):
    """A piece of a file that is replaced. Lines and columns are one-based, the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    """What stands there afterwards."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A way out of a finding that can be carried out as it is."""

    title: str
    """What it does, as an order: "write `Int32`"."""
    edits: tuple[Edit, ...]
    """Of pieces that do not overlap; all of them or none."""
    is_safe: bool = True
    """Whether what the manifest means stays the same, or becomes what the author can only have meant."""


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
    """The field's path, such as `trips.stops.item.name`; empty where no field is meant."""
    help: str = ""
    labels: tuple[Label, ...] = ()
    excerpt: tuple[str, ...] = dataclasses.field(default=(), repr=False, compare=False)
    """The source line that the finding starts in; empty where there is none."""
    fix: Fix | None = dataclasses.field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        place = (
            f"{self.file}:{self.line}:{self.column}: " if self.line else f"{self.file}: " if self.file else ""
        )
        return f"{place}{self.severity}[{self.code}]: {self.message}"


class SchemaError(Exception):
    """Raised by the Python surface when a manifest or schema has errors; carries all findings."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        errors = [d for d in diagnostics if d.severity is Severity.ERROR]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"{errors[0]}{more}" if errors else "no diagnostics")
