"""The lines that a field stands on.

Layer: project.
Shape: a block is whole lines, with the comments right above it and those that are indented deeper below it. Only lists that are written
      one field a line can be edited so; of others it is said why not.
Units: offsets of code points, half-open.
"""

import re
from dataclasses import dataclass

from schemac.project.occurrences import NoEditError
from schemac.text.source.diagnostics import Span

_COMMENT = re.compile(r"[ \t]*#")


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of a text, and the column of the dash that starts the item."""

    start: int
    end: int
    indent: int


def block_of(text: str, item: Span) -> Block:
    """Return the lines of one item of a list."""
    dash = len(text[: item.start].rstrip()) - 1
    start = text.rfind("\n", 0, dash) + 1
    if dash < 0 or text[dash] != "-" or text[start:dash].strip():
        raise NoEditError("the list it is in does not have each field on lines of its own")
    indent = dash - start
    end = _line_end(text, len(text[: item.end].rstrip()))
    while _is_comment(text, end) and _indent(text, end) > indent:
        end = _line_end(text, end)
    while start and _is_comment(text, above := text.rfind("\n", 0, start - 1) + 1):
        if _indent(text, above) != indent:
            break
        start = above
    return Block(start, end, indent)


def moved(text: str, block: Block, content: str, last: Block) -> str:
    """Return what goes behind the last block of another list to move a block there, whose lines are `content` by now."""
    if block.start < last.end <= block.end:
        # The list ends with what is inside the block itself: it stands after all that is left.
        raise NoEditError("it would move into itself")
    line_end = "\r\n" if "\r\n" in text else "\n"
    deeper = last.indent - block.indent
    put = ""
    for line in content.splitlines(keepends=True):
        spaces = len(line) - len(line.lstrip(" "))
        put += " " * max(deeper, 0) + line[min(max(-deeper, 0), spaces) :] if line.strip() else line
    if not put.endswith("\n"):
        put += line_end
    return put if text[: last.end].endswith("\n") else line_end + put.removesuffix(line_end)


def _line_end(text: str, offset: int) -> int:
    """Return the offset behind the line that an offset is in."""
    newline = text.find("\n", offset)
    return len(text) if newline < 0 else newline + 1


def _is_comment(text: str, line_start: int) -> bool:
    """Whether the line that begins at an offset is a comment."""
    return _COMMENT.match(text, line_start) is not None


def _indent(text: str, line_start: int) -> int:
    """Return the number of spaces before the text of a line that starts at an offset."""
    line = text[line_start : _line_end(text, line_start)]
    return len(line) - len(line.lstrip(" "))
