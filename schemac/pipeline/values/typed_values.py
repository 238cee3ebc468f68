"""Values that a source has typed as the field needs them: only what no type says is left to check.

Layer: pipeline.
Shape: SQL text of whether a rule is broken, and of the value. Where one is, or the types differ, the value is read item by
       item, which finds the reasons.
"""

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    ByteType,
    DataType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StructType,
)

from schemac.pipeline.spark.sqltext import any_of, fresh, name
from schemac.pipeline.values.inputs import Typed, typed_input
from schemac.pipeline.values.nested import is_typed_alike
from schemac.pipeline.values.scalars import extension_name, scalar_of, storage_type
from schemac.pipeline.values.shapes import is_list, is_scalar, spark_type
from schemac.pipeline.values.timestamps import is_outside

BITS = {ByteType: 8, ShortType: 16, IntegerType: 32, LongType: 64}


@dataclass(frozen=True)
class TypedValue:
    """Whether a rule is broken, `false` where none can be; and the value."""

    is_wrong: str
    value: str


def typed_value(field: pa.Field, column: str, data_type: DataType) -> TypedValue | None:
    """How a typed value is checked; None where its type is not that of the field, or not known to be."""
    found = _checked(field, column, data_type)
    if found is None:
        return None
    value = (
        column if data_type.simpleString() == spark_type(field) else f"cast({column} as {spark_type(field)})"
    )
    return TypedValue(any_of(found), value)


def _checked(field: pa.Field, column: str, data_type: DataType) -> list[str] | None:
    """List the conditions under which a rule is broken."""
    rules = [] if field.nullable else [f"{column} is null"]
    if is_scalar(field):
        inner = _checked_scalar(field, column, data_type)
    elif is_list(field.type):
        inner = _checked_list(field, column, data_type)
    elif pa.types.is_map(field.type):
        inner = _checked_map(field, column, data_type)
    else:
        inner = _checked_struct(field, column, data_type)
    return None if inner is None else rules + inner


def integer_limits(field: pa.Field, data_type: DataType) -> tuple[int, int] | None:
    """Give the limits of an integer field for integers of a source; None for other types."""
    held = storage_type(field.type)
    if extension_name(field) is not None or not pa.types.is_integer(held) or type(data_type) not in BITS:
        return None
    bits = held.bit_width
    if pa.types.is_unsigned_integer(held):
        return 0, min(2**bits, 2**63) - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def _checked_scalar(field: pa.Field, column: str, data_type: DataType) -> list[str] | None:
    limits = integer_limits(field, data_type)
    if limits is not None:
        bits = BITS[type(data_type)]
        if limits[0] <= -(2 ** (bits - 1)) and 2 ** (bits - 1) - 1 <= limits[1]:
            return []
        return [f"not (cast({column} as bigint) between {limits[0]}L and {limits[1]}L)"]
    source = typed_input(column, data_type)
    if data_type.simpleString() == "string" and scalar_of(field).is_identity:
        return []
    if not isinstance(source, Typed) or not is_typed_alike(field, source):
        return None
    outside = is_outside(storage_type(field.type), column)
    return [] if outside is None else [f"({column} is not null and {outside})"]


def _checked_list(field: pa.Field, column: str, data_type: DataType) -> list[str] | None:
    if not isinstance(data_type, ArrayType):
        return None
    rules = []
    if pa.types.is_fixed_size_list(field.type):
        rules.append(f"size({column}) <> {field.type.list_size}")
    x = fresh()
    inner = _checked(field.type.value_field, x, data_type.elementType)
    return None if inner is None else rules + _exists(column, x, inner)


def _exists(items: str, x: str, rules: list[str]) -> list[str]:
    # A condition that is null breaks nothing.
    return [f"coalesce(exists({items}, {x} -> coalesce({any_of(rules)}, false)), false)"] if rules else []


def _checked_map(field: pa.Field, column: str, data_type: DataType) -> list[str] | None:
    if not isinstance(data_type, MapType) or data_type.keyType.simpleString() != "string":
        return None
    key, x = field.type.key_field, fresh()
    if not is_scalar(key) or extension_name(key) is not None or not scalar_of(key).is_identity:
        return None
    inner = _checked(field.type.item_field, x, data_type.valueType)
    if inner is None:
        return None
    # A file may hold a key twice, and Spark's reader lets it pass.
    has_twin = f"coalesce(size(array_distinct(map_keys({column}))) <> size({column}), false)"
    return [*_exists(f"map_values({column})", x, inner), has_twin]


def _checked_struct(field: pa.Field, column: str, data_type: DataType) -> list[str] | None:
    members = list(field.type)
    # A cast goes by position.
    if not isinstance(data_type, StructType) or data_type.names != [member.name for member in members]:
        return None
    rules: list[str] = []
    for member in members:
        inner = _checked(member, f"{column}.{name(member.name)}", data_type[member.name].dataType)
        if inner is None:
            return None
        rules += inner
    return [f"({column} is not null and {any_of(rules)})"] if rules else []
