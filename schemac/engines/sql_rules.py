"""What the types of SQL are in Arrow, where several databases have them alike.

Layer: engines, below their folders.
Shape: a rule judges a type with its parameters: an Arrow type, and what that does not say.
"""

from collections.abc import Callable
from typing import NamedTuple

from schemac.physical.arrow import ArrowType, pa

_MOST_DIGITS = 76


class TypeMapping(NamedTuple):
    """What a type of a dialect is."""

    type: ArrowType
    loss: str = ""
    """What the type does not say, as a note."""
    longest: int | None = None
    """The greatest length of its values."""


class SqlType(NamedTuple):
    """A type without parts, as a dialect judges it."""

    text: str
    """As the dialect writes it."""
    numbers: tuple[int, ...]
    """Its parameters, as far as they are numbers."""
    words: tuple[str, ...] = ()
    """Its other parameters."""


Rule = Callable[[SqlType], TypeMapping | None]
"""Judges a type; None if no kind stands for it with these parameters."""


def plain(make: Callable[[], ArrowType], loss: str = "") -> Rule:
    """Return the rule of a type that is always the same."""
    return lambda written: TypeMapping(make(), loss)


def text(written: SqlType) -> TypeMapping:
    """Judge a type whose values have a text, which is kept in its place."""
    return TypeMapping(pa.string(), f"not kept: the type {written.text}; this is its text")


def string(written: SqlType) -> TypeMapping:
    """Judge a text, with its greatest length in characters."""
    return TypeMapping(pa.string(), longest=written.numbers[0] if written.numbers else None)


def binary(written: SqlType) -> TypeMapping:
    """Judge bytes, with their greatest length."""
    return TypeMapping(pa.binary(), longest=written.numbers[0] if written.numbers else None)


def wkb(written: SqlType) -> TypeMapping:
    """Judge shapes on the earth, as bytes of well-known binary."""
    return TypeMapping(pa.binary(), f"not kept: the type {written.text}; this is its well-known binary")


def decimals(precision: int, scale: int, loss: str = "") -> Rule:
    """Return the rule of exact numbers, with what a type without parameters is."""

    def rule(written: SqlType) -> TypeMapping | None:
        if not written.numbers:
            return TypeMapping(_decimal(precision, scale), loss)
        digits, after = (*written.numbers, 0)[:2]
        return TypeMapping(_decimal(digits, after)) if 0 < digits <= _MOST_DIGITS else None

    return rule


def _decimal(precision: int, scale: int) -> ArrowType:
    return pa.decimal128(precision, scale) if precision <= 38 else pa.decimal256(precision, scale)


def timestamps(zone: str | None, digits: int, loss: str = "") -> Rule:
    """Return the rule of timestamps, with the digits after the second of a type without parameters."""

    def rule(written: SqlType) -> TypeMapping:
        unit, rounded = _unit(written, digits)
        return TypeMapping(pa.timestamp(unit, zone), "; ".join(filter(None, (rounded, loss))))

    return rule


def times(digits: int, loss: str = "") -> Rule:
    """Return the rule of times of day, likewise."""

    def rule(written: SqlType) -> TypeMapping:
        unit, rounded = _unit(written, digits)
        type_ = pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
        return TypeMapping(type_, "; ".join(filter(None, (rounded, loss))))

    return rule


def _unit(written: SqlType, digits: int) -> tuple[str, str]:
    """Return the unit that holds the digits after the second, and a note where it holds more."""
    count = written.numbers[0] if written.numbers else digits
    stored_digits = next((stored_digits for stored_digits in (0, 3, 6) if count <= stored_digits), 9)
    loss = (
        ""
        if stored_digits == count
        else f"not kept: the {count} digits in {written.text}, here {stored_digits}"
    )
    return {0: "s", 3: "ms", 6: "us", 9: "ns"}[stored_digits], loss
