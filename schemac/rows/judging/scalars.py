"""The values of Arrow's types without children: how each is written in JSON, and what `values` makes of its text.

Layer: rows.
Shape: for each type a `Scalar`: the kind of token that it is written as, and its `Value` out of a text, or the rule that such a text breaks.
Rule: A clock without a zone, and the instant that it means: nothing is guessed. A clock is an instant only where its zone is told, or
      the field's own zone is UTC; a time that the clocks of the zone skip, or show twice, is none.
Units: precision and scale in decimal digits; lengths in bytes. A date is a count of days (of milliseconds for date64), timestamps, times
      of day and durations are counts in the unit of their type. Nanoseconds since 1970-01-01T00:00 in UTC, or on the clock itself.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from decimal import Context, Decimal, DecimalException, Inexact, InvalidOperation
from enum import StrEnum
from typing import Any, NoReturn

import pyarrow as pa

from schemac.language.attributes.attribute import Role
from schemac.language.attributes.builtin import find_zone, is_utc
from schemac.language.kinds.temporal import ARROW_PER_SECOND, FRACTION_DIGITS
from schemac.language.physical import with_parts
from schemac.rows.judging import values
from schemac.rows.judging.arrays import (
    extension_name,
    integer_limits,
    is_binary,
    is_string,
    role_of,
    storage_type,
)
from schemac.rows.judging.settings import FIRST_DAY, LAST_DAY, NANOSECONDS_PER
from schemac.rows.judging.tokens import NotJsonError, parse
from schemac.rows.judging.values import BrokenRuleError, local_time_at
from schemac.versions.evolution.diff import declared_clock

Value = Callable[[str], Any]


class TokenKind(StrEnum):
    """How a value is written in JSON."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    STRING = "string"
    ANY = "any"


@dataclass(frozen=True)
class Scalar:
    """How the values of one type are read: `value` makes one of a text, or raises BrokenRuleError."""

    token: TokenKind
    value: Value
    is_identity: bool = False


def scalar_of(field: pa.Field, epoch: str | None = None) -> Scalar | None:
    """Return how a field without parts is read; None for types that a pipeline cannot write."""
    if extension_name(field) == "arrow.uuid":
        return Scalar(TokenKind.STRING, values.uuid_of)
    role = role_of(field)
    if role is Role.JSON:
        return Scalar(TokenKind.ANY, _checked_json)
    if role is Role.BRAIN_FLOATS:
        return Scalar(TokenKind.NUMBER, values.brain_float_of)
    if role is Role.BLOB:
        return Scalar(TokenKind.STRING, values.bytes_of)
    data_type, is_ = storage_type(field.type), pa.types
    if is_.is_date(data_type) or is_.is_timestamp(data_type):
        token = TokenKind.STRING if epoch is None else TokenKind.NUMBER
        if is_.is_date(data_type):
            return Scalar(token, _day_reader(data_type, epoch))
        if epoch is not None:
            return Scalar(token, _timestamp_count_reader(data_type, epoch, clock_zone(field)))
        return Scalar(token, _timestamp_text_reader(data_type, clock_zone(field)))
    if is_string(data_type):
        return Scalar(TokenKind.STRING, lambda t: t, is_identity=True)
    if is_.is_boolean(data_type):
        return Scalar(TokenKind.BOOLEAN, values.boolean_of)
    if is_.is_integer(data_type):
        lowest, highest = integer_limits(data_type)
        return Scalar(TokenKind.NUMBER, lambda t: values.integer_of(t, lowest, highest))
    if is_.is_floating(data_type):
        bits = data_type.bit_width
        return Scalar(TokenKind.NUMBER, lambda t: values.float_of(t, bits))
    if is_.is_decimal(data_type):
        precision, scale = data_type.precision, data_type.scale
        return Scalar(TokenKind.NUMBER, lambda t: values.decimal_of(t, precision, scale))
    if is_binary(data_type) or is_.is_fixed_size_binary(data_type):
        width_bytes = None if is_binary(data_type) else data_type.byte_width
        return Scalar(TokenKind.STRING, lambda t: values.bytes_of(t, width_bytes))
    if is_.is_time(data_type):
        return Scalar(TokenKind.STRING, _time_reader(data_type))
    if is_.is_duration(data_type):
        return Scalar(TokenKind.NUMBER, values.count_of)
    return Scalar(TokenKind.ANY, _refuse_value) if is_.is_null(data_type) else None


def _refuse_value(_: str) -> NoReturn:
    """Raise BrokenRuleError: no value is one of the type null."""
    raise BrokenRuleError("type", "not null")


def _checked_json(t: str) -> str:
    """Return a text as it is if it is one value of JSON. Raises BrokenRuleError."""
    try:
        parse(t)
    except NotJsonError:
        raise BrokenRuleError("cast", "not one value of JSON") from None
    return t


CLOCK_ZONE = b"schemac.dev/clockZone"


def zone_of(field: pa.Field) -> str | None:
    """Return the zone that was declared for a field's clocks; None if none was."""
    declared = (field.metadata or {}).get(CLOCK_ZONE)
    if declared is None:
        return None
    text = declared.decode()
    return str(json.loads(text)) if text.startswith('"') else text


def with_zones(
    schema: pa.Schema, zone_of_field: Callable[[str], str | None], of_source: str | None
) -> pa.Schema:
    """Return a schema in which each timestamp, at every depth, has the zone of its clocks in its metadata."""
    fields = [_with_zone(field, zone_of_field(field.name), of_source) for field in schema]
    return pa.schema(fields, metadata=schema.metadata)


def _with_zone(field: pa.Field, zone: str | None, of_source: str | None) -> pa.Field:
    """Return a field whose timestamps have the zone of their clocks in their metadata; `of_source` is the last resort."""
    data_type, is_ = field.type, pa.types
    if is_.is_nested(data_type):
        return field.with_type(with_parts(data_type, lambda part: _with_zone(part, zone, of_source)))
    value_type = data_type.value_type if is_.is_dictionary(data_type) else data_type
    pair = (zone, zone_of(field)) if getattr(value_type, "tz", None) is not None else (zone_of(field), zone)
    declared = declared_clock(*pair, None) or of_source
    if declared is None or not is_.is_timestamp(value_type):
        return field
    return field.with_metadata({**(field.metadata or {}), CLOCK_ZONE: json.dumps(declared).encode()})


def clock_zone(field: pa.Field) -> str | None:
    """Return the zone of the clock that local times of a timestamp are read from; None if it is not set."""
    zone = declared_clock(zone_of(field), None, storage_type(field.type).tz or "UTC")
    return "UTC" if is_utc(zone) else zone


def shown_in(zone: str | None, instant: int) -> int:
    """Return the local time in a zone, UTC if it is not set, at an instant; both in nanoseconds."""
    rules = find_zone(zone or "UTC")
    assert rules is not None, zone
    return local_time_at(instant, rules)


def _rules_of(zone: str | None) -> tzinfo | None:
    """Return the rules of a zone; None if it is not set."""
    return None if zone is None else find_zone(zone)


_EXACT, _MOST_DIGITS = Context(prec=1000, traps=[Inexact, InvalidOperation]), 60
_BEYOND_ALL = Decimal(10**_MOST_DIGITS)
"""Stands for counts of more digits, which are no timestamp."""
_COUNT = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE]\+?[0-9]+)?")


def _per_day(data_type: pa.DataType) -> int:
    """Return how many units of a date type a day has."""
    return 86_400_000 if pa.types.is_date64(data_type) else 1


def _day_reader(data_type: pa.DataType, epoch: str | None) -> Value:
    """Read a day, or a count since 1970."""
    factor = _per_day(data_type)
    if epoch is None:
        return lambda t: values.day_of(t) * factor
    per_unit = NANOSECONDS_PER[epoch]
    return lambda t: _in_years(_nanoseconds_of_count(t, per_unit, values.DAY) // values.DAY, *_DAYS) * factor


_DAYS = FIRST_DAY, LAST_DAY


def _in_years(count: int, first: int, last: int) -> int:
    """Return a count since 1970 as it is; `first` and `last` are those of the years 0001 to 9999. Raises BrokenRuleError outside."""
    if not first <= count <= last:
        raise BrokenRuleError("range", "not in the years 0001 to 9999")
    return count


def _nanoseconds_of_count(t: str, per_unit: int, step: int) -> int:
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
    """Return how many nanoseconds the unit of a type has."""
    return 10**9 // ARROW_PER_SECOND[data_type.unit]


def nanoseconds_of_years(data_type: pa.TimestampType) -> tuple[int, int]:
    """Return the first and the last nanosecond that a timestamp shows with a year of four digits, in its own zone too."""
    margin = _calendar_margin(data_type)
    return values.FIRST + margin, values.LAST - margin - 1


def _calendar_margin(data_type: pa.TimestampType) -> int:
    """Return how many nanoseconds a timestamp stays away from the first and the last year: its zone may show another day."""
    return 0 if data_type.tz is None or is_utc(data_type.tz) else values.DAY


def _timestamp_text_reader(data_type: pa.DataType, zone: str | None) -> Value:
    """Read an instant out of a text with a zone, or without one, as a clock in `zone` has it; a field without a zone has clocks that stay ones."""
    digits, step = FRACTION_DIGITS[data_type.unit], _nanoseconds_per(data_type)
    if data_type.tz is None:
        return lambda t: values.clock_of(t, digits) // step
    rules, margin = _rules_of(zone), _calendar_margin(data_type)
    return lambda t: values.instant_of(t, digits, rules, margin) // step


def _timestamp_count_reader(data_type: pa.DataType, epoch: str, zone: str | None) -> Value:
    """Read a timestamp out of a count, which is an instant."""
    per_unit, step = NANOSECONDS_PER[epoch], _nanoseconds_per(data_type)
    timestamp = _timestamp_maker(data_type, zone)
    return lambda t: timestamp(_nanoseconds_of_count(t, per_unit, step))


def _timestamp_maker(data_type: pa.TimestampType, zone: str | None) -> Callable[[int], int]:
    """Make a timestamp of the nanoseconds of an instant; one without a zone has what the clocks of `zone` show at it."""
    is_converted, step = data_type.tz is None and zone != "UTC", _nanoseconds_per(data_type)
    first, last = nanoseconds_of_years(data_type)

    def timestamp(instant: int) -> int:
        if is_converted:
            instant = shown_in(zone, _in_years(instant, values.FIRST, values.LAST - 1))
        if data_type.unit == "ns":
            return values.in_64_bits(instant)
        if _in_years(instant, first, last) % step:
            raise BrokenRuleError("precision", "more digits than the unit has")
        return instant // step

    return timestamp


def pattern_value_reader(field: pa.Field, *, has_zone: bool) -> Callable[[int], int]:
    """Make a date or a timestamp of the microseconds that a pattern reads."""
    data_type = storage_type(field.type)
    if not pa.types.is_timestamp(data_type):
        factor = _per_day(data_type)
        return lambda micros: _in_years(micros * 1000 // values.DAY, *_DAYS) * factor
    zone = clock_zone(field)
    # Without a zone it is the reading of a clock, which a field without one takes as it is.
    timestamp = _timestamp_maker(data_type, zone if has_zone else "UTC")
    if has_zone or data_type.tz is None:
        return lambda micros: timestamp(micros * 1000)
    rules = _rules_of(zone)
    return lambda micros: timestamp(values.instant_at(micros * 1000, rules))


def _time_reader(data_type: pa.DataType) -> Value:
    """Read a time of day such as `13:45:00.5`."""
    digits, step = FRACTION_DIGITS[data_type.unit], _nanoseconds_per(data_type)
    return lambda t: values.time_of(t, digits) // step
