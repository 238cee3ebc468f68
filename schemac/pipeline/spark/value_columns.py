"""Columns of judged values as Spark holds them.

Layer: pipeline.
Shape: an array of a field's values in, an array of the type that Spark has for the field out. Unsigned integers are wider there; counts of
       nanoseconds, times of day and durations are integers, decimals that Spark cannot have are text, and halves are floats.
Errors: SC608 unsupported-type.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType

from schemac.language.attributes.attribute import Role
from schemac.language.constraints.constraint import compact, entries_of, lists_of, mask_of
from schemac.pipeline.errors import PipelineError
from schemac.rows.judging.arrays import (
    extension_name,
    is_binary,
    is_list,
    is_scalar,
    is_string,
    maps_of,
    plain_numbers,
    role_of,
    storage_type,
)
from schemac.rows.judging.scalars import scalar_of
from schemac.rows.runs.plain_types import WIDER, has_decimal, is_count
from schemac.text.source.catalogue import UNSUPPORTED_TYPE

_OF_ROLES = {Role.JSON: pa.string(), Role.BRAIN_FLOATS: pa.float32(), Role.BLOB: pa.binary()}


def spark_type(field: pa.Field) -> DataType:
    """Return the type that Spark has for the values of a field. Raises PipelineError."""
    return from_arrow_type(column_type(field), prefer_timestamp_ntz=True)


def column_type(field: pa.Field) -> pa.DataType:
    """Return the same as Arrow has it. Raises PipelineError."""
    data_type, is_, role = field.type, pa.types, role_of(field)
    if not is_scalar(field):
        if is_list(data_type):
            return pa.list_(pa.field("element", column_type(data_type.value_field)))
        if is_.is_map(data_type):
            return pa.map_(column_type(data_type.key_field), column_type(data_type.item_field))
        return pa.struct([pa.field(part.name, column_type(part)) for part in data_type])
    if scalar_of(field) is None:
        message = f"field `{field.name}`: a pipeline cannot write the type {data_type}"
        raise PipelineError(UNSUPPORTED_TYPE, message)
    if role is not None:
        return _OF_ROLES[role]
    data_type = storage_type(data_type)
    if extension_name(field) == "arrow.uuid" or is_binary(data_type) or is_.is_fixed_size_binary(data_type):
        return pa.binary()
    if is_.is_decimal(data_type):
        return pa.decimal128(data_type.precision, data_type.scale) if has_decimal(data_type) else pa.string()
    if is_string(data_type) or is_.is_null(data_type):
        return pa.string()
    if is_count(data_type):
        return pa.int64()
    if is_.is_timestamp(data_type):
        return pa.timestamp("us", None if data_type.tz is None else "UTC")
    return WIDER.get(data_type, data_type)


def column_of(values: pa.Array, field: pa.Field) -> pa.Array:
    """Bring values of a field to the type that Spark has for them."""
    target = column_type(field)
    if is_scalar(field):
        return _scalars(values, field, target)
    if is_list(field.type):
        is_vector = pa.types.is_fixed_size_list(values.type)
        lists = lists_of(values, values.flatten()) if is_vector else compact(values)
        return lists_of(lists, column_of(lists.flatten(), field.type.value_field), target)
    if pa.types.is_map(field.type):
        lists = entries_of(values)
        keys, items = lists.flatten().flatten()
        return maps_of(
            lists, column_of(keys, field.type.key_field), column_of(items, field.type.item_field), target
        )
    if not target.num_fields:
        return pa.array([{} if there else None for there in values.is_valid().to_pylist()], target)
    children = [column_of(child, part) for child, part in zip(values.flatten(), field.type, strict=True)]
    return pa.StructArray.from_arrays(children, fields=list(target), mask=mask_of(values))


def _scalars(values: pa.Array, field: pa.Field, target: pa.DataType) -> pa.Array:
    """Return values without parts in a type that Spark reads; brain floats become singles."""
    data_type, is_ = values.type, pa.types
    if data_type.equals(target):
        return values
    if is_.is_null(storage_type(field.type)):
        return pa.nulls(len(values), target)
    if role_of(field) is Role.BRAIN_FLOATS:
        # They are the upper halves of singles.
        halves = b"".join(value or b"\0\0" for value in values.to_pylist())
        bits = np.frombuffer(halves, "<u2").astype("<u4") << 16
        return pc.if_else(values.is_valid(), pa.array(bits.view("<f4")), pa.scalar(None, pa.float32()))
    if is_.is_decimal(data_type) and is_.is_string(target):
        return plain_numbers(values, target)
    if is_.is_temporal(data_type) and is_.is_int64(target):
        return values.cast(pa.int32()).cast(target) if is_.is_time32(data_type) else values.view(target)
    if is_.is_fixed_size_binary(data_type):
        return values.cast(pa.binary())
    return values.cast(target)
