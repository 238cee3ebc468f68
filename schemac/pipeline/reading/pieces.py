"""Pieces of text files: what one task reads, and the whole lines that begin in a piece.

Layer: pipeline.
Shape: a file that is packed is one piece; any other may be cut at any byte. A line belongs to the piece in which it begins.
       Lines end with `\\n`, `\\r\\n` or `\\r`, as those of Spark's own reader of text.
Errors: PipelineError for a file that cannot be read to its end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from schemac.pipeline.reading.decoding import open_file, reading, seekable_file

PACKED_ENDINGS = (".gz", ".gzip", ".bz2", ".zst", ".zstd", ".deflate")
BLOCK_BYTES = 4 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LINE_FEED = 10
BYTES_TO_OPEN = 1 << 14


@dataclass(frozen=True)
class File:
    """One file of a source: the path, and how Spark names it in `_source`."""

    path: str
    uri: str
    size_bytes: int
    modified_micros: int = 0
    folders: tuple[str | None, ...] = ()

    @property
    def is_packed(self) -> bool:
        """Whether the file can only be read from its beginning."""
        return self.path.lower().endswith(PACKED_ENDINGS)

    @property
    def is_packed_for_us(self) -> bool:
        """Whether the file is packed as Spark cannot unpack it everywhere, or loses data without a word, as of damaged bzip2."""
        return self.path.lower().endswith((".bz2", ".zst", ".zstd", ".deflate", ".gzip"))


@dataclass(frozen=True)
class FileSplit:
    """The bytes of a file from `start` to before `end`; to its end where that is None."""

    file: File
    start: int = 0
    end: int | None = None


@dataclass
class _Share:
    """What one task reads."""

    file_splits: list[FileSplit] = field(default_factory=list)
    size_bytes: int = 0


def shares(files: Sequence[File], share_bytes: int, *, is_cut: bool) -> list[list[FileSplit]]:
    """Share files out to tasks, about so many bytes to each; a task may have many small files, and `is_cut` a part of a large one.

    >>> large, small = File("a", "", 10 << 20), File("b", "", 5)
    >>> [[(piece.start, piece.end) for piece in share] for share in shares([large, small], 6 << 20, is_cut=True)]
    [[(0, 5242880)], [(5242880, None), (0, None)]]
    """
    shares = [_Share()]
    for file in files:
        for split, size_bytes in _splits(file, share_bytes if is_cut and not file.is_packed else None):
            if shares[-1].file_splits and shares[-1].size_bytes + size_bytes > share_bytes:
                shares.append(_Share())
            shares[-1].file_splits.append(split)
            shares[-1].size_bytes += size_bytes + BYTES_TO_OPEN
    return [share.file_splits for share in shares]


def _splits(file: File, most_bytes: int | None) -> Iterator[tuple[FileSplit, int]]:
    count = 1 if most_bytes is None else max(1, -(-file.size_bytes // most_bytes))
    bounds = [file.size_bytes * i // count for i in range(count)]
    for i, start in enumerate(bounds):
        end = bounds[i + 1] if i + 1 < count else None
        yield FileSplit(file, start, end), (file.size_bytes if end is None else end) - start


def lines_of_split(split: FileSplit) -> Iterator[pa.Array]:
    """Read the lines that begin in a piece, without their breaks; their bytes are not looked at."""
    for block in _blocks(split):
        yield _lines(block)


def _blocks(split: FileSplit) -> Iterator[bytes]:
    """Read whole lines, many at a time."""
    path = split.file.path
    if split.file.is_packed:
        with reading(path), open_file(path) as stream:
            yield from _whole_lines(stream, split, 0)
    else:
        with reading(path), seekable_file(path) as stream:
            # The line that begins before the piece is another one's, up to its break.
            first = max(split.start - 1, 0)
            stream.seek(first)
            yield from _whole_lines(stream, split, first)


def _whole_lines(stream: Any, split: FileSplit, place: int) -> Iterator[bytes]:
    """Read from a place that may be in the middle of a line."""
    buffered = stream.read(BLOCK_BYTES)
    if not place and buffered.startswith(BYTE_ORDER_MARK):
        place = len(BYTE_ORDER_MARK)
        buffered = buffered[place:] or stream.read(BLOCK_BYTES)
    if split.start:
        while buffered and (at := _first_break(buffered, 0)) < 0:
            place, buffered = place + len(buffered), stream.read(BLOCK_BYTES)
        if buffered:
            place, buffered = place + at + 1, buffered[at + 1 :] or stream.read(BLOCK_BYTES)
    while buffered and (split.end is None or place < split.end):
        is_last = split.end is not None and place + len(buffered) >= split.end
        if split.end is not None and is_last:
            at = _first_break(buffered, split.end - 1 - place)
        else:
            at = max(buffered.rfind(b"\n"), buffered.rfind(b"\r"))
        if at >= 0:
            yield buffered[: at + 1]
            place, buffered = place + at + 1, buffered[at + 1 :]
            if is_last:
                return
        more = stream.read(BLOCK_BYTES)
        if not more:
            if buffered:
                yield buffered
            return
        buffered += more


def _first_break(text: bytes, start: int) -> int:
    breaks = [at for at in (text.find(b"\n", start), text.find(b"\r", start)) if at >= 0]
    return min(breaks, default=-1)


def _lines(block: bytes) -> pa.Array:
    """Take lines apart; an empty one may be what is between `\\r` and `\\n`."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not block.endswith(b"\n"):
        block += b"\n"
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == LINE_FEED)
    offsets = np.zeros(len(ends) + 1, np.int32)
    offsets[1:] = ends - np.arange(len(ends))
    # Python moves whole lines at a time, where numpy would look at each byte.
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(block.replace(b"\n", b""))]
    return pa.Array.from_buffers(pa.binary(), len(ends), buffers)
