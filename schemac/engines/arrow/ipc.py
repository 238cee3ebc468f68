"""Arrow's IPC schema message, written and read; and Arrow and Parquet files as sources of schemas and rows.

Layer: engines.
Shape: `arrow/schema.arrow`, one encapsulated IPC message without a body, as `pyarrow.ipc.read_schema` reads it.
Errors: none: whatever passes the checks has an Arrow type; losses SC531.
Source: Arrow's columnar format, "Encapsulated message format".
      Arrow and Parquet files: a schema in Arrow's IPC form (file, stream or message) as a manifest, and the rows of a file: Arrow's
      columnar format, "IPC streaming format" and "IPC file format".
"""

import os
from pathlib import Path
from typing import Any

from schemac.artifacts.dataset import RowReader, StoredRows
from schemac.artifacts.targets import Artifact, ArtifactTarget, Emission
from schemac.engines.arrow import ARROW_LOSS
from schemac.importers.datasets import from_arrow_schema
from schemac.importers.importer import (
    ImportedSchema,
    Importer,
    ImportNotes,
    UnreadableSourceError,
    first_line,
)
from schemac.importers.sources import detect
from schemac.language.logical.model import SchemaField
from schemac.language.physical import ArrowSchema, pa
from schemac.text.source.diagnostics import Report
from schemac.versions.identity.compilation import Compilation


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the schema's IPC message."""
    schema = compilation.lowered.to_arrow()
    for field in compilation.lowered.preorder():
        type_: Any = field.arrow.type
        if pa.types.is_map(type_) and (type_.key_field.name, type_.item_field.name) != ("key", "value"):
            # The message has the names, but `pyarrow.ipc.read_schema` makes maps without them.
            names = f"the names {type_.key_field.name} and {type_.item_field.name}"
            emission.lose(field.field, names, "key and value")
        # Tensors make their own storage type, and its items may be null.
        if not isinstance(type_, pa.BaseExtensionType):
            continue
        if field.field.extra and type_.extension_name == "arrow.fixed_shape_tensor":
            emission.lose(field.field, "items that may not be null", "items that may be null")
    return [Artifact("arrow/schema.arrow", schema.serialize().to_pybytes())]


def types(compilation: Compilation, emission: Emission) -> dict[SchemaField, str]:
    """Return the Arrow type of each field as pyarrow writes it."""
    return {
        field.field: f"{field.arrow.type}{'' if field.arrow.nullable else ' not null'}"
        for field in compilation.lowered.preorder()
    }


TARGET = ArtifactTarget("arrow", ARROW_LOSS, emit, types=types)


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
