"""Lance: the `lance.file.Schema` message, as Lance itself writes it.

Layer: engines.
Shape: `lance/schema.binpb`, the message with its maps in key order, and `lance/schema.txtpb`, the same as text.
Fields in pre-order, ids from 0; lists have an item below them, maps an `entries` struct with key and value, but
a fixed-size list of plain values is one field.
Errors: SC501 to SC506; losses SC511.
Source: rust/lance-core/src/datatypes.rs and the encoding specification of github.com/lance-format/lance, both
held against what pylance 14.0.2 makes of the same Arrow schema. What Lance cannot hold is in `_lance.limits`.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from schemac.artifacts.emission import Artifact, Compilation, Emission, Target
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.codes import LANCE_LOSS
from schemac.engines.lance.limits import Limits
from schemac.engines.lance.nodes import NO_MARKS, KeyMarks, Node, nodes_of, numbered, words_by_slot
from schemac.engines.lance.types import NAME_KEY
from schemac.identity.lock import Numbers
from schemac.logical.slots import Slot
from schemac.physical.field import LoweredSchema

_Numbered = Iterable[tuple[int, Node]]


def to_message(lowered: LoweredSchema, numbers: Mapping[Slot, Numbers] | None = None) -> pb.Schema:
    """Return the schema as Lance writes it. Raises ValueError for a type that Lance has no word for."""
    return _message(numbered(lowered, nodes_of(lowered), numbers), lowered.metadata)


def to_bytes(lowered: LoweredSchema, numbers: Mapping[Slot, Numbers] | None = None) -> bytes:
    """Return the same message in the bytes of `lance/schema.binpb`."""
    nodes = nodes_of(lowered)
    return _bytes(nodes, numbered(lowered, nodes, numbers), lowered.metadata)


def to_text(lowered: LoweredSchema, numbers: Mapping[Slot, Numbers] | None = None) -> str:
    """Return the same message in the text of `lance/schema.txtpb`."""
    return _text(numbered(lowered, nodes_of(lowered), numbers), lowered.metadata)


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the message in binary and as text, unless Lance could not hold the schema."""
    if not Limits(compilation, emission).are_kept():
        return []
    lowered, numbers = compilation.lowered, compilation.numbers
    nodes = nodes_of(lowered)
    return [
        Artifact("lance/schema.binpb", _bytes(nodes, numbered(lowered, nodes, numbers), lowered.metadata)),
        Artifact("lance/schema.txtpb", _text(numbered(lowered, nodes, numbers), lowered.metadata).encode()),
    ]


def _message(nodes: _Numbered, metadata: Mapping[str, str]) -> pb.Schema:
    message = pb.Schema()
    add = message.fields.add
    for id, node in nodes:
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


def _bytes(nodes: Iterable[Node], numbered_nodes: _Numbered, metadata: Mapping[str, str]) -> bytes:
    """Return the message as Lance writes it, maps in key order.

    Lance leaves an empty key or value out of a map's entry, where this library writes its length of zero.
    """
    message = _message(numbered_nodes, metadata)
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
    """Return a length-delimited field of protobuf's wire format."""
    length = len(content)
    head = bytearray([number << 3 | 2])
    while length > 127:
        head.append(length & 127 | 128)
        length >>= 7
    head.append(length)
    return bytes(head) + content


def _text(nodes: _Numbered, metadata: Mapping[str, str]) -> str:
    """Return the message in protobuf's text format, maps in key order.

    Written here because the library's own printer takes longer than all the rest of a build; the tests hold the
    two against each other.
    """
    texts: list[str] = []
    types: dict[tuple[str, bool, int], str] = {}
    keys: dict[bytes, str] = {}
    for id, (name, parent_id, logical_type, is_nullable, encoding, entries, marks) in nodes:
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
            if marks is not NO_MARKS:
                texts.append(_marks_text(marks))
        texts.append("}\n")
    texts += [
        f"metadata {{\n  key: {_quoted(key)}\n  value: {_quoted(metadata[key])}\n}}\n"
        for key in sorted(metadata)
    ]
    return "".join(texts)


def _marks_text(marks: KeyMarks) -> str:
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
    # Most texts can be printed as they are, and that is answered sooner than what is special in a text.
    is_plain = text.isprintable() and '"' not in text and "\\" not in text
    return f'"{text if is_plain or not _SPECIAL.search(text) else text.translate(_ESCAPES)}"'


def types(compilation: Compilation, emission: Emission) -> dict[Slot, str]:
    """Return Lance's logical types; a slot with several nodes has theirs, parents first."""
    return {slot: " > ".join(words) for slot, words in words_by_slot(compilation.lowered).items() if words}


TARGET = Target("lance", LANCE_LOSS, emit, types=types)
