"""Selects the importer of a source by the file's name and its first bytes, and runs it.

Layer: importers.
Shape: a sample is the first bytes of a file as text, cut where the file continues; what a sample cannot decide is a note at its field.
      A JSON document that holds a schema or a table's metadata is not data: nothing is inferred from it, and a message names what it is
      and how to import it.
Units: the sample is the first 16 MiB.
Errors: SC552 unreadable-source; SC553 foreign-schema; columns that are left out lose their SC551.
Source: JSON Schema 2020-12, "$schema"; Arrow's "Integration Testing", JSON format; OpenAPI 3.1; BigQuery's schema files; Frictionless'
      Table Schema; Kafka Connect's JsonConverter.
"""

import codecs
import json
import os
import re
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from schemac.arrow.from_arrow import from_arrow
from schemac.importers.datasets import with_whole_key, without_missing
from schemac.importers.importer import (
    ImportedSchema,
    Importer,
    ImportNotes,
    UnreadableSourceError,
    read_or_report,
    together,
)
from schemac.language.attributes.attribute import Role
from schemac.language.attributes.registry import of_role
from schemac.language.logical.model import PART_KEYS, FieldPath, quoted
from schemac.language.physical import ArrowField, pa
from schemac.registry.engine import Format, blamed, engines, load_as
from schemac.text.source.catalogue import FOREIGN_SCHEMA, UNREADABLE_SOURCE, UNSUPPORTED_ARROW_TYPE
from schemac.text.source.diagnostics import Diagnostic, Report
from schemac.text.source.files import install_help
from schemac.text.source.json_object import Json, values_in
from schemac.text.source.phrases import closest

_HEAD = 1 << 16
"""Bytes at each end of a file that are looked at."""


def is_json_with(path: Path, mark: bytes) -> bool:
    """Return whether a file is a JSON object with a mark near one of its ends; white space does not count."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - _HEAD))
        tail = stream.read(_HEAD)
    content = b"".join((head + tail).split())
    return content.startswith(b"{") and mark in content


def has_top_keys(path: Path, *patterns: bytes) -> bool:
    """Return whether a YAML or JSON file has, near its start, a top-level entry for each pattern of a key and its value."""
    if path.suffix.lower() not in (".yaml", ".yml", ".json") or not path.is_file():
        return False
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
    # In JSON a key may stand anywhere in a line.
    begin = rb"[{,\s]\"" if head.lstrip().startswith(b"{") else rb"(?m)^[\"']?"
    return all(re.search(begin + pattern, head) for pattern in patterns)


SAMPLE = 16 * 1024 * 1024
ALWAYS_NULL = "always null in the sample, so its type is unknown"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def read_sample(path: Path) -> tuple[str, bool]:
    """Return the text of a sample and whether the file continues. Raises UnreadableSourceError for what is not text."""
    with path.open("rb") as stream:
        content = stream.read(SAMPLE + 1)
    goes_on = len(content) > SAMPLE
    mark, encoding = next(((m, e) for m, e in _MARKS if content.startswith(m)), (b"", "utf-8"))
    content = content[len(mark) :]
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(content, final=not goes_on)
    except UnicodeDecodeError as error:
        unreadable = f"byte 0x{content[error.start]:02x} in line {content.count(10, 0, error.start) + 1}"
        help = f"if it is Latin-1: iconv -f latin1 -t utf-8 '{path}' > utf8{path.suffix}"
        raise UnreadableSourceError(f"it is not UTF-8: {unreadable} cannot be read", help=help) from error
    if "\0" in text:
        raise UnreadableSourceError("it is a binary file")
    if not text.strip():
        raise UnreadableSourceError("it is empty")
    return text, goes_on


def described(
    fields: Iterable[ArrowField], rows: str, path: Path, notes: ImportNotes, report: Report, *more: str
) -> ImportedSchema:
    """Return the schema of a sample, with a comment on what it was inferred from."""
    comment = f"inferred from {rows} of {path.name}; check every type, and which fields may be null"
    tree = from_arrow(pa.schema(list(fields)), str(path), report)
    return ImportedSchema(tree, (comment, *more), notes=notes)


_BY_DATA = "write a few rows as Parquet or Arrow, and import that file"


class ForeignDocument(NamedTuple):
    """A sort of document: what it is called, how it is known, and what to import in its place. Engines bring theirs."""

    title: str
    is_one: Callable[[Any], bool]
    help: str


def refuse_foreign(path: Path, report: Report) -> bool:
    """Report a file that holds a schema of another system; return whether it does."""
    try:
        document = json.JSONDecoder().raw_decode(read_sample(path)[0].lstrip())[0]
    except (ValueError, RecursionError, UnreadableSourceError):
        document = None
    brought = (
        sort
        for engine in engines()
        if engine.documents
        for sort in load_as(engine.documents, tuple, f"`documents` of the engine {engine.name}")
    )
    foreign_document = next((sort for sort in (*brought, *_SORTS) if sort.is_one(document)), None)
    if foreign_document is None:
        return False
    message = f"{path} is {foreign_document.title}, not data"
    help = f"{foreign_document.help}; to infer a schema from it anyway, add `--from ndjson`"
    report.add(FOREIGN_SCHEMA, message, file=str(path), help=help)
    return True


def has_keys(*keys: str) -> Callable[[Any], bool]:
    """Return a function that tests whether a value is an object with these keys."""
    return lambda value: isinstance(value, dict) and set(keys) <= value.keys()


def _holds(value: Any, key: str, sort: type, *inner: str) -> bool:
    """Whether an object has an entry of this type, and in it, or in its first item, these keys."""
    item = value.get(key) if isinstance(value, dict) else None
    if not isinstance(item, sort):
        return False
    first = item[0] if isinstance(item, list) and item else item
    return not inner or (isinstance(first, dict) and set(inner) <= first.keys())


def _is_big_query(value: Any) -> bool:
    """Whether a document is a table schema of BigQuery, or the description of a table."""
    if isinstance(value, list) and value:
        modes = ("NULLABLE", "REQUIRED", "REPEATED")
        return all(has_keys("name", "type", "mode")(item) and item["mode"] in modes for item in value)
    return _holds(value, "schema", dict, "fields") and "tableReference" in value


_SORTS = (
    ForeignDocument(
        "an OpenAPI document",
        lambda v: has_keys("openapi", "paths")(v) or has_keys("swagger", "paths")(v),
        _BY_DATA,
    ),
    ForeignDocument("an AsyncAPI document", has_keys("asyncapi", "channels"), _BY_DATA),
    ForeignDocument(
        "a JSON Schema",
        lambda v: (
            isinstance(v, dict)
            and (
                "json-schema.org" in str(v.get("$schema", ""))
                or (v.get("type") == "object" and _holds(v, "properties", dict))
            )
        ),
        "import it with `--from jsonschema`",
    ),
    ForeignDocument(
        "Arrow's JSON for integration tests",
        lambda v: (
            _holds(v, "schema", dict, "fields")
            and ("batches" in v or _holds(v["schema"], "fields", list, "children"))
        ),
        "write it as an Arrow IPC file, and import that file",
    ),
    ForeignDocument(
        "a table schema of BigQuery", _is_big_query, "export a few rows as Parquet, and import that"
    ),
    ForeignDocument(
        "a record of Kafka Connect with its schema",
        lambda v: has_keys("schema", "payload")(v) and _holds(v, "schema", dict, "type", "fields"),
        "import only the payloads",
    ),
    ForeignDocument(
        "a Table Schema of Frictionless or pandas",
        lambda v: (
            (_holds(v, "schema", dict, "fields") and {"data", "resources"} & v.keys() != set())
            or _holds(v, "resources", list, "schema")
        ),
        _BY_DATA,
    ),
    ForeignDocument(
        "a manifest or a Table Schema",
        lambda v: _holds(v, "fields", list, "name", "type") and not {"schema", "type"} & v.keys(),
        "if it is a manifest, add `--from odf`",
    ),
)


_OWN = (
    Format("parquet", "schemac.importers.data_files:PARQUET", (".parquet", ".pq"), magic=b"PAR1"),
    Format("csv", "schemac.importers.data_files:CSV", (".csv", ".tsv")),
    Format("ndjson", "schemac.importers.data_files:NDJSON", (".ndjson", ".jsonl", ".json"), is_json=True),
)
"""Files of data that belong to no engine."""


def formats() -> dict[str, Format]:
    """Return every format that can be read by its name: those of the engines, then those of plain data."""
    return {format.name: format for format in (*(f for engine in engines() for f in engine.formats), *_OWN)}


def detect(path: Path) -> str | None:
    """Return the format of a source, by its class, its name or its first bytes."""
    known = formats().values()
    for format in known:
        # A path may be longer than any system takes.
        with suppress(OSError):
            if format.recognizes and format.is_source(path):
                return format.name
    suffix = path.suffix.lower()
    named = next((format.name for format in known if suffix in format.suffixes), None)
    if named is not None or not os.path.isfile(path):
        return named
    with path.open("rb") as stream:
        start = stream.read(8)
    return next((format.name for format in known if format.magic and start.startswith(format.magic)), None)


def import_source(
    path: Path, format: str | None, report: Report, skipped: Collection[str] = ()
) -> ImportedSchema | None:
    """Return the schema of a source without some of its columns; what is wrong with it is in the report."""
    report_of_source = Report()
    imported = _read(path, format, report_of_source)
    if imported is not None and skipped:
        imported = _without(imported, skipped, path, report_of_source)
    help = _other_format(path, format) if imported is None and format is not None else ""
    report.extend(
        replace(d, help=help) if help and d.code == UNREADABLE_SOURCE.id else d
        for d in report_of_source.diagnostics
        if not _is_unsupported_in(d, skipped)
    )
    return imported


def _other_format(path: Path, format: str) -> str:
    """Return what to write if a source can be read in another format than the named one; else an empty text."""
    try:
        detected = detect(path) if path.exists() else None
    except OSError:
        return ""
    # A name alone promises nothing: an empty `.sql` is no DDL either.
    if detected in (None, format) or _read(path, detected, Report()) is None:
        return ""
    return f"it is recognized as {detected}: leave `--from` out, or write `--from {detected}`"


def import_value(format: str, value: Any, file: str, report: Report) -> ImportedSchema | None:
    """Return the schema of a value in a format that another one has inside it; the format has to read values."""
    importer = load_as(formats()[format].importer, Importer, f"`importer` of the format {format}")
    assert importer.read_value is not None
    return read_or_report(partial(importer.read_value, value, file, report), file, report)


def standard_form(imported: ImportedSchema) -> ImportedSchema:
    """Return an imported schema without what the standard does not have; what is left out or changed becomes a note."""
    notes = imported.notes

    def type_(tree: Any, path: FieldPath, *, is_nested: bool) -> Any:
        standard = dict(tree)
        for key in sorted(standard.pop("extra", {})) if is_nested else ():
            notes.add(path, f"not in the standard: {key} of {path[-1]}")
        if standard["kind"] == "Timestamp" and standard.get("timezone", "") is None:
            reason = "which the standard does not have, so it is written as UTC"
            notes.add(path, f"a timestamp without a zone, {reason}")
            standard["timezone"] = "UTC"
        if "inner" in standard:
            standard["inner"] = type_(standard["inner"], path, is_nested=is_nested)
        for part, key in PART_KEYS.items():
            if key in standard:
                standard[key] = type_(standard[key], (*path, part), is_nested=True)
        if "fields" in standard:
            standard["fields"] = [member(f, path) for f in standard["fields"]]
        return standard

    def member(tree: Any, holder: FieldPath) -> Any:
        return {**tree, "type": type_(tree["type"], (*holder, tree["name"]), is_nested=False)}

    fields = [member(f, ()) for f in imported.schema["fields"]]
    return replace(imported, schema={**imported.schema, "fields": fields})


def _read(path: Path, format: str | None, report: Report) -> ImportedSchema | None:
    """Return a source as its importer reads it; None after reporting why it cannot be read."""
    try:
        return _imported(path, format, report)
    except UnreadableSourceError as error:
        unreadable = error
    except OSError as error:
        unreadable = UnreadableSourceError((error.strerror or str(error)).lower())
    except UnicodeDecodeError:
        # pyarrow decodes the names of a schema when they are asked for.
        unreadable = UnreadableSourceError("a text in its schema is not UTF-8")
    except UnicodeError:
        # Escapes in JSON can spell half a character, which no file can hold.
        unreadable = UnreadableSourceError("a name or text in it is not valid Unicode")
    except ModuleNotFoundError as error:
        reason = f"it needs {error.name}, which is not installed"
        unreadable = UnreadableSourceError(reason, help=install_help(error))
    unreadable.add_to(report, path)
    return None


def _imported(path: Path, format: str | None, report: Report) -> ImportedSchema | None:
    """Return a source as its importer reads it. Raises UnreadableSourceError, and what importers may raise."""
    name = str(path)
    if not path.exists():
        report.add(UNREADABLE_SOURCE, f"there is no file or folder {name}", file=name, help="check the path")
        return None
    if not path.is_file() and not path.is_dir():
        # Pipes and devices may never end.
        raise UnreadableSourceError("it is neither a file nor a folder", help="copy it into a file first")
    if path.is_file():
        with path.open("rb") as stream:
            if not stream.read(1):
                raise UnreadableSourceError("it is empty")
    is_by_suffix = format is None
    format = format or detect(path)
    if format is None:
        message = f"the format of {name} cannot be recognized from its name"
        help = f"specify it with --from {', --from '.join(formats())}"
        report.add(UNREADABLE_SOURCE, message, file=name, help=help)
        return None
    if is_by_suffix and formats()[format].is_json and refuse_foreign(path, report):
        return None
    importer = load_as(formats()[format].importer, Importer, f"`importer` of the format {format}")
    owner = next((e.name for e in engines() if any(f.name == format for f in e.formats)), None)
    # What the caller reports is no fault of the reader.
    with blamed(owner, UnreadableSourceError, OSError, UnicodeError, ModuleNotFoundError):
        imported = importer.read(path, report)
        for one in (imported, *imported.others) if imported is not None else ():
            # Escapes can spell half a character, which no manifest can hold.
            texts = [one.schema, one.name, one.comments, list(one.notes.all())]
            json.dumps(texts, ensure_ascii=False, default=str).encode()
    return imported


def _without(
    imported: ImportedSchema, skipped: Collection[str], path: Path, report: Report
) -> ImportedSchema:
    """Return all datasets without columns; those that had no kind are not in them anyway."""
    every = (imported, *imported.others)
    names = list(dict.fromkeys(f["name"] for one in every for f in one.schema["fields"]))
    for name in skipped:
        if name not in names and not any(_is_unsupported_in(d, (name,)) for d in report.diagnostics):
            near = closest(name, names)
            help = f"did you mean `--skip {near}`?" if near else f"its columns are {', '.join(names)}"
            message = f"{path} has no column '{name}' to leave out"
            report.add(UNREADABLE_SOURCE, message, file=str(path), help=help)
    comment = f"left out: {', '.join(skipped)}"
    remaining: list[ImportedSchema] = []
    for one in every:
        schema, losses = _without_columns(one.schema, skipped)
        versions = [replace(v, schema=_without_columns(v.schema, skipped)[0]) for v in one.versions]
        comments = (*one.comments, comment, *losses)
        remaining.append(replace(one, schema=schema, versions=tuple(versions), comments=comments))
    return together(remaining)


def _without_columns(schema: Json, skipped: Collection[str]) -> tuple[Json, list[str]]:
    """Return a schema without some columns, and the keys and constraints of rows that go with them, as notes."""
    places = {
        field["name"]: place for field in schema["fields"] if (place := _place_in_key(field)) is not None
    }
    key = [(name,) for name in sorted(places, key=places.__getitem__)]
    rest = {**schema, "fields": [field for field in schema["fields"] if field["name"] not in skipped]}
    of_key: list[str] = []
    kept, losses = without_missing(with_whole_key(rest, key, lambda _, text: of_key.append(text)))
    return kept, [*of_key, *losses]


def _place_in_key(column: Json) -> int | None:
    """Return the place of a column, or of a member of it, in the primary key; 0 where none is given, None outside of the key."""
    marks = {attribute.key for attribute in of_role(Role.KEY_PART)}
    parts = [value for at, value in values_in(column) if at and at[-1] in marks]
    return (parts[0].get("position") or 0) if parts else None


def _is_unsupported_in(diagnostic: Diagnostic, columns: Collection[str]) -> bool:
    """Whether a finding is that one of these columns, or something in it, has no kind."""
    if diagnostic.code != UNSUPPORTED_ARROW_TYPE.id:
        return False
    return any(f"{diagnostic.path}.".startswith(f"{quoted(column)}.") for column in columns)
