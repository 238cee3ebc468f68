"""Files of text: opened, unpacked, decoded, and cut into pieces of whole lines that tasks read.

Layer: pipeline.
Shape: a byte that is not the encoding becomes a character from U+DC00 to U+DCFF, which no text of an encoding holds, so that the record
       around it is known; `decoded` shows such a record with each byte as one character of ISO-8859-1. A file that is packed is one
       piece, any other may be cut at any byte: a line belongs to the piece in which it begins. Lines end with a line feed, a carriage
       return, or both.
Errors: PipelineError for an encoding that nobody knows, and for a file that cannot be read, or unpacked, to its end.
"""

import bz2
import codecs
import contextlib
import hashlib
import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import ArrowException

from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.paths import local_part, refuse_packed
from schemac.pipeline.spark.failures import UNSEEN, WHOLE
from schemac.rows.runs.storage import current_storage
from schemac.text.source.catalogue import NOT_SHARED, UNKNOWN_BYTE_ORDER, UNKNOWN_ENCODING, UNREADABLE_INPUT

BAD_ENCODING = "encoding"
"""The rule that a record breaks whose bytes are not the encoding of its source."""
MARK = 0xDC00
MARKED = re.compile("[\ud800-\udfff]")
BYTE_ORDER_MARKS = {
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
}
"""What a text of an encoding begins with that has no order of bytes of its own."""
CHUNK_BYTES = 1 << 20
PACKED_BYTES = 1 << 17


def _mark_bytes(error: UnicodeError) -> tuple[str, int]:
    """Return a mark for each byte that is no valid text, and where decoding goes on."""
    if isinstance(error, UnicodeDecodeError):
        return "".join(chr(MARK + byte) for byte in error.object[error.start : error.end]), error.end
    raise error


codecs.register_error("schemac-mark", _mark_bytes)


def codec_name(encoding: str) -> str:
    """Return Python's name of an encoding. Raises PipelineError for one that it does not know.

    >>> codec_name("ISO_8859_1"), codec_name("UTF8")
    ('iso8859-1', 'utf-8')
    """
    try:
        codec_info = codecs.lookup(encoding)
    except LookupError as error:
        message = f"there is no encoding `{encoding}`"
        help = "UTF-8, ISO-8859-1, windows-1252, UTF-16LE …"
        raise PipelineError(UNKNOWN_ENCODING, message, help) from error
    if not codec_info._is_text_encoding:
        raise PipelineError(UNKNOWN_ENCODING, f"`{encoding}` is not a text encoding", "UTF-8, ISO-8859-1 …")
    return "utf-8" if codec_info.name == "utf-8-sig" else codec_info.name


def check_encoding(path: str) -> None:
    """Refuse a file that begins as text of two or four bytes a character; no record of it would be UTF-8."""
    head = b""
    # Whoever reads the file says what is wrong with it.
    with contextlib.suppress(Exception), open_file(path) as stream:
        head = stream.read(4)
    encoding = _wide_encoding(head)
    if encoding is not None:
        message = f"`{path}` is not UTF-8; it looks like {encoding}"
        help = f"set `options: {{encoding: {encoding}}}` under `source`"
        raise PipelineError(UNREADABLE_INPUT, message, help)


def _wide_encoding(head: bytes) -> str | None:
    """Return the encoding that a text's first four bytes show, if it has two or four bytes for each character; else None.

    >>> _wide_encoding("{}".encode("utf-16")), _wide_encoding(b"{\\0}\\0"), _wide_encoding(b"{}")
    ('UTF-16', 'UTF-16LE', None)
    """
    encoding = json.detect_encoding(head)
    return None if encoding.startswith("utf-8") else re.sub("-([lb]e)$", r"\1", encoding).upper()


@contextmanager
def open_file(path: str) -> Iterator[Any]:
    """Open a file for reading; it is decompressed if the ending of its name says so."""
    refuse_packed(path)
    # What unpacks a file leaves it open.
    with open_bytes(path) as packed, _decompressed(packed, _ending(path)) as stream:
        yield stream


def open_bytes(path: str) -> Any:
    """Open a file for reading from any place, without decompressing it, on this machine or an object store."""
    local = local_part(path)
    if local is not None:
        return open(local, "rb")
    file_system, inner = current_storage().open_arrow(path)
    return file_system.open_input_file(inner)


def sha256_of(path: str) -> str:
    """Return the SHA-256 of a file's bytes in hexadecimal digits."""
    with open_bytes(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


CODECS = {".gz": "gzip", ".gzip": "gzip", ".deflate": "gzip", ".bz2": "bz2", ".zst": "zstd", ".zstd": "zstd"}
"""How a file is packed, by the ending of its name; which of two headers one of `gzip` has, the library sees."""


def _ending(path: str) -> str:
    """Return the ending of a file's name in lower case, with its dot."""
    return os.path.splitext(path)[1].lower()


def _decompressed(stream: Any, ending: str) -> Any:
    """Return a context with the decompressed stream, or the stream itself if the ending names no compression."""
    codec = CODECS.get(ending)
    if codec == "bz2":
        return io.BufferedReader(_Bzip2(stream))
    return nullcontext(stream) if codec is None else pa.CompressedInputStream(stream, codec)


class _Bzip2(io.RawIOBase):
    """Reads the content of bzip2 streams, one behind the other.

    What is behind a stream is another one, or an error: Python's `bz2` passes over it, with all packed data that follow. Arrow
    cannot read a stream of nothing behind another one.
    """

    def __init__(self, packed: Any) -> None:
        self._packed = packed
        self._unpacker: bz2.BZ2Decompressor | None = None

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Decompress into the buffer. Raises EOFError if the stream is truncated, OSError if it is invalid."""
        while True:
            if self._unpacker is None or self._unpacker.eof:
                packed = (self._unpacker and self._unpacker.unused_data) or self._packed.read(PACKED_BYTES)
                if not packed:
                    return 0
                self._unpacker, is_at_end = bz2.BZ2Decompressor(), False
            else:
                needs_input = self._unpacker.needs_input
                packed = self._packed.read(PACKED_BYTES) if needs_input else b""
                is_at_end = needs_input and not packed
            unpacked = self._unpacker.decompress(packed, len(buffer))
            if unpacked:
                buffer[: len(unpacked)] = unpacked
                return len(unpacked)
            if is_at_end and not self._unpacker.eof:
                raise EOFError("the compressed stream ended before its end marker was reached")


@contextmanager
def read_errors_reported(path: str) -> Iterator[None]:
    """Report a file that is missing or truncated when a task reads it."""
    try:
        yield
    except FileNotFoundError as error:
        message = f"the tasks cannot see a file of the source: {path}"
        raise PipelineError(NOT_SHARED, message, UNSEEN) from error
    except (ArrowException, EOFError, OSError) as error:
        message = f"`{path}` cannot be read to its end: {error}"
        raise PipelineError(UNREADABLE_INPUT, message, WHOLE) from error


def chunks_of(path: str, encoding: str) -> Iterator[str]:
    """Yield the text of a file, piece by piece, without a byte order mark. Raises PipelineError."""
    with read_errors_reported(path), open_file(path) as stream:
        codec, first = codec_name(encoding), stream.read(CHUNK_BYTES)
        if first and not first.startswith(BYTE_ORDER_MARKS.get(codec, b"")):
            help = f"set `encoding` to {codec.upper()}LE or {codec.upper()}BE"
            raise PipelineError(UNKNOWN_BYTE_ORDER, f"`{path}` has no byte order mark", help)
        decoder = codecs.getincrementaldecoder(codec)("schemac-mark")
        yield decoder.decode(first.removeprefix(codecs.BOM_UTF8) if codec == "utf-8" else first)
        while chunk := stream.read(CHUNK_BYTES):
            yield decoder.decode(chunk)
        yield decoder.decode(b"", final=True)


def has_marks(text: str) -> bool:
    """Whether some bytes of the text were not its encoding."""
    return not text.isascii() and MARKED.search(text) is not None


def decoded(text: str, encoding: str) -> tuple[str, str | None]:
    """Return a record and the rule that it breaks; with marks, each byte of the file is one character of ISO-8859-1."""
    if not has_marks(text):
        return text, None
    codec = codec_name(encoding)
    codec = f"{codec}-le" if codec in ("utf-16", "utf-32") else codec
    parts = re.split(f"([{chr(MARK)}-{chr(MARK + 255)}]+)", text)
    texts = [
        bytes(ord(letter) - MARK for letter in part) if i % 2 else part.encode(codec, "replace")
        for i, part in enumerate(parts)
    ]
    return b"".join(texts).decode("iso-8859-1"), BAD_ENCODING


def lines_of(path: str, encoding: str, line_break: str = "") -> Iterator[str]:
    """Read the lines of a file with their breaks: `\\n`, `\\r\\n`, `\\r`, or the one that is given."""
    rest = ""
    pattern = re.compile(re.escape(line_break) if line_break else r"\r\n|\n|\r(?!\Z)")
    for chunk in chunks_of(path, encoding):
        rest += chunk
        start = 0
        for match in pattern.finditer(rest):
            yield rest[start : match.end()]
            start = match.end()
        rest = rest[start:]
    if rest:
        yield rest


BLOCK_BYTES = 4 << 20
LINE_FEED = 10
BYTES_TO_OPEN = 1 << 14


@dataclass(frozen=True)
class SourceFile:
    """One file of a source: the path, and how Spark names it in `_source`."""

    path: str
    uri: str
    size_bytes: int
    modified_micros: int = 0
    folders: tuple[str | None, ...] = ()

    @property
    def is_packed(self) -> bool:
        """Whether the file can only be read from its beginning."""
        return _ending(self.path) in CODECS

    @property
    def is_packed_for_us(self) -> bool:
        """Whether the file is packed as Spark cannot unpack it everywhere, or loses data without a word, as of damaged bzip2."""
        return self.is_packed and _ending(self.path) != ".gz"


@dataclass(frozen=True)
class FileSplit:
    """The bytes of a file from `start` to before `end`; to the file's end if `end` is None."""

    file: SourceFile
    start: int = 0
    end: int | None = None


def shares(files: Sequence[SourceFile], share_bytes: int, *, is_cut: bool) -> list[list[FileSplit]]:
    """Return the pieces of files that each task reads, of about so many bytes: many small files, or, with `is_cut`, a part of a large one.

    >>> large, small = SourceFile("a", "", 10 << 20), SourceFile("b", "", 5)
    >>> [[(piece.start, piece.end) for piece in share] for share in shares([large, small], 6 << 20, is_cut=True)]
    [[(0, 5242880)], [(5242880, None), (0, None)]]
    """
    shares: list[list[FileSplit]] = [[]]
    size_bytes = 0
    for file in files:
        count = max(1, -(-file.size_bytes // share_bytes)) if is_cut and not file.is_packed else 1
        bounds = [file.size_bytes * i // count for i in range(count + 1)]
        for i, (start, end) in enumerate(pairwise(bounds), 1):
            if shares[-1] and size_bytes + end - start > share_bytes:
                shares.append([])
                size_bytes = 0
            shares[-1].append(FileSplit(file, start, end if i < count else None))
            size_bytes += end - start + BYTES_TO_OPEN
    return shares


def lines_of_split(split: FileSplit) -> Iterator[pa.Array]:
    """Read the lines that begin in a piece, without their breaks; their bytes are not looked at."""
    path = split.file.path
    with read_errors_reported(path), (open_file if split.file.is_packed else open_bytes)(path) as stream:
        # The line that begins before the piece is another one's, up to its break.
        first = max(split.start - 1, 0)
        if first:
            stream.seek(first)
        for block in _whole_lines(stream, split, first):
            if b"\r" in block:
                block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            if not block.endswith(b"\n"):
                block += b"\n"
            ends = np.flatnonzero(np.frombuffer(block, np.uint8) == LINE_FEED)
            offsets = np.zeros(len(ends) + 1, np.int32)
            offsets[1:] = ends - np.arange(len(ends))
            # Python moves whole lines at a time, where numpy would look at each byte.
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(block.replace(b"\n", b""))]
            yield pa.Array.from_buffers(pa.binary(), len(ends), buffers)


def _whole_lines(stream: Any, split: FileSplit, place: int) -> Iterator[bytes]:
    """Read from a place that may be in the middle of a line."""
    buffered = stream.read(BLOCK_BYTES)
    if not place and buffered.startswith(codecs.BOM_UTF8):
        place = len(codecs.BOM_UTF8)
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
    """Return where the first line feed or carriage return from `start` on is; -1 if there is none."""
    breaks = [at for at in (text.find(b"\n", start), text.find(b"\r", start)) if at >= 0]
    return min(breaks, default=-1)
