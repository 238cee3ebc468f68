"""Dates, timestamps, times of day and durations, out of ISO 8601 text, a pattern, or a count since 1970-01-01.

Shape: SQL text for the value and for the broken rule, from SQL text of the exact text (see `scalars`).
Units: a timestamp in nanoseconds, a time of day and a duration are counts in their own unit (bigint); others are
       Spark's date and timestamp, which count microseconds.
"""

from collections.abc import Callable

import pyarrow as pa

from .sqltext import first_of, literal, matches, when

Text = Callable[[str], str]

DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
CLOCK = "[0-9]{2}:[0-9]{2}(?::[0-9]{2}FRACTION)?"
ZONE = r"(?:Z|[+-][0-9]{2}:[0-9]{2})?"
ANY_FRACTION = r"(?:\.[0-9]+)?"
NUMBER = r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE]\+?[0-9]+)?"

FRACTION_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
UNITS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
NANOSECONDS_PER = {
    "Day": 86_400 * 10**9,
    "Second": 10**9,
    "Millisecond": 10**6,
    "Microsecond": 10**3,
    "Nanosecond": 1,
}


def moment(
    data_type: pa.DataType, *, pattern: str | None, epoch: str | None
) -> tuple[str, Text, Text] | None:
    """Spark type, value and rule for a date or a timestamp; None for other types."""
    if pa.types.is_date(data_type):
        return "date", *_date(pattern, epoch)
    if not pa.types.is_timestamp(data_type):
        return None
    held = "timestamp" if data_type.tz is not None else "timestamp_ntz"
    spark_type = "bigint" if data_type.unit == "ns" else held
    if epoch is not None:
        return spark_type, *_timestamp_of_count(data_type.unit, held, epoch)
    if pattern is not None:
        return spark_type, *_timestamp_of_pattern(data_type.unit, held, pattern)
    return spark_type, *_timestamp_of_text(data_type.unit, held)


def _date(pattern: str | None, epoch: str | None) -> tuple[Text, Text]:
    if epoch is not None:
        nanoseconds_per_unit = NANOSECONDS_PER[epoch]
        per_day = NANOSECONDS_PER["Day"]

        def of_count(t: str) -> str:
            nanoseconds = _nanoseconds_of_count(t, nanoseconds_per_unit)
            days = f"try_cast({nanoseconds} / {per_day}L as int)"
            is_inside = f"{days} between -719162 and 2932896"
            is_exact = f"{matches(t, NUMBER)} and {nanoseconds} % {per_day}L = 0"
            return when(f"{is_exact} and {is_inside}", f"date_add(date'1970-01-01', {days})")

        return of_count, lambda t: when(matches(t, NUMBER), literal("precision"), literal("cast"))
    if pattern is not None:
        return (
            lambda t: f"try_cast(try_to_timestamp({t}, {literal(pattern)}) as date)",
            lambda _: literal("cast"),
        )
    return lambda t: when(matches(t, DATE), f"try_cast({t} as date)"), lambda _: literal("cast")


def _nanoseconds_of_count(t: str, per_unit: int) -> str:
    whole = f"try_multiply(try_cast({t} as decimal(38,9)), cast({per_unit}L as decimal(15,0)))"
    return f"try_cast({whole} as decimal(38,6))"


def _clock(unit: str) -> str:
    digits = FRACTION_DIGITS[unit]
    fraction = rf"(?:\.[0-9]{{0,{digits}}}0*)?"
    return CLOCK.replace("FRACTION", fraction)


def _timestamp_of_text(unit: str, held: str) -> tuple[Text, Text]:
    zone = ZONE if held == "timestamp" else ""
    exact = f"{DATE}[T ]{_clock(unit)}{zone}"
    loose = f"{DATE}[T ]{CLOCK.replace('FRACTION', ANY_FRACTION)}{zone}"

    def value(t: str) -> str:
        converted = f"try_cast({t} as {held})"
        if unit == "ns":
            below = rf"rpad(substr(regexp_extract({t}, {literal('[.]([0-9]+)')}, 1), 7, 3), 3, '0')"
            converted = _nanoseconds(converted, f"cast({below} as bigint)")
        return when(matches(t, exact), converted)

    def rule(t: str) -> str:
        is_moment = f"{matches(t, loose)} and try_cast({t} as {held}) is not null"
        is_exact = matches(t, exact)
        return first_of(
            [(f"{is_moment} and {is_exact}", literal("range")), (is_moment, literal("precision"))],
            literal("cast"),
        )

    return value, rule


def _nanoseconds(timestamp: str, below_microsecond: str) -> str:
    micros = f"unix_micros(cast({timestamp} as timestamp))"
    return f"try_add(try_multiply({micros}, 1000L), {below_microsecond})"


def _in_unit(timestamp: str, unit: str) -> str:
    """The timestamp, or null where the unit of the field is too coarse for it."""
    if unit == "ns":
        return _nanoseconds(timestamp, "0L")
    step = 10**6 // UNITS_PER_SECOND[unit]
    if step == 1:
        return timestamp
    return when(f"unix_micros(cast({timestamp} as timestamp)) % {step} = 0", timestamp)


def _timestamp_of_pattern(unit: str, held: str, pattern: str) -> tuple[Text, Text]:
    def parsed(t: str) -> str:
        return f"cast(try_to_timestamp({t}, {literal(pattern)}) as {held})"

    return (
        lambda t: _in_unit(parsed(t), unit),
        lambda t: when(f"{parsed(t)} is null", literal("cast"), literal("precision")),
    )


def _timestamp_of_count(unit: str, held: str, epoch: str) -> tuple[Text, Text]:
    per_unit = NANOSECONDS_PER[epoch]

    def nanoseconds(t: str) -> str:
        return _nanoseconds_of_count(t, per_unit)

    def value(t: str) -> str:
        step = 10**9 // UNITS_PER_SECOND[unit]
        is_exact = f"{matches(t, NUMBER)} and {nanoseconds(t)} % {step} = 0"
        if unit == "ns":
            return when(is_exact, f"try_cast({nanoseconds(t)} as bigint)")
        micros = f"try_cast({nanoseconds(t)} / 1000 as bigint)"
        # Years 0001 to 9999, which is what other readers of a timestamp take.
        is_inside = f"{micros} between -62135596800000000L and 253402300799999999L"
        return when(f"{is_exact} and {is_inside}", f"cast(timestamp_micros({micros}) as {held})")

    def rule(t: str) -> str:
        step = 10**9 // UNITS_PER_SECOND[unit]
        return first_of(
            [
                (f"not {matches(t, NUMBER)}", literal("cast")),
                (f"{nanoseconds(t)} % {step} = 0", literal("range")),
            ],
            literal("precision"),
        )

    return value, rule


def duration() -> tuple[Text, Text]:
    """Value and rule for a duration: a whole count in the unit of the field."""
    form = "[+-]?[0-9]+"
    return (
        lambda t: when(matches(t, form), f"try_cast({t} as bigint)"),
        lambda t: when(matches(t, form), literal("range"), literal("cast")),
    )


def time_of_day(data_type: pa.DataType) -> tuple[Text, Text]:
    """Value and rule for a time of day such as `13:45:00.5`: a count in the unit of the field."""
    unit = data_type.unit
    hours = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
    digits = FRACTION_DIGITS[unit]
    exact = rf"{hours}(?::[0-5][0-9](?:\.[0-9]{{0,{digits}}}0*)?)?"
    loose = rf"{hours}(?::[0-5][0-9](?:\.[0-9]+)?)?"

    def value(t: str) -> str:
        seconds = (
            f"cast(substr({t}, 1, 2) as bigint) * 3600 + cast(substr({t}, 4, 2) as bigint) * 60"
            f" + if(length({t}) >= 8, cast(substr({t}, 7, 2) as bigint), 0L)"
        )
        if not digits:
            return when(matches(t, exact), seconds)
        fraction = f"cast(rpad(substr({t}, 10, {digits}), {digits}, '0') as bigint)"
        return when(matches(t, exact), f"({seconds}) * {UNITS_PER_SECOND[unit]} + {fraction}")

    return value, lambda t: when(matches(t, loose), literal("precision"), literal("cast"))
