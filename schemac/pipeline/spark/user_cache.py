"""Where this user's machine keeps what makes Spark start.

Layer: pipeline.
"""

import atexit
import functools
import os
import shutil
import tempfile
from pathlib import Path


def user_cache() -> Path:
    """Return the folder `schemac` in the user's cache, or one that goes with this process where that cannot be written."""
    return _folder(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "schemac")


@functools.cache
def _folder(preferred: Path) -> Path:
    try:
        preferred.mkdir(parents=True, exist_ok=True)
        if os.access(preferred, os.W_OK):
            return preferred
    except OSError:
        pass
    folder = tempfile.mkdtemp(prefix="schemac-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
