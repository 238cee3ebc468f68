"""Values of one place of a schema, which keep its type and its constraints.

Layer: rows.
Shape: a `Values` draws values as readers of `judging` give them (counts for dates and timestamps, lists of pairs for maps), and numbers
       values that differ, for fields that are unique.
Errors: NoValueError if no value keeps all constraints.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import gcd
from typing import Any

import pyarrow as pa

from schemac.language.attributes.attribute import Family, Role
from schemac.language.constraints.constraint import Constraint
from schemac.language.constraints.field_constraints import (
    Bound,
    Enum,
    MaxLength,
    Pattern,
    Size,
    UniqueItems,
    constraints_at,
)
from schemac.language.logical.model import SchemaField
from schemac.rows.judging.arrays import extension_name, is_scalar, role_of, storage_type
from schemac.rows.judging.scalars import scalar_of
from schemac.rows.judging.typed_values import range_of
from schemac.rows.samples import numbers
from schemac.rows.samples.numbers import COUNTED, Draws, Floats, grid_of, value_of
from schemac.rows.samples.patterns import TextGenerator, generator_of
from schemac.rows.samples.written import text_writer

NULLS = 12
"""Percent of the values of an Option that are null."""
_TRIES = 400
_WORDS = (
    "north", "south", "harbour", "station", "market", "bridge", "garden", "museum", "airport", "river", "castle",
    "square",
)  # fmt: skip
_ODD_TEXTS = (
    "", " ", "é", "日本", "Ωmega", "a,b", 'say "hi"', "it's", "x\ty", "two\nlines", "\U0001f600", "null", "NULL", "0",
    "true", "{}", "\\",
)  # fmt: skip
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_JSON = ("{}", "[]", "0", '"text"', "true", '{"a":1}', '{"a":[1,{"b":null}]}', "1.5", '[1,"x"]')


class NoValueError(Exception):
    """No value satisfies the constraints; the message names them."""


@dataclass(frozen=True)
class Values:
    """What draws the values of a field, and numbers those that differ; null is not among them."""

    draw: Callable[[Draws], Any]
    nth: Callable[[int], Any] | None = None
    """The value with a number; None for one that does not keep the constraints, which is passed over."""
    count: int = 0
    """How many numbers there are; 0 where values cannot be told from each other by one."""
    differ: bool = True
    """Whether no two numbers stand for one value."""


def values_of(field: SchemaField, member: pa.Field, preferred: tuple[Any, ...] = ()) -> Values:
    """Return the values of a field; `preferred` are some that conditions mention. Raises NoValueError."""
    if field.parent is None and (parts := _least_parts(field)) > _MOST_PARTS:
        message = (
            f"{field.path_text}: one value has at least {parts:,} items, and a sample at most {_MOST_PARTS:,}"
        )
        raise NoValueError(message)
    try:
        values = _values_of(field, member)
    except NoValueError:
        if not field.is_nullable:
            raise
        # Null breaks no constraint.
        return Values(lambda _: None)
    if not preferred:
        return values
    return replace(
        values, draw=lambda draws: draws.one_of(preferred) if draws.chance(30) else values.draw(draws)
    )


def _values_of(field: SchemaField, member: pa.Field) -> Values:
    """Return the values of a field by its type and constraints. Raises NoValueError if there are none."""
    role, constraints = role_of(member), constraints_at(field)
    if role is Role.JSON:
        return Values(lambda draws: draws.one_of(_JSON))
    if role is Role.BLOB:
        return Values(lambda draws: draws.bytes(draws.below(64)))
    if role is not None:
        scalar = scalar_of(member)
        assert scalar is not None
        return Values(lambda draws: scalar.value(f"{draws.below(2000) - 1000}e-2"))
    enum = next((one for one in constraints if isinstance(one, Enum)), None)
    if enum is not None:
        return _enum_values(enum, member)
    if not constraints and (native := numbers.native_geometry_drawer(member)) is not None:
        return Values(native)
    match field.type.family:
        case Family.LIST:
            return _list_values(field, member, constraints)
        case Family.MAP:
            return _map_values(field, member)
        case Family.STRUCT:
            return _struct_values(field, member)
        case Family.BYTES if not constraints and numbers.is_binary_geometry(field, member):
            return Values(numbers.draw_wkb, numbers.numbered_wkb_point, numbers.NUMBERED)
        case Family.TEXT if not constraints and extension_name(member) == numbers.TEXT_EXTENSION:
            return Values(numbers.draw_wkt)
        case Family.TEXT:
            return _text_values(field, constraints)
        case Family.BYTES:
            return _bytes_values(field)
        case Family.BOOLEAN:
            return Values(lambda draws: draws.chance(50), lambda number: bool(number), 2)
        case Family.FLOAT:
            floats = Floats(field.type, tuple([one for one in constraints if isinstance(one, Bound)]))
            return Values(
                floats.draw, lambda number: _if_allowed(floats.nth(number), floats.allows), floats.count
            )
        case Family.NULL:
            return Values(lambda _: None)
        case family if family in COUNTED:
            return _count_values(field, member, constraints)
    # The family of such a kind is known to it alone.
    samples = field.type.samples()
    if not samples:
        raise NoValueError(f"{field.path_text}: the kind {field.type.kind} has no samples")
    return Values(lambda draws: draws.one_of(samples), lambda number: samples[number], len(samples))


def _if_allowed(value: Any, is_allowed: Callable[[Any], bool]) -> Any:
    """Return the value, or None if it is not allowed."""
    return value if is_allowed(value) else None


def in_stored_unit(value: Any, member: pa.Field) -> Any:
    """Return a value as a reader gives it: days of a date that is kept in milliseconds are counted in these."""
    return value * 86_400_000 if pa.types.is_date64(member.type) else value


def _enum_values(enum: Enum, member: pa.Field) -> Values:
    """Return the values of an `enum` that all readers accept. Raises NoValueError if there are none."""
    limits = range_of(storage_type(member.type))
    allowed = [value for value in enum.values if limits is None or limits[0] <= value <= limits[1]]  # type: ignore[operator]  # counts
    if not allowed:
        raise NoValueError(f"{enum.attribute.key} has no value that all readers accept")
    values = [in_stored_unit(value, member) for value in allowed]
    return Values(lambda draws: draws.one_of(values), lambda number: values[number], len(values))


def _count_values(field: SchemaField, member: pa.Field, constraints: tuple[Constraint, ...]) -> Values:
    """Return the values of the counts that the constraints allow. Raises NoValueError if there are none."""
    grid, type_ = grid_of(field.type, constraints), field.type
    if not grid.count:
        raise NoValueError(f"{field.path_text} has no value that satisfies its constraints")
    return Values(
        lambda draws: in_stored_unit(value_of(type_, grid.draw(draws)), member),
        lambda number: in_stored_unit(value_of(type_, grid.nth(number)), member),
        grid.count,
    )


def _size_limits(field: SchemaField, usual: int, spread: int = 3) -> tuple[int, int]:
    """Return the least and the greatest size of what is drawn."""
    fixed: int | None = getattr(field.type, "fixed_length", None)
    if fixed is not None:
        return fixed, fixed
    sizes = [one for one in constraints_at(field) if isinstance(one, Size)]
    low = max([0, *(one.limit for one in sizes if one.is_lower)])
    high = [one.limit for one in sizes if not one.is_lower]
    return low, min([max(usual, low + spread), *high])


def _is_deep(field: SchemaField) -> bool:
    """Return whether a list or map is nested so deep that its size has to be small: sizes multiply from level to level."""
    return sum(one.type.family in (Family.LIST, Family.MAP) for one in field.ancestors) >= _MOST_LONG


_MOST_LONG = 4
"""Lists and maps inside each other that have several items."""
_MOST_PARTS = 2**24
"""Items of items that one value has at least, for a sample to be made."""


def _least_parts(field: SchemaField) -> int:
    """Return how many values without parts one value has at least, where nothing in it is null."""
    if not field.children:
        return 1
    many = _size_limits(field, 0, 0)[0] if field.type.family is Family.LIST else 1
    return many * sum(map(_least_parts, field.children))


def _text_values(field: SchemaField, constraints: tuple[Constraint, ...]) -> Values:
    """Return texts of an allowed length: words, and sometimes odd ones; numbered ones are numbers in base 36."""
    pattern = next((one for one in constraints if isinstance(one, Pattern)), None)
    low, high = _size_limits(field, 24)
    if pattern is not None:
        return _pattern_values(field, pattern, low, high)

    def draw(draws: Draws) -> str:
        if draws.chance(8):
            drawn = draws.one_of(_ODD_TEXTS)
            if low <= len(drawn) <= high:
                return drawn
        size = low + draws.below(high - low + 1)
        text = draws.one_of(_WORDS)
        while len(text) < size:
            text += " " + draws.one_of(_WORDS)
        return text[: max(size, min(high, len(text.split(" ")[0])))] if size else text[:high]

    most = min(high, max(low, 12)) if high else 0
    return Values(draw, lambda number: _base36(number, low, most), len(_DIGITS) ** most)


def _base36(number: int, low: int, high: int) -> str:
    """Return a number in base 36, with zeros before it to 8 digits or as near to that as the limits allow."""
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits.rjust(max(low, min(8, high)), "0")


def _pattern_values(field: SchemaField, pattern: Pattern, low: int, high: int) -> Values:
    """Return texts that match a pattern and have an allowed length. Raises NoValueError if hardly any has."""
    generators = [generator_of(pattern.pattern.text, more) for more in dict.fromkeys((0, 3, 8, low, high))]
    has_limit = any(isinstance(one, MaxLength) for one in constraints_at(field))

    def keeps(text: str) -> bool:
        if len(text) < low or (has_limit and len(text) > high):
            return False
        return not pattern.violations(pa.array([text], pa.string()))[0].as_py()

    usable = [generator for generator in generators if _has_usable_text(generator, keeps, field)]
    if not usable:
        raise NoValueError(
            f"{field.path_text}: no text was found that is matched by the pattern {pattern.pattern.text} and has the right length"
        )

    def draw(draws: Draws) -> str:
        for _ in range(_TRIES):
            generator = draws.one_of(usable)
            text = generator.nth(draws.below(generator.count))
            if keeps(text):
                return text
        raise NoValueError(
            f"{field.path_text}: hardly any text of the pattern {pattern.pattern.text} has the right length"
        )

    widest = max(usable, key=lambda generator: generator.count)
    # Without a divisor in common with the count, so that its multiples meet every number below it.
    stride = widest.count * 618 // 1000 | 1
    while gcd(stride, widest.count) != 1:
        stride += 2
    return Values(
        draw,
        lambda number: _if_allowed(widest.nth(number * stride % widest.count), keeps),
        widest.count,
        differ=widest.is_plain,
    )


def _has_usable_text(generator: TextGenerator, keeps: Callable[[str], bool], field: SchemaField) -> bool:
    """Return whether one of the first texts that a generator draws is usable."""
    draws = Draws("pattern", field.path_text, generator.count)
    return bool(generator.count) and any(
        keeps(generator.nth(draws.below(generator.count))) for _ in range(_TRIES)
    )


def _bytes_values(field: SchemaField) -> Values:
    """Return bytes of an allowed length; numbered ones are big-endian integers of 8 bytes where that is allowed."""
    low, high = _size_limits(field, 16)
    width = max(low, min(high, 8))
    return Values(
        lambda draws: draws.bytes(low + draws.below(high - low + 1)),
        lambda number: number.to_bytes(width, "big"),
        256**width,
    )


def draw_or_null(field: SchemaField, values: Values) -> Callable[[Draws], Any]:
    """Return what draws values of a place, and null where it may be."""
    if not field.is_nullable:
        return values.draw
    return lambda draws: None if draws.chance(NULLS) else values.draw(draws)


def _list_values(field: SchemaField, member: pa.Field, constraints: tuple[Constraint, ...]) -> Values:
    """Return lists of an allowed length, whose items differ where they have to be unique."""
    (child,) = field.children
    item = values_of(child, member.type.value_field)
    draw_item = draw_or_null(child, item)
    low, high = _size_limits(field, 1, 0) if _is_deep(field) else _size_limits(field, 4)
    if not any(isinstance(one, UniqueItems) and one.is_set for one in constraints):
        return Values(lambda draws: [draw_item(draws) for _ in range(low + draws.below(high - low + 1))])

    def draw(draws: Draws) -> list[Any]:
        length, entries = low + draws.below(high - low + 1), dict[str, object]()
        for _ in range(length * 20 + 20):
            if len(entries) == length:
                break
            value = draw_item(draws)
            entries.setdefault(repr(value), value)
        if len(entries) < low:
            raise NoValueError(f"{field.path_text}: there are no {low} items that differ")
        return list(entries.values())

    return Values(draw)


def _map_values(field: SchemaField, member: pa.Field) -> Values:
    """Return maps as pairs sorted by the text of their keys, with at most three entries, or one if nested deep."""
    key_field, item_field = field.children
    key = values_of(key_field, member.type.key_field)
    draw_item = draw_or_null(item_field, values_of(item_field, member.type.item_field))
    text_of = text_writer(member.type.key_field) if is_scalar(member.type.key_field) else repr
    most = 1 if _is_deep(field) else 3

    def draw(draws: Draws) -> list[tuple[Any, Any]]:
        keys = [key.draw(draws) for _ in range(draws.below(most + 1))]
        # 0.0 and -0.0 are one key.
        distinct = {text_of(value + 0 if isinstance(value, float) else value): value for value in keys}
        return [(distinct[text], draw_item(draws)) for text in sorted(distinct)]

    return Values(draw)


def _struct_values(field: SchemaField, member: pa.Field) -> Values:
    """Return dicts with a value for each member, None where one may be null."""
    parts = [
        (str(child.segment), draw_or_null(child, values_of(child, part)))
        for child, part in zip(field.children, member.type, strict=True)
    ]
    return Values(lambda draws: {name: draw(draws) for name, draw in parts})


def leaves_of(field: SchemaField) -> int:
    """Return how many values without parts one value has, roughly."""
    if not field.children:
        return 1
    many = getattr(field.type, "fixed_length", None) or (3 if field.type.family is not Family.STRUCT else 1)
    return many * sum(map(leaves_of, field.children))
