"""Objects of Python as values of a record, besides what JSON has.

Layer: rows.
Shape: `as_record_value` brings an object to what `tokens` reads out of JSON, as far as JSON has it; dates, times, bytes and UUIDs stay
       what they are until the reader of their field takes them as the text that a record has for them, or objects to them.
Rule: no object becomes a value of another family: bytes are not a text, a date is not a text, a boolean is not a number.
"""

import base64
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from schemac.attributes.attribute import Role
from schemac.kinds.units import ARROW_PER_SECOND
from schemac.rows.judging.shapes import is_binary, role_of, storage_type
from schemac.rows.judging.tokens import MOST_LEVELS, NotJsonError, Number

JSON_TYPES = (str, Number, bool, list, dict)
_MICROSECOND = timedelta(microseconds=1)


def as_record_value(value: Any) -> Any:
    """Return what is in a record for an object. Raises NotJsonError if it is nested too deep, or in itself."""
    converted: list[Any] = [None]
    waiting: list[tuple[Any, Any, Any, int]] = [(value, converted, 0, 0)]
    while waiting:
        part, into, at, depth = waiting.pop()
        part = _opened(part)
        if isinstance(part, dict | list):
            if depth == MOST_LEVELS:
                raise NotJsonError
            members = part.items() if isinstance(part, dict) else enumerate(part)
            part = dict.fromkeys(part) if isinstance(part, dict) else [None] * len(part)
            waiting += [(member, part, key, depth + 1) for key, member in members]
        into[at] = part
    return converted[0]


def _opened(value: Any) -> Any:
    """Return a value of a record; the parts of a dict or a list are not looked at."""
    if value is None or isinstance(value, bool | Number):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int | float | Decimal):
        return _number(value)
    if isinstance(value, Mapping):
        return {_key(key): item for key, item in value.items()}
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, pa.Scalar):
        return _opened(value.as_py())
    if hasattr(value, "tolist"):
        # Arrays and numbers of numpy.
        items = value.tolist()
        return _opened(items) if type(items) is not type(value) else items
    # NaT of pandas is a datetime, and as NaN it is not itself.
    return None if isinstance(value, datetime) and value != value else value  # noqa: PLR0124


def _number(value: float | Decimal) -> Number:
    if isinstance(value, int):
        return Number(int.__repr__(value))
    text = str(value) if isinstance(value, Decimal) else float.__repr__(value)
    named = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
    return Number(named.get(text.lower().replace("infinity", "inf"), text))


def _key(key: Any) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, bytes):
        return base64.b64encode(key).decode()
    if isinstance(key, int | float | Decimal):
        return str(_number(key))
    return key.isoformat() if isinstance(key, date | time) else str(key)


def text_of_object(value: Any) -> str:
    """Return how Python shows an object, or only what it is where it is nested deeper than Python shows."""
    try:
        return str(value)
    except RecursionError:
        return f"{type(value).__name__} of more levels than can be shown"


Read = Callable[[Any, Any, Any], Any]


def with_objects(member: pa.Field, read: Read) -> Read:
    """Let a reader of a field without parts take the objects that are values of it."""
    text_of = _text_of(member)
    is_json = role_of(member) is Role.JSON

    def read_object(x: Any, path: Any, run: Any) -> Any:
        if is_json and not _is_json(x):
            return run.object_to(path, "type", text_of_object(x))
        if x is None or isinstance(x, JSON_TYPES):
            return read(x, path, run)
        text = text_of(x)
        if text is None:
            return run.object_to(path, "type", text_of_object(x))
        return read(text, path, run)

    return read_object


def with_pairs(read: Read) -> Read:
    """Let a reader of a map take pairs, as Arrow gives maps to Python."""

    def read_pairs(x: Any, path: Any, run: Any) -> Any:
        if type(x) is list and all(type(pair) is list and len(pair) == 2 for pair in x):
            keys = [_key(pair[0]) for pair in x]
            if len({*keys}) == len(keys):
                x = {key: pair[1] for key, pair in zip(keys, x, strict=True)}
        return read(x, path, run)

    return read_pairs


def _is_json(value: Any) -> bool:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
        elif part is not None and not isinstance(part, JSON_TYPES):
            return False
    return True


def _text_of(member: pa.Field) -> Callable[[Any], str | None]:
    """Return what gives the text of an object that a field takes; None for what it does not take."""
    data_type, is_ = storage_type(member.type), pa.types
    if is_.is_timestamp(data_type):
        return lambda x: _timestamp(x) if isinstance(x, datetime) else None
    if is_.is_date(data_type):
        return lambda x: x.isoformat() if isinstance(x, date) else None
    if is_.is_time(data_type):
        return lambda x: x.isoformat() if isinstance(x, time) else None
    if is_.is_duration(data_type):
        return lambda x: _duration(x, data_type) if isinstance(x, timedelta) else None
    if is_uuid(member):
        return lambda x: _uuid(x)
    if is_binary(data_type) or is_.is_fixed_size_binary(data_type) or role_of(member) is Role.BLOB:
        return lambda x: _base64(x)
    return lambda x: None


def is_uuid(member: pa.Field) -> bool:
    """Whether values of a field are UUIDs."""
    name = getattr(member.type, "extension_name", None) or (member.metadata or {}).get(
        b"ARROW:extension:name"
    )
    return name in ("arrow.uuid", b"arrow.uuid")


def _uuid(x: Any) -> str | None:
    if isinstance(x, uuid.UUID):
        return str(x)
    return str(uuid.UUID(bytes=x)) if isinstance(x, bytes) and len(x) == 16 else None


def _base64(x: Any) -> str | None:
    content = x.bytes if isinstance(x, uuid.UUID) else x
    return base64.b64encode(content).decode() if isinstance(content, bytes) else None


def _timestamp(x: datetime) -> str:
    if x.tzinfo is None:
        return x.isoformat()
    # Offsets in years long ago have seconds, which no text of a record has.
    return x.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def _duration(x: timedelta, data_type: pa.DataType) -> str:
    count = Decimal(x // _MICROSECOND) * ARROW_PER_SECOND[data_type.unit] / 10**6
    return Number(format(count.normalize(), "f"))
