"""Where this user's machine keeps what makes Spark start.

Layer: pipeline.
"""

import functools
import os
import tempfile
from pathlib import Path


def user_cache() -> Path:
    """Return the folder `schemac` in the user's cache, or a temporary one where that cannot be written."""
    return _folder(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "schemac")


@functools.cache
def _folder(preferred: Path) -> Path:
    try:
        preferred.mkdir(parents=True, exist_ok=True)
        if os.access(preferred, os.W_OK):
            return preferred
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="schemac-"))
