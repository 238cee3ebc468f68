"""A Lance dataset on disk or in an object store: how one is opened, its versions and what their commits say, and its rows.

Layer: engines.
Shape: a path or an address, with the options of its object store. `tables` (schemas of live tables) and `runs` (rows that runs write) both
      start from here. `ROW_WRITER` and `ROW_READER` are for rows outside of a pipeline; `SOURCE` is for tables that runs read, fragment by
      fragment, with columns as other readers can hold them: unsigned integers widened, fixed-size lists as lists, half floats as floats;
      blob columns are left out.
Source: Lance's options of object stores, out of the section `storage` of a pipeline: the options of the crate object_store, which Lance
      passes on.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from schemac.artifacts.dataset import CheckedDataset, RowReader, RowWriter, StoredRows
from schemac.engines.lance import is_table
from schemac.engines.lance.attributes import BLOB_EXTENSION, storage_version
from schemac.rows.judging.arrays import extension_name, plain_layout, to_field
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.plain_types import nullable_type, plain_field
from schemac.rows.runs.storage import NO_STORAGE, Storage, is_local, local_path
from schemac.rows.runs.tables import WHOLE_ROWS, Projection, SourceFormat
from schemac.text.source.catalogue import CHANGED_INPUT, SINK_OPTION, SOURCE_TYPE_MISMATCH, UNREADABLE_TABLE

NAMES = {
    "endpoint": "aws_endpoint",
    "region": "aws_region",
    "accessKeyId": "aws_access_key_id",
    "secretAccessKey": "aws_secret_access_key",
    "sessionToken": "aws_session_token",
}
PATIENT = {"client_max_retries": "10"}
"""Lance's own three attempts, within a second, are too few for a store that asks to slow down."""


def options_for(path: str, storage: Storage | None) -> dict[str, str] | None:
    """Return Lance's storage options for a path; None if the storage has no settings for it."""
    bucket = (storage or NO_STORAGE).bucket_of(path)
    if bucket is None:
        return None
    options = {NAMES[name]: text for name, text in bucket.texts.items()}
    if not bucket.is_encrypted:
        options["allow_http"] = "true"
    if bucket.path_style is not None:
        options["aws_virtual_hosted_style_request"] = str(not bucket.path_style).lower()
    return {**PATIENT, **options, **bucket.options}


def open_dataset(path: str, version: int | None = None, storage_options: Storage | None = None) -> Any:
    """Open pylance's dataset at a path: its newest version, or one of its versions.

    Raises ValueError if there is none, OSError and RuntimeError if Lance cannot open it.
    """
    import lance  # an extra that may not be there

    versions = os.path.join(local_path(path), "_versions")
    entries = os.scandir(versions) if os.path.isdir(versions) else ()
    for entry in entries:
        # Lance would wait for ever for a pipe to be written to.
        if not (entry.is_file() or entry.is_dir()) and os.path.exists(entry.path):
            raise OSError(errno.EINVAL, f"_versions/{entry.name} is not a file")
    with lance_errors():
        return lance.dataset(path, version=version, storage_options=options_for(path, storage_options))


def find_dataset(path: str, storage_options: Storage | None = None) -> Any | None:
    """Open the dataset; None if there is none. Any other error is raised."""
    if is_local(path) and os.path.isfile(local_path(path)):
        return None
    try:
        return open_dataset(path, storage_options=storage_options)
    except (ValueError, OSError, RuntimeError) as error:
        if "was not found" in str(error):
            return None
        message = f"cannot open the table `{path}`: {reason_of(error)}"
        raise PipelineError(UNREADABLE_TABLE, message) from error


def versions(dataset: Any) -> list[tuple[int, datetime]]:
    """List the versions that a dataset still has, the newest first: the number of each, and when it was committed, in UTC."""
    # A timestamp of Lance has the local clock without a zone.
    all_versions = [(int(v["version"]), v["timestamp"].astimezone(UTC)) for v in dataset.versions()]
    return sorted(all_versions, reverse=True)


def transaction_of(dataset: Any, version: int) -> Any | None:
    """Return the transaction that made a version; None if it was cleaned up."""
    try:
        return dataset.read_transaction(version)
    except (OSError, ValueError):
        return None


def properties_of(transaction: Any | None) -> dict[str, str]:
    """Return the properties of the commit that made a version; none where Lance has it no more."""
    return dict(getattr(transaction, "transaction_properties", None) or {})


def data_files(dataset: Any) -> set[str]:
    """Return the names of the data files of a dataset at its version."""
    return {file.path for fragment in dataset.get_fragments() for file in fragment.data_files()}


def reason_of(error: Exception) -> str:
    """Return Lance's message, without the location in its code."""
    return str(error).splitlines()[0].partition(", /")[0]


@contextmanager
def lance_errors() -> Iterator[None]:
    """Raise RuntimeError for a panic of Lance, which no `except Exception` catches."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise RuntimeError(f"Lance stopped: {error}") from error
        raise


def write_rows(path: str, dataset: CheckedDataset, rows: pa.RecordBatchReader) -> None:
    """Make a table; a folder that is half written is removed."""
    import lance  # an extra that may not be there

    try:
        lance.write_dataset(
            rows,
            path,
            rows.schema,
            mode="create",
            data_storage_version=storage_version(dataset.schema.extra),
        )
    except BaseException as error:
        shutil.rmtree(path, ignore_errors=True)
        is_of_system = isinstance(error, OSError) and error.errno is not None
        if not is_of_system and isinstance(error, OSError | ValueError | RuntimeError | pa.ArrowException):
            raise OSError(reason_of(error)) from error
        raise


def stored_rows(path: str) -> StoredRows:
    """Open the rows of the newest version of a table."""
    table = open_dataset(path)
    return StoredRows(
        table.schema,
        lambda columns: iter(table.scanner(columns=list(columns)).to_batches()),
        lambda rows: f"lance.dataset({path!r}).take({list(rows)})",
    )


ROW_WRITER = RowWriter(write_rows)
ROW_READER = RowReader(lambda path: is_table(Path(path)), stored_rows)


ROWS_PER_BATCH = 8192


class LanceSource(SourceFormat):
    """Lance tables that runs read, fragment by fragment."""

    options = ("version",)

    def newest_version(self, path: str, storage_options: Storage = NO_STORAGE) -> int | None:
        """Return the newest version of the table at a path."""
        table = find_dataset(path, storage_options)
        return None if table is None else int(table.version)

    def schema(
        self, path: str, version: int, storage_options: Storage = NO_STORAGE, *, is_exact: bool = False
    ) -> pa.Schema:
        """Return the columns of a version in the types that other readers have."""
        return _plain_schema(open_dataset(path, version, storage_options).schema, is_exact=is_exact)

    def parts(self, path: str, version: int, storage_options: Storage = NO_STORAGE) -> list[int]:
        """Return the ids of the fragments of a version."""
        table = open_dataset(path, version, storage_options)
        return [fragment.fragment_id for fragment in table.get_fragments()]

    def added(self, path: str, after: int, version: int, storage_options: Storage = NO_STORAGE) -> list[int]:
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
        projection: Projection = WHOLE_ROWS,
        storage_options: Storage = NO_STORAGE,
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows of one fragment; a filter is an SQL condition of Lance's scan."""
        table = open_dataset(path, version, storage_options)
        schema = _plain_schema(table.schema, is_exact=projection.is_exact)
        if projection.columns is not None:
            schema = pa.schema([schema.field(name) for name in projection.columns])
        names = schema.names
        last = [one for one in (projection.row_id, projection.address) if one is not None]
        if not names and not last:
            names = table.schema.names[:1]  # rows that are only counted have a column too
        scanner = table.get_fragment(part).scanner(
            columns=names,
            filter=projection.filter,
            batch_size=ROWS_PER_BATCH,
            with_row_id=projection.row_id is not None,
            with_row_address=projection.address is not None,
        )
        for one in last:
            schema = schema.append(pa.field(one, pa.int64()))
        for batch in scanner.to_batches():
            arrays = []
            for column, field in zip(batch.columns, schema, strict=False):
                try:
                    # What lies below null is null after the cast, also where it is required.
                    arrays.append(to_field(plain_layout(column).cast(nullable_type(field.type)), field))
                except pa.ArrowInvalid as error:
                    message = f"`{field.name}` of `{path}` has a value that Spark cannot hold as {field.type}: {error}"
                    help = "timestamps and durations of Spark count microseconds: bring the column to `unit: Microsecond` first, or read a table without it"
                    raise PipelineError(SOURCE_TYPE_MISMATCH, message, help) from error
            yield pa.RecordBatch.from_arrays(arrays, schema=schema) if arrays else batch.select([])

    def check_filter(
        self, path: str, version: int, filter: str, storage_options: Storage = NO_STORAGE
    ) -> None:
        """Check a filter by planning a scan with it."""
        table = open_dataset(path, version, storage_options)
        try:
            table.scanner(columns=table.schema.names[:1], filter=filter).explain_plan()
        except (ValueError, OSError) as error:
            message = f"Lance cannot filter `{path}` by `{filter}`: {str(error).splitlines()[0]}"
            help = "a filter is an SQL condition such as `fare > 10`"
            raise PipelineError(SINK_OPTION, message, help) from error


SOURCE = LanceSource()


def _files_of_fragments(path: str, version: int, storage_options: Storage) -> dict[int, tuple[str, ...]]:
    """Return the names of the data files and of the deletion file of each fragment of a version, by its id."""
    fragments = open_dataset(path, version, storage_options).get_fragments()
    return {
        fragment.fragment_id: (*(file.path for file in fragment.data_files()), str(fragment.deletion_file()))
        for fragment in fragments
    }


def _plain_schema(schema: pa.Schema, *, is_exact: bool) -> pa.Schema:
    """Return the columns in the types that other readers have, without blobs."""
    others = [field for field in schema if extension_name(field) != BLOB_EXTENSION]
    return pa.schema([plain_field(field, is_exact=is_exact) for field in others])
