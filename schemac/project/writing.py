"""Files that people keep, written in place of what was there.

Layer: project.
Shape: whole or not at all; a process that is killed leaves the old file.
Errors: SC542 write-failed.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from schemac.text.source.catalogue import WRITE_FAILED
from schemac.text.source.diagnostics import Report
from schemac.text.source.text import reason_of

SUFFIX = ".schemac-new"
"""What the name of a file ends with until it is whole."""


OLD_SUFFIX = ".schemac-old"
"""What the name of a file ends with that may be wanted again."""


class _AdjacentFile:
    """A file next to the one whose place it can take, under a name of its own until then."""

    def __init__(self, path: Path, suffix: str) -> None:
        # A link stays one: what it points at is written.
        self._path = path.resolve()
        self._adjacent = self._path.with_name(self._path.name + suffix)

    def put(self) -> None:
        """Take the place of the other file, which needs no room. Raises OSError, and leaves nothing behind then."""
        try:
            self._adjacent.replace(self._path)
        except OSError:
            self.drop()
            raise

    def drop(self) -> None:
        """Remove it, if it has taken no other place."""
        self._adjacent.unlink(missing_ok=True)


class NewFile(_AdjacentFile):
    """A whole new file next to the one that it is to replace."""

    def __init__(self, path: Path, content: bytes, *, is_synced: bool = True) -> None:
        """Write it. Raises OSError, and leaves nothing behind then.

        Without `is_synced` the system may still lose it when the machine stops: for what can be made again.
        """
        super().__init__(path, SUFFIX)
        try:
            with self._adjacent.open("wb") as stream:
                stream.write(content)
                stream.flush()
                if is_synced:
                    os.fsync(stream.fileno())
            if self._path.exists():
                shutil.copymode(self._path, self._adjacent)
        except OSError:
            self.drop()
            raise


class OldFile(_AdjacentFile):
    """A copy of a file beside it, which can be restored even on a full disk."""

    def __init__(self, path: Path) -> None:
        """Keep it. Raises OSError, and leaves nothing behind then."""
        super().__init__(path, OLD_SUFFIX)
        self.drop()
        try:
            os.link(self._path, self._adjacent)
        except OSError:
            # Some file systems have no links.
            try:
                shutil.copy2(self._path, self._adjacent)
            except OSError:
                self.drop()
                raise


def replace_file(path: Path, content: bytes) -> None:
    """Replace the content of a file, which keeps its mode; raises OSError and leaves no temporary file."""
    NewFile(path, content).put()


def write_file(path: str | Path, content: bytes, report: Report, name: str = "") -> bool:
    """Replace the content of a file, which is called by its path or a name; return False after reporting why it cannot be written."""
    name = name or str(path)
    try:
        replace_file(Path(path), content)
    except OSError as error:
        report.add(WRITE_FAILED, f"cannot write {name}: {reason_of(error)}", file=name)
        return False
    return True


def replace_files(contents: Mapping[Path, bytes]) -> None:
    """Replace the content of files, or write new ones: all of them, in this order, or none.

    Raises OSError with the path of the file that cannot be written, and a note for each one that cannot be restored.
    """
    new_files: dict[Path, NewFile] = {}
    old_files: dict[Path, OldFile] = {}
    replaced: list[Path] = []
    path = Path()
    try:
        # What takes room is written first: after that, a full disk is no reason to take anything back.
        for path, content in contents.items():
            new_files[path] = NewFile(path, content)
        # Nothing can fail after the last one has taken its place.
        for path in list(contents)[:-1]:
            if path.exists():
                old_files[path] = OldFile(path)
        for path, new in new_files.items():
            new.put()
            replaced.append(path)
    except BaseException as error:
        for one in replaced:
            try:
                old_files[one].put() if one in old_files else one.unlink()
            except OSError as other:
                reason = reason_of(other)
                error.add_note(f"{one.name} has its new content already and cannot be restored: {reason}")
        if isinstance(error, OSError):
            error.filename = os.fspath(path)
        raise
    finally:
        for file in (*new_files.values(), *old_files.values()):
            file.drop()
