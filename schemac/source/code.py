"""Kinds of findings.

Layer: source.
Shape: apart from the findings themselves, for `explain` needs no more and starts sooner so.
"""

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
