"""The file that entries are in.

Layer: cache.
Shape: a head, then records: key, digest of key and content, length, content. The file is only ever replaced by another, so that a
reader has all of the old one or all of the new one; a record whose digest is not that of its bytes is left out, whoever damaged it.
Nothing in it is ever run: the content is JSON.
"""

import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from time import time

from schemac.cache.keys import SIZE

_HEAD = b"schemac cache 1\n"
_RECORD = struct.Struct(f"<{SIZE}s8sI")
MOST_BYTES = 32 * 1024 * 1024
"""Largest pack, and largest sum of the packs of other compilers next to it."""
_RETAINED_BYTES = MOST_BYTES * 3 // 4
"""What is kept of a pack that became larger."""
SUFFIX = ".pack"
_NEW = ".new"
_LEFT_SECONDS = 3600
"""After this time a file that a process was writing counts as left by one that died."""

Place = tuple[int, int, bytes]
"""Where the content of a record begins and ends, and the digest that it has to have."""


class Pack:
    """The records of a file as it was when it was read; a file that is not there, or is none of ours, has none."""

    def __init__(self, path: str) -> None:
        self._content = _read(path)
        self._places = dict(_records(self._content))

    def get(self, key: bytes) -> bytes | None:
        """Return the content under a key; None if there is none, or where it is damaged."""
        place = self._places.get(key)
        if place is None:
            return None
        start, end, digest = place
        content = self._content[start:end]
        return content if _digest(key, content) == digest else None

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield all records that are sound, oldest first."""
        for key in self._places:
            content = self.get(key)
            if content is not None:
                yield key, content


def replace_pack(
    path: str, new: Mapping[bytes, bytes], used: Iterable[bytes], *, is_fresh: bool = False
) -> None:
    """Put new records into a pack, and what it has now next to them unless it is to be a fresh one. Raises OSError.

    Of one that grew too large the records that were used last are kept, and then the newest. Two processes that do this at
    once may lose the records of one of them, which are made again when they are wanted.
    """
    before = () if is_fresh else Pack(path).items()
    records = {key: content for key, content in before if key not in new} | dict(new)
    if sum(map(_size, records.values())) > MOST_BYTES:
        records = _fewer(records, {*new, *used})
    temporary = f"{path}.{os.getpid()}{_NEW}"
    try:
        with open(temporary, "xb") as stream:
            stream.write(_HEAD)
            stream.writelines(_record(key, content) for key, content in records.items())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def tidy(folder: str, current: str) -> None:
    """Remove packs of other compilers where there are too many, oldest first, and what processes that died have left."""
    others: list[tuple[float, int, str]] = []
    for entry in os.scandir(folder):
        status = entry.stat(follow_symlinks=False)
        if entry.name.endswith(_NEW) and time() - status.st_mtime > _LEFT_SECONDS:
            os.unlink(entry.path)
        elif entry.name.endswith(SUFFIX) and entry.name != current:
            others.append((status.st_mtime, status.st_size, entry.path))
    room = MOST_BYTES
    for _, size, path in sorted(others, reverse=True):
        room -= size
        if room < 0:
            os.unlink(path)


def _read(path: str) -> bytes:
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    try:
        with os.fdopen(os.open(path, flags), "rb") as stream:
            return stream.read(2 * MOST_BYTES)
    except OSError:
        return b""


def _records(content: bytes) -> Iterator[tuple[bytes, Place]]:
    if not content.startswith(_HEAD):
        return
    at, end = len(_HEAD), len(content)
    while at + _RECORD.size <= end:
        key, digest, length = _RECORD.unpack_from(content, at)
        at += _RECORD.size
        if at + length > end:
            return
        yield key, (at, at + length, digest)
        at += length


def _record(key: bytes, content: bytes) -> bytes:
    return _RECORD.pack(key, _digest(key, content), len(content)) + content


def _digest(key: bytes, content: bytes) -> bytes:
    return blake2b(content, key=key, digest_size=8).digest()


def _size(content: bytes) -> int:
    return _RECORD.size + len(content)


def _fewer(records: dict[bytes, bytes], used: set[bytes]) -> dict[bytes, bytes]:
    """Return the records that were used, and of the others the newest, as far as there is room."""
    room = _RETAINED_BYTES
    retained: set[bytes] = set()
    for key in (*(k for k in records if k in used), *(k for k in reversed(records) if k not in used)):
        room -= _size(records[key])
        if room < 0:
            break
        retained.add(key)
    return {key: content for key, content in records.items() if key in retained}
