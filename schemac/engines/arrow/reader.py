"""Arrow IPC: a file, a stream, or a schema message alone.

Layer: engines.
Source: Arrow's columnar format, "IPC streaming format" and "IPC file format".
"""

from pathlib import Path

from schemac.importers.datasets import from_arrow_schema
from schemac.importers.importer import Imported, Importer, Notes, first_line, refuse
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
