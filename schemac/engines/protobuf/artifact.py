"""Protobuf: a message for the records of a table.

Layer: engines.
Shape: `protobuf/<dataset>.proto`, a message with a field a column; a struct is a message inside it. What has no label for what it
is (a list that may be null, an item that may be, a list of lists, a map with other keys than numbers, booleans and texts) is a
message around it. What the manifest says beyond is a comment, `schemac: {…}`, which `schemac import` reads.
Errors: SC595 to SC597; losses SC598.
Source: the language specification of proto3.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from schemac.artifacts.targets import Artifact, ArtifactTarget, Emission
from schemac.artifacts.type_writer import TypeWriter
from schemac.engines.json_values import own_tree
from schemac.engines.protobuf import PROTOBUF_LOSS, PROTOBUF_NAME, PROTOBUF_NUMBER, PROTOBUF_TYPE, types
from schemac.engines.protobuf.attributes import ENUM_NUMBERS, TYPE
from schemac.language.attributes import builtin
from schemac.language.attributes.attribute import Family
from schemac.language.logical.dataset import Other
from schemac.language.logical.model import Part, SchemaField
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import Help
from schemac.versions.identity.compilation import Compilation

MARK = "schemac:"
"""Begins a comment that is read again."""
_KEYS = frozenset({Family.BOOLEAN, Family.INTEGER, Family.TEXT})
"""Families of the keys that `map` takes."""


class LabelledType(NamedTuple):
    """A type with its label."""

    label: str
    """`repeated`, or nothing."""
    type: str
    is_message: bool = False
    """Whether it may be absent whatever it is declared as."""


class MessageText:
    """A message that is being written."""

    def __init__(self, name: str, around: str = "") -> None:
        self.name = name
        self.around = around
        """What the message is there for, if it is not a struct: `option`, `item`, `value` or `entry`."""
        self.lines: list[str] = []
        self.inner: list[MessageText] = []
        self.used_names: set[str] = set()
        """Names in its scope."""

    def nested(self, words: str, around: str = "") -> "MessageText":
        """Return a new message inside this one."""
        message = MessageText(types.message_name(words, self.used_names), around)
        self.used_names.add(message.name)
        self.inner.append(message)
        return message

    def text(self, indent: str = "") -> Iterator[str]:
        """Yield the lines of its declaration."""
        if self.around:
            yield f"{indent}// {MARK} {json.dumps({'around': self.around}, sort_keys=True)}"
        yield f"{indent}message {self.name} {{"
        below = f"{indent}  "
        yield from (f"{below}{line}" for line in self.lines)
        for message in self.inner:
            yield ""
            yield from message.text(below)
        yield f"{indent}}}"


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the `.proto` file with the message of the dataset."""
    dataset = compilation.dataset
    writer = _Writer(compilation, emission)
    name = types.message_name(dataset.name)
    table = MessageText(name)
    writer.members(table, None, dataset.columns)
    comments = list(_comments(dataset.schema.extra, {"name": dataset.name} if name != dataset.name else {}))
    imports = [f'import "{file}";' for file in sorted({types.IMPORTS[type_] for type_ in writer.imported})]
    lines = ['syntax = "proto3";', "", *imports, *([""] if imports else []), *comments, *table.text()]
    path = f"protobuf/{types.valid(dataset.name).lower()}.proto"
    return [Artifact(path, "".join(f"{line}\n" for line in lines).encode())]


class _Writer(TypeWriter[LabelledType]):
    """Writes the messages of one dataset, and reports what Protobuf cannot hold."""

    message: MessageText
    """The message that the type of a field is looked for in; those that it needs are entered."""
    name: str
    """The words for what is looked for."""

    def __init__(self, compilation: Compilation, emission: Emission) -> None:
        super().__init__(emission)
        self._numbers = types.numbers_of(compilation)
        self._reserved = _reserved(compilation, self._numbers)
        self.imported: set[str] = set()

    def members(
        self, message: MessageText, holder: SchemaField | None, fields: Sequence[SchemaField]
    ) -> None:
        """Enter the fields of a table or struct."""
        fields_by_name: dict[str, SchemaField] = {}
        for field in fields:
            name = types.json_name(types.valid(str(field.segment))).lower()
            first = fields_by_name.setdefault(name, field)
            if first is not field:
                both = f"{field.path_text} and {first.path_text}"
                message_text = f"{both} have one name in Protobuf or in its JSON"
                help, other = "rename one of them", Other(first, "the other one")
                self.emission.findings.at_name(field, PROTOBUF_NAME, message_text, help=help, other=other)
        message.used_names |= {types.valid(str(field.segment)) for field in fields}
        reserved = self._reserved.get(holder, {})
        if reserved:
            message.lines.append(f"reserved {', '.join(map(str, sorted(reserved)))};")
            names = sorted(set(reserved.values()) - message.used_names)
            if names:
                message.lines.append(f"reserved {', '.join(json.dumps(name) for name in names)};")
        for field in fields:
            number = self._numbers[field]
            if not types.is_number(number):
                message_text = f"{field.path_text} would have the number {number}, which Protobuf reserves or does not have"
                help = f"leave Protobuf out with `{builtin.TARGETS_OF.key}`, or import the schema from a .proto that has numbers"
                self.emission.findings.at_name(field, PROTOBUF_NUMBER, message_text, help=help)
            self.field(message, field, str(field.segment), number)

    def field(self, message: MessageText, schema_field: SchemaField, name: str, number: int) -> None:
        """Write the line of a field into a message: of a member, or of the value that the message is only there for."""
        typed = self.type_in(message, schema_field, name)
        label = f"{typed.label} " if typed.label else ""
        annotation: Json = {}
        if schema_field.is_nullable and not (typed.label or typed.type.startswith("map<")):
            label = "" if typed.is_message else "optional "
        elif schema_field.is_nullable:
            inner = message.nested(f"{name} option", "option")
            inner.lines.append(f"{label}{typed.type} value = 1;")
            typed, label = LabelledType("", inner.name, is_message=True), ""
        elif typed.is_message:
            self.lose(schema_field, "a value that is always there", "a message, which may be absent")
            annotation["required"] = True
        if types.valid(name) != name:
            self.lose(schema_field, f"the name {name}", types.valid(name))
            annotation["name"] = name
        annotation |= _type_annotation(schema_field)
        message.lines += _comments(schema_field.extra, annotation)
        message.lines.append(f"{label}{typed.type} {types.valid(name)} = {number};")

    def type_in(self, message: MessageText, field: SchemaField, name: str) -> LabelledType:
        """Return the type of a field without its Option in a message; messages that it needs are entered."""
        self.message, self.name = message, name
        return self.type(field)

    def struct(self, field: SchemaField) -> LabelledType:
        """Return a message with the members."""
        inner = self.message.nested(self.name)
        self.members(inner, field, field.children)
        return LabelledType("", inner.name, is_message=True)

    def list(self, field: SchemaField) -> LabelledType:
        """Return a repeated type; a length is a loss."""
        (item,) = field.children
        if getattr(field.type, "fixed_length", None) is not None:
            self.lose(field, field.type.type_text(), "a list of any length")
        return LabelledType("repeated", self.part(self.message, item, self.name, Part.ITEM))

    def leaf(self, field: SchemaField) -> LabelledType:
        """Return a scalar, an enum of the field's own, or a message that is imported."""
        leaf = types.leaf_of(field)
        if leaf is None:
            return self.refused(field)
        if not leaf.is_lossless:
            self.lose(field, field.type.type_text(), leaf.becomes or leaf.type)
        self._check_attribute(field)
        if leaf.type == types.ENUM_TYPE:
            return LabelledType("", _enum(self.message, self.name, ENUM_NUMBERS.read(field.extra) or {}))
        if leaf.is_message:
            self.imported.add(leaf.type)
        return LabelledType("", leaf.type, leaf.is_message)

    def refused(self, field: SchemaField) -> LabelledType:
        """Report a type that Protobuf cannot hold."""
        message = f"Protobuf cannot hold {field.type.type_text()} ({field.path_text})"
        help = Help.leave_out("it", builtin.TARGETS_OF.key, "protobuf")
        self.emission.findings.at_type(field, PROTOBUF_TYPE, message, help=help)
        return LabelledType("", "bytes")

    def _check_attribute(self, field: SchemaField) -> None:
        """Refuse the attribute of another type than the usual one at a field that cannot have it."""
        requested, usual = TYPE.read(field.extra), types.usual_leaf(field.type)
        if requested is None or usual is None or types.USUAL.get(requested) == usual.type:
            return
        possible = [type_ for type_, of in types.USUAL.items() if of == usual.type]
        message = f"{field.path_text} is {usual.type} in Protobuf, which cannot be {requested}"
        help = f"it can be {', '.join(possible)}" if possible else f"remove `{TYPE.key}`"
        self.emission.findings.at_extra(field, TYPE.key, PROTOBUF_TYPE, message, help=help)

    def map(self, field: SchemaField) -> LabelledType:
        """Return a map for plain keys, else a repeated message of entries, and report the loss."""
        message, name = self.message, self.name
        key, value = field.children
        if getattr(field.type, "keys_sorted", False):
            self.lose(field, "sorted keys", "keys in any order")
        if _is_plain_key(key):
            leaf = self.leaf(key)
            return LabelledType("", f"map<{leaf.type}, {self.part(message, value, name, Part.VALUE)}>")
        entry = message.nested(f"{name} entry", "entry")
        self.lose(field, field.type.type_text(), "a list of entries, in which a key may occur twice")
        self.field(entry, key, Part.KEY.value, 1)
        self.field(entry, value, Part.VALUE.value, 2)
        return LabelledType("repeated", entry.name)

    def part(self, message: MessageText, field: SchemaField, name: str, part: Part) -> str:
        """Return the type of an item or value: a message around it where it may be null, or is a list or a map."""
        if _is_inline(field):
            return self.type_in(message, field, f"{name} {part.value}").type
        inner = message.nested(f"{name} {part.value}", part.value)
        self.field(inner, field, "value", 1)
        return inner.name


def _is_inline(field: SchemaField) -> bool:
    """Whether an item or value needs no message around it in its list or map."""
    return not field.is_nullable and (field.type.family is Family.STRUCT or types.leaf_of(field) is not None)


def _is_plain_key(field: SchemaField) -> bool:
    """Whether a key can be in a `map`."""
    leaf = types.leaf_of(field)
    is_scalar = leaf is not None and not leaf.is_message and leaf.type not in ("bytes", types.ENUM_TYPE)
    return is_scalar and field.type.family in _KEYS


def _enum(message: MessageText, name: str, numbers: Mapping[str, int]) -> str:
    """Enter an enum and return its name; its values have a message as scope, since those of two enums may have one name."""
    scope = message.nested(name)
    scope.lines.append("enum Value {")
    if len(set(numbers.values())) < len(numbers):
        scope.lines.append("  option allow_alias = true;")
    if 0 not in numbers.values():
        unspecified = re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", scope.name).upper() + "_UNSPECIFIED"
        scope.lines.append(f"  {unspecified} = 0;")
    first = sorted(numbers, key=lambda value: numbers[value] != 0)
    scope.lines += [*(f"  {value} = {numbers[value]};" for value in first), "}"]
    return f"{scope.name}.Value"


def _type_annotation(field: SchemaField) -> Json:
    """Return the part of a type that messages and scalars do not express, with that of parts without a field."""
    tree = own_tree(field.type)
    leaf = types.leaf_of(field)
    is_expressed = leaf.is_lossless if leaf is not None else len(tree) == 1
    annotation: Json = {} if is_expressed else {"type": tree}
    for child in field.children if field.type.family in (Family.LIST, Family.MAP) else ():
        is_key = child.segment is Part.KEY
        if (is_key and _is_plain_key(child)) or (not is_key and _is_inline(child)):
            child_annotation = _type_annotation(child)
            if child.extra:
                child_annotation["extra"] = dict(child.extra)
            if child_annotation and isinstance(child.segment, Part):
                annotation[child.segment.value] = child_annotation
    return annotation


def _comments(extra: Mapping[str, Any], annotation: Json) -> Iterator[str]:
    """Return the comments above a field: the description, and what is read again."""
    description = str(extra.get(builtin.DESCRIPTION.key, ""))
    yield from (f"// {line}".rstrip() for line in description.splitlines())
    attributes = {key: extra[key] for key in sorted(extra) if key != builtin.DESCRIPTION.key}
    whole = {**annotation, **({"extra": attributes} if attributes else {})}
    if whole:
        yield f"// {MARK} {json.dumps(whole, sort_keys=True)}"


def _reserved(
    compilation: Compilation, numbers: Mapping[SchemaField, int]
) -> Mapping[SchemaField | None, Mapping[int, str]]:
    """Return the numbers and names that fields of former versions had, by the message that they were in."""
    holders: dict[int | None, SchemaField | None] = {None: None}
    holders |= {id: field for field, id in (compilation.ids or {}).items()}
    present = {(field.parent, number) for field, number in numbers.items() if field.is_member}
    reserved: dict[SchemaField | None, dict[int, str]] = defaultdict(dict)
    for past in compilation.past():
        past_ids = past.ids or {}
        for field, number in types.numbers_of(past).items():
            # What was in a message that is gone needs no place.
            holder = None if field.parent is None else past_ids.get(field.parent, -1)
            if field.is_member and holder in holders and (holders[holder], number) not in present:
                reserved[holders[holder]][number] = types.valid(str(field.segment))
    return reserved


TARGET = ArtifactTarget("protobuf", PROTOBUF_LOSS, emit)
