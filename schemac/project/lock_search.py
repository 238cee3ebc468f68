"""Finds the locks of a project.

Layer: project.
"""

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from schemac.cache.keys import digest
from schemac.project.configuration import Project
from schemac.project.discovery import walk
from schemac.source.text import read_file

_MARKS = (".git", "schemac.toml", "pyproject.toml")
_SUFFIXES = (".yaml", ".yml")


class LockSearch:
    """Finds the locks that a lost one may be among."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._is_marked = any((project.folder / mark).exists() for mark in _MARKS)
        self._up: dict[str, Sequence[Path]] = {}
        """By the folder of the manifest, where only locks on the way up count."""
        self._in_folders: dict[Path, list[Path]] = {}
        self._digests: dict[Path, bytes] = {}
        self._digests_by_folder: dict[str, str] = {}
        """By the folder of the manifest, where only locks on the way up count."""

    def digest_for(self, manifest: Path) -> str:
        """Return the digest of all that is looked through for the datasets of a manifest: locks, and manifests next to them."""
        folder = "" if self._is_marked else os.path.dirname(manifest)
        if folder not in self._digests_by_folder:
            digests = [self._digest(path) for path in self.locks_for(manifest)]
            self._digests_by_folder[folder] = digest(digests).hex()
        return self._digests_by_folder[folder]

    def _digest(self, lock: Path) -> bytes:
        content_digest = self._digests.get(lock)
        if content_digest is None:
            where = os.path.relpath(lock, self._project.folder).replace(os.sep, "/")
            contents = [(path.suffix, _content(path)) for path in (lock, *manifests_of_lock(lock))]
            content_digest = self._digests[lock] = digest(where, contents)
        return content_digest

    def locks_for(self, manifest: Path) -> Sequence[Path]:
        """All locks of the project; where nothing says how far it goes, those on the way up to the working folder."""
        if self._is_marked:
            return self._all
        name = os.path.dirname(manifest)
        locks = self._up.get(name)
        if locks is None:
            folder = Path(os.path.abspath(name))
            folders = [f for f in (folder, *folder.parents) if f.is_relative_to(self._project.folder)]
            locks = self._up[name] = [path for one in folders for path in self._in(one)]
        return locks

    def _in(self, folder: Path) -> list[Path]:
        """Return the locks of one folder, looked for once."""
        locks = self._in_folders.get(folder)
        if locks is None:
            locks = self._in_folders[folder] = sorted(folder.glob("*.lock"))
        return locks

    @cached_property
    def _all(self) -> Sequence[Path]:
        folder = self._project.folder
        return [*walk(folder, folder / self._project.configuration.out, (".lock",), self._project.exclusion)]


def manifests_of_lock(lock: Path) -> list[Path]:
    """Return the manifests that a lock is next to."""
    return [path for suffix in _SUFFIXES if (path := lock.with_suffix(suffix)).exists()]


def _content(path: Path) -> bytes | None:
    try:
        return read_file(path)
    except OSError:
        return None
