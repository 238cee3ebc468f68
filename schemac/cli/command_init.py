"""`schemac init`: a small project that works as it is.

Layer: cli.
"""

import argparse
import os
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from schemac.artifacts.folder import make_folder
from schemac.cli.exit_code import ExitCode
from schemac.cli.json_schemas import files_of_project
from schemac.cli.terminal import put, tell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "folder",
        nargs="?",
        default=".",
        metavar="FOLDER",
        help="folder of the new project (default: the current folder)",
    )


def run(options: argparse.Namespace) -> int:
    """Write the files; none at all if one of them is there already."""
    folder = Path(options.folder)
    template = files_of_project(dict(_files(files("schemac.cli").joinpath("template"), "")))
    taken = [name for name in template if os.path.lexists(folder / name)]
    if taken:
        tell(f"schemac: {', '.join(taken)} would be overwritten; use an empty folder")
        return ExitCode.USAGE
    try:
        for name, content in template.items():
            path = folder / name
            make_folder(str(path.parent))
            path.write_bytes(content)
            put(f"wrote {path.as_posix()}")
    except OSError as error:
        tell(f"schemac: cannot write to {folder}: {(error.strerror or str(error)).lower()}")
        return ExitCode.FINDINGS
    enter = "" if folder == Path() else f"cd {folder.as_posix()} && "
    put(f"\nnext:\n  {enter}schemac check\n  schemac build\n  schemac run pipeline.yaml")
    return ExitCode.CLEAN


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry.read_bytes()
