"""The one way out: what is printed goes through here, for names, values and arguments are texts of others.

Layer: cli.
"""

import argparse
import os
import sys
from typing import Any

from schemac.cli.layout import folded
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
    """Print a document for programs; what a terminal obeys is escaped, which JSON takes for the same."""
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
    """Whether the person at the terminal says yes."""
    clear()
    sys.stderr.write(f"{printable(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
