"""Conditions of a reader as a filter of Lance's scan.

Layer: engines.
Rule: a condition is taken where Lance and every reader order the values alike: whole numbers, texts by their bytes, days and
      booleans. Of floats (NaN), decimals and timestamps it is not, nor of what stands inside of a column; the reader then
      looks at more rows.
Source: the filters of pylance 14.0.2, which are DataFusion's; `tests/engines/lance/test_conditions.py` asks it.
"""

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from schemac.runs.tables import Condition

LARGEST_LIST = 1000
"""Values of an `in` that are worth a filter."""


def filter_of(conditions: Sequence[Condition], schema: pa.Schema) -> str | None:
    """Write the filter; None where no condition can be taken."""
    taken = [text for condition in conditions if (text := _written(condition, schema)) is not None]
    return " AND ".join(taken) or None


def _written(condition: Condition, schema: pa.Schema) -> str | None:
    index = schema.get_field_index(condition.column)
    if index < 0 or "`" in condition.column:
        return None
    name = f"`{condition.column}`"
    if condition.operator in ("is null", "is not null"):
        return f"{name} {condition.operator.upper()}"
    values = [_literal(value, schema.field(index).type) for value in condition.values]
    if None in values or not values or len(values) > LARGEST_LIST:
        return None
    if condition.operator == "in":
        return f"{name} IN ({', '.join(map(str, values))})"
    return f"{name} {condition.operator} {values[0]}"


def _literal(value: Any, held: pa.DataType) -> str | None:
    """Write a value as Lance reads it; None where the two might be compared in another way."""
    is_ = pa.types
    if is_.is_boolean(held):
        return str(value).lower() if isinstance(value, bool) else None
    if is_.is_integer(held):
        if isinstance(value, Decimal) and value == value.to_integral_value():
            value = int(value)
        is_held = isinstance(value, int) and not isinstance(value, bool) and _fits(value, held)
        return str(value) if is_held else None
    if is_.is_string(held) or is_.is_large_string(held):
        return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else None
    if is_.is_date32(held):
        is_day = isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
        return f"date '{value.isoformat()}'" if is_day else None
    return None


def _fits(value: int, held: pa.DataType) -> bool:
    """Whether a type holds a number; not the lowest one, whose digits alone are beyond the type for Lance's parser."""
    bits: int = held.bit_width if pa.types.is_unsigned_integer(held) else held.bit_width - 1
    return (0 if bits == held.bit_width else -(1 << bits) + 1) <= value < 1 << bits
