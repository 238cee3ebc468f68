"""Manifests and locks that have lost each other.

Layer: project.
Shape: a dataset that no lock beside its manifest knows is looked for in the locks of the project: by its name in those whose
manifests do not have it, and by its columns in those that lie alone, or beside its own manifest. What is found
is an error, for locking or building would give all fields new ids.
Errors: SC419 lost-lock.
"""

import os
import shlex
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from schemac.identity.lock import Lock, LockedDataset
from schemac.identity.lockfile import read_lock
from schemac.logical.dataset import LogicalDataset
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile, has_lock, lock_path, walk
from schemac.project.manifests import CompiledFile, read_manifests
from schemac.source.catalogue import LOST_LOCK
from schemac.source.report import Report
from schemac.source.text import read_file

_MARKS = (".git", "schemac.toml", "pyproject.toml")
_SUFFIXES = (".yaml", ".yml")
_START = b"# schemac lock "


def report_lost_locks(files: Sequence[CompiledFile], project: Project, report: Report) -> None:
    """Say which datasets have a lock that is not where it should be."""
    search = _Search(project, report)
    for file in files:
        own = lock_path(file.file.path)
        lock = _read(own) if has_lock(file.file.path) else Lock()
        # What is wrong with a lock is told where it is opened.
        known = {dataset.name for dataset in lock.datasets} if lock is not None else None
        for dataset in file.datasets:
            if known is not None and dataset.name not in known:
                search.report_lock_of(dataset, file, own)


class _Search:
    """Looks through the locks of one project."""

    def __init__(self, project: Project, report: Report) -> None:
        self._project = project
        self._report = report
        self._is_marked = any((project.folder / mark).exists() for mark in _MARKS)
        self._in_folders: dict[Path, list[Path]] = {}

    def report_lock_of(self, dataset: LogicalDataset, file: CompiledFile, own: Path) -> None:
        """Say where the lock of a dataset may be."""
        names = {one.name for one in file.datasets}
        for path in dict.fromkeys((own, *self._locks_for(own))):
            lock = _read(path) if path.is_file() else None
            for locked in lock.datasets if lock is not None else ():
                if locked.name == dataset.name and not _has(path, dataset.name, self._project):
                    _add(file, dataset, own, path, "", self._report)
                    return
                is_free = locked.name not in names and (path == own or not _manifests(path))
                if is_free and _is_alike(dataset, locked):
                    _add(file, dataset, own, path, locked.name, self._report)
                    return

    def _locks_for(self, own: Path) -> Sequence[Path]:
        """All locks of the project; where nothing says how far it goes, those on the way up to the working folder."""
        if self._is_marked:
            return self._all
        folder = Path(os.path.abspath(own.parent))
        folders = [f for f in (folder, *folder.parents) if f.is_relative_to(self._project.folder)]
        return [path for one in folders for path in self._in(one)]

    def _in(self, folder: Path) -> list[Path]:
        """Return the locks of one folder, looked for once."""
        found = self._in_folders.get(folder)
        if found is None:
            found = self._in_folders[folder] = sorted(folder.glob("*.lock"))
        return found

    @cached_property
    def _all(self) -> Sequence[Path]:
        folder = self._project.folder
        return [*walk(folder, folder / self._project.configuration.out, (".lock",))]


def _add(
    file: CompiledFile, dataset: LogicalDataset, own: Path, path: Path, renamed: str, report: Report
) -> None:
    """One finding, with what to do."""
    origins = dataset.origins
    mine, other = _shown(own), _shown(path)
    steps: list[str] = []
    if renamed:
        where = "instead of its present one" if origins.named_at else f"at the top of {file.file.name}"
        steps.append(f"write `name: {renamed}` {where}")
    if path != own:
        words = (
            ["schemac", "lock", "--merge-driver", mine, mine, other]
            if own.exists()
            else ["cp" if _manifests(path) else "mv", other, mine]
        )
        steps.append(f"run `{shlex.join(words)}`")
    what = f"{dataset.name} would get new ids for all its fields, but {other} has those of "
    report.add(
        LOST_LOCK,
        what + (f"{renamed}, a very similar dataset that no longer exists" if renamed else "this dataset"),
        source=origins.source,
        span=origins.name_span,
        file=origins.file,
        help=f"if it is the same dataset, {' and '.join(steps)}; if not, "
        + (
            f"remove {other}"
            if not renamed or not _manifests(path) or path == own
            else "give it another name"
        ),
    )


def _read(path: Path) -> Lock | None:
    """Return a lock; None where the file is none, or cannot be read, which is told elsewhere."""
    try:
        content = read_file(path)
    except OSError:
        return None
    if not content.removeprefix(b"\xef\xbb\xbf").startswith(_START):
        return None
    return read_lock(content.decode("utf-8", "replace"), path.name, Report())


def _manifests(lock: Path) -> list[Path]:
    """Return the manifests that a lock lies beside."""
    return [path for suffix in _SUFFIXES if (path := lock.with_suffix(suffix)).exists()]


def _has(lock: Path, name: str, project: Project) -> bool:
    """Whether a manifest beside a lock has a dataset of this name."""
    files = [ManifestFile(path, path.name, is_named=False) for path in _manifests(lock)]
    return any(
        dataset.name == name for file in read_manifests(files, project, Report()) for dataset in file.datasets
    )


def _is_alike(dataset: LogicalDataset, locked: LockedDataset) -> bool:
    """Whether half of the columns of the poorer one have the same names in both."""
    olds = set(_columns(locked))
    news = {str(slot.segment) for slot in dataset.columns}
    return bool(olds & news) and 2 * len(olds & news) >= min(len(olds), len(news))


def _columns(locked: LockedDataset) -> Iterator[str]:
    return (str(s.shape.segment) for s in locked.states if s.last is None and s.shape.parent is None)


def _shown(path: Path) -> str:
    return os.path.relpath(path).replace(os.sep, "/")
