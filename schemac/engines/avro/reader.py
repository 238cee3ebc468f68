"""Avro schemas as `schemac import` reads them, with their named types.

Layer: engines.
Shape: a union of several types, and a record that contains itself, are any value of JSON, with a note. A logical type that is not
      known, or does not fit, counts as the type below it. A type that the file does not declare is looked for in the files next to it,
      for tools that compile schemas take several files.
Errors: SC552 for what is not a schema.
Source: Avro 1.12, "Schema Declaration" and "Names".
      JSON that holds Avro schemas without being a record, and no data either: Avro 1.12, "Schema Declaration": a list is a union, and
      an `error` belongs to a protocol.
Why by hand: `fastavro.parse_schema` 1.13 accepts a record without fields and a name that is a number, and refuses what the
      specification has: a decimal that does not fit its bytes (which counts as bytes), `{"type": "Name"}`, a type that is later in a
      list; a default of another type it refuses as well, which is a note here. Its errors name no field (`KeyError: 'items'`). So every
      check that comes before a message would stay, and only the table of names would go. It judges the schemas that are written, in
      `tests/engines/avro`.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from schemac.engines.avro.artifact import TYPE, is_default
from schemac.engines.avro.attributes import ALIASES, DEFAULT, NAMESPACE
from schemac.importers import datasets, importer
from schemac.importers.sources import ForeignDocument
from schemac.language.attributes.attribute import KEY_PATTERN
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.kinds.registry import kind_of_name
from schemac.language.logical.dataset import LogicalDataset, Origins
from schemac.language.logical.model import FieldPath, Part, Schema, columns, dotted
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json

_NAMED = ("record", "error", "enum", "fixed")


def malformed(reason: str) -> importer.UnreadableSourceError:
    """Return the error for a schema that is not valid Avro."""
    return importer.UnreadableSourceError(f"it is not an Avro schema: {reason}")


class NamedTypes:
    """The types that the schemas of a file may name."""

    def __init__(self, path: Path, tops: Sequence[Json]) -> None:
        self._path = path
        self._named: Json = {}
        """By their full names."""
        self._sibling_types: Json | None = None
        """Those of the other files of the folder, once one was looked for."""
        for top in tops:
            if top.get("type") in _NAMED:
                self.declare(top, "", ())

    def declare(self, type_: Json, namespace: str, path: FieldPath) -> str:
        """Enter a type, and return its full name. Raises UnreadableSourceError if it has none."""
        name = full_name(type_, namespace, path)
        self._named[name] = type_
        return name

    def declare_all(self, type_: Any, namespace: str, path: FieldPath) -> None:
        """Enter all types that are declared in another one, which is not read itself."""
        for inner_type, around in _within(type_, namespace):
            if isinstance(inner_type, dict) and inner_type.get("type") in _NAMED:
                self.declare(inner_type, around, path)

    def find(self, full: str) -> Any | None:
        """Return the type of a full name; None if it is not declared."""
        if full in self._named:
            return self._named[full]
        if self._sibling_types is None:
            self._sibling_types = {}
            for file in sorted(self._path.parent.glob("*.avsc")):
                if file == self._path or not file.is_file():
                    continue
                try:
                    document = json.loads(file.read_bytes())
                except (ValueError, OSError, RecursionError):
                    continue
                for one in document if isinstance(document, list) else [document]:
                    is_named = isinstance(one, dict) and one.get("type") in _NAMED
                    if is_named and isinstance(one.get("name"), str):
                        self._sibling_types[full_name(one, "")] = one
        return self._sibling_types.get(full)

    def unused(self, records: Sequence[Json]) -> list[Json]:
        """Return the records that no other of them is made of; the last one where each is."""
        used: set[str] = set()
        for one in records:
            names = {
                inner_type if "." in inner_type else f"{around}.{inner_type}"
                for inner_type, around in _within(one, "")
                if isinstance(inner_type, str)
            }
            used |= names - {full_name(one, "")}
        return [one for one in records if full_name(one, "") not in used] or list(records[-1:])


def _within(type_: Any, namespace: str) -> Iterator[tuple[Any, str]]:
    """Yield a type and all parts of it, each with the namespace around it."""
    stack = [(type_, namespace)]
    while stack:
        inner_type, around = stack.pop()
        yield inner_type, around
        if isinstance(inner_type, list):
            stack += [(one, around) for one in reversed(inner_type)]
        elif isinstance(inner_type, dict):
            is_named = inner_type.get("type") in _NAMED
            inner = full_name(inner_type, around).rpartition(".")[0] if is_named else around
            keys = [key for key in ("fields", "values", "items", "type") if key in inner_type]
            stack += [(inner_type[key], inner) for key in keys]


def full_name(type_: Json, namespace: str, path: FieldPath = ()) -> str:
    """Return the namespace and the name of a named type with a dot between; `.name` without a namespace. Raises UnreadableSourceError."""
    name = type_.get("name")
    if not isinstance(name, str) or not isinstance(type_.get("namespace", ""), str):
        raise malformed(f"a {type_['type']} {of_path(path)}has no name")
    return name if "." in name else f"{type_.get('namespace', namespace)}.{name}"


def members_of(type_: Json, path: FieldPath) -> list[Any]:
    """Return the fields of a record. Raises UnreadableSourceError."""
    members = type_.get("fields")
    if not isinstance(members, list):
        raise malformed(f"a record {of_path(path)}has no fields")
    return members


def of_path(path: FieldPath) -> str:
    """Return `of <path> ` for a message about a type; empty for the whole record."""
    return f"of {dotted(path)} " if path else ""


_KEY = re.compile(KEY_PATTERN)
_PRIMITIVES = {
    word: kind_of_name(word)
    for word in ("null", "boolean", "int", "long", "float", "double", "string", "bytes")
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


def read(path: Path, _report: Report) -> importer.ImportedSchema:
    """Read the records of a file; one may be in a union, as in a list of types that are named before they are used."""
    try:
        document = json.loads(path.read_bytes(), parse_float=importer.double)
    except (ValueError, RecursionError) as error:
        raise importer.UnreadableSourceError(f"it is not valid JSON: {error}") from error
    named = [one for one in (document if isinstance(document, list) else [document]) if isinstance(one, dict)]
    records = [one for one in named if one.get("type") == "record"]
    if not records:
        help = "specify the file of a record; types in other files of its folder are found by their names"
        reason = "it is not an Avro record, and only a record can be a table"
        raise importer.UnreadableSourceError(reason, help=help)
    types = NamedTypes(path, named)
    return importer.together([_Reader(types).dataset(one) for one in types.unused(records)])


class _Reader:
    """Reads one record into a dataset in the form of a manifest."""

    def __init__(self, types: NamedTypes) -> None:
        self._types = types
        self._notes = importer.ImportNotes()
        self._open: list[str] = []
        """Full names of the records that are being read."""

    def dataset(self, document: Json) -> importer.ImportedSchema:
        """Return a record as a dataset. Raises UnreadableSourceError."""
        full = self._types.declare(document, "", ())
        namespace, _, name = full.rpartition(".")
        extra = _extra(document)
        if namespace:
            extra[NAMESPACE.key] = namespace
        self._open.append(full)
        fields = [self._field(member, namespace, ()) for member in members_of(document, ())]
        return importer.ImportedSchema({"fields": fields, "extra": extra}, name=name, notes=self._notes)

    def _field(self, member: Any, namespace: str, holder: FieldPath) -> Json:
        """Return a field's tree; note an order or default that is lost. Raises UnreadableSourceError without a name or type."""
        if not isinstance(member, dict) or not isinstance(member.get("name"), str) or "type" not in member:
            raise malformed(f"a field {of_path(holder)}has no name or no type")
        path = (*holder, member["name"])
        extra = _extra(member)
        if member.get("aliases"):
            extra[ALIASES.key] = member["aliases"]
        if member.get("order", "ascending") != "ascending":
            self._notes.add(path, f"not kept: the order {member['order']}")
        tree = self._type(member["type"], namespace, path)
        if member.get("default") is not None:
            extra |= self._default(member["default"], tree, path)
        return datasets.member(member["name"], tree, extra)

    def _default(self, value: Any, tree: Json, path: FieldPath) -> Json:
        """Return the default of a field as an attribute; where the field holds any value of JSON, that of its text."""
        if tree.get("inner", tree) == datasets.any_json():
            return {DEFAULT.key: json.dumps(value, ensure_ascii=False)}
        if not _fits(value, datasets.split_extra(tree)[0]):
            message = f"not kept: the default {json.dumps(value, ensure_ascii=False)[:200]}, which is not a value of its type"
            self._notes.add(path, message)
            return {}
        return {DEFAULT.key: value}

    def _type(self, type_: Any, namespace: str, path: FieldPath) -> Json:
        """Return a type's tree; the null type becomes an optional Null."""
        return datasets.optional(self._tree_of(type_, namespace, path), is_required=True)

    def _tree_of(self, type_: Any, namespace: str, path: FieldPath) -> Json:
        """Return the tree of a type in any form: a name, a union, or an object. Raises UnreadableSourceError."""
        if len(path) > _DEEPEST:
            raise malformed("it is nested too deeply")
        if isinstance(type_, list):
            others = [branch for branch in type_ if branch != "null"]
            if len(others) != 1 or len(type_) > 2:
                branches = ", ".join(str(b.get("type") if isinstance(b, dict) else b) for b in type_)
                self._types.declare_all(type_, namespace, path)
                tree = self._any_json(path, f"the union of {branches or 'nothing'}")
                return datasets.optional(tree, is_required=len(others) == len(type_))
            inner = self._type(others[0], namespace, path)
            return {"kind": "Option", "inner": inner} if len(type_) > 1 else inner
        if isinstance(type_, str):
            if type_ in _PRIMITIVES:
                return {"kind": _PRIMITIVES[type_]}
            full = type_ if "." in type_ else f"{namespace}.{type_}"
            if full in self._open:
                return self._any_json(path, f"the record {type_}, which contains itself")
            declared_type = self._types.find(full)
            if declared_type is None:
                message = f"{dotted(path)} is of a type '{type_}' that is declared neither before it nor in a file of its folder"
                raise malformed(message)
            return self._type(declared_type, full.rpartition(".")[0], path)
        if not isinstance(type_, dict) or "type" not in type_:
            raise malformed(f"the type of {dotted(path)} is not valid")
        tree = _annotated_type(type_, self._complex(type_, namespace, path))
        return datasets.with_attributes(tree, _extra(type_)) if tree["kind"] != "Option" else tree

    def _any_json(self, path: FieldPath, what: str) -> Json:
        """Return the type of any value of JSON, with a note of what the field was."""
        self._notes.add(path, f"any value of JSON; not kept: {what}")
        return datasets.any_json()

    def _complex(self, type_: Json, namespace: str, path: FieldPath) -> Json:
        """Return the tree of a type that Avro writes as an object. Raises UnreadableSourceError for a malformed one."""
        match type_["type"]:
            case "record" | "error":
                full = self._types.declare(type_, namespace, path)
                inner = full.rpartition(".")[0]
                self._open.append(full)
                members = [self._field(member, inner, path) for member in members_of(type_, path)]
                self._open.pop()
                return datasets.struct(members)
            case "enum":
                self._types.declare(type_, namespace, path)
                tree: Json = {"kind": "String"}
                symbols = type_.get("symbols")
                constraints = datasets.enumerated(symbols) if isinstance(symbols, list) else {}
                accepted, lost = datasets.fitting(tree, constraints)
                if lost or not isinstance(symbols, list):
                    self._notes.add(path, f"not kept: an enum of {symbols}")
                if (default := type_.get("default")) is not None:
                    unknown = "the symbol for those that a reader does not know"
                    self._notes.add(path, f"not kept: {unknown}: {default}")
                return datasets.with_attributes(tree, accepted)
            case "fixed":
                self._types.declare(type_, namespace, path)
                size = type_.get("size")
                if type(size) is not int:
                    raise malformed(f"the size of {dotted(path)} is not valid")
                return self._logical(type_, {"kind": "Binary", "fixedLength": size}, path)
            case "array":
                return datasets.list_of(self._part_tree(type_, "items", namespace, path, Part.ITEM))
            case "map":
                values = self._part_tree(type_, "values", namespace, path, Part.VALUE)
                return datasets.map_of({"kind": "String"}, values)
        return self._logical(type_, self._type(type_["type"], namespace, path), path)

    def _part_tree(self, type_: Json, key: str, namespace: str, path: FieldPath, part: Part) -> Json:
        """Return the tree of an item or value. Raises UnreadableSourceError if its type is missing."""
        if key not in type_:
            raise malformed(f"`{key}` is missing in {dotted(path)}")
        return self._type(type_[key], namespace, (*path, part))

    def _logical(self, type_: Json, plain: Json, path: FieldPath) -> Json:
        """Return the type of a logical type over an underlying type."""
        logical = type_.get("logicalType")
        if logical is None:
            return plain
        precision: Any = type_.get("precision")
        scale: Any = type_.get("scale", 0)
        if logical == "decimal" and type_["type"] in ("bytes", "fixed"):
            are_whole = type(precision) is int and type(scale) is int
            if are_whole and 0 <= scale <= precision <= datasets.MOST_DIGITS and precision > 0:
                return {"kind": "Decimal", "precision": precision, "scale": scale}
        elif isinstance(type_["type"], str) and (type_["type"], logical) in _LOGICAL:
            return dict(_LOGICAL[type_["type"], logical])
        self._notes.add(path, f"not kept: the logical type {logical}")
        return plain


def _annotated_type(type_: Json, read_tree: Json) -> Json:
    """Return the type that the manifest had, where the schema has kept it: a leaf, a list of one length, or a map with any keys."""
    tree = type_.get(TYPE)
    if not isinstance(tree, dict) or not isinstance(tree.get("kind"), str):
        return read_tree
    if read_tree["kind"] != "List" or tree["kind"] != "Map":
        return {**(read_tree if read_tree["kind"] == tree["kind"] else {}), **tree}
    entry = read_tree["itemType"]
    if entry.get("kind") != "Struct" or len(entry["fields"]) != 2:
        return read_tree
    key, value = entry["fields"]
    return {**tree, "keyType": _part_of(key), "valueType": _part_of(value)}


def _fits(value: Any, tree: Json) -> bool:
    """Whether a default is a value of the type that a field is read as, for that is what it is written as."""
    try:
        schema = Schema.model_validate({"fields": [{"name": "it", "type": tree}]})
    except ValidationError:
        return False
    return is_default(value, LogicalDataset("it", schema, columns(schema), Origins("")))


def _part_of(member: Json) -> Json:
    """Return the type of a member with its attributes next to the kind, inside of an Option."""
    tree, extra = member["type"], member.get("extra", {})
    if tree["kind"] == "Option":
        return {**tree, "inner": datasets.with_attributes(tree["inner"], extra)}
    return datasets.with_attributes(tree, extra)


def _extra(holder: Json) -> Json:
    """Return the attributes among the properties of a field or type."""
    doc = {DESCRIPTION.key: holder["doc"]} if isinstance(holder.get("doc"), str) else {}
    return {**doc, **{key: value for key, value in holder.items() if _KEY.fullmatch(key) and key != TYPE}}


IMPORTER = importer.Importer("avro", "Avro schema", read)


_MOST_BYTES = 4 * 1024 * 1024
"""Largest `.json` file that is looked into; larger ones are data."""


def is_source(path: Path) -> bool:
    """Return whether a `.json` file is an Avro record; the suffix `.avsc` is enough."""
    if path.suffix.lower() != ".json" or not path.is_file() or path.stat().st_size > _MOST_BYTES:
        return False
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("type") == "record" and _is_schema(document)


def _is_schema(value: Any) -> bool:
    """Whether a document is a record or error of Avro, or a list of them."""
    if isinstance(value, list):
        return bool(value) and all(map(_is_schema, value))
    is_named = isinstance(value, dict) and value.get("type") in ("record", "error") and "name" in value
    return is_named and isinstance(value.get("fields"), list)


DOCUMENTS = (ForeignDocument("an Avro schema", _is_schema, "import a file that holds one record"),)
"""What to import in place of such a file."""
