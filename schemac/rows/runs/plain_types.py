"""Arrow types as every reader of tables can hold them.

Layer: rows.
Shape: unsigned integers widened, fixed-size lists as lists, half floats as floats, decimals in 128 bits, timestamps and durations in microseconds, times of
       day in nanoseconds; no extensions, no dictionaries. With `is_exact`, timestamps, durations and times keep their own units.
"""

from functools import partial
from typing import Any

import pyarrow as pa

from schemac.language.physical import with_parts

SIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
"""For unsigned integers, the type with a sign that holds all of their values."""
WIDER = SIGNED | {pa.float16(): pa.float32(), pa.date64(): pa.date32(), pa.large_string(): pa.string()}
WIDER |= {pa.large_binary(): pa.binary(), pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def is_count(data_type: Any) -> bool:
    """Whether Spark reads values of a type as counts, since it has no type that holds each of them."""
    is_ = pa.types
    if is_.is_timestamp(data_type):
        return bool(data_type.unit == "ns")
    return bool(is_.is_time(data_type) or is_.is_duration(data_type))


def has_decimal(data_type: Any) -> bool:
    """Whether Spark has a decimal of such a precision and scale, in whatever bits it is here."""
    return bool(0 <= data_type.scale <= data_type.precision <= 38)


def plain_field(field: Any, *, is_exact: bool = False) -> Any:
    """Return a field with its plain type, without metadata."""
    return pa.field(field.name, plain_type(field.type, is_exact=is_exact), field.nullable)


def plain_type(data_type: Any, *, is_exact: bool = False) -> Any:
    """Return the plain type of another one.

    >>> str(plain_type(pa.dictionary(pa.int8(), pa.large_string()))), str(plain_type(pa.uint32()))
    ('string', 'int64')
    >>> plain_type(pa.decimal256(9, 2))
    Decimal128Type(decimal128(9, 2))
    """
    is_, inner = pa.types, partial(plain_type, is_exact=is_exact)
    inner_field = partial(plain_field, is_exact=is_exact)
    if isinstance(data_type, pa.BaseExtensionType):
        return inner(data_type.storage_type)
    if is_.is_dictionary(data_type):
        return inner(data_type.value_type)
    if is_.is_list(data_type) or is_.is_large_list(data_type) or is_.is_fixed_size_list(data_type):
        return pa.list_(inner_field(data_type.value_field).with_name("element"))
    if is_.is_struct(data_type):
        return pa.struct([inner_field(member) for member in data_type])
    if is_.is_map(data_type):
        return pa.map_(inner(data_type.key_type), inner_field(data_type.item_field).with_name("value"))
    if is_.is_timestamp(data_type):
        unit = data_type.unit if is_exact and data_type.unit == "ns" else "us"
        return pa.timestamp(unit, tz=None if data_type.tz is None else "UTC")
    if is_.is_time(data_type):
        return data_type if is_exact else pa.time64("ns")
    if is_.is_duration(data_type):
        return data_type if is_exact else pa.duration("us")
    if is_.is_fixed_size_binary(data_type):
        return pa.binary()
    if is_.is_decimal(data_type) and has_decimal(data_type):
        return pa.decimal128(data_type.precision, data_type.scale)
    return WIDER.get(data_type, data_type)


def nullable_type(data_type: Any) -> Any:
    """Return a type in which all parts may be null but keys.

    >>> str(nullable_type(pa.struct([pa.field("n", pa.int32(), nullable=False)])))
    'struct<n: int32>'
    """
    if pa.types.is_map(data_type):
        return pa.map_(data_type.key_field, nullable_field(data_type.item_field), data_type.keys_sorted)
    return with_parts(data_type, nullable_field)


def nullable_field(field: Any) -> Any:
    """Return a field that may be null, and so may all of its parts but keys."""
    return field.with_type(nullable_type(field.type)).with_nullable(True)
