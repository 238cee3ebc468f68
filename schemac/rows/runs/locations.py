"""Where tables lie: a folder of this machine, or an address of an object store.

Layer: rows.
"""

import os


def is_local(path: str) -> bool:
    """Whether the table is in a file system of this machine."""
    return "://" not in path or path.startswith("file://")


def local_path(path: str) -> str:
    """Strip the scheme off a path."""
    return path.removeprefix("file://")


def absolute(path: str) -> str:
    """Return a local path from the root; an address stays, without a slash at its end."""
    return os.path.abspath(local_path(path)) if is_local(path) else path.rstrip("/")


def seen_from(quarantine: str, table: str) -> str:
    """How a quarantine names the table that it belongs to: both may be moved together."""
    if "://" in table or "://" in quarantine:
        return table
    return os.path.relpath(os.path.abspath(table), os.path.abspath(quarantine))
