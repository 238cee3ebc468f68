"""Rows that somebody else made, as a new table, and those of a table that exists.

Layer: engines.
"""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from schemac.artifacts.dataset import CheckedDataset, RowReader, RowWriter, StoredRows
from schemac.engines.lance import is_table
from schemac.engines.lance.attributes import storage_version
from schemac.engines.lance.dataset import open_dataset, reason_of


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
        """Tell whether it is a table."""
        return is_table(Path(path))

    def open(self, path: str) -> StoredRows:
        """Open a table."""
        return _Table(path, open_dataset(path))


ROW_WRITER = LanceRows()
ROW_READER = LanceReader()
