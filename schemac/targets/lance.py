"""Lance: the `lance.file.Schema` message, as Lance itself writes it.

Floor: 7 (targets).
Shape: `lance/schema.binpb`, the message with its maps in key order, and `lance/schema.txtpb`, the same as text.
Fields in pre-order, ids from 0; lists have an item below them, maps an `entries` struct with key and value, but
a fixed-size list of plain values is one field.
Errors: SC501 to SC506; losses SC511.
Source: rust/lance-core/src/datatypes.rs and the encoding specification of github.com/lance-format/lance, both
held against what pylance 14.0.2 makes of the same Arrow schema. What Lance cannot hold is in `_lance.limits`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from schemac.lowering.metadata import (
    CLUSTERING_KEY_POSITION,
    PRIMARY_KEY,
    PRIMARY_KEY_POSITION,
    registered_extension_metadata,
)
from schemac.physical.arrow import ArrowField, pa
from schemac.physical.field import LoweredSchema
from schemac.source.catalogue import LANCE_LOSS
from schemac.targets._generated.lance import file_pb2 as pb
from schemac.targets._lance.limits import Limits
from schemac.targets._lance.types import NAME_KEY, Types
from schemac.targets.target import Artifact, Compilation, Emission, Target


class _KeyMarks(NamedTuple):
    """What metadata says about a field's place in the table's keys."""

    is_primary: bool = False
    primary_position: int = 0
    clustering_position: int = 0


class _Node(NamedTuple):
    """One field as Lance numbers them; its id is its index."""

    name: str
    parent_id: int
    logical_type: str
    is_nullable: bool
    encoding: "pb.Field.Encoding"
    metadata: dict[bytes, bytes]
    """Keys in order."""
    marks: _KeyMarks


_NO_METADATA: dict[bytes, bytes] = {}
_NO_MARKS = _KeyMarks()


def to_message(lowered: LoweredSchema) -> pb.Schema:
    """The schema as Lance writes it. Raises ValueError for a type that Lance has no word for."""
    return _message(_nodes(lowered), lowered.metadata)


def to_bytes(lowered: LoweredSchema) -> bytes:
    """The same message in the bytes of `lance/schema.binpb`."""
    return _bytes(_nodes(lowered), lowered.metadata)


def to_text(lowered: LoweredSchema) -> str:
    """The same message in the text of `lance/schema.txtpb`."""
    return _text(_nodes(lowered), lowered.metadata)


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """The message in binary and as text, unless Lance could not hold the schema."""
    if not Limits(compilation, emission).are_kept():
        return []
    metadata = compilation.lowered.metadata
    nodes = _nodes(compilation.lowered)
    return [
        Artifact("lance/schema.binpb", _bytes(nodes, metadata)),
        Artifact("lance/schema.txtpb", _text(nodes, metadata).encode()),
    ]


def _nodes(lowered: LoweredSchema) -> list[_Node]:
    """All fields in pre-order."""
    writer = _Writer()
    for top in lowered.fields:
        writer.field(top.arrow, -1)
    return writer.nodes


class _Writer:
    """Numbers fields and finds Lance's words for each. Needs nothing but Arrow fields, wherever they are from."""

    def __init__(self) -> None:
        self.nodes: list[_Node] = []
        self.types = Types()

    def field(self, arrow: ArrowField, parent_id: int) -> None:
        nodes, types = self.nodes, self.types
        id = len(nodes)
        type_: Any = arrow.type
        metadata: dict[bytes, bytes] = arrow.metadata or _NO_METADATA
        if isinstance(type_, pa.BaseExtensionType):
            registered = registered_extension_metadata(type_)
            metadata = {**{key.encode(): text.encode() for key, text in registered.items()}, **metadata}
            type_ = type_.storage_type
        marks = _NO_MARKS
        if metadata:
            metadata = _canonical(metadata)
            marks = _key_marks(metadata)
        logical_type, encoding = types.words(type_, metadata)
        nodes.append(_Node(arrow.name, parent_id, logical_type, arrow.nullable, encoding, metadata, marks))
        if logical_type in _PARENTS:
            self.children(type_, id)
        elif type_.id == types.fixed_list and type_.value_type.id == types.struct:
            self.field(type_.value_field, id)

    def children(self, type_: Any, id: int) -> None:
        if type_.id == self.types.struct:
            for child in type_.fields:
                self.field(child, id)
        elif type_.id == self.types.map:
            entries = len(self.nodes)
            self.nodes.append(_Node("entries", id, "struct", False, pb.Field.NONE, _NO_METADATA, _NO_MARKS))
            self.field(type_.key_field, entries)
            self.field(type_.item_field, entries)
        else:
            self.field(type_.value_field, id)


_PARENTS = frozenset({"struct", "map", "list", "list.struct", "large_list", "large_list.struct"})
"""Logical types with messages below them; so is a fixed-size list of structs."""


def _canonical(metadata: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Metadata as Lance keeps it, keys in order."""
    if metadata.get(NAME_KEY) == b"arrow.json":
        metadata = {**metadata, NAME_KEY: b"lance.json"}
    return dict(sorted(metadata.items())) if len(metadata) > 1 else metadata


def _key_marks(metadata: Mapping[bytes, bytes]) -> _KeyMarks:
    """A position alone makes a primary key, whatever the flag says; one that is no number counts for nothing."""
    if _MARKS.isdisjoint(metadata):
        return _NO_MARKS
    flag, primary, clustering = (metadata.get(key.encode()) for key in _MARK_KEYS)
    position = _position(primary)
    is_primary = position is not None or (flag or b"").lower() in _TRUE
    return _KeyMarks(is_primary, position or 0, _position(clustering) or 0)


_MARK_KEYS = (PRIMARY_KEY, PRIMARY_KEY_POSITION, CLUSTERING_KEY_POSITION)
_MARKS = frozenset(key.encode() for key in _MARK_KEYS)


_TRUE = (b"true", b"1", b"yes", b"y", b"on")
_NUMBER = re.compile(rb"\+?[0-9]+")


def _position(text: bytes | None) -> int | None:
    if text is None or not _NUMBER.fullmatch(text):
        return None
    position = int(text)
    return position if position < 2**32 else None


def _message(nodes: Sequence[_Node], metadata: Mapping[str, str]) -> pb.Schema:
    message = pb.Schema()
    add = message.fields.add
    for id, node in enumerate(nodes):
        # Set one by one: the constructor with all values as arguments takes three times as long.
        field = add()
        field.name, field.parent_id, field.logical_type, field.nullable, field.encoding, entries, marks = node
        field.id = id
        if entries:
            target: Any = field.metadata
            for key, value in entries.items():
                target[key] = value
            field.extension_name = entries.get(NAME_KEY, b"").decode()
            field.unenforced_primary_key = marks.is_primary
            field.unenforced_primary_key_position = marks.primary_position
            field.unenforced_clustering_key_position = marks.clustering_position
    for text_key, text in metadata.items():
        message.metadata[text_key] = text.encode()
    return message


def _bytes(nodes: Sequence[_Node], metadata: Mapping[str, str]) -> bytes:
    """The message as Lance writes it, maps in key order.

    Lance leaves an empty key or value out of a map's entry, where this library writes its length of zero.
    """
    message = _message(nodes, metadata)
    entries: list[Mapping[Any, Any]] = [metadata, *(node.metadata for node in nodes if node.metadata)]
    if all(all(entry) and all(entry.values()) for entry in entries):
        return message.SerializeToString(deterministic=True)
    fields = (_record(1, _field_bytes(field)) for field in message.fields)
    return b"".join(fields) + _map_bytes(5, message.metadata)


def _field_bytes(field: pb.Field) -> bytes:
    before, after = pb.Field(), pb.Field()
    before.CopyFrom(field)
    before.ClearField("metadata")
    after.unenforced_primary_key = field.unenforced_primary_key
    after.unenforced_primary_key_position = field.unenforced_primary_key_position
    after.unenforced_clustering_key_position = field.unenforced_clustering_key_position
    for name, _ in after.ListFields():
        before.ClearField(name.name)
    return before.SerializeToString() + _map_bytes(10, field.metadata) + after.SerializeToString()


def _map_bytes(number: int, entries: Mapping[str, bytes]) -> bytes:
    return b"".join(
        _record(
            number, b"".join(_record(n, part) for n, part in ((1, key.encode()), (2, entries[key])) if part)
        )
        for key in sorted(entries)
    )


def _record(number: int, content: bytes) -> bytes:
    """A length-delimited field of protobuf's wire format."""
    length = len(content)
    head = bytearray([number << 3 | 2])
    while length > 127:
        head.append(length & 127 | 128)
        length >>= 7
    head.append(length)
    return bytes(head) + content


def _text(nodes: Sequence[_Node], metadata: Mapping[str, str]) -> str:
    """The message in protobuf's text format, maps in key order.

    Written here because the library's own printer takes longer than all the rest of a build; the tests hold the
    two against each other.
    """
    texts: list[str] = []
    types: dict[tuple[str, bool, int], str] = {}
    keys: dict[bytes, str] = {}
    for id, (name, parent_id, logical_type, is_nullable, encoding, entries, marks) in enumerate(nodes):
        type_ = types.get((logical_type, is_nullable, encoding))
        if type_ is None:
            type_ = types[logical_type, is_nullable, encoding] = (
                f"  logical_type: {_quoted(logical_type)}\n"
                f"{'  nullable: true' + _LINE if is_nullable else ''}"
                f"{'  encoding: ' + _ENCODING_NAMES[encoding] + _LINE if encoding else ''}"
            )
        place = (
            f"{f'  id: {id}{_LINE}' if id else ''}{f'  parent_id: {parent_id}{_LINE}' if parent_id else ''}"
        )
        texts.append(f"fields {{\n  name: {_quoted(name)}\n{place}{type_}")
        if entries:
            if extension := entries.get(NAME_KEY):
                texts.append(f"  extension_name: {_quoted(extension.decode())}\n")
            for key, value in entries.items():
                quoted = keys.get(key)
                if quoted is None:
                    quoted = keys[key] = _quoted(key.decode())
                texts.append(
                    f"  metadata {{\n    key: {quoted}\n    value: {_quoted(value.decode())}\n  }}\n"
                )
            if marks is not _NO_MARKS:
                texts.append(_marks_text(marks))
        texts.append("}\n")
    texts += [
        f"metadata {{\n  key: {_quoted(key)}\n  value: {_quoted(metadata[key])}\n}}\n"
        for key in sorted(metadata)
    ]
    return "".join(texts)


def _marks_text(marks: _KeyMarks) -> str:
    is_primary, primary, clustering = marks
    return (
        f"{'  unenforced_primary_key: true' + _LINE if is_primary else ''}"
        f"{f'  unenforced_primary_key_position: {primary}{_LINE}' if primary else ''}"
        f"{f'  unenforced_clustering_key_position: {clustering}{_LINE}' if clustering else ''}"
    )


_LINE = "\n"
_ENCODING_NAMES = {number: name for name, number in pb.Field.Encoding.items()}
_ESCAPES = str.maketrans(
    {
        "\\": "\\\\",
        '"': '\\"',
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        **{chr(i): f"\\{i:03o}" for i in (*range(9), 11, 12, *range(14, 32), 127)},
    }
)
_SPECIAL = re.compile(r'[\x00-\x1f\x7f"\\]')


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES) if _SPECIAL.search(text) else text}"'


TARGET = Target("lance", LANCE_LOSS, emit)
