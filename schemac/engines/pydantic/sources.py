"""Recognizes Python files that hold models of LanceDB.

Layer: engines.
"""

from pathlib import Path


def is_lance_module(path: Path) -> bool:
    """Tell whether a file is Python that names `LanceModel`."""
    if path.suffix.lower() != ".py" or not path.is_file():
        return False
    with path.open("rb") as stream:
        return b"LanceModel" in stream.read(1024 * 1024)
