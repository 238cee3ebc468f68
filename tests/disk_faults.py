"""A disk that fails: at the n-th write below a folder, once, or from there on because it is full.

Shape: whatever makes, fills, moves or links a file from Python counts as a write. Files that others write, such as Arrow's, do not.
"""

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_CALLS = {"mkdir": 0, "link": 1, "symlink": 1, "replace": 1, "rename": 1}
"""Calls of `os` that may fail, and which of their arguments is the path that they make."""
_ROOMLESS = frozenset({"replace", "rename"})
"""Those that a full disk lets pass."""
_MAKES = os.O_CREAT | os.O_TRUNC


class Disk:
    """Counts the writes below a folder, and lets some of them fail."""

    def __init__(self, folder: Path, fails_at: int, *, stays_full: bool) -> None:
        self._folder = os.path.realpath(folder) + os.sep
        self._fails_at = fails_at
        self._stays_full = stays_full
        self.writes = 0

    def has(self, path: Any) -> bool:
        """Whether a path lies on this disk."""
        try:
            return str(os.path.realpath(os.fspath(path))).startswith(self._folder)
        except TypeError:
            return False

    def count(self, *, needs_room: bool = True) -> None:
        """Count a write. Raises OSError where it fails."""
        self.writes += 1
        is_full = needs_room and self._stays_full and self.writes >= self._fails_at > 0
        if is_full or (self.writes == self._fails_at and not self._stays_full):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class _File(io.FileIO):
    """A file that may be written in part."""

    disk: Disk

    def write(self, content: Any, /) -> int:
        try:
            self.disk.count()
        except OSError:
            super().write(bytes(content)[: len(bytes(content)) // 2])
            raise
        return super().write(content) or 0


@contextmanager
def failing(folder: Path, fails_at: int = 0, *, stays_full: bool = False) -> Iterator[Disk]:
    """Let the n-th write below a folder fail, and with `stays_full` all after it; 0 lets none fail."""
    disk = Disk(folder, fails_at, stays_full=stays_full)
    with pytest.MonkeyPatch.context() as patch:
        opened = _open(disk, builtins.open)
        patch.setattr(builtins, "open", opened)
        patch.setattr(io, "open", opened)
        patch.setattr(os, "open", _os_open(disk, os.open))
        patch.setattr(os, "write", _os_write(disk, os.write))
        for name, target in _CALLS.items():
            patch.setattr(os, name, _call(disk, getattr(os, name), target, needs_room=name not in _ROOMLESS))
        yield disk


def _open(disk: Disk, real: Callable[..., Any]) -> Callable[..., Any]:
    def opened(file: Any, mode: str = "r", buffering: int = -1, *more: Any, **named: Any) -> Any:
        if not set(mode) & set("wxa+") or isinstance(file, int) or not disk.has(file):
            return real(file, mode, buffering, *more, **named)
        disk.count()
        raw = _File(file, mode.replace("b", "").replace("t", ""))
        raw.disk = disk
        if buffering == 0:
            return raw
        buffered = io.BufferedWriter(raw)
        if "b" in mode:
            return buffered
        names = ("encoding", "errors", "newline")
        return io.TextIOWrapper(buffered, **dict(zip(names, more, strict=False)), **named)

    return opened


def _os_open(disk: Disk, real: Callable[..., int]) -> Callable[..., int]:
    def opened(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & _MAKES and disk.has(path):
            disk.count()
        return real(path, flags, *more, **named)

    return opened


def _os_write(disk: Disk, real: Callable[..., int]) -> Callable[..., int]:
    def write(handle: int, content: Any, /) -> int:
        link = Path(f"/proc/self/fd/{handle}")
        if disk.has(link.readlink() if link.is_symlink() else ""):
            try:
                disk.count()
            except OSError:
                real(handle, bytes(content)[: len(content) // 2])
                raise
        return real(handle, content)

    return write


def _call(disk: Disk, real: Callable[..., Any], target: int, *, needs_room: bool) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        if len(arguments) > target and disk.has(arguments[target]):
            disk.count(needs_room=needs_room)
        return real(*arguments, **named)

    return call
