"""A text as nodes with their comments and blank lines.

Layer: language.
Shape: made from the events of the parser; what is between two of them are indicators, blanks and comments. A comment at the end of a
line belongs to the entry on that line, and one on a line of its own to the entry below it, or to the end of a collection if
it is deeper than that entry. What is rare and easily damaged is not taken apart: the text then stays as it is.
"""

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingStartEvent,
    ScalarEvent,
)

from schemac.text.syntax.entries import ENDS
from schemac.text.syntax.events import EventSource, events

_CLIPPED = re.compile(r"\A([|>][0-9]?)((?:[ \t].*)?\n)")
"""The first line of a block of text that says nothing of its last newline."""
_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*[ \t]*)+")
_ALIGNED = 3
"""Blanks before a comment that stays where its author put it."""
_BETWEEN = re.compile(r"#[^\n]*|.", re.DOTALL)
"""A comment, or any other character, between two events."""


class UntakenError(Exception):
    """The text has something that is not laid out anew."""


class CommentNode(str):
    """A comment at the end of a line."""

    __slots__ = ("column",)
    column: int
    """Where it stood, if blanks align it with others; zero if it simply follows."""


@dataclass(slots=True)
class CommentLine:
    """A comment on a line of its own, or a blank line."""

    text: str
    column: int


@dataclass(slots=True, eq=False)
class CommentedNode:
    """A scalar, an alias, or a collection with its entries."""

    raw: str = ""
    """A scalar as it is written, without its properties."""
    value: str = ""
    """The text that a scalar stands for."""
    style: str | None = None
    """The sign that a scalar begins with; None for a plain one."""
    properties: str = ""
    """Anchor and tag."""
    is_mapping: bool = False
    is_sequence: bool = False
    is_flow: bool = False
    column: int = 0
    entries: "list[CommentedEntry]" = dataclasses.field(default_factory=list)
    foot: list[str] = dataclasses.field(default_factory=list)
    """Comments after the last entry."""

    @property
    def is_scalar(self) -> bool:
        """Whether it has no entries and can have none; an alias is one too."""
        return not (self.is_mapping or self.is_sequence)

    def get(self, key: str) -> "CommentedNode | None":
        """Return the value of a key."""
        return next((e.value for e in self.entries if e.key is not None and e.key.value == key), None)

    def child(self, step: str | int) -> "CommentedNode | None":
        """Return the value of a key, or an item of a list."""
        if isinstance(step, str):
            return self.get(step)
        return self.entries[step].value if self.is_sequence and step < len(self.entries) else None


@dataclass(slots=True, eq=False)
class CommentedEntry:
    """A key with its value, or an item, with its comments."""

    key: CommentedNode | None
    value: CommentedNode
    lead: list[str] = dataclasses.field(default_factory=list)
    """Comments and blank lines above it."""
    head: str = ""
    """The comment on the line of its key, where the value begins on the next one."""
    tail: str = ""
    """The comment at its end."""


@dataclass(slots=True)
class CommentedDocument:
    """A document."""

    root: CommentedNode
    lead: list[str] = dataclasses.field(default_factory=list)
    """Comments above the marker."""
    is_marked: bool = False
    """Whether it begins with `---`."""
    mark: str = ""
    """The comment on the line of the marker."""
    foot: list[str] = dataclasses.field(default_factory=list)


class Reader:
    """Reads the documents of a text that is valid, with line feeds alone; there is one at least, and none is a scalar."""

    def __init__(self, text: str, event_source: EventSource) -> None:
        self._text = text
        self._events: Iterator[Any] = events(text, event_source)
        self._at = 0
        self._lines: list[CommentLine] = []
        self._trailing = ""
        self._dash = 0

    def trees(self) -> list[CommentedDocument]:
        """Return all documents. Raises UntakenError."""
        starts = (event for event in self._events if event.__class__ is DocumentStartEvent)
        trees = [self._read_document(start) for start in starts]
        self._read_to(len(self._text))
        trees[-1].foot += self._take_lines()
        return trees

    def _read_document(self, start: Any) -> CommentedDocument:
        """Return a document with the comments around it, from its marker to the next one. Raises UntakenError."""
        if start.version is not None or start.tags:
            raise UntakenError("a directive")
        tree = CommentedDocument(CommentedNode())
        if start.explicit:
            self._read_to(self._text.index("---", start.start_mark.index))
            tree.lead, tree.is_marked = self._take_lines(), True
            self._at += 3
        event = next(self._events)
        self._read_to(event.start_mark.index)
        tree.mark, self._trailing = self._trailing, ""
        tree.root = self._read_node(event)
        end = next(self._events)
        if end.__class__ is not DocumentEndEvent or end.explicit:
            raise UntakenError("the end of a document")
        marker = re.compile(r"^---(?=\s|$)", re.MULTILINE).search(self._text, self._at)
        self._read_to(marker.start() if marker is not None else len(self._text))
        self._attach_lines(tree.root, 0)
        tree.foot = self._take_lines()
        return tree

    def _read_node(self, event: Any) -> CommentedNode:
        """Read what an event begins; everything before it is passed."""
        start = event.start_mark.index
        node = CommentedNode(column=self._column(start), is_flow=bool(getattr(event, "flow_style", False)))
        if event.__class__ is AliasEvent:
            node.raw = node.value = self._text[start : event.end_mark.index]
            self._at = event.end_mark.index
            return node
        match = _PROPERTIES.match(self._text, start) if event.anchor or event.tag else None
        if match is not None:
            node.properties = match[0].strip()
            start = match.end()
        if event.__class__ is ScalarEvent:
            node.raw, node.value = self._text[start : event.end_mark.index], event.value
            node.style = event.style or None
            self._at = max(start, event.end_mark.index)
            if node.style not in ("|", ">"):
                node.raw = node.raw.rstrip()
                self._at = start + len(node.raw)
                if node.raw.startswith(":"):
                    # Whether ruamel takes it in brackets depends on how deep these are.
                    node.style, node.raw = "'", "'" + node.raw.replace("'", "''") + "'"
            elif node.value and not node.value.endswith("\n"):
                # The end of the file has stripped the last newline, which a layout writes.
                node.raw = _CLIPPED.sub(r"\1-\2", node.raw)
            return node
        node.is_mapping = event.__class__ is MappingStartEvent
        node.is_sequence = not node.is_mapping
        self._at = start
        if node.is_flow:
            if self._text[start : start + 1] != ("{" if node.is_mapping else "["):
                raise UntakenError("a pair in a list")
            self._at += 1
        self._read_entries(node)
        return node

    def _read_entries(self, node: CommentedNode) -> None:
        """Add the entries of a collection to its node, up to its end. Raises UntakenError."""
        while (event := next(self._events)).__class__ not in ENDS:
            self._read_to(event.start_mark.index)
            if not node.is_flow:
                if not node.entries and node.is_sequence:
                    node.column = self._dash
                self._attach_lines(node, node.column if node.entries else len(self._text))
            self._attach_trailing(node)
            lead = self._take_lines()
            if node.is_sequence:
                node.entries.append(CommentedEntry(None, self._read_node(event), lead))
                continue
            if event.__class__ is not ScalarEvent:
                raise UntakenError("a key that is not a text")
            is_explicit = self._text[: event.start_mark.index].rstrip(" ").endswith("?")
            key = self._read_node(event)
            if key.style in ("|", ">") or "\n" in key.raw or is_explicit:
                raise UntakenError("a key of several lines")
            entry = CommentedEntry(key, CommentedNode(), lead)
            node.entries.append(entry)
            self._read_value(entry)
        if node.is_flow:
            self._read_to(event.end_mark.index - 1)
            self._attach_trailing(node)
            node.foot = self._take_lines()
            self._at = event.end_mark.index

    def _read_value(self, entry: CommentedEntry) -> None:
        """Read the value of a key into its entry; one that is not written stays empty. Raises UntakenError."""
        event = next(self._events)
        is_absent = event.__class__ is ScalarEvent and not event.value and event.style is None
        is_absent = is_absent and not event.anchor and not event.tag
        if is_absent:
            colon = self._text.find(":", self._at)
            line = self._text.find("\n", self._at)
            if colon < 0 or self._text[self._at : colon].strip() or (0 <= line < colon):
                raise UntakenError("a key without a colon")
            self._at = colon + 1
            return
        self._read_to(event.start_mark.index)
        if self._trailing:
            entry.head, self._trailing = self._trailing, ""
        if event.__class__ is ScalarEvent and self._lines:
            raise UntakenError("a comment between a key and its value")
        entry.value = self._read_node(event)

    def _attach_trailing(self, node: CommentedNode) -> None:
        """Give the comment at the end of a line to the innermost entry of a block that ends there."""
        if self._trailing and node.entries:
            last = node.entries[-1]
            while last.value.entries and not last.value.is_flow:
                last = last.value.entries[-1]
            last.tail, self._trailing = self._trailing, ""
        elif self._trailing:
            self._lines.insert(0, CommentLine(self._trailing, node.column))
            self._trailing = ""

    def _attach_lines(self, node: CommentedNode, column: int) -> None:
        """Attach comments that are indented deeper than the next entry to the ends of the collections before it."""
        self._attach_trailing(node)
        if not node.entries or node.is_flow or not self._lines:
            return
        blocks = [node]
        while blocks[-1].entries and not blocks[-1].is_flow and not blocks[-1].entries[-1].value.is_scalar:
            blocks.append(blocks[-1].entries[-1].value)
        blocks = [one for one in blocks if not one.is_flow]
        level = len(blocks) - 1
        assigned = 0
        for n, line in enumerate(self._lines):
            if line.text and line.column <= column:
                break
            if not line.text:
                continue
            while level and blocks[level].column > line.column:
                level -= 1
            if not level and column >= blocks[0].column:
                break
            blocks[level].foot += [one.text for one in self._lines[assigned : n + 1]]
            assigned = n + 1
        del self._lines[:assigned]

    def _read_to(self, to: int) -> None:
        """Take the comments and blank lines before a place."""
        is_alone = self._at == 0 or self._text[self._at - 1] == "\n"
        has_content = not is_alone
        for match in _BETWEEN.finditer(self._text, self._at, to):
            text, at = match[0], match.start()
            if text == "\n":
                if not has_content:
                    self._lines.append(CommentLine("", 0))
                is_alone, has_content = True, False
            elif text.startswith("#"):
                comment = text.rstrip()
                if (is_alone and not has_content) or self._trailing or self._lines:
                    self._lines.append(CommentLine(comment, self._column(at)))
                else:
                    comment_node = CommentNode(comment)
                    is_aligned = self._text[max(0, at - _ALIGNED) : at].isspace()
                    comment_node.column = self._column(at) if is_aligned else 0
                    self._trailing = comment_node
                has_content = True
            else:
                if text == "-":
                    self._dash = self._column(at)
                has_content = has_content or text not in " \t"
        self._at = max(self._at, to)

    def _take_lines(self) -> list[str]:
        """Return the comments and blank lines that no node has yet, and forget them."""
        lines = [line.text for line in self._lines]
        self._lines = []
        return lines

    def _column(self, at: int) -> int:
        """Return how many characters are before a place on its line."""
        return at - (self._text.rfind("\n", 0, at) + 1)
