"""Runs one job: read, conform, write good and bad rows in one pass, verify, report.

Layer: pipeline.
Shape: a `Job`, an Arrow schema and the form of its table in; a `RunReport` out, whose counts come from what the
       tasks wrote. Nothing is committed when the run raises.
Errors: PipelineError for what the author can mend; anything else is Spark's, the engine's or ours.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa
from pyspark.sql import SparkSession

from schemac.pipeline.conforming.gather import Opened, conformed, records_read
from schemac.pipeline.conforming.preflight import check, check_places
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.format_run import run_into_format
from schemac.pipeline.reading.absent_path import AbsentPath, explained
from schemac.pipeline.reading.unchanged import Seen, changed_since, look
from schemac.pipeline.reports.progress import Progress, Step, Watch
from schemac.pipeline.reports.run_report import RunReport
from schemac.pipeline.reruns.incremental import news
from schemac.pipeline.reruns.repeats import (
    Identified,
    committed_nevertheless,
    fence_and_find_commit,
    identify,
)
from schemac.pipeline.reruns.replay import as_replayed, check_replay, open_quarantine
from schemac.pipeline.session import on_spark
from schemac.pipeline.writing.engine_write import write_to_engine
from schemac.pipeline.writing.sink_report import SinkReport
from schemac.pipeline.writing.table_sink import register_engine
from schemac.pipeline.writing.written_report import report_of
from schemac.rows.runs.identity import RunIdentity, random_id
from schemac.rows.runs.locations import is_local, local_path
from schemac.rows.runs.request import RunRequest
from schemac.rows.runs.staging import keep_alive
from schemac.rows.runs.tables import Sink, TableForm, sink_engine, sink_of

__all__ = ["Opened", "RunReport", "no_progress", "run"]


def run(
    job: Job,
    arrow_schema: pa.Schema,
    form: TableForm | None = None,
    *,
    request: RunRequest | None = None,
    progress: Progress | None = None,
    spark: SparkSession | None = None,
    opened: Opened | None = None,
) -> RunReport:
    """Run the job; paths are taken as they stand.

    `form` is what the engine makes of the schema where it is not given, `opened` gives what is read in place of the job's source.

    A run that was committed before is not committed again, unless the request says so (see `repeats`).
    """
    started, request = time.monotonic(), request or RunRequest()
    replay = request.replay
    if job.target.is_of_spark:
        if replay is not None:
            check_replay(job, replay)
        form = form or TableForm(arrow_schema)
        return run_into_format(job, arrow_schema, form, request, progress or no_progress, spark, started)
    form, sink = form or TableForm(arrow_schema), sink_of(job.target.format)
    places = [path for path in (job.target.path, job.quarantine_path) if is_local(path)]
    watch = Watch(progress or no_progress, tuple(local_path(path) for path in places))
    watch.at(Step.LOOKING)
    check_places(job)
    sink.recover(job.target.path, job.quarantine_path, job.storage_options)
    if replay is not None:
        job = as_replayed(job)
    # Before the run is named by what it reads.
    seen = look(path for part in job.parts for path in part.source.path if replay is None)
    identity, earlier = _identified(job, form, request, sink)
    if earlier is not None:
        return RunReport.of_earlier(earlier, job, time.monotonic() - started)
    check(job, arrow_schema, is_replay=replay is not None)
    version = check_replay(job, replay) if replay is not None else 0
    if replay is not None and not version:
        return RunReport.of_nothing(identity, job, sink, time.monotonic() - started)
    attempt = _Attempt(job, arrow_schema, form, identity, sink, request.is_batch)
    try:
        with on_spark(spark, job, identity, watch) as session, keep_alive(watch.tables, identity):
            register_engine(session, sink_engine(job.target.format).name)
            if replay is not None:
                opened = partial(open_quarantine, session, job, replay, version)
            attempt.carry_out(session, opened, seen, version)
    except PipelineError as error:
        attempt.stopped = changed_since(explained(error, attempt.absent), seen)
    return attempt.report(watch, started)


@dataclass
class _Attempt:
    """One attempt of a run, and what is known of it: Spark may stop after its commit."""

    job: Job
    schema: pa.Schema
    form: TableForm
    identity: RunIdentity
    sink: Sink
    is_part: bool = False
    """Whether the source has other records, which other runs read."""
    numbers: SinkReport | None = None
    rows_in: int | None = None
    absent: Sequence[AbsentPath] = ()
    is_of_nothing: bool = False
    stopped: PipelineError | None = None

    def carry_out(self, spark: SparkSession, opened: Opened | None, seen: Seen, replay: int) -> None:
        """Do all that needs Spark; `replay` is the version of the quarantine that is read, 0 if none is."""
        job, properties = self.job, dict[str, str]()
        if not replay:
            new_input = news(spark, job, self.sink)
            if new_input.job is None:
                self.is_of_nothing = True
                return
            job, properties = new_input.job, new_input.properties
            self.is_part = self.is_part or new_input.is_rest
        may_pack = not job.target.is_through_connector
        gathered = conformed(spark, job, self.schema, opened, may_pack=may_pack)
        self.absent = gathered.absent
        gathered.check_lists(is_part=self.is_part)
        self.numbers = write_to_engine(
            gathered.frame, job, self.form, self.identity, seen, properties, replay
        )
        if not self.numbers.is_repeat:
            self.rows_in = records_read(gathered.counts)

    def report(self, watch: Watch, started: float) -> RunReport:
        """Tell what the table has of the attempt. Raises what stopped it where that is nothing."""
        job, sink, storage = self.job, self.sink, self.job.storage_options
        if self.stopped is not None:
            committed = committed_nevertheless(self.stopped, self.identity, job, sink)
            if committed.identity != self.identity:
                return RunReport.of_earlier(committed, job, time.monotonic() - started)
        elif self.is_of_nothing:
            return RunReport.of_nothing(self.identity, job, sink, time.monotonic() - started)
        elif self.numbers is not None and self.numbers.is_repeat:
            committed_run = sink.find_run(self.identity, job.target.path, storage)
            assert committed_run is not None
            return RunReport.of_earlier(committed_run, job, time.monotonic() - started)
        watch.end(self.rows_in)
        watch.at(Step.VERIFYING)
        differences = sink.differences(job.target.path, self.form, storage)
        if self.stopped is None:
            assert self.numbers is not None
            run_report = report_of(self.numbers, job, self.identity, self.rows_in, differences, started)
            return replace(run_report, absent=tuple(self.absent))
        numbers = self.numbers or SinkReport.of_commit(committed)
        run_report = report_of(numbers, job, self.identity, self.rows_in, differences, started)
        return replace(run_report, stopped=self.stopped.message, absent=tuple(self.absent))


def no_progress(*_: object) -> None:
    """Nobody watches."""


def _identified(job: Job, form: TableForm, request: RunRequest, sink: Sink) -> Identified:
    """Identify the run; earlier attempts of it that go on without their driver cannot commit from then on."""
    if request.replay is not None and not (request.id or request.interval):
        # What a replay reads changes with each: what fits is gone from there.
        request = RunRequest(random_id())
    identified = identify(job, form, request, sink)
    if identified.earlier is not None:
        return identified
    table, quarantine = job.target.path, job.quarantine_path
    return identified._replace(
        earlier=fence_and_find_commit(identified.identity, table, quarantine, sink, job.storage_options)
    )
