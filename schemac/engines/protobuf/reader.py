"""Messages of Protobuf as `schemac import` reads them.

Layer: engines.
Shape: a message that no other of the file is made of is a table; its numbers go to the lock. A comment `schemac: {…}` says what the
messages do not, where the compiler wrote them.
Errors: SC552 for a file without messages.
Source: the language guides of Protocol Buffers, "Scalar Value Types" and "Field Presence".
"""

import json
from pathlib import Path
from typing import Any

from schemac.attributes.odf import DESCRIPTION
from schemac.engines.json_values import JSON_TYPE
from schemac.engines.protobuf.artifact import MARK
from schemac.engines.protobuf.numbering import NAME, is_number
from schemac.engines.protobuf.syntax import Field, File, MalformedError, Message, parse
from schemac.identity.lock import Highest, Numbers
from schemac.importers.importer import Imported, ImportedVersion, Importer, Notes, refuse
from schemac.logical.path import FieldPath, Part
from schemac.source.json_object import Json
from schemac.source.report import Report

_SCALARS = {
    "bool": "Bool",
    "string": "String",
    "bytes": "Binary",
    "float": "Float32",
    "double": "Float64",
    **dict.fromkeys(("int32", "sint32", "sfixed32"), "Int32"),
    **dict.fromkeys(("int64", "sint64", "sfixed64"), "Int64"),
    **dict.fromkeys(("uint32", "fixed32"), "UInt32"),
    **dict.fromkeys(("uint64", "fixed64"), "UInt64"),
}
_KNOWN = {
    "google.protobuf.Timestamp": {"kind": "Timestamp", "unit": "Nanosecond"},
    "google.protobuf.Duration": {"kind": "Duration", "unit": "Nanosecond"},
    **{
        f"google.protobuf.{name}Value": {"kind": kind}
        for name, kind in (
            ("Bool", "Bool"), ("String", "String"), ("Bytes", "Binary"), ("Float", "Float32"), ("Double", "Float64"),
            ("Int32", "Int32"), ("Int64", "Int64"), ("UInt32", "UInt32"), ("UInt64", "UInt64"),
        )
    },
}  # fmt: skip
_PARTS = {Part.ITEM: "itemType", Part.KEY: "keyType", Part.VALUE: "valueType"}


def read(path: Path, report: Report) -> Imported | None:
    """Read the messages of a file."""
    try:
        file = parse(path.read_text(encoding="utf-8"))
    except MalformedError as error:
        refuse(path, f"it is no .proto: {error}", report)
        return None
    tables = _Reader(file).tables()
    if not tables:
        refuse(path, "it has no message with fields that stands by itself", report)
        return None
    first, *others = tables
    return Imported(
        first.schema, first.comments, first.name, first.notes, first.versions, others=tuple(others)
    )


class _Reader:
    def __init__(self, file: File) -> None:
        self._file = file
        self._notes = Notes()
        self._numbers: dict[FieldPath, int] = {}
        self._given: list[int] = []
        """All numbers that fields have or had."""
        self._open: list[Message] = []

    def tables(self) -> list[Imported]:
        """Return the messages at the top that no other is made of, in the order of the file."""
        tops = [message for message in self._file.root.inner.values() if message.fields]
        used = {
            id(found)
            for top in tops
            for message in _all(top)
            for found in self._types_of(message)
            if found is not top
        }
        alone = [top for top in tops if id(top) not in used]
        # Messages that contain each other: the first of them.
        return [self._table(top) for top in alone or tops[:1]]

    def _types_of(self, message: Message) -> list[Message]:
        names = [name for f in message.fields for name in f.type.split(",")]
        return [found for name in names if (found := self._find(name, message)) is not None]

    def _table(self, message: Message) -> Imported:
        self._notes, self._numbers, self._given, self._open = Notes(), {}, [], [message]
        told = _told(message.comments)
        schema: Json = {"fields": self._members(message, ()), "extra": _extra(message.comments, told)}
        numbers = {path: Numbers.make({NAME: (number,)}) for path, number in self._numbers.items()}
        highest = Highest.make({NAME: max(self._given, default=0)})
        versions = (ImportedVersion(schema, numbers, highest),)
        return Imported(schema, name=told.get("name", message.name), notes=self._notes, versions=versions)

    def _members(self, message: Message, holder: FieldPath) -> list[Json]:
        self._given += [number for number in message.reserved if is_number(number)]
        chosen = [f.name for f in message.fields if f.label == "oneof"]
        fields: list[Json] = []
        for found in message.fields:
            told = _told(found.comments)
            path = (*holder, told.get("name", found.name))
            self._numbers[path] = found.number
            self._given.append(found.number)
            if found.label == "oneof":
                self._notes.add(path, f"not kept: that only one of {', '.join(chosen)} is there")
            if found.options:
                self._notes.add(path, f"not kept: the options {found.options[:200]}")
            tree = self._field(message, found, told, path)
            extra = {**_extra(found.comments, told)}
            fields.append({"name": path[-1], "type": tree, **({"extra": extra} if extra else {})})
        return fields

    def _field(self, message: Message, found: Field, told: Json, path: FieldPath) -> Json:
        """Return the type of a field, with its Option."""
        around = self._around(found.type, message) if found.label != "map" else None
        if around is not None and _told(around.comments)["around"] == "option":
            (inner,) = around.fields
            return _option(self._bare(around, inner, told, path))
        tree = self._bare(message, found, told, path)
        if tree["kind"] == "Option":
            return tree
        return _option(tree) if self._is_optional(message, found, told) else tree

    def _is_optional(self, message: Message, found: Field, told: Json) -> bool:
        if found.label in ("repeated", "map", "required") or told.get("required"):
            return False
        target = self._find(found.type, message)
        is_message = found.type not in _SCALARS and not (target is not None and target.is_enum)
        return is_message or found.label in ("optional", "oneof") or self._file.syntax != "proto3"

    def _bare(self, message: Message, found: Field, told: Json, path: FieldPath) -> Json:
        """Return the type of a field without its Option."""
        if found.label == "map":
            key, value = found.type.split(",")
            parts = [
                self._part(message, key, told, path, Part.KEY),
                self._part(message, value, told, path, Part.VALUE),
            ]
            tree: Json = {"kind": "Map", "keyType": parts[0], "valueType": parts[1]}
        elif found.label == "repeated":
            tree = self._repeated(message, found, told, path)
        else:
            tree = self._single(message, found.type, path)
        return _as_kept(told, tree)

    def _repeated(self, message: Message, found: Field, told: Json, path: FieldPath) -> Json:
        around = self._around(found.type, message)
        if around is not None and _told(around.comments)["around"] == "entry":
            key, value = around.fields
            return {
                "kind": "Map",
                "keyType": self._wrapped(around, key, (*path, Part.KEY)),
                "valueType": self._wrapped(around, value, (*path, Part.VALUE)),
            }
        return {"kind": "List", "itemType": self._part(message, found.type, told, path, Part.ITEM)}

    def _part(self, message: Message, type_: str, told: Json, path: FieldPath, part: Part) -> Json:
        """Return the type of an item, key or value, with its attributes."""
        around = self._around(type_, message)
        if around is not None:
            return self._wrapped(around, around.fields[0], (*path, part))
        tree = self._single(message, type_, (*path, part))
        kept = told.get(part.value, {})
        tree = _as_kept(kept, tree)
        extra = kept.get("extra", {})
        return {**tree, "extra": {**tree.get("extra", {}), **extra}} if extra else tree

    def _wrapped(self, around: Message, inner: Field, path: FieldPath) -> Json:
        """Return the type of the value in a message that is there only for it."""
        told = _told(inner.comments)
        tree = self._field(around, inner, told, path)
        extra = _extra(inner.comments, told)
        return {**tree, "extra": {**tree.get("extra", {}), **extra}} if extra else tree

    def _single(self, message: Message, type_: str, path: FieldPath) -> Json:
        if type_ in _SCALARS:
            if type_.startswith(("sint", "fixed", "sfixed")):
                self._notes.add(path, f"not kept: the encoding {type_}")
            return {"kind": _SCALARS[type_]}
        name = type_.lstrip(".")
        target = self._find(type_, message)
        if target is None:
            if name in _KNOWN:
                return dict(_KNOWN[name])
            return self._any(path, f"the type {name}, which is declared in another file")
        if target.is_enum:
            self._notes.add(path, f"not kept: an enum of {', '.join(target.values)}")
            return {"kind": "String"}
        if target in self._open:
            return self._any(path, f"{name}, which contains itself")
        self._open.append(target)
        try:
            return {"kind": "Struct", "fields": self._members(target, path)}
        finally:
            self._open.pop()

    def _any(self, path: FieldPath, what: str) -> Json:
        self._notes.add(path, f"any value of JSON; not kept: {what}")
        found: Json = json.loads(json.dumps(JSON_TYPE))
        return found

    def _around(self, type_: str, message: Message) -> Message | None:
        """Return the message of a type if it is there only for what a label cannot say."""
        found = self._find(type_, message)
        if found is None or not found.fields or "around" not in _told(found.comments):
            return None
        return found

    def _find(self, type_: str, message: Message) -> Message | None:
        """Return the message or enum of a name, from the inside out."""
        steps = type_.lstrip(".").split(".")
        package = self._file.package.split(".") if self._file.package else []
        scope: Message | None = self._file.root if type_.startswith(".") else message
        while scope is not None:
            for names in (
                steps,
                steps[len(package) :] if package and steps[: len(package)] == package else None,
            ):
                found = _below(scope, names) if names else None
                if found is not None:
                    return found
            scope = scope.outer
        return None


def _below(scope: Message, steps: list[str]) -> Message | None:
    found: Message | None = scope
    for step in steps:
        found = found.inner.get(step) if found is not None else None
    return found


def _all(message: Message) -> list[Message]:
    return [message, *(found for inner in message.inner.values() for found in _all(inner))]


def _as_kept(told: Json, tree: Json) -> Json:
    """Return the type that the manifest had: a leaf as a whole, a list or a map with its parts."""
    own = told.get("type")
    if not isinstance(own, dict):
        return tree
    has_parts = own.get("kind") == tree["kind"] and not tree.keys().isdisjoint(_PARTS.values())
    return {**tree, **own} if has_parts else dict(own)


def _option(tree: Json) -> Json:
    return {"kind": "Option", "inner": tree}


def _told(comments: tuple[str, ...]) -> Json:
    """Return what the compiler wrote above a field or message."""
    for line in comments:
        if line.startswith(MARK):
            try:
                found = json.loads(line.removeprefix(MARK))
            except ValueError:
                continue
            if isinstance(found, dict):
                return found
    return {}


def _extra(comments: tuple[str, ...], told: Json) -> Json:
    lines = [line for line in comments if not line.startswith(MARK)]
    text = "\n".join(lines).strip()
    extra: Any = told.get("extra", {})
    return {**({DESCRIPTION.key: text} if text else {}), **extra}


IMPORTER = Importer("protobuf", ".proto file with messages", read)
