"""A Lance dataset on disk or in an object store: how one is opened, its versions and what their commits say, and its rows.

Layer: engines.
Shape: a path or an address, with the options of its object store. `tables` (schemas of live tables) and `runs` (rows that runs write) both
      start from here; `ROW_WRITER` and `ROW_READER` are for rows outside of a pipeline.
Source: Lance's options of object stores, out of the section `storage` of a pipeline: the options of the crate object_store, which Lance
      passes on.
"""

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from schemac.artifacts.dataset import CheckedDataset, RowReader, RowWriter, StoredRows
from schemac.engines.lance import is_table
from schemac.engines.lance.attributes import storage_version
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.storage import NO_STORAGE, Storage, is_local, local_path
from schemac.text.source.catalogue import UNREADABLE_TABLE

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
    """Give the options for a path; None where Lance's own have to do."""
    bucket = (storage or NO_STORAGE).bucket_of(path)
    if bucket is None:
        return None
    options = {NAMES[name]: text for name, text in bucket.texts.items()}
    if not bucket.is_encrypted:
        options["allow_http"] = "true"
    if bucket.path_style is not None:
        options["aws_virtual_hosted_style_request"] = str(not bucket.path_style).lower()
    return {**PATIENT, **options, **bucket.options}


class Version(NamedTuple):
    """One version of a dataset."""

    number: int
    committed: datetime
    """In UTC."""


def open_dataset(path: str, version: int | None = None, storage_options: Storage | None = None) -> Any:
    """Open pylance's dataset at a path: its newest version, or one of its versions.

    Raises ValueError if there is none, OSError and RuntimeError if Lance cannot open it.
    """
    import lance  # an extra that may not be there

    _refuse_pipes(local_path(path))
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
        raise PipelineError(
            UNREADABLE_TABLE, f"cannot open the table `{path}`: {reason_of(error)}"
        ) from error


def _refuse_pipes(path: str) -> None:
    """Raise OSError if a version of a table is not a file: Lance would wait for ever for a pipe to be written to."""
    versions = os.path.join(path, "_versions")
    entries = os.scandir(versions) if os.path.isdir(versions) else ()
    for entry in entries:
        if not (entry.is_file() or entry.is_dir()) and os.path.exists(entry.path):
            raise OSError(errno.EINVAL, f"_versions/{entry.name} is not a file")


def versions(dataset: Any) -> list[Version]:
    """List the versions that a dataset still has, the newest first."""
    # A timestamp of Lance has the local clock without a zone.
    all_versions = [Version(int(v["version"]), v["timestamp"].astimezone(UTC)) for v in dataset.versions()]
    return sorted(all_versions, reverse=True)


def transaction_of(dataset: Any, version: int) -> Any | None:
    """Return the transaction that made a version; None where Lance has it no more."""
    try:
        return dataset.read_transaction(version)
    except (OSError, ValueError):
        return None


def properties_of(transaction: Any | None) -> dict[str, str]:
    """Properties of a transaction; none of one that is not known."""
    return dict(getattr(transaction, "transaction_properties", None) or {})


def data_files(dataset: Any) -> set[str]:
    """Names of the data files of a version."""
    return {file.path for fragment in dataset.get_fragments() for file in fragment.data_files()}


def reason_of(error: Exception) -> str:
    """Return Lance's message, without the location in its code."""
    return str(error).splitlines()[0].partition(", /")[0]


@contextmanager
def lance_errors() -> Iterator[None]:
    """Lance's panics, which no `except Exception` sees, as ordinary errors."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise RuntimeError(f"Lance stopped: {error}") from error
        raise


class LanceRows(RowWriter):
    """Writes a Lance table."""

    def write(self, path: str, dataset: CheckedDataset, rows: pa.RecordBatchReader) -> None:
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
            if not is_of_system and isinstance(
                error, OSError | ValueError | RuntimeError | pa.ArrowException
            ):
                raise OSError(reason_of(error)) from error
            raise


@dataclass(frozen=True)
class _Table(StoredRows):
    path: str
    dataset: Any

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return self.dataset.schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Scan the newest version."""
        return iter(self.dataset.scanner(columns=list(columns)).to_batches())

    def expression(self, rows: Sequence[int]) -> str:
        """Ask Lance for rows."""
        return f"lance.dataset({self.path!r}).take({list(rows)})"


class LanceReader(RowReader):
    """Opens Lance tables."""

    def is_of(self, path: str) -> bool:
        """Return whether it is a table."""
        return is_table(Path(path))

    def open(self, path: str) -> StoredRows:
        """Open a table."""
        return _Table(path, open_dataset(path))


ROW_WRITER = LanceRows()
ROW_READER = LanceReader()
