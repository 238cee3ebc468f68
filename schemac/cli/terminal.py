"""The one way to print: width, colours and tables.

Layer: cli.
Source: no-color.org for `NO_COLOR`; `FORCE_COLOR` as in Node and rich; a terminal named `dumb` understands no escapes.
Output that is not a terminal is the same on every machine.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from schemac.cli.waiting import clear
from schemac.text.source.phrases import json_printable, printable

RED, GREEN, YELLOW = "31", "32", "33"
"""SGR codes."""
_LEAST = 20
"""Columns of a text below which a table is not wrapped any more."""
_GOOD = 48
"""Columns of a text that is pleasant to read; where there are fewer next to its cells, it goes below them."""
_BELOW = 8


def width() -> int | None:
    """Return the columns of the terminal; None if the output is not a terminal."""
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
    """Return a text wrapped at the terminal's width; unchanged if the output is not a terminal."""
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


class OutputError(OSError):
    """Standard output takes nothing more."""


def _write(text: str) -> None:
    clear()
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.errno, error.strerror) from error


def put(text: str) -> None:
    """Print lines whose names and values others wrote."""
    _write(printable(text, keep="\n") + "\n")


def put_page(text: str) -> None:
    """Print a text of our own that ends its lines itself."""
    _write(printable(text, keep="\n\t"))


def put_source(text: str) -> None:
    """Print a file's content: to the byte where a program or a file takes it, harmless where a person looks."""
    _write(printable(text, keep="\n\t") if sys.stdout.isatty() else text)


def put_manifest(text: str, options: argparse.Namespace) -> None:
    """Print a manifest; for a program that reads JSON, it becomes a member of the document that comes at the end."""
    if options.format != "json":
        put_source(text)
        return
    before = getattr(options, "manifest", None)
    options.manifest = text if before is None else f"{before}---\n{text}"


def put_rendered(text: str) -> None:
    """Print findings, whose renderer has made the texts of others harmless, and may have painted them."""
    _write(text)


def put_json(document: Any) -> None:
    """Print a document as JSON, in which control characters of terminals are escaped."""
    import json  # for start-up time: people read text

    # Elsewhere a character that the encoding lacks would come out as something that is no JSON.
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    text = json.dumps(document, ensure_ascii=encoding != "utf8", indent=2)
    _write(json_printable(text) + "\n")


def notify(message: str) -> None:
    """Print a line in addition to the output for programs."""
    clear()
    sys.stderr.write(folded(printable(message, keep="\n"), sys.stderr) + "\n")


def clear_screen() -> None:
    """Begin an empty screen, where a person looks at one that can; elsewhere an empty line."""
    clear()
    is_screen = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    _write("\x1b[2J\x1b[3J\x1b[H" if is_screen else "\n")
    sys.stdout.flush()


def ask(question: str) -> bool:
    """Ask the person at the terminal; return whether the answer is yes."""
    clear()
    sys.stderr.write(f"{printable(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
