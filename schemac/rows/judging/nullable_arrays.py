"""Arrays that also hold values which do not fit their field.

Layer: rows.
Shape: the loose type of a field is its plain type, nullable at every depth, with lists for vectors and texts and bytes in their large
       layout. What is stored in a form of its own, such as a blob, keeps that form where the source has it too.
"""

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any

import pyarrow as pa

from schemac.language.constraints.constraint import whole
from schemac.rows.judging.arrays import (
    is_list,
    is_scalar,
    is_string,
    maps_of,
    role_of,
    storage_type,
    value_type,
)
from schemac.rows.judging.typed_values import is_bytes, keeps_value


def nullable_type(member: pa.Field, source: pa.Field | None = None) -> pa.DataType:
    """Return the loose type of a field; `source` is the field that its values come from, where they have a type."""
    target_type, is_ = member.type, pa.types
    if source is not None and keeps_value(member, source):
        return storage_type(source.type)
    if is_scalar(member):
        result = value_type(member)
        if is_string(result):
            return pa.large_string()
        # Bytes of another length than the field's are kept, too.
        return pa.large_binary() if is_bytes(result) else result
    source_type = None if source is None else storage_type(source.type)
    if is_.is_struct(target_type):
        has_parts = source_type is not None and is_.is_struct(source_type)
        members = {part.name: part for part in source_type or ()} if has_parts else {}
        return pa.struct(
            [pa.field(part.name, nullable_type(part, members.get(part.name))) for part in target_type]
        )
    if is_.is_map(target_type):
        of_map = source_type if source_type is not None and is_.is_map(source_type) else None
        key = nullable_type(target_type.key_field, None if of_map is None else of_map.key_field)
        item = nullable_type(target_type.item_field, None if of_map is None else of_map.item_field)
        return pa.map_(pa.field("key", key, nullable=False), pa.field("value", item))
    assert is_list(target_type)
    item_field = source_type.value_field if source_type is not None and is_list(source_type) else None
    return pa.list_(pa.field("item", nullable_type(target_type.value_field, item_field)))


def nullable_array(values: Sequence[Any], member: pa.Field, source: pa.Field | None = None) -> pa.Array:
    """Make an array of values that were read, also of those that do not fit: a map with a key that is absent or twice is null there."""
    if source is not None and keeps_value(member, source):
        return pa.array(values, storage_type(source.type))
    is_ = pa.types
    type_ = nullable_type(member, source)
    if role_of(member) is not None or not is_.is_nested(type_):
        return _scalars(values, type_)
    return _array(values, type_)


def _array(values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    """Return an array of Python's values, with lists and structs built from the arrays of their parts."""
    is_ = pa.types
    if is_.is_struct(type_) and type_.num_fields:
        children = [
            _array([None if value is None else value[part.name] for value in values], part.type)
            for part in type_
        ]
        return pa.StructArray.from_arrays(children, fields=list(type_), mask=_absent(values))
    if is_.is_map(type_):
        remaining = [None if value is None or _has_duplicate_keys(value) else value for value in values]
        pairs = list(chain.from_iterable(value or () for value in remaining))
        keys = _array([key for key, _ in pairs], type_.key_type)
        items = _array([item for _, item in pairs], type_.item_type)
        return maps_of(_lists(remaining, keys), keys, items, type_)
    if is_.is_list(type_):
        items = _array(list(chain.from_iterable(value or () for value in values)), type_.value_type)
        return _lists(values, items, type_)
    return _scalars(values, type_)


def _lists(values: Sequence[Any], items: pa.Array, type_: pa.DataType | None = None) -> pa.Array:
    """Return lists over the items of all values, null for None; without `type_` the type is that of the items."""
    offsets = [0, *accumulate(0 if value is None else len(value) for value in values)]
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items, type_, mask=_absent(values))


def _absent(values: Sequence[Any]) -> pa.Array | None:
    """Return a mask of the values that are None; None if there are none."""
    result = [value is None for value in values]
    return pa.array(result, pa.bool_()) if any(result) else None


def _has_duplicate_keys(pairs: Sequence[tuple[Any, Any]]) -> bool:
    keys = [repr(key) for key, _ in pairs]
    return len({*keys}) < len(keys) or any(key is None for key, _ in pairs)


def _scalars(values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    """Return an array of values without parts; decimals whose scale is not within their precision are built from their bytes."""
    if not pa.types.is_decimal(type_) or 0 <= type_.scale <= type_.precision:
        return pa.array(values, type_)
    # pyarrow counts the digits of such decimals by itself, and finds too few, or too many.
    width = type_.bit_width // 8
    data = b"".join(
        (0 if value is None else whole(value, type_.scale)).to_bytes(width, "little", signed=True)
        for value in values
    )
    there = pa.array([None if value is None else True for value in values], pa.bool_())
    return pa.Array.from_buffers(type_, len(values), [there.buffers()[0], pa.py_buffer(data)])
