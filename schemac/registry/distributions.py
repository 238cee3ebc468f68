"""The distributions that Python sees, by the folders that describe them.

Layer: registry.
Shape: `importlib.metadata` takes as long to load as a small file to check, so folders are looked at without it; wherever something
else than a folder may hold distributions, it is asked.
"""

import os
import sys
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_SUFFIXES = (".dist-info", ".egg-info")


@cache
def distribution_names() -> tuple[str, ...]:
    """Return the names of all distributions with their versions, by which their folders are called."""
    return tuple(sorted({name for _, name in _described()}))


def entry_points_of(group: str) -> "tuple[EntryPoint, ...]":
    """Return the entry points of a group, sorted by their names."""
    if _are_all_folders() and not any(_names(folder, name, group) for folder, name in _described()):
        return ()
    from importlib.metadata import entry_points  # for start-up time, as above

    return tuple(sorted(entry_points(group=group), key=lambda point: (point.name, point.value)))


def _described() -> Iterator[tuple[str, str]]:
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        yield from ((folder, name) for name in names if name.endswith(_SUFFIXES))


def _are_all_folders() -> bool:
    """Whether all distributions are in folders, and not in archives or with somebody else's finder."""
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    return len(finders) <= 1 and not any(os.path.isfile(path) for path in sys.path)


def _names(folder: str, name: str, group: str) -> bool:
    try:
        with open(os.path.join(folder, name, "entry_points.txt"), "rb") as stream:
            return group.encode() in stream.read()
    except OSError:
        return False
