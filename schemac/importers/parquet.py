"""Parquet: the Arrow schema that the file keeps, or what its own types mean.

Layer: importers.
Shape: what writers put into the file for themselves is left out, with a comment; so are logical types that Arrow has
no type for, with a note. The ids that table formats such as Iceberg give to every field become those of the lock.
Errors: SC551 unsupported-arrow-type, SC552 unreadable-source.
Source: LogicalTypes.md of apache/parquet-format, and what pyarrow makes of them.
"""

import json
import re
from pathlib import Path
from typing import Any

from schemac.importers.datasets import from_arrow_schema
from schemac.importers.importer import Imported, Importer, Notes, NumberedVersion, first_line, refuse
from schemac.language.logical.model import FieldPath, Part
from schemac.language.physical.arrow import pa
from schemac.text.source.report import Report

_FIELD_ID = b"PARQUET:field_id"
_DROPPED_TYPES = ("ENUM", "BSON", "INTERVAL", "GEOMETRY", "GEOGRAPHY")
_OF_WRITERS = re.compile(
    rb"pandas|ARROW:schema|iceberg\.schema|huggingface|parquet\.(avro|proto|thrift|strict\.typing)\..*|avro\.schema"
    rb"|thrift\.(class|descriptor)|writer\.(model\.name|date\.proleptic|time\.zone|zone\.conversion\.legacy)"
    rb"|org\.apache\.(spark|hudi)\..*|hoodie_.*|com\.databricks\..*|presto_version|trino_version"
)
"""Metadata by which a writer recognises its own files; it repeats the schema in the writer's words."""
_GROUP = re.compile(r"( +)\w+ group field_id=-?\d+ (.*?)(?: \((\w+).*\))? \{")


def read(path: Path, report: Report) -> Imported | None:
    """Return the schema of a Parquet file; of a folder, that of its first file."""
    # Imported here for start-up time: this part of pyarrow is not loaded with it.
    from pyarrow import parquet

    file = next((p for p in sorted(path.rglob("*.parquet")) if p.is_file()), None) if path.is_dir() else path
    if file is None:
        refuse(path, "this folder has no Parquet file", report)
        return None
    try:
        with parquet.ParquetFile(file) as opened:
            schema, columns = opened.schema_arrow, opened.schema
            types = [
                (column.path, column.logical_type) for column in map(columns.column, range(len(columns)))
            ]
            variants = _variants(str(columns))
    except (pa.ArrowException, OSError, MemoryError, OverflowError) as error:
        refuse(file, f"it is not a Parquet file: {first_line(error)}", report)
        return None
    notes = Notes()
    for place, type_ in types:
        _note_dropped(place, type_, schema, notes)
    for variant in variants:
        notes.add(variant, "Parquet's type VARIANT is not kept: this field has its storage type")
    writer_keys = [key.decode() for key in schema.metadata or {} if _OF_WRITERS.fullmatch(key)]
    comments = [f"not kept: the metadata {', '.join(writer_keys)}"] if writer_keys else []
    if file is not path:
        comments.insert(0, f"from {file.relative_to(path)}, the first file of the folder")
    tree = from_arrow_schema(_without_additions(schema), str(path), report, notes.add)
    ids = field_ids(schema)
    numbered: tuple[NumberedVersion, ...] = ()
    if ids:
        comments.append("its ids are those of a file; those of a table are in the table's metadata")
        numbered = (NumberedVersion(tree, ids, max(ids.values())),)
    return Imported(tree, tuple(comments), notes=notes, numbered=numbered)


def field_ids(schema: "pa.Schema") -> dict[FieldPath, int]:
    """Return the ids of all fields by their paths, as table formats write them; empty if they are not one for every field."""
    path_ids: list[tuple[FieldPath, int]] = []

    def enter(f: "pa.Field", path: FieldPath) -> None:
        path_ids.append((path, int((f.metadata or {}).get(_FIELD_ID, b"-1"))))
        t = f.type
        if pa.types.is_struct(t):
            for member in t:
                enter(member, (*path, member.name))
        elif pa.types.is_map(t):
            enter(t.key_field, (*path, Part.KEY))
            enter(t.item_field, (*path, Part.VALUE))
        elif pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
            enter(t.value_field, (*path, Part.ITEM))

    for column in schema:
        enter(column, (column.name,))
    ids = [id for _, id in path_ids]
    is_sound = all(id > 0 for id in ids) and len(set(ids)) == len(ids)
    return dict(path_ids) if is_sound else {}


def _variants(schema_text: str) -> list[FieldPath]:
    """Return the paths of groups with the type VARIANT, which pyarrow shows only in the text of a schema."""
    above: list[tuple[int, str]] = []
    paths: list[FieldPath] = []
    for match in map(_GROUP.fullmatch, schema_text.split("\n")):
        if match is None:
            continue
        depth = len(match[1])
        above = [*(holder for holder in above if holder[0] < depth), (depth, match[2])]
        if match[3] == "Variant":
            # Of a list or a map between them the nearest name that a manifest has is the column's.
            is_plain = not any(name in ("list", "key_value") for _, name in above)
            path = tuple(name for _, name in above)
            paths.append(path if is_plain else path[:1])
    return paths


def _note_dropped(place: str, logical: Any, schema: Any, notes: Notes) -> None:
    """Add a note at the column that a leaf belongs to; names in a leaf's place may hold dots themselves."""
    type_ = logical.type
    if type_ not in _DROPPED_TYPES:
        return
    holders = [name for name in schema.names if f"{place}.".startswith(f"{name}.")]
    if holders:
        crs = json.loads(logical.to_json()).get("crs") if type_.startswith("GEO") else None
        reference = f" (coordinates in {str(crs)[:60]})" if crs else ""
        notes.add((max(holders, key=len),), f"Parquet's type {type_} of {place} is not kept{reference}")


def _without_additions(schema: "pa.Schema") -> "pa.Schema":
    """Return the schema without what Parquet's reader adds at every level.

    That is field numbers, and `element` as the name of a list's item, which Parquet prescribes.
    """

    def field(f: "pa.Field") -> "pa.Field":
        metadata = {k: v for k, v in (f.metadata or {}).items() if k != _FIELD_ID}
        # pyarrow reads a column of nulls that may not be null, but makes none.
        is_nullable = f.nullable or pa.types.is_null(f.type)
        return pa.field(f.name, type_of(f.type), is_nullable, metadata or None)

    def type_of(t: "pa.DataType") -> "pa.DataType":
        if pa.types.is_struct(t):
            return pa.struct([field(member) for member in t])
        if pa.types.is_map(t):
            return pa.map_(field(t.key_field), field(t.item_field), t.keys_sorted)
        if pa.types.is_fixed_size_list(t):
            return pa.list_(item(t.value_field), t.list_size)
        if pa.types.is_large_list(t):
            return pa.large_list(item(t.value_field))
        return pa.list_(item(t.value_field)) if pa.types.is_list(t) else t

    def item(f: "pa.Field") -> "pa.Field":
        return field(f.with_name("item") if f.name == "element" else f)

    metadata = {
        key: value for key, value in (schema.metadata or {}).items() if not _OF_WRITERS.fullmatch(key)
    }
    return pa.schema([field(f) for f in schema], metadata or None)


IMPORTER = Importer("parquet", "Parquet file, or a folder of them", read)
