"""Runs of a folder of files, and the file systems that they are committed in.

Layer: pipeline.
Shape: each run has a record in the target (see `rows.runs.history`). What it writes waits in a staging folder beside the target (see
       `rows.runs.staging`): `rows`, and `former`, what an overwrite replaces. Paths are those of Hadoop in full.
Rule: the record decides. `create` renames the rows into place with the record; `overwrite` takes the former folder away before; `append`,
      and every mode where a rename is one of each file, moves files one by one and the record last. One run at a time is committed;
      the next takes back what a dead one left.
Errors: SC656 unwritable-target, SC659 concurrent-run, SC675 disk-full; what Hadoop raises comes as Py4J has it.
"""

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.paths import is_hidden
from schemac.pipeline.spark.failures import error_of_text, known_cause
from schemac.rows.runs.file_systems import LOCAL, FileSystem, LocalFiles, local_file
from schemac.rows.runs.history import LEDGER, SUFFIX, FileRecord, parse_records
from schemac.rows.runs.identity import Mode, RunIdentity
from schemac.rows.runs.staging import JOIN, RENEWED_SECONDS, StagingArea, StagingFolder, heartbeat, overtaken
from schemac.rows.runs.storage import current_storage, hadoop_address, table_address
from schemac.text.source.catalogue import UNWRITABLE_TARGET


def open_files(spark: SparkSession, path: str) -> tuple[FileSystem, str]:
    """Return the file system of a path by the session's settings, and the full path."""
    path = hadoop_address(path)
    hadoop = HadoopFiles(spark, path, current_storage().hadoop_options(path))
    full = hadoop.qualified(path)
    return (LocalFiles() if full.startswith(LOCAL) else hadoop), full


def local_address(full: str) -> str:
    """Return a full path as tables have it: a folder of this machine without a scheme, S3 by the one name that engines know."""
    return str(local_file(full)) if full.startswith(LOCAL) else table_address(full)


@contextmanager
def file_errors_reported() -> Iterator[None]:
    """Raise errors of this machine's file system as PipelineError."""
    try:
        yield
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        text = os.strerror(errno.ENOSPC) if is_full else str(error)
        if not isinstance(error, ConnectionError) and known_cause(text) is not None:
            raise error_of_text(text) from error
        if error.filename is None:
            raise
        message = f"`{error.filename2 or error.filename}` cannot be changed: {error.strerror}"
        help = "name a path that can be written, or change the permissions of its folder"
        raise PipelineError(UNWRITABLE_TARGET, message, help, place=("target", "path")) from error


ATOMIC = ("file", "hdfs", "viewfs")
"""File systems that rename a folder in one step; object stores copy the files of it one by one."""


def is_data(name: str) -> bool:
    """Whether Spark reads a file: no part of its name below the folder begins with `_` or `.`, but for folders of partitions."""
    return not any(map(is_hidden, name.split("/")))


class HadoopFiles:
    """A file system of Hadoop."""

    errors: tuple[type[Exception], ...] = (PipelineError, Py4JError, OSError)

    def __init__(self, spark: SparkSession, path: str, options: Mapping[str, str]) -> None:
        self._jvm: Any = spark._jvm
        settings = spark._jsparkSession.sessionState().newHadoopConf()
        for name, text in options.items():
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
        """Return a path in full, without a slash at its end."""
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

    def read(self, path: str) -> str | None:
        """Read a text in UTF-8; None if the file does not exist."""
        if not self.exists(path):
            return None
        with closing(self._system.open(self._path(path))) as stream:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))

    def write(self, path: str, text: str) -> None:
        """Write a text in UTF-8, in place of what is there."""
        with closing(self._system.create(self._path(path), True)) as stream:
            stream.write(bytearray(text.encode()))

    def modified(self, path: str) -> datetime:
        """Return when a file or a folder was changed last."""
        millis = self._system.getFileStatus(self._path(path)).getModificationTime()
        return datetime.fromtimestamp(millis / 1000, UTC)

    def touch(self, path: str) -> None:
        """Set the time of change of a file to now, by writing it again: few stores have another way."""
        text = self.read(path)
        if text is not None:
            self.write(path, text)

    def rename(self, source: str, to: str) -> None:
        """Rename a file or a folder; the folder that it comes to is made. Raises PipelineError."""
        self._system.mkdirs(self._path(to).getParent())
        if not self._system.rename(self._path(source), self._path(to)):
            message = f"`{source}` cannot be renamed to `{to}`"
            help = "name a path that can be written"
            raise PipelineError(UNWRITABLE_TARGET, message, help, place=("target", "path"))

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with its content, if it exists."""
        self._system.delete(self._path(path), True)


STAGING = ".schemac-staging-"
ROWS, FORMER = "rows", "former"


@dataclass(frozen=True)
class FileRuns:
    """The runs of a folder of files."""

    system: FileSystem
    path: str
    """The folder, without a slash at its end."""

    @property
    def staging(self) -> StagingArea:
        """The staging folders of all runs into the target."""
        return StagingArea(self.system, self.path, STAGING, is_exclusive=True)

    @property
    def _ledger(self) -> str:
        """Return the folder in the target that has a file for each run."""
        return f"{self.path}/{LEDGER}"

    def records(self) -> list[FileRecord]:
        """Return the records of the runs that the folder has, the last one first."""
        names = [name for name in self.system.names(self._ledger) if name.endswith(SUFFIX)]
        texts = {name: self.system.read(f"{self._ledger}/{name}") or "" for name in names}
        return parse_records(local_address(self.path), texts)

    def _data_files(self, folder: str) -> list[str]:
        """Return the names of the files at every depth of a folder that Spark reads."""
        return [name for name in self.system.files(folder) if is_data(name)]

    def counts(self, run: RunIdentity) -> bool:
        """Whether the folder has a run: this attempt of it, or another one."""
        return self.system.exists(self._record_of(run))

    def _record_of(self, run: RunIdentity) -> str:
        """Return the path of the record of a run."""
        return f"{self._ledger}/{run.id}{SUFFIX}"

    def version(self, records: list[FileRecord]) -> int:
        """Return the number of the state: that of the last run, or one more where others have written, or removed, files since."""
        last = records[0].run.version if records else 0
        if not self.system.exists(self.path):
            return 0
        known: set[str] = set()
        for record in records:
            known.update(record.files)
            if record.run.identity.mode == Mode.OVERWRITE:
                break
        return last if known == set(self._data_files(self.path)) else last + 1

    @contextmanager
    def staged(self, run: RunIdentity) -> Iterator[StagingFolder]:
        """Make the folder that the files of a run wait in; it is removed at the end, unless it was given up."""
        with closing(self.staging.new_folder(run)) as folder:
            folder.open(run)
            with heartbeat(RENEWED_SECONDS, folder.renew):
                yield folder

    def claimed(self, folder: StagingFolder, run: RunIdentity) -> Callable[[Mapping[str, str]], int]:
        """Lock the target for one commit; return a function that commits the rows of a staging folder, and returns the number of the run."""
        self.staging.start_commit(folder, run)
        records = self.records()
        if any(record.run.id == run.id for record in records):
            raise overtaken(f"another attempt of the run `{run.id}` was committed in the meantime")
        return partial(self.commit, folder, run, records)

    def commit(
        self,
        folder: StagingFolder,
        run: RunIdentity,
        records: list[FileRecord],
        properties: Mapping[str, str],
    ) -> int:
        """Move the rows of a staging folder into the target, which has these records; return the number of the run."""
        version = (records[0].run.version if records else 0) + 1
        rows = folder.file(ROWS)
        files = self._data_files(rows)
        record = FileRecord.new(run, version, properties, files)
        if run.mode == Mode.APPEND and self.system.exists(self.path):
            # Spark gives each file a name that no other run gives.
            folder.note_moved(record.files)
            for file in record.files:
                self.system.rename(f"{rows}/{file}", f"{self.path}/{file}")
            self._record(folder, record)
        else:
            is_there, is_one_step = self.system.exists(self.path), self.system.renames_folders
            if is_there and run.mode == Mode.CREATE and self._data_files(self.path):
                raise overtaken(f"another run has created `{self.path}` in the meantime", JOIN)
            # Runs of former rows stay recorded.
            for known in (*records, record) if is_one_step else records:
                self.system.write(f"{rows}/{LEDGER}/{known.run.id}{SUFFIX}", known.text)
            if not is_one_step:
                folder.note_moved(record.files)
            if self.system.exists(self.path):
                self.system.rename(self.path, folder.file(FORMER))
            self.system.rename(rows, self.path)
            if not is_one_step:
                self._record(folder, record)
        return version

    def has_failed(self, folder: StagingFolder, run: RunIdentity) -> bool | None:
        """Whether a run whose commit raised does not count: then the target is as it was. The record decides.

        None where that cannot be known now: the staging folder is left to the next run, which decides.
        """
        try:
            if self.counts(run):
                return False
            self.take_back(folder)
        except BaseException as error:
            folder.give_up()
            if isinstance(error, self.system.errors):
                return None
            raise
        return True

    def _record(self, folder: StagingFolder, record: FileRecord) -> None:
        """Record the run as committed."""
        waiting = folder.file(f"{record.run.id}{SUFFIX}")
        self.system.write(waiting, record.text)
        self.system.rename(waiting, self._record_of(record.run.identity))

    def take_back(self, folder: StagingFolder) -> None:
        """Undo a commit that has not come to its end."""
        for name in folder.moved_files():
            self.system.delete(f"{self.path}/{name}")
        former = folder.file(FORMER)
        if self.system.exists(former):
            if not self.system.exists(self.path):
                self.system.rename(former, self.path)
            else:
                # A rename of each file that was interrupted: some are here, some are there, some are both.
                for moved in self.system.files(former):
                    if not self.system.exists(f"{self.path}/{moved}"):
                        self.system.rename(f"{former}/{moved}", f"{self.path}/{moved}")

    def recover(self, undone: Callable[[RunIdentity], None]) -> None:
        """Undo what runs that died have left; `undone` is called with each that has not happened."""
        for folder in self.staging.folders():
            if folder.claim_if_dead():
                run = folder.run()
                if run is not None and not self.counts(run):
                    self.take_back(folder)
                    undone(run)
                folder.remove()
