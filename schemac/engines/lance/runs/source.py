"""Lance as an engine whose tables runs read, fragment by fragment.

Layer: engines.
Shape: columns as other readers can hold them: unsigned integers widened, fixed-size lists as lists, half floats as
       floats; blob columns are left out.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from schemac.engines.lance.dataset import find_dataset, open_dataset
from schemac.rows.judging.arrays import laid_out, to_field
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.plain_types import nullable_type, plain_field
from schemac.rows.runs.storage import NO_STORAGE
from schemac.rows.runs.tables import Source, StorageOptions
from schemac.text.source.catalogue import CHANGED_INPUT, SINK_OPTION, SOURCE_TYPE_MISMATCH

ROWS_PER_BATCH = 8192
BLOB = "lance.blob.v2"


class LanceSource(Source):
    """Lance tables."""

    options = ("version",)

    def newest_version(self, path: str, storage_options: StorageOptions = NO_STORAGE) -> int | None:
        """Return the newest version of the table at a path."""
        table = find_dataset(path, storage_options)
        return None if table is None else int(table.version)

    def schema(
        self,
        path: str,
        version: int,
        storage_options: StorageOptions = NO_STORAGE,
        *,
        is_exact: bool = False,
    ) -> pa.Schema:
        """Columns of a version."""
        return _plain_schema(open_dataset(path, version, storage_options).schema, is_exact=is_exact)

    def parts(self, path: str, version: int, storage_options: StorageOptions = NO_STORAGE) -> list[int]:
        """Return the ids of the fragments of a version."""
        table = open_dataset(path, version, storage_options)
        return [fragment.fragment_id for fragment in table.get_fragments()]

    def added(
        self, path: str, after: int, version: int, storage_options: StorageOptions = NO_STORAGE
    ) -> list[int]:
        """Return the ids of new fragments; every fragment of the earlier version has to be there as it was."""
        now = _files_of_fragments(path, version, storage_options)
        before = _files_of_fragments(path, after, storage_options) if after else {}
        if any(now.get(id) != files for id, files in before.items()):
            message = f"rows of `{path}` changed between its versions {after} and {version}: a stream takes added rows only"
            help = "remove the checkpoint, and replace the target, to start again with the existing rows"
            raise PipelineError(CHANGED_INPUT, message, help)
        return [id for id in now if id not in before]

    def read(
        self,
        path: str,
        version: int,
        part: int,
        columns: Sequence[str] | None = None,
        storage_options: StorageOptions = NO_STORAGE,
        *,
        filter: str | None = None,
        row_id: str | None = None,
        address: str | None = None,
        is_exact: bool = False,
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows of one fragment; a filter is an SQL condition of Lance's scan."""
        table = open_dataset(path, version, storage_options)
        schema = _plain_schema(table.schema, is_exact=is_exact)
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns])
        names = schema.names
        last = [one for one in (row_id, address) if one is not None]
        if not names and not last:
            names = table.schema.names[:1]  # rows that are only counted have a column too
        scanner = table.get_fragment(part).scanner(
            columns=names,
            filter=filter,
            batch_size=ROWS_PER_BATCH,
            with_row_id=row_id is not None,
            with_row_address=address is not None,
        )
        for one in last:
            schema = schema.append(pa.field(one, pa.int64()))
        for batch in scanner.to_batches():
            arrays = [
                _plain(column, field, path) for column, field in zip(batch.columns, schema, strict=False)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema) if arrays else batch.select([])

    def check_filter(
        self, path: str, version: int, filter: str, storage_options: StorageOptions = NO_STORAGE
    ) -> None:
        """Check a filter by planning a scan with it."""
        table = open_dataset(path, version, storage_options)
        try:
            table.scanner(columns=table.schema.names[:1], filter=filter).explain_plan()
        except (ValueError, OSError) as error:
            message = f"Lance cannot filter `{path}` by `{filter}`: {str(error).splitlines()[0]}"
            raise PipelineError(
                SINK_OPTION, message, "a filter is an SQL condition such as `fare > 10`"
            ) from error


SOURCE = LanceSource()


def _files_of_fragments(
    path: str, version: int, storage_options: StorageOptions
) -> dict[int, tuple[str, ...]]:
    """List what each fragment of a version consists of: its data files, and which of its rows are deleted."""
    fragments = open_dataset(path, version, storage_options).get_fragments()
    return {
        fragment.fragment_id: (*(file.path for file in fragment.data_files()), str(fragment.deletion_file()))
        for fragment in fragments
    }


def _plain(array: Any, field: pa.Field, path: str) -> pa.Array:
    """Return the values as other readers hold them. Raises PipelineError for those that these cannot hold."""
    try:
        # What lies below null is null after the cast, also where it is required.
        return to_field(laid_out(array).cast(nullable_type(field.type)), field)
    except pa.ArrowInvalid as error:
        message = f"`{field.name}` of `{path}` has a value that Spark cannot hold as {field.type}: {error}"
        help = "timestamps and durations of Spark count microseconds: bring the column to `unit: Microsecond` first, or read a table without it"
        raise PipelineError(SOURCE_TYPE_MISMATCH, message, help) from error


def _plain_schema(schema: pa.Schema, *, is_exact: bool) -> pa.Schema:
    return pa.schema([plain_field(field, is_exact=is_exact) for field in schema if not _is_blob(field)])


def _is_blob(field: Any) -> bool:
    named = getattr(field.type, "extension_name", None)
    return BLOB in (named, (field.metadata or {}).get(b"ARROW:extension:name", b"").decode())
