"""Fields that no two rows of a table may share, where rows of a run meet those of the table.

Layer: engines.
Shape: the fields of the records that count are held in memory, as their keys are; the table is read a batch at a time. As in SQL
       a row with a null among the fields repeats nothing.
Errors: SC664 key-exists.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.merges import Merge
from schemac.source.catalogue import KEY_EXISTS

BATCH_ROWS, EXAMPLE_ROWS = 1 << 17, 3


def refuse_repeated(table: Any, records: Iterable[pa.Table], keys: pa.Table, merge: Merge) -> None:
    """Raise PipelineError if a row of the table that stays has unique fields of a record that counts.

    `records` have the columns of the table, and `keys` are those of all rows that are replaced, or go.
    """
    parts = [[_values(part, fields) for fields in merge.unique] for part in records]
    for number, fields in enumerate(merge.unique):
        if not parts:
            return
        new = pa.concat_tables([part[number] for part in parts])
        remaining = _remaining(table, fields, keys, merge)
        repeated = [rows.join(new, rows.column_names, join_type="left semi") for rows in remaining]
        if any(len(rows) for rows in repeated):
            raise _refused(pa.concat_tables(repeated), fields, merge)


def _remaining(
    table: Any, fields: tuple[tuple[str, ...], ...], keys: pa.Table, merge: Merge
) -> Iterator[pa.Table]:
    """Yield the fields of the rows that stay."""
    columns = list(dict.fromkeys([*merge.keys, *(path[0] for path in fields)]))
    for batch in table.scanner(columns=columns, batch_size=BATCH_ROWS).to_batches():
        rows = pa.Table.from_batches([batch])
        numbers = pa.array(range(len(rows)), pa.int64())
        if not merge.is_refused:
            keyed_rows = rows.select(list(merge.keys)).append_column("__row", numbers)
            stays = keyed_rows.join(keys, list(merge.keys), join_type="left anti")["__row"]
            rows = rows.take(stays)
        yield _values(rows, fields)


def _values(rows: pa.Table, fields: tuple[tuple[str, ...], ...]) -> pa.Table:
    """Return the values of the fields, of rows that have all of them."""
    columns = [
        _comparable(pc.struct_field(rows[path[0]], list(path[1:])) if path[1:] else rows[path[0]])
        for path in fields
    ]
    values = pa.table(columns, names=[f"u{number}" for number in range(len(columns))])
    return values.drop_null()


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return values in a type that Arrow can join by."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _comparable(pa.chunked_array([part.storage for part in column.chunks], kind.storage_type))
    if pa.types.is_dictionary(kind):
        return _comparable(column.cast(kind.value_type))
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    if pa.types.is_nested(kind):
        return pa.chunked_array(
            [[None if value is None else repr(value) for value in column.to_pylist()]], pa.string()
        )
    return column


def _refused(repeated: pa.Table, fields: tuple[tuple[str, ...], ...], merge: Merge) -> PipelineError:
    named = [".".join(path) for path in fields]
    count = f"{len(repeated)} rows" if len(repeated) > 1 else "another row"
    examples = format_rows(repeated.rename_columns(named))
    return PipelineError(
        KEY_EXISTS,
        f"`{', '.join(named)}` is unique, and {count} of the table would have the values of a record: {examples}",
        "correct the records or these rows; `rules: {unique: warn}` writes the records in any case",
        place=("keys",) if merge.is_refused else ("target", "mode"),
    )


def format_rows(rows: pa.Table) -> str:
    """Write the first rows for people."""
    some = rows.slice(0, EXAMPLE_ROWS)
    # Python has no value for times in nanoseconds.
    columns = [
        column.cast(pa.string()) if pa.types.is_temporal(column.type) else column for column in some.columns
    ]
    records = pa.table(columns, names=some.column_names).to_pylist()
    return ", ".join(json.dumps(row, default=str) for row in records)
