"""Tables of a FlatBuffer that nobody has looked at yet.

Layer: engines.
Shape: the `flatbuffers` package reads, but follows whatever offset it finds. So each place is looked at here before the package
reads it; a buffer that does not hold what it says raises `MalformedError`, and nothing else. References lead forwards only,
so none can lead in a circle.
Units: places and lengths in bytes.
Source: the FlatBuffers internals page; the number of tables is that of its own verifiers.
"""

from collections.abc import Iterator
from typing import Any

from flatbuffers import number_types as numbers
from flatbuffers import table as flat

from schemac.engines.odf.malformed import MalformedError

MAX_BYTES = 2**31 - 1
"""The longest buffer that FlatBuffers know."""
MAX_DEPTH = 200
"""Tables inside tables, as many as levels in a manifest; FlatBuffers' own verifiers stop at 64."""
MAX_TABLES = 1_000_000
_REFERENCE, _DISTANCE, _SHORT = numbers.UOffsetTFlags, numbers.SOffsetTFlags, numbers.VOffsetTFlags
_WIDTH = _REFERENCE.bytewidth


class Buffer:
    """The bytes, and how many tables may still be visited: tables can share others, so a few bytes can unfold to many."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._length = len(content)
        if self._length > MAX_BYTES:
            raise MalformedError(f"it is longer than {MAX_BYTES} bytes")
        # An honest table is not much smaller than eight bytes; leaf types are shared by their fields.
        self._left = min(MAX_TABLES, self._length + 64)

    def root(self) -> "Table":
        """Return the table that the first four bytes refer to."""
        return self.table(0, 0)

    def table(self, offset: int, depth: int) -> "Table":
        """Return the table that the reference at an offset leads to."""
        self._left -= 1
        if self._left < 0:
            raise MalformedError("its tables refer to each other endlessly")
        if depth > MAX_DEPTH:
            raise MalformedError(f"its tables are nested more than {MAX_DEPTH} levels deep")
        return Table(self, self.follow(offset), depth)

    def follow(self, offset: int) -> int:
        """Where the reference at an offset leads."""
        self.check(offset, _WIDTH)
        target = int(flat.Table(self.content, 0).Indirect(offset))
        if target == offset:
            raise MalformedError(f"the reference at byte {offset} leads nowhere")
        return target

    def check(self, offset: int, size: int) -> None:
        """Refuse what is not inside the buffer."""
        if offset < 0 or offset + size > self._length:
            outside = offset if offset < 0 else max(offset, self._length)
            raise MalformedError(f"byte {outside} is outside its {self._length} bytes")


class Table:
    """One table: values by the number of their field, None if a field is empty."""

    def __init__(self, buffer: Buffer, start: int, depth: int) -> None:
        self._buffer = buffer
        self._depth = depth
        buffer.check(start, _DISTANCE.bytewidth)
        self._flat = flat.Table(buffer.content, start)
        vtable = start - self._flat.Get(_DISTANCE, start)
        buffer.check(vtable, 4)
        vtable_size = self._flat.Get(_SHORT, vtable)
        self._size = int(self._flat.Get(_SHORT, vtable + 2))
        if vtable_size < 4 or vtable_size % 2 or self._size < 4:
            raise MalformedError(f"the table at byte {start} has no vtable at byte {vtable}")
        buffer.check(vtable, vtable_size)
        buffer.check(start, self._size)

    def scalar(self, field: int, flags: Any) -> Any:
        """Return a number or truth value."""
        offset = self._offset(field, flags.bytewidth)
        return None if offset is None else self._flat.Get(flags, self._flat.Pos + offset)

    def text(self, field: int) -> str | None:
        """Return a text."""
        offset = self._vector(field)
        if offset is None:
            return None
        content: bytes = self._flat.String(self._flat.Pos + offset)
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise MalformedError(f"the text in slot {field} at byte {self._flat.Pos} is not UTF-8") from error

    def bytes(self, field: int) -> bytes | None:
        """Return a vector of bytes, which is laid out as a text is."""
        offset = self._vector(field)
        return None if offset is None else bytes(self._flat.String(self._flat.Pos + offset))

    def table(self, field: int) -> "Table | None":
        """Return a table."""
        offset = self._offset(field, _WIDTH)
        return None if offset is None else self._buffer.table(self._flat.Pos + offset, self._depth + 1)

    def tables(self, field: int) -> "Iterator[Table] | None":
        """Return a vector of tables."""
        offset = self._vector(field, _WIDTH)
        if offset is None:
            return None
        start = self._flat.Vector(offset)
        offsets = range(start, start + _WIDTH * self._flat.VectorLen(offset), _WIDTH)
        return (self._buffer.table(offset, self._depth + 1) for offset in offsets)

    def _offset(self, field: int, size: int) -> int | None:
        """Where in the table the value of a field is."""
        offset = int(self._flat.Offset(4 + 2 * field))
        if offset == 0:
            return None
        if offset < 4 or offset + size > self._size:
            raise MalformedError(f"slot {field} of the table at byte {self._flat.Pos} is outside of it")
        return offset

    def _vector(self, field: int, width: int = 1) -> int | None:
        """Return the same for a vector or text, all of whose items are inside of the buffer."""
        offset = self._offset(field, _WIDTH)
        if offset is not None:
            start = self._buffer.follow(self._flat.Pos + offset)
            self._buffer.check(start, _WIDTH)
            self._buffer.check(start + _WIDTH, self._flat.VectorLen(offset) * width)
        return offset
