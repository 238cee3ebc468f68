"""The file system of a folder that Spark writes, as the driver uses it to commit a run.

Layer: pipeline.
Shape: paths as Hadoop spells them in full (`file:/rides`, `s3a://bucket/rides`); names are those below a folder, with `/` between.
Rule: a folder of this machine is the driver's own, so that a run there is committed, or taken back, also when Spark's Java is gone.
Errors: SC656 unwritable-target, SC675 disk-full; what Hadoop raises comes as Py4J has it.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from pyspark.sql import SparkSession

from schemac.pipeline.errors import PipelineError
from schemac.pipeline.spark.failures import error_of_text
from schemac.pipeline.spark.hadoop_files import HadoopFiles, is_data
from schemac.rows.runs.storage import current_storage, hadoop_address
from schemac.source.catalogue import UNWRITABLE_TARGET

LOCAL = "file:"


class FileSystem(Protocol):
    """What a commit needs of a file system."""

    @property
    def renames_folders(self) -> bool:
        """Whether a folder is renamed in one step, and not file by file."""

    def exists(self, path: str) -> bool:
        """Whether a file or a folder exists."""

    def names(self, folder: str) -> list[str]:
        """Names of what is in a folder, in order; none where there is no folder."""

    def files(self, folder: str) -> list[str]:
        """Names of the files at every depth of a folder."""

    def data_files(self, folder: str) -> Iterator[str]:
        """Names of the files at every depth of a folder, but for those that Spark passes over."""

    def read(self, path: str) -> str:
        """Read a text in UTF-8."""

    def write(self, path: str, text: str) -> None:
        """Write a text in UTF-8, in place of what is there."""

    def modified(self, path: str) -> datetime:
        """Return when a file or a folder was changed last."""

    def rename(self, source: str, to: str) -> None:
        """Rename a file or a folder; the folder that it comes to is made. Raises PipelineError."""

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it; nothing where there is none."""


def open_files(spark: SparkSession, path: str) -> tuple[FileSystem, str]:
    """Open the file system of a path, as the settings in use say; with it the path in full."""
    path = hadoop_address(path)
    hadoop = HadoopFiles(spark, path, current_storage().hadoop_options(path))
    full = hadoop.qualified(path)
    return (LocalFiles() if full.startswith(LOCAL) else hadoop), full


def local_address(full: str) -> str:
    """Spell a path in full as tables have it: a folder of this machine without a scheme."""
    return str(_local(full)) if full.startswith(LOCAL) else full


class LocalFiles:
    """The file system of this machine."""

    renames_folders = True

    def exists(self, path: str) -> bool:
        """Whether a file or a folder exists."""
        return _local(path).exists()

    def names(self, folder: str) -> list[str]:
        """Names of what is in a folder, in order; none where there is no folder."""
        with _errors_reported(folder):
            return sorted(os.listdir(_local(folder))) if self.exists(folder) else []

    def files(self, folder: str) -> list[str]:
        """Names of the files at every depth of a folder."""
        base = _local(folder)
        return sorted(
            Path(inner, name).relative_to(base).as_posix()
            for inner, _, names in os.walk(base)
            for name in names
        )

    def data_files(self, folder: str) -> Iterator[str]:
        """Names of the files at every depth of a folder, but for those that Spark passes over."""
        return filter(is_data, self.files(folder))

    def read(self, path: str) -> str:
        """Read a text in UTF-8; bytes that are none are replaced."""
        with _errors_reported(path):
            return _local(path).read_text("utf-8", "replace")

    def write(self, path: str, text: str) -> None:
        """Write a text in UTF-8, in place of what is there: in full, or not at all."""
        file = _local(path)
        making = file.with_name(f".{file.name}.making")
        with _errors_reported(path):
            file.parent.mkdir(parents=True, exist_ok=True)
            making.write_text(text, "utf-8")
            os.replace(making, file)

    def modified(self, path: str) -> datetime:
        """Return when a file or a folder was changed last."""
        with _errors_reported(path):
            return datetime.fromtimestamp(_local(path).stat().st_mtime, UTC)

    def rename(self, source: str, to: str) -> None:
        """Rename a file or a folder; the folder that it comes to is made. Raises PipelineError.

        The checksum that Hadoop keeps next to a file goes before it.
        """
        file, place = _local(source), _local(to)
        with _errors_reported(to):
            place.parent.mkdir(parents=True, exist_ok=True)
            if _checksum(file).exists():
                os.replace(_checksum(file), _checksum(place))
            os.rename(file, place)

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it; nothing where there is none."""
        place = _local(path)
        with _errors_reported(path):
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                for file in (place, _checksum(place)):
                    file.unlink(missing_ok=True)


def _local(path: str) -> Path:
    return Path(f"/{path.removeprefix(LOCAL).lstrip('/')}")


def _checksum(file: Path) -> Path:
    return file.with_name(f".{file.name}.crc")


@contextmanager
def _errors_reported(path: str) -> Iterator[None]:
    """Tell errors of the system by the path that the author wrote of."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise error_of_text(os.strerror(errno.ENOSPC)) from error
        message = f"`{_local(path)}` cannot be changed: {error.strerror or error}"
        help = "name a path that can be written, or change the permissions of its folder"
        raise PipelineError(UNWRITABLE_TARGET, message, help, place=("target", "path")) from error
