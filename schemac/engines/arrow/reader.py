"""Arrow and Parquet files: a schema in Arrow's IPC form (file, stream or message) as a manifest, and the rows of a file.

Layer: engines.
Source: Arrow's columnar format, "IPC streaming format" and "IPC file format".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemac.artifacts.dataset import RowReader, StoredRows
from schemac.importers.datasets import from_arrow_schema
from schemac.importers.importer import Imported, Importer, Notes, first_line, refuse
from schemac.importers.sources import detect
from schemac.language.physical.arrow import ArrowSchema, pa
from schemac.text.source.report import Report

_FILE_MARK = b"ARROW1"


def read(path: Path, report: Report) -> Imported | None:
    """Return the schema of an IPC file, stream or message."""
    # Imported here for start-up time: this part of pyarrow is not loaded with it.
    from pyarrow import ipc

    try:
        with pa.memory_map(str(path)) as source:
            schema: ArrowSchema = (
                ipc.open_file(source).schema
                if source.read(6) == _FILE_MARK
                else ipc.read_schema(_rewound(source))
            )
    except (pa.ArrowException, OSError, MemoryError, OverflowError) as error:
        refuse(path, f"it is not Arrow data: {first_line(error)}", report)
        return None
    notes = Notes()
    return Imported(from_arrow_schema(schema, str(path), report, notes.add), notes=notes)


def _rewound(source: "pa.MemoryMappedFile") -> "pa.MemoryMappedFile":
    source.seek(0)
    return source


IMPORTER = Importer("arrow", "Arrow IPC file, stream or schema", read)


_FORMATS = {"parquet": "parquet", "arrow": "ipc"}
"""What pyarrow calls our formats."""


class ArrowRows(RowReader):
    """Files, and folders of files, that pyarrow reads."""

    def is_of(self, path: str) -> bool:
        """Return whether a file is Arrow's, by name or first bytes."""
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
