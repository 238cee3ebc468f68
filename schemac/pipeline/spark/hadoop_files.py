"""A file system of Hadoop, for folders that Spark writes: on this machine, in a cluster, or on an object store.

Layer: pipeline.
Shape: paths are texts as Spark takes them; names are those below a folder, with `/` between.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import SparkSession

from schemac.pipeline.errors import PipelineError
from schemac.text.source.catalogue import UNWRITABLE_TARGET

ATOMIC = ("file", "hdfs", "viewfs")
"""File systems that rename a folder in one step; object stores copy the files of it one by one."""


def is_data(name: str) -> bool:
    """Whether Spark reads a file: no part of its name below the folder begins with `_` or `.`, but for folders of partitions."""
    return not any(part.startswith(("_", ".")) and "=" not in part for part in name.split("/"))


class HadoopFiles:
    """The file system that a path is in."""

    def __init__(self, spark: SparkSession, path: str, options: Mapping[str, str] | None = None) -> None:
        self._jvm: Any = spark._jvm
        settings = spark._jsparkSession.sessionState().newHadoopConf()
        for name, text in (options or {}).items():
            settings.set(name, text)
        self._system = self._path(path).getFileSystem(settings)

    @property
    def renames_folders(self) -> bool:
        """Whether a folder is renamed in one step, and not file by file."""
        return str(self._system.getUri().getScheme()) in ATOMIC

    def _path(self, path: str) -> Any:
        """Return a path as an object of Hadoop's Java class."""
        return self._jvm.org.apache.hadoop.fs.Path(path)

    def qualified(self, path: str) -> str:
        """Spell a path in full, without a slash at its end."""
        return str(self._system.makeQualified(self._path(path)).toString()).rstrip("/")

    def exists(self, path: str) -> bool:
        """Whether a file or a folder exists."""
        return bool(self._system.exists(self._path(path)))

    def names(self, folder: str) -> list[str]:
        """Return the sorted names in a folder; none if it does not exist."""
        if not self.exists(folder):
            return []
        return sorted(status.getPath().getName() for status in self._system.listStatus(self._path(folder)))

    def files(self, folder: str) -> list[str]:
        """Names of the files at every depth of a folder."""
        base, names = self.qualified(folder) + "/", []
        statuses = self._system.listFiles(self._path(folder), True)
        while statuses.hasNext():
            names.append(str(statuses.next().getPath().toString()).removeprefix(base))
        return sorted(names)

    def read(self, path: str) -> str:
        """Read a text in UTF-8."""
        stream = self._system.open(self._path(path))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, path: str, text: str) -> None:
        """Write a text in UTF-8, in place of what is there."""
        stream = self._system.create(self._path(path), True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    def modified(self, path: str) -> datetime:
        """Return when a file or a folder was changed last."""
        millis = self._system.getFileStatus(self._path(path)).getModificationTime()
        return datetime.fromtimestamp(millis / 1000, UTC)

    def rename(self, source: str, to: str) -> None:
        """Rename a file or a folder; the folder that it comes to is made. Raises PipelineError."""
        self._system.mkdirs(self._path(to).getParent())
        if not self._system.rename(self._path(source), self._path(to)):
            message = f"`{source}` cannot be renamed to `{to}`"
            raise PipelineError(
                UNWRITABLE_TARGET, message, "name a path that can be written", place=("target", "path")
            )

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with its content, if it exists."""
        self._system.delete(self._path(path), True)
