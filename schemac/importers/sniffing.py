"""Detects the format of a file, takes a sample of its rows, and recognizes documents of other systems.

Layer: importers.
Shape: a sample is the first bytes of a file as text, cut where the file continues; what a sample cannot decide is a
note at its field. A JSON document that holds a schema or a table's metadata is not data: nothing is inferred from it,
and a message names what it is and how to import it.
Units: the sample is the first 16 MiB.
Errors: SC552 unreadable-source; SC553 foreign-schema.
Source: JSON Schema 2020-12, "$schema"; Arrow's "Integration Testing", JSON format; OpenAPI 3.1; BigQuery's schema
files; Frictionless' Table Schema; Kafka Connect's JsonConverter.
"""

import codecs
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from schemac.arrow.from_arrow import lift
from schemac.importers.importer import Imported, Notes, refuse
from schemac.language.physical.arrow import ArrowField, pa
from schemac.registry.engine import load_as
from schemac.registry.installed import engines
from schemac.text.source.catalogue import FOREIGN_SCHEMA
from schemac.text.source.report import Report

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


def read_sample(path: Path, report: Report) -> tuple[str, bool] | None:
    """Return the text of a sample and whether the file continues; None after reporting that it is not text."""
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
        refuse(path, f"it is not UTF-8: {unreadable} cannot be read", report, help=help)
        return None
    if "\0" in text:
        refuse(path, "it is a binary file", report)
        return None
    if not text.strip():
        refuse(path, "it is empty", report)
        return None
    return text, goes_on


def described(
    fields: Iterable[ArrowField], rows: str, path: Path, notes: Notes, report: Report, *more: str
) -> Imported:
    """Return the schema of a sample, with what it was inferred from."""
    comment = f"inferred from {rows} of {path.name}; check every type, and which fields may be null"
    return Imported(lift(pa.schema(list(fields)), str(path), report), (comment, *more), notes=notes)


_BY_DATA = "write a few rows as Parquet or Arrow, and import that file"


class ForeignDocument(NamedTuple):
    """A sort of document: what it is called, how it is known, and what to import in its place. Engines bring theirs."""

    title: str
    is_one: Callable[[Any], bool]
    help: str


def refuse_foreign(path: Path, report: Report) -> bool:
    """Report a file that holds a schema of another system; return whether it does."""
    document = _first_value(path)
    foreign_document = next((sort for sort in (*_loaded_importer(), *_SORTS) if sort.is_one(document)), None)
    if foreign_document is None:
        return False
    message = f"{path} is {foreign_document.title}, not data"
    help = f"{foreign_document.help}; to infer a schema from it anyway, add `--from ndjson`"
    report.add(FOREIGN_SCHEMA, message, file=str(path), help=help)
    return True


def _first_value(path: Path) -> Any:
    """Return the first JSON value of a file, or None."""
    sample = read_sample(path, Report())
    try:
        return json.JSONDecoder().raw_decode(sample[0].lstrip())[0] if sample is not None else None
    except (ValueError, RecursionError):
        return None


def _loaded_importer() -> Iterator[ForeignDocument]:
    for engine in engines():
        if engine.documents:
            what = f"`documents` of the engine {engine.name}"
            yield from load_as(engine.documents, tuple, what)


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


def _is_json_schema(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if "json-schema.org" in str(value.get("$schema", "")):
        return True
    return value.get("type") == "object" and _holds(value, "properties", dict)


def _is_big_query(value: Any) -> bool:
    if isinstance(value, list) and value:
        modes = ("NULLABLE", "REQUIRED", "REPEATED")
        return all(has_keys("name", "type", "mode")(item) and item["mode"] in modes for item in value)
    return _holds(value, "schema", dict, "fields") and "tableReference" in value


def _is_kafka(value: Any) -> bool:
    return has_keys("schema", "payload")(value) and _holds(value, "schema", dict, "type", "fields")


_SORTS = (
    ForeignDocument(
        "an OpenAPI document",
        lambda v: has_keys("openapi", "paths")(v) or has_keys("swagger", "paths")(v),
        _BY_DATA,
    ),
    ForeignDocument("an AsyncAPI document", has_keys("asyncapi", "channels"), _BY_DATA),
    ForeignDocument("a JSON Schema", _is_json_schema, "import it with `--from jsonschema`"),
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
    ForeignDocument("a record of Kafka Connect with its schema", _is_kafka, "import only the payloads"),
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
