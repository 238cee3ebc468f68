"""What Delta keeps in the metadata of columns, besides what Spark has there.

Layer: engines.
Shape: a StructType in its JSON form is copied without these keys; ids go by path, the rest becomes notes at its column.
Errors: what is not a StructType is left as it is, for the reader of StructTypes to refuse.
Source: the Delta protocol, "Column Mapping", "Column Invariants", "Generated Columns", "Default Columns", "Identity Columns",
"Type Widening"; `CharVarcharUtils` of Spark.
"""

import json
import re
from typing import Any

from schemac.importers.importer import Notes
from schemac.logical.path import FieldPath, Part
from schemac.source.json_object import Json

_ID = "delta.columnMapping.id"
_PHYSICAL_NAME = "delta.columnMapping.physicalName"
_NESTED_IDS = "delta.columnMapping.nested.ids"
_RAW_TYPE = "__CHAR_VARCHAR_TYPE_STRING"
_LENGTH = re.compile(r"(?:var)?char\([1-9][0-9]{0,9}\)")
_IDENTITY = "delta.identity."
_HIGHEST = 2**31 - 1
_DEEPEST = 100
"""Levels that are looked at; deeper ones are refused later."""


class Columns:
    """Reads the columns of one version of a table."""

    def __init__(self, notes: Notes) -> None:
        self.ids: dict[FieldPath, int] = {}
        """Of fields, and of those items, keys and values that have one."""
        self.physical: dict[tuple[str, ...], FieldPath] = {}
        """Paths by those of the names in data files."""
        self._notes = notes

    def struct(self, tree: Any, path: FieldPath = (), physical: tuple[str, ...] = (), depth: int = 0) -> Any:
        """Return a StructType without what only Delta has there."""
        if not isinstance(tree, dict) or not isinstance(tree.get("fields"), list):
            return tree
        return {**tree, "fields": [self._field(f, path, physical, depth) for f in tree["fields"]]}

    def _field(self, field: Any, holder: FieldPath, above: tuple[str, ...], depth: int) -> Any:
        if not isinstance(field, dict) or not isinstance(field.get("name"), str):
            return field
        if not isinstance(field.get("metadata", {}), dict) or depth > _DEEPEST:
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
        type_ = self._type(field.get("type"), path, physical, depth)
        type_ = self._with_length(type_, metadata, path)
        self._take_nested(nested, type_, path, str(name))
        return {**field, "type": type_, "metadata": metadata}

    def _type(self, tree: Any, path: FieldPath, physical: tuple[str, ...], depth: int) -> Any:
        if not isinstance(tree, dict) or depth > _DEEPEST:
            return tree
        if tree.get("type") == "struct":
            return self.struct(tree, path, physical, depth + 1)
        parts = {"elementType": Part.ITEM, "keyType": Part.KEY, "valueType": Part.VALUE}
        changed = {
            key: self._type(tree[key], (*path, part), physical, depth + 1)
            for key, part in parts.items()
            if key in tree
        }
        return {**tree, **changed}

    def _with_length(self, type_: Any, metadata: Json, path: FieldPath) -> Any:
        """Return the type with the length that Spark has next to it; below the column it stays a note."""
        raw = metadata.pop(_RAW_TYPE, None)
        if raw is None:
            return type_
        if type_ == "string" and isinstance(raw, str) and _LENGTH.fullmatch(raw):
            return raw
        self._notes.add(path, f"not kept: the lengths in {raw}")
        return type_

    def _take_nested(self, nested: Any, type_: Any, path: FieldPath, name: str) -> None:
        if not isinstance(nested, dict):
            return
        parts = {"element": Part.ITEM, "key": Part.KEY, "value": Part.VALUE}
        for key, id in nested.items():
            steps = key.removeprefix(f"{name}.").split(".")
            if _is_id(id) and all(step in parts for step in steps):
                self.ids[*path, *(parts[step] for step in steps)] = id

    def _note_rules(self, metadata: Json, path: FieldPath) -> None:
        """Take out rules and histories: a manifest has no place for them."""
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
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _HIGHEST


def _expression(invariants: Any) -> str:
    try:
        return str(json.loads(invariants)["expression"]["expression"])
    except (TypeError, ValueError, KeyError, RecursionError):
        return str(invariants)
