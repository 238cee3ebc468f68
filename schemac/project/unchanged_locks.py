"""Locks that are as their manifests are, so that nothing is to be written.

Layer: project.
"""

from functools import cached_property
from typing import Any

from schemac.cache.findings import findings_of_json, findings_to_json
from schemac.identity.lock import Lock
from schemac.identity.lockfile import write_lock
from schemac.project.configuration import Project
from schemac.project.discovery import has_lock, lock_path
from schemac.project.lock_search import LockSearch
from schemac.project.locking import identified
from schemac.project.manifests import CompiledFile
from schemac.registry.installed import engines
from schemac.source.diagnostic import Diagnostic
from schemac.source.report import Report
from schemac.source.text import read_file


class UnchangedLocks:
    """What is kept of manifests whose locks need no new version."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._keys = project.cache.keys("lock", ",".join(engine.name for engine in engines()))

    @cached_property
    def _search(self) -> LockSearch:
        return LockSearch(self._project)

    def key(self, file: CompiledFile) -> bytes | None:
        """Return the key of a manifest and its lock as they are now; None if there is no lock to read."""
        try:
            lock = read_file(lock_path(file.file.path)) if has_lock(file.file.path) else None
        except OSError:
            return None
        return self._key(file, lock) if lock is not None else None

    def _key(self, file: CompiledFile, lock: bytes) -> bytes:
        return self._keys.key(file.key, lock, *(named.name for named in file.named))

    def cached(self, file: CompiledFile) -> tuple[Diagnostic, ...] | None:
        """Return what there is to say of a lock that is as it should be; None if nobody has seen that yet."""
        key = self.key(file)
        entry = self._project.cache.get(key, _of_json) if key is not None else None
        if entry is None:
            return None
        findings, around = entry
        return findings if around is None or around == self._around(file) else None

    def keep(
        self, file: CompiledFile, key: bytes | None, lock_report: Report, *, is_looked_for: bool
    ) -> None:
        """Keep that a lock is as it should be, if it is still what lay there when the key was made."""
        if key is not None and key == self.key(file) and not lock_report.has_errors:
            around = self._around(file) if is_looked_for else None
            self._project.cache.put(key, [findings_to_json(lock_report.diagnostics), around])

    def keep_written(self, file: CompiledFile, lock: Lock) -> None:
        """Keep that a lock which has just been written is as it should be, with what there is to say of it from now on."""
        report = Report()
        identifieds = [identified(dataset, lock.dataset(dataset.name), report) for dataset in file.datasets]
        if not any(one.is_changed for one in identifieds):
            key = self._key(file, write_lock(lock).encode())
            self.keep(file, key, report, is_looked_for=False)

    def _around(self, file: CompiledFile) -> str:
        return self._search.around(file.file.path).hex()


def _of_json(value: Any) -> tuple[tuple[Diagnostic, ...], str | None]:
    findings, around = value
    return findings_of_json(findings), around
