"""The cache of a project: `.schemac/cache`.

Layer: cache.
Shape: one pack of entries for each compiler that worked here. Whatever is wrong with the folder, such as a full disk, costs time and
nothing else: what cannot be read is not there, and what cannot be written is made again the next time.
"""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from schemac.cache.fingerprint import fingerprint
from schemac.cache.keys import Keys, Part
from schemac.cache.pack import SUFFIX, Pack, replace_pack, tidy

T = TypeVar("T")

FOLDER = ".schemac"
"""A project's folder for what it need not keep."""
_CACHE = "cache"
_IGNORED = "*\n"
_CODING = ("utf-8", "surrogatepass")
_decode: Callable[[str], Any] = json.JSONDecoder().decode
_DAMAGED = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)
"""What comes of an entry that has another form than the one that asks expects."""


class Cache:
    """The entries of one folder for this compiler; without a folder there are none, and none are kept.

    `is_fresh` forgets what earlier runs have kept.
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
        """The project's folder for what it need not keep; only of a cache with a folder."""
        return Path(self._folder).parent

    @cached_property
    def _name(self) -> str:
        return f"{fingerprint().hex()}{SUFFIX}"

    @cached_property
    def _pack(self) -> Pack:
        return Pack(f"{self._folder}/{self._name}")

    def keys(self, *shared: Part) -> Keys:
        """Return the keys of entries of one sort; all that they share is here."""
        return Keys(fingerprint() if self._folder else b"", *shared)

    def get(self, key: bytes, form: Callable[[Any], T]) -> T | None:
        """Return an entry, as `form` makes it of its JSON; None if there is none, or one of another form."""
        if not self._folder:
            return None
        content = self._new.get(key)
        if content is None and not self._is_fresh:
            content = self._pack.get(key)
        if content is None:
            return None
        try:
            entry = form(_decode(content.decode(*_CODING)))
        except _DAMAGED:
            return None
        self._used.add(key)
        return entry

    def put(self, key: bytes, entry: object) -> None:
        """Keep what JSON can express under a key, from the next `save` on also for other runs."""
        if self._folder:
            self._new[key] = _encoded(entry)

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
        with suppress(OSError):
            os.makedirs(self._folder, exist_ok=True)
            ignored = f"{self._folder}/.gitignore"
            if not os.path.lexists(ignored):
                with open(ignored, "x", encoding="utf-8") as stream:
                    stream.write(_IGNORED)
            replace_pack(f"{self._folder}/{self._name}", self._new, self._used, is_fresh=self._is_fresh)
            tidy(self._folder, self._name)


NO_CACHE = Cache()


class PassingCache(Cache):
    """The newest entries of a process that lasts, in memory alone; those that it lacks are looked up in another cache."""

    _MOST = 2048

    def __init__(self, behind: Cache) -> None:
        super().__init__()
        self._behind = behind

    @property
    def is_persistent(self) -> bool:
        """Whether entries are found again."""
        return True

    def keys(self, *shared: Part) -> Keys:
        """Return the same keys as the cache behind."""
        return Keys(fingerprint(), *shared)

    def get(self, key: bytes, form: Callable[[Any], T]) -> T | None:
        """Return an entry, as any cache does."""
        content = self._new.get(key)
        return self._behind.get(key, form) if content is None else form(_decode(content.decode(*_CODING)))

    def put(self, key: bytes, entry: object) -> None:
        """Keep an entry, and forget the oldest where there are too many."""
        self._new[key] = _encoded(entry)
        if len(self._new) > self._MOST:
            del self._new[next(iter(self._new))]


def _encoded(entry: object) -> bytes:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode(*_CODING)


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
