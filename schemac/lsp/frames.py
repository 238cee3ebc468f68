"""The messages of an editor, as they come in on standard input.

Layer: lsp.
Shape: bytes in, as pygls reads them; header and body of whole messages out. pygls takes every line for a header until one has a length
that it knows: after one header that it does not understand, no message is read again. Here what is not a message is handed on as a
body that cannot be read, which pygls tells the editor of, and the next header with a length is looked for.
Source: the base protocol of the Language Server Protocol.
"""

import re
from typing import BinaryIO

MOST_BYTES = 1 << 30
"""Largest message that is waited for; an editor that announces more has lost count."""
_MOST_LINE = 1 << 16
"""Largest piece that is read at once where no line ends."""
_LONGEST = 64
"""Bytes of a header with a length."""
_LENGTH = re.compile(rb"Content-Length[ \t]*:[ \t]*(\d{1,12})[ \t]*\r?\n\Z", re.IGNORECASE)
_HEADER = re.compile(rb"[A-Za-z-]+[ \t]*:[^\r\n]*\r?\n\Z")


class Frames:
    """Standard input with sound headers alone, in place of the stream that pygls reads from."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lines: list[bytes] = []
        self._garbage: bytes | None = None
        self._length: int | None = None
        """What a header said that was found behind something else."""
        self._is_lost = False
        """Whether what comes next is the rest of something that was not understood."""

    def readline(self) -> bytes:
        """Return the next line of a header; empty at the end of the input."""
        if not self._lines:
            self._lines = self._header()
        return self._lines.pop(0) if self._lines else b""

    def read(self, count: int) -> bytes:
        """Return the body that the last header announced."""
        if self._garbage is not None:
            garbage, self._garbage = self._garbage, None
            return garbage
        return self._stream.read(count)

    def _header(self) -> list[bytes]:
        """Return the lines of the next header, as pygls wants to have them; none at the end of the input."""
        length, self._length = self._length, None
        cut = b""
        while line := self._stream.readline(_MOST_LINE):
            # A long line comes in pieces, and a header may stand where one is cut.
            line, cut = cut + line, b"" if line.endswith(b"\n") else line[-_LONGEST:]
            match = _LENGTH.search(line)
            if match is not None and int(match[1]) <= MOST_BYTES:
                if match.start() and not self._is_lost:
                    # It stands behind the rest of something else.
                    self._length = int(match[1])
                    return self._refused(line[: match.start()])
                length, self._is_lost = int(match[1]), False
            elif self._is_lost:
                continue
            elif not line.strip():
                self._is_lost = not length
                return self._refused(b"a header without Content-Length") if not length else _announced(length)
            elif not _HEADER.match(line) or line[:14].lower() == b"content-length":
                self._is_lost = True
                return self._refused(line)
        return []

    def _refused(self, line: bytes) -> list[bytes]:
        """Hand on what is not a message."""
        excerpt = line.strip()[:200].decode("ascii", "backslashreplace")
        self._garbage = f"{excerpt} (no message of the protocol)".encode()
        return _announced(len(self._garbage))


def _announced(length: int) -> list[bytes]:
    return [b"Content-Length: %d\r\n" % length, b"\r\n"]
