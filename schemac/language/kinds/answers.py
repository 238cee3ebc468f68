"""Answers that several kinds share, and units of time.

Layer: language.
Source: Units of time: RFC-016's TimeUnit; no plurals, no abbreviations.
"""

from collections.abc import Iterator
from typing import Any, Literal, Self, get_args

from schemac.language.logical.facts import Fact
from schemac.language.logical.model import Castability, LogicalType


class Invariable(LogicalType):
    """A kind whose properties cannot change; its parts are fields of their own."""

    def facts(self, new: Self) -> Iterator[Fact]:
        """Return nothing."""
        return iter(())

    def castability(self, new: Self) -> Castability:
        """Return EQUAL."""
        return Castability.EQUAL

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """Return the one type."""
        return (cls.model_validate({"kind": cls.__name__}),)


class WithoutValues(LogicalType):
    """A kind without values of its own: values are those of its parts, or null alone."""

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """Return nothing."""
        return ()

    def samples(self) -> tuple[Any, ...]:
        """Return nothing."""
        return ()


TimeUnit = Literal["Second", "Millisecond", "Microsecond", "Nanosecond"]
ALL_UNITS: tuple[TimeUnit, ...] = get_args(TimeUnit)

UNITS_BY_ARROW: dict[str, str] = {"s": "Second", "ms": "Millisecond", "us": "Microsecond", "ns": "Nanosecond"}
ARROW_UNITS: dict[str, str] = {unit: abbreviation for abbreviation, unit in UNITS_BY_ARROW.items()}
"""Arrow's abbreviation of each unit."""
PER_SECOND: dict[str, int] = {"Second": 1, "Millisecond": 10**3, "Microsecond": 10**6, "Nanosecond": 10**9}
"""How many make a second."""


def is_finer(unit: str, other: str) -> bool:
    """Return whether a unit is shorter than another one."""
    return PER_SECOND[unit] > PER_SECOND[other]


def unit_facts(old: str, new: str) -> Iterator[Fact]:
    """Yield the facts of a changed unit."""
    if old != new:
        yield Fact.TIME_UNIT_REFINED if is_finer(new, old) else Fact.TIME_UNIT_COARSENED


ARROW_PER_SECOND: dict[str, int] = {ARROW_UNITS[unit]: count for unit, count in PER_SECOND.items()}
"""The same by Arrow's abbreviation."""

FRACTION_DIGITS: dict[str, int] = {unit: len(str(count)) - 1 for unit, count in ARROW_PER_SECOND.items()}
"""Digits behind the point of a second that Arrow's unit keeps."""

FOREIGN_UNITS: dict[str, str] = {
    **dict.fromkeys(("s", "sec", "secs"), "Second"),
    **dict.fromkeys(("ms", "milli", "millis", "msec"), "Millisecond"),
    **dict.fromkeys(("us", "micro", "micros", "usec", "\u00b5s", "\u03bcs"), "Microsecond"),
    **dict.fromkeys(("ns", "nano", "nanos", "nsec"), "Nanosecond"),
}
"""What other systems call a unit, without case, to ours."""
