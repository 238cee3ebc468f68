"""Units of time.

Layer: kinds.
Source: RFC-016's TimeUnit; no plurals, no abbreviations.
"""

from collections.abc import Iterator
from typing import Literal

from schemac.logical.facts import Fact

TimeUnit = Literal["Second", "Millisecond", "Microsecond", "Nanosecond"]

UNITS_BY_ARROW: dict[str, TimeUnit] = {
    "s": "Second",
    "ms": "Millisecond",
    "us": "Microsecond",
    "ns": "Nanosecond",
}
ARROW_UNITS: dict[str, str] = {unit: abbreviation for abbreviation, unit in UNITS_BY_ARROW.items()}
"""Arrow's abbreviation of each unit."""
PER_SECOND: dict[TimeUnit, int] = {
    "Second": 1,
    "Millisecond": 10**3,
    "Microsecond": 10**6,
    "Nanosecond": 10**9,
}
"""How many make a second."""


def is_finer(unit: TimeUnit, other: TimeUnit) -> bool:
    """Tell whether a unit is shorter than another."""
    return PER_SECOND[unit] > PER_SECOND[other]


def unit_facts(old: TimeUnit, new: TimeUnit) -> Iterator[Fact]:
    """Say how a unit changed."""
    if old != new:
        yield Fact.TIME_UNIT_REFINED if is_finer(new, old) else Fact.TIME_UNIT_COARSENED


FOREIGN_UNITS: dict[str, str] = {
    **dict.fromkeys(("s", "sec", "secs"), "Second"),
    **dict.fromkeys(("ms", "milli", "millis", "msec"), "Millisecond"),
    **dict.fromkeys(("us", "micro", "micros", "usec", "\u00b5s", "\u03bcs"), "Microsecond"),
    **dict.fromkeys(("ns", "nano", "nanos", "nsec"), "Nanosecond"),
}
"""What other systems call a unit, without case, to ours."""
