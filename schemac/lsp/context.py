"""The cursor in a text: its path, the values around it, and what is allowed there.

Layer: lsp.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from schemac.lsp.flow_cursor import block_end, entries_of, indent_of, is_content, is_document_start
from schemac.lsp.grammar import Shape, root_shape, shape_at
from schemac.lsp.outline import Cursor, cursor_at
from schemac.text.source.json_object import TreePath
from schemac.text.source.report import Report
from schemac.text.source.text import SourceText
from schemac.text.syntax.document import parse

_MISSING: Any = object()
_MOST_LINES = 2_000
"""Lines of a value that is read while somebody types."""


class CursorValues:
    """The values around a cursor. A value that cannot be read is read without the line of the cursor."""

    def __init__(self, lines: Sequence[str], cursor: Cursor) -> None:
        self._lines = lines
        self._cursor = cursor
        self._read: dict[int, Any] = {}
        self._values: dict[tuple[int, int], Any] = {}

    def value(self, depth: int) -> Any:
        """Return the value at the first steps of the cursor's path; None if it cannot be read."""
        if depth not in self._read:
            self._read[depth] = self._value(depth)
        return self._read[depth]

    @cached_property
    def root(self) -> dict[str, str]:
        """The outermost keys of the document, and the scalars next to them."""
        root_keys: dict[str, str] = {}
        first = self._cursor.document
        for number in range(first, len(self._lines)):
            line = self._lines[number]
            if line.startswith(" "):
                continue
            if number > first and is_document_start(line):
                break
            if line[:1] in ("#", "-") or not is_content(line):
                continue
            for entry in entries_of(line)[:1]:
                root_keys.setdefault(entry.name, line[entry.end :].split(" #")[0].strip().strip("\"'"))
        return root_keys

    def outermost(self, name: str) -> Any:
        """Return the value of an outermost key of the document; None if it cannot be read."""
        first = self._cursor.document
        for number in range(first, len(self._lines)):
            line = self._lines[number]
            if number > first and is_document_start(line):
                return None
            if not line.startswith(" ") and any(entry.name == name for entry in entries_of(line)[:1]):
                parsed = self._parsed(number, 0)
                return parsed.get(name) if isinstance(parsed, dict) else None
        return None

    def _value(self, depth: int) -> Any:
        cursor = self._cursor
        for outer in range(depth, 0, -1):
            start = cursor.starts[outer - 1]
            is_inside = cursor.flow is not None and start == (cursor.flow.line, cursor.flow.column)
            if is_inside:
                continue
            # A list or mapping is read from the step that leads to it.
            parsed = self._parsed(start.line, start.column)
            if parsed is _MISSING:
                return None
            first = cursor.path[outer - 1]
            return _walk(parsed, (0 if isinstance(first, int) else first, *cursor.path[outer:depth]))
        parsed = self._parsed(cursor.document, 0)
        return None if parsed is _MISSING else _walk(parsed, cursor.path[:depth])

    def _parsed(self, first: int, column: int) -> Any:
        """Return what begins at a place; many steps may begin there, and it is read once."""
        if (first, column) not in self._values:
            self._values[first, column] = self._attempted(first, column)
        return self._values[first, column]

    def _attempted(self, first: int, column: int) -> Any:
        end = min(block_end(self._lines, first, column), first + _MOST_LINES)
        lines = list(self._lines[first:end])
        if lines:
            lines[0] = " " * column + lines[0][column:]
        at = self._cursor.place.line - first
        for attempt in (lines, self._closed(lines, at), self._without(lines, at)):
            if attempt is not None:
                parsed = _parse("\n".join(attempt))
                if parsed is not _MISSING:
                    return parsed
        return _MISSING

    def _closed(self, lines: list[str], at: int) -> list[str] | None:
        """Return the lines with all brackets closed at the cursor."""
        flow = self._cursor.flow
        if flow is None or not 0 <= at < len(lines):
            return None
        before = lines[at][: self._cursor.word.start].rstrip()
        before = before.removesuffix(":") if not before.endswith((",", "{", "[")) else before.rstrip(",")
        indent = indent_of(lines[flow.line - (self._cursor.place.line - at)]) if flow.line >= 0 else 0
        rest = [line for line in lines[at + 1 :] if is_content(line) and indent_of(line) <= indent]
        return [*lines[:at], before + flow.closing, *rest]

    def _without(self, lines: list[str], at: int) -> list[str] | None:
        return [*lines[:at], *lines[at + 1 :]] if 0 <= at < len(lines) else None


def _parse(text: str) -> Any:
    report = Report()
    documents = parse(SourceText(text), report)
    if report.has_errors or not documents:
        return _MISSING
    return documents[0].value


def _walk(value: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


class Context:
    """A place in a text."""

    def __init__(self, lines: Sequence[str], place: tuple[int, int]) -> None:
        self.lines = lines
        self.cursor = cursor_at(lines, *place)
        self.written = CursorValues(lines, self.cursor)

    @cached_property
    def shape(self) -> Shape:
        """What may be at the path of the cursor."""
        return self.shape_at(self.cursor.path)

    def shape_at(self, path: TreePath) -> Shape:
        """Return what may be at the first steps of the path, or below it."""
        return shape_at(self._root, path, self.written.value)

    @cached_property
    def _root(self) -> Shape:
        root, path = self.written.root, self.cursor.path
        if not root and path and isinstance(path[0], str):
            return root_shape([path[0]], None, path)
        return root_shape(list(root), root.get("kind", root.get("$schema")), path)

    @property
    def is_in_comment(self) -> bool:
        """Whether the cursor is in a comment."""
        line, column = self.cursor.place
        text = self.lines[line][:column] if line < len(self.lines) else ""
        text = re.sub(r"'(?:[^']|'')*'|\"(?:[^\"\\]|\\.)*\"", "", text)
        return re.search(r"(?:^|\s)#", text) is not None

    @property
    def path_on_key(self) -> TreePath:
        """The path, with the key that the cursor is on."""
        cursor = self.cursor
        return (*cursor.path, cursor.key) if cursor.key else cursor.path
