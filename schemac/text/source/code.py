"""Kinds of findings.

Layer: text.
Shape: apart from the findings themselves, for `explain` needs no more and starts sooner so.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How bad a finding is. Errors stop artifacts; warnings and notes do not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """Zero for the gravest."""
        return list(Severity).index(self)


class Code(NamedTuple):
    """One kind of finding: a number for ever, and a slug that completes "this schema has a …"."""

    id: str
    slug: str
    severity: Severity
    title: str


def error(id: str, slug: str, title: str) -> Code:
    """Return the code of an error."""
    return Code(id, slug, Severity.ERROR, title)


def warning(id: str, slug: str, title: str) -> Code:
    """Return the code of a warning."""
    return Code(id, slug, Severity.WARNING, title)


def note(id: str, slug: str, title: str) -> Code:
    """Return the code of a note."""
    return Code(id, slug, Severity.NOTE, title)


def codes_in(names: Mapping[str, object]) -> tuple[Code, ...]:
    """Return the codes among the names of a module, in the order of its text."""
    return tuple(code for code in list(names.values()) if isinstance(code, Code))
