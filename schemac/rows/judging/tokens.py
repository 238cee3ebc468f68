"""Values of records: JSON read from text and written again, and objects of Python as values.

Layer: rows.
Shape: `parse` takes a text, and returns None, True, False, `NumberText`, str, list or dict. A `NumberText` is the text of the token. Keys have
       the order of the record. `as_record_value` brings an object of Python to the same, as far as JSON has it; dates, times, bytes and
       UUIDs stay what they are until the reader of their field takes them as the text that a record has for them, or objects to them.
Rule: no object becomes a value of another family: bytes are not a text, a date is not a text, a boolean is not a number.
Limits: 900 levels, numbers of 1,000 characters, keys of 50,000; a text beyond them is not a record. A key that occurs twice, and half
      of a pair of surrogates, are none either.
"""

import base64
import dataclasses
import json
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import accumulate
from json.encoder import encode_basestring
from typing import Any

import pyarrow as pa

from schemac.language.attributes.attribute import Role
from schemac.language.kinds.temporal import ARROW_PER_SECOND
from schemac.rows.judging.arrays import extension_name, is_bytes, role_of, storage_type

_LONG = 10_000
"""Bits of an integer."""
BLANK = " \t"
"""What may stand before the brace of a record."""
MOST_LEVELS = 900
"""Less than Jackson takes, and what Python's own limit leaves."""
LONGEST_NUMBER, LONGEST_KEY = 1000, 50_000


class NumberText(str):
    """The text of a number as it is in the record."""

    __slots__ = ()


class NotJsonError(ValueError):
    """A text is not one JSON value, or goes beyond a limit."""


def _refuse_constant(constant: str) -> Any:
    """Raise NotJsonError for NaN or an infinity, which Python's decoder would accept."""
    raise NotJsonError


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object as a dict. Raises NotJsonError if a key is there twice, or is too long."""
    members = dict(pairs)
    if len(members) != len(pairs) or max(map(len, members), default=0) >= LONGEST_KEY:
        raise NotJsonError
    return members


def _number_text(text: str) -> NumberText:
    """Return the text of a number. Raises NotJsonError if it is too long."""
    if len(text) >= LONGEST_NUMBER:
        raise NotJsonError
    return NumberText(text)


_decode = json.JSONDecoder(
    parse_float=_number_text,
    parse_int=_number_text,
    parse_constant=_refuse_constant,
    object_pairs_hook=_object,
).decode
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def parse(text: str) -> Any:
    """Return the one value of a text. Raises NotJsonError."""
    content = text[1:-1]
    if (
        text[:1] == '"' == text[-1:]
        and len(text) > 1
        and "\\" not in content
        and '"' not in content
        and content.isprintable()
    ):
        return content
    if text.isdigit() and text.isascii() and text[0] != "0" and len(text) < LONGEST_NUMBER:
        return NumberText(text)
    if text.count("[") + text.count("{") > MOST_LEVELS and nesting_depth(text) > MOST_LEVELS:
        raise NotJsonError
    try:
        value = _decode(text)
    except (RecursionError, ValueError):
        raise NotJsonError from None
    if "\\u" in text and any(
        isinstance(part, str) and _LONE_SURROGATE.search(part) for part in _each_part(value)
    ):
        raise NotJsonError
    return value


_STRING = re.compile(r'"(?:[^"\\]|\\.?)*+"?', re.DOTALL)
"""A string, which may go on to the end of the text: it never fails, so that none is looked for again from within it."""


def nesting_depth(text: str) -> int:
    """Return how many brackets are open at most at one place of a text."""
    brackets = re.findall(r"[\[\]{}]", _STRING.sub("", text))
    return max(accumulate([1 if bracket in "[{" else -1 for bracket in brackets]), default=0)


def _each_part(value: Any) -> Iterator[Any]:
    """Yield a value with its parts and keys at every depth. Not recursive: a record is nested deeper than Python calls."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, dict):
            waiting += part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def double_text(value: float) -> str:
    """Write a double as Java does: its shortest digits, at least two, plain from 0.001 to below 10,000,000."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    digits, _, exponent = f"{Decimal(repr(value)).normalize():E}".partition("E")
    if "." not in digits:
        # Of two digits Java takes those that are closest, which matters for numbers as small as 4.9E-324.
        digits, _, exponent = f"{value:.1e}".partition("e")
    return f"{digits}E{int(exponent)}"


_CONTROL = re.compile("[\x00-\x1f]")
_ESCAPES = {code: f"\\u{code:04X}" for code in range(32)} | {
    ord(character): "\\" + letter for character, letter in zip('"\\\b\t\n\f\r', '"\\btnfr', strict=True)
}


def json_string(text: str) -> str:
    """Write a string token."""
    if _CONTROL.search(text):
        return f'"{text.translate(_ESCAPES)}"'
    return encode_basestring(text)


class _JsonPart(str):
    """A text of JSON that is already written."""

    __slots__ = ()


def token_text(value: Any) -> str:
    """Write a value without blanks, its numbers as they are in the record. Not recursive: a record is nested deeper than Python calls."""
    if value is not None and not isinstance(value, JSON_TYPES):
        # An object of Python that no record has.
        return text_of_object(value)
    texts: list[str] = []
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if type(part) is _JsonPart:
            texts.append(part)
        elif isinstance(part, list):
            waiting += _reversed_parts(_JsonPart("["), [(item,) for item in part], _JsonPart("]"))
        elif isinstance(part, dict):
            members = [(_JsonPart(f"{json_string(key)}:"), item) for key, item in part.items()]
            waiting += _reversed_parts(_JsonPart("{"), members, _JsonPart("}"))
        elif type(part) is str:
            texts.append(json_string(part))
        elif type(part) is NumberText:
            texts.append(str.__str__(part))
        elif part is None:
            texts.append("null")
        elif isinstance(part, bool):
            texts.append("true" if part else "false")
        else:
            texts.append(json_string(text_of_object(part)))
    return "".join(texts)


def _reversed_parts(opened: _JsonPart, members: Iterable[tuple[Any, ...]], closed: _JsonPart) -> list[Any]:
    """Return the parts of a list or an object, the last one first."""
    tokens: list[Any] = [opened]
    for i, member in enumerate(members):
        tokens += (_JsonPart(","), *member) if i else member
    tokens.append(closed)
    tokens.reverse()
    return tokens


JSON_TYPES = (str, NumberText, bool, list, dict)
WHOLE_TYPES = {date, datetime, time, timedelta, bytes}
"""Types whose values stay as they are; NaT of pandas is of none of them."""
_MICROSECOND = timedelta(microseconds=1)


def as_record_value(value: Any, depth: int = 0) -> Any:
    """Return what is in a record for an object, some levels below the record. Raises NotJsonError if it is nested too deep, or in itself."""
    converted: list[Any] = [None]
    waiting: list[tuple[Any, Any, int]] = [([value], converted, depth - 1)]
    while waiting:
        parts, into, level = waiting.pop()
        if level == MOST_LEVELS:
            raise NotJsonError
        for key, part in parts.items() if isinstance(parts, dict) else enumerate(parts):
            member = _record_value(part)
            if isinstance(member, dict | list):
                into[key] = dict.fromkeys(member) if isinstance(member, dict) else [None] * len(member)
                waiting.append((member, into[key], level + 1))
            else:
                into[key] = member
    return converted[0]


def _record_value(value: Any) -> Any:
    """Return a value of a record; the parts of a dict or a list are not looked at."""
    if value is None or type(value) in WHOLE_TYPES or isinstance(value, bool | NumberText):
        return value
    if isinstance(value, str):
        return _checked_text(value)
    if isinstance(value, int | float | Decimal):
        return _number_of_object(value)
    if isinstance(value, Mapping):
        members = {_key_text(key): item for key, item in value.items()}
        if len(members) < len(value):
            raise NotJsonError
        return members
    if isinstance(value, list | tuple):
        return list(value)
    if hasattr(value, "model_dump"):
        return _record_value(value.model_dump())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, pa.Scalar):
        return _record_value(value.as_py())
    if hasattr(value, "tolist"):
        # Arrays and numbers of numpy.
        items = value.tolist()
        return _record_value(items) if type(items) is not type(value) else items
    # NaT of pandas is a datetime, and as NaN it is not itself.
    return None if isinstance(value, datetime) and value != value else value  # noqa: PLR0124


def _number_of_object(value: float | Decimal) -> NumberText:
    """Return the token of a number; what is not finite is NaN, Infinity or -Infinity."""
    if isinstance(value, int):
        # Python writes no integer of more than some thousand digits, and a Decimal of any number.
        return NumberText(int.__repr__(value) if value.bit_length() < _LONG else format(Decimal(value), "f"))
    text = str(value) if isinstance(value, Decimal) else float.__repr__(value)
    named = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
    return NumberText(named.get(text.lower().replace("infinity", "inf"), text))


def _checked_text(text: str) -> str:
    """Return a text as a plain str. Raises NotJsonError if a surrogate is in it."""
    if not text.isascii() and _LONE_SURROGATE.search(text):
        raise NotJsonError
    return str.__str__(text)


class ObjectKey(str):
    """A key of a Python mapping that is not a text: its text, and its value, which the type of the keys may take."""

    __slots__ = ("value",)
    value: Any

    @classmethod
    def of(cls, key: Any) -> "ObjectKey":
        """Return the text of a key: bytes in base64, dates and times in ISO 8601, others as Python shows them."""
        value = _record_value(key)
        if isinstance(value, bool):
            text = "true" if value else "false"
        elif isinstance(value, bytes):
            text = base64.b64encode(value).decode()
        else:
            text = value.isoformat() if isinstance(value, date | time) else text_of_object(value)
        object_key = cls(text)
        object_key.value = value
        return object_key


def _key_text(key: Any) -> str:
    """Return a key of a mapping as text. Raises NotJsonError."""
    return (
        _checked_text(key) if isinstance(key, str) and not isinstance(key, NumberText) else ObjectKey.of(key)
    )


def text_of_object(value: Any) -> str:
    """Return how Python shows an object, or only what it is where it is nested deeper than Python shows."""
    try:
        return str(value)
    except RecursionError:
        return f"{type(value).__name__} of more levels than can be shown"


Read = Callable[[Any, Any, Any], Any]


def with_objects(member: pa.Field, read: Read) -> Read:
    """Return a reader of a field without parts that accepts Python objects."""
    text_of = _object_text(member)
    is_json = role_of(member) is Role.JSON

    def read_object(x: Any, path: Any, reasons: Any) -> Any:
        if is_json and not _is_json(x):
            return reasons.add(path, "type", text_of_object(x))
        if x is None or isinstance(x, JSON_TYPES):
            return read(x, path, reasons)
        text = text_of(x)
        if text is None:
            return reasons.add(path, "type", text_of_object(x))
        return read(text, path, reasons)

    return read_object


def with_object_keys(member: pa.Field, read: Read, *, takes_numbers: bool, takes_booleans: bool) -> Read:
    """Return a reader of keys that accepts those Python objects that the type of the keys takes as values."""
    text_of = _object_text(member)

    def read_key(label: Any, path: Any, reasons: Any) -> Any:
        if type(label) is not ObjectKey:
            return read(label, path, reasons)
        value = label.value
        if isinstance(value, bool | NumberText):
            is_taken = takes_booleans if isinstance(value, bool) else takes_numbers
            text = str.__str__(label) if is_taken else None
        else:
            text = text_of(value)
        return reasons.add(path, "type", str.__str__(label)) if text is None else read(text, path, reasons)

    return read_key


def with_pairs(read: Read) -> Read:
    """Return a reader of a map that accepts pairs, which is Arrow's form of maps in Python."""

    def read_pairs(x: Any, path: Any, reasons: Any) -> Any:
        if type(x) is list and all(type(pair) is list and len(pair) == 2 for pair in x):
            keys = [_key_text(pair[0]) for pair in x]
            if len({*keys}) == len(keys):
                x = {key: pair[1] for key, pair in zip(keys, x, strict=True)}
        return read(x, path, reasons)

    return read_pairs


def _is_json(value: Any) -> bool:
    """Whether a value and all of its parts are such as JSON has."""
    return all(part is None or isinstance(part, JSON_TYPES) for part in _each_part(value))


def _object_text(member: pa.Field) -> Callable[[Any], str | None]:
    """Return what gives the text of an object that a field takes; None for what it does not take."""
    data_type, is_ = storage_type(member.type), pa.types
    if is_.is_timestamp(data_type):
        return lambda x: _timestamp_text(x) if isinstance(x, datetime) else None
    if is_.is_date(data_type):
        return lambda x: x.isoformat() if isinstance(x, date) else None
    if is_.is_time(data_type):
        return lambda x: x.isoformat() if isinstance(x, time) else None
    if is_.is_duration(data_type):
        return lambda x: _duration_text(x, data_type) if isinstance(x, timedelta) else None
    if is_uuid(member):
        return _uuid_text
    if is_bytes(data_type) or role_of(member) is Role.BLOB:
        return _base64_text
    return lambda x: None


def is_uuid(member: pa.Field) -> bool:
    """Whether values of a field are UUIDs."""
    return extension_name(member) == "arrow.uuid"


def _uuid_text(x: Any) -> str | None:
    """Return the text of a UUID or of the 16 bytes of one; None for anything else."""
    if isinstance(x, uuid.UUID):
        return str(x)
    return str(uuid.UUID(bytes=x)) if isinstance(x, bytes) and len(x) == 16 else None


def _base64_text(x: Any) -> str | None:
    """Return bytes, or those of a UUID, in base64; None for anything else."""
    content = x.bytes if isinstance(x, uuid.UUID) else x
    return base64.b64encode(content).decode() if isinstance(content, bytes) else None


def _timestamp_text(x: datetime) -> str:
    """Return a timestamp in ISO 8601, with a zone in UTC unless that is outside of Python's calendar."""
    if x.tzinfo is None:
        return x.isoformat()
    try:
        # Offsets in years long ago have seconds, which no text of a record has.
        return x.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
    except OverflowError:
        # It is beyond the years of the calendar.
        return x.isoformat()


def _duration_text(x: timedelta, data_type: pa.DataType) -> str:
    """Return the count of a duration in the type's unit, as a number without an exponent."""
    count = Decimal(x // _MICROSECOND) * ARROW_PER_SECOND[data_type.unit] / 10**6
    return NumberText(format(count.normalize(), "f"))
