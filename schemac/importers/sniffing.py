"""What a file begins and ends with, for telling its format.

Layer: importers.
"""

import os
import re
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


def has_top_keys(path: Path, *patterns: bytes) -> bool:
    """Tell whether a file of YAML or JSON has, near its start, a top-level entry for each pattern of a key and its value."""
    if path.suffix.lower() not in (".yaml", ".yml", ".json") or not path.is_file():
        return False
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
    # In JSON a key may stand anywhere in a line.
    begin = rb"[{,\s]\"" if head.lstrip().startswith(b"{") else rb"(?m)^[\"']?"
    return all(re.search(begin + pattern, head) for pattern in patterns)
