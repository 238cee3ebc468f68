"""Limits of values, and of what is shown of them.

Layer: rows.
"""

from schemac.kinds.units import PER_SECOND

LONGEST_VALUE = 1000
"""Characters of a value that a reason shows."""

FLOAT16_LARGEST = 65520.0 - 2**-8
"""A half comes out of a single: the last single that is not rounded to infinity."""
FLOAT32_LARGEST, FLOAT64_LARGEST = 3.4028234663852886e38, 1.7976931348623157e308

FIRST_DAY, LAST_DAY = -719162, 2932896
"""Years 0001 to 9999, which is what other readers of dates and timestamps take."""
FIRST_MICROSECOND, LAST_MICROSECOND = -62135596800000000, 253402300799999999

NANOSECONDS_PER: dict[str, int] = {
    "Day": 86_400 * 10**9,
    **{unit: 10**9 // count for unit, count in PER_SECOND.items()},
}
