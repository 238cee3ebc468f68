"""What a cursor inside of brackets is in, and the parts of a line of YAML.

Layer: lsp.
Units: One line of YAML in block style: its dashes, its key, and where the value begins: columns are zero-based, in code points.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
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


_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)|(?P<comment>(?<![^\s])\#[^\n]*)|(?P<text>"(?:[^"\\]|\\.)*(?:"|$)|'(?:[^']|'')*(?:'|$))"""
    r"""|(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)|(?P<colon>:(?=[\s,\[\]{}"']|$))"""
    r"""|(?P<plain>(?:[^\s,\[\]{}:]|:(?![\s,\[\]{}"']|$)|[ \t]+(?=[^\s\#,\[\]{}:])(?!:))+)""",
    re.DOTALL,
)


@dataclass
class Frame:
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

    line: int
    """Where the outermost one is."""
    column: int
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
    inside = "\n"
    # What lines begin with that stand no further out than one that was looked at; none does at first.
    for number in range(line, -1, -1):
        text = lines[number]
        if number < line and text.startswith(inside):
            continue
        if number < line and is_document_start(text):
            break
        if not is_content(text) and number < line:
            continue
        indent = indent_of(text)
        if indent >= least and number < line:
            continue
        least = min(least, indent)
        inside = " " * least
        if "{" in text or "[" in text:
            flow = _flow_from(lines, number, line, column) or flow
        if least == 0:
            break
    return flow


def _flow_from(lines: Sequence[str], first: int, line: int, column: int) -> Flow | None:
    """Return the brackets that are opened from a line on, and still open at a place."""
    text = "\n".join([*lines[first:line], lines[line][:column]])
    frames: list[Frame] = []
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
            _take(frames, token)
        at = token.end() if token is not None else at + 1
    if not frames:
        return None
    before = text[: frames[0].start]
    start = (first + before.count("\n"), len(before) - before.rfind("\n") - 1)
    innermost = frames[-1]
    is_key = innermost.is_mapping and innermost.key is None
    keys = [key for key in innermost.keys if key != innermost.key or not is_key]
    # Those that follow in the same mapping, as far as this line goes.
    rest = lines[line][column:]
    if is_key:
        # What follows the cursor immediately belongs to the key that it is in.
        rest = re.sub(r"^[^\s,\[\]{}:]*\s*(?::\s)?", "", rest)
    mapping = Frame(True, 0, key="")
    open_frames, at = [mapping], 0
    while at < len(rest) and open_frames:
        token = _TOKEN.match(rest, at)
        at = token.end() if token is not None else at + 1
        if token is not None:
            _take(open_frames, token)
    keys += filter(None, mapping.keys)
    steps = [frame.step for frame in frames[:-1]] + ([] if is_key else [innermost.step])
    closing = "".join("}" if frame.is_mapping else "]" for frame in reversed(frames))
    return Flow(
        *start, tuple(step for step in steps if step is not None), is_key, tuple(dict.fromkeys(keys)), closing
    )


def _take(frames: list[Frame], token: "re.Match[str]") -> None:
    """Apply one token to the stack of open brackets, which is changed in place; outside of brackets only an opening one counts."""
    kind, word = token.lastgroup, token.group()
    frame = frames[-1] if frames else None
    if kind == "open":
        frames.append(Frame(word == "{", token.start()))
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
