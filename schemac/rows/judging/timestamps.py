"""Dates, timestamps and times of day in the types of Arrow: out of texts, out of counts since 1970-01-01, or out of what a pattern reads.

Layer: rows.
Shape: a `Value` takes a text and returns the value, or raises BrokenRuleError.
Units: a date is a count of days (of milliseconds for date64), the others counts in the unit of their type.
"""

import re
from collections.abc import Callable
from decimal import Context, Decimal, DecimalException, Inexact, InvalidOperation

import pyarrow as pa

from schemac.attributes.zones import is_utc
from schemac.kinds.units import ARROW_PER_SECOND, FRACTION_DIGITS
from schemac.rows.judging import values
from schemac.rows.judging.clocks import Clock
from schemac.rows.judging.forms import FIRST_DAY, LAST_DAY, NANOSECONDS_PER
from schemac.rows.judging.values import BrokenRuleError

Value = Callable[[str], int]

_EXACT, _MOST_DIGITS = Context(prec=1000, traps=[Inexact, InvalidOperation]), 60
_BEYOND_ALL = Decimal(10**_MOST_DIGITS)
"""Stands for counts of more digits, which are no timestamp."""
_COUNT = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE]\+?[0-9]+)?")


def _per_day(data_type: pa.DataType) -> int:
    return 86_400_000 if pa.types.is_date64(data_type) else 1


def date_of_text(data_type: pa.DataType) -> Value:
    """Read a day."""
    factor = _per_day(data_type)
    return lambda t: values.day_of(t) * factor


def date_of_count(data_type: pa.DataType, epoch: str) -> Value:
    """Read a day out of a count."""
    factor, per_unit = _per_day(data_type), NANOSECONDS_PER[epoch]
    return lambda t: _day(_counted(t, per_unit, values.DAY) // values.DAY) * factor


def _day(days: int) -> int:
    if not FIRST_DAY <= days <= LAST_DAY:
        raise BrokenRuleError("range", "not in the years 0001 to 9999")
    return days


def _counted(t: str, per_unit: int, step: int) -> int:
    """Return a count as nanoseconds, exactly, which have to be whole steps."""
    if not _COUNT.fullmatch(t):
        raise BrokenRuleError("cast", "not a count")
    try:
        count = _EXACT.normalize(Decimal(t))
        is_beyond = count and count.adjusted() > _MOST_DIGITS
        found = _BEYOND_ALL if is_beyond else _EXACT.multiply(count, per_unit)
    except DecimalException:
        raise BrokenRuleError("precision", "more digits than the unit has") from None
    if found != found.to_integral_value() or int(found) % step:
        raise BrokenRuleError("precision", "more digits than the unit has")
    return int(found)


def _nanoseconds_per(data_type: pa.DataType) -> int:
    return 10**9 // ARROW_PER_SECOND[data_type.unit]


def nanoseconds_of_years(data_type: pa.TimestampType) -> tuple[int, int]:
    """Return the first and the last nanosecond that a timestamp shows with a year of four digits, in its own zone too."""
    margin = margin_of(data_type)
    return values.FIRST + margin, values.LAST - margin - 1


def margin_of(data_type: pa.TimestampType) -> int:
    """Return how many nanoseconds a timestamp stays away from the first and the last year: its zone may show another day."""
    return 0 if data_type.tz is None or is_utc(data_type.tz) else values.DAY


def clock_of_text(data_type: pa.DataType) -> Value:
    """Read a clock that stays one: a field without a zone."""
    digits, step = FRACTION_DIGITS[data_type.unit], _nanoseconds_per(data_type)
    return lambda t: values.clock_of(t, digits) // step


def instant_of_text(data_type: pa.DataType, clock: Clock) -> Value:
    """Read an instant out of a text with a zone; or without one, as the clock has it."""
    digits, step, margin = FRACTION_DIGITS[data_type.unit], _nanoseconds_per(data_type), margin_of(data_type)
    rules = clock.rules
    return lambda t: values.instant_of(t, digits, rules, margin) // step


def _in_type(nanoseconds: int, data_type: pa.DataType) -> int:
    """Return an instant, or what a clock shows, in the unit of a type, within its years."""
    first, last = nanoseconds_of_years(data_type)
    if data_type.unit == "ns":
        return values.in_64_bits(nanoseconds)
    if not first <= nanoseconds <= last:
        raise BrokenRuleError("range", "not in the years 0001 to 9999")
    return nanoseconds // _nanoseconds_per(data_type)


def timestamp_of_count(data_type: pa.DataType, epoch: str, clock: Clock) -> Value:
    """Read a timestamp out of a count."""
    per_unit, step = NANOSECONDS_PER[epoch], _nanoseconds_per(data_type)
    is_converted = data_type.tz is None and clock.zone != "UTC"

    def value(t: str) -> int:
        nanoseconds = _counted(t, per_unit, step)
        if is_converted:
            # A count is an instant; the field has what the clocks of the zone show at it.
            if not values.FIRST <= nanoseconds < values.LAST:
                raise BrokenRuleError("range", "not in the years 0001 to 9999")
            nanoseconds = clock.shown(nanoseconds)
        return _in_type(nanoseconds, data_type)

    return value


def of_pattern(data_type: pa.DataType, clock: Clock | None, *, has_zone: bool) -> Callable[[int], int]:
    """Make a date or a timestamp of the microseconds that a pattern reads."""
    if clock is None:
        factor = _per_day(data_type)
        return lambda micros: _day(micros * 1000 // values.DAY) * factor

    takes_instants, step = data_type.tz is not None, _nanoseconds_per(data_type)
    first, last = nanoseconds_of_years(data_type)

    def timestamp(micros: int) -> int:
        result = micros * 1000
        if takes_instants and not has_zone:
            result = values.instant_at(result, clock.rules)
        if not first <= result <= last:
            raise BrokenRuleError("range", "not in the years 0001 to 9999")
        if has_zone and not takes_instants:
            result = clock.shown(result)
        if data_type.unit == "ns":
            return values.in_64_bits(result)
        if result % step:
            raise BrokenRuleError("precision", "more digits than the unit has")
        return result // step

    return timestamp


def time_of_day(data_type: pa.DataType) -> Value:
    """Read a time of day such as `13:45:00.5`."""
    digits, step = FRACTION_DIGITS[data_type.unit], _nanoseconds_per(data_type)
    return lambda t: values.time_of(t, digits) // step
