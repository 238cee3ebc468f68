"""Turns the exact text of one value into the value of an Arrow type, or names the rule that it breaks.

Layer: rows.
Shape: for each Arrow type without children, a `Scalar`: the kind of token it is written as, its value out of a text (None
       where the text has none), the rule that such a text breaks.
Units: precision and scale in decimal digits; lengths in bytes.
"""

import base64
import math
import re
import struct
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from enum import StrEnum
from typing import Any

import pyarrow as pa

from schemac.attributes.attribute import Role
from schemac.rows.judging import forms, timestamps
from schemac.rows.judging.clocks import Clock, zone_of, zone_of_clock
from schemac.rows.judging.shapes import (
    extension_name,
    integer_limits,
    is_binary,
    is_string,
    role_of,
    storage_type,
)
from schemac.rows.judging.tokens import NotJsonError, parse

Value = Callable[[str], Any | None]
Rule = Callable[[str], str]
Values = Callable[[Sequence[str]], list[float] | None]


class Token(StrEnum):
    """How a value is written in JSON."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    STRING = "string"
    ANY = "any"


@dataclass(frozen=True)
class Scalar:
    """How the values of one type come out of text."""

    token: Token
    value: Value
    rule: Rule
    is_identity: bool = False
    many: Values | None = None
    """Reads many numbers of JSON at once, as a vector has them; None if one of them has to be looked at alone."""


_NUMBER, _EXPONENT, _WHOLE = (re.compile(form) for form in (forms.NUMBER, forms.EXPONENT, forms.WHOLE))
_SCIENTIFIC, _NOT_FINITE = re.compile(forms.SCIENTIFIC), re.compile(forms.NOT_FINITE)
_INTEGER, _NATURAL = re.compile(forms.INTEGER), re.compile(forms.NATURAL)
_BOOLEAN, _BASE64, _UUID = (
    re.compile(forms.BOOLEAN, re.ASCII),
    re.compile(forms.BASE64),
    re.compile(forms.UUID),
)
_DIGITS = Context(prec=100)
MOST_DIGITS_OF_INTEGER = 20
MOST_DIGITS_OF_POWER = 9


def scalar_of(field: pa.Field, epoch: str | None = None) -> Scalar | None:
    """How one field without children is read; None for types that a pipeline cannot write."""
    if extension_name(field) == "arrow.uuid":
        return Scalar(Token.STRING, _uuid, _always("cast"))
    role = role_of(field)
    if role is Role.JSON:
        return Scalar(Token.ANY, _json, _always("cast"))
    if role is Role.BRAIN_FLOATS:
        return _float_within(32, forms.LARGEST_BFLOAT16, _brain_float)
    if role is Role.BLOB:
        return Scalar(Token.STRING, from_base64, _always("cast"))
    data_type = storage_type(field.type)
    if pa.types.is_date(data_type) or pa.types.is_timestamp(data_type):
        return _date_or_timestamp(data_type, epoch, zone_of(field))
    for fits, build in _BUILDERS:
        if fits(data_type):
            return build(data_type)
    return None


def _date_or_timestamp(data_type: pa.DataType, epoch: str | None, zone: str | None) -> Scalar:
    token = Token.STRING if epoch is None else Token.NUMBER
    if pa.types.is_date(data_type):
        read = (
            timestamps.date_of_text(data_type)
            if epoch is None
            else timestamps.date_of_count(data_type, epoch)
        )
        return Scalar(token, *read)
    clock = clock_of(data_type, zone)
    if epoch is not None:
        return Scalar(token, *timestamps.timestamp_of_count(data_type, epoch, clock))
    if data_type.tz is not None:
        return Scalar(token, *timestamps.instant_of_text(data_type, clock))
    return Scalar(token, *timestamps.clock_of_text(data_type))


def clock_of(data_type: pa.DataType, zone: str | None) -> Clock:
    """Return the clock of a timestamp, whose zone is given next to it or is its own."""
    return Clock(zone_of_clock(data_type.tz or "UTC", zone))


def plain_digits(t: str) -> str | None:
    """Write a number without its exponent, digit for digit; None if its point would move too far."""
    if not _EXPONENT.fullmatch(t):
        return t
    match = _SCIENTIFIC.match(t)
    assert match is not None
    sign, whole, fraction, exponent = match.groups("")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return sign + "0"
    power = (
        int(exponent) if len(exponent.lstrip("+-").lstrip("0")) <= MOST_DIGITS_OF_POWER else forms.LEAST_POWER
    )
    shift = power - len(fraction)
    if abs(shift) > forms.MOST_PLACES:
        return None
    if shift >= 0:
        return sign + digits + "0" * shift
    padded = digits.rjust(1 - shift, "0")
    return f"{sign}{padded[:shift]}.{padded[shift:]}"


def _is_far_right(t: str) -> bool:
    """Whether a number whose point is moved too far to be written out is a whole one, as `1e400` is."""
    return "-" not in t.lower().partition("e")[2]


def _always(rule: str) -> Rule:
    return lambda _: rule


def _text(_: pa.DataType) -> Scalar:
    return Scalar(Token.STRING, lambda t: t, _always("cast"), is_identity=True)


def _null(_: pa.DataType) -> Scalar:
    return Scalar(Token.ANY, lambda _: None, _always("type"))


def _boolean(_: pa.DataType) -> Scalar:
    return Scalar(
        Token.BOOLEAN, lambda t: t.lower() == "true" if _BOOLEAN.fullmatch(t) else None, _always("cast")
    )


def _integer(data_type: pa.DataType) -> Scalar:
    form = _INTEGER if pa.types.is_signed_integer(data_type) else _NATURAL
    lowest, highest = integer_limits(data_type)

    def whole(t: str) -> int | None:
        if len(t) > MOST_DIGITS_OF_INTEGER and len(t.lstrip("+-").lstrip("0")) > MOST_DIGITS_OF_INTEGER:
            return None
        found = int(t.lstrip("+-").lstrip("0") or "0") * (-1 if t[0] == "-" else 1)
        return found if lowest <= found <= highest else None

    def value(t: str) -> int | None:
        if len(t) < 19 and t.isdigit() and t.isascii():
            found = int(t)
            return found if found <= highest else None
        if form.fullmatch(t):
            return whole(t)
        if not _NUMBER.fullmatch(t):
            return None
        # JSON writes the whole number 5000 as 5e3 and 5000.0 too.
        plain = plain_digits(t)
        return whole(plain.partition(".")[0]) if plain is not None and _WHOLE.fullmatch(plain) else None

    def rule(t: str) -> str:
        if not _NUMBER.fullmatch(t):
            return "cast"
        plain = plain_digits(t)
        is_whole = _is_far_right(t) if plain is None else _WHOLE.fullmatch(plain)
        return "range" if is_whole else "cast"

    return Scalar(Token.NUMBER, value, rule)


_DOUBLE, _LONG, _SINGLE, _HALF = (
    struct.Struct("<d"),
    struct.Struct("<q"),
    struct.Struct("<f"),
    struct.Struct("<e"),
)
_BETWEEN_SINGLES, _BELOW_SINGLE = 1 << 28, (1 << 29) - 1
_LEAST_NORMAL_SINGLE = 2.0**-126


def is_between_singles(double: float) -> bool:
    """Whether a double is in the middle of two singles: then the number itself decides, which the double may have rounded."""
    if abs(double) < _LEAST_NORMAL_SINGLE:
        halves = abs(double) * 2.0**150
        return halves.is_integer() and int(halves) % 2 == 1
    bits: int = _LONG.unpack(_DOUBLE.pack(double))[0]
    return bits & _BELOW_SINGLE == _BETWEEN_SINGLES


def single_of(t: str) -> float:
    """Round the number of a text to a single, once; to infinity beyond the largest."""
    double = float(t)
    if is_between_singles(double):
        # A hair above or below the middle, on the side of the number itself, is rounded as that is.
        number, near = Decimal(t), Decimal(double)
        if number != near:
            bits: int = _LONG.unpack(_DOUBLE.pack(double))[0]
            is_farther = number.copy_abs() > near.copy_abs()
            double = _DOUBLE.unpack(_LONG.pack(bits + (1 if is_farther else -1)))[0]
    try:
        return float(_SINGLE.unpack(_SINGLE.pack(double))[0])
    except OverflowError:
        return float("inf") if double > 0 else float("-inf")


_LEAST_NORMAL_BITS: int = _LONG.unpack(_DOUBLE.pack(_LEAST_NORMAL_SINGLE))[0]
_MAGNITUDE = (1 << 63) - 1


def _singles(numbers: Sequence[str]) -> list[float] | None:
    """Round numbers to singles; None if one is below or above the normal singles, or between two of them."""
    doubles = array("d", map(float, numbers))
    for bits in memoryview(doubles).cast("B").cast("q"):
        if bits & _BELOW_SINGLE == _BETWEEN_SINGLES or 0 < bits & _MAGNITUDE < _LEAST_NORMAL_BITS:
            return None
    singles = array("f", doubles).tolist()
    largest = forms.FLOAT32_LARGEST
    return singles if all(-largest <= single <= largest for single in singles) else None


def _doubles(numbers: Sequence[str]) -> list[float] | None:
    """Read numbers as doubles; None if one is beyond the largest."""
    doubles = [*map(float, numbers)]
    return doubles if all(map(math.isfinite, doubles)) else None


def _float(data_type: pa.DataType) -> Scalar:
    bits = data_type.bit_width
    if bits == 64:
        return replace(_float_within(64, 1.7976931348623157e308, float), many=_doubles)
    if bits == 16:
        return _float_within(32, forms.FLOAT16_LARGEST, _half)
    return replace(_float_within(32, forms.FLOAT32_LARGEST, float), many=_singles)


def _half(single: float) -> float:
    return float(_HALF.unpack(_HALF.pack(single))[0])


def _brain_float(single: float) -> bytes:
    """Keep the upper half of a single, rounded to the nearest, ties to even."""
    if math.isnan(single):
        return b"\xc0\x7f"
    bits = int.from_bytes(_SINGLE.pack(single), "little")
    return (((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF).to_bytes(2, "little")


def _float_within(bits: int, largest: float, finish: Callable[[float], Any]) -> Scalar:
    rounded: Callable[[str], float] = float if bits == 64 else single_of

    is_finished = finish is float

    def value(t: str) -> Any | None:
        if _NUMBER.fullmatch(t):
            found = rounded(t)
            if not -largest <= found <= largest:
                return None
            return found if is_finished else finish(found)
        return finish(float(t)) if _NOT_FINITE.fullmatch(t) else None

    def rule(t: str) -> str:
        return "range" if _NUMBER.fullmatch(t) else "cast"

    return Scalar(Token.NUMBER, value, rule)


def _decimal(data_type: pa.DataType) -> Scalar:
    precision, scale = data_type.precision, data_type.scale
    exact = re.compile(forms.decimal_form(precision, scale))
    largest, unit = float(f"1e{precision - scale}"), Decimal((0, (1,), -scale))

    def value(t: str) -> Decimal | None:
        plain = plain_digits(t)
        if plain is None or not exact.fullmatch(plain) or not any(map(str.isdigit, plain)):
            return None
        return Decimal(plain).quantize(unit, context=_DIGITS)

    def rule(t: str) -> str:
        if not _NUMBER.fullmatch(t):
            return "cast"
        return "range" if abs(float(t)) >= largest else "precision"

    return Scalar(Token.NUMBER, value, rule)


def from_base64(t: str) -> bytes | None:
    """Read bytes out of base64."""
    return base64.b64decode(t) if len(t) % 4 == 0 and _BASE64.fullmatch(t) else None


def _binary(_: pa.DataType) -> Scalar:
    return Scalar(Token.STRING, from_base64, _always("cast"))


def _fixed_binary(data_type: pa.DataType) -> Scalar:
    width_bytes = data_type.byte_width

    def value(t: str) -> bytes | None:
        found = from_base64(t)
        return found if found is not None and len(found) == width_bytes else None

    return Scalar(Token.STRING, value, lambda t: "cast" if from_base64(t) is None else "length")


def _duration(_: pa.DataType) -> Scalar:
    read = _integer(pa.int64())

    def value(t: str) -> int | None:
        return read.value(t) if _WHOLE.fullmatch(t) else None

    return Scalar(Token.NUMBER, value, lambda t: "range" if _WHOLE.fullmatch(t) else "cast")


def _time(data_type: pa.DataType) -> Scalar:
    return Scalar(Token.STRING, *timestamps.time_of_day(data_type))


def _uuid(t: str) -> bytes | None:
    return bytes.fromhex(t.replace("-", "")) if _UUID.fullmatch(t) else None


def _json(t: str) -> str | None:
    try:
        parse(t)
    except NotJsonError:
        return None
    return t


_BUILDERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], Scalar]], ...] = (
    (is_string, _text),
    (pa.types.is_boolean, _boolean),
    (pa.types.is_integer, _integer),
    (pa.types.is_floating, _float),
    (pa.types.is_decimal, _decimal),
    (is_binary, _binary),
    (pa.types.is_fixed_size_binary, _fixed_binary),
    (pa.types.is_time, _time),
    (pa.types.is_duration, _duration),
    (pa.types.is_null, _null),
)
