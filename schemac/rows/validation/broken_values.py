"""The constraints of values that rows break, with the path of each value.

Layer: rows.
Shape: columns in their loose types in; reasons by rows out, a value's own
       constraints before those of its parts, item by item.
"""

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemac.arrow.constraints import Constrained
from schemac.language.attributes.attribute import Family
from schemac.rows.judging.arrays import compact, entries_of
from schemac.rows.judging.judge import Reason
from schemac.rows.judging.settings import LONGEST_VALUE
from schemac.rows.judging.typed_values import (
    cast_text,
    count_text,
    json_object,
    json_text,
    key_text,
    raw_values,
)

_Order = tuple[int, ...]
_Trail = Callable[[int], tuple[int, str, _Order]]
"""Gives the row, the path and the order of the value with a number."""


@dataclass(frozen=True)
class _BrokenValue:
    row: int
    order: _Order
    reason: Reason


def broken_values(places: tuple[Constrained, ...], rows: pa.RecordBatch) -> Iterator[tuple[int, Reason]]:
    """Yield the rows that break a constraint of values, with the reasons."""
    for place in places:
        name = place.field.name
        broken = _walk(place, rows.column(name), _column_trail(name))
        for one in sorted(broken, key=lambda one: (one.row, one.order)):
            yield one.row, one.reason


def _column_trail(name: str) -> _Trail:
    return lambda i: (i, name, ())


def _walk(place: Constrained, values: Any, trail: _Trail) -> Iterator[_BrokenValue]:
    for number, constraint in enumerate(place.constraints):
        wrong = pc.indices_nonzero(constraint.violations(values))
        raw = raw_values(values.take(wrong)) if len(wrong) else []
        for i, value in zip(wrong.to_pylist(), raw, strict=True):
            row, path, order = trail(i)
            text = _item_text(place, value, values.type)[:LONGEST_VALUE]
            yield _BrokenValue(row, (*order, 0, number), Reason(path, constraint.rule, text))
    for number, child in enumerate(place.children, 1):
        match place.schema_field.type.family:
            case Family.STRUCT:
                yield from _walk_member(child, values, trail, number)
            case Family.MAP:
                yield from _walk_map(place, child, values, trail, number)
            case _:
                yield from _walk_items(child, values, trail, number)


def _walk_member(child: Constrained, values: Any, trail: _Trail, number: int) -> Iterator[_BrokenValue]:
    label = str(child.schema_field.segment)

    def below(i: int) -> tuple[int, str, _Order]:
        row, path, order = trail(i)
        return row, f"{path}.{label}", (*order, number, 0)

    yield from _walk(child, pc.struct_field(values, label), below)


def _places(lists: Any) -> tuple[list[int], list[int]]:
    """Return the list that each item is in, and its place there."""
    parents = pc.list_parent_indices(lists).to_pylist()
    places: list[int] = []
    for i, parent in enumerate(parents):
        places.append(places[-1] + 1 if i and parents[i - 1] == parent else 0)
    return parents, places


def _walk_items(child: Constrained, lists: Any, trail: _Trail, number: int) -> Iterator[_BrokenValue]:
    lists = compact(lists)
    parents, places = _places(lists)

    def below(i: int) -> tuple[int, str, _Order]:
        row, path, order = trail(parents[i])
        return row, f"{path}[{places[i]}]", (*order, number, places[i])

    yield from _walk(child, lists.flatten(), below)


def _walk_map(
    place: Constrained, child: Constrained, maps: Any, trail: _Trail, number: int
) -> Iterator[_BrokenValue]:
    lists = entries_of(maps)
    parents, places = _places(lists)
    keys, items = lists.flatten().flatten()
    is_key = child.schema_field is place.schema_field.children[0]

    def below(i: int) -> tuple[int, str, _Order]:
        row, path, order = trail(parents[i])
        key = key_text(raw_values(keys.slice(i, 1))[0], keys.type)
        return row, f'{path}["{key}"]', (*order, number, places[i])

    yield from _walk(child, keys if is_key else items, below)


def text_of_members(rows: pa.RecordBatch, fields: list[tuple[str, tuple[str, ...]]], row: int) -> str:
    """Write some fields of a row, each with its name and its path, as an object of JSON; those that are null are left out."""
    members = []
    for label, path in fields:
        column = rows.column(path[0]).slice(row, 1)
        for name in path[1:]:
            column = pc.struct_field(column, name)
        value = raw_values(column)[0]
        if value is not None:
            members.append((label, value, column.type))
    return json_object(members)[:LONGEST_VALUE]


def _item_text(place: Constrained, value: Any, type_: Any) -> str:
    if place.schema_field.children:
        return json_text(value, type_)
    if place.schema_field.type.family is Family.BYTES:
        return base64.b64encode(value).decode()
    is_count = pa.types.is_time(type_) or (pa.types.is_timestamp(type_) and type_.unit == "ns")
    return count_text(value, type_) if is_count else cast_text(value, type_)
