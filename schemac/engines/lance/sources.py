"""Recognizes paths that are Lance tables.

Layer: engines.
"""

from pathlib import Path


def is_table(path: Path) -> bool:
    """Tell whether a path is the folder of a Lance table: each has its versions in `_versions`."""
    return (path / "_versions").is_dir()
