"""The values of Arrow's types without children: how each is written in JSON, and what `values` makes of its text.

Layer: rows.
Shape: for each type a `Scalar`: the kind of token that it is written as, and its value out of a text, or the rule that such a text breaks.
Units: precision and scale in decimal digits; lengths in bytes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn

import pyarrow as pa

from schemac.language.attributes.attribute import Role
from schemac.rows.judging import timestamps, values
from schemac.rows.judging.arrays import (
    extension_name,
    integer_limits,
    is_binary,
    is_string,
    role_of,
    storage_type,
)
from schemac.rows.judging.timestamps import Clock, zone_of, zone_of_clock
from schemac.rows.judging.tokens import NotJsonError, parse
from schemac.rows.judging.values import BrokenRuleError

Value = Callable[[str], Any]


class Token(StrEnum):
    """How a value is written in JSON."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    STRING = "string"
    ANY = "any"


@dataclass(frozen=True)
class Scalar:
    """How the values of one type come out of text; `value` raises BrokenRuleError."""

    token: Token
    value: Value
    is_identity: bool = False


def scalar_of(field: pa.Field, epoch: str | None = None) -> Scalar | None:
    """How one field without children is read; None for types that a pipeline cannot write."""
    if extension_name(field) == "arrow.uuid":
        return Scalar(Token.STRING, values.uuid_of)
    role = role_of(field)
    if role is Role.JSON:
        return Scalar(Token.ANY, _json)
    if role is Role.BRAIN_FLOATS:
        return Scalar(Token.NUMBER, values.brain_float_of)
    if role is Role.BLOB:
        return Scalar(Token.STRING, values.bytes_of)
    data_type = storage_type(field.type)
    if pa.types.is_date(data_type) or pa.types.is_timestamp(data_type):
        token = Token.STRING if epoch is None else Token.NUMBER
        if pa.types.is_date(data_type):
            if epoch is None:
                return Scalar(token, timestamps.date_of_text(data_type))
            return Scalar(token, timestamps.date_of_count(data_type, epoch))
        clock = clock_of(data_type, zone_of(field))
        if epoch is not None:
            return Scalar(token, timestamps.timestamp_of_count(data_type, epoch, clock))
        if data_type.tz is not None:
            return Scalar(token, timestamps.instant_of_text(data_type, clock))
        return Scalar(token, timestamps.clock_of_text(data_type))
    for fits, build in _BUILDERS:
        if fits(data_type):
            return build(data_type)
    return None


def clock_of(data_type: pa.DataType, zone: str | None) -> Clock:
    """Return the clock of a timestamp, whose zone is that of the field or its own."""
    return Clock(zone_of_clock(data_type.tz or "UTC", zone))


def _integer(data_type: pa.DataType) -> Scalar:
    """Return what reads a number of JSON as an integer within the limits of the type."""
    lowest, highest = integer_limits(data_type)
    return Scalar(Token.NUMBER, lambda t: values.integer_of(t, lowest, highest))


def _float(data_type: pa.DataType) -> Scalar:
    """Return what reads a number of JSON as a float of the type's 16, 32 or 64 bits."""
    bits = data_type.bit_width
    return Scalar(Token.NUMBER, lambda t: values.float_of(t, bits))


def _decimal(data_type: pa.DataType) -> Scalar:
    """Return what reads a number of JSON as a decimal with the type's precision and scale."""
    precision, scale = data_type.precision, data_type.scale
    return Scalar(Token.NUMBER, lambda t: values.decimal_of(t, precision, scale))


def _fixed_binary(data_type: pa.DataType) -> Scalar:
    width_bytes = data_type.byte_width
    return Scalar(Token.STRING, lambda t: values.bytes_of(t, width_bytes))


def _not_null(_: str) -> NoReturn:
    raise BrokenRuleError("type", "not null")


def _json(t: str) -> str:
    """Return a text as it is if it is one value of JSON. Raises BrokenRuleError."""
    try:
        parse(t)
    except NotJsonError:
        raise BrokenRuleError("cast", "not one value of JSON") from None
    return t


_BUILDERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], Scalar]], ...] = (
    (is_string, lambda _: Scalar(Token.STRING, lambda t: t, is_identity=True)),
    (pa.types.is_boolean, lambda _: Scalar(Token.BOOLEAN, values.boolean_of)),
    (pa.types.is_integer, _integer),
    (pa.types.is_floating, _float),
    (pa.types.is_decimal, _decimal),
    (is_binary, lambda _: Scalar(Token.STRING, values.bytes_of)),
    (pa.types.is_fixed_size_binary, _fixed_binary),
    (pa.types.is_time, lambda data_type: Scalar(Token.STRING, timestamps.time_of_day(data_type))),
    (pa.types.is_duration, lambda _: Scalar(Token.NUMBER, values.count_of)),
    (pa.types.is_null, lambda _: Scalar(Token.ANY, _not_null)),
)
