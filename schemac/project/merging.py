"""Lock files that two branches changed.

Floor: 9 (project).
Errors: SC402, SC407 merge-choice.
"""

import re
from pathlib import Path

from schemac.evolution.side import words_of
from schemac.identity.lock import Lock
from schemac.identity.lockfile import read_lock, write_lock
from schemac.identity.merge import merge
from schemac.source.catalogue import DAMAGED_LOCK, MERGE_CHOICE, WRITE_FAILED
from schemac.source.report import Report

_CONFLICT = re.compile(
    r"^<<<<<<<[^\n]*\n(?P<ours>.*?)(?:^\|\|\|\|\|\|\|[^\n]*\n.*?)?^=======[^\n]*\n(?P<theirs>.*?)^>>>>>>>[^\n]*\n",
    re.MULTILINE | re.DOTALL,
)


def merge_driver(ours: Path, theirs: Path, report: Report) -> None:
    """What git calls for two branches of a lock; the result goes in the place of ours.

    The base is not asked for: the two locks have their versions up to it in common.
    """
    locks = [_read(path, report) for path in (ours, theirs)]
    if locks[0] is not None and locks[1] is not None:
        _settle(ours, ours.as_posix(), locks[0], locks[1], report)


def resolve(path: Path, name: str, report: Report) -> bool:
    """Settle a lock with conflict marks in it; false where there are none."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        report.add(DAMAGED_LOCK, f"{name} cannot be read: {error}", file=name)
        return False
    if not _CONFLICT.search(text):
        return False
    halves = [read_lock(_CONFLICT.sub(rf"\g<{side}>", text), name, report) for side in ("ours", "theirs")]
    if halves[0] is None or halves[1] is None:
        return False
    return _settle(path, name, halves[0], halves[1], report)


def _read(path: Path, report: Report) -> Lock | None:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        report.add(DAMAGED_LOCK, f"{path} cannot be read: {error}", file=str(path))
        return None
    return read_lock(text, str(path), report) if text else Lock()


def _settle(path: Path, name: str, ours: Lock, theirs: Lock, report: Report) -> bool:
    merged = merge(ours, theirs, words_of)
    for choice in merged.choices:
        report.add(
            MERGE_CHOICE, choice, file=name, help="see that the manifest says what you want, then lock it"
        )
    new = path.with_name(path.name + ".schemac-new")
    try:
        new.write_text(write_lock(merged.lock), encoding="utf-8", newline="\n")
        new.replace(path)
    except OSError as error:
        report.add(WRITE_FAILED, f"cannot write {name}: {error.strerror}", file=name)
        return False
    return True
