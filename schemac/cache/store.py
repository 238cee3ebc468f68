"""The cache of a project: `.schemac/cache`.

Layer: cache.
Shape: whatever is wrong with the folder, such as a full disk, costs time and nothing else: what cannot be read is not there, and what
cannot be written is made again the next time.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from schemac.cache.entries import UnreadableEntryError, decode, encode
from schemac.cache.fingerprint import fingerprint
from schemac.cache.keys import Keys
from schemac.registry.installed import engines

if TYPE_CHECKING:
    # For start-up time: not every command has a cache.
    from schemac.cache.database import Rows

T = TypeVar("T")

FOLDER = ".schemac"
"""A project's folder for what can be deleted."""
FILE = "entries.sqlite"
_CACHE = "cache"
_IGNORED = "*\n"


class Cache:
    """The entries of one folder for this compiler; without a folder there are none, and none are stored.

    `is_fresh` ignores what earlier runs have stored, and deletes it.
    """

    def __init__(self, project: Path | None = None, *, is_fresh: bool = False) -> None:
        self._is_fresh = is_fresh
        self._folder = f"{project}/{FOLDER}/{_CACHE}" if project is not None and not _is_link(project) else ""
        self._new: dict[bytes, bytes] = {}
        self._used: set[bytes] = set()

    @property
    def is_persistent(self) -> bool:
        """Whether entries outlive this run."""
        return bool(self._folder)

    @property
    def folder(self) -> Path:
        """The project's folder for what can be deleted; only of a cache with a folder."""
        return Path(self._folder).parent

    @cached_property
    def _rows(self) -> "Rows | None":
        if not self._folder or self._is_fresh:
            return None
        # Some builds of Python have no sqlite3.
        with suppress(ImportError):
            from schemac.cache.database import Rows  # for start-up time, as above

            return Rows(f"{self._folder}/{FILE}", fingerprint())
        return None

    def keys(self, sort: str, inputs: object) -> Keys:
        """Return the keys of entries of one sort, made with the same `inputs`: a frozen value, of which all fields count."""
        if not self.is_persistent:
            return Keys()
        return Keys(fingerprint(), sort, [engine.name for engine in engines()], inputs)

    def get(self, key: bytes, type_: type[T]) -> T | None:
        """Return an entry of a type; None if there is none, or it is of another type."""
        content = self._content(key)
        try:
            return None if content is None else decode(content, type_)
        except UnreadableEntryError:
            return None

    def _content(self, key: bytes) -> bytes | None:
        """Return the bytes of an entry; None where there is none."""
        content = self._new.get(key)
        if content is None and self._rows is not None:
            content = self._rows.get(key)
            self._used.add(key)
        return content

    def put(self, key: bytes, entry: object) -> None:
        """Store an entry under a key, from the next `save` on also for other runs."""
        if self._folder:
            self._new[key] = encode(entry)

    @property
    def new(self) -> Mapping[bytes, bytes]:
        """The entries of this run, for the process that shared out its work."""
        return self._new

    def take(self, new: Mapping[bytes, bytes]) -> None:
        """Take over the entries of another process."""
        self._new.update(new)

    def save(self) -> None:
        """Write the entries of this run."""
        if not self._new or not self._folder:
            return
        with suppress(OSError, ImportError):
            from schemac.cache.database import write_entries  # for start-up time, as above

            os.makedirs(self._folder, exist_ok=True)
            ignored = f"{self._folder}/.gitignore"
            if not os.path.lexists(ignored):
                with open(ignored, "x", encoding="utf-8") as stream:
                    stream.write(_IGNORED)
            used = sorted(self._used - self._new.keys())
            path = f"{self._folder}/{FILE}"
            write_entries(path, fingerprint(), self._new, used, is_fresh=self._is_fresh)


NO_CACHE = Cache()


class PassingCache(Cache):
    """The newest entries of a process that lasts, in memory alone; those that it lacks are looked up in another cache."""

    _MOST = 2048

    def __init__(self, fallback: Cache) -> None:
        super().__init__()
        self._fallback = fallback

    @property
    def is_persistent(self) -> bool:
        """Whether entries are found again."""
        return True

    def _content(self, key: bytes) -> bytes | None:
        content = self._new.get(key)
        return self._fallback._content(key) if content is None else content

    def put(self, key: bytes, entry: object) -> None:
        """Store an entry, and forget the oldest where there are too many."""
        self._new[key] = encode(entry)
        if len(self._new) > self._MOST:
            del self._new[next(iter(self._new))]


def has_cache(project: Path) -> bool:
    """Whether a folder has what earlier runs left."""
    return os.path.isdir(project / FOLDER)


def remove_cache(project: Path) -> int | None:
    """Remove the cache of a project; how many bytes it had, None if there is none. Raises OSError.

    Nothing else is removed, and no link is followed.
    """
    folder = project / FOLDER / _CACHE
    if _is_link(project) or not folder.is_dir():
        return None
    import shutil  # for start-up time: only `schemac clean` removes anything

    size = sum(entry.stat(follow_symlinks=False).st_size for entry in os.scandir(folder))
    shutil.rmtree(folder)
    with suppress(OSError):
        os.rmdir(project / FOLDER)
    return size


def _is_link(project: Path) -> bool:
    """Whether the folder is in truth elsewhere, where nothing of a project is to be written or removed."""
    return os.path.islink(project / FOLDER) or os.path.islink(project / FOLDER / _CACHE)
