"""Dates, timestamps, times of day and durations, out of ISO 8601 text, a pattern, or a count since 1970-01-01.

Layer: pipeline.
Shape: SQL text for the value and for the broken rule, from SQL text of the exact text (see `scalars`).
Units: a timestamp in nanoseconds, a time of day and a duration are counts in their own unit (bigint); others are
       Spark's date and timestamp, which count microseconds.
"""

from collections.abc import Callable

import pyarrow as pa

from schemac.attributes.zones import is_utc
from schemac.judging.forms import (
    ANY_FRACTION,
    CLOCK,
    COUNT,
    DATE,
    FIRST_DAY,
    FIRST_MICROSECOND,
    LAST_DAY,
    LAST_MICROSECOND,
    NANOSECONDS_PER,
    YEARLESS,
    ZONE,
    clock_form,
    time_forms,
)
from schemac.kinds.units import ARROW_PER_SECOND, FRACTION_DIGITS
from schemac.pipeline.spark.sqltext import first_of, let, literal, matches, when
from schemac.pipeline.values.clocks import DAY_MICROSECONDS, Clock
from schemac.pipeline.values.patterns import has_zone

Text = Callable[[str], str]

FIRST_DATE, LAST_DATE = "date'0001-01-01'", "date'9999-12-31'"

# As Spark reads it, and nearly every record has it.
STANDARD = rf"{DATE}[T ][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(?:\.[0-9]+)?"
STANDARD_ZONE = "(?:Z|[+-][0-9]{2}:[0-9]{2})"


def date_or_timestamp(
    data_type: pa.DataType, *, pattern: str | None, epoch: str | None, zone: str | None
) -> tuple[str, Text, Text] | None:
    """Spark type, value and rule for a date or a timestamp; None for other types. `zone` is that of its clocks."""
    if pa.types.is_date(data_type):
        return "date", *_date(pattern, epoch)
    if not pa.types.is_timestamp(data_type):
        return None
    held = "timestamp" if data_type.tz is not None else "timestamp_ntz"
    spark_type = "bigint" if data_type.unit == "ns" else held
    clock = Clock.of(data_type.tz or "UTC", zone)
    if epoch is not None:
        return spark_type, *_timestamp_of_count(data_type, held, epoch, clock)
    if pattern is not None:
        return spark_type, *_timestamp_of_pattern(data_type, held, pattern, clock)
    if data_type.tz is not None:
        return spark_type, *_instant_of_text(data_type, clock)
    return spark_type, *_clock_of_text(data_type)


def is_outside(data_type: pa.DataType, value: str) -> str | None:
    """Whether a date or a timestamp of Spark is none that all readers take; None for other types."""
    if pa.types.is_date(data_type):
        return f"not ({value} between {FIRST_DATE} and {LAST_DATE})"
    if pa.types.is_timestamp(data_type):
        return f"not {_is_inside(data_type, value)}"
    return None


def _is_inside(data_type: pa.DataType, value: str) -> str:
    # What is shown in another zone has to have a year of four digits there too.
    margin = 0 if data_type.tz is None or is_utc(data_type.tz) else DAY_MICROSECONDS
    micros = f"unix_micros(cast({value} as timestamp))"
    return f"({micros} between {FIRST_MICROSECOND + margin}L and {LAST_MICROSECOND - margin}L)"


def _date(pattern: str | None, epoch: str | None) -> tuple[Text, Text]:
    if epoch is not None:
        nanoseconds_per_unit = NANOSECONDS_PER[epoch]
        per_day = NANOSECONDS_PER["Day"]

        def of_count(t: str) -> str:
            nanoseconds = _nanoseconds_of_count(t, nanoseconds_per_unit)
            days = f"try_cast({nanoseconds} / {per_day}L as int)"
            is_inside = f"{days} between {FIRST_DAY} and {LAST_DAY}"
            is_exact = f"{matches(t, COUNT)} and {nanoseconds} % {per_day}L = 0"
            return when(f"{is_exact} and {is_inside}", f"date_add(date'1970-01-01', {days})")

        return of_count, lambda t: when(matches(t, COUNT), literal("precision"), literal("cast"))
    if pattern is not None:
        return (
            lambda t: let(
                f"try_cast(try_to_timestamp({t}, {literal(pattern)}) as date)",
                lambda d: when(f"{d} between {FIRST_DATE} and {LAST_DATE}", d),
            ),
            lambda _: literal("cast"),
        )
    return (
        lambda t: when(matches(t, DATE), f"try_cast({t} as date)"),
        lambda t: when(
            f"{matches(t, YEARLESS)} and try_cast({t} as date) is not null", literal("range"), literal("cast")
        ),
    )


def _nanoseconds_of_count(t: str, per_unit: int) -> str:
    whole = f"try_multiply(try_cast({t} as decimal(38,9)), cast({per_unit}L as decimal(15,0)))"
    return f"try_cast({whole} as decimal(38,6))"


def _clock_of_text(data_type: pa.DataType) -> tuple[Text, Text]:
    """Read a clock that stays one: a field without a zone."""
    exact = f"{DATE}[Tt ]{clock_form(FRACTION_DIGITS[data_type.unit])}"
    loose = f"{YEARLESS}[Tt ]{CLOCK.replace('FRACTION', ANY_FRACTION)}"

    def value(t: str) -> str:
        read = f"try_cast({t} as timestamp_ntz)"
        other = f"try_cast({_spelled_out(t, has_zone=False)} as timestamp_ntz)"
        converted = when(matches(t, STANDARD), read, other)
        return when(matches(t, exact), _with_nanoseconds(converted, t, data_type.unit))

    def rule(t: str) -> str:
        is_clock = f"{matches(t, loose)} and try_cast({_spelled_out(t, has_zone=False)} as timestamp_ntz) is not null"
        return first_of(
            [(f"{is_clock} and {matches(t, exact)}", literal("range")), (is_clock, _range_or_precision(t))],
            literal("cast"),
        )

    return value, rule


def _instant_of_text(data_type: pa.DataType, clock: Clock) -> tuple[Text, Text]:
    """Read an instant out of a text with a zone; or without one, as the clock has it."""
    exact = f"{DATE}[Tt ]{clock_form(FRACTION_DIGITS[data_type.unit])}"
    loose = f"{YEARLESS}[Tt ]{CLOCK.replace('FRACTION', ANY_FRACTION)}"

    def shown(t: str) -> str:
        return f"try_cast(concat({_spelled_out(t, has_zone=False)}, 'Z') as timestamp)"

    def zoned(t: str) -> str:
        return f"try_cast({_spelled_out(t, has_zone=True)} as timestamp)"

    def value(t: str) -> str:
        read = first_of(
            [
                (matches(t, STANDARD + STANDARD_ZONE), f"try_cast({t} as timestamp)"),
                (matches(t, ".*[Tt ].*" + ZONE), zoned(t)),
            ],
            clock.instant(shown(t)),
        )
        inside = let(read, lambda v: when(_is_inside(data_type, v), _with_nanoseconds(v, t, data_type.unit)))
        return when(matches(t, f"{exact}{ZONE}?"), inside)

    def rule(t: str) -> str:
        is_clock = f"({matches(t, loose)} and {shown(t)} is not null)"
        is_instant = f"({matches(t, loose + ZONE)} and {zoned(t)} is not null)"
        broken = clock.rule(shown(t))
        return first_of(
            [
                *([(f"{is_clock} and {broken} is not null", broken)] if broken is not None else []),
                (f"({is_clock} or {is_instant}) and {matches(t, exact + ZONE + '?')}", literal("range")),
                (f"{is_clock} or {is_instant}", _range_or_precision(t)),
            ],
            literal("cast"),
        )

    return value, rule


def _range_or_precision(t: str) -> str:
    return when(f"startswith({t}, '0000')", literal("range"), literal("precision"))


def _spelled_out(t: str, *, has_zone: bool) -> str:
    """Complete the text with the seconds, and the zone, as Spark has to see them."""
    seconds = f"if(substr({t}, 17, 1) = ':', substr({t}, 17, 3), ':00')"
    fraction = f"regexp_extract({t}, {literal('[.,]([0-9]+)')}, 1)"
    parts = f"substr({t}, 1, 10), 'T', substr({t}, 12, 5), {seconds}, '.', rpad({fraction}, 6, '0')"
    if not has_zone:
        return f"concat({parts})"
    zone = f"replace(regexp_extract(substr({t}, 17), {literal('([Zz]|[+-][0-9:]+)$')}, 1), ':', '')"
    offset = f"concat(substr({zone}, 1, 3), ':', rpad(substr({zone}, 4, 2), 2, '0'))"
    return f"concat({parts}, if(upper({zone}) = 'Z', 'Z', {offset}))"


def _with_nanoseconds(timestamp: str, t: str, unit: str) -> str:
    """Take the timestamp, or where the field counts nanoseconds the count, with the digits that Spark cuts off."""
    if unit != "ns":
        return timestamp
    below = rf"rpad(substr(regexp_extract({t}, {literal('[.,]([0-9]+)')}, 1), 7, 3), 3, '0')"
    return _nanoseconds(timestamp, f"cast({below} as bigint)")


def _nanoseconds(timestamp: str, below_microsecond: str) -> str:
    def counted(micros: str) -> str:
        # The first microsecond begins before the first nanosecond that a count can be: it is reached from its end.
        begin = f"try_add(try_multiply({micros}, 1000L), {below_microsecond})"
        end = f"try_add(try_multiply({micros} + 1, 1000L), {below_microsecond} - 1000L)"
        return when(f"{micros} < 0", end, begin)

    return let(f"unix_micros(cast({timestamp} as timestamp))", counted)


def _in_unit(timestamp: str, unit: str) -> str:
    """Take the timestamp, or null where the unit of the field is too coarse for it."""
    if unit == "ns":
        return _nanoseconds(timestamp, "0L")
    step = 10**6 // ARROW_PER_SECOND[unit]
    if step == 1:
        return timestamp
    return when(f"unix_micros(cast({timestamp} as timestamp)) % {step} = 0", timestamp)


def _timestamp_of_pattern(data_type: pa.DataType, held: str, pattern: str, clock: Clock) -> tuple[Text, Text]:
    reads_instants, takes_instants = has_zone(pattern), data_type.tz is not None
    is_clock = takes_instants and not reads_instants

    def read(t: str) -> str:
        return f"try_to_timestamp({t}, {literal(pattern)})"

    def instant(t: str) -> str:
        if reads_instants != takes_instants:
            return clock.instant(read(t)) if is_clock else clock.shown(read(t))
        return read(t)

    def value(t: str) -> str:
        return let(
            f"cast({instant(t)} as {held})",
            lambda v: when(_is_inside(data_type, v), _in_unit(v, data_type.unit)),
        )

    def rule(t: str) -> str:
        broken = clock.rule(read(t)) if is_clock else None
        known = [(f"{read(t)} is null", literal("cast"))]
        if broken is not None:
            known.append((f"{broken} is not null", broken))
        known.append((f"not {_is_inside(data_type, instant(t))}", literal("range")))
        return first_of(known, literal("precision"))

    return value, rule


def _timestamp_of_count(data_type: pa.DataType, held: str, epoch: str, clock: Clock) -> tuple[Text, Text]:
    unit = data_type.unit
    per_unit = NANOSECONDS_PER[epoch]

    def nanoseconds(t: str) -> str:
        return _nanoseconds_of_count(t, per_unit)

    def value(t: str) -> str:
        step = 10**9 // ARROW_PER_SECOND[unit]
        is_exact = f"{matches(t, COUNT)} and {nanoseconds(t)} % {step} = 0"
        micros = f"try_cast({nanoseconds(t)} / 1000 as bigint)"
        shown = f"timestamp_micros({micros})"
        if held == "timestamp_ntz" and clock.zone != "UTC":
            # A count is an instant; the field has what the clocks of the zone show at it.
            shown = clock.shown(shown)
            if unit == "ns":
                return when(is_exact, _nanoseconds(shown, f"cast({nanoseconds(t)} % 1000 as bigint)"))
        elif unit == "ns":
            return when(is_exact, f"try_cast({nanoseconds(t)} as bigint)")
        is_inside = f"{micros} between {FIRST_MICROSECOND}L and {LAST_MICROSECOND}L"
        converted = let(f"cast({shown} as {held})", lambda v: when(_is_inside(data_type, v), v))
        return when(f"{is_exact} and {is_inside}", converted)

    def rule(t: str) -> str:
        step = 10**9 // ARROW_PER_SECOND[unit]
        return first_of(
            [
                (f"not {matches(t, COUNT)}", literal("cast")),
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


def text_of_count(count: str, data_type: pa.DataType) -> str:
    """Show the count of a timestamp or of a time of day, in its unit, as ISO 8601 has it."""
    per_second, digits = ARROW_PER_SECOND[data_type.unit], FRACTION_DIGITS[data_type.unit]
    below = f"pmod({count}, {per_second}L)"
    # The second below, also of the lowest count, from which nothing can be subtracted.
    seconds = f"({count} div {per_second}L - if({count} % {per_second}L < 0, 1L, 0L))"
    form = "yyyy-MM-dd'T'HH:mm:ss" if pa.types.is_timestamp(data_type) else "HH:mm:ss"
    clock = f"date_format(timestamp_seconds({seconds}), {literal(form)})"
    fraction = f"concat('.', lpad(cast({below} as string), {digits}, '0'))" if digits else "''"
    zone = "Z" if getattr(data_type, "tz", None) is not None else ""
    return f"concat({clock}, {fraction}, '{zone}')"


def time_of_day(data_type: pa.DataType) -> tuple[Text, Text]:
    """Value and rule for a time of day such as `13:45:00.5`: a count in the unit of the field."""
    unit = data_type.unit
    digits = FRACTION_DIGITS[unit]
    exact, loose = time_forms(digits)

    def value(t: str) -> str:
        seconds = (
            f"cast(substr({t}, 1, 2) as bigint) * 3600 + cast(substr({t}, 4, 2) as bigint) * 60"
            f" + if(length({t}) >= 8, cast(substr({t}, 7, 2) as bigint), 0L)"
        )
        if not digits:
            return when(matches(t, exact), seconds)
        fraction = f"cast(rpad(substr({t}, 10, {digits}), {digits}, '0') as bigint)"
        return when(matches(t, exact), f"({seconds}) * {ARROW_PER_SECOND[unit]} + {fraction}")

    return value, lambda t: when(matches(t, loose), literal("precision"), literal("cast"))
