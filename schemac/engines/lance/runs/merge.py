"""Rows of a run merged into a Lance table by primary key, and fields that no two rows may share.

Layer: engines.
Shape: in memory are only the keys, the column that says which row is the latest, and the unique fields of the records that count; the
      table is read a batch at a time. What tasks wrote stays as it is; a fragment is written again without the rows that do not count,
      where it has some. Lance's own merge marks the rows of the table that go; both become one commit. As in SQL a row with a null
      among its unique fields repeats nothing.
Errors: SC664 key-exists.
Source: `execute_uncommitted` of pylance 14: `when_matched_delete` takes a source that has only the keys.
"""

import json
import os
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemac.engines.lance.dataset import ROWS_PER_BATCH, find_dataset, lance_errors, options_for
from schemac.engines.lance.transactions import DATA, file_names, fragments_of, write_rest
from schemac.rows.judging.arrays import plain_layout
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.tables import Merge, MergedRows, WriteTarget
from schemac.text.source.catalogue import KEY_EXISTS

TABLE_BATCH_ROWS, EXAMPLE_ROWS = 1 << 17, 3


def refuse_repeated(table: Any, records: pa.Table, keys: pa.Table, merge: Merge) -> None:
    """Raise PipelineError if a row of the table that stays has unique fields of a record that counts.

    `records` have the unique fields of the table, and `keys` are those of all rows that are replaced, or go.
    """
    for fields in merge.unique:
        new = _values(records, fields)
        columns = list(dict.fromkeys([*merge.keys, *(path[0] for path in fields)]))
        repeated = []
        for batch in table.scanner(columns=columns, batch_size=TABLE_BATCH_ROWS).to_batches():
            rows = pa.Table.from_batches([batch])
            numbers = pa.array(range(len(rows)), pa.int64())
            if not merge.is_refused:
                keyed_rows = rows.select(list(merge.keys)).append_column("__row", numbers)
                stays = keyed_rows.join(keys, list(merge.keys), join_type="left anti")["__row"]
                rows = rows.take(stays)
            values = _values(rows, fields)
            repeated.append(values.join(new, values.column_names, join_type="left semi"))
        if any(len(rows) for rows in repeated):
            refused = pa.concat_tables(repeated)
            named = [".".join(path) for path in fields]
            how_many = f"{len(refused)} rows" if len(refused) > 1 else "another row"
            examples = format_rows(refused.rename_columns(named))
            message = f"`{', '.join(named)}` is unique, and {how_many} of the table would have the values of a record: {examples}"
            help = "correct the records or these rows; `rules: {unique: warn}` writes the records in any case"
            setting = ("keys",) if merge.is_refused else ("target", "mode")
            raise PipelineError(KEY_EXISTS, message, help, place=setting)


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
    # In chunks as they are: texts of more than 2 GiB do not fit in one. An empty column may have none.
    values = pa.chunked_array(map(plain_layout, column.chunks or [column.combine_chunks()]))
    if pa.types.is_float16(values.type):
        return values.cast(pa.float32())
    if pa.types.is_nested(values.type):
        texts = [None if value is None else repr(value) for value in values.to_pylist()]
        return pa.chunked_array([texts], pa.string())
    return values


def format_rows(rows: pa.Table) -> str:
    """Write the first rows for people."""
    some = rows.slice(0, EXAMPLE_ROWS)
    # Python has no value for times in nanoseconds.
    columns = [
        column.cast(pa.string()) if pa.types.is_temporal(column.type) else column for column in some.columns
    ]
    records = pa.table(columns, names=some.column_names).to_pylist()
    return ", ".join(json.dumps(row, default=str) for row in records)


FRAGMENT_INDEX, ROW, IS_KNOWN = "__piece", "__row", "__known"
DELETES = -1
"""In the place of a piece, before the first one: the record deletes."""


def judge(
    place: WriteTarget, schema: pa.Schema, fragments: list[str], deletes: pa.Table, merge: Merge
) -> MergedRows:
    """Return the fragments with the records that count, and the removal of the rows that they replace. Raises PipelineError if keys are refused."""
    table = find_dataset(place.path, place.storage_options)
    batches = (_read(place, fragment, merge.columns) for fragment in fragments)
    parts = [deletes, *(pa.Table.from_batches(part, deletes.schema) for part in batches)]
    records = pa.concat_tables([_with_places(part, number) for number, part in enumerate(parts, DELETES)])
    winners = _winners(records, merge)
    if table is not None and merge.is_refused:
        existing = [part.select(merge.keys) for part in _rows_with_keys(table, winners, merge)]
        if any(len(part) for part in existing):
            rows = pa.concat_tables(existing)
            how_many = f"{len(rows)} records have keys" if len(rows) > 1 else "a record has a key"
            message = f"{how_many} that the table already has: {format_rows(rows)}"
            help = (
                "set `mode: upsert` under `target` to replace their rows, or `keys: trust` to append anyway"
            )
            raise PipelineError(KEY_EXISTS, message, help, place=("keys",))
    if table is not None and merge.latest is not None:
        winners = _without_stale(table, winners, merge)
    if table is not None and merge.unique and fragments:
        new_rows = pa.concat_tables(_unique_fields(place, fragments, winners, merge))
        refuse_repeated(table, new_rows, winners.select(merge.keys), merge)
    deleted = pc.sum(pc.equal(winners[FRAGMENT_INDEX], DELETES)).as_py() or 0
    deletion, keys = None, winners.select(merge.keys)
    if table is not None and not merge.is_refused and len(keys):
        # Marks the rows with these keys, and is not committed yet.
        with lance_errors():
            insert = table.merge_insert(keys.column_names).when_matched_delete()
            made, stats = insert.execute_uncommitted(keys)
        deletion = made.operation if stats["num_deleted_rows"] else None
    return MergedRows(
        _without_lost_records(place, schema, fragments, records, winners),
        0 if table is None else int(table.version),
        deletion,
        superseded=len(records) - len(winners),
        deleted=deleted,
    )


def operation_of(merged: MergedRows) -> Any:
    """Return the operation that adds the pieces, and removes the rows that they replace."""
    import lance

    made = fragments_of(merged.fragments)
    deletion = merged.deletion
    if deletion is None:
        return lance.LanceOperation.Append(made)
    return lance.LanceOperation.Update(
        removed_fragment_ids=deletion.removed_fragment_ids,
        updated_fragments=deletion.updated_fragments,
        new_fragments=made,
        fields_for_preserving_frag_bitmap=deletion.fields_for_preserving_frag_bitmap,
        update_mode=deletion.update_mode,
    )


def _with_places(rows: pa.Table, fragment_index: int) -> pa.Table:
    """Return the rows with two more columns: the index of their fragment, and their number in it."""
    rows = rows.append_column(FRAGMENT_INDEX, pa.repeat(pa.scalar(fragment_index, pa.int32()), len(rows)))
    return rows.append_column(ROW, pa.array(range(len(rows)), pa.int64()))


def _read(place: WriteTarget, fragment: str, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Read the rows of a fragment that no version names yet."""
    from lance.file import LanceFileReader

    (name,) = file_names([fragment])
    path = os.path.join(place.staging, DATA, name)
    with lance_errors():
        reader = LanceFileReader(
            path, storage_options=options_for(place.path, place.storage_options), columns=columns
        )
        yield from reader.read_all(batch_size=ROWS_PER_BATCH).to_batches()


def _winners(records: pa.Table, merge: Merge) -> pa.Table:
    """Keep the last record of each key. Two that are equal in all that decides have been quarantined before."""
    if merge.latest is None or not len(records):
        return records
    # A null is older than any value.
    records = records.append_column(IS_KNOWN, pc.is_valid(records[merge.latest]))
    order = [(name, "ascending") for name in (*merge.keys, IS_KNOWN, merge.latest)]
    ordered = records.take(pc.sort_indices(records, order)).drop_columns([IS_KNOWN]).combine_chunks()
    is_last = pa.array([False] * (len(ordered) - 1), pa.bool_())
    for name in merge.keys:
        column = ordered[name].combine_chunks()
        is_last = pc.or_(is_last, pc.not_equal(column.slice(0, len(column) - 1), column.slice(1)))
    return ordered.filter(pa.concat_arrays([is_last, pa.array([True])]))


def _unique_fields(
    place: WriteTarget, fragments: list[str], winners: pa.Table, merge: Merge
) -> Iterator[pa.Table]:
    """Yield the unique fields of the records that count, a piece at a time."""
    columns = list(dict.fromkeys(path[0] for fields in merge.unique for path in fields))
    for number, fragment in enumerate(fragments):
        rows = pa.Table.from_batches(_read(place, fragment, columns))
        yield rows.take(winners.filter(pc.equal(winners[FRAGMENT_INDEX], number))[ROW])


def _rows_with_keys(table: Any, winners: pa.Table, merge: Merge) -> Iterator[pa.Table]:
    """Yield the rows of the table that have a key of the records, with the records' columns next to theirs."""
    keys = list(merge.keys)
    for batch in table.scanner(columns=merge.columns, batch_size=TABLE_BATCH_ROWS).to_batches():
        yield pa.Table.from_batches([batch]).join(winners, keys, join_type="inner", right_suffix="__new")


def _without_stale(table: Any, winners: pa.Table, merge: Merge) -> pa.Table:
    """Return the records without those that are older than the row that the table has."""
    latest = str(merge.latest)
    stale = []
    for part in _rows_with_keys(table, winners, merge):
        ours, theirs = part[f"{latest}__new"], part[latest]
        # A null is older than any value, and as old as another null.
        is_stale = pc.or_kleene(pc.less(ours, theirs), pc.and_(pc.is_null(ours), pc.is_valid(theirs)))
        stale.append(part.filter(pc.fill_null(is_stale, False)).select([FRAGMENT_INDEX, ROW]))
    if not stale:
        return winners
    return winners.join(pa.concat_tables(stale), [FRAGMENT_INDEX, ROW], join_type="left anti")


def _without_lost_records(
    place: WriteTarget, schema: pa.Schema, fragments: list[str], records: pa.Table, winners: pa.Table
) -> list[str]:
    """Return the fragments, those that have records that do not count written again without them."""
    winning_fragments: list[str] = []
    for number, fragment in enumerate(fragments):
        rows, winning = (
            some.filter(pc.equal(some[FRAGMENT_INDEX], number))[ROW] for some in (records, winners)
        )
        if len(winning) == len(rows):
            winning_fragments.append(fragment)
            continue
        wins = iter(pc.is_in(rows, winning.combine_chunks()).to_pylist())
        batches = (
            batch.filter(pa.array(list(islice(wins, batch.num_rows)), pa.bool_()))
            for batch in _read(place, fragment)
        )
        winning_fragments += write_rest(place, schema, batches)
    return winning_fragments
