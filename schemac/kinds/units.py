"""Units of time.

Floor: 4 (kinds).
Source: RFC-016's TimeUnit; no plurals, no abbreviations.
"""

from typing import Literal

TimeUnit = Literal["Second", "Millisecond", "Microsecond", "Nanosecond"]

ARROW_UNITS: dict[str, str] = {"Second": "s", "Millisecond": "ms", "Microsecond": "us", "Nanosecond": "ns"}
"""Arrow's abbreviation of each unit."""

UNITS_BY_ARROW: dict[str, str] = {abbreviation: unit for unit, abbreviation in ARROW_UNITS.items()}
"""The unit behind each of these abbreviations."""

PER_SECOND: dict[str, int] = {"Second": 1, "Millisecond": 10**3, "Microsecond": 10**6, "Nanosecond": 10**9}
"""How many of each unit are a second."""

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
