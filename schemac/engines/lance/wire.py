"""The bytes of the `lance.file.Schema` message.

Layer: engines.
Source: protobuf's wire format; names and numbers as in `protos/lance/file.proto`, with which the tests hold them.
Written here because a build spends longer on loading and filling the classes of a protobuf library than on all the rest of
the artifact, and because Lance leaves an empty key or value out of a map's entry, where that library writes its length of zero.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final

from schemac.arrow.lower_metadata import EXTENSION_NAME
from schemac.engines.lance.nodes import NO_MARKS, KeyMarks, Node

REMEMBERED: Final = 1024
"""Keys whose bytes are kept for further fields; a field may have any number of its own."""
_NAME: Final = 2
_ID: Final = 3
_PARENT_ID: Final = 4
_LOGICAL_TYPE: Final = 5
_NULLABLE: Final = 6
_ENCODING: Final = 7
_EXTENSION_NAME: Final = 9
_METADATA: Final = 10
_PRIMARY_KEY: Final = 12
_PRIMARY_KEY_POSITION: Final = 13
_CLUSTERING_KEY_POSITION: Final = 15
_FIELDS_OF_SCHEMA: Final = 1
_METADATA_OF_SCHEMA: Final = 5


def schema_bytes(nodes: Iterable[tuple[int, Node]], metadata: Mapping[str, str]) -> bytes:
    """Return the message with these fields, each with its id, and the schema's own metadata; maps in key order."""
    nodes = list(nodes)
    place = _place if _is_full(metadata) and all(_is_full(node.metadata) for _, node in nodes) else None
    parts: list[bytes] = []
    types: dict[tuple[int, str, bool, int], bytes] = {}
    keys: dict[str, bytes] = {}
    for id, (name, parent_id, logical_type, is_nullable, encoding, entries, marks) in nodes:
        type_ = types.get((parent_id, logical_type, is_nullable, encoding))
        if type_ is None:
            type_ = types[parent_id, logical_type, is_nullable, encoding] = (
                _number(_PARENT_ID, parent_id)
                + _text(_LOGICAL_TYPE, logical_type)
                + _number(_NULLABLE, is_nullable)
                + _number(_ENCODING, encoding)
            )
        body = _text(_NAME, name) + (_TAG_OF_ID + _varint(id) if id else b"") + type_
        if entries:
            pieces = [body, _text(_EXTENSION_NAME, entries.get(EXTENSION_NAME, ""))]
            for key in entries if len(entries) == 1 else sorted(entries, key=place):
                value = entries[key]
                start = keys.get(key)
                if start is None:
                    start = _text(1, key)
                    if len(keys) < REMEMBERED:
                        keys[key] = start
                entry = start + _text(2, value)
                pieces += _TAG_OF_METADATA, _varint(len(entry)), entry
            if marks is not NO_MARKS:
                pieces.append(_marks(marks))
            body = b"".join(pieces)
        parts += _TAG_OF_FIELD, _varint(len(body)), body
    return b"".join(parts) + _entries(_METADATA_OF_SCHEMA, metadata, place)


def _marks(marks: KeyMarks) -> bytes:
    return (
        _number(_PRIMARY_KEY, marks.is_primary)
        + _number(_PRIMARY_KEY_POSITION, marks.primary_position)
        + _number(_CLUSTERING_KEY_POSITION, marks.clustering_position)
    )


def _entries(number: int, entries: Mapping[str, str], place: Callable[[str], bytes] | None) -> bytes:
    """Return a map of texts to bytes."""
    found = [_text(1, key) + _text(2, entries[key]) for key in sorted(entries, key=place)]
    return b"".join([_RECORDS[number] + _varint(len(entry)) + entry for entry in found])


def _is_full(entries: Mapping[str, str]) -> bool:
    """Whether a map has no entry with an empty text."""
    return not entries or (all(entries) and all(entries.values()))


def _place(key: str) -> bytes:
    """Return what puts a key behind those that begin with it, as protobuf's own writer does.

    It is the order of messages that this writer could have written; where an entry has an empty text, the order is that of the keys alone.
    """
    return key.encode() + b"\xff"


def _text(number: int, text: str) -> bytes:
    """Return a text; nothing for an empty one, which is the default."""
    if not text:
        return b""
    content = text.encode()
    return _RECORDS[number] + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    """Return a number; nothing for zero, which is the default."""
    return _varint(number << 3) + _varint(value) if value else b""


def _spelled(value: int) -> bytes:
    """Return a number of 64 bits in as many bytes as it needs; a negative one needs all ten."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    spelled = bytearray()
    while value > 127:
        spelled.append(value & 127 | 128)
        value >>= 7
    spelled.append(value)
    return bytes(spelled)


_varint = lru_cache(maxsize=4096)(_spelled)
"""Most of them are lengths, and small."""
_RECORDS = tuple(_spelled(number << 3 | 2) for number in range(16))
"""The tags of what is as long as it says."""
_TAG_OF_ID = _spelled(_ID << 3)
_TAG_OF_METADATA = _RECORDS[_METADATA]
_TAG_OF_FIELD = _RECORDS[_FIELDS_OF_SCHEMA]
