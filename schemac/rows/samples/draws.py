"""Numbers that look random, and are the same everywhere.

Layer: rows.
Source: SHAKE128 (FIPS 202) of a text that names what is drawn; the outputs of Python's own generator may change with its version.
"""

from collections.abc import Sequence
from hashlib import shake_128
from typing import Any, TypeVar

_BLOCK = 4096
"""Bytes that are drawn at a time."""

T = TypeVar("T")


class Draws:
    """A stream of numbers for one purpose."""

    def __init__(self, *purpose: object) -> None:
        self._purpose = "/".join(map(repr, purpose))
        self._blocks = 0
        self._bytes, self._at = b"", 0

    def below(self, count: int) -> int:
        """Return a number from 0 to `count` - 1, each as likely as the others but for less than 2⁻³²."""
        size, at = (count.bit_length() + 39) // 8, self._at
        if at + size > len(self._bytes):
            self._bytes, at = self.bytes(max(_BLOCK, size)), 0
        self._at = at + size
        return int.from_bytes(self._bytes[at : at + size], "little") % count

    def chance(self, percent: int) -> bool:
        """Return whether something happens in so many of 100 cases."""
        return self.below(100) < percent

    def one_of(self, values: Sequence[T]) -> T:
        """Return one of some values."""
        return values[self.below(len(values))]

    def bytes(self, count: int) -> bytes:
        """Return bytes."""
        self._blocks += 1
        return shake_128(f"{self._purpose}#{self._blocks}".encode()).digest(count)


def indices(draws: Draws, count: int, size: int) -> Any:
    """Return an Arrow array of `count` numbers below `size`, at most 2³¹."""
    import pyarrow as pa  # for start-up time: whoever draws single numbers needs no Arrow
    import pyarrow.compute as pc

    words = pa.Array.from_buffers(pa.uint32(), count, [None, pa.py_buffer(draws.bytes(count * 4))])
    scaled = pc.multiply(words.cast(pa.uint64()), pa.scalar(size, pa.uint64()))
    return pc.shift_right(scaled, pa.scalar(32, pa.uint64())).cast(pa.int64())
