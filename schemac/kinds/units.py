"""Units of time.

Floor: 4 (kinds).
Source: RFC-016's TimeUnit; no plurals, no abbreviations.
"""

from typing import Literal

TimeUnit = Literal["Second", "Millisecond", "Microsecond", "Nanosecond"]

ARROW_UNITS: dict[str, str] = {"Second": "s", "Millisecond": "ms", "Microsecond": "us", "Nanosecond": "ns"}
"""Arrow's abbreviation of each unit."""
