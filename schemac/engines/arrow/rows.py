"""Rows of Parquet and Arrow files.

Layer: engines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from schemac.artifacts.dataset import RowReader, StoredRows
from schemac.importers.sources import detect

_FORMATS = {"parquet": "parquet", "arrow": "ipc"}
"""What pyarrow calls our formats."""


class ArrowRows(RowReader):
    """Files, and folders of files, that pyarrow reads."""

    def is_of(self, path: str) -> bool:
        """Tell by what the path is, by its name, or by the first bytes."""
        return _format(Path(path)) is not None

    def open(self, path: str) -> StoredRows:
        """Open them; the parts of a partitioned folder have the columns of its names."""
        from pyarrow import dataset  # for start-up time, as above

        format = _format(Path(path))
        assert format is not None
        return _Files(path, format, dataset.dataset(path, format=format, partitioning="hive"))


def _format(path: Path) -> str | None:
    format_name = detect(path) if path.exists() else None
    if format_name is None and path.is_dir() and next(path.rglob("*.parquet"), None) is not None:
        return "parquet"
    return _FORMATS.get(format_name or "")


@dataclass(frozen=True)
class _Files(StoredRows):
    path: str
    format: str
    dataset: Any

    @property
    def schema(self) -> pa.Schema:
        """The columns, those of the names of folders with them."""
        return self.dataset.schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read file by file."""
        from pyarrow import dataset  # for start-up time: it takes as long to load as all others

        # By fields, for a text would be taken for a path.
        return iter(self.dataset.to_batches(columns={name: dataset.field(name) for name in columns}))

    def expression(self, rows: Sequence[int]) -> str:
        """Ask pyarrow for rows."""
        return f"pyarrow.dataset.dataset({self.path!r}, format={self.format!r}, partitioning='hive').take({list(rows)})"


ROW_READER = ArrowRows()
