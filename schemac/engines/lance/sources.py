"""Which paths are Lance tables, or models of them.

Layer: engines.
"""

from pathlib import Path


def is_table(path: Path) -> bool:
    """Tell whether a path is the folder of a Lance table: each has its versions in `_versions`."""
    return (path / "_versions").is_dir()


def is_module(path: Path) -> bool:
    """Tell whether a file is Python with such a model."""
    if path.suffix.lower() != ".py" or not path.is_file():
        return False
    with path.open("rb") as stream:
        return b"LanceModel" in stream.read(1024 * 1024)
