"""`--output-file`: what a command prints, in a file.

Layer: cli.
Shape: the file is whole or as it was, also where the command is interrupted.
"""

import argparse
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from schemac.cli.terminal import OutputError
from schemac.project.writing import replace_file
from schemac.source.text import reason_of


def why_not(path: str) -> str | None:
    """Return why a file cannot be written, as far as that can be told before the command has done its work."""
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        return f"there is no folder {folder}"
    if Path(path).is_dir():
        return "it is a folder"
    return None if os.access(folder, os.W_OK) else "its folder cannot be written to"


@contextmanager
def printed_to(options: argparse.Namespace) -> Iterator[None]:
    """Put what is printed in here into the file that was asked for. Raises OutputError if it cannot be written."""
    path = getattr(options, "output_file", None)
    if path is None:
        yield
        return
    with redirect_stdout(io.StringIO()) as printed:
        yield
    try:
        replace_file(Path(path), printed.getvalue().encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise OutputError(error.errno, f"{path}: {reason_of(error)}") from error
