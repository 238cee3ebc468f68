"""`rawArrowSchema`, the form in which events held their schema before RFC-016.

Layer: arrow.
Shape: the bytes are Arrow's table Schema as a FlatBuffer of its own. pyarrow reads it inside a message only, so a message
is put around it; what it then finds wrong with the bytes it says itself.
The encodings of the Arrow schema are left out: the standard's own upgrade of such an event keeps logical types alone.
Source: RFC-016, "Compatibility" and "Logical Types vs. Encoding"; Arrow's Message.fbs.
"""

import base64
import binascii
import struct
from typing import Any

from schemac.arrow.from_arrow import lift
from schemac.language.attributes.arrow import (
    BUFFER_ENCODING,
    DATE_ENCODING,
    DECIMAL_ENCODING,
    DICTIONARY_ENCODING,
)
from schemac.language.physical.arrow import ArrowSchema, pa
from schemac.text.source.json_object import Json
from schemac.text.source.report import Report

_ENCODINGS = {a.key for a in (BUFFER_ENCODING, DATE_ENCODING, DECIMAL_ENCODING, DICTIONARY_ENCODING)}
_V5, _SCHEMA = 4, 1
"""Arrow's metadata version, and the number of Schema among the headers of a message."""


class MalformedArrowError(ValueError):
    """The bytes are not an Arrow schema; the message says why."""


def decode_raw_arrow(text: Any) -> bytes:
    """Return the bytes of a `rawArrowSchema` in a document. Raises MalformedArrowError."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError, AttributeError) as error:
        raise MalformedArrowError("its `rawArrowSchema` is not base64") from error


def read_raw_arrow(content: bytes, file: str, report: Report) -> Json:
    """Return the logical schema of an Arrow schema in a FlatBuffer. Raises MalformedArrowError."""
    schema = _arrow_schema(content)
    try:
        tree: Json = _without_encodings(lift(schema, file, report))
    except UnicodeDecodeError as error:
        # pyarrow decodes names when they are asked for.
        raise MalformedArrowError("its Arrow schema is malformed: a text in it is not UTF-8") from error
    return tree


def _arrow_schema(content: bytes) -> ArrowSchema:
    # Imported here for start-up time: this part of pyarrow is not loaded with it.
    from pyarrow import ipc

    try:
        return ipc.read_schema(pa.py_buffer(_message(content)))
    except (pa.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or ["it cannot be read"])[0].lower()
        raise MalformedArrowError(f"its Arrow schema is malformed: {reason}") from error


def _message(content: bytes) -> bytes:
    """Return an encapsulated message whose header is the root table of these bytes."""
    # Imported here for start-up time: most documents hold no bytes.
    from flatbuffers import Builder, encode, packer

    if len(content) < 8:
        raise MalformedArrowError("its Arrow schema is malformed: it is too short")
    root = encode.Get(packer.uoffset, content, 0)
    if root >= len(content):
        raise MalformedArrowError("its Arrow schema is malformed: its root is out of bounds")
    builder = Builder()
    # Filled up, so that what was aligned inside of these bytes stays so.
    vector = builder.CreateByteVector(content + bytes(-len(content) % 8))
    builder.StartObject(5)
    builder.PrependInt64Slot(3, 0, None)
    # Places count from the end; the bytes stand behind the four of their length.
    builder.PrependUOffsetTRelativeSlot(2, vector - 4 - root, 0)
    builder.PrependInt16Slot(0, _V5, 0)
    builder.PrependUint8Slot(1, _SCHEMA, 0)
    builder.Finish(builder.EndObject())
    message = bytes(builder.Output())
    return struct.pack("<Ii", 0xFFFFFFFF, len(message)) + message


def _without_encodings(value: Any) -> Any:
    """Return the same without hints about the Arrow layout, at every depth."""
    if isinstance(value, list):
        return [_without_encodings(item) for item in value]
    if not isinstance(value, dict):
        return value
    remaining = {key: _without_encodings(item) for key, item in value.items() if key != "extra"}
    extra = {key: item for key, item in value.get("extra", {}).items() if key not in _ENCODINGS}
    return {**remaining, "extra": extra} if extra else remaining
