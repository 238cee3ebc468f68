"""Columns of candidate rows.

Layer: rows.
Shape: a `Column` gives an array in the nullable type of its field for the candidates from one number to another one. Candidates are
       numbered from 0; a row that is unique has values that follow from its number.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from schemac.language.attributes.attribute import Family
from schemac.language.constraints.field_constraints import constraints_at
from schemac.language.logical.model import SchemaField
from schemac.rows.judging.arrays import nullable_type
from schemac.rows.judging.typed_values import nullable_array
from schemac.rows.samples.numbers import Draws, draw_indices, native_geometry_drawer
from schemac.rows.samples.values import NULLS, Values, draw_or_null, leaves_of, values_of

FIRST_CANDIDATES, CANDIDATES = 256, 8192
"""Rows that are made at a time, at first and later."""
_POOL, _LEAST_POOL, _MOST_LEAVES = 1024, 16, 8192
"""Values that are drawn for each of them; rows draw among these."""

_STEPS = 1000
"""Steps from 0 to 1 of a vector's components, which so have three digits."""
_COMPONENTS = 2**20
"""Components that are drawn at a time."""

Path = tuple[str, ...]

Column = Callable[[int, int], pa.Array]
"""Gives the values of a field for candidates, by the number of the first one and how many there are."""


def _random_column(field: SchemaField, member: pa.Field, values: Values, seed: tuple[object, ...]) -> Column:
    """Return the column of a field that nothing else depends on: some values are drawn, and each row draws among them."""
    draw = draw_or_null(field, values)

    def column(start: int, size: int) -> pa.Array:
        draws = Draws(*seed, field.path_text, start)
        count = max(_LEAST_POOL, min(size, _POOL, _MOST_LEAVES // leaves_of(field)))
        pool = nullable_array([draw(draws) for _ in range(count)], member)
        return pool.take(draw_indices(draws, size, count))

    return column


def _vector_column(field: SchemaField, member: pa.Field, seed: tuple[object, ...]) -> Column:
    """Return the column of vectors of floats from -1 to 1 that differ from row to row, as an index over them needs."""
    (item,), length = field.children, field.type.fixed_length  # type: ignore[attr-defined]  # of the family
    type_ = nullable_type(member)

    def column(start: int, size: int) -> pa.Array:
        draws = Draws(*seed, field.path_text, start)
        at_once = max(_COMPONENTS // length, 1) * length
        counts = [min(at_once, size * length - done) for done in range(0, size * length, at_once)]
        parts = [_components(draws, count, type_.value_type) for count in counts]
        components = pa.concat_arrays([pa.array([], type_.value_type), *parts])
        if item.is_nullable:
            components = _with_nulls(components, _null_mask(draws, size * length))
        mask = _null_mask(draws, size) if field.is_nullable else None
        offsets = pa.array([number * length for number in range(size + 1)], pa.int32())
        return pa.ListArray.from_arrays(offsets, components, type=type_, mask=mask)

    return column


def _components(draws: Draws, count: int, type_: pa.DataType) -> pa.Array:
    """Return as many floats as `count`, drawn from -1 to 1 in steps of a thousandth."""
    import pyarrow.compute as pc  # for start-up time, as below

    steps = pc.subtract(draw_indices(draws, count, 2 * _STEPS + 1), _STEPS).cast(pa.float64())
    return pc.divide(steps, float(_STEPS)).cast(type_, safe=False)


@dataclass(frozen=True)
class Digit:
    """The part of a candidate's number that chooses the value of one of the fields that are unique together."""

    divisor: int
    count: int

    def of(self, number: int) -> int:
        """Return the number of the field's value."""
        return number // self.divisor % self.count


@dataclass(frozen=True)
class Counter:
    """The column of a unique field: values that follow from the number of the candidate."""

    field: SchemaField
    member: pa.Field
    values: Values
    digit: Digit
    seed: tuple[object, ...]
    may_be_null: bool
    rejected: set[int] = dataclasses.field(default_factory=set)
    """Candidates for which there is no value, or one that was there before."""
    seen: set[Any] = dataclasses.field(default_factory=set)

    def __call__(self, start: int, size: int) -> pa.Array:
        """Return the values of some candidates."""
        draws = Draws(*self.seed, self.field.path_text, "null", start)
        nth, values = self.values.nth, list[Any]()
        assert nth is not None
        for number in range(start, start + size):
            if self.may_be_null and draws.chance(NULLS):
                values.append(None)
                continue
            value = nth(self.digit.of(number))
            if value is None or (not self.values.differ and value in self.seen):
                self.rejected.add(number)
            elif not self.values.differ:
                self.seen.add(value)
            values.append(value)
        return nullable_array(values, self.member)


@dataclass
class Targets:
    """The rows of another dataset that candidates refer to."""

    rows: Sequence[pa.Array]
    """The values of each field, in the nullable type of the field that refers to them."""
    seed: tuple[object, ...]
    digit: Digit | None
    """Where each row is referred to once: which one, by the number of the candidate."""
    may_be_null: bool

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.rows[0])

    def values(self, field: int, start: int, size: int) -> pa.Array:
        """Return the values of one of the fields in the rows that candidates refer to, which are the same for all fields of a reference."""
        draws = Draws(*self.seed, start)
        if self.digit is not None:
            places = pa.array([self.digit.of(number) for number in range(start, start + size)], pa.int64())
        else:
            places = draw_indices(draws, size, self.count)
        if self.may_be_null:
            places = _with_nulls(places, _null_mask(draws, size))
        return self.rows[field].take(places)


def _with_nulls(values: pa.Array, is_null: pa.Array) -> pa.Array:
    """Return the values with null where the mask is True."""
    import pyarrow.compute as pc  # for start-up time: Arrow's functions are loaded when there are values

    return pc.if_else(is_null, pa.scalar(None, values.type), values)


def _null_mask(draws: Draws, size: int) -> pa.Array:
    """Draw which of some values are null."""
    return pa.array([draws.chance(NULLS) for _ in range(size)], pa.bool_())


def column_of(
    field: SchemaField,
    member: pa.Field,
    special: Mapping[Path, Column],
    preferred: Mapping[Path, tuple[Any, ...]],
    seed: tuple[object, ...],
) -> Column:
    """Return the column of a field; `special` are columns of fields that rules of rows mention, `preferred` values that conditions compare fields with."""
    path = tuple(map(str, field.path))
    if path in special:
        return special[path]
    below = [other for other in (*special, *preferred) if other[: len(path)] == path and other != path]
    if is_vector(field, member) and path not in preferred:
        return _vector_column(field, member, seed)
    is_split = below or any(map(_has_vector, *_members_of(field, member)))
    if not is_split or not pa.types.is_struct(member.type):
        return _random_column(field, member, values_of(field, member, preferred.get(path, ())), seed)
    parts = [
        column_of(child, part, special, preferred, seed)
        for child, part in zip(field.children, member.type, strict=True)
    ]
    members = list(nullable_type(member))

    def struct_column(start: int, size: int) -> pa.Array:
        children, mask = [part(start, size) for part in parts], None
        if field.is_nullable:
            mask = _null_mask(Draws(*seed, field.path_text, "null", start), size)
        return pa.StructArray.from_arrays(children, fields=members, mask=mask)

    return struct_column


def is_vector(field: SchemaField, member: pa.Field) -> bool:
    """Return whether a field is a list of floats of a fixed length without constraints on its items."""
    if getattr(field.type, "fixed_length", None) is None or field.type.family is not Family.LIST:
        return False
    (item,) = field.children
    is_free = not constraints_at(field) and not constraints_at(item)
    return is_free and pa.types.is_floating(member.type.value_type) and native_geometry_drawer(member) is None


def _has_vector(field: SchemaField, member: pa.Field) -> bool:
    """Return whether a field, or one in its structs, is a vector."""
    return is_vector(field, member) or any(map(_has_vector, *_members_of(field, member)))


def _members_of(field: SchemaField, member: pa.Field) -> tuple[tuple[SchemaField, ...], list[pa.Field]]:
    """Return the members of a struct, and their Arrow fields; none for any other type."""
    is_struct = pa.types.is_struct(member.type) and field.children
    return (field.children, list(member.type)) if is_struct else ((), [])
