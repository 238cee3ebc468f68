"""Iceberg: a table's metadata, or a schema alone.

Layer: engines.
Shape: a table's folder, a metadata file, or a schema as JSON; the current schema is the manifest, and those before it are
the history. Where a kind says less than the type, `iceberg.apache.org/type` says the rest, so that a build gives the same
schema again.
Errors: SC552.
Source: as in `schemac.engines.iceberg.read`.
"""

import gzip
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from schemac.attributes.odf import DESCRIPTION
from schemac.attributes.own import TABLE_RECORD
from schemac.engines.iceberg import attributes
from schemac.engines.iceberg.names import NAME_MAPPING
from schemac.engines.iceberg.read import TableMetadata, UnreadableError, parse_metadata, parse_schema
from schemac.engines.iceberg.sources import metadata_file
from schemac.engines.iceberg.types import (
    FORMAT_2,
    FORMAT_3,
    Decimal,
    Fixed,
    IcebergSchema,
    IcebergType,
    List,
    Map,
    NestedField,
    Struct,
)
from schemac.importers.importer import Imported, Importer, NumberedVersion, refuse
from schemac.importers.json_file import json_document, refuse_json
from schemac.logical.path import FieldPath, Part, dotted
from schemac.source.json_object import Json
from schemac.source.report import Report

_IGNORED_PROPERTIES = TABLE_RECORD | {"comment", "format-version", NAME_MAPPING}
"""Properties that the manifest says in its own words, what a table says of itself, and the mapping of names to its ids."""


def read(path: Path, report: Report) -> Imported | None:
    """Return the current schema of a table, and those before it."""
    file = metadata_file(path)
    if file is None:
        refuse(path, "there is no metadata file in it, such as `metadata/v1.metadata.json`", report)
        return None
    metadata = read_file(file, report)
    return None if metadata is None else _imported(metadata, _name(file))


def read_object(source: Any, report: Report) -> Imported | None:
    """Return the same of a table or schema of pyiceberg, or of what their JSON says."""
    name = None
    if hasattr(source, "metadata"):
        name, source = source.name()[-1], source.metadata
    if hasattr(source, "model_dump"):
        source = source.model_dump(mode="json", by_alias=True)
    try:
        return _imported(metadata_of(source), name)
    except UnreadableError as error:
        refuse("<pyiceberg>", f"it is not an Iceberg table or schema: {error}", report)
    return None


def _imported(metadata: TableMetadata, name: str | None) -> Imported:
    past = [schema for schema in metadata.schemas if schema.schema_id < metadata.current.schema_id]
    versions = [version_of(schema, metadata) for schema in (*past, metadata.current)]
    numbered = [NumberedVersion(schema, ids, metadata.last_column_id) for schema, ids in versions]
    return Imported(numbered[-1].schema, tuple(_comments(metadata)), name, numbered=tuple(numbered))


def read_file(file: Path, report: Report) -> TableMetadata | None:
    """Return what a metadata file says, or a schema as the metadata of a table that has it alone; None after saying why not."""
    try:
        content = file.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        return metadata_of(json_document(content))
    except (ValueError, RecursionError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        refuse_json(file, error, report)
    except UnreadableError as error:
        refuse(file, f"it is not Iceberg metadata: {error}", report)
    return None


def metadata_of(document: Any) -> TableMetadata:
    """Return the metadata that values say; a schema alone counts as that of a table of the format that its types need."""
    if isinstance(document, dict) and "format-version" in document:
        return parse_metadata(document)
    schema = parse_schema(document)
    return TableMetadata(_least_format(schema), (schema,), schema, schema.highest_id, {})


def version_of(schema: IcebergSchema, metadata: TableMetadata) -> tuple[Json, dict[FieldPath, int]]:
    """Return a schema in the standard's long form, and the ids of its fields by their paths."""
    lifting = _Lifting(has_defaults=metadata.format_version >= FORMAT_3)
    fields = [lifting.member(column, (column.name,)) for column in schema.columns]
    extra: Json = {}
    comment = metadata.properties.get("comment")
    if comment is not None:
        extra[DESCRIPTION.key] = comment
    if metadata.format_version != FORMAT_2:
        extra[attributes.FORMAT_VERSION.key] = metadata.format_version
    if schema.identifier_ids:
        paths = {id: path for path, id in lifting.ids.items()}
        extra[attributes.IDENTIFIER_FIELDS.key] = [dotted(paths[id]) for id in schema.identifier_ids]
    properties = {
        key: metadata.properties[key] for key in sorted(metadata.properties) if key not in _IGNORED_PROPERTIES
    }
    if properties:
        extra[attributes.TABLE_PROPERTIES.key] = properties
    return {"fields": fields, **({"extra": extra} if extra else {})}, lifting.ids


def _comments(metadata: TableMetadata) -> list[str]:
    comments = [
        f"from schema {metadata.current.schema_id} of an Iceberg table of format {metadata.format_version}"
    ]
    fields = [field for _, field in metadata.current.preorder()]
    if metadata.format_version < FORMAT_3 and any(_has_default(field) for field in fields):
        comments.append("not kept: default values, which only format 3 has")
    if metadata.partition_sources:
        names = {field.id: ".".join(path) for path, field in metadata.current.preorder()}
        known = [names[id] for id in dict.fromkeys(metadata.partition_sources) if id in names]
        comments.append(
            f"not kept: that it is partitioned or sorted by {', '.join(' '.join(n.split()) for n in known)}"
        )
    return comments


def _name(file: Path) -> str | None:
    """Return the table's name: that of the folder which `metadata` is in."""
    folder = file.resolve().parent
    return folder.parent.name or None if folder.name == "metadata" else None


def _least_format(schema: IcebergSchema) -> int:
    """Return the lowest format that has all that a schema has."""
    for _, field in schema.preorder():
        is_new = field.type.word.partition("(")[0] in _OF_FORMAT_3
        if is_new or _has_default(field):
            return FORMAT_3
    return FORMAT_2


def _has_default(field: NestedField) -> bool:
    return field.initial_default is not None or field.write_default is not None


class _Lifting:
    """Turns types into kinds with attributes, and gathers ids."""

    def __init__(self, *, has_defaults: bool) -> None:
        self.ids: dict[FieldPath, int] = {}
        self._has_defaults = has_defaults

    def member(self, field: NestedField, path: FieldPath) -> Json:
        """Return a column, or a member of a struct."""
        type_, extra = self._field(field, path)
        if field.doc is not None:
            extra = {DESCRIPTION.key: field.doc, **extra}
        if self._has_defaults and field.initial_default is not None:
            extra = {**extra, attributes.INITIAL_DEFAULT.key: field.initial_default}
        if self._has_defaults and field.write_default is not None:
            extra = {**extra, attributes.WRITE_DEFAULT.key: field.write_default}
        return {"name": field.name, "type": type_, **({"extra": extra} if extra else {})}

    def _part(self, field: NestedField, path: FieldPath) -> Json:
        """Return an item, key or value: attributes go next to `kind`."""
        tree, extra = self._field(field, path)
        return {**tree, "extra": extra} if extra else tree

    def _field(self, field: NestedField, path: FieldPath) -> tuple[Json, Json]:
        self.ids[path] = field.id
        tree, extra = self._type(field.type, path)
        # What is always null may be null, whatever the field says.
        is_optional = not field.required or tree["kind"] == "Null"
        return ({"kind": "Option", "inner": tree} if is_optional else tree), extra

    def _type(self, type_: IcebergType, path: FieldPath) -> tuple[Json, Json]:
        if isinstance(type_, Struct):
            members = [self.member(field, (*path, field.name)) for field in type_.members]
            return {"kind": "Struct", "fields": members}, {}
        if isinstance(type_, List):
            return {"kind": "List", "itemType": self._part(type_.element, (*path, Part.ITEM))}, {}
        if isinstance(type_, Map):
            key = self._part(type_.key, (*path, Part.KEY))
            return {
                "kind": "Map",
                "keyType": key,
                "valueType": self._part(type_.value, (*path, Part.VALUE)),
            }, {}
        if isinstance(type_, Decimal):
            return {"kind": "Decimal", "precision": type_.precision, "scale": type_.scale}, {}
        if isinstance(type_, Fixed):
            return {"kind": "Binary", "fixedLength": type_.length}, {}
        plain = _PLAIN.get(type_.word)
        if plain is not None:
            return dict(plain), {}
        return dict(_WORDED.get(type_.word, {"kind": "Binary"})), {attributes.TYPE.key: type_.word}


def _timestamp(unit: str, timezone: str | None) -> Json:
    return {"kind": "Timestamp", "unit": unit, "timezone": timezone}


_PLAIN: Mapping[str, Json] = {
    "boolean": {"kind": "Bool"},
    "int": {"kind": "Int32"},
    "long": {"kind": "Int64"},
    "float": {"kind": "Float32"},
    "double": {"kind": "Float64"},
    "date": {"kind": "Date"},
    "time": {"kind": "Time", "unit": "Microsecond"},
    "timestamp": _timestamp("Microsecond", None),
    "timestamptz": _timestamp("Microsecond", "UTC"),
    "timestamp_ns": _timestamp("Nanosecond", None),
    "timestamptz_ns": _timestamp("Nanosecond", "UTC"),
    "string": {"kind": "String"},
    "binary": {"kind": "Binary"},
    "unknown": {"kind": "Null"},
}
_WORDED: Mapping[str, Json] = {
    "uuid": {"kind": "Binary", "fixedLength": 16},
    "variant": {
        "kind": "Struct",
        "fields": [{"name": name, "type": {"kind": "Binary"}} for name in ("value", "metadata")],
    },
}
"""Kinds of types that an attribute has to name; geometry and geography are bytes."""
_OF_FORMAT_3 = frozenset({"timestamp_ns", "timestamptz_ns", "unknown", "variant", "geometry", "geography"})

IMPORTER = Importer("iceberg", "Iceberg table, one of its metadata files, or a schema", read)
