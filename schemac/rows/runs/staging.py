"""Folders of runs that have not been committed: staging folders, their marks and heartbeats, and temporary folders.

Does something again and again, from a thread of its own, for as long as a run goes on.

Layer: rows.
Shape: a folder `_staging-<run>-<number>` inside the table's, which no reader looks into. It holds `run.json`, the identity of the run;
      a mark that says how far the run is; and, from the commit on, the names of the files that are moved in. The mark is `.open` while
      tasks write and `.committing` afterwards. Either the run that commits takes `.open`, or the run that sweeps does, because the file
      can be renamed once: nothing is swept under a commit.
      A temporary folder that does not outlive its process, however that ends: `schemac-run-*` folders where the system has its
      temporary files; each says whose it is, and whoever needs one removes those of processes that are gone.
Rule: a run is dead if its process is gone. Of a process on another machine, or one that is not known, only its mark tells: it is
      renewed every `RENEWED_SECONDS`, and after `STALE_SECONDS` the run is taken for dead. A run that is swept by mistake fails before
      its commit, and says so.
"""

import atexit
import contextlib
import functools
import json
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Self

from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.identity import Mode, RunIdentity, is_gone, this_process
from schemac.text.source.catalogue import ABANDONED_RUN, CONCURRENT_RUN


class Heartbeat:
    """A context that calls `beat` every `seconds`, for the first time after that many; its end waits for a call under way."""

    def __init__(self, seconds: float, beat: Callable[[], None]) -> None:
        self.seconds = seconds
        self.beat = beat
        self._ended = Event()
        self._thread = Thread(target=self._beat_until_end, daemon=True)

    def _beat_until_end(self) -> None:
        """Call `beat` every `seconds` until the context ends; runs in the thread."""
        while not self._ended.wait(self.seconds):
            self.beat()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()


PREFIX = "_staging-"
GONE, MAKING = f"{PREFIX}gone.", f"{PREFIX}making."
OPEN, COMMITTING, SWEPT, ABANDONED = ".open", ".committing", ".swept", ".given-up"
RUN_FILE, TABLE_FILE, COMMITTER = "run.json", "table.txt", "committer.txt"
MOVED, NOTES = "moved.json", "progress"
RENEWED_SECONDS = 20.0
STALE_SECONDS = 3600.0
FILLED = "filled"
"""A folder in the staging folder of a run that fills columns: what it has computed outlives it."""
RETENTION_SECONDS = 7 * 24 * 3600.0
COMMITTED_WITHIN_SECONDS = 60.0
LOOKED_EVERY_SECONDS = 0.1
CONSIDERED_DEAD = "another run considered this run dead"
AGAIN = "run it again"
JOIN = f"{AGAIN}; with `mode: append` under `target` its rows are added to the others"
"""Where another run has created what this one was to make."""


def new_folder(table: str, run: RunIdentity) -> str:
    """Return a new path for the staging folder of a run."""
    return os.path.join(table, f"{PREFIX}{run.id}-{uuid.uuid4().hex[:8]}")


def folders_of(table: str) -> list[Path]:
    """Return the staging folders of all runs into a table."""
    try:
        return sorted(path for path in Path(table).iterdir() if path.name.startswith(PREFIX))
    except OSError:
        return []


def open_mark(folder: str, run: RunIdentity, table: str = "") -> None:
    """Make the staging folder of a run, with the identity of the run and the mark that tasks may write.

    In a quarantine, which several tables may share, `table` is that of the run, seen from the quarantine.
    """
    making = os.path.join(os.path.dirname(folder), f"{MAKING}{this_process()}.{uuid.uuid4().hex[:8]}")
    try:
        os.makedirs(Path(making, NOTES), exist_ok=True)
        Path(making, RUN_FILE).write_text(run.to_json())
        Path(making, TABLE_FILE).write_text(table)
        Path(making, OPEN).touch()
        os.rename(making, folder)
    except OSError:
        # As long as this process lives, nobody else takes the folder for one of a dead run.
        shutil.rmtree(making, ignore_errors=True)
        raise


def is_open(folder: str) -> bool:
    """Whether tasks may still write."""
    return Path(folder, OPEN).exists()


def is_claimed(folder: str) -> bool:
    """Whether its commit has begun."""
    return Path(folder, COMMITTING).exists()


def renew(folder: str) -> None:
    """Set the time of a folder's mark to now, which says that the run is alive."""
    with contextlib.suppress(OSError):
        os.utime(Path(folder, OPEN))


def start_commit(folder: str, moved: list[str]) -> None:
    """Mark that the commit begins; `moved` are the data files that will lie in the table. Raises PipelineError if another run has taken the folder."""
    try:
        Path(folder, COMMITTER).write_text(this_process())
        note_moved(folder, moved)
    except FileNotFoundError as error:
        raise PipelineError.uncommitted(ABANDONED_RUN, CONSIDERED_DEAD, AGAIN) from error
    _mark_commit(folder)


def note_moved(folder: str, moved: list[str]) -> None:
    """Write down the data files that are about to be moved into the table."""
    Path(folder, MOVED).write_text(json.dumps(moved))


def _mark_commit(folder: str) -> None:
    """Turn the mark of an open folder into that of a commit. Raises PipelineError if another run has taken the folder."""
    try:
        os.rename(Path(folder, OPEN), Path(folder, COMMITTING))
    except FileNotFoundError as error:
        raise PipelineError.uncommitted(ABANDONED_RUN, CONSIDERED_DEAD, AGAIN) from error


def give_up(folder: str) -> None:
    """Mark a folder whose commit may have left rows, so that the next run takes them back."""
    with contextlib.suppress(OSError):
        os.rename(Path(folder, COMMITTING), Path(folder, ABANDONED))


def reopen(folder: str) -> None:
    """Mark that the commit has not begun after all, since other runs were quicker."""
    os.rename(Path(folder, COMMITTING), Path(folder, OPEN))


def leave(folder: str) -> None:
    """Mark a folder as one that the next attempt of its run goes on with."""
    for mark in (OPEN, COMMITTING):
        with contextlib.suppress(OSError):
            os.rename(Path(folder, mark), Path(folder, ABANDONED))


def is_retained(folder: Path) -> bool:
    """Whether a folder holds what the next attempt of its run goes on with, even if the run is dead."""
    filled = folder / FILLED
    try:
        return not folder.name.startswith(GONE) and time.time() - filled.stat().st_mtime < RETENTION_SECONDS
    except OSError:
        return False


def is_abandoned(folder: str) -> bool:
    """Whether the folder is left to the next run."""
    return Path(folder, ABANDONED).exists()


def folders_of_run(table: str, run: RunIdentity) -> Iterator[Path]:
    """Yield the staging folders of all attempts of a run."""
    for folder in folders_of(table):
        owner = run_of_folder(folder)
        if owner is not None and owner.id == run.id:
            yield folder


def wait_for_others(folder: str, table: str, run: RunIdentity) -> None:
    """Prevent conflicting commits: of another attempt of this run, or of any run if rows are merged by key.

    Each run marks its commit before it looks for others, so one of two sees the other. Raises PipelineError for another
    attempt, and for a run that does not come to its end.
    """
    until = time.monotonic() + COMMITTED_WITHIN_SECONDS
    while others := [
        other
        for other in folders_of(table)
        if other != Path(folder) and (other / COMMITTING).exists() and not claim_if_dead(other)
    ]:
        owners = [run_of_folder(other) for other in others]
        if any(other is not None and other.id == run.id for other in owners):
            message = f"another attempt of the run `{run.id}` is being committed"
            raise PipelineError.uncommitted(CONCURRENT_RUN, message, AGAIN)
        modes = {run.mode, *(other.mode for other in owners if other is not None)}
        if Mode.UPSERT not in modes:
            return
        if time.monotonic() > until:
            raise PipelineError.uncommitted(
                CONCURRENT_RUN, f"another run is being committed to `{table}`", AGAIN
            )
        # Both may have seen each other: the names of their folders, which are random, say who waits longer.
        os.rename(Path(folder, COMMITTING), Path(folder, OPEN))
        time.sleep(LOOKED_EVERY_SECONDS * int(folder[-2:], 16) / 128)
        _mark_commit(folder)


def fence(table: str, run: RunIdentity) -> None:
    """Keep earlier attempts of a run from committing, and this one where it has failed; one that is committing is waited for.

    Raises PipelineError for an attempt of a process that is known to be alive, or that does not come to its end.
    """
    until = time.monotonic() + COMMITTED_WITHIN_SECONDS
    for folder in folders_of_run(table, run):
        attempt = run_of_folder(folder) or run
        is_alive = attempt.process is not None and is_gone(attempt.process) is False
        if is_open(str(folder)) and is_alive and attempt != run:
            message = f"the run `{run.id}` is under way in another process of this machine"
            raise PipelineError(CONCURRENT_RUN, message, "wait for its end")
        with contextlib.suppress(OSError):
            # This process is alive, and has given up its own attempt.
            os.rename(folder / OPEN, folder / (ABANDONED if attempt == run else SWEPT))
        while (folder / COMMITTING).exists() and not claim_if_dead(folder):
            if time.monotonic() > until:
                message = f"another attempt of the run `{run.id}` is being committed"
                raise PipelineError(CONCURRENT_RUN, message, "wait for its end, and run it again")
            time.sleep(LOOKED_EVERY_SECONDS)


def moved_files(folder: str | Path) -> list[str]:
    """Return the names of the data files that the run was about to move into the table; none if that was not noted."""
    try:
        names: list[str] = json.loads(Path(folder, MOVED).read_text())
    except (OSError, ValueError):
        return []
    return names


def _read_or_none(folder: Path, name: str) -> str | None:
    """Return the text of a file in a staging folder; None if it cannot be read."""
    try:
        return (folder / name).read_text()
    except OSError:
        return None


def run_of_folder(folder: Path) -> RunIdentity | None:
    """Return the run that a staging folder is of; None if the folder is being removed, or cannot be read."""
    if folder.name.startswith(GONE):
        return None
    try:
        return RunIdentity.parse((folder / RUN_FILE).read_text())
    except (OSError, ValueError, KeyError, PipelineError):
        return None


def table_of(folder: Path) -> str:
    """Read the table of the run, seen from the dataset that the folder is in; empty if it is that dataset."""
    return _read_or_none(folder, TABLE_FILE) or ""


def claim_if_dead(folder: Path) -> bool:
    """Whether the run of the folder is dead; from then on it cannot commit."""
    if folder.name.startswith(GONE) or is_abandoned(str(folder)):
        return True
    if folder.name.startswith(MAKING):
        return bool(is_gone(folder.name.removeprefix(MAKING).partition(".")[0]))
    if (folder / COMMITTING).exists():
        return _is_dead(_read_or_none(folder, COMMITTER), folder / COMMITTING)
    run = run_of_folder(folder)
    mark = folder / OPEN
    if not mark.exists():
        # Either it is just being made, or being removed.
        return _is_dead(run.process if run else None, folder)
    if not _is_dead(run.process if run else None, mark):
        return False
    try:
        os.rename(mark, folder / SWEPT)
    except OSError:
        return False
    return True


def _is_dead(process: str | None, mark: Path) -> bool:
    """Whether a process has ended; if that is unknown, whether its mark was not renewed for an hour."""
    has_ended = None if process is None else is_gone(process)
    if has_ended is not None:
        return has_ended
    try:
        return time.time() - mark.stat().st_mtime > STALE_SECONDS
    except OSError:
        return False


def remove(folder: str | Path) -> None:
    """Remove the folder with everything in it; its first step is its last as a run's."""
    gone = os.path.join(os.path.dirname(folder), f"{GONE}{uuid.uuid4().hex}")
    try:
        os.rename(folder, gone)
    except OSError:
        gone = str(folder)
    shutil.rmtree(gone, ignore_errors=True)


@contextmanager
def keep_alive(tables: Iterable[str], run: RunIdentity) -> Iterator[None]:
    """Renew the marks of a run in its tables for as long as the context lasts."""

    def renew_all() -> None:
        for folder in chain.from_iterable(map(folders_of, tables)):
            if folder.name.startswith(f"{PREFIX}{run.id}-"):
                # Of this attempt of the run, or of one that cannot be distinguished from it.
                owner = run_of_folder(folder)
                if owner is None or owner.process == run.process:
                    renew(str(folder))

    with Heartbeat(RENEWED_SECONDS, renew_all):
        yield


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
