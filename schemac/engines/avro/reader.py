"""Avro schemas as `schemac import` reads them.

Layer: engines.
Errors: SC551 for a type that no kind stands for, SC552 for what is no schema.
Source: Avro 1.12, "Schema Declaration". A logical type that is not known, or does not fit, counts as the type below it.
"""

import json
import re
from pathlib import Path
from typing import Any

from schemac.attributes.attribute import KEY_PATTERN
from schemac.attributes.odf import DESCRIPTION
from schemac.engines.avro.artifact import TYPE
from schemac.engines.avro.attributes import ALIASES, DEFAULT, NAMESPACE
from schemac.importers.importer import Imported, Importer, Notes, refuse
from schemac.logical.path import FieldPath, Part, dotted
from schemac.source.catalogue import UNSUPPORTED_ARROW_TYPE
from schemac.source.json_object import Json
from schemac.source.report import Report

_KEY = re.compile(KEY_PATTERN)
_PRIMITIVES = {
    "null": "Null",
    "boolean": "Bool",
    "int": "Int32",
    "long": "Int64",
    "float": "Float32",
    "double": "Float64",
    "string": "String",
    "bytes": "Binary",
}
_LOGICAL: dict[tuple[str, str], Json] = {
    ("int", "date"): {"kind": "Date"},
    ("int", "time-millis"): {"kind": "Time", "unit": "Millisecond"},
    ("long", "time-micros"): {"kind": "Time", "unit": "Microsecond"},
    **{
        ("long", f"{local}timestamp-{unit}"): {"kind": "Timestamp", "unit": name, "timezone": zone}
        for unit, name in (("millis", "Millisecond"), ("micros", "Microsecond"), ("nanos", "Nanosecond"))
        for local, zone in (("", "UTC"), ("local-", None))
    },
}
_DEEPEST = 100
"""Levels of nesting that are read."""


class _MalformedError(Exception):
    """Something that is no Avro schema, and why."""


class _UnsupportedError(Exception):
    """A type that no kind stands for, at a path."""

    def __init__(self, path: FieldPath, type_: str) -> None:
        super().__init__(type_)
        self.path = path


def read(path: Path, report: Report) -> Imported | None:
    """Read the schema of a file with an Avro record."""
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        refuse(path, f"it is no JSON: {error}", report)
        return None
    if not isinstance(document, dict) or document.get("type") != "record":
        refuse(path, "it is no record of Avro, which a table has to be", report)
        return None
    try:
        return _Reader(report, str(path)).dataset(document)
    except _MalformedError as error:
        refuse(path, f"it is no schema of Avro: {error}", report)
    return None


class _Reader:
    def __init__(self, report: Report, file: str) -> None:
        self._report = report
        self._file = file
        self._notes = Notes()
        self._named: Json = {}
        """Named types by their full name."""
        self._open: list[str] = []
        """Full names of the records that are being read."""

    def dataset(self, document: Json) -> Imported:
        name, namespace = _full_name(document, "", ())
        extra = _extra(document)
        if namespace:
            extra[NAMESPACE.key] = namespace
        self._named[f"{namespace}.{name}"] = document
        self._open.append(f"{namespace}.{name}")
        fields: list[Json] = []
        for member in _members(document, ()):
            try:
                fields.append(self._field(member, namespace, ()))
            except _UnsupportedError as error:
                message = f"{dotted(error.path)}: no kind stands for Avro's {error}"
                help = f"leave the column out with `--skip '{error.path[0]}'`"
                self._report.add(
                    UNSUPPORTED_ARROW_TYPE, message, file=self._file, path=dotted(error.path), help=help
                )
        return Imported({"fields": fields, "extra": extra}, name=name, notes=self._notes)

    def _field(self, member: Any, namespace: str, holder: FieldPath) -> Json:
        if not isinstance(member, dict) or not isinstance(member.get("name"), str) or "type" not in member:
            raise _MalformedError(f"a field {_of(holder)}has no name or no type")
        path = (*holder, member["name"])
        extra = _extra(member)
        if member.get("aliases"):
            extra[ALIASES.key] = member["aliases"]
        if member.get("default") is not None:
            extra[DEFAULT.key] = member["default"]
        if member.get("order", "ascending") != "ascending":
            self._notes.add(path, f"not kept: the order {member['order']}")
        return {"name": member["name"], "type": self._type(member["type"], namespace, path), "extra": extra}

    def _type(self, type_: Any, namespace: str, path: FieldPath) -> Json:
        found = self._any_type(type_, namespace, path)
        # What is always null may be null.
        return {"kind": "Option", "inner": found} if found["kind"] == "Null" else found

    def _any_type(self, type_: Any, namespace: str, path: FieldPath) -> Json:
        if len(path) > _DEEPEST:
            raise _MalformedError("it is nested too deeply")
        if isinstance(type_, list):
            others = [branch for branch in type_ if branch != "null"]
            if len(others) != 1 or len(type_) > 2:
                shown = ", ".join(str(b.get("type") if isinstance(b, dict) else b) for b in type_)
                raise _UnsupportedError(path, f"union of {shown or 'nothing'}")
            inner = self._type(others[0], namespace, path)
            return {"kind": "Option", "inner": inner} if len(type_) > 1 else inner
        if isinstance(type_, str):
            if type_ in _PRIMITIVES:
                return {"kind": _PRIMITIVES[type_]}
            return self._reference(type_, namespace, path)
        if not isinstance(type_, dict) or "type" not in type_:
            raise _MalformedError(f"the type of {dotted(path)} is none")
        found = _as_kept(type_, self._complex(type_, namespace, path))
        extra = _extra(type_)
        return {**found, "extra": extra} if extra and found["kind"] != "Option" else found

    def _reference(self, name: str, namespace: str, path: FieldPath) -> Json:
        full = name if "." in name else f"{namespace}.{name}"
        if full not in self._named:
            raise _MalformedError(f"{dotted(path)} is of a type '{name}' that is not declared before")
        if full in self._open:
            raise _UnsupportedError(path, f"record {name}, which contains itself")
        return self._type(self._named[full], full.rpartition(".")[0], path)

    def _complex(self, type_: Json, namespace: str, path: FieldPath) -> Json:
        match type_["type"]:
            case "record" | "error":
                return self._record(type_, namespace, path)
            case "enum":
                self._declare(type_, namespace, path)
                self._notes.add(path, f"not kept: an enum of {', '.join(map(str, type_.get('symbols', ())))}")
                return {"kind": "String"}
            case "fixed":
                self._declare(type_, namespace, path)
                size = type_.get("size")
                if type(size) is not int:
                    raise _MalformedError(f"the size of {dotted(path)} is none")
                plain = {"kind": "Binary", "fixedLength": size}
                return self._logical(type_, plain, path)
            case "array":
                return {"kind": "List", "itemType": self._part(type_, "items", namespace, path, Part.ITEM)}
            case "map":
                values = self._part(type_, "values", namespace, path, Part.VALUE)
                return {"kind": "Map", "keyType": {"kind": "String"}, "valueType": values}
        return self._logical(type_, self._type(type_["type"], namespace, path), path)

    def _part(self, type_: Json, key: str, namespace: str, path: FieldPath, part: Part) -> Json:
        if key not in type_:
            raise _MalformedError(f"`{key}` is missing in {dotted(path)}")
        return self._type(type_[key], namespace, (*path, part))

    def _record(self, type_: Json, namespace: str, path: FieldPath) -> Json:
        full, inner = self._declare(type_, namespace, path)
        self._open.append(full)
        try:
            members = [self._field(member, inner, path) for member in _members(type_, path)]
        finally:
            self._open.pop()
        return {"kind": "Struct", "fields": members}

    def _declare(self, type_: Json, namespace: str, path: FieldPath) -> tuple[str, str]:
        name, own = _full_name(type_, namespace, path)
        self._named[f"{own}.{name}"] = type_
        return f"{own}.{name}", own

    def _logical(self, type_: Json, plain: Json, path: FieldPath) -> Json:
        """Return the type that a logical type makes of the one below it."""
        logical = type_.get("logicalType")
        if logical is None:
            return plain
        precision, scale = type_.get("precision"), type_.get("scale", 0)
        if logical == "decimal" and type_["type"] in ("bytes", "fixed"):
            if (
                type(precision) is int
                and type(scale) is int
                and 0 <= scale <= precision <= 76
                and precision > 0
            ):
                return {"kind": "Decimal", "precision": precision, "scale": scale}
        elif isinstance(type_["type"], str) and (type_["type"], logical) in _LOGICAL:
            return dict(_LOGICAL[type_["type"], logical])
        self._notes.add(path, f"not kept: the logical type {logical}")
        return plain


def _full_name(type_: Json, namespace: str, path: FieldPath) -> tuple[str, str]:
    """Name and namespace of a named type."""
    name = type_.get("name")
    if not isinstance(name, str) or not isinstance(type_.get("namespace", ""), str):
        raise _MalformedError(f"a {type_['type']} {_of(path)}has no name")
    if "." in name:
        namespace, _, name = name.rpartition(".")
        return name, namespace
    return name, type_.get("namespace", namespace)


def _members(type_: Json, path: FieldPath) -> list[Any]:
    members = type_.get("fields")
    if not isinstance(members, list):
        raise _MalformedError(f"a record {_of(path)}has no fields")
    return members


def _of(path: FieldPath) -> str:
    return f"of {dotted(path)} " if path else ""


def _as_kept(type_: Json, found: Json) -> Json:
    """Return the type that the manifest had, where the schema has kept it: a leaf, a list of one length, or a map with any keys."""
    tree = type_.get(TYPE)
    if not isinstance(tree, dict) or not isinstance(tree.get("kind"), str):
        return found
    if found["kind"] != "List" or tree["kind"] != "Map":
        return {**(found if found["kind"] == tree["kind"] else {}), **tree}
    entry = found["itemType"]
    key, value = (
        entry["fields"] if entry.get("kind") == "Struct" and len(entry["fields"]) == 2 else (None, None)
    )
    return {**tree, "keyType": key["type"], "valueType": value["type"]} if key and value else found


def _extra(holder: Json) -> Json:
    """Attributes among the properties of a field or type."""
    doc = {DESCRIPTION.key: holder["doc"]} if isinstance(holder.get("doc"), str) else {}
    return {**doc, **{key: value for key, value in holder.items() if _KEY.fullmatch(key) and key != TYPE}}


IMPORTER = Importer("avro", "Avro schema", read)
