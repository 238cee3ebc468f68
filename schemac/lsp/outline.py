"""The path of a cursor in a text that may be invalid.

Layer: lsp.
Shape: only the lines that lead to the cursor are read, so mistakes elsewhere and the size of the text do not matter.
For valid texts the path is that of `schemac.text.syntax.document`; the tests compare both for every value of the
corpus.
Units: lines and columns are zero-based and in code points.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from schemac.lsp.flow_cursor import (
    Entry,
    Flow,
    Sort,
    entries_of,
    flow_at,
    indent_of,
    is_content,
    is_document_start,
)
from schemac.text.source.json_object import TreePath


class Role(Enum):
    """What is, or is about to be written, at a cursor."""

    KEY = auto()
    """A key of the mapping at the path."""
    VALUE = auto()
    """The value at the path; behind its key in the same line."""
    START = auto()
    """The value at the path, on a line or behind a dash of its own: a scalar, or the first key of a mapping."""
    TEXT = auto()
    """A part of a text that goes over several lines."""


class Word(NamedTuple):
    """The word at a cursor: its columns in the line, and the part of it before the cursor."""

    start: int
    end: int
    before: str


class Place(NamedTuple):
    """A line and a column of it."""

    line: int
    column: int


@dataclass(frozen=True)
class Cursor:
    """A position in a text, with its path."""

    path: TreePath
    role: Role
    word: Word
    place: Place
    starts: tuple[Place, ...]
    """Where the value of each step of the path begins: its dash or its key."""
    document: int
    """The first line of its document."""
    keys: tuple[str, ...] = ()
    """The keys that the innermost mapping has, without the one at the cursor."""
    key: str = ""
    """The key at the cursor, if one is written there."""
    flow: Flow | None = None
    """The brackets around it."""


@dataclass
class _Climb:
    """The way from a cursor up to the start of its document."""

    sort: Sort | None
    """What the innermost thing is that was found; None if nothing is at the cursor yet."""
    column: int
    steps: list[str | int] = field(default_factory=list)
    """Innermost first, as all that follows."""
    starts: list[Place] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    index: int = 0
    """Items before the present one in its list."""
    dash: Place = Place(0, 0)
    is_innermost: bool = True
    is_text: bool = False

    def take(self, entry: Entry, line: int) -> None:
        """Look at what is before: it is next to what was found, around it, or neither."""
        if entry.column > self.column:
            return
        if entry.column == self.column:
            if self.sort is None:
                self.sort, self.dash = entry.sort, Place(line, entry.column)
            if entry.sort is self.sort:
                self.index += 1
                if self.is_innermost and entry.sort is Sort.KEY:
                    self.keys.append(entry.name)
                return
            if self.sort is Sort.KEY:
                return
        self.around(entry, line)

    def around(self, entry: Entry, line: int) -> None:
        """Step out to what is around."""
        self.close()
        self.is_innermost = False
        self.sort, self.column, self.index, self.dash = entry.sort, entry.column, 0, Place(line, entry.column)
        if entry.is_text:
            self.steps, self.starts, self.keys, self.is_text = [], [], [], True
        if entry.sort is Sort.KEY:
            self.steps.append(entry.name)
            self.starts.append(Place(line, entry.column))

    def close(self) -> None:
        """Leave a list: the item in it has a number."""
        if self.sort is Sort.DASH:
            self.steps.append(self.index)
            self.starts.append(self.dash)

    def up(self, lines: Sequence[str], line: int) -> int:
        """Go through the lines before this one; returns the first line of the document."""
        # Most lines of a long text are further inside; this is asked of each of them, at every letter.
        inside = " " * (self.column + 1)
        for number in range(line - 1, -1, -1):
            text = lines[number]
            if text.startswith(inside):
                continue
            if is_document_start(text):
                self.close()
                return number
            if is_content(text):
                for entry in reversed(entries_of(text)):
                    self.take(entry, number)
                inside = " " * (self.column + 1)
        self.close()
        return 0


_WORD = r"[^\s,\[\]{}\"'#]"
_BEFORE = re.compile(_WORD + r"*$")
_AFTER = re.compile(_WORD + r"*")


def cursor_at(lines: Sequence[str], line: int, column: int) -> Cursor:
    """Return what a place is in. A line behind the last one is empty."""
    text = lines[line] if line < len(lines) else ""
    column = min(column, len(text))
    lines = [*lines, ""] if line >= len(lines) else lines
    line = min(line, len(lines) - 1)
    flow = flow_at(lines, line, column)
    if flow is not None:
        place = Place(line, column)
        text = lines[flow.line][: flow.column]
        climb, document = _value_after(lines, flow.line, text)
        path = (*reversed(climb.steps), *flow.steps)
        starts = (*reversed(climb.starts), *(Place(flow.line, flow.column) for _ in flow.steps))
        word = word_at(lines[place.line], place.column)
        if flow.is_key:
            role, key = Role.KEY, lines[place.line][word.start : word.end]
        else:
            role, key = (Role.START if isinstance(flow.steps[-1], int) else Role.VALUE), ""
        return Cursor(path, role, word, place, starts, document, flow.keys, key, flow)
    return _in_block(lines, Place(line, column))


def word_at(text: str, column: int) -> Word:
    """Return the word around a column."""
    before = _BEFORE.search(text[:column])
    after = _AFTER.match(text, column)
    assert before is not None
    assert after is not None
    word = Word(before.start(), after.end(), before.group())
    whole = text[word.start : word.end]
    # The colon of a key is no part of it.
    if whole.endswith(":") and column < word.end:
        return word._replace(end=word.end - 1)
    return word


def _value_after(lines: Sequence[str], line: int, text: str) -> tuple[_Climb, int]:
    """Return the way to the value that begins at the end of a text, which is the start of a line."""
    entries = entries_of(text)
    if not entries:
        climb = _Climb(None, len(text))
        return climb, climb.up(lines, line)
    *before, innermost = entries
    climb = _Climb(innermost.sort, innermost.column, dash=Place(line, innermost.column), is_innermost=False)
    if innermost.sort is Sort.KEY:
        climb.steps.append(innermost.name)
        climb.starts.append(Place(line, innermost.column))
    for entry in reversed(before):
        climb.take(entry, line)
    return climb, climb.up(lines, line)


def _in_block(lines: Sequence[str], place: Place) -> Cursor:
    text = lines[place.line]
    entries = entries_of(text)
    left = [entry for entry in entries if entry.end <= place.column and entry.column < place.column]
    at = next((e for e in entries if e.sort is Sort.KEY and e.column <= place.column < e.end), None)
    word = word_at(text, place.column)
    if at is not None:
        climb = _Climb(Sort.KEY, at.column)
        for entry in reversed([e for e in entries if e.column < at.column]):
            climb.take(entry, place.line)
        document = climb.up(lines, place.line)
        keys = (*climb.keys, *_siblings_below(lines, place.line, at.column))
        word = Word(at.column, at.end - 1, text[at.column : place.column])
        return _cursor(climb, Role.KEY, word, place, document, keys, at.name)
    if left:
        climb, document = _value_after(lines, place.line, text[: left[-1].end])
        role = Role.VALUE if left[-1].sort is Sort.KEY else Role.START
        start = max(word.start, left[-1].end)
        word = Word(start, max(start, word.end), text[start : place.column])
        return _cursor(climb, role, word, place, document)
    column = min(indent_of(text), place.column) if text.strip() else place.column
    climb = _Climb(None, column)
    document = climb.up(lines, place.line)
    if climb.is_text or not climb.keys:
        return _cursor(climb, Role.START, word, place, document)
    return _cursor(
        climb, Role.KEY, word, place, document, (*climb.keys, *_siblings_below(lines, place.line, column))
    )


def _cursor(
    climb: _Climb,
    role: Role,
    word: Word,
    place: Place,
    document: int,
    keys: tuple[str, ...] = (),
    key: str = "",
) -> Cursor:
    """Return a cursor at the end of a climb, with its steps from the outside in; in a block of text its role is TEXT."""
    return Cursor(
        tuple(reversed(climb.steps)),
        Role.TEXT if climb.is_text else role,
        word,
        place,
        tuple(reversed(climb.starts)),
        document,
        keys,
        key,
    )


def _siblings_below(lines: Sequence[str], line: int, column: int) -> tuple[str, ...]:
    """Return the keys at a column of the lines that follow, as long as the mapping goes on."""
    keys: list[str] = []
    for number in range(line + 1, len(lines)):
        text = lines[number]
        indent = indent_of(text)
        if indent > column or not is_content(text):
            continue
        if indent < column or is_document_start(text):
            break
        entries = entries_of(text)
        if not entries or entries[0].sort is not Sort.KEY:
            break
        keys.append(entries[0].name)
    return tuple(keys)
