"""The columns of a Lance table that a run fills, and the data files with their new values.

Layer: engines.
Shape: values by the addresses of their rows, in ascending order; rows that are not among them keep the value that they have, or have
      none. Lance reads the fragment's rows batch by batch, and leaves room for rows that are deleted.
Rule: The columns of a Lance table that a run fills, and the schema of the table afterwards: the table has to be of its form in all
      columns but those that are filled: these may be missing, and may still be null where the form says that they are required, because
      Lance makes a column required only in a commit of its own (`schemac apply`). A table whose schema has no lock is compared by path,
      and new columns get the next free ids.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.artifact import decode
from schemac.engines.lance.dataset import lance_errors
from schemac.engines.lance.tables.fields import differences, ids_in_files, in_preorder, lance_fields_of
from schemac.engines.lance.tables.new_columns import write_columns
from schemac.engines.lance.tables.steps import new_column
from schemac.engines.lance.transactions import schema_parts
from schemac.language.attributes.builtin import TABLE_IDS, TABLE_VERSION
from schemac.rows.runs.columns import ADDRESSES, Filling
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.tables import TableForm
from schemac.text.source.catalogue import SCHEMA_MISMATCH, UNFIT_VALUES

ROW_ADDRESS = "_rowaddr"


def write_column_file(filling: Filling, table: Any, part: int, batches: Iterator[pa.RecordBatch]) -> str:
    """Return the data file as Lance describes it, as JSON, with the ids that the columns have in the table."""
    from lance.udf import BatchUDF

    schema = filling.read_schema()
    written = pa.schema(
        [field.with_name(new_column(number)).with_nullable(True) for number, field in enumerate(schema)]
    )
    fragment = table.get_fragment(part)
    retained = [name for name in schema.names if filling.columns.keeps and name in table.schema.names]
    values = _Values(batches, schema)
    failure: list[PipelineError] = []

    def make(rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the new columns for rows of the fragment."""
        addresses = rows.column(ROW_ADDRESS).to_numpy(zero_copy_only=False).astype(np.int64)
        new, is_written = values.of(addresses, is_complete=not filling.columns.keeps)
        try:
            check_required(filling, table, int((~is_written).sum()))
            columns = [
                _with_others(new.column(name), is_written, rows.column(name) if name in retained else None)
                for name in schema.names
            ]
        except PipelineError as error:
            failure.append(error)  # Lance would make its own of it
            raise
        return pa.RecordBatch.from_arrays(columns, schema=written)

    try:
        with lance_errors():
            function = BatchUDF(make, output_schema=written)
            file = write_columns(fragment, function, [ROW_ADDRESS, *retained], filling.ids)
    except Exception as error:  # noqa: BLE001  raised again, or the error behind it is
        raise failure[0] if failure else error from None
    values.check_end()
    return file


def check_retainable(table: Any, columns: tuple[str, ...]) -> None:
    """Refuse to keep values that Lance does not give as they are written: of JSON it gives the text, of blobs places in files."""
    for name in columns:
        type_ = table.schema.field(name).type if name in table.schema.names else None
        if isinstance(type_, pa.BaseExtensionType):
            message = f"rows that `where` leaves out cannot keep their value of `{name}`, which is {type_}"
            help = "leave `where` out, so that every row gets a value"
            raise PipelineError(UNFIT_VALUES, message, help, place=("where",))


def check_required(filling: Filling, table: Any, rows: int) -> None:
    """Refuse to leave rows without a value in a required column that the table does not have yet."""
    required = [field.name for field in filling.read_schema() if not field.nullable]
    new = [name for name in required if name not in table.schema.names]
    if rows and new:
        message = f"`{new[0]}` is required, and rows that `where` leaves out would have no value"
        help = "leave `where` out, or give the field an Option type"
        raise PipelineError(UNFIT_VALUES, message, help, place=("where",))


def _with_others(new: pa.Array, is_written: Any, old: pa.Array | None) -> pa.Array:
    """Return a value for each row: a new one where there is one, else the one that it has, or none."""
    if is_written.all():
        return new
    places = np.cumsum(is_written) - 1
    others = 0 if old is None else np.arange(len(is_written))
    places = np.where(is_written, places, others + len(new))
    return pa.concat_arrays([new, pa.nulls(1, new.type) if old is None else old]).take(pa.array(places))


class _Values:
    """A stream of values by row address, from which those of given rows are taken in order."""

    def __init__(self, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> None:
        self.batches = batches
        self.schema = pa.schema([pa.field(ADDRESSES, pa.int64()), *(f.with_nullable(True) for f in schema)])
        self.rest = pa.RecordBatch.from_pylist([], self.schema)

    def of(self, addresses: Any, *, is_complete: bool) -> tuple[pa.RecordBatch, Any]:
        """Return the values for rows with these addresses, and a numpy array of booleans that says which of the rows have one."""
        batch = self._up_to(int(addresses[-1])) if len(addresses) else self.rest.slice(0, 0)
        batch_addresses = batch.column(0).to_numpy(zero_copy_only=False)
        is_written = np.isin(addresses, batch_addresses, assume_unique=True)
        if is_written.sum() != len(batch_addresses) or (is_complete and not is_written.all()):
            raise RuntimeError("values do not belong to the rows of their fragment")
        return batch, is_written

    def _up_to(self, last: int) -> pa.RecordBatch:
        """Return the values of rows with addresses up to the last one."""
        batches = [self.rest]
        while not batches[-1].num_rows or batches[-1].column(0)[-1].as_py() <= last:
            following = next(self.batches, None)
            if following is None:
                break
            batches.append(pa.RecordBatch.from_arrays(following.columns, schema=self.schema))
        newest = batches.pop()
        count = int(np.searchsorted(newest.column(0).to_numpy(), last, side="right"))
        self.rest = newest.slice(count)
        # What is left is not copied: it may be the rows of many fragments.
        return pa.concat_batches([*batches, newest.slice(0, count)])

    def check_end(self) -> None:
        """Raise where values are left that belong to no row."""
        if self.rest.num_rows or next(self.batches, None) is not None:
            raise RuntimeError("values do not belong to the rows of their fragment")


@dataclass(frozen=True)
class FillingTable:
    """The columns that a run fills, and the fields of the table with them."""

    new: tuple[str, ...]
    ids: tuple[tuple[int, ...], ...]
    """Of each column, and of what is below it, in pre-order."""
    fields: list[pb.Field]
    """All fields of the table after the commit."""
    metadata: dict[str, bytes]


def checked_columns(path: str, table: Any, form: TableForm, columns: tuple[str, ...]) -> FillingTable:
    """Return the columns to be filled, after comparing a version of the table with its form. Raises PipelineError if they differ."""
    metadata, there = schema_parts(table.lance_schema)
    if form.version is not None:
        metadata[TABLE_VERSION] = form.version.encode()
        metadata.pop(TABLE_IDS, None)
    expected = list(decode(form.native).fields) if form.native else lance_fields_of(form.schema)
    tops = {field.name for field in there if field.parent_id < 0}
    new = tuple(name for name in columns if name not in tops)
    column_of = _columns_of(expected)
    known = [field for field in expected if column_of[field.id] not in new]
    added = [field for field in expected if column_of[field.id] in new]
    may_be_null = {f.name for f in there if f.parent_id < 0 and f.nullable and f.name in columns}
    for field in known:
        if field.parent_id < 0 and field.name in may_be_null:
            field.nullable = True
    # Of a column that was dropped, the values in some data file would be read again.
    in_files = (ids_in_files(fragment.metadata) for fragment in table.get_fragments())
    used = {field.id for field in there}.union(*in_files)
    has_ids = form.version is not None or (
        used.isdisjoint(field.id for field in added) and not differences(known, table.lance_schema)
    )
    mismatches = differences(known, table.lance_schema, ids=has_ids)
    mismatches += tuple(
        f"the id {field.id} of `{field.name}` is taken" for field in added if has_ids and field.id in used
    )
    if mismatches:
        message = f"the table `{path}` has a different schema: {'; '.join(mismatches[:5])}"
        help = "update the table with `schemac apply` first, or name the missing columns under `fields`"
        raise PipelineError(SCHEMA_MISMATCH, message, help, place=("target", "path"))
    if not has_ids:
        added = _numbered(added, max(used, default=-1) + 1)
    # In the order of the form, each column with its children.
    fields = in_preorder([*there, *added])
    column_of = _columns_of(fields)
    names = [field.name for field in expected if field.parent_id < 0]
    places = {name: place for place, name in enumerate(names)}
    fields.sort(key=lambda field: places.get(column_of[field.id], len(places)))
    ids = tuple(tuple(field.id for field in fields if column_of[field.id] == name) for name in columns)
    return FillingTable(new, ids, fields, metadata)


def _columns_of(fields: Iterable[pb.Field]) -> dict[int, str]:
    """Return the name of the column that each field is in, by its id; parents come before their children."""
    names: dict[int, str] = {}
    for field in fields:
        names[field.id] = names.get(field.parent_id, field.name)
    return names


def _numbered(fields: list[pb.Field], first: int) -> list[pb.Field]:
    """Return the same fields with the next ids of a table, from `first` on."""
    ids = {field.id: first + number for number, field in enumerate(fields)}
    for field in fields:
        field.id, field.parent_id = ids[field.id], ids.get(field.parent_id, -1)
    return fields
