"""ODF: any document of the standard, or its SetDataSchema event as FlatBuffers.

Layer: engines.
Shape: documents are read as `schemac build` reads them, so their findings are the same; a `rawArrowSchema` too is taken, and
lines of DDL are put into fields where they stand.
Errors: SC552 unreadable-source; of documents, SC1xx and SC2xx.
Source: RFC-016; RFC-018 for resources.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from schemac.arrow.raw_arrow import MalformedArrowError, decode_raw_arrow, read_raw_arrow
from schemac.engines.odf.ddl_lines import replace_ddl
from schemac.engines.odf.malformed import MalformedError
from schemac.importers.importer import Imported, Importer, refuse
from schemac.manifest.bind import read_datasets
from schemac.source.json_object import Json
from schemac.source.report import Report
from schemac.source.text import SourceText, decode_text
from schemac.syntax.document import parse

_UPGRADED = ("from Arrow's binary form; its encodings are left out, because the standard ignores them",)


def read(path: Path, report: Report) -> Imported | None:
    """Return the schema of a file."""
    return from_bytes(path.read_bytes(), path, report)


def from_bytes(content: bytes, path: Path, report: Report) -> Imported | None:
    """Return the schema in the content of a file, which is text or the binary form."""
    if not is_text(content):
        return _from_binary(content, path, report)
    source = decode_text(content, str(path), report)
    return None if source is None else from_text(source, path, report)


def is_text(content: bytes) -> bool:
    """Whether this is a document; the binary form cannot do without a zero in its first bytes."""
    return b"\x00" not in content[:8]


def from_text(source: SourceText, path: Path, report: Report) -> Imported | None:
    """Return the schema in a text with one dataset."""
    raw = _raw_arrow(source)
    if raw is not None:
        name, encoded = raw
        try:
            content = decode_raw_arrow(encoded)
        except MalformedArrowError as error:
            refuse(path, str(error), report)
            return None
        imported = _upgraded(content, path, report)
        return imported and Imported(imported.schema, imported.comments, name)
    edited = replace_ddl(source, report)
    text = edited or source
    parsed = Report()
    datasets = [] if report.has_errors else read_datasets(parse(text, parsed), text, parsed, report)
    if report.has_errors:
        return None
    if not datasets:
        help = "give a file with a SetDataSchema event, or with `fields:`"
        refuse(path, "it contains no schema", report, help=help)
        return None
    first, *others = [Imported(d.schema.model_dump(by_alias=True), name=d.name) for d in datasets]
    return replace(first, others=tuple(others), text=edited.content if edited is not None else None)


def _from_binary(content: bytes, path: Path, report: Report) -> Imported | None:
    # Imported here for start-up time: a text needs no `flatbuffers`.
    from schemac.engines.odf.reader_binary import read_binary

    try:
        decoded = read_binary(content)
    except MalformedError as error:
        refuse(path, f"it is not a SetDataSchema event: {error}", report)
        return None
    if isinstance(decoded, bytes):
        return _upgraded(decoded, path, report)
    return Imported(decoded)


def _upgraded(content: bytes, path: Path, report: Report) -> Imported | None:
    try:
        return Imported(read_raw_arrow(content, str(path), report), _UPGRADED)
    except MalformedArrowError as error:
        refuse(path, str(error), report)
        return None


def _raw_arrow(source: SourceText) -> tuple[str | None, str] | None:
    """Return the dataset's name and the schema of a text whose only SetDataSchema event holds the binary form alone."""
    events = [item for document in parse(source, Report()) for item in _schema_events(document.value, None)]
    if len(events) != 1 or "schema" in events[0][1]:
        return None
    name, event = events[0]
    raw = event.get("rawArrowSchema")
    return (name, raw) if isinstance(raw, str) else None


def _schema_events(value: Any, name: str | None) -> list[tuple[str | None, Json]]:
    """All SetDataSchema events below a value, each with the name of its dataset."""
    if isinstance(value, list):
        return [item for event in value for item in _schema_events(event, name)]
    if not isinstance(value, dict):
        return []
    if "rawArrowSchema" in value or "schema" in value:
        return [(name, value)]
    headers = value.get("headers")
    named = headers.get("name") if isinstance(headers, dict) else value.get("name", name)
    inner = (value[key] for key in ("content", "spec", "metadata") if key in value)
    return [
        item for below in inner for item in _schema_events(below, named if isinstance(named, str) else name)
    ]


IMPORTER = Importer("odf", "ODF manifest, or SetDataSchema as FlatBuffers", read)
