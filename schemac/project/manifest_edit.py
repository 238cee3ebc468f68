"""A field's lines in a manifest, taken out of one list of fields and put at the end of another.

Layer: project.
Shape: a block is whole lines, with the comments right above it and those that stand deeper below it. Only lists that
are written one field a line can be edited so; of others it is said why not.
Units: offsets of code points, half-open.
"""

import re
from dataclasses import dataclass

from schemac.source.span import Span

_COMMENT = re.compile(r"[ \t]*#")


class NoEditError(Exception):
    """A text is written so that an edit would change more than it should; the message says what is in the way."""


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
    """Return the text with a block's lines, now `content`, after the last block of another list."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = [_shifted(line, last.indent - block.indent) for line in content.splitlines(keepends=True)]
    put = "".join(lines)
    if not put.endswith("\n"):
        put += line_end
    if not text[: last.end].endswith("\n"):
        put = line_end + put.removesuffix(line_end)
    if block.start < last.end <= block.end:
        # The list ends with what is inside the block itself: it stands after all that is left.
        raise NoEditError("it would move into itself")
    if block.start < last.end:
        return text[: block.start] + text[block.end : last.end] + put + text[last.end :]
    return text[: last.end] + put + text[last.end : block.start] + text[block.end :]


def _shifted(line: str, by: int) -> str:
    if not line.strip():
        return line
    return " " * by + line if by > 0 else line[min(-by, len(line) - len(line.lstrip(" "))) :]


def _line_end(text: str, offset: int) -> int:
    newline = text.find("\n", offset)
    return len(text) if newline < 0 else newline + 1


def _is_comment(text: str, line_start: int) -> bool:
    return _COMMENT.match(text, line_start) is not None


def _indent(text: str, line_start: int) -> int:
    line = text[line_start : _line_end(text, line_start)]
    return len(line) - len(line.lstrip(" "))
