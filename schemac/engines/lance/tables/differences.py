"""Compares the schema of a table with the one that was compiled, field by field.

Layer: engines.
Shape: serialized `lance.file.Field` messages of both versions, in pre-order; differences as sentences, none when equal.
Source: `reference` of the Lance format: ids, types, nullability, encodings and metadata count; field 8 (dictionary) only
        says whether data was written, and the order of metadata entries is random.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from schemac.arrow.form import forms
from schemac.arrow.lower_metadata import compact
from schemac.attributes import own
from schemac.attributes.odf import DESCRIPTION
from schemac.engines.lance.attributes import STORAGE_VERSION
from schemac.engines.lance.tables.wording import entry_name, entry_words, type_pair

NAME, ID, PARENT, TYPE, NULLABLE, ENCODING, EXTENSION, METADATA = 2, 3, 4, 5, 6, 7, 9, 10
_SAID_BY_METADATA = {EXTENSION, 12, 13, 14, 15}
"""Fields of a message that repeat entries of its metadata."""
STEERING = frozenset({own.TARGETS_OF.key, own.RENAMED_FROM.key, STORAGE_VERSION.key})
"""Attributes that are no part of a table: they steer the build, or say what the table's files say themselves."""

Message = dict[int, Any]


def lance_fields_of(schema: pa.Schema) -> list[bytes]:
    """Return the messages that Lance itself makes of an Arrow schema."""
    from lance.schema import LanceSchema

    return _messages(LanceSchema.from_pyarrow(schema))[1]


def _messages(schema: Any) -> tuple[dict[str, bytes], list[bytes]]:
    metadata, *fields = schema.__reduce__()[1]
    return {key: bytes(value) for key, value in json.loads(metadata).items()}, [
        bytes(field) for field in fields
    ]


def differences(
    expected: Iterable[bytes],
    actual: Any,
    *,
    metadata: dict[str, bytes] | None = None,
    ids: bool = True,
    same: Mapping[int, int] = MappingProxyType({}),
) -> tuple[str, ...]:
    """How a table's Lance schema differs from what is expected; `ids=False` compares by path only.

    `same` has the ids of expected fields, and under which ids the table has these fields, as far as it is known.
    """
    actual_metadata, actual_fields = _messages(actual)
    wanted, found = _by_path(expected), _by_path(actual_fields)
    here = _namesakes(wanted, found, same, by_id=ids)
    lines = [f"`{path}` is missing" for path in _outermost(wanted, here)]
    lines += [f"`{path}` is not expected" for path in _outermost(found, here.values())]
    moved: set[str] = set()
    for path, place in here.items():
        above = _above(path, wanted[path])
        if here.get(above, above) != _above(place, found[place]) or (above and above not in here):
            lines.append(f"a field moved from `{place}` in the table to `{path}` in the schema")
            moved.add(path)
        elif wanted[path].get(NAME) != found[place].get(NAME):
            lines.append(f"`{path}` has the name `{place}` in the table")
        if above in moved:
            moved.add(path)
        # What is moved is written anew, under other ids.
        lines += _field_differences(path, wanted[path], found[place], ids=ids and path not in moved)
    if not lines and [here[path] for path in wanted] != list(found):
        lines.append(f"fields are in another order: {', '.join(found)}")
    if metadata is not None:
        theirs = {key: value for key, value in actual_metadata.items() if key not in STEERING}
        ours = {key: value for key, value in metadata.items() if key not in STEERING}
        lines += [f"the schema: {line}" for line in _entry_differences(ours, theirs)]
    return tuple(lines)


def _outermost(fields: Mapping[str, Message], known: Collection[str]) -> Iterator[str]:
    """Yield the fields that are not known; what is inside one of them goes without saying."""
    for path, message in fields.items():
        above = _above(path, message)
        if path not in known and (not above or above in known):
            yield path


def _above(path: str, message: Message) -> str:
    """Return the path of what a field is in; empty for a column."""
    return path[: -len(_text(message.get(NAME))) - 1]


def _namesakes(
    wanted: Mapping[str, Message], found: Mapping[str, Message], same: Mapping[int, int], *, by_id: bool
) -> dict[str, str]:
    """Return the path in the table of each expected field; one that has another name there is known by its id."""
    by_number = {message.get(ID, 0): path for path, message in found.items()}
    numbers = {path: same.get(message.get(ID, 0)) for path, message in wanted.items()}
    here = {path: by_number[n] for path, n in numbers.items() if n is not None and n in by_number}
    taken = set(here.values())
    here |= {path: path for path in wanted if path in found and path not in here and path not in taken}
    if by_id:
        # A number alone may be a coincidence.
        taken = set(here.values())
        others = {(m.get(ID, 0), m.get(TYPE)): path for path, m in found.items() if path not in taken}
        for path, message in wanted.items():
            other = others.get((message.get(ID, 0), message.get(TYPE)))
            if path not in here and other is not None:
                here[path] = other
    return {path: here[path] for path in wanted if path in here}


def _field_differences(path: str, wanted: Message, found: Message, *, ids: bool) -> Iterator[str]:
    """One sentence a difference, in the author's words."""
    if wanted.get(TYPE) != found.get(TYPE):
        here, there = type_pair(_text(found.get(TYPE)), _text(wanted.get(TYPE)))
        yield f"`{path}` is {here} in the table, and {there} in the schema"
    elif wanted.get(ENCODING) != found.get(ENCODING):
        yield f"`{path}` is stored with another encoding than the schema asks for"
    if wanted.get(NULLABLE) != found.get(NULLABLE):
        may = "may be null" if found.get(NULLABLE) else "may not be null"
        yield f"`{path}` {may} in the table, and {'may not' if found.get(NULLABLE) else 'may'} in the schema"
    if ids and wanted.get(ID, 0) != found.get(ID, 0):
        yield f"`{path}` has the id {found.get(ID, 0)} in the table, and {wanted.get(ID, 0)} in the schema"
    elif ids and wanted.get(PARENT, 0) != found.get(PARENT, 0):
        yield f"`{path}` is inside another field in the table"
    ours, theirs = (_settled(message.get(METADATA, {})) for message in (wanted, found))
    told = tuple(_entry_differences(ours, _with_description(theirs, ours)))
    yield from (f"`{path}`: {line}" for line in told)
    if not told and any(wanted.get(number) != found.get(number) for number in _SAID_BY_METADATA):
        yield f"`{path}`: its flags for keys and extension types do not match its metadata"


def _entry_differences(wanted: Mapping[str, bytes], found: Mapping[str, bytes]) -> Iterator[str]:
    for key in sorted(wanted.keys() | found.keys()):
        if wanted.get(key) == found.get(key):
            continue
        if key not in wanted:
            yield f"{entry_name(key)} {entry_words(found[key])} is not in the schema"
        else:
            here, there = entry_words(found.get(key)), entry_words(wanted[key])
            yield f"{entry_name(key)} is {here} in the table, and {there} in the schema"


def _settled(metadata: Mapping[bytes, bytes]) -> dict[str, bytes]:
    """Return the metadata without what steers the build, and without the marks that other engines leave beside the type."""
    left_out = STEERING.union(*(form.repeated for form in forms().values()))
    texts = {_text(key): value for key, value in metadata.items()}
    return {key: value for key, value in texts.items() if key not in left_out}


def _with_description(found: dict[str, bytes], wanted: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the metadata with the description of a column that another engine made under its own key."""
    for word in filter(None, (form.description for form in forms().values())):
        if word in found and word not in wanted:
            rest = {key: value for key, value in found.items() if key != word}
            return {DESCRIPTION.key: compact(_text(found[word])).encode(), **rest}
    return found


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


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
    """Return a field message as numbers and bytes; metadata as a dictionary."""
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
