"""Tells which fields have parts, and which Spark type holds their values.

Layer: pipeline.
Shape: pyarrow fields in; a blob counts as one value, whatever its storage.
"""

import pyarrow as pa

from schemac.judging.shapes import is_list, is_scalar
from schemac.pipeline.spark.sqltext import name
from schemac.pipeline.values.scalars import scalar_of

__all__ = ["is_list", "is_scalar", "spark_type"]


def spark_type(field: pa.Field) -> str:
    """Name the Spark type that holds the field's values on their way to the writer."""
    if is_scalar(field):
        return scalar_of(field).spark_type
    data_type = field.type
    if is_list(data_type):
        return f"array<{spark_type(data_type.value_field)}>"
    if pa.types.is_map(data_type):
        return f"map<{spark_type(data_type.key_field)},{spark_type(data_type.item_field)}>"
    inner = ",".join(f"{name(member.name)}:{spark_type(member)}" for member in data_type)
    return f"struct<{inner}>"
