"""Recognizes scripts that are certainly of PostgreSQL.

Layer: engines.
"""

from pathlib import Path

_HEAD = 4096
"""Bytes that are looked at."""


def is_dump(path: Path) -> bool:
    """Tell whether a script was written by pg_dump, which says so in its first lines."""
    if path.suffix.lower() not in (".sql", ".ddl") or not path.is_file():
        return False
    with path.open("rb") as stream:
        return b"-- PostgreSQL database dump" in stream.read(_HEAD)
