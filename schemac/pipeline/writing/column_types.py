"""Compares the columns that a format or a connector has with those that are written.

Layer: pipeline.
Shape: two StructTypes of Spark in; the differences as sentences out.
"""

from typing import Any

from pyspark.sql.types import StructType


def format_differences(expected: StructType, actual: StructType) -> tuple[str, ...]:
    """How the columns of a table differ from those that are written; what may be null is not compared, few formats keep it."""
    there = {field.name: field.dataType for field in actual.fields}
    differences = [
        f"`{field.name}` is missing"
        if field.name not in there
        else f"`{field.name}` is {there[field.name].simpleString()} in the table, and {field.dataType.simpleString()} in the schema"
        for field in expected.fields
        if _bare(there.get(field.name)) != _bare(field.dataType)
    ]
    names = {field.name for field in expected.fields}
    return (*differences, *(f"`{label}` is in the table only" for label in there if label not in names))


def _bare(data_type: Any) -> str | None:
    return None if data_type is None else data_type.simpleString()
