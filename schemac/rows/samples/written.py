"""Rows as text: records of JSON and of CSV that a pipeline reads back as they were.

Layer: rows.
Shape: columns in their nullable types in; one text for each row out. A timestamp in UTC or another zone ends with `Z`; a decimal has all of its
       digits; bytes are base64. In CSV, lists, maps and structs are JSON in a cell, an empty cell is null, and an empty text has quotes.
"""

import base64
import struct
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa

from schemac.language.attributes.attribute import Role
from schemac.rows.judging.arrays import is_scalar, role_of, storage_field, storage_type
from schemac.rows.judging.tokens import is_uuid, json_string
from schemac.rows.judging.typed_values import raw_values
from schemac.rows.judging.value_texts import cast_text, clock_text

Written = Callable[[Any], str]
_NEEDS_QUOTES = frozenset(',"\r\n')


def json_lines(schema: pa.Schema, rows: pa.RecordBatch) -> Iterator[str]:
    """Yield a record for each row, without the end of the line."""
    labels = [f"{json_string(name)}:" for name in schema.names]
    for row in _written_rows(schema, rows, _json_writer, "null"):
        yield f"{{{','.join([label + text for label, text in zip(labels, row, strict=True)])}}}"


def _written_rows(
    schema: pa.Schema, rows: pa.RecordBatch, writer_of: Callable[[pa.Field], Written], null: Any
) -> Iterator[tuple[Any, ...]]:
    """Yield the texts of the values of each row, `null` for those that are null."""
    columns = []
    for member, column in zip(map(storage_field, schema), rows.columns, strict=True):
        write = writer_of(member)
        columns.append([null if value is None else write(value) for value in raw_values(column)])
    yield from zip(*columns, strict=True)


def csv_header(schema: pa.Schema) -> str:
    """Return the names of the columns."""
    return ",".join(_quoted_cell(name) for name in schema.names)


def csv_lines(schema: pa.Schema, rows: pa.RecordBatch) -> Iterator[str]:
    """Yield a record for each row, without the end of the line."""
    yield from map(csv_line, _written_rows(schema, rows, _cell_writer, None))


def _cell_writer(member: pa.Field) -> Written:
    """Return what writes values of a field for a cell."""
    is_text = is_scalar(member) and role_of(member) is not Role.JSON
    return text_writer(member) if is_text else _json_writer(member)


def csv_line(cells: Iterable[str | None]) -> str:
    """Return a record of CSV; None is an empty cell."""
    # A line without a character would be none.
    return ",".join([_quoted_cell(text) if text is not None else "" for text in cells]) or '""'


def _quoted_cell(text: str) -> str:
    """Return a text as a cell of CSV, in quotes if it is empty or could be read as another one without them."""
    if text and _NEEDS_QUOTES.isdisjoint(text) and text == text.strip(" \t"):
        return text
    return '"' + text.replace('"', '""') + '"'


def _json_writer(member: pa.Field) -> Written:
    """Return what writes values of a field as JSON."""
    data_type, is_, role = member.type, pa.types, role_of(member)
    if role is Role.JSON:
        return str
    if role is None and is_.is_struct(data_type):
        parts = [(part.name, f"{json_string(part.name)}:", _json_writer(part)) for part in data_type]
        return lambda value: _json_object([(label, value[name], write) for name, label, write in parts])
    if role is None and is_.is_map(data_type):
        key, item = text_writer(data_type.key_field), _json_writer(data_type.item_field)
        return lambda value: _json_object(
            [(f"{json_string(key(one))}:", other, item) for one, other in value]
        )
    if role is None and is_.is_nested(data_type):
        inner = _json_writer(data_type.value_field)
        return lambda value: f"[{','.join(['null' if one is None else inner(one) for one in value])}]"
    plain, stored = text_writer(member), storage_type(data_type)
    unquoted = (is_.is_boolean, is_.is_integer, is_.is_floating, is_.is_decimal, is_.is_duration)
    if role is Role.BRAIN_FLOATS or any(is_kind(stored) for is_kind in unquoted):
        return plain
    return lambda value: json_string(plain(value))


def _json_object(members: list[tuple[str, Any, Written]]) -> str:
    """Return an object of JSON; each label comes in quotes and with its colon."""
    return f"{{{','.join([label + ('null' if value is None else write(value)) for label, value, write in members])}}}"


def text_writer(member: pa.Field) -> Written:
    """Return what writes values of a field without parts as text."""
    data_type, is_ = storage_type(member.type), pa.types
    if role_of(member) is Role.BRAIN_FLOATS:
        return lambda value: repr(float(struct.unpack("<f", b"\0\0" + value)[0]))
    if is_uuid(member):
        return lambda value: str(uuid.UUID(bytes=value))
    if is_.is_timestamp(data_type):
        zone = "Z" if data_type.tz is not None else ""
        return lambda value: clock_text(value, data_type.unit, "T") + zone
    if is_.is_floating(data_type):
        return lambda value: repr(float(value))
    return lambda value: (
        base64.b64encode(value).decode() if isinstance(value, bytes) else cast_text(value, data_type)
    )
