"""Arrow and Parquet files as sources of schemas and rows.

Layer: engines.
Shape: a schema in Arrow's IPC form (file, stream or message) as a manifest, and the rows of a file or of a folder of files.
Source: Arrow's columnar format, "Encapsulated message format", "IPC streaming format" and "IPC file format".
"""

import os
from pathlib import Path
from typing import Any

from schemac.artifacts.dataset import RowReader, StoredRows
from schemac.importers.datasets import from_arrow_schema
from schemac.importers.importer import (
    ImportedSchema,
    Importer,
    ImportNotes,
    UnreadableSourceError,
    first_line,
)
from schemac.importers.sources import detect
from schemac.language.physical import ArrowSchema, pa
from schemac.text.source.diagnostics import Report

_FILE_MARK = b"ARROW1"


def read(path: Path, report: Report) -> ImportedSchema:
    """Return the schema of an IPC file, stream or message."""
    # Imported here for start-up time: this part of pyarrow is not loaded with it.
    from pyarrow import ipc

    try:
        with pa.memory_map(str(path)) as source:
            schema: ArrowSchema
            if source.read(6) == _FILE_MARK:
                schema = ipc.open_file(source).schema
            else:
                source.seek(0)
                schema = ipc.read_schema(source)
    except (pa.ArrowException, OSError, MemoryError, OverflowError) as error:
        raise UnreadableSourceError(f"it is not Arrow data: {first_line(error)}") from error
    notes = ImportNotes()
    return ImportedSchema(from_arrow_schema(schema, str(path), report, notes.add), notes=notes)


IMPORTER = Importer("arrow", "Arrow IPC file, stream or schema", read)


_FORMATS = {"parquet": "parquet", "arrow": "ipc"}
"""What pyarrow calls our formats."""


def stored_rows(path: str) -> StoredRows:
    """Open files, or a folder of files; the parts of a partitioned folder have the columns of its names."""
    from pyarrow import dataset  # for start-up time: it takes as long to load as all others

    format = _format(Path(path))
    files: Any = dataset.dataset(path, format=format, partitioning="hive")
    return StoredRows(
        files.schema,
        # By fields, for a text would be taken for a path.
        lambda columns: iter(files.to_batches(columns={name: dataset.field(name) for name in columns})),
        lambda rows: f"pyarrow.dataset.dataset({path!r}, {format=}, partitioning='hive').take({list(rows)})",
    )


def _format(path: Path) -> str | None:
    """Return pyarrow's name for the format of a file, or of a folder with Parquet files; None for anything else."""
    format_name = detect(path) if os.path.exists(path) else None
    if format_name is None and os.path.isdir(path) and next(path.rglob("*.parquet"), None) is not None:
        return "parquet"
    return _FORMATS.get(format_name or "")


ROW_READER = RowReader(lambda path: _format(Path(path)) is not None, stored_rows)
"""For files, by name or first bytes."""
