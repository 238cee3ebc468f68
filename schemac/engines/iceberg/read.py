"""Schemas and table metadata of Iceberg, whoever wrote them.

Layer: engines.
Shape: raises UnreadableError with the place inside the document.
Why by hand: as in `types`; pyiceberg's errors are about the document as a whole.
Source: the Iceberg table specification, "Appendix C: JSON serialization"; Java and pyiceberg differ in the order of keys
and in the blanks of `decimal(9, 2)`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemac.engines.iceberg.types import (
    MOST_DIGITS,
    Decimal,
    Fixed,
    IcebergSchema,
    IcebergType,
    List,
    Map,
    NestedField,
    Primitive,
    Struct,
)

PLAIN = (
    "boolean",
    "int",
    "long",
    "float",
    "double",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "timestamp_ns",
    "timestamptz_ns",
    "string",
    "uuid",
    "binary",
    "unknown",
    "variant",
)
"""Types without parameters."""
_DECIMAL = re.compile(r"decimal\(\s*([0-9]{1,4})\s*,\s*([0-9]{1,4})\s*\)")
_FIXED = re.compile(r"fixed\[\s*([0-9]{1,9})\s*\]")
_GEO = re.compile(r"(?:geometry|geography)(?:\([^()]*\))?")
_HIGHEST = 2**31 - 1


class UnreadableError(Exception):
    """A place in a document that is not as Iceberg writes it."""

    def __init__(self, location: str, reason: str) -> None:
        super().__init__(f"{location}: {reason}" if location else reason)


@dataclass(frozen=True, slots=True)
class TableMetadata:
    """What the metadata file of a table says of its schemas."""

    format_version: int
    schemas: tuple[IcebergSchema, ...]
    """In the order of their ids."""
    current: IcebergSchema
    last_column_id: int
    properties: Mapping[str, str]
    partition_sources: tuple[int, ...] = ()
    """Ids of fields that the table is, or was, partitioned or sorted by."""
    is_empty: bool = False
    """Whether the table has no snapshot, so that no file of it can be read."""
    is_replaced: bool = False
    """Whether its rows began anew after others had been written, as `CREATE OR REPLACE TABLE` does, which leaves properties standing."""


def parse_type(written: Any, location: str = "type") -> IcebergType:
    """Return a type. Raises UnreadableError."""
    if isinstance(written, str):
        return _parse_primitive(written, location)
    if not isinstance(written, dict):
        raise UnreadableError(location, "a type has to be a text or an object")
    word = written.get("type")
    if word == "struct":
        return Struct(_parse_fields(written.get("fields"), f"{location}.fields"))
    if word == "list":
        return List(_parse_part(written, "element", "element-required", location))
    if word == "map":
        key = _parse_part(written, "key", None, location)
        return Map(key, _parse_part(written, "value", "value-required", location))
    raise UnreadableError(location, "the `type` of a nested type has to be struct, list or map")


def parse_schema(written: Any, location: str = "") -> IcebergSchema:
    """Return a schema; where it has no `schema-id`, it is 0. Raises UnreadableError."""
    if not isinstance(written, dict) or written.get("type", "struct") != "struct":
        raise UnreadableError(location, "a schema has to be an object with the `type` struct")
    inner = f"{location}." if location else ""
    columns = _parse_fields(written.get("fields"), f"{inner}fields")
    identifiers = written.get("identifier-field-ids") or []
    if not isinstance(identifiers, list):
        raise UnreadableError(
            f"{inner}identifier-field-ids", "the identifier fields have to be a list of ids"
        )
    ids = tuple(sorted({_number(id, f"{inner}identifier-field-ids", 1) for id in identifiers}))
    schema_id = _number(written.get("schema-id", 0), f"{inner}schema-id", 0)
    schema = IcebergSchema(columns, ids, schema_id)
    _check_ids(schema, location)
    return schema


def parse_metadata(written: Any) -> TableMetadata:
    """Return a table's metadata, of format 1, 2 or 3. Raises UnreadableError."""
    if not isinstance(written, dict):
        raise UnreadableError("", "it is not an object")
    version = _number(written.get("format-version"), "format-version", 1)
    if version > 3:
        raise UnreadableError("format-version", f"format {version} is not supported; 1, 2 and 3 are")
    listed = written.get("schemas")
    if listed is None and "schema" in written:
        # Tables of format 1 that nobody has written to for long have the one schema alone.
        schemas: tuple[IcebergSchema, ...] = (parse_schema(written["schema"], "schema"),)
        current_id = schemas[0].schema_id
    elif isinstance(listed, list) and listed:
        parsed = [parse_schema(schema, f"schemas[{i}]") for i, schema in enumerate(listed)]
        schemas = tuple(sorted(parsed, key=lambda schema: schema.schema_id))
        current_id = _number(written.get("current-schema-id"), "current-schema-id", 0)
    else:
        raise UnreadableError("schemas", "the schemas have to be a list of at least one")
    current = next((schema for schema in schemas if schema.schema_id == current_id), None)
    if current is None:
        raise UnreadableError("current-schema-id", f"there is no schema with the id {current_id}")
    last = _number(written.get("last-column-id", 0), "last-column-id", 0)
    return TableMetadata(
        version,
        schemas,
        current,
        max(last, *(schema.highest_id for schema in schemas)),
        _properties(written.get("properties") or {}),
        tuple(dict.fromkeys((*_sources(written, "partition-specs"), *_sources(written, "sort-orders")))),
        written.get("current-snapshot-id") in (None, -1) and not written.get("snapshots"),
        _is_replaced(written),
    )


def _is_replaced(written: Mapping[str, Any]) -> bool:
    """Whether the first of the snapshots that led to the current one is not the first of the table."""
    snapshots = {
        one.get("snapshot-id"): one for one in written.get("snapshots") or () if isinstance(one, dict)
    }
    snapshot = snapshots.get(written.get("current-snapshot-id"))
    if snapshot is None:
        return bool(snapshots)
    ancestors = [snapshot]
    while (parent := snapshots.pop(ancestors[-1].get("parent-snapshot-id"), None)) is not None:
        ancestors.append(parent)
    first = ancestors[-1]
    return first.get("parent-snapshot-id") is None and first.get("sequence-number", 0) > 1


def _parse_primitive(text: str, location: str) -> IcebergType:
    if text in PLAIN:
        return Primitive(text)
    if match := _DECIMAL.fullmatch(text):
        precision, scale = int(match[1]), int(match[2])
        if not 1 <= precision <= MOST_DIGITS or scale > precision:
            raise UnreadableError(
                location, f"a decimal has 1 to {MOST_DIGITS} digits, and not more after the point"
            )
        return Decimal(precision, scale)
    if match := _FIXED.fullmatch(text):
        return Fixed(int(match[1]))
    if _GEO.fullmatch(text):
        return Primitive(text)
    raise UnreadableError(location, f"'{text}' is not an Iceberg type")


def _parse_fields(written: Any, location: str) -> tuple[NestedField, ...]:
    if not isinstance(written, list):
        raise UnreadableError(location, "the fields have to be a list")
    fields = tuple([_parse_field(field, f"{location}[{i}]") for i, field in enumerate(written)])
    names = [field.name for field in fields]
    for name in names:
        if names.count(name) > 1:
            raise UnreadableError(location, f"two fields are called '{name}'")
    return fields


def _parse_field(written: Any, location: str) -> NestedField:
    if not isinstance(written, dict):
        raise UnreadableError(location, "a field has to be an object")
    name, doc, required = written.get("name"), written.get("doc"), written.get("required")
    if not isinstance(name, str):
        raise UnreadableError(location, "a field needs a `name`")
    if not isinstance(required, bool):
        raise UnreadableError(location, "a field needs `required`, true or false")
    if doc is not None and not isinstance(doc, str):
        raise UnreadableError(f"{location}.doc", "a doc has to be a text")
    if "type" not in written:
        raise UnreadableError(location, "a field needs a `type`")
    return NestedField(
        _number(written.get("id"), f"{location}.id", 1),
        name,
        parse_type(written["type"], f"{location}.type"),
        required,
        doc,
        written.get("initial-default"),
        written.get("write-default"),
    )


def _parse_part(
    written: Mapping[str, Any], name: str, required_key: str | None, location: str
) -> NestedField:
    id = _number(written.get(f"{name}-id"), f"{location}.{name}-id", 1)
    required = True if required_key is None else written.get(required_key)
    if not isinstance(required, bool):
        raise UnreadableError(location, f"it needs `{required_key}`, true or false")
    return NestedField(id, name, parse_type(written.get(name), f"{location}.{name}"), required)


def _check_ids(schema: IcebergSchema, location: str) -> None:
    """Every id stands for one field, and the identifiers are among them."""
    known: dict[int, Sequence[str]] = {}
    for path, field in schema.preorder():
        if field.id in known:
            both = " and ".join(".".join(p) for p in (known[field.id], path))
            raise UnreadableError(location, f"the id {field.id} is that of {both}")
        known[field.id] = path
    for id in schema.identifier_ids:
        if id not in known:
            raise UnreadableError(location, f"there is no field with the id {id} to identify rows by")


def _sources(written: Mapping[str, Any], key: str) -> list[int]:
    """Ids of the fields that partition specs or sort orders transform."""
    entries = written.get(key)
    listed = (
        [one.get("fields") for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
    )
    fields = [field for entry_fields in listed if isinstance(entry_fields, list) for field in entry_fields]
    return [f["source-id"] for f in fields if isinstance(f, dict) and type(f.get("source-id")) is int]


def _properties(written: Any) -> dict[str, str]:
    if not isinstance(written, dict):
        raise UnreadableError("properties", "the properties have to be an object")
    return {str(key): str(value) for key, value in written.items()}


def _number(written: Any, location: str, least: int) -> int:
    if type(written) is not int or not least <= written <= _HIGHEST:
        raise UnreadableError(location, f"a whole number from {least} on is expected")
    return written
