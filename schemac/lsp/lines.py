"""One line of YAML in block style: its dashes, its key, and where the value begins.

Layer: lsp.
Units: columns are zero-based, in code points.
"""

import re
from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple


class Sort(Enum):
    """What starts at a column of a line."""

    DASH = auto()
    """An item of a list."""
    KEY = auto()
    """A key of a mapping."""


class Entry(NamedTuple):
    """A dash or a key."""

    sort: Sort
    column: int
    name: str = ""
    """Of a key, without its quotes."""
    end: int = 0
    """The column behind the dash, or behind the colon of the key."""
    is_text: bool = False
    """Whether a text of several lines follows."""


_DASH = re.compile(r"-(?=[ \t]|$)")
_KEY = re.compile(
    r"""(?P<name>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?:[^\s\-?:,\[\]{}#&*!|>'"%@`]|[-?:](?=[^\s,\[\]{}]))"""
    r"""(?:[^\s:]|:(?=\S)|[ \t]+(?![\s#:]))*)[ \t]*:(?=[ \t]|$)"""
)
_BEFORE_TEXT = re.compile(r"[ \t]*(?:[&!][^\s]*[ \t]+)*[|>][-+0-9]*[ \t]*(?:#.*)?$")
_MARKS = re.compile(r"(?:[&!][^\s]*[ \t]+)+")
"""An anchor or a tag before a value."""


def entries_of(line: str) -> list[Entry]:
    """Return what starts in a line in block style, from left to right."""
    entries: list[Entry] = []
    at = indent_of(line)
    while _DASH.match(line, at):
        entries.append(Entry(Sort.DASH, at, end=at + 1))
        at = at + 1
        at += len(line) - at - len(line[at:].lstrip(" \t"))
        marks = _MARKS.match(line, at)
        at = marks.end() if marks is not None and not _DASH.match(line, at) else at
    key = _KEY.match(line, at)
    if key is not None:
        is_text = _BEFORE_TEXT.match(line, key.end()) is not None
        entries.append(Entry(Sort.KEY, at, text_of_key(key["name"]), key.end(), is_text))
    elif entries and _BEFORE_TEXT.match(line, at):
        entries[-1] = entries[-1]._replace(is_text=True)
    return entries


def text_of_key(written: str) -> str:
    """Return a key without its quotes."""
    if written.startswith('"') and written.endswith('"') and len(written) > 1:
        return re.sub(r"\\(.)", r"\1", written[1:-1])
    if written.startswith("'") and written.endswith("'") and len(written) > 1:
        return written[1:-1].replace("''", "'")
    return written


def indent_of(line: str) -> int:
    """Return the column of the first character that is not a space."""
    return len(line) - len(line.lstrip(" "))


def is_content(line: str) -> bool:
    """Whether there is something in a line, and it is not a comment."""
    start = line.lstrip()
    return bool(start) and not start.startswith("#")


def is_document_start(line: str) -> bool:
    """Whether a document ends before this line, or in it."""
    return line.startswith(("---", "...")) and not line[3:4].strip()


def block_end(lines: Sequence[str], first: int, column: int) -> int:
    """Return the line behind a node that starts at a line and column."""
    for number in range(first + 1, len(lines)):
        line = lines[number]
        if is_content(line) and (indent_of(line) <= column or is_document_start(line)):
            return number
    return len(lines)


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*[./-][A-Za-z0-9_./-]*[A-Za-z0-9_]")


def is_plain(name: str) -> bool:
    """Whether a name of several parts, such as a path or a key of attributes, needs no quotes; single words may be values of YAML."""
    return _PLAIN.fullmatch(name) is not None
