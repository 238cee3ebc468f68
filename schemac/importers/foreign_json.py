"""JSON documents that hold a schema, or a table's bookkeeping, in the words of another system.

Layer: importers.
Shape: such a document is not data, so nothing is inferred from it; what it is, and the way to a manifest, is said.
Errors: SC553 foreign-schema.
Source: JSON Schema 2020-12, "$schema"; Arrow's "Integration Testing", JSON format;
OpenAPI 3.1; BigQuery's schema files; Frictionless' Table Schema; Kafka Connect's JsonConverter.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from schemac.importers.samples import read_sample
from schemac.registry.engine import load_as
from schemac.registry.installed import engines
from schemac.source.catalogue import FOREIGN_SCHEMA
from schemac.source.report import Report

_BY_DATA = "write a few rows as Parquet or Arrow, and import that file"


class ForeignDocument(NamedTuple):
    """A sort of document: what it is called, how it is known, and what to import in its place. Engines bring theirs."""

    title: str
    is_one: Callable[[Any], bool]
    help: str


def refuse_foreign(path: Path, report: Report) -> bool:
    """Whether a file holds a schema of another system; that is said then."""
    document = _first_value(path)
    foreign_document = next((sort for sort in (*_brought(), *_SORTS) if sort.is_one(document)), None)
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


def _brought() -> Iterator[ForeignDocument]:
    for engine in engines():
        if engine.documents:
            what = f"`documents` of the engine {engine.name}"
            yield from load_as(engine.documents, tuple, what)


def has_keys(*keys: str) -> Callable[[Any], bool]:
    """Return a function that tells whether a value is an object with these keys."""
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
