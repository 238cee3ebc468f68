"""How texts are laid out where a person looks: width, colours, tables. What goes elsewhere is the same on every terminal.

Layer: cli.
Source: no-color.org for `NO_COLOR`; `FORCE_COLOR` as in Node and rich; a terminal that calls itself `dumb` understands no escapes.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from schemac.source.printable import printable

RED, GREEN, YELLOW = "31", "32", "33"
"""SGR codes."""
_LEAST = 20
"""Columns of a text below which a table is not wrapped any more."""
_GOOD = 48
"""Columns of a text that is pleasant to read; where there are fewer next to its cells, it goes below them."""
_BELOW = 8


def width() -> int | None:
    """Columns of the terminal; None if the output is none, and has to be the same always."""
    import shutil  # for start-up time: only where a person looks

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def is_colourful(options: argparse.Namespace) -> bool:
    """Whether colors are enabled, and the output can show them."""
    if os.environ.get("NO_COLOR") or getattr(options, "output_file", None) is not None:
        return False
    forced = os.environ.get("FORCE_COLOR", "")
    if forced:
        return forced not in ("0", "false")
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def painted(text: str, colour: str, options: argparse.Namespace) -> str:
    """Return a text in a color, if colors are enabled."""
    return f"\x1b[{colour}m{text}\x1b[0m" if is_colourful(options) else text


def wrapped(start: str, text: str, *, prefix: str = "") -> str:
    """Return a line of a table: its cells, and a text that goes on below itself where the terminal ends.

    Where there is little room next to the cells, it is below them. `prefix` begins each further line.
    """
    columns, text = width(), printable(text)
    if columns is None or len(start) + len(text) <= columns:
        return f"{start}{text}".rstrip()
    room, indent, lines = columns - len(start), " " * len(start), []
    if prefix:
        indent = prefix
    elif room < _GOOD and len(start) > _BELOW:
        lines, indent = [start.rstrip()], " " * _BELOW
        room = columns - _BELOW
    if room < _LEAST:
        return f"{start}{text}".rstrip()
    import textwrap  # for start-up time, as above

    room = min(room, columns - len(indent))
    parts = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
    if lines:
        return "\n".join([*lines, *(f"{indent}{part}" for part in parts)])
    return start + f"\n{indent}".join(parts)


def folded(text: str, stream: TextIO) -> str:
    """Return a text whose lines end between words where the terminal ends; one that goes elsewhere stays as it is."""
    if not stream.isatty():
        return text
    import shutil  # for start-up time, as above

    columns = shutil.get_terminal_size().columns
    return "\n".join(_folded(line, columns) if len(line) > columns else line for line in text.split("\n"))


def _folded(line: str, columns: int) -> str:
    import textwrap  # for start-up time, as above

    return "\n".join(textwrap.wrap(line, columns, break_long_words=False, break_on_hyphens=False))


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first row is its head, harmless to a terminal.

    Where it is wider than the terminal, each row is on lines of its own, with the heads of those cells that have something.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    columns = width()
    if columns is None or sum(widths) + 2 * (len(widths) - 1) <= columns:
        lines = (
            "  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)).rstrip() for row in cells
        )
        return "\n".join(lines)
    head, *body = cells
    return "\n".join(_record(head, row) for row in body)


def _record(head: Sequence[str], row: Sequence[str]) -> str:
    first, second, *rest = row
    details = "; ".join(f"{name} {cell}" for name, cell in zip(head[2:], rest, strict=True) if cell)
    line = wrapped("", f"{first}  {second}", prefix=" " * _BELOW)
    return f"{line}\n{wrapped('    ', details, prefix='    ')}" if details else line
