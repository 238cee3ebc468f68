"""What a file begins and ends with, for telling its format.

Layer: importers.
"""

import os
from pathlib import Path

_HEAD = 1 << 16
"""Bytes at each end of a file that are looked at."""


def is_json_with(path: Path, mark: bytes) -> bool:
    """Tell whether a file is a JSON object that has a mark near one of its ends; white space does not count."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - _HEAD))
        tail = stream.read(_HEAD)
    content = b"".join((head + tail).split())
    return content.startswith(b"{") and mark in content
