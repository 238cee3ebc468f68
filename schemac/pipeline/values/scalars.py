"""Turns the exact text of one value into the value of an Arrow type, or says why it has none.

Layer: pipeline.
Shape: for each Arrow type without children, a `Scalar`: the Spark type that can hold its values, the kind of token it
       is written as, SQL text that gives the value (null where the text has none), SQL text that names the broken rule.
Units: precision and scale in decimal digits; lengths in bytes; time units by full name.
Source: Spark's own casts are lenient (blanks, `yes`, rounding, `2024` as a date), so each form is a pattern first.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from schemac.attributes.attribute import Role
from schemac.judging.forms import (
    BASE64,
    BOOLEAN,
    EXPONENT,
    FLOAT16_OVERFLOW,
    FLOAT32_LARGEST,
    INTEGER,
    LARGEST_BFLOAT16,
    LEAST_POWER,
    MOST_PLACES,
    NATURAL,
    NOT_FINITE,
    NUMBER,
    SCIENTIFIC,
    UUID,
    WHOLE,
    decimal_form,
)
from schemac.judging.scalars import Token
from schemac.judging.shapes import extension_name, is_binary, is_string, role_of, storage_type
from schemac.pipeline.declaration.job import EpochUnit
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.spark.sqltext import first_of, is_alone, let, literal, matches, parsed, when
from schemac.pipeline.values.clocks import zone_of
from schemac.pipeline.values.timestamps import date_or_timestamp, duration, time_of_day
from schemac.source.catalogue import UNSUPPORTED_TYPE

__all__ = [
    "FLOAT16_OVERFLOW",
    "FLOAT32_LARGEST",
    "LARGEST_BFLOAT16",
    "Scalar",
    "Token",
    "extension_name",
    "role_of",
    "scalar_of",
    "storage_type",
]


def plain_digits(t: str) -> str:
    """Write a number without its exponent, digit for digit: no double, and no decimal, stands between.

    A text without exponent is what it is; a number whose point would move too far is null, zero never is.
    """
    part = {
        name: f"regexp_extract({t}, {literal(SCIENTIFIC)}, {i})"
        for i, name in enumerate(("sign", "whole", "fraction", "power"), 1)
    }
    digits = f"ltrim('0', concat({part['whole']}, {part['fraction']}))"
    # A power that is no int, or so near its end that counting on would overflow, moves the point too far as well.
    power = f"greatest(try_cast({part['power']} as int), {LEAST_POWER})"

    def moved(d: str) -> str:
        return let(f"{power} - length({part['fraction']})", lambda shift: _moved(d, shift))

    body = let(digits, lambda d: when(f"{d} = ''", "'0'", moved(d)))
    return when(matches(t, EXPONENT), f"concat({part['sign']}, {body})", t)


def _moved(digits: str, shift: str) -> str:
    """Move the point from the end of the digits, to the right where `shift` is positive."""
    padded = f"lpad({digits}, greatest(length({digits}), 1 - {shift}), '0')"
    point = f"length({padded}) + {shift}"
    return first_of(
        [
            (f"abs({shift}) > {MOST_PLACES}", "null"),
            (f"{shift} >= 0", f"concat({digits}, repeat('0', {shift}))"),
        ],
        f"concat(substr({padded}, 1, {point}), '.', substr({padded}, {point} + 1))",
    )


def always(rule: str) -> Callable[[str], str]:
    """Make a rule that does not depend on the text."""
    return lambda _: literal(rule)


@dataclass(frozen=True)
class Scalar:
    """How the values of one type come out of text."""

    spark_type: str
    token: Token
    value: Callable[[str], str]
    rule: Callable[[str], str]
    is_identity: bool = False
    is_exact: bool = False
    """Whether each digit of a number counts, as it does not for binary floats."""


SIGNED = {8: "tinyint", 16: "smallint", 32: "int", 64: "bigint"}
UNSIGNED = {8: "smallint", 16: "int", 32: "bigint", 64: "decimal(20,0)"}


def scalar_of(field: pa.Field, *, pattern: str | None = None, epoch: EpochUnit | None = None) -> Scalar:
    """How one field without children is read."""
    extension = extension_name(field)
    if extension in EXTENSIONS:
        return EXTENSIONS[extension]
    if (role := role_of(field)) in OF_ROLES:
        return OF_ROLES[role]
    data_type = storage_type(field.type)
    found = date_or_timestamp(data_type, pattern=pattern, epoch=epoch, zone=zone_of(field))
    if found is not None:
        spark_type, value, rule = found
        return Scalar(spark_type, Token.STRING if epoch is None else Token.NUMBER, value, rule)
    for fits, build in BUILDERS:
        if fits(data_type):
            return build(data_type)
    raise PipelineError(
        UNSUPPORTED_TYPE, f"field `{field.name}`: a pipeline cannot write the type {field.type}"
    )


def _text(_: pa.DataType) -> Scalar:
    return Scalar("string", Token.STRING, lambda t: t, always("cast"), is_identity=True)


def _null(_: pa.DataType) -> Scalar:
    return Scalar("string", Token.ANY, lambda _: "cast(null as string)", always("type"))


def _boolean(_: pa.DataType) -> Scalar:
    return Scalar(
        "boolean",
        Token.BOOLEAN,
        lambda t: when(matches(t, BOOLEAN), f"try_cast({t} as boolean)"),
        always("cast"),
    )


def _integer(data_type: pa.DataType) -> Scalar:
    bits = data_type.bit_width
    if pa.types.is_signed_integer(data_type):
        held, form, is_inside = SIGNED[bits], INTEGER, "{} is not null"
    else:
        held, form, is_inside = UNSIGNED[bits], NATURAL, f"{{}} between 0 and {2**bits - 1}"

    def whole(t: str) -> str:
        read = f"try_cast({t} as {held})"
        return when(is_inside.format(read), read)

    def value(t: str) -> str:
        # JSON writes the whole number 5000 as 5e3 and 5000.0 too.
        digits = "substring_index({}, '.', 1)"
        plain = let(plain_digits(t), lambda x: when(matches(x, WHOLE), whole(digits.format(x))))
        return first_of([(matches(t, form), whole(t)), (matches(t, NUMBER), plain)])

    def rule(t: str) -> str:
        is_whole = matches(plain_digits(t), WHOLE)
        return when(f"{matches(t, NUMBER)} and {is_whole}", literal("range"), literal("cast"))

    return Scalar(held, Token.NUMBER, value, rule, is_exact=True)


def _float(data_type: pa.DataType) -> Scalar:
    bits = data_type.bit_width
    held = "double" if bits == 64 else "float"
    limit = {16: f"< {FLOAT16_OVERFLOW}D", 32: f"<= {FLOAT32_LARGEST!r}D", 64: "< double('Infinity')"}[bits]
    return _float_within(held, limit)


def _float_within(held: str, limit: str) -> Scalar:
    def value(t: str) -> str:
        converted = f"try_cast({t} as {held})"
        return first_of(
            [
                (matches(t, NUMBER), when(f"abs({converted}) {limit}", converted)),
                (matches(t, NOT_FINITE), converted),
            ]
        )

    return Scalar(
        held, Token.NUMBER, value, lambda t: when(matches(t, NUMBER), literal("range"), literal("cast"))
    )


def _decimal(data_type: pa.DataType) -> Scalar:
    precision, scale = data_type.precision, data_type.scale
    is_native = 0 <= scale <= precision <= 38
    held = f"decimal({precision},{scale})" if is_native else "string"
    exact = decimal_form(precision, scale)
    largest = f"1e{precision - scale}D"

    def plain(t: str) -> str:
        converted = f"try_cast({t} as {held})" if is_native else t
        return when(f"{matches(t, exact)} and {matches(t, '.*[0-9].*')}", converted)

    def value(t: str) -> str:
        return first_of([(matches(t, EXPONENT), let(plain_digits(t), plain))], plain(t))

    def rule(t: str) -> str:
        is_large = f"abs(try_cast({t} as double)) >= {largest}"
        return first_of(
            [(f"not {matches(t, NUMBER)}", literal("cast")), (is_large, literal("range"))],
            literal("precision"),
        )

    return Scalar(held, Token.NUMBER, value, rule, is_exact=True)


def _from_base64(t: str) -> str:
    is_base64 = f"({matches(t, BASE64)} and length({t}) % 4 = 0)"
    return when(is_base64, f"try_to_binary({t}, 'base64')")


def _binary(_: pa.DataType | None = None) -> Scalar:
    return Scalar("binary", Token.STRING, _from_base64, always("cast"))


def _fixed_binary(data_type: pa.DataType) -> Scalar:
    width_bytes = data_type.byte_width

    def value(t: str) -> str:
        return when(f"length({_from_base64(t)}) = {width_bytes}", _from_base64(t))

    return Scalar(
        "binary",
        Token.STRING,
        value,
        lambda t: when(f"{_from_base64(t)} is null", literal("cast"), literal("length")),
    )


def _duration(_: pa.DataType) -> Scalar:
    return Scalar("bigint", Token.NUMBER, *duration())


def _time(data_type: pa.DataType) -> Scalar:
    return Scalar("bigint", Token.STRING, *time_of_day(data_type))


def _uuid() -> Scalar:
    return Scalar(
        "binary",
        Token.STRING,
        lambda t: when(matches(t, UUID), f"unhex(replace({t}, '-', ''))"),
        always("cast"),
    )


def _json() -> Scalar:
    return Scalar(
        "string",
        Token.ANY,
        lambda t: when(is_alone(parsed(t)), t),
        always("cast"),
    )


BUILDERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], Scalar]], ...] = (
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

EXTENSIONS: dict[str | None, Scalar] = {"arrow.uuid": _uuid()}
OF_ROLES = {
    Role.JSON: _json(),
    Role.BRAIN_FLOATS: _float_within("float", f"<= {LARGEST_BFLOAT16!r}D"),
    Role.BLOB: _binary(),
}
