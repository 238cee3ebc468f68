"""The locks of a project, and datasets whose lock was separated from their manifest.

Layer: project.
Shape: a dataset without a lock next to its manifest is looked up in the locks of the project: by name in locks whose
manifests do not have it, and by columns in locks without a manifest or next to its own. A match is an error, because a
lock or build would give all fields new ids.
Errors: SC419 lost-lock.
"""

import os
import shlex
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from schemac.project.cache.entries import digest
from schemac.project.configuration import SETTINGS_FILES, Project
from schemac.project.discovery import ManifestFile, content_of, has_lock, lock_path, manifests_of_lock, walk
from schemac.project.manifests import CompiledFile, read_manifests
from schemac.text.source.catalogue import LOST_LOCK
from schemac.text.source.diagnostics import Report
from schemac.text.source.phrases import listed

if TYPE_CHECKING:
    # For start-up time: few locks are lost.
    from schemac.language.logical.dataset import LogicalDataset
    from schemac.versions.identity.lock import Lock

_MARKS = (".git", *SETTINGS_FILES)
_START = b"# schemac lock "


class LostLocks:
    """Looks through the locks of one project for those that were separated from their manifests."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._is_marked = any((project.folder / mark).exists() for mark in _MARKS)
        # By folder, which many manifests share.
        self._locks = cache(self._locks_of)
        self._digest = cache(self._digest_of)

    def digest_for(self, manifest: Path) -> str:
        """Return the digest of all that is looked through for the datasets of a manifest: locks, and manifests next to them."""
        return self._digest(self._scope(manifest))

    def _scope(self, manifest: Path) -> Path | None:
        """Return the folder from which on locks count for a manifest; None if all of the project do."""
        return None if self._is_marked else Path(os.path.abspath(manifest)).parent

    def _locks_of(self, scope: Path | None) -> Sequence[Path]:
        """Return the paths of the locks in a folder and above it, or of all that the settings do not exclude."""
        root = self._project.folder
        if scope is None:
            return [*walk(root, root / self._project.configuration.out, (".lock",), self._project.exclusion)]
        folders = [one for one in (scope, *scope.parents) if one.is_relative_to(root)]
        return [path for one in folders for path in sorted(one.glob("*.lock"))]

    def _digest_of(self, scope: Path | None) -> str:
        """Return the digest of the locks of a scope, of their places and of the manifests next to them."""
        contents = [
            (
                os.path.relpath(lock, self._project.folder),
                [(path.suffix, content_of(path)) for path in (lock, *manifests_of_lock(lock))],
            )
            for lock in self._locks(scope)
        ]
        return digest(contents).hex()

    def report(self, file: CompiledFile, lock: "Lock | None", report: Report) -> str | None:
        """Report the datasets of a manifest whose lock is elsewhere; return the digest of what was looked through, None if nothing was.

        `lock` is the one next to the manifest; None if it cannot be read, which is reported where it is opened.
        """
        manifest = file.file.path
        known = {dataset.name for dataset in lock.datasets} if lock is not None else None
        lost = {named.name for named in file.named if known is not None and named.name not in known}
        if lost and (has_lock(manifest) or self._locks(self._scope(manifest))):
            for dataset in file.datasets:
                if dataset.name in lost:
                    self._report_lock_of(dataset, file, report)
        return self.digest_for(manifest) if lost else None

    def _report_lock_of(self, dataset: "LogicalDataset", file: CompiledFile, report: Report) -> None:
        """Report the lock that has the ids of a dataset, if there is one that may be its own."""
        from schemac.language.logical.dataset import Findings  # for start-up time, as above
        from schemac.versions.identity.match import are_similar

        expected_path = lock_path(file.file.path)
        names = {one.name for one in file.datasets}
        news = {str(field.segment) for field in dataset.columns}
        for path in dict.fromkeys((expected_path, *self._locks(self._scope(file.file.path)))):
            for locked in _read(path).datasets:
                if locked.name == dataset.name:
                    near = [ManifestFile(one, one.name, is_named=False) for one in manifests_of_lock(path)]
                    compiled = read_manifests(near, self._project, Report())
                    if not any(one.name == dataset.name for other in compiled for one in other.datasets):
                        _report_lost_lock(file, dataset, expected_path, path, "", report)
                        return
                is_free = locked.name not in names and (path == expected_path or not manifests_of_lock(path))
                present = [state.shape for state in locked.states if state.last is None]
                olds = {str(shape.segment) for shape in present if shape.parent is None}
                if is_free and are_similar(olds, news):
                    _report_lost_lock(file, dataset, expected_path, path, locked.name, report)
                    return
        lock = _read(expected_path)
        if lock.datasets and names.isdisjoint(one.name for one in lock.datasets):
            mine, others = os.path.relpath(expected_path), listed([one.name for one in lock.datasets])
            message = f"{mine} is the lock of {others}, and {file.file.name} has no dataset of that name"
            help = f"if the lock belongs to another manifest, move it there; if {others} is removed for good, remove {mine}"
            Findings(report, dataset.origins).at_dataset(LOST_LOCK, message, help)


def _report_lost_lock(
    file: CompiledFile,
    dataset: "LogicalDataset",
    expected_path: Path,
    path: Path,
    renamed: str,
    report: Report,
) -> None:
    """Report that a dataset has no lock where it is expected, but another lock, at `path`, has its ids; `renamed` is its name there if it differs."""
    from schemac.language.logical.dataset import Findings  # for start-up time, as above

    mine, other = os.path.relpath(expected_path), os.path.relpath(path)
    steps: list[str] = []
    if renamed:
        where = (
            "instead of its present one" if dataset.origins.named_at else f"at the top of {file.file.name}"
        )
        steps.append(f"write `name: {renamed}` {where}")
    if path != expected_path:
        words = (
            ["schemac", "lock", "--merge-driver", mine, mine, other]
            if expected_path.exists()
            else ["cp" if manifests_of_lock(path) else "mv", other, mine]
        )
        steps.append(f"run `{shlex.join(words)}`")
    whose = f"{renamed}, a very similar dataset that no longer exists" if renamed else "this dataset"
    message = f"{dataset.name} would get new ids for all its fields, but {other} has those of {whose}"
    is_of_other = bool(renamed) and path != expected_path and bool(manifests_of_lock(path))
    otherwise = "give it a different name" if is_of_other else f"remove {other}"
    help = f"if it is the same dataset, {' and '.join(steps)}; if not, {otherwise}"
    Findings(report, dataset.origins).at_dataset(LOST_LOCK, message, help)


def _read(path: Path) -> "Lock":
    """Return a lock; an empty one if the file is invalid or cannot be read, which is reported elsewhere."""
    from schemac.versions.identity.lock import Lock  # for start-up time, as above
    from schemac.versions.identity.lockfile import read_lock

    content = content_of(path) or b""
    is_lock = content.removeprefix(b"\xef\xbb\xbf").startswith(_START)
    lock = read_lock(content.decode("utf-8", "replace"), path.name, Report()) if is_lock else None
    return Lock() if lock is None else lock
