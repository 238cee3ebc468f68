"""What a cursor is in: its path, what is written around it, and what may be there.

Layer: lsp.
"""

import re
from collections.abc import Sequence
from functools import cached_property

from schemac.lsp.grammar import Shape, root_shape, shape_at
from schemac.lsp.outline import cursor_at
from schemac.lsp.values_at_cursor import CursorValues
from schemac.text.syntax.document import TreePath


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
