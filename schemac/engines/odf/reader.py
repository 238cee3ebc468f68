"""ODF: any document of the standard, also with lines of DDL, or its SetDataSchema event as FlatBuffers.

Layer: engines.
Shape: documents are read as `schemac build` reads them, so their findings are the same; a `rawArrowSchema` too is taken. In old
      manifests, whose read steps have a list of lines of DDL, each such list becomes `schema:` with `fields:`; all else stays byte for
      byte, and comments between the lines are above the fields that they were above or behind.
Errors: SC552 unreadable-source, at the line that cannot be read; of documents, SC1xx and SC2xx.
Source: RFC-016; RFC-018 for resources; the standard's change of `read.schema` to a DataSchema, and of the former list to
      `read.ddlSchema`. As the reference implementation reads those lines, a column may be null unless it says NOT NULL, and a timestamp
      is one in UTC.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from schemac.arrow.from_arrow import MalformedArrowError, decode_raw_arrow, read_raw_arrow
from schemac.engines.odf.binary import MalformedBufferError, read_binary
from schemac.importers.importer import ImportedSchema, Importer, ImportNotes, UnreadableSourceError, together
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.logical.model import Schema
from schemac.language.manifest.bind import Binder, read_datasets
from schemac.language.manifest.foreign import suggest_meaning
from schemac.language.manifest.write import write_fields
from schemac.text.source.diagnostics import Located, Report, SourceText, Span
from schemac.text.source.json_object import Json, TreePath
from schemac.text.source.text import decode_text
from schemac.text.syntax.document import Document, parse
from schemac.text.syntax.events import flow
from schemac.text.syntax.type_text import ColumnText, MalformedTypeError, TypeReader, type_words

_KEYS = ("schema", "ddlSchema")
_COMMENT = re.compile(r"#[ \t]?([^\n]*)")


def replace_ddl(source: SourceText, report: Report) -> SourceText | None:
    """Return the text with schemas in place of its DDL; None if it has none, or where a line cannot be read."""
    edits: list[tuple[Span, str]] = []
    for document in parse(source, Report()):
        for at in _lists(document.value, ()):
            edit = _edit(document, at, report)
            if edit is not None:
                edits.append(edit)
    if not edits or report.has_errors:
        return None
    text = source.content
    for span, schema in sorted(edits, reverse=True):
        text = text[: span.start] + schema + text[span.end :]
    return SourceText(text, source.name)


def _lists(value: Any, at: TreePath) -> Iterator[TreePath]:
    """Yield the places of all lists of DDL in read steps."""
    items = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    for key, item in items:
        if key == "read" and isinstance(item, dict):
            present = [name for name in _KEYS if name in item]
            lines = item[present[0]] if len(present) == 1 else None
            if isinstance(lines, list) and lines and all(isinstance(line, str) for line in lines):
                yield (*at, key, present[0])
        yield from _lists(item, (*at, key))


def _edit(document: Document, at: TreePath, report: Report) -> tuple[Span, str] | None:
    """Return the schema to write in place of lines of DDL, and its place; None after a report, or if their positions are unknown."""
    lines: Any = document.value
    for step in at:
        lines = lines[step]
    key, whole = document.key_span(at), document.span(at)
    spans = [document.span((*at, i)) for i in range(len(lines))]
    if key is None or whole is None or None in spans:
        return None
    content, notes, fields = document.source.content, ImportNotes(), list[Json]()
    above = _comments(content, Span(key.end, whole.end), [s for s in spans if s is not None])
    for line, span, comments in zip(lines, spans, above, strict=True):
        columns = _columns(line, span, document.source, notes, report)
        for comment in comments if columns else ():
            notes.add((columns[0]["name"],), comment)
        fields += columns
    if report.has_errors:
        return None
    around = (document.span(at[:length]) for length in range(len(at)))
    # What is in flow style cannot contain blocks.
    if any(one is not None and content[one.start : one.start + 1] in ("{", "[") for one in around):
        if any(above):
            reason = "comments inside braces cannot be kept; write the list in block style first"
            raise UnreadableSourceError(reason, Located(document.source, whole))
        return Span(key.start, whole.end), f"schema: {flow({'fields': fields})}"
    indent = document.source.position(key.start).column - 1
    schema = Schema.model_validate({"fields": fields})
    text = write_fields(schema, notes.at)
    body = "".join(f"{' ' * (indent + 2)}{row}\n" if row else "\n" for row in text.splitlines())
    return Span(key.start, whole.end), f"schema:\n{body}".rstrip("\n")


def _comments(text: str, whole: Span, spans: list[Span]) -> list[list[str]]:
    """Return the comments above and behind each line; those behind the last one stay where they are."""
    ends = [whole.start, *(span.end for span in spans[:-1])]
    comments: list[list[str]] = [[] for _ in spans]
    for i, (end, span) in enumerate(zip(ends, spans, strict=True)):
        behind, _, gap = text[end : span.start].partition("\n")
        comments[max(i - 1, 0)] += _COMMENT.findall(behind)
        comments[i] += _COMMENT.findall(gap)
    return comments


def _columns(
    line: str, span: Span | None, source: SourceText, notes: ImportNotes, report: Report
) -> list[Json]:
    """Return the fields that a line of DDL declares; none after reporting that it is malformed."""
    reader = TypeReader(type_words(line), line)
    try:
        columns = reader.columns()
        return [_field(column, line, notes) for column in columns]
    except MalformedTypeError as error:
        reason = f"'{line}' is not a valid column: {error}"
        location = None if span is None else Located(source, span)
        UnreadableSourceError(reason, location).add_to(report, source.name)
    return []


def _field(column: ColumnText, line: str, notes: ImportNotes) -> Json:
    """Return a field's tree; note clauses that are lost. Raises MalformedTypeError for a type without a kind."""
    meaning = suggest_meaning(column.type)
    if meaning is None:
        raise MalformedTypeError("there is no kind for its type", Span(0, len(line)))
    for text in column.others:
        notes.add((column.name,), f"not kept: {text}")
    tree = meaning.tree.get("inner", meaning.tree) if column.type.is_nullable else meaning.tree
    if tree["kind"] == "Timestamp" and column.type.head.lower() == "timestamp":
        tree = {"kind": "Timestamp"}
    is_required = column.is_required or column.type.is_nullable is False
    extra = {**meaning.extra, **({DESCRIPTION.key: column.comment} if column.comment is not None else {})}
    type_ = tree if is_required else {"kind": "Option", "inner": tree}
    return {"name": column.name, "type": type_, **({"extra": extra} if extra else {})}


_UPGRADED = ("from Arrow's binary form; its encodings are left out, because the standard ignores them",)


def read(path: Path, report: Report) -> ImportedSchema | None:
    """Return the schema of a file."""
    return from_bytes(path.read_bytes(), path, report)


def read_value(value: str | bytes, file: str, report: Report) -> ImportedSchema | None:
    """Return the schema in a text, or in the binary form."""
    try:
        content = value.encode() if isinstance(value, str) else value
    except UnicodeEncodeError as error:
        raise UnreadableSourceError("half of a surrogate pair is not a character") from error
    return from_bytes(content, Path(file), report)


def from_bytes(content: bytes, path: Path, report: Report) -> ImportedSchema | None:
    """Return the schema in the content of a file, which is text or the binary form."""
    # The binary form cannot do without a zero in its first bytes.
    if b"\x00" not in content[:8]:
        source = decode_text(content, str(path), report)
        return None if source is None else from_text(source, path, report)
    try:
        decoded = read_binary(content)
    except MalformedBufferError as error:
        raise UnreadableSourceError(f"it is not a SetDataSchema event: {error}") from error
    return _upgraded(decoded, path, report) if isinstance(decoded, bytes) else ImportedSchema(decoded)


def from_text(source: SourceText, path: Path, report: Report) -> ImportedSchema | None:
    """Return the schema in a text with one dataset."""
    events = [item for document in parse(source, Report()) for item in _schema_events(document.value, None)]
    # Where the only event holds the binary form alone.
    name, event = events[0] if len(events) == 1 else (None, Json())
    raw = None if "schema" in event else event.get("rawArrowSchema")
    if isinstance(raw, str):
        return replace(_upgraded(raw, path, report), name=name)
    edited = replace_ddl(source, report)
    text = edited or source
    parsed = Report()
    datasets = [] if report.has_errors else read_datasets(Binder(text), parse(text, parsed), parsed, report)
    if report.has_errors:
        return None
    if not datasets:
        help = "give a file with a SetDataSchema event, or with `fields:`"
        raise UnreadableSourceError("it contains no schema", help=help)
    whole = together([ImportedSchema(d.schema.model_dump(by_alias=True), name=d.name) for d in datasets])
    return replace(whole, text=edited.content if edited is not None else None)


def _upgraded(content: bytes | str, path: Path, report: Report) -> ImportedSchema:
    """Return the schema in the Arrow bytes of an older event, which are base64 in a text. Raises UnreadableSourceError."""
    try:
        content = decode_raw_arrow(content) if isinstance(content, str) else content
        return ImportedSchema(read_raw_arrow(content, str(path), report), _UPGRADED)
    except MalformedArrowError as error:
        raise UnreadableSourceError(str(error)) from error


def _schema_events(value: Any, name: str | None) -> list[tuple[str | None, Json]]:
    """Return all SetDataSchema events below a value, each with the name of its dataset."""
    if isinstance(value, list):
        return [item for event in value for item in _schema_events(event, name)]
    if not isinstance(value, dict):
        return []
    if "rawArrowSchema" in value or "schema" in value:
        return [(name, value)]
    headers = value.get("headers")
    named = headers.get("name") if isinstance(headers, dict) else value.get("name", name)
    name = named if isinstance(named, str) else name
    inner = (value[key] for key in ("content", "spec", "metadata") if key in value)
    return [item for below in inner for item in _schema_events(below, name)]


IMPORTER = Importer("odf", "ODF manifest, or SetDataSchema as FlatBuffers", read, read_value)
