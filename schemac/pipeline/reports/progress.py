"""Says how far a run is: what it does, or waits for, and how many records have come to the writer.

Layer: pipeline.
Shape: a `RunState` whenever something has changed; its records only ever grow. Tasks note their count next to the files that
       they stage, which is where the driver looks; the total is not known before the end, and no share is made up.
Units: records; `rate` is records a second since tasks began to write, 0 as long as it is not known.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from schemac.pipeline.codes import NO_EXECUTOR
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.spark.failures import LOGS
from schemac.rows.runs import staging
from schemac.rows.runs.staging import StagingState, heartbeat, table_area

NOTED_EVERY_SECONDS = 0.5
LOOKED_EVERY_SECONDS = 0.2
LONG_WAIT_SECONDS = 3.0
SHORTEST_SECONDS = 0.5
"""In less time no rate is to be had."""
WAIT_ADVICE = (
    "check that its workers are running, and have the cores and the memory that `spark.executor.cores` and"
    f" `spark.executor.memory` require; if executors start and die, {LOGS}"
)


class RunStep(StrEnum):
    """What a run does, in order."""

    LOOKING = "looking at the table"
    STARTING = "starting Spark"
    PLANNING = "reading the source's schema"
    WAITING = "waiting for an executor to take a task"
    WRITING = "reading, conforming, writing"
    COMMITTING = "waiting for the commit"
    VERIFYING = "comparing the table with its artifact"


ORDER = tuple(RunStep)


@dataclass(frozen=True)
class RunState:
    """How far a run is."""

    step: RunStep
    records: int = 0
    rate: float = 0.0


Progress = Callable[[RunState], None]


class TaskCount:
    """The count of one task, noted from time to time where the driver finds it."""

    def __init__(self, folder: str | None, task: int | None) -> None:
        self.path = None if folder is None or task is None else Path(folder, staging.NOTES, str(task))
        self.records = 0
        self.noted = 0.0

    def add(self, records: int) -> None:
        """Count records that have come."""
        self.records += records
        if time.monotonic() - self.noted > NOTED_EVERY_SECONDS:
            self.note()

    def note(self) -> None:
        """Write down how many have come; also at the end, when the last of them came a moment ago."""
        self.noted = time.monotonic()
        if self.path is not None:
            # A note that cannot be written is no reason to stop.
            with contextlib.suppress(OSError):
                self.path.parent.mkdir(exist_ok=True)
                self.path.write_text(str(self.records))


@dataclass
class Watch:
    """The last reported state; numbers never decrease."""

    notify: Progress
    tables: tuple[str, ...] = ()
    step: RunStep = RunStep.LOOKING
    counts: dict[str, int] = field(default_factory=dict)
    since: float | None = None

    def at(self, step: RunStep) -> None:
        """Set the current step; an earlier step is ignored."""
        self.step = max(self.step, step, key=ORDER.index)
        records = sum(self.counts.values())
        if self.since is None and (records or self.step is RunStep.WRITING):
            self.since = time.monotonic()
        seconds = 0.0 if self.since is None else time.monotonic() - self.since
        self.notify(RunState(self.step, records, records / seconds if seconds >= SHORTEST_SECONDS else 0.0))

    def end(self, records: int | None) -> None:
        """Take the number of all records in place of what was noted; None if it is not known."""
        if records is not None:
            self.counts = {"": max(records, sum(self.counts.values()))}

    def look(self, run: str) -> None:
        """Read the notes of the tasks."""
        for folder in chain.from_iterable(table_area(table).folders(run) for table in self.tables):
            with contextlib.suppress(OSError):
                for note in Path(folder.path, staging.NOTES).iterdir():
                    with contextlib.suppress(OSError, ValueError):
                        self.counts[note.name] = max(self.counts.get(note.name, 0), int(note.read_text()))
            if folder.state is StagingState.COMMITTING:
                self.step = max(self.step, RunStep.COMMITTING, key=ORDER.index)


@contextmanager
def watched(spark: SparkSession, run: str, watch: Watch, patience: float | None = None) -> Iterator[None]:
    """Report the progress of the run from a thread while Spark works.

    After `patience` seconds in which no executor has taken a task the run is cancelled. Raises PipelineError then.
    """
    try:
        spark.sparkContext.setJobGroup(run, "schemac run")
        tracker = spark.sparkContext.statusTracker()
    except Exception:  # noqa: BLE001  progress is told as far as it is known
        tracker = None
    began = time.monotonic()
    waiting_since: float | None = None
    is_over = False

    def look() -> None:
        nonlocal waiting_since, is_over
        watch.look(run)
        now = time.monotonic()
        step = _step(tracker, run, now - began)
        watch.at(step)
        waiting_since = (waiting_since or now) if step is RunStep.WAITING else None
        if patience is not None and waiting_since is not None and now - waiting_since >= patience:
            is_over = True
            spark.sparkContext.cancelJobGroup(run)

    watch.at(RunStep.PLANNING)
    try:
        with heartbeat(LOOKED_EVERY_SECONDS, look):
            yield
    except Exception as error:
        if is_over:
            message = f"no executor of `{spark.sparkContext.master}` took a task for {patience:g} seconds; nothing was written"
            help = f"{WAIT_ADVICE}; leave `waitForExecutors` out to wait for them"
            raise PipelineError(NO_EXECUTOR, message, help, place=("spark", "waitForExecutors")) from error
        raise
    finally:
        if tracker is not None:
            spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
            spark.sparkContext.setLocalProperty("spark.job.description", None)


def _step(tracker: Any | None, run: str, seconds: float) -> RunStep:
    """Return what Spark is doing, by the tasks of the run's jobs; WRITING if there is no tracker of them."""
    if tracker is None:
        return RunStep.WRITING
    try:
        numbers = tracker.getJobIdsForGroup(run)
        jobs = list(filter(None, map(tracker.getJobInfo, numbers)))
        ids = (number for job in jobs for number in job.stageIds)
        stages = list(filter(None, map(tracker.getStageInfo, ids)))
    except Exception:  # noqa: BLE001  the session may be going down; its own error is told elsewhere
        return RunStep.PLANNING
    if any(stage.numActiveTasks for stage in stages):
        return RunStep.WRITING
    is_done = all(job.status == "SUCCEEDED" for job in jobs)
    is_begun = any(stage.numCompletedTasks for stage in stages)
    is_waiting = bool(stages) and not is_done and not is_begun and seconds > LONG_WAIT_SECONDS
    return RunStep.WAITING if is_waiting else RunStep.PLANNING
