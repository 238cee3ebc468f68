"""What Lance itself makes of an Arrow schema, and our message of the same schema.

Shape: a field's canonical form is its bytes with the entries of its metadata in order, for Lance writes them in the
order of a hash table that differs from process to process.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from google.protobuf.internal.decoder import _DecodeVarint  # type: ignore[attr-defined]
from lance.schema import LanceSchema

from schemac.language.physical import LoweredField, LoweredSchema

METADATA = 10


def lance_fields(schema: Any) -> tuple[dict[str, bytes], list[bytes]]:
    """Schema metadata and the bytes of each field, as Lance has them; takes a pyarrow or a Lance schema."""
    found = LanceSchema.from_pyarrow(schema) if isinstance(schema, pa.Schema) else schema
    metadata, *fields = found.__reduce__()[1]
    return {key: bytes(value) for key, value in json.loads(metadata).items()}, fields


def lowered(schema: pa.Schema) -> LoweredSchema:
    """An Arrow schema as if it had been lowered."""
    fields = tuple(LoweredField(field, (), None, _texts(field.metadata)) for field in schema)
    return LoweredSchema(fields, _texts(schema.metadata))


def _texts(metadata: dict[bytes, bytes] | None) -> dict[str, str]:
    return {key.decode(): value.decode() for key, value in (metadata or {}).items()}


def records(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message on the wire: number, and all its bytes with the tag."""
    at = 0
    while at < len(content):
        start = at
        tag, at = _DecodeVarint(content, at)
        if tag & 7 == 2:
            length, at = _DecodeVarint(content, at)
            at += length
        else:
            assert tag & 7 == 0, "no other wire type occurs in these messages"
            _, at = _DecodeVarint(content, at)
        yield tag >> 3, content[start:at]


def payload(record: bytes) -> bytes:
    """A length-delimited record without its tag and length."""
    _, at = _DecodeVarint(record, 0)
    length, at = _DecodeVarint(record, at)
    assert at + length == len(record)
    return record[at:]


def canonical(field: bytes) -> list[tuple[int, bytes]]:
    """All records of a field in the order of the wire, but those of the metadata sorted."""
    found = list(records(field))
    entries = iter(sorted(record for record in found if record[0] == METADATA))
    return [next(entries) if record[0] == METADATA else record for record in found]


def split(message: bytes) -> tuple[Mapping[bytes, bytes], list[bytes]]:
    """Metadata entries and fields of a `lance.file.Schema` on the wire."""
    fields = [payload(record) for number, record in records(message) if number == 1]
    entries = [dict(records(payload(record))) for number, record in records(message) if number == 5]
    metadata = {_part(entry, 1): _part(entry, 2) for entry in entries}
    assert len(metadata) == len(entries)
    return metadata, fields


def _part(entry: Mapping[int, bytes], number: int) -> bytes:
    return payload(entry[number]) if number in entry else b""
