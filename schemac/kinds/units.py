"""Units of time.

Layer: kinds.
Source: RFC-016's TimeUnit; no plurals, no abbreviations.
"""

from typing import Literal

TimeUnit = Literal["Second", "Millisecond", "Microsecond", "Nanosecond"]

ARROW_UNITS: dict[str, str] = {"Second": "s", "Millisecond": "ms", "Microsecond": "us", "Nanosecond": "ns"}
"""Arrow's abbreviation of each unit."""

FOREIGN_UNITS: dict[str, str] = {
    **dict.fromkeys(("s", "sec", "secs"), "Second"),
    **dict.fromkeys(("ms", "milli", "millis", "msec"), "Millisecond"),
    **dict.fromkeys(("us", "micro", "micros", "usec", "\u00b5s", "\u03bcs"), "Microsecond"),
    **dict.fromkeys(("ns", "nano", "nanos", "nsec"), "Nanosecond"),
}
"""What other systems call a unit, without case, to ours."""
