"""Values at places inside of structs.

Layer: rows.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def value_at(rows: pa.RecordBatch, path: Sequence[str]) -> pa.Array:
    """Return the values of a path; null where a struct above it is null."""
    column = rows.column(path[0])
    for name in path[1:]:
        column = pc.struct_field(column, name)
    return column


def with_value(rows: pa.RecordBatch, path: Sequence[str], values: pa.Array) -> pa.RecordBatch:
    """Put values at a path; a struct that is null stays null."""
    place = rows.schema.get_field_index(path[0])
    return rows.set_column(place, path[0], _replaced(rows.column(place), path[1:], values))


def _replaced(column: pa.Array, path: Sequence[str], values: pa.Array) -> Any:
    if not path:
        return values
    place = column.type.get_field_index(path[0])
    parts = [column.field(i) for i in range(column.type.num_fields)]
    parts[place] = _replaced(parts[place], path[1:], values)
    mask = column.is_null() if column.null_count else None
    return pa.StructArray.from_arrays(parts, fields=list(column.type), mask=mask)
