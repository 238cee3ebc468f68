"""Files that people keep, written in the place of what was there.

Layer: project.
Shape: whole or not at all; a process that is killed leaves the old file.
"""

import os
import shutil
from pathlib import Path

_SUFFIX = ".schemac-new"


def replace_file(path: Path, content: bytes) -> None:
    """Put content in the place of a file, which keeps its mode; raises OSError and leaves nothing beside it."""
    # A link stays one: what it points at is written.
    path = path.resolve()
    new = path.with_name(path.name + _SUFFIX)
    try:
        with new.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            shutil.copymode(path, new)
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise
