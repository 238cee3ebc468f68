"""The file systems that runs are staged and committed in.

Layer: rows.
Shape: `FileSystem` is what the protocol of `staging` asks of one; paths are whole, with or without `file:` before local ones. Where a rename
       is one step, of two processes that rename the same file one succeeds; an object store copies file by file, and both may.
Errors: each raises its own, those of `errors`.
"""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from schemac.rows.runs.errors import PipelineError

LOCAL = "file:"


class FileSystem(Protocol):
    """The operations on files that a run is staged and committed by."""

    errors: tuple[type[Exception], ...]
    """What it raises where it does not answer, or refuses."""

    @property
    def renames_folders(self) -> bool:
        """Whether a folder is renamed in one step, and not file by file."""

    def exists(self, path: str) -> bool:
        """Whether a file or a folder exists."""

    def names(self, folder: str) -> list[str]:
        """Return the sorted names in a folder; none if it does not exist."""

    def files(self, folder: str) -> list[str]:
        """Return the names of the files at every depth of a folder, sorted."""

    def read(self, path: str) -> str | None:
        """Read a text in UTF-8; None if the file does not exist."""

    def write(self, path: str, text: str) -> None:
        """Write a text in UTF-8, in place of what is there, in full or not at all; the folder that it comes to is made."""

    def modified(self, path: str) -> datetime:
        """Return when a file or a folder was changed last."""

    def touch(self, path: str) -> None:
        """Set the time of change of a file that exists to now."""

    def rename(self, source: str, to: str) -> None:
        """Rename a file or a folder; the folder that it comes to is made."""

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with its content, if it exists; of a folder something may be left."""


class LocalFiles:
    """The file system of this machine."""

    errors: tuple[type[Exception], ...] = (OSError, PipelineError)
    renames_folders = True

    def exists(self, path: str) -> bool:
        """Whether a file or a folder exists."""
        return local_file(path).exists()

    def names(self, folder: str) -> list[str]:
        """Return the sorted names in a folder; none if it does not exist, or is none."""
        try:
            return sorted(os.listdir(local_file(folder)))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def files(self, folder: str) -> list[str]:
        """Return the names of the files at every depth of a folder, sorted."""
        base = local_file(folder)
        return sorted(path.relative_to(base).as_posix() for path in base.rglob("*") if not path.is_dir())

    def read(self, path: str) -> str | None:
        """Read a text in UTF-8, whose invalid bytes are replaced; None if the file does not exist."""
        try:
            return local_file(path).read_text("utf-8", "replace")
        except FileNotFoundError:
            return None

    def write(self, path: str, text: str) -> None:
        """Write a text by way of a file beside it."""
        file = local_file(path)
        making = file.with_name(f".{file.name}.making")
        os.makedirs(file.parent, exist_ok=True)
        making.write_text(text, "utf-8")
        os.replace(making, file)

    def modified(self, path: str) -> datetime:
        """Return when a file or a folder was changed last."""
        return datetime.fromtimestamp(local_file(path).stat().st_mtime, UTC)

    def touch(self, path: str) -> None:
        """Set the time of change of a file that exists to now."""
        os.utime(local_file(path))

    def rename(self, source: str, to: str) -> None:
        """Rename a file or a folder. The checksum that Hadoop keeps next to a file goes before it."""
        file, place = local_file(source), local_file(to)
        os.makedirs(place.parent, exist_ok=True)
        if _checksum(file).exists():
            os.replace(_checksum(file), _checksum(place))
        os.rename(file, place)

    def delete(self, path: str) -> None:
        """Remove a file with its checksum, or as much as can be of a folder with its content, if it exists."""
        place = local_file(path)
        if place.is_dir() and not place.is_symlink():
            # Another run may be removing it too.
            shutil.rmtree(place, ignore_errors=True)
        else:
            for file in (place, _checksum(place)):
                file.unlink(missing_ok=True)


def local_file(path: str) -> Path:
    """Return the path of a file of this machine, with or without `file:` before it."""
    return Path(f"/{path.removeprefix(LOCAL).lstrip('/')}")


def _checksum(file: Path) -> Path:
    """Return the path of the hidden file with Hadoop's checksum of a file."""
    return file.with_name(f".{file.name}.crc")
