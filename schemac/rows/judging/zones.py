"""The database of time zones that instants and clocks are read by.

Layer: rows.
Source: Python's `zoneinfo`: the first folder of `TZPATH` that has a zone, else the package `tzdata`.
"""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from zoneinfo import TZPATH

_VERSION = "# version "


def zone_database() -> str:
    """Name the database: its version, if the system records it, and where it is; `none` if there is none."""
    for folder in map(Path, TZPATH):
        if (folder / "UTC").exists():
            listing = folder / "tzdata.zi"
            first = listing.read_text(encoding="utf-8").partition("\n")[0] if listing.is_file() else ""
            name = first.removeprefix(_VERSION) if first.startswith(_VERSION) else "unknown version"
            return f"{name} in {folder}"
    try:
        return f"{version('tzdata')} of the package tzdata"
    except PackageNotFoundError:
        return "none"
