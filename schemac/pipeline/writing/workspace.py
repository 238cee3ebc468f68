"""A temporary folder that does not outlive its process, however that ends.

Layer: pipeline.
Shape: `schemac-run-*` folders where the system has its temporary files; each says whose it is, and whoever needs one removes
       those of processes that are gone.
"""

import atexit
import contextlib
import functools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schemac.rows.runs.processes import is_gone, this_process

PREFIX, OWNER = "schemac-run-", "owner.txt"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder of this process; remove it at the end."""
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    (folder / OWNER).write_text(this_process())
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def folder_of_process() -> Path:
    """Return a folder that goes with this process, for what goes on to its end, as Java does."""
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    (folder / OWNER).write_text(this_process())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def sweep() -> None:
    """Remove the folders of processes that are gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if is_gone((folder / OWNER).read_text()):
                shutil.rmtree(folder, ignore_errors=True)
