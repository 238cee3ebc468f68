"""NDJSON: what a sample of the records looks like.

Floor: 7 (importers).
Units: the sample is the first 16 MiB.
Source: pyarrow.json's inference. A field that a record of the sample lacks is optional.
"""

from pathlib import Path

from schemac.importers.importer import Imported, Importer, refuse
from schemac.importers.samples import described
from schemac.physical.arrow import pa
from schemac.source.report import Report

_SAMPLE = 16 * 1024 * 1024


def read(path: Path, report: Report) -> Imported | None:
    """The inferred schema."""
    # Imported here for start-up time: this part of pyarrow is not loaded with it.
    from pyarrow import json

    with path.open("rb") as stream:
        content = stream.read(_SAMPLE)
    if len(content) == _SAMPLE:
        content = content[: content.rfind(b"\n") + 1]
    if content.lstrip().startswith(b"["):
        refuse(path, "it is one JSON array; records have to stand one on each line", report)
        return None
    try:
        sample = json.read_json(pa.BufferReader(content), json.ReadOptions(block_size=_SAMPLE))
    except pa.ArrowException as error:
        refuse(path, f"it is no NDJSON: {str(error).splitlines()[0].lower()}", report)
        return None
    return described(sample, path, report)


IMPORTER = Importer("ndjson", "JSON records, one a line, inferred from a sample", read)
