"""Makes Arrow arrays of judged values.

Layer: rows.
Shape: lists of values as `judge.Judged` has them, one for each record, in; an array of the plain type of their field out: storage
       without its extension, values without their dictionary, and decimals that pyarrow cannot make of `Decimal` as text.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from schemac.attributes.attribute import Role
from schemac.rows.judging.shapes import is_list, is_scalar, role_of, storage_type


def plain_array(values: Sequence[Any], field: pa.Field) -> pa.Array:
    """Make an array of the values of a field."""
    data_type = plain_type(field)
    if pa.types.is_string(data_type) and pa.types.is_decimal(storage_type(field.type)):
        values = [None if value is None else format(value, "f") for value in values]
    return pa.array(values, data_type)


def plain_type(field: pa.Field) -> pa.DataType:
    """Return the type without extensions and dictionaries."""
    data_type = field.type
    if role_of(field) is Role.BLOB:
        return pa.large_binary()
    if is_scalar(field):
        return storage_type(data_type)
    if pa.types.is_struct(data_type):
        return pa.struct([_plain(part) for part in data_type])
    if pa.types.is_map(data_type):
        return pa.map_(_plain(data_type.key_field), _plain(data_type.item_field))
    item = _plain(data_type.value_field)
    if pa.types.is_fixed_size_list(data_type):
        return pa.list_(item, data_type.list_size)
    assert is_list(data_type)
    return pa.large_list(item) if pa.types.is_large_list(data_type) else pa.list_(item)


def _plain(part: pa.Field) -> pa.Field:
    # Its metadata may say what its storage stands for.
    return part.with_type(plain_type(part))
