"""Messages of Protobuf as `schemac import` reads them.

Layer: engines.
Shape: a message that no other of the file is made of is a table; its numbers go to the lock. A comment `schemac: {…}` says what the
messages do not, where the compiler wrote them.
Errors: SC552 for a file without messages.
Source: the language guides of Protocol Buffers, "Scalar Value Types" and "Field Presence"; "Feature Settings for Editions".
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schemac.engines.protobuf import types
from schemac.engines.protobuf.artifact import MARK
from schemac.engines.protobuf.attributes import ENUM_NUMBERS, TYPE
from schemac.engines.protobuf.rules import FIELD_RULES, exempt, rules_of
from schemac.engines.protobuf.syntax import MalformedProtoError, ProtoField, ProtoFile, ProtoMessage, parse
from schemac.importers import datasets, importer
from schemac.language.attributes import constraints as value_rules
from schemac.language.attributes.attribute import KEY_PATTERN
from schemac.language.attributes.builtin import DEPRECATED, DESCRIPTION
from schemac.language.kinds.registry import kind_of_name
from schemac.language.logical.model import PART_KEYS, FieldPath, Part
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json
from schemac.versions.identity.lock import Highest, Numbers

_SCALARS = {word: kind_of_name(word) for word in types.WRAPPERS.values()}
_CLOCKS = {types.TIMESTAMP: "Timestamp", types.DURATION: "Duration"}
_FIELDS_OF_WRAPPERS = {"option": 1, "item": 1, "value": 1, "entry": 2}
"""How many fields a message has that the compiler wrote around a value, by what it is there for."""
_PRESENCE = "features.field_presence"


def read(path: Path, _report: Report) -> importer.ImportedSchema:
    """Read the messages of a file."""
    try:
        tables = _Reader(parse(path.read_text(encoding="utf-8"))).tables()
    except MalformedProtoError as error:
        raise importer.UnreadableSourceError(f"it is not a .proto file: {error}") from error
    except RecursionError as error:
        raise importer.UnreadableSourceError("it is not a .proto file: it is nested too deeply") from error
    if not tables:
        raise importer.UnreadableSourceError("it has no top-level message with fields")
    return importer.together(tables)


class _Reader:
    """Reads the messages of one file into datasets in the form of a manifest."""

    def __init__(self, file: ProtoFile) -> None:
        self._file = file
        self._notes = importer.ImportNotes()
        self._constraints = datasets.Constraints(self._notes)
        self._numbers: dict[FieldPath, int] = {}
        self._used_numbers: list[int] = []
        """All numbers that fields have or had."""
        self._open: list[ProtoMessage] = []

    def tables(self) -> list[importer.ImportedSchema]:
        """Return the messages that no other is made of, in the order of the file; of those that contain each other the first one."""
        root = self._file.root
        declared = [message for message in root.all() if message is not root and not message.is_enum]
        with_fields = [message for message in declared if message.fields]
        free = [one for one in with_fields if not any(outer.fields for outer in _enclosing_messages(one))]
        reached = {id(message): self._reached_from(message) for message in free}
        tops = [
            message
            for i, message in enumerate(free)
            if all(
                id(other) in reached[id(message)] and j > i
                for j, other in enumerate(free)
                if other is not message and id(message) in reached[id(other)]
            )
        ]
        used = {message_id for top in tops for message_id in (id(top), *reached[id(top)])}
        unused = [message for message in declared if id(message) not in used]
        tables = [self._table(top) for top in tops]
        for message in unused if tables else ():
            if message.fields or not message.inner:
                # At the table that it is declared in, else at the first one.
                owner = next((i for i, top in enumerate(tops) if top in _enclosing_messages(message)), 0)
                why = "which no field has" if message.fields else "which has no fields"
                tables[owner].notes.add((), f"not kept: the message {_full_name(message)}, {why}")
        return tables

    def _reached_from(self, message: ProtoMessage) -> set[int]:
        """Return the messages, by `id`, that fields of a message and of those in it are."""
        reached: set[int] = set()
        left = [message]
        while left:
            message = left.pop()
            for name in ",".join(field.type for field in message.fields).split(","):
                inner = self._declared_type(name, message)
                if inner is not None and id(inner) not in reached:
                    reached.add(id(inner))
                    left.append(inner)
        return reached

    def _table(self, message: ProtoMessage) -> importer.ImportedSchema:
        """Return a message as a dataset, with the numbers of its fields and the highest used one."""
        self._notes, self._numbers, self._used_numbers, self._open = importer.ImportNotes(), {}, [], [message]
        self._constraints = datasets.Constraints(self._notes)
        annotation = _annotation(message)
        extra = _extra(message.comments, annotation)
        schema: Json = {"fields": self._members(message, ()), "extra": self._with_options(message, (), extra)}
        for loss in self._constraints.put(schema):
            self._notes.add((), loss)
        numbers = {path: Numbers.make({types.NAME: (number,)}) for path, number in self._numbers.items()}
        highest = Highest.make({types.NAME: max(self._used_numbers, default=0)})
        versions = (importer.ImportedVersion(schema, numbers, highest),)
        name = annotation.get("name", _full_name(message))
        return importer.ImportedSchema(schema, name=name, notes=self._notes, versions=versions)

    def _with_options(self, message: ProtoMessage, path: FieldPath, extra: Json) -> Json:
        """Return attributes with those that options of a message mean; the others are losses."""
        for option in message.options:
            if (option.name, option.value) == ("deprecated", True):
                extra = {DEPRECATED.key: {}, **extra}
            else:
                self._notes.add(path, f"not kept: the option {option.text[:200]}")
        return extra

    def _members(self, message: ProtoMessage, holder: FieldPath) -> list[Json]:
        """Return the fields of a message, record all used numbers, and note extensions and groups that are lost."""
        self._used_numbers += [number for number in message.reserved if types.is_number(number)]
        for declaring in self._file.root.all():
            for target, field in declaring.extensions:
                if self._declared_type(target, declaring) is message:
                    self._used_numbers.append(field.number)
                    self._notes.add(holder, f"not kept: the extension {field.name} = {field.number}")
        fields: list[Json] = []
        for field in message.fields:
            annotation = _annotation(field)
            path = (*holder, annotation.get("name", field.name))
            self._numbers[path] = field.number
            self._used_numbers.append(field.number)
            chosen = [f.name for f in message.fields if f.oneof == field.oneof]
            if field.label == "oneof":
                self._notes.add(path, f"not kept: only one of {', '.join(chosen)} may be set")
            if field.is_group:
                self._notes.add(path, "not kept: the encoding of a group")
            tree = self._field(message, field, annotation, path)
            extra = self._with_field_options(message, field, path, _extra(field.comments, annotation))
            fields.append(datasets.member(str(path[-1]), tree, extra))
        return fields

    def _with_field_options(
        self, message: ProtoMessage, field: ProtoField, path: FieldPath, extra: Json
    ) -> Json:
        """Return attributes with those that options of a field mean; the others are losses."""
        lost: list[str] = []
        for option in field.options:
            if (option.name, option.value) == ("deprecated", True):
                extra = {DEPRECATED.key: {}, **extra}
            elif option.name != _PRESENCE and not option.name.startswith(FIELD_RULES):
                lost.append(option.text)
        target = self._declared_type(field.type.rpartition(",")[2], message)
        is_exempt = field.name in exempt(message.options)
        for rule in rules_of(field.options, target.values if target is not None else None):
            if not (rule.is_required and not rule.parts and self._is_required(message, field)):
                where = (*path, *rule.parts)
                if rule.constraints and not is_exempt:
                    self._constraints.add(where, dict(rule.constraints), f"the rule {rule.text}")
                else:
                    self._notes.add(path, f"not kept: the rule {rule.text}")
        if lost:
            self._notes.add(path, f"not kept: the options {','.join(lost)[:200]}")
        return extra

    def _is_required(self, message: ProtoMessage, field: ProtoField) -> bool:
        """Whether the rules of a field require its message to be there."""
        is_ruled = any(rule.is_required and not rule.parts for rule in rules_of(field.options))
        return is_ruled and field.label == "" and self._is_message(field, message)

    def _is_message(self, field: ProtoField, message: ProtoMessage) -> bool:
        """Whether a field is a message, known or not, and neither a scalar nor an enum."""
        target = self._declared_type(field.type, message)
        is_scalar = field.type in _SCALARS or field.type in types.ENCODINGS
        return not is_scalar and not (target is not None and target.is_enum)

    def _field(self, message: ProtoMessage, field: ProtoField, annotation: Json, path: FieldPath) -> Json:
        """Return the type of a field, with its Option."""
        around = self._wrapper_of(field.type, message, "option")
        is_required = around is None and not self._is_optional(message, field, annotation)
        holder, inner = (message, field) if around is None else (around, around.fields[0])
        tree = self._type_without_option(holder, inner, annotation, path)
        return datasets.optional(tree, is_required=is_required)

    def _is_optional(self, message: ProtoMessage, field: ProtoField, annotation: Json) -> bool:
        """Whether a field may be null: whether messages can tell that it is absent."""
        if field.label in ("repeated", "map", "required") or annotation.get("required"):
            return False
        if self._is_message(field, message):
            return not self._is_required(message, field)
        if field.label in ("optional", "oneof") or self._file.syntax != "editions":
            return field.label in ("optional", "oneof") or self._file.syntax != "proto3"
        presences = [
            option.value for option in (*self._file.root.options, *field.options) if option.name == _PRESENCE
        ]
        return not presences or presences[-1] == "EXPLICIT"

    def _type_without_option(
        self, message: ProtoMessage, field: ProtoField, annotation: Json, path: FieldPath
    ) -> Json:
        """Return the type of a field without its Option."""
        tree: Json
        around = self._wrapper_of(field.type, message, "entry") if field.label == "repeated" else None
        if field.label == "map":
            key, value = field.type.split(",")
            tree = datasets.map_of(
                self._part(message, key, annotation, path, Part.KEY),
                self._part(message, value, annotation, path, Part.VALUE),
            )
        elif around is not None:
            key_field, value_field = around.fields
            tree = datasets.map_of(
                self._type_in_wrapper(around, key_field, (*path, Part.KEY)),
                self._type_in_wrapper(around, value_field, (*path, Part.VALUE)),
            )
        elif field.label == "repeated":
            tree = {"kind": "List", "itemType": self._part(message, field.type, annotation, path, Part.ITEM)}
        else:
            tree = self._type_of_value(message, field.type, path)
        return _annotated_type(annotation, tree)

    def _part(self, message: ProtoMessage, type_: str, annotation: Json, path: FieldPath, part: Part) -> Json:
        """Return the type of an item, key or value, with its attributes."""
        around = self._wrapper_of(type_, message, *_FIELDS_OF_WRAPPERS)
        if around is not None:
            return self._type_in_wrapper(around, around.fields[0], (*path, part))
        tree = self._type_of_value(message, type_, (*path, part))
        part_annotation = annotation.get(part.value, {})
        return _with_extra(_annotated_type(part_annotation, tree), part_annotation.get("extra", {}))

    def _type_in_wrapper(self, around: ProtoMessage, inner: ProtoField, path: FieldPath) -> Json:
        """Return the type of the value in a message that exists only for it."""
        annotation = _annotation(inner)
        return _with_extra(self._field(around, inner, annotation, path), _extra(inner.comments, annotation))

    def _type_of_value(self, message: ProtoMessage, type_: str, path: FieldPath) -> Json:
        """Return the tree of one value; JSON, with a note, for an unknown or recursive message."""
        if type_ in _SCALARS:
            return {"kind": _SCALARS[type_]}
        if type_ in types.ENCODINGS:
            return {"kind": _SCALARS[types.ENCODINGS[type_]], "extra": {TYPE.key: type_}}
        name = type_.lstrip(".")
        target = self._declared_type(type_, message)
        if target is None:
            if name in _CLOCKS:
                return {"kind": _CLOCKS[name], "unit": "Nanosecond"}
            if name in types.WRAPPERS:
                return {"kind": _SCALARS[types.WRAPPERS[name]], "extra": {TYPE.key: name}}
            what = f"the type {name}, which is declared in another file"
            return self._any_json(path, what, name if name in types.DOCUMENTS else "bytes")
        if target.is_enum:
            extra = {ENUM_NUMBERS.key: dict(target.values), value_rules.ENUM.key: list(target.values)}
            return {"kind": "String", "extra": extra}
        if target in self._open:
            return self._any_json(path, f"{name}, which contains itself", "bytes")
        self._open.append(target)
        members = self._members(target, path)
        self._open.pop()
        self._with_options(target, path, {})
        return {"kind": "Struct", "fields": members}

    def _any_json(self, path: FieldPath, what: str, type_: str) -> Json:
        """Return any value of JSON; messages have it as `type_`, so that what was written is read."""
        self._notes.add(path, f"any value of JSON; not kept: {what}")
        tree = datasets.any_json()
        return {**tree, "extra": {**tree["extra"], TYPE.key: type_}}

    def _wrapper_of(self, type_: str, message: ProtoMessage, *sorts: str) -> ProtoMessage | None:
        """Return the message that the compiler wrote around a value for one of some sorts, by the name of its type; None for any other type."""
        wrapper = self._declared_type(type_, message)
        is_one = wrapper is not None and wrapper.fields and _annotation(wrapper).get("around") in sorts
        return wrapper if is_one else None

    def _declared_type(self, type_: str, message: ProtoMessage) -> ProtoMessage | None:
        """Return the message or enum that a name means in a message, looked for from the inside out; None if the file does not declare it."""
        steps = type_.lstrip(".").split(".")
        package = self._file.package.split(".") if self._file.package else []
        is_absolute = package and steps[: len(package)] == package
        scope: ProtoMessage | None = self._file.root if type_.startswith(".") else message
        while scope is not None:
            for names in (steps, steps[len(package) :] if is_absolute else ()):
                match: ProtoMessage | None = scope if names else None
                for name in names:
                    match = match.inner.get(name) if match is not None else None
                if match is not None:
                    return match
            scope = scope.outer
        return None


def _enclosing_messages(message: ProtoMessage) -> Iterator[ProtoMessage]:
    """Yield the messages that a message is declared in, the innermost first, without the root of the file."""
    outer = message.outer
    while outer is not None and outer.outer is not None:
        yield outer
        outer = outer.outer


def _full_name(message: ProtoMessage) -> str:
    """Return the name of a message with those of the messages around it, divided by dots."""
    return ".".join([message.name, *(outer.name for outer in _enclosing_messages(message))][::-1])


def _with_extra(tree: Json, extra: Json) -> Json:
    """Return the type of an item, key or value with attributes."""
    bare, type_attributes = datasets.split_extra(tree)
    return datasets.with_attributes(bare, {**type_attributes, **extra})


def _annotated_type(annotation: Json, tree: Json) -> Json:
    """Return the type that the manifest had: a leaf as a whole, a list or a map with its parts."""
    declared_type = annotation.get("type")
    if declared_type is None:
        return tree
    has_parts = declared_type.get("kind") == tree["kind"] and not tree.keys().isdisjoint(PART_KEYS.values())
    merged = {**tree, **declared_type} if has_parts else dict(declared_type)
    return merged if datasets.typed(merged) is not None else tree


def _annotation(about: ProtoField | ProtoMessage) -> Json:
    """Return what the compiler wrote above a field or message; nothing for a comment that it cannot have written."""
    for line in about.comments:
        if line.startswith(MARK):
            try:
                annotation = json.loads(line.removeprefix(MARK))
            except (ValueError, RecursionError):
                continue
            if isinstance(annotation, dict) and _is_of_compiler(annotation, about):
                return annotation
    return {}


def _is_of_compiler(annotation: Json, about: ProtoField | ProtoMessage | None) -> bool:
    """Whether a comment has the form that the compiler writes."""
    extra, around = annotation.get("extra", {}), annotation.get("around")
    count = len(about.fields) if isinstance(about, ProtoMessage) else 0
    parts = [annotation[part.value] for part in PART_KEYS if part.value in annotation]
    return (
        isinstance(annotation.get("name", "a"), str)
        and annotation.get("name") != ""
        and isinstance(annotation.get("type", {}), dict)
        and isinstance(extra, dict)
        and all(re.fullmatch(KEY_PATTERN, key) for key in extra)
        and ("around" not in annotation or count == _FIELDS_OF_WRAPPERS.get(str(around)))
        and all(isinstance(part, dict) and _is_of_compiler(part, None) for part in parts)
    )


def _extra(comments: tuple[str, ...], annotation: Json) -> Json:
    """Return the description from comments, and the attributes of an annotation; empty without both."""
    lines = [line for line in comments if not line.startswith(MARK)]
    text = "\n".join(lines).strip()
    extra: Any = annotation.get("extra", {})
    return {**({DESCRIPTION.key: text} if text else {}), **extra}


IMPORTER = importer.Importer("protobuf", ".proto file with messages", read)
