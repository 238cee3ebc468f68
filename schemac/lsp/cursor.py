"""The path of a cursor in a text that may be invalid: in block style, and inside of brackets.

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

from schemac.text.source.json_object import TreePath


class CursorPlace(NamedTuple):
    """A line and a column of it."""

    line: int
    column: int


# Lines


class BlockEntry(NamedTuple):
    """A key of a mapping, or the dash of an item of a list, that starts in a line."""

    is_key: bool
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


def entries_of(line: str) -> list[BlockEntry]:
    """Return what starts in a line in block style, from left to right."""
    entries: list[BlockEntry] = []
    at = indent_of(line)
    while _DASH.match(line, at):
        entries.append(BlockEntry(False, at, end=at + 1))
        at = len(line) - len(line[at + 1 :].lstrip(" \t"))
        marks = _MARKS.match(line, at)
        at = marks.end() if marks is not None and not _DASH.match(line, at) else at
    key = _KEY.match(line, at)
    if key is not None:
        is_text = _BEFORE_TEXT.match(line, key.end()) is not None
        entries.append(BlockEntry(True, at, text_of_key(key["name"]), key.end(), is_text))
    elif entries and _BEFORE_TEXT.match(line, at):
        entries[-1] = entries[-1]._replace(is_text=True)
    return entries


def text_of_key(written: str) -> str:
    """Return a key without its quotes."""
    if len(written) > 1 and written[0] == written[-1] == '"':
        return re.sub(r"\\(.)", r"\1", written[1:-1])
    if len(written) > 1 and written[0] == written[-1] == "'":
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


# Brackets

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)|(?P<comment>(?<![^\s])\#[^\n]*)|(?P<text>"(?:[^"\\]|\\.)*(?:"|$)|'(?:[^']|'')*(?:'|$))"""
    r"""|(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)|(?P<colon>:(?=[\s,\[\]{}"']|$))"""
    r"""|(?P<plain>(?:[^\s,\[\]{}:]|:(?![\s,\[\]{}"']|$)|[ \t]+(?=[^\s\#,\[\]{}:])(?!:))+)""",
    re.DOTALL,
)


@dataclass
class OpenBracket:
    """A pair of brackets that is open."""

    is_mapping: bool
    start: int
    keys: list[str] = field(default_factory=list)
    index: int = 0
    key: str | None = None
    """The key whose value is read, in a mapping."""
    last: str = ""
    """The scalar that was read last, which may turn out to be a key."""

    @property
    def step(self) -> str | int | None:
        """What leads to the value that is read; None at a key."""
        return self.key if self.is_mapping else self.index


@dataclass(frozen=True)
class Flow:
    """The brackets around a cursor."""

    start: CursorPlace
    """Where the outermost one is."""
    steps: tuple[str | int, ...]
    """From the value with the outermost bracket to what the cursor is in."""
    is_key: bool
    """Whether a key is at the cursor."""
    keys: tuple[str, ...]
    """Those of the innermost mapping; without the one at the cursor."""
    closing: str
    """What closes all brackets that are open at the cursor."""


def flow_at(lines: Sequence[str], line: int, column: int) -> Flow | None:
    """Return the brackets around a place; None if it is in none."""
    flow: Flow | None = None
    least = 1 << 30
    for number in range(line, -1, -1):
        text = lines[number]
        if number < line and is_document_start(text):
            break
        indent = indent_of(text)
        if number < line and (indent >= least or not is_content(text)):
            continue
        least = min(least, indent)
        if "{" in text or "[" in text:
            flow = _flow_from(lines, number, line, column) or flow
        if least == 0:
            break
    return flow


def _flow_from(lines: Sequence[str], first: int, line: int, column: int) -> Flow | None:
    """Return the brackets that are opened from a line on, and still open at a place."""
    text = "\n".join([*lines[first:line], lines[line][:column]])
    frames: list[OpenBracket] = []
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is not None and token.lastgroup in ("open", "text") and not frames:
            # A value begins outside of brackets only behind a colon, a dash, or at the start of a line.
            before = text[text.rfind("\n", 0, at) + 1 : at].rstrip(" \t")
            if re.search(r"[&!]\S*$", before):
                before = re.sub(r"\s*[&!]\S*$", "", before).rstrip(" \t")
            token = token if not before or before.endswith((":", "-")) else None
        if token is not None:
            _read_token(frames, token)
        at = token.end() if token is not None else at + 1
    if not frames:
        return None
    before = text[: frames[0].start]
    start = CursorPlace(first + before.count("\n"), len(before) - before.rfind("\n") - 1)
    innermost = frames[-1]
    is_key = innermost.is_mapping and innermost.key is None
    keys = [key for key in innermost.keys if key != innermost.key or not is_key]
    # Those that follow in the same mapping, as far as this line goes.
    rest = lines[line][column:]
    if is_key:
        # What follows the cursor immediately belongs to the key that it is in.
        rest = re.sub(r"^[^\s,\[\]{}:]*\s*(?::\s)?", "", rest)
    mapping = OpenBracket(True, 0, key="")
    open_frames, at = [mapping], 0
    while at < len(rest) and open_frames:
        token = _TOKEN.match(rest, at)
        at = token.end() if token is not None else at + 1
        if token is not None:
            _read_token(open_frames, token)
    keys += filter(None, mapping.keys)
    steps = [frame.step for frame in frames[:-1]] + ([] if is_key else [innermost.step])
    closing = "".join("}" if frame.is_mapping else "]" for frame in reversed(frames))
    known_steps = tuple(step for step in steps if step is not None)
    return Flow(start, known_steps, is_key, tuple(dict.fromkeys(keys)), closing)


def _read_token(frames: list[OpenBracket], token: "re.Match[str]") -> None:
    """Apply one token to the stack of open brackets, which is changed in place; outside of brackets only an opening one counts."""
    kind, word = token.lastgroup, token.group()
    frame = frames[-1] if frames else None
    if kind == "open":
        frames.append(OpenBracket(word == "{", token.start()))
    elif frame is None:
        return
    elif kind == "close":
        frames.pop()
    elif kind == "comma":
        frame.index += 1
        if frame.is_mapping and frame.key is None and frame.last:
            frame.keys.append(frame.last)
        frame.key, frame.last = None, ""
    elif kind == "colon":
        if frame.is_mapping and frame.key is None:
            frame.key = frame.last
            frame.keys.append(frame.last)
    elif kind in ("text", "plain"):
        frame.last = text_of_key(word)


# Blocks


class CursorRole(Enum):
    """What is, or is about to be written, at a cursor."""

    KEY = auto()
    """A key of the mapping at the path."""
    VALUE = auto()
    """The value at the path; behind its key in the same line."""
    START = auto()
    """The value at the path, on a line or behind a dash of its own: a scalar, or the first key of a mapping."""
    TEXT = auto()
    """A part of a text that goes over several lines."""


class CursorWord(NamedTuple):
    """The word at a cursor: its columns in the line, and the part of it before the cursor."""

    start: int
    end: int
    before: str


@dataclass(frozen=True)
class Cursor:
    """A position in a text, with its path."""

    path: TreePath
    role: CursorRole
    word: CursorWord
    place: CursorPlace
    starts: tuple[CursorPlace, ...]
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
class _PathReader:
    """Reads the path of a cursor from the inside out: line by line up to the start of its document."""

    is_key: bool | None
    """Whether the innermost thing that was found is a key, and no dash; None if nothing is at the cursor yet."""
    column: int
    steps: list[str | int] = field(default_factory=list)
    """Innermost first, as all that follows."""
    starts: list[CursorPlace] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    index: int = 0
    """Items before the present one in its list."""
    dash: CursorPlace = CursorPlace(0, 0)
    is_innermost: bool = True
    is_text: bool = False
    document: int = 0
    """The first line of the document, once it was reached."""

    def read_entry(self, entry: BlockEntry, line: int) -> None:
        """Read an entry before the others: it is beside the innermost one that was read, around it, or neither."""
        if entry.column > self.column:
            return
        if entry.column == self.column:
            if self.is_key is None:
                self.is_key, self.dash = entry.is_key, CursorPlace(line, entry.column)
            if entry.is_key is self.is_key:
                self.index += 1
                if self.is_innermost and entry.is_key:
                    self.keys.append(entry.name)
                return
            if self.is_key:
                return
        self.enter(entry, line)

    def enter(self, entry: BlockEntry, line: int) -> None:
        """Step out to an entry that is around what was read so far."""
        self.leave_list()
        self.is_innermost, self.is_key, self.index = False, entry.is_key, 0
        self.column, self.dash = entry.column, CursorPlace(line, entry.column)
        if entry.is_text:
            self.steps, self.starts, self.keys, self.is_text = [], [], [], True
        if entry.is_key:
            self.steps.append(entry.name)
            self.starts.append(CursorPlace(line, entry.column))

    def leave_list(self) -> None:
        """Add the number of the item to the path, if a list was being read."""
        if self.is_key is False:
            self.steps.append(self.index)
            self.starts.append(self.dash)

    def read_up(self, lines: Sequence[str], line: int, entries: Sequence[BlockEntry] = ()) -> None:
        """Go through entries of this line, and the lines before it up to the start of the document."""
        for entry in reversed(entries):
            self.read_entry(entry, line)
        # Most lines of a long text are further inside; this is asked of each of them, at every letter.
        inside = " " * (self.column + 1)
        for number in range(line - 1, -1, -1):
            text = lines[number]
            if text.startswith(inside):
                continue
            if is_document_start(text):
                self.document = number
                break
            if is_content(text):
                for entry in reversed(entries_of(text)):
                    self.read_entry(entry, number)
                inside = " " * (self.column + 1)
        self.leave_list()

    def cursor(
        self,
        role: CursorRole,
        word: CursorWord,
        place: CursorPlace,
        keys: tuple[str, ...] = (),
        key: str = "",
        flow: Flow | None = None,
    ) -> Cursor:
        """Return the cursor that the reading began at, with its steps from the outside in; in a block of text its role is TEXT."""
        path, starts = tuple(reversed(self.steps)), tuple(reversed(self.starts))
        if flow is not None:
            path, starts = (*path, *flow.steps), (*starts, *(flow.start for _ in flow.steps))
        elif self.is_text:
            role = CursorRole.TEXT
        return Cursor(path, role, word, place, starts, self.document, keys, key, flow)


_WORD = r"[^\s,\[\]{}\"'#]"
_BEFORE = re.compile(_WORD + r"*$")
_AFTER = re.compile(_WORD + r"*")


def cursor_at(lines: Sequence[str], line: int, column: int) -> Cursor:
    """Return what a place is in. A line behind the last one is empty."""
    if line >= len(lines):
        line, lines = len(lines), [*lines, ""]
    place = CursorPlace(line, min(column, len(lines[line])))
    flow = flow_at(lines, *place)
    word = word_at(lines[line], place.column)
    if flow is None:
        return _in_block(lines, place, word)
    reader = _value_after(lines, flow.start.line, lines[flow.start.line][: flow.start.column])
    if flow.is_key:
        return reader.cursor(CursorRole.KEY, word, place, flow.keys, lines[line][word.start : word.end], flow)
    role = CursorRole.START if isinstance(flow.steps[-1], int) else CursorRole.VALUE
    return reader.cursor(role, word, place, flow.keys, flow=flow)


def word_at(text: str, column: int) -> CursorWord:
    """Return the word around a column."""
    before = _BEFORE.search(text[:column])
    after = _AFTER.match(text, column)
    assert before is not None
    assert after is not None
    word = CursorWord(before.start(), after.end(), before.group())
    whole = text[word.start : word.end]
    # The colon of a key is no part of it.
    if whole.endswith(":") and column < word.end:
        return word._replace(end=word.end - 1)
    return word


def _value_after(lines: Sequence[str], line: int, text: str) -> _PathReader:
    """Return the way to the value that begins at the end of a text, which is the start of a line."""
    entries = entries_of(text)
    reader = _PathReader(None, len(text))
    if entries:
        reader.enter(entries.pop(), line)
    reader.read_up(lines, line, entries)
    return reader


def _in_block(lines: Sequence[str], place: CursorPlace, word: CursorWord) -> Cursor:
    """Return the cursor at a place outside of all brackets, with the word there."""
    text = lines[place.line]
    entries = entries_of(text)
    left = [entry for entry in entries if entry.end <= place.column and entry.column < place.column]
    at = next((e for e in entries if e.is_key and e.column <= place.column < e.end), None)
    if at is not None:
        reader = _PathReader(True, at.column)
        reader.read_up(lines, place.line, [e for e in entries if e.column < at.column])
        keys = (*reader.keys, *_siblings_below(lines, place.line, at.column))
        word = CursorWord(at.column, at.end - 1, text[at.column : place.column])
        return reader.cursor(CursorRole.KEY, word, place, keys, at.name)
    if left:
        reader = _value_after(lines, place.line, text[: left[-1].end])
        role = CursorRole.VALUE if left[-1].is_key else CursorRole.START
        start = max(word.start, left[-1].end)
        word = CursorWord(start, max(start, word.end), text[start : place.column])
        return reader.cursor(role, word, place)
    column = min(indent_of(text), place.column) if text.strip() else place.column
    reader = _PathReader(None, column)
    reader.read_up(lines, place.line)
    if reader.is_text or not reader.keys:
        return reader.cursor(CursorRole.START, word, place)
    return reader.cursor(
        CursorRole.KEY, word, place, (*reader.keys, *_siblings_below(lines, place.line, column))
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
        if not entries or not entries[0].is_key:
            break
        keys.append(entries[0].name)
    return tuple(keys)
