"""Which runs a folder of files has, and how the files of a run come into it: in full, or in the end not at all.

Layer: pipeline.
Shape: each run that was committed has a record in the target (see `runs.file_records`). What it writes waits beside the target, in a folder
       `<target>.schemac-staging-<run>-<number>` with `run.json` (who the run is), `rows`, `former` (what an overwrite takes out of the
       way) and `moved.json` (the files that an append moves).
Rule: `create` renames the rows into the place of the target, the record with them. `overwrite` takes the former folder out of the way
      before. `append` moves the files one by one, each under a name of its own, and the record last. The next run takes back what one
      that died has left; it is dead if its process is gone, or, on another machine, if it has not renewed `run.json` for an hour.
Errors: SC656 unwritable-target, SC659 concurrent-run.
"""

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from py4j.protocol import Py4JError

from schemac.pipeline.errors import PipelineError
from schemac.pipeline.spark.hadoop_files import HadoopFiles
from schemac.runs.file_records import LEDGER, SUFFIX, FileRecord, ordered
from schemac.runs.heartbeat import Heartbeat
from schemac.runs.identity import RunIdentity
from schemac.runs.modes import Mode
from schemac.runs.processes import is_gone
from schemac.runs.staging import AGAIN, RENEWED_SECONDS, STALE_SECONDS
from schemac.source.catalogue import CONCURRENT_RUN

STAGING = ".schemac-staging-"
RUN, ROWS, FORMER, MOVED = "run.json", "rows", "former", "moved.json"


@dataclass(frozen=True)
class FileRuns:
    """The runs of one folder."""

    system: HadoopFiles
    path: str
    """The folder, without a slash at its end."""

    @property
    def _ledger(self) -> str:
        return f"{self.path}/{LEDGER}"

    def records(self) -> list[FileRecord]:
        """List the runs that the folder has, the last one first."""
        names = [name for name in self.system.names(self._ledger) if name.endswith(SUFFIX)]
        return ordered(self.system.read(f"{self._ledger}/{name}") for name in names)

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
        return last if known == set(self.system.data_files(self.path)) else last + 1

    @contextmanager
    def staged(self, run: RunIdentity) -> Iterator[str]:
        """Make the folder that the files of a run wait in; it is removed at the end."""
        folder = f"{self.path}{STAGING}{run.id}-{uuid.uuid4().hex[:8]}"
        identity = f"{folder}/{RUN}"

        def renew() -> None:
            with suppress(Py4JError):
                self.system.write(identity, run.to_json())

        self.system.write(identity, run.to_json())
        try:
            with Heartbeat(RENEWED_SECONDS, renew):
                yield folder
        finally:
            self._clear(folder)

    def commit(self, folder: str, run: RunIdentity, properties: Mapping[str, str]) -> int:
        """Bring the rows of a staging folder into the target; the number of the run."""
        records = self.records()
        if any(record.run.id == run.id for record in records):
            message = f"another attempt of the run `{run.id}` was committed meanwhile"
            raise PipelineError(CONCURRENT_RUN, message, AGAIN)
        rows = f"{folder}/{ROWS}"
        version = (records[0].run.version if records else 0) + 1
        record = FileRecord.new(run, version, properties, sorted(self.system.data_files(rows)))
        if run.mode == Mode.APPEND and self.system.exists(self.path):
            self._append(folder, record)
        else:
            if run.mode == Mode.CREATE:
                self._refuse_files()
            # Runs of former rows have happened too.
            for known in (*records, record):
                self.system.write(f"{rows}/{LEDGER}/{known.run.id}{SUFFIX}", known.text)
            self._replace(folder)
        return version

    def _refuse_files(self) -> None:
        """Refuse to take the place of what another run has made since this one looked."""
        if self.system.exists(self.path) and next(self.system.data_files(self.path), None) is not None:
            message = f"another run has made `{self.path}` meanwhile"
            raise PipelineError(CONCURRENT_RUN, message, AGAIN)

    def _append(self, folder: str, record: FileRecord) -> None:
        """Move the files into the folder that is there; Spark gives each a name that no other run gives."""
        self.system.write(f"{folder}/{MOVED}", json.dumps(record.files))
        name = f"{record.run.id}{SUFFIX}"
        self.system.write(f"{folder}/{name}", record.text)
        try:
            for file in record.files:
                self.system.rename(f"{folder}/{ROWS}/{file}", f"{self.path}/{file}")
            self.system.rename(f"{folder}/{name}", f"{self._ledger}/{name}")
        except BaseException:
            self._take_back(record.files)
            raise

    def _take_back(self, files: Iterable[str]) -> None:
        for name in files:
            self.system.delete(f"{self.path}/{name}")

    def _replace(self, folder: str) -> None:
        """Put the rows into the place of the target; what fails is mended where the folder is cleared."""
        if self.system.exists(self.path):
            self.system.rename(self.path, f"{folder}/{FORMER}")
        self.system.rename(f"{folder}/{ROWS}", self.path)

    def _clear(self, folder: str) -> None:
        """Remove a staging folder; former rows that nothing has taken the place of come back first."""
        former = f"{folder}/{FORMER}"
        if self.system.exists(former) and not self.system.exists(self.path):
            self.system.rename(former, self.path)
        self.system.delete(folder)

    def recover(self, undone: Callable[[RunIdentity], None]) -> None:
        """Take back what runs that died have left; `undone` is called with each that has not happened."""
        parent, _, name = self.path.rpartition("/")
        for found in self.system.names(parent or "/"):
            if found.startswith(f"{name}{STAGING}"):
                self._recover(f"{parent}/{found}", undone)

    def _recover(self, folder: str, undone: Callable[[RunIdentity], None]) -> None:
        run = self._run_in(folder)
        if not self._is_dead(folder, run):
            return
        if run is not None and all(record.run.id != run.id for record in self.records()):
            if self.system.exists(f"{folder}/{MOVED}"):
                self._take_back(json.loads(self.system.read(f"{folder}/{MOVED}")))
            undone(run)
        self._clear(folder)

    def _run_in(self, folder: str) -> RunIdentity | None:
        if not self.system.exists(f"{folder}/{RUN}"):
            return None
        try:
            return RunIdentity.parse(self.system.read(f"{folder}/{RUN}"))
        except (ValueError, KeyError, PipelineError):
            return None

    def _is_dead(self, folder: str, run: RunIdentity | None) -> bool:
        has_ended = None if run is None or run.process is None else is_gone(run.process)
        if has_ended is not None:
            return has_ended
        mark = f"{folder}/{RUN}" if self.system.exists(f"{folder}/{RUN}") else folder
        return (datetime.now(UTC) - self.system.modified(mark)).total_seconds() > STALE_SECONDS
