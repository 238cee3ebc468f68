"""Iceberg: a table's metadata, or a schema alone, whoever wrote it.

Layer: engines.
Shape: a table's folder, a metadata file, or a schema as JSON; the current schema is the manifest, and those before it are the history.
      Where a kind says less than the type, `iceberg.apache.org/type` says the rest, so that a build gives the same schema again.
Errors: SC552. `parse_metadata` raises MalformedDocumentError with the place inside the document.
Source: the Iceberg table specification, "Appendix C: JSON serialization"; Java and pyiceberg differ in the order of keys and in the
      blanks of `decimal(9, 2)`. "Table Metadata" and "File System Tables": metadata files are called `v<N>.metadata.json` or
      `<N>-<uuid>.metadata.json`, with `.gz` before `.metadata` or at the end where they are packed.
Why by hand: as in `types`; pyiceberg's errors are about the document as a whole.
"""

import gzip
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemac.engines.iceberg import attributes, types
from schemac.importers.datasets import list_of, map_of, member, optional, struct, with_attributes
from schemac.importers.importer import (
    ImportedSchema,
    Importer,
    NumberedVersion,
    UnreadableSourceError,
    json_document,
    numbered_files,
)
from schemac.importers.sources import is_json_with
from schemac.language.attributes.builtin import DESCRIPTION, TABLE_RECORD
from schemac.language.kinds.registry import kind_of_name
from schemac.language.logical.model import FieldPath, Part, dotted
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json, MalformedDocumentError, expect

METADATA_FILE = re.compile(r"v?([0-9]+)(?:-[0-9A-Za-z-]+)?(?:\.gz)?\.metadata\.json(?:\.gz)?")


def metadata_file(path: Path) -> Path | None:
    """Return the newest metadata file of a table's folder, or of the `metadata` folder in it; a file itself; None for none."""
    if path.is_file():
        return path
    for folder in (path / "metadata", path):
        hint = folder / "version-hint.text"  # as tables without a catalog have it
        if hint.is_file():
            version = hint.read_text(encoding="utf-8", errors="replace").strip()
            for name in ("{}.metadata.json", "{}.gz.metadata.json", "{}.metadata.json.gz"):
                if (file := folder / name.format(f"v{version}")).is_file():
                    return file
        if numbered := numbered_files(folder, METADATA_FILE):
            return numbered[-1][1]
    return None


def is_source(path: Path) -> bool:
    """Whether a path is a table's folder, one of its metadata files, or a schema alone."""
    if path.is_dir():
        return metadata_file(path) is not None
    if METADATA_FILE.fullmatch(path.name):
        return True
    if path.suffix.lower() != ".json":
        return False
    return is_json_with(path, b'"last-column-id":') or is_json_with(path, b'"schema-id":')


_DECIMAL = re.compile(r"decimal\(\s*([0-9]{1,4})\s*,\s*([0-9]{1,4})\s*\)")
_FIXED = re.compile(r"fixed\[\s*([0-9]{1,9})\s*\]")
_GEO = re.compile(r"(?:geometry|geography)(?:\([^()]*\))?")
_HIGHEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class TableMetadata:
    """The schemas in the metadata file of a table."""

    format_version: int
    schemas: tuple[types.IcebergSchema, ...]
    """In the order of their ids."""
    current: types.IcebergSchema
    last_column_id: int
    properties: Mapping[str, str]
    partition_sources: tuple[int, ...] = ()
    """Ids of fields that the table is, or was, partitioned or sorted by."""
    is_empty: bool = False
    """Whether the table has no snapshot, so that no file of it can be read."""
    is_replaced: bool = False
    """Whether its rows began anew after others had been written, as `CREATE OR REPLACE TABLE` does, which leaves properties standing."""


def parse_type(written: Any, location: str = "type") -> types.IcebergType:
    """Return a type. Raises MalformedDocumentError."""
    if isinstance(written, str):
        if written in _PLAIN or written in ("uuid", "variant"):
            return types.IcebergType(written)
        if match := _DECIMAL.fullmatch(written):
            precision, scale = int(match[1]), int(match[2])
            if not 1 <= precision <= types.MOST_DIGITS or scale > precision:
                reason = f"a decimal has 1 to {types.MOST_DIGITS} digits, and not more after the point"
                raise MalformedDocumentError(location, reason)
            return types.IcebergType("decimal", (precision, scale))
        if match := _FIXED.fullmatch(written):
            return types.IcebergType("fixed", (int(match[1]),))
        if _GEO.fullmatch(written):
            return types.IcebergType(written)
        raise MalformedDocumentError(location, f"'{written}' is not an Iceberg type")
    word = expect(written, dict, location, "a type has to be a text or an object").get("type")
    if word == "struct":
        return types.IcebergType("struct", fields=_parse_fields(written.get("fields"), f"{location}.fields"))
    if word in ("list", "map"):
        parts = [_parse_part(written, name, location) for name in _PARTS[word]]
        return types.IcebergType(word, fields=tuple(parts))
    raise MalformedDocumentError(location, "the `type` of a nested type has to be struct, list or map")


def parse_schema(written: Any, location: str = "") -> types.IcebergSchema:
    """Return a schema; where it has no `schema-id`, it is 0. Raises MalformedDocumentError."""
    if not isinstance(written, dict) or written.get("type", "struct") != "struct":
        raise MalformedDocumentError(location, "a schema has to be an object with the `type` struct")
    inner = f"{location}." if location else ""
    columns = _parse_fields(written.get("fields"), f"{inner}fields")
    at_identifiers, reason = f"{inner}identifier-field-ids", "the identifier fields have to be a list of ids"
    identifiers = expect(written.get("identifier-field-ids") or [], list, at_identifiers, reason)
    ids = tuple(sorted({_number(id, at_identifiers, 1) for id in identifiers}))
    schema_id = _number(written.get("schema-id", 0), f"{inner}schema-id", 0)
    schema = types.IcebergSchema(columns, ids, schema_id)
    known: dict[int, Sequence[str]] = {}
    for path, field in schema.preorder():
        if field.id in known:
            both = " and ".join(".".join(p) for p in (known[field.id], path))
            raise MalformedDocumentError(location, f"the id {field.id} is that of {both}")
        known[field.id] = path
    for id in schema.identifier_ids:
        if id not in known:
            raise MalformedDocumentError(location, f"the identifier field with the id {id} does not exist")
    return schema


def parse_metadata(written: Any) -> TableMetadata:
    """Return a table's metadata, of format 1, 2 or 3. Raises MalformedDocumentError."""
    written = expect(written, dict, "", "it is not an object")
    version = _number(written.get("format-version"), "format-version", 1)
    if version > 3:
        raise MalformedDocumentError("format-version", f"format {version} is not supported; 1, 2 and 3 are")
    listed = written.get("schemas")
    if listed is None and "schema" in written:
        # Tables of format 1 that nobody has written to for long have the one schema alone.
        schemas: tuple[types.IcebergSchema, ...] = (parse_schema(written["schema"], "schema"),)
        current_id = schemas[0].schema_id
    elif isinstance(listed, list) and listed:
        parsed = [parse_schema(schema, f"schemas[{i}]") for i, schema in enumerate(listed)]
        schemas = tuple(sorted(parsed, key=lambda schema: schema.schema_id))
        current_id = _number(written.get("current-schema-id"), "current-schema-id", 0)
    else:
        raise MalformedDocumentError("schemas", "the schemas have to be a list of at least one")
    current = next((schema for schema in schemas if schema.schema_id == current_id), None)
    if current is None:
        raise MalformedDocumentError("current-schema-id", f"there is no schema with the id {current_id}")
    last = _number(written.get("last-column-id", 0), "last-column-id", 0)
    highest = max(last, *(schema.highest_id for schema in schemas))
    reason = "the properties have to be an object"
    written_properties = expect(written.get("properties") or {}, dict, "properties", reason)
    properties = {str(key): str(value) for key, value in written_properties.items()}
    sources = dict.fromkeys((*_sources(written, "partition-specs"), *_sources(written, "sort-orders")))
    is_empty = written.get("current-snapshot-id") in (None, -1) and not written.get("snapshots")
    about_rows = (tuple(sources), is_empty, _is_replaced(written))
    return TableMetadata(version, schemas, current, highest, properties, *about_rows)


def _is_replaced(written: Mapping[str, Any]) -> bool:
    """Whether the oldest ancestor of the current snapshot is not the first snapshot of the table."""
    listed = written.get("snapshots")
    snapshots = {
        one["snapshot-id"]: one
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict) and isinstance(one.get("snapshot-id"), int)
    }
    current = written.get("current-snapshot-id")
    snapshot = snapshots.get(current) if isinstance(current, int) else None
    if snapshot is None:
        return bool(snapshots)
    while isinstance(parent := snapshot.get("parent-snapshot-id"), int) and parent in snapshots:
        snapshot = snapshots.pop(parent)
    number = snapshot.get("sequence-number", 0)
    return snapshot.get("parent-snapshot-id") is None and isinstance(number, int) and number > 1


def _parse_fields(written: Any, location: str) -> tuple[types.NestedField, ...]:
    """Return the columns, or the members of a struct. Raises MalformedDocumentError."""
    written = expect(written, list, location, "the fields have to be a list")
    fields = tuple([_parse_field(field, f"{location}[{i}]") for i, field in enumerate(written)])
    names = [field.name for field in fields]
    for name in names:
        if names.count(name) > 1:
            raise MalformedDocumentError(location, f"two fields are called '{name}'")
    return fields


def _parse_field(written: Any, location: str) -> types.NestedField:
    """Return a column or member. Raises MalformedDocumentError."""
    written = expect(written, dict, location, "a field has to be an object")
    name = expect(written.get("name"), str, location, "a field needs a `name`")
    required = expect(written.get("required"), bool, location, "a field needs `required`, true or false")
    if (doc := written.get("doc")) is not None:
        expect(doc, str, f"{location}.doc", "a doc has to be a text")
    if "type" not in written:
        raise MalformedDocumentError(location, "a field needs a `type`")
    id = _number(written.get("id"), f"{location}.id", 1)
    type_ = parse_type(written["type"], f"{location}.type")
    defaults = [written.get(key) for key in ("initial-default", "write-default")]
    return types.NestedField(id, name, type_, required, doc, *defaults)


_PARTS = {"list": ("element",), "map": ("key", "value")}


def _parse_part(written: Mapping[str, Any], name: str, location: str) -> types.NestedField:
    """Return the element of a list, or the key or value of a map. Raises MalformedDocumentError."""
    id = _number(written.get(f"{name}-id"), f"{location}.{name}-id", 1)
    required: Any = True if name == "key" else written.get(f"{name}-required")
    expect(required, bool, location, f"it needs `{name}-required`, true or false")
    return types.NestedField(id, name, parse_type(written.get(name), f"{location}.{name}"), required)


def _sources(written: Mapping[str, Any], key: str) -> list[int]:
    """Return the ids of the fields that the partition specs or sort orders of a table name; what is malformed names none."""
    entries = written.get(key)
    entries = entries if isinstance(entries, list) else []
    listed = [one.get("fields") for one in entries if isinstance(one, dict)]
    fields = [field for entry_fields in listed if isinstance(entry_fields, list) for field in entry_fields]
    return [f["source-id"] for f in fields if isinstance(f, dict) and type(f.get("source-id")) is int]


def _number(written: Any, location: str, least: int) -> int:
    """Return a whole number that is at least `least`. Raises MalformedDocumentError for any other value."""
    if type(written) is not int or not least <= written <= _HIGHEST:
        raise MalformedDocumentError(location, f"a whole number from {least} on is expected")
    return written


_IGNORED_PROPERTIES = TABLE_RECORD | {"comment", "format-version", types.NAME_MAPPING}
"""Properties that the manifest says in its own words, what a table says of itself, and the mapping of names to its ids."""


def read(path: Path, _report: Report) -> ImportedSchema:
    """Return the current schema of a table, and those before it."""
    file = metadata_file(path)
    if file is None:
        reason = "there is no metadata file in it, such as `metadata/v1.metadata.json`"
        raise UnreadableSourceError(reason)
    folder = file.resolve().parent
    return _imported(read_file(file), folder.parent.name or None if folder.name == "metadata" else None)


def read_object(source: Any, _file: str, _report: Report) -> ImportedSchema:
    """Return the same for a table or schema of pyiceberg, or for their JSON. Raises UnreadableSourceError."""
    name = None
    if hasattr(source, "metadata"):
        name, source = source.name()[-1], source.metadata
    if hasattr(source, "model_dump"):
        source = source.model_dump(mode="json", by_alias=True)
    try:
        return _imported(metadata_of(source), name)
    except MalformedDocumentError as error:
        raise UnreadableSourceError(f"it is not an Iceberg table or schema: {error}") from error


def _imported(metadata: TableMetadata, name: str | None) -> ImportedSchema:
    """Return the current schema with all earlier ones, and comments on what is lost."""
    past = [schema for schema in metadata.schemas if schema.schema_id < metadata.current.schema_id]
    numbered = [version_of(schema, metadata) for schema in (*past, metadata.current)]
    of_table = f"of an Iceberg table of format {metadata.format_version}"
    comments = [f"from schema {metadata.current.schema_id} {of_table}"]
    fields = [field for _, field in metadata.current.preorder()]
    if metadata.format_version < types.FORMAT_3 and any(_has_default(field) for field in fields):
        comments.append("not kept: default values, which only format 3 has")
    if metadata.partition_sources:
        names = {field.id: ".".join(path) for path, field in metadata.current.preorder()}
        known = [" ".join(names[id].split()) for id in metadata.partition_sources if id in names]
        comments.append(f"not kept: that it is partitioned or sorted by {', '.join(known)}")
    return ImportedSchema(numbered[-1].schema, tuple(comments), name, versions=tuple(numbered))


def read_file(file: Path) -> TableMetadata:
    """Return the content of a metadata file, or a schema as metadata with this schema alone. Raises UnreadableSourceError."""
    try:
        content = file.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        return metadata_of(json_document(content, file))
    except (ValueError, RecursionError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UnreadableSourceError(f"it is not valid JSON: {error}", file=file) from error
    except MalformedDocumentError as error:
        raise UnreadableSourceError(f"it is not Iceberg metadata: {error}", file=file) from error


def metadata_of(document: Any) -> TableMetadata:
    """Return the metadata in a JSON value; a schema alone becomes that of a table in the format that its types need."""
    if isinstance(document, dict) and "format-version" in document:
        return parse_metadata(document)
    schema, format = parse_schema(document), types.FORMAT_2
    for _, field in schema.preorder():
        if field.type.word.partition("(")[0] in _OF_FORMAT_3 or _has_default(field):
            format = types.FORMAT_3
    return TableMetadata(format, (schema,), schema, schema.highest_id, {})


def version_of(schema: types.IcebergSchema, metadata: TableMetadata) -> NumberedVersion:
    """Return a schema in the standard's long form, with the ids of its fields."""
    conversion = _FromIceberg(has_defaults=metadata.format_version >= types.FORMAT_3)
    fields = [conversion.member(column, (column.name,)) for column in schema.columns]
    paths = {id: path for path, id in conversion.ids.items()}
    keys, format = sorted(metadata.properties.keys() - _IGNORED_PROPERTIES), metadata.format_version
    entries = {
        DESCRIPTION.key: metadata.properties.get("comment"),
        attributes.FORMAT_VERSION.key: None if format == types.FORMAT_2 else format,
        attributes.IDENTIFIER_FIELDS.key: [dotted(paths[id]) for id in schema.identifier_ids] or None,
        attributes.TABLE_PROPERTIES.key: {key: metadata.properties[key] for key in keys} or None,
    }
    extra = {key: value for key, value in entries.items() if value is not None}
    tree = {"fields": fields, **({"extra": extra} if extra else {})}
    return NumberedVersion(tree, conversion.ids, metadata.last_column_id)


def _has_default(field: types.NestedField) -> bool:
    """Whether a field has an initial or a write default."""
    return field.initial_default is not None or field.write_default is not None


class _FromIceberg:
    """Converts types of Iceberg to the trees of kinds, with attributes, and gathers the ids of fields."""

    def __init__(self, *, has_defaults: bool) -> None:
        self.ids: dict[FieldPath, int] = {}
        self._has_defaults = has_defaults

    def member(self, field: types.NestedField, path: FieldPath) -> Json:
        """Return a column, or a member of a struct."""
        type_, extra = self._field(field, path)
        extra = {DESCRIPTION.key: field.doc, **extra}
        if self._has_defaults:
            extra[attributes.INITIAL_DEFAULT.key] = field.initial_default
            extra[attributes.WRITE_DEFAULT.key] = field.write_default
        return member(field.name, type_, {key: value for key, value in extra.items() if value is not None})

    def _field(self, field: types.NestedField, path: FieldPath) -> tuple[Json, Json]:
        """Return the tree and attributes of a field's type, in an Option unless required, and record its id."""
        self.ids[path] = field.id
        tree, extra = self._type(field.type, path)
        return optional(tree, is_required=field.required), extra

    def _type(self, type_: types.IcebergType, path: FieldPath) -> tuple[Json, Json]:
        """Return a type's tree without its Option, and the attribute that a type without a kind needs."""
        match type_.name:
            case "struct":
                return struct([self.member(field, (*path, field.name)) for field in type_.fields]), {}
            case "list":
                (element,) = type_.fields
                return list_of(with_attributes(*self._field(element, (*path, Part.ITEM)))), {}
            case "map":
                key, value = (
                    with_attributes(*self._field(field, (*path, part)))
                    for field, part in zip(type_.fields, (Part.KEY, Part.VALUE), strict=True)
                )
                return map_of(key, value), {}
            case "decimal":
                precision, scale = type_.parameters
                return {"kind": "Decimal", "precision": precision, "scale": scale}, {}
            case "fixed":
                return {"kind": "Binary", "fixedLength": type_.parameters[0]}, {}
        plain = _PLAIN.get(type_.word)
        if plain is not None:
            return dict(plain), {}
        return dict(_WORDED.get(type_.word, {"kind": "Binary"})), {attributes.TYPE.key: type_.word}


def _timestamp(unit: str, timezone: str | None) -> Json:
    """Return the tree of a Timestamp; without a timezone it is a local one."""
    return {"kind": "Timestamp", "unit": unit, "timezone": timezone}


_PLAIN: Mapping[str, Json] = {
    **{
        word: {"kind": kind_of_name(word)}
        for word in ("boolean", "int", "long", "float", "double", "date", "string", "binary")
    },
    "time": {"kind": "Time", "unit": "Microsecond"},
    "timestamp": _timestamp("Microsecond", None),
    "timestamptz": _timestamp("Microsecond", "UTC"),
    "timestamp_ns": _timestamp("Nanosecond", None),
    "timestamptz_ns": _timestamp("Nanosecond", "UTC"),
    "unknown": {"kind": "Null"},
}
_WORDED: Mapping[str, Json] = {
    "uuid": {"kind": "Binary", "fixedLength": 16},
    "variant": struct([member(name, {"kind": "Binary"}, {}) for name in ("value", "metadata")]),
}
"""Kinds of types that an attribute has to name; geometry and geography are bytes."""
_OF_FORMAT_3 = frozenset({"timestamp_ns", "timestamptz_ns", "unknown", "variant", "geometry", "geography"})

IMPORTER = Importer("iceberg", "Iceberg table, one of its metadata files, or a schema", read, read_object)
