"""Dates, timestamps, times of day and durations out of text, or out of a count since 1970-01-01.

Layer: rows.
Shape: for each type the value of a text (None if it has none) and the rule that it breaks.
Units: a date is a count of days (of milliseconds for date64), the others counts in the unit of their type.
"""

import re
from collections.abc import Callable
from datetime import date
from decimal import Context, Decimal, DecimalException, Inexact, InvalidOperation
from functools import lru_cache

import pyarrow as pa

from schemac.attributes.zones import is_utc
from schemac.kinds.units import ARROW_PER_SECOND, FRACTION_DIGITS
from schemac.rows.judging import forms
from schemac.rows.judging.clocks import Clock

Value = Callable[[str], object | None]
Rule = Callable[[str], str]

DAY_MICROSECONDS = 86_400 * 10**6
_EPOCH = date(1970, 1, 1).toordinal()
_LEAP_YEAR = 2000
LOWEST, HIGHEST = -(2**63), 2**63 - 1
MOST_ZONE_MINUTES = 18 * 60
_FRACTION = re.compile(r"[.,]([0-9]+)")
_ZONE = re.compile(r"([Zz]|[+-][0-9:]+)\Z")
_EXACT, _MOST_DIGITS = Context(prec=1000, traps=[Inexact, InvalidOperation]), 60
_BEYOND_ALL = int("1" + "0" * _MOST_DIGITS)
"""Numbers of more digits than a count can have are refused; beyond 60 digits none is a timestamp."""
_DATE, _YEARLESS = re.compile(forms.DATE), re.compile(forms.YEARLESS)
_COUNT = re.compile(forms.COUNT)


def days_of(t: str) -> int | None:
    """Return the day that a text such as `2024-01-31` begins with; None if there is no such day. Year 0 gives some day."""
    return _days_of(t[:10])


@lru_cache(maxsize=4096)
def _days_of(t: str) -> int | None:
    year = int(t[:4]) or _LEAP_YEAR
    try:
        return date(year, int(t[5:7]), int(t[8:10])).toordinal() - _EPOCH
    except ValueError:
        return None


def date_of_text(data_type: pa.DataType) -> tuple[Value, Rule]:
    """Read a day."""
    factor = 86_400_000 if pa.types.is_date64(data_type) else 1

    def value(t: str) -> object | None:
        days = days_of(t) if _DATE.fullmatch(t) else None
        return None if days is None else days * factor

    def rule(t: str) -> str:
        return "range" if _YEARLESS.fullmatch(t) and days_of(t) is not None else "cast"

    return value, rule


def date_of_count(data_type: pa.DataType, epoch: str) -> tuple[Value, Rule]:
    """Read a day out of a count."""
    factor = 86_400_000 if pa.types.is_date64(data_type) else 1
    per_unit, per_day = forms.NANOSECONDS_PER[epoch], forms.NANOSECONDS_PER["Day"]

    def value(t: str) -> object | None:
        found = _nanoseconds(t, per_unit) if _COUNT.fullmatch(t) else None
        if found is None or found % per_day:
            return None
        days = found // per_day
        return days * factor if forms.FIRST_DAY <= days <= forms.LAST_DAY else None

    return value, lambda t: _rule_of_count(t, per_unit, per_day)


def _rule_of_count(t: str, per_unit: int, step: int) -> str:
    """Name the rule that a count breaks; `step` in nanoseconds."""
    if not _COUNT.fullmatch(t):
        return "cast"
    found = _nanoseconds(t, per_unit)
    return "precision" if found is None or found % step else "range"


def _nanoseconds(t: str, per_unit: int) -> int | None:
    """Return a count as nanoseconds, exactly; None if it is not a whole number of them."""
    try:
        count = _EXACT.normalize(Decimal(t))
        if count and count.adjusted() > _MOST_DIGITS:
            return _BEYOND_ALL
        decimal = _EXACT.multiply(count, per_unit)
    except DecimalException:
        return None
    return int(decimal) if decimal == decimal.to_integral_value() else None


def micros_of(t: str) -> int | None:
    """Return the microseconds that the clock of a text shows since 1970-01-01T00:00; None if no clock does. Its zone is left out."""
    days = days_of(t)
    hours, minutes = int(t[11:13]), int(t[14:16])
    seconds = int(t[17:19]) if t[16:17] == ":" else 0
    if days is None or hours > 23 or minutes > 59 or seconds > 59:
        return None
    match = _FRACTION.search(t)
    micros = int(match[1][:6].ljust(6, "0")) if match else 0
    return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 10**6 + micros


def offset_of(zone: str) -> int | None:
    """Return the microseconds of a zone such as `Z`, `+02` or `-0330`; None if it is none."""
    if zone in ("Z", "z"):
        return 0
    digits = zone.replace(":", "")
    hours, minutes = int(digits[1:3]), int(digits[3:5].ljust(2, "0"))
    total = hours * 60 + minutes
    if minutes > 59 or total > MOST_ZONE_MINUTES:
        return None
    return (-total if digits[0] == "-" else total) * 60_000_000


def _zone(t: str) -> str | None:
    match = _ZONE.search(t, 16)
    return match[1] if match else None


def _instant(t: str, zone: str) -> int | None:
    shown, offset = micros_of(t), offset_of(zone)
    return None if shown is None or offset is None else shown - offset


def _in_nanoseconds(micros: int, t: str) -> int | None:
    match = _FRACTION.search(t)
    below = int(match[1][6:9].ljust(3, "0")) if match else 0
    return _long(micros * 1000 + below)


def _long(count: int) -> int | None:
    return count if LOWEST <= count <= HIGHEST else None


def _range_or_precision(t: str) -> str:
    return "range" if t.startswith("0000") else "precision"


def _converted(data_type: pa.DataType) -> Callable[[int, str], int | None]:
    """Turn microseconds into the unit of a type."""
    if data_type.unit == "ns":
        return _in_nanoseconds
    step = 10**6 // ARROW_PER_SECOND[data_type.unit]
    return lambda micros, _: micros // step


def microseconds_of_years(data_type: pa.TimestampType) -> tuple[int, int]:
    """Return the first and the last microsecond that a timestamp shows with a year of four digits, in its own zone too."""
    margin = 0 if data_type.tz is None or is_utc(data_type.tz) else DAY_MICROSECONDS
    return forms.FIRST_MICROSECOND + margin, forms.LAST_MICROSECOND - margin


def _is_inside(data_type: pa.DataType) -> Callable[[int], bool]:
    first, last = microseconds_of_years(data_type)
    return lambda micros: first <= micros <= last


def _patterns(unit: str) -> tuple[str, str]:
    exact = f"{forms.DATE}[Tt ]{forms.clock_form(FRACTION_DIGITS[unit])}"
    return exact, f"{forms.YEARLESS}[Tt ]{forms.CLOCK.replace('FRACTION', forms.ANY_FRACTION)}"


def clock_of_text(data_type: pa.DataType) -> tuple[Value, Rule]:
    """Read a clock that stays one: a field without a zone."""
    exact, loose = map(re.compile, _patterns(data_type.unit))
    converted = _converted(data_type)

    def value(t: str) -> object | None:
        micros = micros_of(t) if exact.fullmatch(t) else None
        return None if micros is None else converted(micros, t)

    def rule(t: str) -> str:
        if not loose.fullmatch(t) or micros_of(t) is None:
            return "cast"
        return "range" if exact.fullmatch(t) else _range_or_precision(t)

    return value, rule


def instant_of_text(data_type: pa.DataType, clock: Clock) -> tuple[Value, Rule]:
    """Read an instant out of a text with a zone; or without one, as the clock has it."""
    exact_text, loose_text = _patterns(data_type.unit)
    exact = re.compile(f"{exact_text}{forms.ZONE}?")
    loose, loose_with_zone = re.compile(loose_text), re.compile(loose_text + forms.ZONE)
    converted, is_inside = _converted(data_type), _is_inside(data_type)

    def value(t: str) -> object | None:
        if not exact.fullmatch(t):
            return None
        zone = _zone(t)
        if zone is not None:
            micros = _instant(t, zone)
        else:
            shown = micros_of(t)
            micros = None if shown is None else clock.instant(shown)
        return None if micros is None or not is_inside(micros) else converted(micros, t)

    def rule(t: str) -> str:
        shown = micros_of(t) if loose.fullmatch(t) else None
        is_instant = bool(loose_with_zone.fullmatch(t)) and _instant(t, _zone(t) or "Z") is not None
        broken = clock.rule(shown) if shown is not None else None
        if broken is not None:
            return broken
        if shown is None and not is_instant:
            return "cast"
        return "range" if exact.fullmatch(t) else _range_or_precision(t)

    return value, rule


def timestamp_of_count(data_type: pa.DataType, epoch: str, clock: Clock) -> tuple[Value, Rule]:
    """Read a timestamp out of a count."""
    unit, per_unit = data_type.unit, forms.NANOSECONDS_PER[epoch]
    step, is_inside, converted = 10**9 // ARROW_PER_SECOND[unit], _is_inside(data_type), _converted(data_type)
    is_shown = data_type.tz is None and clock.zone != "UTC"

    def value(t: str) -> object | None:
        found = _nanoseconds(t, per_unit) if _COUNT.fullmatch(t) else None
        if found is None or found % step:
            return None
        if unit == "ns" and not is_shown:
            return _long(found)
        micros = found // 1000
        if not forms.FIRST_MICROSECOND <= micros <= forms.LAST_MICROSECOND:
            return None
        # A count is an instant; the field has what the clocks of the zone show at it.
        shown = clock.shown(micros) if is_shown else micros
        if unit == "ns":
            return _long(shown * 1000 + found % 1000)
        return converted(shown, "") if is_inside(shown) else None

    return value, lambda t: _rule_of_count(t, per_unit, step)


def of_pattern(
    data_type: pa.DataType, clock: Clock | None, *, has_zone: bool
) -> Callable[[int], tuple[int | None, str | None]]:
    """Make a date or a timestamp of the microseconds that a pattern reads: the value, or the rule that it breaks."""
    if clock is None:
        factor = 86_400_000 if pa.types.is_date64(data_type) else 1

        def day(micros: int) -> tuple[int | None, str | None]:
            days = micros // DAY_MICROSECONDS
            return (days * factor, None) if forms.FIRST_DAY <= days <= forms.LAST_DAY else (None, "range")

        return day
    takes_instants, is_inside = data_type.tz is not None, _is_inside(data_type)
    per_microsecond, step = (
        (1000, 1) if data_type.unit == "ns" else (1, 10**6 // ARROW_PER_SECOND[data_type.unit])
    )

    def timestamp(micros: int) -> tuple[int | None, str | None]:
        found: int | None = micros
        if takes_instants and not has_zone:
            found, rule = clock.instant(micros), clock.rule(micros)
            if rule is not None:
                return None, rule
        if found is None or not is_inside(found):
            return None, "range"
        if has_zone and not takes_instants:
            found = clock.shown(found)
        count = _long(found * per_microsecond)
        if count is None:
            return None, "range"
        return (None, "precision") if count % step else (count // step, None)

    return timestamp


def time_of_day(data_type: pa.DataType) -> tuple[Value, Rule]:
    """Read a time of day such as `13:45:00.5`."""
    digits, per_second = FRACTION_DIGITS[data_type.unit], ARROW_PER_SECOND[data_type.unit]
    exact, loose = map(re.compile, forms.time_forms(digits))

    def value(t: str) -> object | None:
        if not exact.fullmatch(t):
            return None
        seconds = int(t[:2]) * 3600 + int(t[3:5]) * 60 + (int(t[6:8]) if len(t) >= 8 else 0)
        return seconds * per_second + (int(t[9 : 9 + digits].ljust(digits, "0")) if digits else 0)

    return value, lambda t: "precision" if loose.fullmatch(t) else "cast"
