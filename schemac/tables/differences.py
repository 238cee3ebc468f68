"""Compares the schema of a table with the one that was compiled, field by field.

Floor: 11 (tables).
Shape: serialized `lance.file.Field` messages on both sides, in pre-order; differences as sentences, none when equal.
Source: `reference` of the Lance format: ids, types, nullability, encodings and metadata count; field 8 (dictionary) only
        says whether data was written, and the order of metadata entries is random.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

NAMES = {
    1: "type",
    2: "name",
    3: "id",
    4: "parent id",
    5: "logical type",
    6: "nullable",
    7: "encoding",
    9: "extension name",
    10: "metadata",
    12: "primary key",
    13: "primary key position",
    14: "clustering key",
    15: "clustering key position",
}
IGNORED = {8}
IDENTITY = {3, 4}

Message = dict[int, Any]


def lance_fields_of(schema: pa.Schema) -> list[bytes]:
    """The messages that Lance itself makes of an Arrow schema."""
    from lance.schema import LanceSchema

    return _messages(LanceSchema.from_pyarrow(schema))[1]


def _messages(schema: Any) -> tuple[dict[str, bytes], list[bytes]]:
    metadata, *fields = schema.__reduce__()[1]
    return {key: bytes(value) for key, value in json.loads(metadata).items()}, [
        bytes(field) for field in fields
    ]


def differences(
    expected: Iterable[bytes], actual: Any, *, metadata: dict[str, bytes] | None = None, ids: bool = True
) -> tuple[str, ...]:
    """How a table's Lance schema differs from what is expected; `ids=False` compares by path only."""
    actual_metadata, actual_fields = _messages(actual)
    skipped = IGNORED if ids else IGNORED | IDENTITY
    wanted, found = _by_path(expected), _by_path(actual_fields)
    lines = [f"`{path}` is missing" for path in wanted if path not in found]
    lines += [f"`{path}` is not expected" for path in found if path not in wanted]
    for path in wanted:
        if path in found:
            lines += _field_differences(path, wanted[path], found[path], skipped)
    if not lines and list(wanted) != list(found):
        lines.append(f"fields are in another order: {', '.join(found)}")
    if metadata is not None and metadata != actual_metadata:
        lines.append(f"schema metadata is {_shown(actual_metadata)}, expected {_shown(metadata)}")
    return tuple(lines)


def table_differences(
    path: str,
    expected: Iterable[bytes],
    metadata: dict[str, bytes] | None = None,
    storage_options: dict[str, str] | None = None,
) -> tuple[str, ...]:
    """How the table at a path differs from what is expected."""
    import lance

    table = lance.dataset(path, storage_options=storage_options or None)
    return differences(expected, table.lance_schema, metadata=metadata)


def _field_differences(path: str, wanted: Message, found: Message, skipped: set[int]) -> Iterator[str]:
    for number in sorted((wanted.keys() | found.keys()) - skipped):
        if wanted.get(number) != found.get(number):
            label = NAMES.get(number, f"message field {number}")
            yield f"`{path}`: {label} is {_shown(found.get(number))}, expected {_shown(wanted.get(number))}"


def _shown(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bytes):
        return f"`{value.decode('utf-8', 'replace')}`"
    if isinstance(value, dict):
        entries = ((_plain(key), _plain(text)) for key, text in sorted(value.items()))
        return "{" + ", ".join(f"{key}: {text}" for key, text in entries) + "}"
    return str(value)


def _plain(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _by_path(fields: Iterable[bytes]) -> dict[str, Message]:
    found: dict[str, Message] = {}
    paths: dict[int, str] = {-1: ""}
    for raw in fields:
        message = decode_field(raw)
        name = message.get(2, b"").decode("utf-8", "replace")
        parent = paths.get(message.get(4, 0), "?")
        path = f"{parent}.{name}" if parent else name
        paths[message.get(3, 0)] = path
        found[path] = message
    return found


def decode_field(raw: bytes) -> Message:
    """A field message as numbers and bytes; metadata as a dictionary."""
    message: Message = {}
    for number, value in _wire(raw):
        if number == 10:
            entry = dict(_wire(value))
            message.setdefault(10, {})[entry.get(1, b"")] = entry.get(2, b"")
        elif isinstance(value, int) and value >= 1 << 63:
            message[number] = value - (1 << 64)
        else:
            message[number] = value
    # Proto3 leaves out what is zero; a writer that spells it out means the same.
    return {number: value for number, value in message.items() if value not in (0, b"") or number == 8}


def _wire(raw: bytes) -> Iterator[tuple[int, Any]]:
    position = 0
    while position < len(raw):
        key, position = _varint(raw, position)
        if key & 7 == 0:
            value, position = _varint(raw, position)
            yield key >> 3, value
        elif key & 7 == 2:
            size, position = _varint(raw, position)
            yield key >> 3, raw[position : position + size]
            position += size
        else:
            raise ValueError(f"wire type {key & 7} in a field message")


def _varint(raw: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = raw[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position
