"""Runs of a folder of files, and the file systems that they are committed in.

Layer: pipeline.
Shape: each run has a record in the target (see `rows.runs.history`). What it writes waits in `<target>.schemac-staging-<run>-<number>`:
       `run.json`, `rows`, `former` (what an overwrite replaces), `moved.json` and `committing`. Paths are those of Hadoop in full.
Rule: the record decides. `create` renames the rows into place with the record; `overwrite` takes the former folder away before; `append`,
      and every mode where a rename is one of each file, moves files one by one and the record last. One run at a time is committed;
      the next takes back what a dead one left. A run is dead whose process is gone, or which has not renewed `run.json` for an hour.
Errors: SC656 unwritable-target, SC659 concurrent-run, SC675 disk-full; what Hadoop raises comes as Py4J has it.
"""

import errno
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.paths import is_hidden
from schemac.pipeline.spark.failures import error_of_text
from schemac.rows.runs import staging
from schemac.rows.runs.history import LEDGER, SUFFIX, FileRecord, parse_records
from schemac.rows.runs.identity import Mode, RunIdentity, is_gone, this_process
from schemac.rows.runs.staging import AGAIN, JOIN, RENEWED_SECONDS, STALE_SECONDS, Heartbeat
from schemac.rows.runs.storage import current_storage, hadoop_address, table_address
from schemac.text.source.catalogue import CONCURRENT_RUN, UNWRITABLE_TARGET

LOCAL = "file:"


def open_files(spark: SparkSession, path: str) -> "tuple[FileSystem, str]":
    """Return the file system of a path by the session's settings, and the full path."""
    path = hadoop_address(path)
    hadoop = HadoopFiles(spark, path, current_storage().hadoop_options(path))
    full = hadoop.qualified(path)
    return (LocalFiles() if full.startswith(LOCAL) else hadoop), full


def local_address(full: str) -> str:
    """Return a full path as tables have it: a folder of this machine without a scheme, S3 by the one name that engines know."""
    return str(_local(full)) if full.startswith(LOCAL) else table_address(full)


class LocalFiles:
    """The file system of this machine."""

    renames_folders = True

    def exists(self, path: str) -> bool:
        """Whether a file or a folder exists."""
        return _local(path).exists()

    def names(self, folder: str) -> list[str]:
        """Return the sorted names in a folder; none if it does not exist."""
        with _errors_reported(folder):
            return sorted(os.listdir(_local(folder))) if self.exists(folder) else []

    def files(self, folder: str) -> list[str]:
        """Return the names of the files at every depth of a folder, sorted."""
        base = _local(folder)
        return sorted(
            Path(inner, name).relative_to(base).as_posix()
            for inner, _, names in os.walk(base)
            for name in names
        )

    def read(self, path: str) -> str:
        """Read a text in UTF-8; invalid bytes are replaced."""
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
        """Remove a file, or a folder with its content, if it exists."""
        place = _local(path)
        with _errors_reported(path):
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                for file in (place, _checksum(place)):
                    file.unlink(missing_ok=True)


def _local(path: str) -> Path:
    """Return the local path of an address, with or without `file:` before it."""
    return Path(f"/{path.removeprefix(LOCAL).lstrip('/')}")


def _checksum(file: Path) -> Path:
    """Return the path of the hidden file with Hadoop's checksum of a file."""
    return file.with_name(f".{file.name}.crc")


@contextmanager
def _errors_reported(path: str) -> Iterator[None]:
    """Raise errors of the system with the path that the author wrote."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise error_of_text(os.strerror(errno.ENOSPC)) from error
        message = f"`{_local(path)}` cannot be changed: {error.strerror or error}"
        help = "name a path that can be written, or change the permissions of its folder"
        raise PipelineError(UNWRITABLE_TARGET, message, help, place=("target", "path")) from error


ATOMIC = ("file", "hdfs", "viewfs")
"""File systems that rename a folder in one step; object stores copy the files of it one by one."""


def is_data(name: str) -> bool:
    """Whether Spark reads a file: no part of its name below the folder begins with `_` or `.`, but for folders of partitions."""
    return not any(map(is_hidden, name.split("/")))


class HadoopFiles:
    """A file system of Hadoop."""

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
            help = "name a path that can be written"
            raise PipelineError(UNWRITABLE_TARGET, message, help, place=("target", "path"))

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with its content, if it exists."""
        self._system.delete(self._path(path), True)


FileSystem = LocalFiles | HadoopFiles


STAGING = ".schemac-staging-"
RUN, ROWS, FORMER, MOVED, COMMITTING = "run.json", "rows", "former", "moved.json", "committing"
UNREACHABLE = (PipelineError, Py4JError, OSError)
"""What a file system raises that does not answer."""
_UNDER_WAY: set[str] = set()
"""The staging folders of runs of this process that go on."""


@dataclass
class Staged:
    """The staging folder of a run."""

    folder: str
    is_left: bool = False
    """Whether the next run is to find it, because nobody knows now whether the run counts."""


@dataclass(frozen=True)
class FileRuns:
    """The runs of a folder of files."""

    system: FileSystem
    path: str
    """The folder, without a slash at its end."""

    @property
    def _ledger(self) -> str:
        """Return the folder in the target that has a file for each run."""
        return f"{self.path}/{LEDGER}"

    def records(self) -> list[FileRecord]:
        """Return the records of the runs that the folder has, the last one first."""
        names = [name for name in self.system.names(self._ledger) if name.endswith(SUFFIX)]
        texts = {name: self.system.read(f"{self._ledger}/{name}") for name in names}
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
    def staged(self, run: RunIdentity) -> Iterator[Staged]:
        """Make the folder that the files of a run wait in; it is removed at the end."""
        staged = Staged(f"{self.path}{STAGING}{run.id}-{uuid.uuid4().hex[:8]}")
        identity = f"{staged.folder}/{RUN}"

        def renew() -> None:
            with suppress(*UNREACHABLE):
                self.system.write(identity, run.to_json())

        _UNDER_WAY.add(staged.folder)
        try:
            self.system.write(identity, run.to_json())
            with Heartbeat(RENEWED_SECONDS, renew):
                yield staged
        finally:
            _UNDER_WAY.discard(staged.folder)
            if not staged.is_left:
                with suppress(*UNREACHABLE):
                    # What cannot be removed now, the next run removes.
                    self._clear(staged.folder)

    @contextmanager
    def claimed(self, folder: str, run: RunIdentity) -> Iterator[Callable[[Mapping[str, str]], int]]:
        """Lock the target for one commit; yield a function that commits the rows of a staging folder, and returns the number of the run."""
        # Each run marks its commit before it looks for others, so one of two sees the other.
        mark, until = f"{folder}/{COMMITTING}", time.monotonic() + staging.COMMITTED_WITHIN_SECONDS
        self.system.write(mark, "")
        try:
            while any(self._is_committing(other) for other in self._folders() if other != folder):
                self.system.delete(mark)
                if time.monotonic() > until:
                    message = f"another run is being committed to `{self.path}`"
                    raise PipelineError.uncommitted(CONCURRENT_RUN, message, AGAIN)
                # Both may have seen each other: the names of their folders, which are random, say who waits longer.
                time.sleep(staging.LOOKED_EVERY_SECONDS * int(folder[-2:], 16) / 128)
                self.system.write(mark, "")
            records = self.records()
            if any(record.run.id == run.id for record in records):
                message = f"another attempt of the run `{run.id}` was committed in the meantime"
                raise PipelineError.uncommitted(CONCURRENT_RUN, message, AGAIN)
            yield partial(self.commit, folder, run, records)
        finally:
            with suppress(*UNREACHABLE):
                self.system.delete(mark)

    def commit(
        self, folder: str, run: RunIdentity, records: list[FileRecord], properties: Mapping[str, str]
    ) -> int:
        """Move the rows of a staging folder into the target, which has these records; return the number of the run."""
        version = (records[0].run.version if records else 0) + 1
        files = self._data_files(f"{folder}/{ROWS}")
        record = FileRecord.new(run, version, properties, files)
        if run.mode == Mode.APPEND and self.system.exists(self.path):
            # Spark gives each file a name that no other run gives.
            self._note_moved(folder, record)
            for file in record.files:
                self.system.rename(f"{folder}/{ROWS}/{file}", f"{self.path}/{file}")
            self._record(folder, record)
        else:
            is_there, is_one_step = self.system.exists(self.path), self.system.renames_folders
            if is_there and run.mode == Mode.CREATE and self._data_files(self.path):
                message = f"another run has created `{self.path}` in the meantime"
                raise PipelineError.uncommitted(CONCURRENT_RUN, message, JOIN)
            # Runs of former rows stay recorded.
            for known in (*records, record) if is_one_step else records:
                self.system.write(f"{folder}/{ROWS}/{LEDGER}/{known.run.id}{SUFFIX}", known.text)
            if not is_one_step:
                self._note_moved(folder, record)
            if self.system.exists(self.path):
                self.system.rename(self.path, f"{folder}/{FORMER}")
            self.system.rename(f"{folder}/{ROWS}", self.path)
            if not is_one_step:
                self._record(folder, record)
        return version

    def has_failed(self, staged: Staged, run: RunIdentity) -> bool:
        """Whether a run whose commit raised does not count: then the target is as it was. The record decides.

        Where that cannot be known now, the staging folder is left to the next run, which decides.
        """
        staged.is_left = True
        try:
            if not (counts := self.counts(run)):
                self.take_back(staged.folder)
        except UNREACHABLE:
            return False
        staged.is_left = False
        return not counts

    def _is_committing(self, folder: str) -> bool:
        """Whether a run that is alive is committing from a staging folder."""
        is_marked = self.system.exists(f"{folder}/{COMMITTING}")
        return is_marked and not self._is_dead(folder, self._run_in(folder))

    def _note_moved(self, folder: str, record: FileRecord) -> None:
        """Note the files of a run before they come into the target, so that they can be taken back."""
        self.system.write(f"{folder}/{MOVED}", json.dumps(record.files))

    def _record(self, folder: str, record: FileRecord) -> None:
        """Record the run as committed."""
        waiting = f"{folder}/{record.run.id}{SUFFIX}"
        self.system.write(waiting, record.text)
        self.system.rename(waiting, self._record_of(record.run.identity))

    def take_back(self, folder: str) -> None:
        """Undo a commit that has not come to its end."""
        if self.system.exists(f"{folder}/{MOVED}"):
            names: Iterable[str] = json.loads(self.system.read(f"{folder}/{MOVED}"))
            for name in names:
                self.system.delete(f"{self.path}/{name}")
        former = f"{folder}/{FORMER}"
        if self.system.exists(former):
            if not self.system.exists(self.path):
                self.system.rename(former, self.path)
            else:
                # A rename of each file that was interrupted: some are here, some are there, some are both.
                for moved in self.system.files(former):
                    if not self.system.exists(f"{self.path}/{moved}"):
                        self.system.rename(f"{former}/{moved}", f"{self.path}/{moved}")

    def _clear(self, folder: str) -> None:
        """Remove a staging folder, `run.json` last, so that the run is known as long as any of its files exists."""
        for name in self.system.names(folder):
            if name != RUN:
                self.system.delete(f"{folder}/{name}")
        self.system.delete(folder)

    def recover(self, undone: Callable[[RunIdentity], None]) -> None:
        """Undo what runs that died have left; `undone` is called with each that has not happened."""
        for folder in self._folders():
            run = self._run_in(folder)
            if self._is_dead(folder, run):
                if run is not None and not self.counts(run):
                    self.take_back(folder)
                    undone(run)
                self._clear(folder)

    def _folders(self) -> list[str]:
        """Return the staging folders of all runs into the target."""
        parent, _, name = self.path.rpartition("/")
        names = self.system.names(parent or "/")
        return [f"{parent}/{one}" for one in names if one.startswith(f"{name}{STAGING}")]

    def _run_in(self, folder: str) -> RunIdentity | None:
        """Return the run of a staging folder; None if it cannot be read."""
        if not self.system.exists(f"{folder}/{RUN}"):
            return None
        try:
            return RunIdentity.parse(self.system.read(f"{folder}/{RUN}"))
        except (ValueError, KeyError, PipelineError):
            return None

    def _is_dead(self, folder: str, run: RunIdentity | None) -> bool:
        """Whether the run of a staging folder has ended, or has not renewed it for an hour."""
        process = None if run is None else run.process
        if process == this_process():
            return folder not in _UNDER_WAY
        has_ended = None if process is None else is_gone(process)
        if has_ended is not None:
            return has_ended
        mark = f"{folder}/{RUN}" if self.system.exists(f"{folder}/{RUN}") else folder
        return (datetime.now(UTC) - self.system.modified(mark)).total_seconds() > STALE_SECONDS
