"""Reads files as texts, and carries fixes out in them.

Layer: text.
Shape: of fixes that overlap, the first one counts; the others are found again where they are still needed. What is outside the edits
      stays as it is, byte for byte.
Errors: SC101 unreadable-file, SC102 not-text, SC103 wrong-encoding, SC104 file-too-large.
"""

import errno
import os
import re
import stat
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from schemac.text.source.catalogue import FILE_TOO_LARGE, NOT_TEXT, UNREADABLE_FILE, WRONG_ENCODING
from schemac.text.source.diagnostics import Edit, Fix, Located, Region, Report, SourceText, Span

MAX_BYTES = 32 * 1024 * 1024
"""Largest manifest that is read; a hundred thousand fields fit several times over."""

# What YAML 1.2 (section 5.1) does not allow in a stream, apart from the byte order mark at its start.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_ENCODINGS_BY_MARK = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


def read_file(path: str | Path, limit: int | None = None) -> bytes:
    """Return the content of a file, up to one byte more than a limit. Raises OSError, also for what may have no end.

    A pipe or a device is read only where it is open already, as `/dev/stdin` or the `/dev/fd/63` of a shell.
    """
    is_open = os.fspath(path).startswith(_OPEN)
    # A pipe that nobody writes into would be waited for as soon as it is opened.
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | (0 if is_open else getattr(os, "O_NONBLOCK", 0))
    try:
        handle = os.open(path, flags)
    except ValueError as error:
        raise OSError(errno.EINVAL, "a path cannot contain a NUL") from error
    try:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not is_open and not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")
        return read_handle(handle, status.st_size, sys.maxsize if limit is None else limit + 1)
    finally:
        os.close(handle)


def read_handle(handle: int, size: int, most: int = sys.maxsize) -> bytes:
    """Return what an open file still has, up to `most` bytes; `size` is how many it said that it has. Raises OSError."""
    # One byte more is asked for than there are: mostly that is all of it.
    first = os.read(handle, min(size + 1, most))
    if len(first) in (size, most):
        return first
    parts = [first]
    while (left := most - sum(map(len, parts))) and (part := os.read(handle, min(left, _AT_ONCE))):
        parts.append(part)
    return b"".join(parts)


_AT_ONCE = 1 << 20
"""Bytes that are read at once of what does not say how many it has."""
_OPEN = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


def reason_of(error: OSError | UnicodeDecodeError) -> str:
    """Return why the system refused, or what is not a text, as the end of a sentence."""
    if isinstance(error, UnicodeDecodeError):
        return f"byte 0x{error.object[error.start]:02x} at {error.start} is not UTF-8"
    # What the system says starts with a capital; what a library says has its own names.
    reason = error.strerror
    return reason[:1].lower() + reason[1:] if reason else str(error)


def read_text(path: Path, name: str, report: Report) -> SourceText | None:
    """Return the text of a file, or None after reporting why it cannot be read."""
    content = read_content(path, name, report)
    return None if content is None else decode_text(content, name, report)


def read_content(path: Path, name: str, report: Report) -> bytes | None:
    """Return the bytes of a manifest, or None after reporting why it cannot be read; more than `MAX_BYTES` are an error."""
    try:
        return read_file(path, MAX_BYTES)
    except OSError as error:
        report.add(UNREADABLE_FILE, f"cannot read {name}: {reason_of(error)}", file=name)
        return None


def decode_text(content: bytes, name: str, report: Report) -> SourceText | None:
    """Return UTF-8 bytes as text, or None after reporting what is wrong with them."""
    if len(content) > MAX_BYTES:
        message = f"{name} is larger than {MAX_BYTES // 1024 // 1024} MiB"
        help = "a manifest holds schemas, not data; split it into one file per dataset"
        report.add(FILE_TOO_LARGE, message, file=name, help=help)
        return None
    try:
        return SourceText(content.decode("utf-8"), name)
    except UnicodeDecodeError as error:
        encoding = next((e for mark, e in _ENCODINGS_BY_MARK.items() if content.startswith(mark)), None)
        if encoding is None and b"\x00" in content[:4096]:
            _refuse_binary(name, report)
            return None
        line = content.count(b"\n", 0, error.start) + 1
        before = content[content.rfind(b"\n", 0, error.start) + 1 : error.start]
        column = len(before.decode("utf-8", "replace")) + 1
        report.add(
            WRONG_ENCODING,
            f"{name} is not UTF-8"
            + (f" but {encoding}" if encoding else f": byte 0x{content[error.start]:02x} cannot be read"),
            file=name,
            at=Region.within(line, column, column + 1),
            help="save the file as UTF-8",
        )
        return None


def is_printable(source: SourceText, report: Report) -> bool:
    """Whether YAML allows every character of a text; of those it does not, the first is in the report."""
    match = _UNPRINTABLE.search(source.content)
    if match is None:
        return True
    character = match.group()
    if character == "\x00":
        _refuse_binary(source.name, report)
        return False
    is_surrogate = "\ud800" <= character <= "\udfff"
    code_point = ord(character)
    escape = f"\\x{code_point:02x}" if code_point < 256 else f"\\u{code_point:04x}"
    report.add(
        NOT_TEXT,
        f"the {'lone surrogate' if is_surrogate else 'control character'} U+{code_point:04X} is not"
        " allowed in YAML",
        location=Located(source, Span(match.start(), match.end())),
        help="remove it" if is_surrogate else f'write it as an escape in a double-quoted text: "{escape}"',
    )
    return False


def _refuse_binary(name: str, report: Report) -> None:
    """Report that a file is not a text."""
    report.add(NOT_TEXT, f"{name} is a binary file", file=name, help="give the path of a YAML manifest")


class FixedText(NamedTuple):
    """A text after fixes."""

    content: str
    fixes: tuple[Fix, ...]
    """Those that were carried out."""


def applied(source: SourceText, fixes: Iterable[Fix]) -> FixedText:
    """Return a text after those of these fixes that have an edit in it and do not overlap with an earlier one."""
    replaced: list[tuple[Span, str]] = []
    done: list[Fix] = []
    for fix in dict.fromkeys(fixes):
        edits = [(span_of(source, edit), edit.text) for edit in fix.edits]
        if any(edit.file != source.name for edit in fix.edits) or not edits:
            continue
        if any(_overlap(one, other) for one in edits for other in replaced):
            continue
        replaced += edits
        done.append(fix)
    content = source.content
    for span, text in sorted(replaced, reverse=True):
        content = content[: span.start] + with_line_ends(text, content) + content[span.end :]
    return FixedText(content, tuple(done))


def span_of(source: SourceText, edit: Edit) -> Span:
    """Return the offsets of an edit."""
    return Span(source.offset(edit.line, edit.column), source.offset(edit.end_line, edit.end_column))


def files_of(fixes: Iterable[Fix]) -> Sequence[str]:
    """Return the files that fixes change, each once."""
    return tuple(dict.fromkeys(edit.file for fix in fixes for edit in fix.edits))


def with_line_ends(text: str, content: str) -> str:
    """Return a text that goes into another one, with the line ends of that one."""
    return text.replace("\n", "\r\n") if "\n" in text and "\r\n" in content else text


def _overlap(one: tuple[Span, str], other: tuple[Span, str]) -> bool:
    """Whether two edits touch the same characters, or go to the same place; neighbours are not both taken out at once.

    Of two entries of a mapping each may go as long as the other one stays.
    """
    (a, text), (b, other_text) = one, other
    if not text and not other_text and (a.end == b.start or b.end == a.start):
        return True
    return a == b or (a.start < b.end and b.start < a.end)
