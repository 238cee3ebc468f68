"""How values are written, and their limits: what Spark's expressions and the judge in Python both go by.

Layer: rows.
Shape: regular expressions that Java and Python read alike; a whole text has to match. Limits are those of the types.
Source: Spark's own casts are lenient (blanks, `yes`, rounding, `2024` as a date), so each form is a pattern first.
"""

from schemac.kinds.units import PER_SECOND

SCIENTIFIC = r"^([+-]?)([0-9]*)(?:\.([0-9]*))?[eE]([+-]?[0-9]+)$"
INTEGER = "[+-]?[0-9]+"
NATURAL = r"\+?[0-9]+|-0+"
NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
EXPONENT = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+"
WHOLE = r"[+-]?[0-9]+(?:\.0*)?"
MOST_PLACES = 100
"""Further than that no type reaches; what is moved further has no value."""
LEAST_POWER = -(10**9)
NOT_FINITE = r"NaN|[+-]?Infinity|[+-]?inf"
BOOLEAN = "(?i:true|false)"
BASE64 = "[A-Za-z0-9+/]*+={0,2}"
UUID = "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"

# A half comes out of a single: the last single that is not rounded to infinity.
FLOAT16_LARGEST = 65520.0 - 2**-8
FLOAT32_LARGEST = 3.4028234663852886e38
LARGEST_BFLOAT16 = 3.3895313892515355e38

LONGEST_VALUE = 1000
"""Characters of a value that a reason shows."""

# Years 0001 to 9999, which is what other readers of dates and timestamps take.
YEARLESS, DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}", "(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}"
FIRST_DAY, LAST_DAY = -719162, 2932896
FIRST_MICROSECOND, LAST_MICROSECOND = -62135596800000000, 253402300799999999

CLOCK = "[0-9]{2}:[0-9]{2}(?::[0-9]{2}FRACTION)?"
ANY_FRACTION = r"(?:[.,][0-9]+)?"
ZONE = "(?:[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)"
COUNT = r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE]\+?[0-9]+)?"
"""A count since 1970-01-01."""
HOURS = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"

NANOSECONDS_PER: dict[str, int] = {
    "Day": 86_400 * 10**9,
    **{unit: 10**9 // count for unit, count in PER_SECOND.items()},
}

NOT_DECLARED = "zone: set `timezone` under `source`, or `zone` of the field"
GAP = "zone-gap: the clocks of this zone skip the time"
OVERLAP = "zone-overlap: the clocks of this zone show the time twice"


def decimal_form(precision: int, scale: int) -> str:
    """Write the pattern of a number that fits a decimal, and needs no rounding; besides, it has to have a digit."""
    if scale < 0:
        return rf"[+-]?(?:0+|0*+[0-9]{{0,{precision}}}0{{{-scale}}})(?:\.0*)?"
    if scale > precision:
        return rf"[+-]?0*+(?:\.(?:0*|0{{{scale - precision}}}[0-9]{{0,{precision}}}0*))?"
    return rf"[+-]?0*+[0-9]{{0,{precision - scale}}}(?:\.[0-9]{{0,{scale}}}0*)?"


def clock_form(digits: int) -> str:
    """Write the pattern of a time of day with so many digits of a second, and zeros behind them."""
    return CLOCK.replace("FRACTION", rf"(?:[.,][0-9]{{0,{digits}}}0*)?")


def time_forms(digits: int) -> tuple[str, str]:
    """Write the patterns of a time of day with so many digits of a second, and with any number of them."""
    exact = rf"{HOURS}(?::[0-5][0-9](?:\.[0-9]{{0,{digits}}}0*)?)?"
    return exact, rf"{HOURS}(?::[0-5][0-9](?:\.[0-9]+)?)?"
