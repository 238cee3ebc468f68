"""Pages on disk.

Layer: documentation.
Shape: the folder has a list of the files that were written, so that pages of datasets that are gone are removed, and no file of
anybody else is. Each file is whole, the old or the new one.
Errors: SC542 write-failed, SC543 foreign-folder, SC545 in-the-way.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from schemac.project.writing import SUFFIX, NewFile
from schemac.text.source.catalogue import FOREIGN_FOLDER, IN_THE_WAY, WRITE_FAILED
from schemac.text.source.report import Report
from schemac.text.source.text import reason_of

LIST = ".schemac-docs.json"


def write_pages(folder: Path, name: str, pages: Iterable[tuple[str, bytes]], report: Report) -> int:
    """Write all pages and remove obsolete ones; return how many are new or changed.

    Nothing is written into a folder that holds other files than those of an earlier time.
    """
    try:
        before = _listed(folder)
        if before is None:
            report.add(
                FOREIGN_FOLDER,
                f"{name} holds files that are not pages of schemac",
                file=name,
                help="name a new or an empty folder with `-o`",
            )
            return 0
        return _written(folder, name, dict(pages), before, report)
    except OSError as error:
        report.add(WRITE_FAILED, f"cannot write to {name}: {reason_of(error)}", file=name)
        return 0


def _written(folder: Path, name: str, pages: dict[str, bytes], before: frozenset[str], report: Report) -> int:
    occupied = [path for path in pages if path not in before and os.path.lexists(folder / path)]
    for path in occupied:
        report.add(
            IN_THE_WAY,
            f"{name}/{path} is where a page has to be written",
            file=f"{name}/{path}",
            help="move it away",
        )
    if occupied:
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    # Until all is done, the list has the files of both times.
    _put(folder / LIST, _list({*before, *pages}))
    changed = sum(_put(folder / path, content) for path, content in pages.items())
    for path in before - pages.keys():
        (folder / path).unlink(missing_ok=True)
    _put(folder / LIST, _list(pages))
    return changed


def _listed(folder: Path) -> frozenset[str] | None:
    """Return the files that were written before; None if the folder holds something else alone."""
    if not folder.exists():
        return frozenset()
    try:
        listed_paths = json.loads((folder / LIST).read_bytes())["files"]
    except FileNotFoundError:
        # A first time that did not come to its end may have left the beginning of the list.
        is_new = all(path.name == LIST + SUFFIX for path in folder.iterdir())
        return frozenset() if is_new else None
    except (ValueError, TypeError, KeyError):
        return None
    is_list = isinstance(listed_paths, list) and all(
        isinstance(path, str) and _is_inside(path) for path in listed_paths
    )
    return frozenset(listed_paths) if is_list else None


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and not PurePosixPath(path).is_absolute() and ".." not in parts and "\\" not in path


def _list(paths: Iterable[str]) -> bytes:
    return (json.dumps({"files": sorted(paths)}, indent=1) + "\n").encode()


def _put(path: Path, content: bytes) -> bool:
    """Write a file if it differs; return whether it did."""
    try:
        if path.read_bytes() == content:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    NewFile(path, content, is_synced=False).put()
    return True
