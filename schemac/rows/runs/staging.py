"""The staging of runs: the folders in which the files of a run wait for its commit, and temporary folders.

Layer: rows.
Shape: a `StagingArea` has a folder for each attempt at a run into one target; its name has the id of the run and the process that drives
      it. The folder has `run.json`, the identity of the run, whose time says that the run is alive; the mark of its state; and, from the
      commit on, the names of the files that are moved into the target. Either the run that commits takes the mark `OPEN`, or the run
      that sweeps does, because a file can be renamed once: nothing is swept under a commit.
      A temporary folder that does not outlive its process, however that ends: `schemac-run-*` folders where the system has its
      temporary files; each says whose it is, and whoever needs one removes those of processes that are gone.
Rule: a run is dead if its process is gone. Of a process on another machine, or one that is not known, only `run.json` tells: it is
      renewed every `RENEWED_SECONDS`, and after `STALE_SECONDS` the run is taken for dead. A run that is swept by mistake fails before
      its commit, and says so.
"""

import atexit
import contextlib
import functools
import json
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from itertools import chain
from pathlib import Path
from threading import Event, Thread

from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.file_systems import FileSystem, LocalFiles
from schemac.rows.runs.history import TABLE
from schemac.rows.runs.identity import Mode, RunIdentity, is_gone, this_process
from schemac.text.source.catalogue import ABANDONED_RUN, CONCURRENT_RUN

PREFIX = "_staging-"
RUN_FILE, COMMITTER, MOVED, NOTES = "run.json", "committer.txt", "moved.json", "progress"
FILLED = "filled"
"""A folder in the staging folder of a run that fills columns: what it has computed outlives it."""
RENEWED_SECONDS = 20.0
STALE_SECONDS = 3600.0
RETENTION_SECONDS = 7 * 24 * 3600.0
COMMITTED_WITHIN_SECONDS = 60.0
LOOKED_EVERY_SECONDS = 0.1
AGAIN = "run it again"
JOIN = f"{AGAIN}; with `mode: append` under `target` its rows are added to the others"
"""Where another run has created what this one was to make."""


def overtaken(message: str, help: str = AGAIN) -> PipelineError:
    """Return the error of a run that another one is ahead of; nothing of it is in its target."""
    return PipelineError.uncommitted(CONCURRENT_RUN, message, help)


class StagingState(StrEnum):
    """How far the run of a staging folder is; the value is the name of its mark.

    Of two marks, which a file system has that copies where it renames, the first one counts.
    """

    COMMITTING = ".committing"
    ABANDONED = ".given-up"
    """Left to the next run, or to the next attempt of its run."""
    SWEPT = ".swept"
    """Another run has found it dead."""
    OPEN = ".open"
    """Tasks may write."""


_LEFT: set[str] = set()
"""The folders that runs of this process have left, though it lives on."""


@dataclass(frozen=True)
class StagingFolder:
    """The staging folder of one attempt at a run."""

    system: FileSystem = field(compare=False)
    path: str

    def file(self, name: str) -> str:
        """Return the path of a file in the folder."""
        return f"{self.path}/{name}"

    @property
    def process(self) -> str | None:
        """The label of the process that drives the run; None if it is not known."""
        return self.path.rpartition(".")[0].rpartition(".")[2] or None

    def open(self, run: RunIdentity, table: str = "") -> None:
        """Make the folder, in which tasks may write from now on.

        In a quarantine, which several tables may share, `table` is that of the run, seen from the quarantine.
        Raises PipelineError if another run has taken the folder.
        """
        try:
            self.write(RUN_FILE, json.dumps({**run.properties(), TABLE: table}))
            self.write(StagingState.OPEN, "")
        except self.system.errors:
            self.remove()
            raise

    def write(self, name: str, text: str) -> None:
        """Write a file of the folder. Raises PipelineError if another run has taken the folder."""
        try:
            self.system.write(self.file(name), text)
        except FileNotFoundError as error:
            raise _taken_by_another_run() from error

    def _properties(self) -> dict[str, str]:
        """Read what the folder says of the run; empty if that is damaged or gone."""
        try:
            properties: dict[str, str] = json.loads(self.system.read(self.file(RUN_FILE)) or "{}")
        except ValueError:
            return {}
        return properties

    def run(self) -> RunIdentity | None:
        """Read the identity of the run; None if that is damaged or gone."""
        return RunIdentity.from_properties(self._properties())

    def table(self) -> str:
        """Read the table of the run, seen from the dataset that the folder is in; empty if it is that dataset."""
        return self._properties().get(TABLE, "")

    @property
    def state(self) -> StagingState | None:
        """The state of the run; None while the folder is made, or removed."""
        names = self.system.names(self.path)
        return next((state for state in StagingState if state in names), None)

    def advance(self, state: StagingState, to: StagingState) -> bool:
        """Replace the mark of one state by that of another; False if it has another state, as where another run was quicker."""
        try:
            if not self.system.exists(self.file(state)):
                return False
            self.system.rename(self.file(state), self.file(to))
        except FileNotFoundError:
            return False
        return True

    def start_commit(self) -> None:
        """Mark that the commit begins. Raises PipelineError if another run has taken the folder."""
        if not self.advance(StagingState.OPEN, StagingState.COMMITTING):
            raise _taken_by_another_run()

    def note_moved(self, names: Iterable[str]) -> None:
        """Write down the files that are about to be moved into the target."""
        self.write(MOVED, json.dumps(list(names)))

    def moved_files(self) -> list[str]:
        """Return the names of the files that the run was about to move into the target; none if that was not noted."""
        names: list[str] = json.loads(self.system.read(self.file(MOVED)) or "[]")
        return names

    def renew(self) -> None:
        """Note that the run is alive."""
        with contextlib.suppress(*self.system.errors):
            self.system.touch(self.file(RUN_FILE))

    def give_up(self) -> None:
        """Leave the folder to the next run, or to the next attempt of this one."""
        _LEFT.add(self.path)
        with contextlib.suppress(*self.system.errors):
            for state in (StagingState.OPEN, StagingState.COMMITTING):
                self.advance(state, StagingState.ABANDONED)

    def close(self) -> None:
        """Remove the folder, unless it was given up."""
        with contextlib.suppress(*self.system.errors):
            if self.path not in _LEFT and self.state is not StagingState.ABANDONED:
                self.remove()

    def remove(self) -> None:
        """Remove the folder, `run.json` last, so that the run is known as long as any of its files exists.

        What cannot be removed now, the next run removes.
        """
        _LEFT.add(self.path)
        with contextlib.suppress(*self.system.errors):
            for name in self.system.names(self.path):
                if name != RUN_FILE:
                    self.system.delete(self.file(name))
            self.system.delete(self.path)
            if not self.system.exists(self.path):
                _LEFT.discard(self.path)

    def claim_if_dead(self) -> bool:
        """Whether the run of the folder is dead; from then on it cannot commit."""
        state = self.state
        if state is StagingState.ABANDONED:
            return True
        if not self._is_dead(state):
            return False
        return state is not StagingState.OPEN or self.advance(state, StagingState.SWEPT)

    def _is_dead(self, state: StagingState | None) -> bool:
        """Whether the process of the run has ended, or has left the folder; if that is unknown, whether it was not renewed for an hour."""
        process = self.process
        if state is StagingState.COMMITTING:
            process = self.system.read(self.file(COMMITTER))
        if self.path in _LEFT:
            return True
        has_ended = None if process is None else is_gone(process)
        if has_ended is not None:
            return has_ended
        renewed = self.file(RUN_FILE)
        if state is None or not self.system.exists(renewed):
            renewed = self.path
        try:
            return (datetime.now(UTC) - self.system.modified(renewed)).total_seconds() > STALE_SECONDS
        except FileNotFoundError:
            return False

    def is_retained(self) -> bool:
        """Whether the folder has what the next attempt of its run goes on with, even if the run is dead."""
        try:
            age = datetime.now(UTC) - self.system.modified(self.file(FILLED))
        except FileNotFoundError:
            return False
        return age.total_seconds() < RETENTION_SECONDS


def _taken_by_another_run() -> PipelineError:
    """Return the error of a run whose folder another run has swept."""
    return PipelineError.uncommitted(ABANDONED_RUN, "another run considered this run dead", AGAIN)


@dataclass(frozen=True)
class StagingArea:
    """The staging folders of all runs into one target."""

    system: FileSystem
    target: str
    infix: str
    """What is between the target and the id of the run in the path of a folder."""
    is_exclusive: bool = False
    """Whether one run at a time may commit, and not only where rows are merged by key."""

    def new_folder(self, run: RunIdentity) -> StagingFolder:
        """Return the folder of a new attempt at a run, which is not made yet."""
        attempt = f"{run.id}.{run.process or ''}.{uuid.uuid4().hex[:8]}"
        return StagingFolder(self.system, f"{self.target}{self.infix}{attempt}")

    def folders(self, run_id: str | None = None) -> list[StagingFolder]:
        """Return the folders of all runs, or of all attempts at one."""
        run = "" if run_id is None else f"{run_id}."
        parent, _, beginning = f"{self.target}{self.infix}{run}".rpartition("/")
        names = [name for name in self.system.names(parent or "/") if name.startswith(beginning)]
        return [StagingFolder(self.system, f"{parent}/{name}") for name in names]

    def start_commit(self, folder: StagingFolder, run: RunIdentity) -> None:
        """Begin the commit of a run, and prevent conflicting ones: of another attempt of this run, or of any run if it has to be alone.

        Each run marks its commit before it looks for others, so one of two sees the other. Raises PipelineError for another
        attempt, for a run that does not come to its end, and if another run has taken the folder.
        """
        until = time.monotonic() + COMMITTED_WITHIN_SECONDS
        folder.write(COMMITTER, this_process())
        folder.start_commit()
        while others := [other for other in self.folders() if other != folder and _is_committing(other)]:
            owners = [other.run() for other in others]
            if any(other is not None and other.id == run.id for other in owners):
                raise overtaken(f"another attempt of the run `{run.id}` is being committed")
            modes = {run.mode, *(other.mode for other in owners if other is not None)}
            if not self.is_exclusive and Mode.UPSERT not in modes:
                return
            if time.monotonic() > until:
                raise overtaken(f"another run is being committed to `{self.target}`")
            # Both may have seen each other: the names of their folders, which are random, say who waits longer.
            folder.advance(StagingState.COMMITTING, StagingState.OPEN)
            time.sleep(LOOKED_EVERY_SECONDS * int(folder.path[-2:], 16) / 128)
            folder.start_commit()

    def fence(self, run: RunIdentity) -> None:
        """Keep earlier attempts of a run from committing, and this one where it has failed; one that is committing is waited for.

        Raises PipelineError for an attempt of a process that is known to be alive, or that does not come to its end.
        """
        until = time.monotonic() + COMMITTED_WITHIN_SECONDS
        for folder in self.folders(run.id):
            attempt = folder.run() or run
            is_alive = attempt.process is not None and is_gone(attempt.process) is False
            if folder.state is StagingState.OPEN and is_alive and attempt != run:
                message = f"the run `{run.id}` is under way in another process of this machine"
                raise PipelineError(CONCURRENT_RUN, message, "wait for its end")
            # This process is alive, and has given up its own attempt.
            fenced = StagingState.ABANDONED if attempt == run else StagingState.SWEPT
            folder.advance(StagingState.OPEN, fenced)
            while _is_committing(folder):
                if time.monotonic() > until:
                    message = f"another attempt of the run `{run.id}` is being committed"
                    raise PipelineError(CONCURRENT_RUN, message, "wait for its end, and run it again")
                time.sleep(LOOKED_EVERY_SECONDS)


def _is_committing(folder: StagingFolder) -> bool:
    """Whether a run that is alive is committing."""
    return folder.state is StagingState.COMMITTING and not folder.claim_if_dead()


def table_area(table: str) -> StagingArea:
    """Return the staging of a table in a folder of this machine: folders inside the table's, which no reader looks into."""
    return StagingArea(LocalFiles(), table, f"/{PREFIX}")


@contextmanager
def keep_alive(tables: Iterable[str], run: RunIdentity) -> Iterator[None]:
    """Renew the staging folders of a run in its tables for as long as the context lasts."""

    def renew_all() -> None:
        for folder in chain.from_iterable(table_area(table).folders(run.id) for table in tables):
            # Of this attempt of the run, or of one that cannot be distinguished from it.
            if folder.process == run.process:
                folder.renew()

    with heartbeat(RENEWED_SECONDS, renew_all):
        yield


@contextmanager
def heartbeat(seconds: float, beat: Callable[[], None]) -> Iterator[Thread]:
    """Call `beat` in a thread every `seconds`, for the first time after that many; the end of the context waits for a call under way."""
    ended = Event()

    def beat_until_end() -> None:
        while not ended.wait(seconds):
            beat()

    thread = Thread(target=beat_until_end, daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        ended.set()
        thread.join()


FOLDER_PREFIX, OWNER_FILE = "schemac-run-", "owner.txt"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder of this process; remove it at the end."""
    folder = _new_temporary_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def folder_of_process() -> Path:
    """Return a folder that goes with this process, for what goes on to its end, as Java does."""
    folder = _new_temporary_folder()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _new_temporary_folder() -> Path:
    """Make a folder that says whose it is, after those of processes that are gone were removed."""
    remove_orphaned_folders()
    folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
    (folder / OWNER_FILE).write_text(this_process())
    return folder


def remove_orphaned_folders() -> None:
    """Remove the folders of processes that are gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        with contextlib.suppress(OSError):
            if is_gone((folder / OWNER_FILE).read_text()):
                shutil.rmtree(folder, ignore_errors=True)
