"""The folder of one dataset, made aside and put in place of the old one in one step.

Layer: artifacts.
Shape: `.schemac-new/.new-<dataset>` is the new folder until both change places, and the old one until that is
cleared away; that of a dataset of an account is `.schemac-new/<account>/.new-<name>`. What schemac did not write is in both
in the meantime, as a second link to the same file.
Source: renameat2 of Linux and renameatx_np of macOS change places in one step. Where there is no such call, the old
folder is put aside as `.old-<dataset>` first; a process that dies between the two steps leaves no folder, and the next
build puts it back.
"""

import errno
import os
import shutil
import stat
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import cache

from schemac.artifacts.folder import STAGING, OutputFolder, make_folder, write_new

_NEW, _OLD = ".new-", ".old-"
"""What the folders aside begin with; no dataset does. Both are of one length."""
_EXCHANGE = 2
"""RENAME_EXCHANGE of Linux; RENAME_SWAP of macOS is the same number."""
_NO_LINK = frozenset({errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS})
"""Errors for two places on different file systems, or on one that has no links."""
_UNKNOWN_CALL = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP})


class DatasetSwap:
    """One dataset of an output folder, on its way from the old files to the new ones."""

    def __init__(self, folder: OutputFolder, dataset: str, written_paths: Collection[str]) -> None:
        self._folder = folder
        self._dataset = dataset
        self._written_paths = written_paths
        """Paths that schemac wrote for this very dataset; the folder may hold another dataset as well."""
        self._place = folder.at(dataset)
        account, slash, name = dataset.rpartition("/")
        self._new, self._old = (folder.at(f"{STAGING}/{account}{slash}{sort}{name}") for sort in (_NEW, _OLD))
        self._undo: list[Callable[[], object]] = []

    def stage(self, contents: Mapping[str, bytes], unchanged: Collection[str]) -> None:
        """Make the new folder: these contents by path, and the foreign files of the old one."""
        make_folder(self._new)
        made = {self._new}
        for path, content in contents.items():
            target = f"{self._new}{path[len(self._dataset) :]}"
            parent = target.rpartition("/")[0]
            if parent not in made:
                make_folder(parent)
                made.add(parent)
            if path in unchanged:
                _link(self._folder.at(path), target)
            else:
                write_new(target, content)
        if os.path.isdir(self._place):
            self._link_foreign_files()

    def commit(self) -> None:
        """Move the new folder into place; an empty one removes the old one."""
        is_there = os.path.isdir(self._place)
        if not os.listdir(self._new):
            if is_there:
                self._rename(self._place, self._old)
        elif not is_there:
            if "/" in self._dataset:
                os.makedirs(os.path.dirname(self._place), exist_ok=True)
            self._rename(self._new, self._place)
        elif exchange(self._new, self._place):
            self._undo.append(lambda: exchange(self._new, self._place))
        else:
            self._rename(self._place, self._old)
            self._rename(self._new, self._place)

    def undo(self) -> None:
        """Take back what was committed."""
        while self._undo:
            self._undo.pop()()

    def _rename(self, source: str, target: str) -> None:
        """Rename a folder in a way that `undo` reverts."""
        os.rename(source, target)
        self._undo.append(lambda: os.rename(target, source))

    def _link_foreign_files(self) -> None:
        """Link the files of the old folder that no build wrote into the new one; empty folders that it did not make are made there."""
        for path, entry in _leaves(self._place, self._dataset):
            target = f"{self._new}{path[len(self._dataset) :]}"
            if entry.is_dir(follow_symlinks=False):
                if not any(written.startswith(f"{path}/") for written in self._written_paths):
                    make_folder(target)
            elif path not in self._written_paths:
                make_folder(os.path.dirname(target))
                _link(entry.path, target)


def recover(folder: OutputFolder, listed: Callable[[], Collection[str]]) -> None:
    """Remove folders that this or an interrupted build left behind, and restore foreign files.

    `listed` has the paths of the files that schemac wrote.
    """
    staging = folder.at(STAGING)
    if not folder.is_folder(STAGING):
        return
    ours = listed()
    for root, folders, _ in os.walk(staging):
        staged = {name for name in folders if name.startswith((_NEW, _OLD))}
        for name in sorted({name[len(_NEW) :] for name in staged}):
            dataset = os.path.relpath(f"{root}/{name}", staging)
            new, old = f"{root}/{_NEW}{name}", f"{root}/{_OLD}{name}"
            is_filled = os.path.isdir(new) and bool(os.listdir(new))
            if is_filled and os.path.isdir(old) and not os.path.lexists(folder.at(dataset)):
                os.rename(old, folder.at(dataset))
            for left in (new, old):
                if os.path.isdir(left):
                    _restore_foreign_files(folder, left, dataset, ours)
        folders[:] = [name for name in folders if name not in staged]
    shutil.rmtree(staging)


def remove_if_empty(folder: OutputFolder, dataset: str) -> None:
    """Remove the folder of an account in which no dataset is left."""
    if "/" in dataset:
        with suppress(OSError):
            os.rmdir(folder.at(dataset.rpartition("/")[0]))


def _restore_foreign_files(
    folder: OutputFolder, staged_folder: str, dataset: str, ours: Collection[str]
) -> None:
    """Move what schemac did not write, and what has no second link in place, back to where it was."""
    for path, entry in _leaves(staged_folder, dataset):
        target = folder.at(path)
        is_linked = entry.is_dir(follow_symlinks=False) or entry.stat(follow_symlinks=False).st_nlink > 1
        if path in ours or is_linked or os.path.lexists(target):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.rename(f"{staged_folder}{path[len(dataset) :]}", target)


def _leaves(folder: str, path: str) -> "Iterator[tuple[str, os.DirEntry[str]]]":
    """Yield the paths of all files and empty folders in a folder and below it, from `path` on, with their entries; links are not followed."""
    for entry in os.scandir(folder):
        here = f"{path}/{entry.name}"
        if entry.is_dir(follow_symlinks=False) and os.listdir(entry.path):
            yield from _leaves(entry.path, here)
        else:
            yield here, entry


def _link(source: str, target: str) -> None:
    """Give a file a second name, or copy it where the file system has no links."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINK or not stat.S_ISREG(os.lstat(source).st_mode):
            raise
        shutil.copy2(source, target, follow_symlinks=False)


def exchange(one: str, other: str) -> bool:
    """Exchange two folders in one step; return False if the system cannot."""
    call = _call()
    if call is None:
        return False
    number = call(os.fsencode(one), os.fsencode(other))
    if number in _UNKNOWN_CALL:
        return False
    if number:
        raise OSError(number, os.strerror(number), other)
    return True


@cache
def _call() -> Callable[[bytes, bytes], int] | None:
    """Return a function that exchanges two absolute paths and returns 0 or an errno; None if the system has no such call."""
    # Imported here for start-up time: only a build that changes a dataset needs it.
    import ctypes

    name = {"linux": "renameat2", "darwin": "renameatx_np"}.get(sys.platform)
    try:
        function = getattr(ctypes.CDLL(None, use_errno=True), name) if name else None
    except (OSError, AttributeError):
        return None
    if function is None:
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

    def call(one: bytes, other: bytes) -> int:
        # Both paths are absolute: what folder they start from does not matter.
        return 0 if function(-1, one, -1, other, _EXCHANGE) == 0 else ctypes.get_errno()

    return call
