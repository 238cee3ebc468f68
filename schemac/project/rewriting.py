"""What a renaming writes: texts and locks, all of them or none.

Layer: project.
Errors: SC406 lock-contention, SC542 write-failed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from schemac.project.locking import LockFile, save_lock
from schemac.project.writing import NewFile, OldFile
from schemac.text.source.catalogue import WRITE_FAILED
from schemac.text.source.report import Report
from schemac.text.source.text import read_file, reason_of
from schemac.versions.identity.lock import Lock


@dataclass(frozen=True, slots=True)
class Renamed:
    """What a renaming did to one dataset."""

    file: str
    """The file that has the name; of another dataset with the field from the same group, its manifest."""
    path: str
    """Where the field is now."""
    version: int | None
    """The locked version that has the new name; None if there is no lock."""


_MARK = b"\xef\xbb\xbf"
"""Of UTF-8, which some editors put before a text."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A text before and after."""

    path: Path
    name: str
    """How the file is spoken of."""
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Relocked:
    """A lock, and what it is to be."""

    file: LockFile
    lock: Lock


@dataclass(frozen=True, slots=True)
class Rewriting:
    """All that a renaming changes; nothing of it is written yet."""

    renamed: tuple[Renamed, ...]
    """The dataset that was asked for, and the others that have the field from the same group."""
    texts: tuple[Rewritten, ...]
    locks: tuple[Relocked, ...]
    """Those that there are; a manifest without a lock has none."""


def write(rewriting: Rewriting, report: Report) -> bool:
    """Write locks and manifests; where one of them cannot be written, all are as they were.

    Locks come first, for they may be refused.
    """
    old_files: dict[Path, OldFile] = {}
    replaced: list[Path] = []
    staged: list[NewFile] = []
    name = ""
    try:
        if not _are_current(rewriting.texts, report):
            return False
        # What takes room is written first, but for locks: after that, a full disk is no reason to take anything back.
        for text in rewriting.texts:
            name = text.name
            mark = _MARK if read_file(text.path).startswith(_MARK) else b""
            staged.append(NewFile(text.path, mark + text.after.encode()))
            old_files[text.path] = OldFile(text.path)
        for relocked in rewriting.locks:
            name = relocked.file.name
            old_files[relocked.file.path] = OldFile(relocked.file.path)
        for relocked in rewriting.locks:
            name = relocked.file.name
            if save_lock(relocked.file, relocked.lock, report):
                replaced.append(relocked.file.path)
            if report.has_errors:
                _undo(replaced, old_files, report)
                return False
        for text, new in zip(rewriting.texts, staged, strict=True):
            name = text.name
            new.put()
            replaced.append(text.path)
    except OSError as error:
        _undo(replaced, old_files, report)
        what = name or error.filename or "a manifest"
        report.add(WRITE_FAILED, f"cannot write {what}: {reason_of(error)}", file=name)
        return False
    finally:
        for new in staged:
            new.drop()
        for old in old_files.values():
            old.drop()
    return True


def _are_current(texts: Sequence[Rewritten], report: Report) -> bool:
    """Whether texts are on disk as they were read; report the first one that is not."""
    for text in texts:
        if read_file(text.path).removeprefix(_MARK) != text.before.encode():
            message = f"{text.name} was changed by another program in the meantime; nothing was written"
            report.add(WRITE_FAILED, message, file=text.name)
            return False
    return True


def _undo(paths: Sequence[Path], old_files: Mapping[Path, OldFile], report: Report) -> None:
    """Restore files, as far as the system allows."""
    for path in paths:
        try:
            old_files[path].put()
        except OSError as error:
            message = f"{path.name} has its new content already and cannot be restored: {reason_of(error)}"
            report.add(WRITE_FAILED, message, file=str(path))
