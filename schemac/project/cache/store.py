"""The cache of a project, `.schemac/cache`: one SQLite database.

Layer: project.
Shape: a damaged or full disk costs time and nothing else: an entry that cannot be read is missing, one that cannot be
written is computed again. Each entry is a row, found by the first half of its key; a row whose bytes do not match its
digest is ignored, and a file that is not such a database is replaced. Contents are JSON and never executed.
"""

import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from schemac.project.cache.entries import EntryKeys, UnreadableEntryError, decode, encode, fingerprint
from schemac.registry.engine import engines

T = TypeVar("T")

FOLDER = ".schemac"
"""A project's folder for what can be deleted."""
FILE = "entries.sqlite"
_CACHE = "cache"
_IGNORED = "*\n"


class Cache:
    """The entries of one folder for this compiler; without a folder it is empty and stores nothing.

    `is_fresh` ignores what earlier runs have stored, and deletes it.
    """

    def __init__(self, project: Path | None = None, *, is_fresh: bool = False) -> None:
        self._is_fresh = is_fresh
        self._folder = f"{project}/{FOLDER}/{_CACHE}" if project is not None and not _is_link(project) else ""
        self.new: dict[bytes, bytes] = {}
        """The entries of this run, by their keys."""
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
    def _rows(self) -> "CacheRows | None":
        """The entries of earlier runs; None without a folder, or if this run is to read none of them."""
        return (
            CacheRows(f"{self._folder}/{FILE}", fingerprint())
            if self._folder and not self._is_fresh
            else None
        )

    def keys(self, sort: str, inputs: object) -> EntryKeys:
        """Return the keys of entries of one sort, made with the same `inputs`: a frozen value, of which all fields count."""
        if not self.is_persistent:
            return EntryKeys()
        return EntryKeys(fingerprint(), sort, [engine.name for engine in engines()], inputs)

    def get(self, key: bytes, type_: type[T]) -> T | None:
        """Return an entry of a type; None if there is none, or it has another type."""
        content = self._content(key)
        try:
            return None if content is None else decode(content, type_)
        except UnreadableEntryError:
            return None

    def _content(self, key: bytes) -> bytes | None:
        """Return the bytes of an entry; None if there is none."""
        content = self.new.get(key)
        if content is None and self._rows is not None:
            content = self._rows.get(key)
            self._used.add(key)
        return content

    def put(self, key: bytes, entry: object) -> None:
        """Store an entry under a key, from the next `save` on also for other runs."""
        if self._folder:
            self.new[key] = encode(entry)

    def save(self) -> None:
        """Write the entries of this run."""
        if not self.new or not self._folder:
            return
        with suppress(OSError):
            os.makedirs(self._folder, exist_ok=True)
            ignored = f"{self._folder}/.gitignore"
            if not os.path.lexists(ignored):
                with open(ignored, "x", encoding="utf-8") as stream:
                    stream.write(_IGNORED)
            used = sorted(self._used - self.new.keys())
            path = f"{self._folder}/{FILE}"
            write_entries(path, fingerprint(), self.new, used, is_fresh=self._is_fresh)


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
        """Return the bytes of an entry, if need be of the cache on disk; None if there is none."""
        content = self.new.get(key)
        return self._fallback._content(key) if content is None else content

    def put(self, key: bytes, entry: object) -> None:
        """Store an entry, and forget the oldest where there are too many."""
        self.new[key] = encode(entry)
        if len(self.new) > self._MOST:
            del self.new[next(iter(self.new))]


def remove_cache(project: Path) -> int | None:
    """Remove the cache of a project; return its size in bytes, None if there is none. Raises OSError.

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


def tracked_files(folder: Path) -> list[str]:
    """Return the files of a cache that git tracks; none where git is not there or knows no such file."""
    index = None
    for git in (one / ".git" for one in folder.parents):
        if git.is_file():
            # It names the folder that it stands for.
            try:
                line = git.read_text(encoding="utf-8", errors="replace").strip()
            except OSError:
                continue
            git = git.parent / line.removeprefix("gitdir: ")
        if (git / "index").is_file():
            index = git / "index"
            break
    with suppress(OSError):
        # Git is asked only where its index has the name of one: most runs need no other program.
        if index is not None and FILE.encode() in index.read_bytes():
            from schemac.project.git_tree import GitError, git_output

            with suppress(GitError):
                output = git_output("-C", str(folder), "ls-files", "-z")
                names = output.decode("utf-8", "surrogateescape").split("\0")[:-1]
                return [f"{folder.name}/{name}" for name in names]
    return []


def _is_link(project: Path) -> bool:
    """Whether the folder is in truth elsewhere, where nothing of a project is to be written or removed."""
    return os.path.islink(project / FOLDER) or os.path.islink(project / FOLDER / _CACHE)


MAX_BYTES = 32 * 1024 * 1024
"""Largest file; of a larger one, the entries that were used last remain, as many as fit into half of it."""
_BUSY_SECONDS = 10
"""How long to wait for another process that is writing."""
_NOT_THE_FILE = (
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL),
    *(sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN),
)
"""Errors that are not the file's fault: another process is writing, or the disk does not let this one."""
_TABLE = """CREATE TABLE IF NOT EXISTS
    entries (id INTEGER PRIMARY KEY, compiler BLOB, used INTEGER, digest BLOB, content BLOB)"""
_SELECT = "SELECT id, digest, content FROM entries WHERE compiler = ? AND typeof(content) = 'blob'"
_EVICT = """DELETE FROM entries WHERE id NOT IN (SELECT id FROM (
    SELECT id, sum(length(content)) OVER (ORDER BY used DESC, id) AS total FROM entries) WHERE total <= ?)"""


class CacheRows:
    """The entries of a compiler in a file, when it was read; empty if the file cannot be read."""

    def __init__(self, path: str, compiler: bytes) -> None:
        self._rows: dict[int, tuple[bytes, bytes]] = {}
        """Digests and contents."""
        if _is_file(path):
            with suppress(sqlite3.Error), closing(_connect(path, "rw")) as connection:
                rows = connection.execute(_SELECT, (compiler,))
                self._rows = {id: (digest, content) for id, digest, content in rows}

    def get(self, key: bytes) -> bytes | None:
        """Return the content of an entry; None if there is none, or if it is damaged."""
        digest, content = self._rows.get(_id(key), (b"", b""))
        return content if digest == _digest(key, content) else None


def write_entries(
    path: str, compiler: bytes, new: Mapping[bytes, bytes], used: Iterable[bytes], *, is_fresh: bool = False
) -> None:
    """Write entries of a compiler to a file, or none if it is in use or cannot be written. Raises OSError.

    `used` are keys of entries there that were of use to this run; with `is_fresh`, all others are deleted.
    """
    if os.path.lexists(path) and not _is_file(path):
        os.unlink(path)
    try:
        _write(path, compiler, new, used, is_fresh=is_fresh)
    except sqlite3.Error as error:
        # Errors of Python's own module have no code.
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_BUSY) & 0xFF not in _NOT_THE_FILE:
            os.unlink(path)
            with suppress(sqlite3.Error):
                _write(path, compiler, new, (), is_fresh=True)


def _write(
    path: str, compiler: bytes, new: Mapping[bytes, bytes], used: Iterable[bytes], *, is_fresh: bool
) -> None:
    """Write the new entries in one transaction and mark the used ones; with `is_fresh` all older ones are deleted first."""
    with closing(_connect(path, "rwc")) as connection:
        # Who loses the power loses the cache.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_TABLE)
        run = _pragma(connection, "user_version") + 1
        connection.execute(f"PRAGMA user_version = {run}")
        if is_fresh:
            connection.execute("DELETE FROM entries")
        # Marking them writes all of their pages anew: that is left until something may have to go.
        if _size(connection) > MAX_BYTES // 2:
            connection.executemany(
                "UPDATE entries SET used = ? WHERE id = ?", ((run, _id(key)) for key in used)
            )
        connection.executemany(
            "REPLACE INTO entries VALUES (?, ?, ?, ?, ?)",
            ((_id(key), compiler, run, _digest(key, content), content) for key, content in new.items()),
        )
        is_too_large = _size(connection) > MAX_BYTES
        if is_too_large:
            connection.execute(_EVICT, (MAX_BYTES // 2,))
        connection.execute("COMMIT")
        if is_too_large:
            connection.execute("VACUUM")


def _connect(path: str, mode: str) -> sqlite3.Connection:
    """Return a connection without implicit transactions; `mode` is that of SQLite's URIs: `rw` needs the file, `rwc` makes it."""
    uri = f"{Path(os.path.abspath(path)).as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    """Return the number that a PRAGMA of the database answers."""
    (number,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(number)


def _size(connection: sqlite3.Connection) -> int:
    """Return how many bytes a database has."""
    return _pragma(connection, "page_count") * _pragma(connection, "page_size")


def _is_file(path: str) -> bool:
    """Whether a path is a file, and no link to one."""
    return os.path.isfile(path) and not os.path.islink(path)


def _id(key: bytes) -> int:
    """Return the row id of an entry: the first 8 bytes of its key as a signed integer."""
    return int.from_bytes(key[:8], "big", signed=True)


def _digest(key: bytes, content: bytes) -> bytes:
    """Return 8 bytes by which a damaged content, or one of another key with the same id, is recognized."""
    return blake2b(content, key=key, digest_size=8).digest()
