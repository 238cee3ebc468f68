"""Arrow types as every reader of tables can hold them.

Layer: rows.
Shape: unsigned integers widened, fixed-size lists as lists, half floats as floats, timestamps in microseconds; no extensions, no
       dictionaries.
"""

from typing import Any

import pyarrow as pa

WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
WIDER |= {pa.float16(): pa.float32(), pa.date64(): pa.date32(), pa.large_string(): pa.string()}
WIDER |= {pa.large_binary(): pa.binary(), pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def plain_field(field: Any) -> Any:
    """Return a field with its plain type, without metadata."""
    return pa.field(field.name, plain_type(field.type), field.nullable)


def plain_type(data_type: Any) -> Any:
    """Return the type that stands for another one.

    >>> str(plain_type(pa.dictionary(pa.int8(), pa.large_string()))), str(plain_type(pa.uint32()))
    ('string', 'int64')
    """
    is_ = pa.types
    if isinstance(data_type, pa.BaseExtensionType):
        return plain_type(data_type.storage_type)
    if is_.is_dictionary(data_type):
        return plain_type(data_type.value_type)
    if is_.is_list(data_type) or is_.is_large_list(data_type) or is_.is_fixed_size_list(data_type):
        return pa.list_(plain_field(data_type.value_field).with_name("element"))
    if is_.is_struct(data_type):
        return pa.struct([plain_field(member) for member in data_type])
    if is_.is_map(data_type):
        return pa.map_(plain_type(data_type.key_type), plain_field(data_type.item_field).with_name("value"))
    if is_.is_timestamp(data_type):
        return pa.timestamp("us", tz=None if data_type.tz is None else "UTC")
    if is_.is_fixed_size_binary(data_type):
        return pa.binary()
    return WIDER.get(data_type, data_type)


def nullable_type(data_type: Any) -> Any:
    """Return a plain type in which all parts may be null but keys.

    >>> str(nullable_type(pa.struct([pa.field("n", pa.int32(), nullable=False)])))
    'struct<n: int32>'
    """
    is_ = pa.types
    if is_.is_list(data_type):
        return pa.list_(_nullable_field(data_type.value_field))
    if is_.is_struct(data_type):
        return pa.struct([_nullable_field(member) for member in data_type])
    if is_.is_map(data_type):
        return pa.map_(nullable_type(data_type.key_type), _nullable_field(data_type.item_field))
    return data_type


def _nullable_field(field: Any) -> Any:
    return field.with_type(nullable_type(field.type)).with_nullable(True)
