"""Tables of a FlatBuffer that nobody has looked at yet.

Floor: 7 (importers).
Shape: every offset and length is looked at before it is followed; a buffer that does not hold what it says raises
`MalformedError`, and nothing else.
Units: offsets and lengths in bytes.
Source: the FlatBuffers internals page; the number of tables is that of its own verifiers.
"""

import struct
from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 200
"""Tables inside tables, as many as levels in a manifest; FlatBuffers' own verifiers stop at 64."""
MAX_TABLES = 1_000_000


class MalformedError(Exception):
    """The bytes are not what they should be; the message completes "it is no …: "."""


class Buffer:
    """The bytes, and how many tables may still be visited: tables can share others, so a few bytes can unfold to many."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        # An honest table is not much smaller than eight bytes; leaf types are shared by their fields.
        self._left = min(MAX_TABLES, len(content) + 64)

    def root(self) -> "Table":
        """The table that the first four bytes refer to."""
        return self.table(self.follow(0), 0)

    def table(self, start: int, depth: int) -> "Table":
        """The table at an offset."""
        self._left -= 1
        if self._left < 0:
            raise MalformedError("its tables refer to each other without end")
        if depth > MAX_DEPTH:
            raise MalformedError(f"its tables are nested more than {MAX_DEPTH} levels deep")
        vtable = start - self.scalar("<i", start)
        return Table(self, start, vtable, depth)

    def follow(self, place: int) -> int:
        """Where the reference at a place leads."""
        distance = self.scalar("<I", place)
        if distance == 0:
            raise MalformedError(f"the reference at byte {place} leads nowhere")
        return place + int(distance)

    def scalar(self, format: str, place: int) -> Any:
        """The number at a place."""
        size = struct.calcsize(format)
        if place < 0 or place + size > len(self.content):
            raise MalformedError(f"byte {place} lies outside its {len(self.content)} bytes")
        return struct.unpack_from(format, self.content, place)[0]

    def sized(self, place: int, width: int = 1) -> tuple[int, int]:
        """Start and number of the items of the vector that a place refers to."""
        start = self.follow(place)
        number = int(self.scalar("<I", start))
        if start + 4 + number * width > len(self.content):
            raise MalformedError(f"{number} items at byte {start} do not fit its {len(self.content)} bytes")
        return start + 4, number


class Table:
    """One table: values by the number of their slot, None where a slot is empty."""

    def __init__(self, buffer: Buffer, start: int, vtable: int, depth: int) -> None:
        self._buffer = buffer
        self._start = start
        self._vtable = vtable
        self._depth = depth
        self._vtable_size = int(buffer.scalar("<H", vtable))
        self._size = int(buffer.scalar("<H", vtable + 2))
        if self._vtable_size < 4 or self._vtable_size % 2 or self._size < 4:
            raise MalformedError(f"the table at byte {start} has no vtable at byte {vtable}")

    def _place(self, slot: int, size: int) -> int | None:
        entry = 4 + 2 * slot
        if entry + 2 > self._vtable_size:
            return None
        offset = int(self._buffer.scalar("<H", self._vtable + entry))
        if offset == 0:
            return None
        if offset < 4 or offset + size > self._size:
            raise MalformedError(f"slot {slot} of the table at byte {self._start} lies outside of it")
        return self._start + offset

    def scalar(self, slot: int, format: str) -> Any:
        """A number or truth value."""
        place = self._place(slot, struct.calcsize(format))
        return None if place is None else self._buffer.scalar(format, place)

    def text(self, slot: int) -> str | None:
        """A text."""
        content = self.bytes(slot)
        try:
            return None if content is None else content.decode()
        except UnicodeDecodeError as error:
            raise MalformedError(f"the text in slot {slot} at byte {self._start} is not UTF-8") from error

    def bytes(self, slot: int) -> bytes | None:
        """A vector of bytes."""
        place = self._place(slot, 4)
        if place is None:
            return None
        start, number = self._buffer.sized(place)
        return self._buffer.content[start : start + number]

    def table(self, slot: int) -> "Table | None":
        """A table."""
        place = self._place(slot, 4)
        return None if place is None else self._buffer.table(self._buffer.follow(place), self._depth + 1)

    def tables(self, slot: int) -> "Iterator[Table] | None":
        """A vector of tables."""
        place = self._place(slot, 4)
        if place is None:
            return None
        start, number = self._buffer.sized(place, width=4)
        places = range(start, start + 4 * number, 4)
        return (self._buffer.table(self._buffer.follow(item), self._depth + 1) for item in places)
