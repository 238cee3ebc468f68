"""The file that entries are in: a database of SQLite.

Layer: cache.
Shape: a row for each entry, which a key's first half names. A row whose digest is not that of its bytes is left out, whoever
damaged it; a file that is no such database is replaced. Nothing in it is ever run: the content is JSON.
"""

import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

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


class Row(NamedTuple):
    """An entry as it is in the file."""

    digest: bytes
    content: bytes


class Rows:
    """The entries that a compiler had put into a file when it was read; none of a file that cannot be read."""

    def __init__(self, path: str, compiler: bytes) -> None:
        self._rows: dict[int, Row] = {}
        if _is_file(path):
            with suppress(sqlite3.Error), closing(_connect(path, "rw")) as connection:
                rows = connection.execute(_SELECT, (compiler,))
                self._rows = {id: Row(digest, content) for id, digest, content in rows}

    def get(self, key: bytes) -> bytes | None:
        """Return the content of an entry; None where there is none, or where it is damaged."""
        row = self._rows.get(_id(key))
        return row.content if row is not None and row.digest == _digest(key, row.content) else None


def write_entries(
    path: str, compiler: bytes, new: Mapping[bytes, bytes], used: Iterable[bytes], *, is_fresh: bool = False
) -> None:
    """Put entries of a compiler into a file, and none if it is in use or cannot be written. Raises OSError.

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
    with closing(_connect(path, "rwc")) as connection:
        # Who loses the power loses the cache.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_TABLE)
        run = _pragma(connection, "user_version") + 1
        connection.execute(f"PRAGMA user_version = {run}")
        if is_fresh:
            connection.execute("DELETE FROM entries")
        connection.executemany(f"UPDATE entries SET used = {run} WHERE id = ?", ((_id(key),) for key in used))  # noqa: S608
        connection.executemany(
            "REPLACE INTO entries VALUES (?, ?, ?, ?, ?)",
            ((_id(key), compiler, run, _digest(key, content), content) for key, content in new.items()),
        )
        is_too_large = _pragma(connection, "page_count") * _pragma(connection, "page_size") > MAX_BYTES
        if is_too_large:
            connection.execute(_EVICT, (MAX_BYTES // 2,))
        connection.execute("COMMIT")
        if is_too_large:
            connection.execute("VACUUM")


def _connect(path: str, mode: str) -> sqlite3.Connection:
    uri = f"{Path(os.path.abspath(path)).as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (number,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(number)


def _is_file(path: str) -> bool:
    return os.path.isfile(path) and not os.path.islink(path)


def _id(key: bytes) -> int:
    return int.from_bytes(key[:8], "big", signed=True)


def _digest(key: bytes, content: bytes) -> bytes:
    return blake2b(content, key=key, digest_size=8).digest()
