"""Answers that several kinds share.

Layer: kinds.
"""

from collections.abc import Iterator
from typing import Any, Self

from schemac.logical.castability import Castability
from schemac.logical.facts import Fact
from schemac.logical.model import LogicalType


class Invariable(LogicalType):
    """A kind without a property that a change could be about; parts are fields of their own."""

    def facts(self, new: Self) -> Iterator[Fact]:
        """Return nothing."""
        return iter(())

    def castability(self, new: Self) -> Castability:
        """Return EQUAL."""
        return Castability.EQUAL


class WithoutValues(LogicalType):
    """A kind without values of its own: it takes other types to make one, or there is none but null."""

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """Return nothing."""
        return ()

    def samples(self) -> tuple[Any, ...]:
        """Return nothing."""
        return ()
