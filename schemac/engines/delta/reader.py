"""Delta Lake: a table's folder as its log describes it, with the metadata of its columns.

Layer: engines.
Shape: the schema of the newest version is the manifest. Where columns are mapped, the ids of the mapping become those of the lock, and
      the schemas before it, as far as the log has them, its history. No data file is read. The StructType is copied without the keys
      that Delta keeps in the metadata of columns; their ids go by path, the rest becomes notes at the column.
Errors: SC551 unsupported-arrow-type, SC552 unreadable-source; what is not a StructType is left to the reader of StructTypes to refuse.
Source: the Delta protocol, "Schema Serialization Format", "Column Mapping", "Column Invariants", "Generated Columns", "Default
      Columns", "Identity Columns" and "Type Widening"; `CharVarcharUtils` of Spark.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from schemac.engines.delta.log import Log, Metadata, log_folder, read_log
from schemac.importers import importer
from schemac.importers.datasets import with_attributes
from schemac.importers.sources import import_value
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.logical.model import FieldPath, Part, Schema, columns, preorder
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json

_ID = "delta.columnMapping.id"
_PHYSICAL_NAME = "delta.columnMapping.physicalName"
_NESTED_IDS = "delta.columnMapping.nested.ids"
_NESTED_PARTS = {"element": Part.ITEM, "key": Part.KEY, "value": Part.VALUE}
_RAW_TYPE = "__CHAR_VARCHAR_TYPE_STRING"
_LENGTH = re.compile(r"(?:var)?char\([1-9][0-9]{0,9}\)")
_IDENTITY = "delta.identity."
_HIGHEST = 2**31 - 1
_DEEPEST = 100
"""Levels that are looked at; deeper ones are refused later."""


class DeltaColumns:
    """Reads the columns of one version of a table: a StructType without the metadata that only Delta has."""

    def __init__(self, notes: importer.ImportNotes) -> None:
        self.ids: dict[FieldPath, int] = {}
        """Of fields, and of those items, keys and values that have one."""
        self.physical: dict[tuple[str, ...], FieldPath] = {}
        """Paths by those of the names in data files."""
        self._notes = notes

    def type(self, tree: Any, path: FieldPath = (), physical: tuple[str, ...] = ()) -> Any:
        """Return a type without Delta's metadata in its fields; one that is malformed, or nested too deep, may keep some."""
        if not isinstance(tree, dict) or len(path) > _DEEPEST:
            return tree
        if tree.get("type") == "struct" and isinstance(tree.get("fields"), list):
            return {**tree, "fields": [self._field(field, path, physical) for field in tree["fields"]]}
        changed = {
            f"{name}Type": self.type(tree[f"{name}Type"], (*path, part), physical)
            for name, part in _NESTED_PARTS.items()
            if f"{name}Type" in tree
        }
        return {**tree, **changed}

    def _field(self, field: Any, holder: FieldPath, above: tuple[str, ...]) -> Any:
        """Return a field without Delta's metadata, and record its ids and physical name; a malformed one stays as it is."""
        if not isinstance(field, dict) or not isinstance(field.get("name"), str):
            return field
        if not isinstance(field.get("metadata", {}), dict):
            return field
        path = (*holder, field["name"])
        metadata = dict(field.get("metadata") or {})
        name = metadata.pop(_PHYSICAL_NAME, field["name"])
        physical = (*above, str(name))
        self.physical[physical] = path
        if name != field["name"]:
            self._notes.add(path, f"not kept: its name in data files, {name}")
        id = metadata.pop(_ID, None)
        if _is_id(id):
            self.ids[path] = id
        nested = metadata.pop(_NESTED_IDS, None)
        self._note_rules(metadata, path)
        type_ = self.type(field.get("type"), path, physical)
        type_ = self._with_length(type_, metadata, path)
        for key, id in nested.items() if isinstance(nested, dict) else ():
            steps = key.removeprefix(f"{name}.").split(".")
            if _is_id(id) and all(step in _NESTED_PARTS for step in steps):
                self.ids[*path, *(_NESTED_PARTS[step] for step in steps)] = id
        return {**field, "type": type_, "metadata": metadata}

    def _with_length(self, type_: Any, metadata: Json, path: FieldPath) -> Any:
        """Return the type with the length that Spark has next to it; below the column it stays a note."""
        raw = metadata.pop(_RAW_TYPE, None)
        if raw is None:
            return type_
        if type_ == "string" and isinstance(raw, str) and _LENGTH.fullmatch(raw):
            return raw
        self._notes.add(path, f"not kept: the lengths in {raw}")
        return type_

    def _note_rules(self, metadata: Json, path: FieldPath) -> None:
        """Remove rules, defaults and type histories from the metadata of a column, and note them: a manifest has no place for them."""
        generated = metadata.pop("delta.generationExpression", None)
        if generated is not None:
            self._notes.add(path, f"not kept: GENERATED ALWAYS AS ({generated})")
        invariants = metadata.pop("delta.invariants", None)
        if invariants is not None:
            self._notes.add(path, f"not kept: CHECK ({_expression(invariants)})")
        default = metadata.pop("CURRENT_DEFAULT", None)
        existing = metadata.pop("EXISTS_DEFAULT", None)
        if default is not None:
            self._notes.add(path, f"not kept: DEFAULT {default}")
        if existing is not None and existing != default:
            self._notes.add(path, f"not kept: existing rows without it have {existing}")
        identity = {
            key.removeprefix(_IDENTITY): metadata.pop(key)
            for key in sorted(metadata)
            if key.startswith(_IDENTITY)
        }
        if identity:
            how = "BY DEFAULT" if identity.get("allowExplicitInsert") else "ALWAYS"
            start, step = identity.get("start", 1), identity.get("step", 1)
            reached = f", reached {identity['highWaterMark']}" if "highWaterMark" in identity else ""
            text = f"GENERATED {how} AS IDENTITY (START WITH {start} INCREMENT BY {step}){reached}"
            self._notes.add(path, f"not kept: {text}")
        changes = metadata.pop("delta.typeChanges", None)
        for change in changes if isinstance(changes, list) else ():
            if isinstance(change, dict):
                was, became = change.get("fromType"), change.get("toType")
                self._notes.add(path, f"not kept: files written earlier may have {was} in place of {became}")


def _is_id(value: Any) -> bool:
    """Whether a value is an id of column mapping: a positive integer of 32 bits."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _HIGHEST


def _expression(invariants: Any) -> str:
    """Return the SQL expression in the JSON of an invariant, or the whole text if it is malformed."""
    try:
        return str(json.loads(invariants)["expression"]["expression"])
    except (TypeError, ValueError, KeyError, RecursionError):
        return str(invariants)


_MODE = "delta.columnMapping.mode"
_HIGHEST_ID = "delta.columnMapping.maxColumnId"
_MANAGED = frozenset({"catalogManaged", "catalogOwned-preview"})
"""Features of tables whose commits a catalog decides on."""
_CONSTRAINT = "delta.constraints."


def read(path: Path, report: Report) -> importer.ImportedSchema | None:
    """Return the newest schema of a table, and those before it where its columns have ids."""
    folder = log_folder(path)
    log = read_log(folder, with_history=False)
    if _is_mapped(log.metadata[-1]):
        log = read_log(folder, with_history=True)
    metadata = log.metadata[-1]
    notes = importer.ImportNotes()
    columns = DeltaColumns(notes)
    imported = _schema(metadata, columns, path, report)
    if imported is None:
        return None
    notes.merge(imported.notes)
    name = metadata.name or folder.resolve().parent.name or None
    tree = _described(imported.schema, metadata)
    numbered = _numbered(log, tree, columns, path)
    return importer.ImportedSchema(tree, tuple(_comments(log, metadata, columns)), name, notes, numbered)


def _schema(
    metadata: Metadata, columns: DeltaColumns, path: Path, report: Report
) -> importer.ImportedSchema | None:
    """Return the schema of one version; None after reporting why it is unreadable."""
    try:
        document = json.loads(metadata.schema or "")
    except (ValueError, RecursionError) as error:
        reason = f"the schema of its version {metadata.version} is not valid JSON: {error}"
        raise importer.UnreadableSourceError(reason) from error
    return import_value("spark", columns.type(document), str(path), report)


def _described(tree: Json, metadata: Metadata) -> Json:
    """Return a schema's tree with the table's description in `extra`, if there is one."""
    return with_attributes(tree, {DESCRIPTION.key: metadata.description} if metadata.description else {})


def _comments(log: Log, metadata: Metadata, columns: DeltaColumns) -> Iterator[str]:
    """Yield one line for the version, and one for each setting that a manifest has no place for."""
    yield f"from version {log.version} of a Delta table"
    if not _MANAGED.isdisjoint(log.features):
        yield "its catalog may have newer versions, which this log does not have yet"
    if metadata.partitions:
        yield f"not kept: PARTITIONED BY ({', '.join(metadata.partitions)})"
    if log.clustering:
        paths = [columns.physical.get(names, names) for names in log.clustering]
        yield f"not kept: CLUSTER BY ({', '.join('.'.join(map(str, path)) for path in paths)})"
    for key, value in sorted(metadata.properties.items()):
        lost = f"the table property {key}={value}"
        if key.startswith(_CONSTRAINT):
            lost = f"CONSTRAINT {key.removeprefix(_CONSTRAINT)} CHECK ({value})"
        yield f"not kept: {lost}"


def _is_mapped(metadata: Metadata) -> bool:
    """Whether a table maps its columns by id or name, so that they have ids."""
    return metadata.properties.get(_MODE, "none") != "none"


def _numbered(log: Log, tree: Json, newest: DeltaColumns, path: Path) -> tuple[importer.NumberedVersion, ...]:
    """Return the versions whose columns have ids, oldest first; none where an id is missing, or occurs twice."""
    schemas_with_ids: list[tuple[Json, dict[FieldPath, int]]] = []
    for metadata in log.metadata[:-1]:
        if metadata.schema is None or not _is_mapped(metadata):
            continue
        columns = DeltaColumns(importer.ImportNotes())
        past = Report()
        imported = _schema(metadata, columns, path, past)
        # What no kind stands for is no part of this history; the newest schema was read without a finding.
        if imported is not None and not past.has_errors:
            schemas_with_ids.append((_described(imported.schema, metadata), columns.ids))
    schemas_with_ids.append((tree, newest.ids))
    if not (_is_mapped(log.metadata[-1]) and all(_has_unique_ids(*one) for one in schemas_with_ids)):
        return ()
    declared = [metadata.properties.get(_HIGHEST_ID, "") for metadata in log.metadata]
    declared_ids = [int(text) for text in declared if text.isascii() and text.isdecimal() and len(text) < 11]
    ids_of_fields = [id for _, ids in schemas_with_ids for id in ids.values()]
    highest = max((*declared_ids, *ids_of_fields), default=0)
    # Items, keys and values without an id get one above all that Delta gave, the same in all versions.
    part_ids = defaultdict[tuple[int, FieldPath], int](count(highest + 1).__next__)
    whole = [(schema, _with_part_ids(schema, ids, part_ids)) for schema, ids in schemas_with_ids]
    return tuple(importer.NumberedVersion(schema, ids, highest + len(part_ids)) for schema, ids in whole)


def _has_unique_ids(schema: Json, ids: Mapping[FieldPath, int]) -> bool:
    """Whether every column and member of a schema has an id that no other one has."""
    try:
        members = [path for path in _paths(schema) if not isinstance(path[-1], Part)]
    except ValidationError:
        return False
    return all(path in ids for path in members) and len(set(ids.values())) == len(ids)


def _paths(schema: Json) -> list[FieldPath]:
    """All paths of a schema in the standard's long form. Raises ValidationError where it is nested too deeply for a manifest."""
    return [field.path for field in preorder(columns(Schema.model_validate(schema)))]


def _with_part_ids(
    schema: Json, ids: Mapping[FieldPath, int], part_ids: defaultdict[tuple[int, FieldPath], int]
) -> dict[FieldPath, int]:
    """Return ids for every path of a schema; `part_ids` makes those by the id of the field that a part is of, and the steps from there."""
    whole: dict[FieldPath, int] = {}
    for path in _paths(schema):
        end = next(end for end in range(len(path), 0, -1) if not isinstance(path[end - 1], Part))
        whole[path] = ids[path] if path in ids else part_ids[whole[path[:end]], path[end:]]
    return whole


IMPORTER = importer.Importer("delta", "Delta Lake table's folder", read)
