"""The one way out: what is printed goes through here, for names, values and arguments are texts of others.

Layer: cli.
"""

import os
import sys
from typing import Any

from schemac.cli.waiting import clear
from schemac.source.printable import json_printable, printable


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


def put_rendered(text: str) -> None:
    """Print findings, whose renderer has made the texts of others harmless, and may have painted them."""
    _write(text)


def put_json(document: Any) -> None:
    """Print a document for programs; what a terminal obeys is escaped, which JSON takes for the same."""
    import json  # for start-up time: people read text

    _write(json_printable(json.dumps(document, ensure_ascii=False, indent=2)) + "\n")


def tell(message: str) -> None:
    """Print a line beside what is printed for programs."""
    clear()
    sys.stderr.write(printable(message, keep="\n") + "\n")


def clear_screen() -> None:
    """Begin an empty screen, where a person looks at one that can; elsewhere an empty line."""
    clear()
    is_screen = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    _write("\x1b[2J\x1b[3J\x1b[H" if is_screen else "\n")
    sys.stdout.flush()


def ask(question: str) -> bool:
    """Whether the person at the terminal says yes."""
    clear()
    sys.stderr.write(f"{printable(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
