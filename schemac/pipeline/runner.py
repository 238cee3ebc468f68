"""The run of one job, into a table of an engine or a format of Spark, and its report.

Layer: pipeline.
Shape: a `Job`, an Arrow schema and the form of its table in; a `RunReport` out, whose counts come from what the tasks wrote. Nothing is
       committed when the run raises.
Errors: PipelineError for what the author can mend; anything else is Spark's, the engine's or ours.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa
from pyspark.sql import SparkSession

from schemac.pipeline.conforming.gather import Opened, conformed, records_read
from schemac.pipeline.conforming.load import check, check_places
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import AbsentPath, PipelineError, explained
from schemac.pipeline.reading.paths import Seen, changed_since, look
from schemac.pipeline.reports.progress import Progress, Step, Watch
from schemac.pipeline.reports.run_report import RunReport, top_reasons
from schemac.pipeline.reruns.incremental import news
from schemac.pipeline.reruns.repeats import (
    begin,
    committed_in_format,
    committed_nevertheless,
    identify_among,
    unnamed,
)
from schemac.pipeline.reruns.replay import as_replayed, check_replay, open_quarantine
from schemac.pipeline.session import on_spark, session_of, settings_of_a_run
from schemac.pipeline.spark.failures import spark_errors_reported
from schemac.pipeline.writing.engine_write import write_to_engine
from schemac.pipeline.writing.file_runs import local_address
from schemac.pipeline.writing.format_sink import FormatTarget, recovered
from schemac.pipeline.writing.sink_options import SinkReport
from schemac.pipeline.writing.table_sink import register_engine
from schemac.rows.runs.identity import Replay, RunIdentity, RunRequest
from schemac.rows.runs.staging import keep_alive, sweep
from schemac.rows.runs.storage import is_local, local_path, storage_in_use
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
    """Run the job; paths are used unchanged.

    `form` is by default the engine's form of the schema; `opened` returns the input in place of the job's source.

    A run that was committed before is not committed again, unless the request says so (see `repeats`).
    """
    started, request, form = time.monotonic(), request or RunRequest(), form or TableForm(arrow_schema)
    replay, version = request.replay, 0
    # A run that was committed already needs no folder of its own.
    sweep()
    if job.target.is_of_spark:
        if replay is not None:
            check_replay(job, replay)
        return _run_into_format(
            job, arrow_schema, form, request, Watch(progress or no_progress), spark, started
        )
    sink = sink_of(job.target.format)
    places = [path for path in (job.target.path, job.quarantine_path) if is_local(path)]
    watch = Watch(progress or no_progress, tuple(local_path(path) for path in places))
    watch.at(Step.LOOKING)
    check_places(job)
    sink.recover(job.target.path, job.quarantine_path, job.storage_options)
    if replay is not None:
        job = as_replayed(job)
    # Before the run is named by what it reads.
    seen = look(path for part in job.parts for path in part.source.path if replay is None)
    identity, earlier = begin(job, form, request, sink)
    if earlier is not None:
        return RunReport.of_earlier(earlier, job, time.monotonic() - started)
    check(job, arrow_schema, is_replay=replay is not None)
    if replay is not None:
        version = check_replay(job, replay)
        if not version:
            return RunReport.of_nothing(identity, job, sink, time.monotonic() - started)
    attempt = _EngineAttempt(
        job, arrow_schema, identity, seen, watch, started,
        form=form, sink=sink, opened=opened, replay=replay, version=version, is_part=request.is_batch,
    )  # fmt: skip
    return attempt.run(spark, watch.tables)


def _run_into_format(
    job: Job,
    schema: pa.Schema,
    form: TableForm,
    request: RunRequest,
    watch: Watch,
    spark: SparkSession | None,
    started: float,
) -> RunReport:
    """Run a job whose target is files, or a table of a connector; only a folder of files records its runs."""
    watch.at(Step.LOOKING)
    check_places(job)
    seen = look(path for part in job.parts for path in part.source.path)
    folder = None
    if job.target.is_of_files:
        watch.at(Step.STARTING)
        spark = session_of(spark, job)
        with spark_errors_reported(), storage_in_use(job.storage_options), settings_of_a_run(spark, job):
            runs = recovered(spark, job)
            records = runs.records()
            identified = identify_among(
                job, form, request, [one.run for one in records], runs.version(records)
            )
        if identified.earlier is None:
            sink_of(None).fence(identified.identity, (job.quarantine_path,))
        folder, (identity, earlier) = local_address(runs.path), identified
        if earlier is not None:
            return RunReport.of_earlier(earlier, job, time.monotonic() - started)
    else:
        identity = unnamed(job, form, request)
    check(job, schema)
    places = [local_path(path) for path in (job.quarantine_path,) if is_local(path)]
    return _FormatAttempt(job, schema, identity, seen, watch, started, folder=folder).run(spark, places)


@dataclass
class _Attempt(ABC):
    """One attempt of a run, and what is known of it: Spark may stop after its commit."""

    job: Job
    schema: pa.Schema
    identity: RunIdentity
    seen: Seen
    watch: Watch
    started: float
    numbers: SinkReport | None = None
    rows_in: int | None = None
    absent: Sequence[AbsentPath] = ()
    reader: str | None = None
    stopped: PipelineError | None = None

    def run(self, spark: SparkSession | None, tables: Iterable[str]) -> RunReport:
        """Carry it out, and report what the target has of it; marks of the run in `tables` are renewed meanwhile.

        Raises what stopped it where the target has nothing.
        """
        try:
            with (
                on_spark(spark, self.job, self.identity, self.watch) as session,
                keep_alive(tables, self.identity),
            ):
                self.carry_out(session)
        except PipelineError as error:
            self.stopped = changed_since(explained(error, self.absent), self.seen)
        return self.report()

    @abstractmethod
    def carry_out(self, spark: SparkSession) -> None:
        """Do all that needs Spark."""

    @abstractmethod
    def report(self) -> RunReport:
        """Report what the target has of the attempt. Raises the error that stopped it if the target has nothing."""

    def report_of(self, numbers: SinkReport, differences: Sequence[str]) -> RunReport:
        """Report what was written, and what stopped the run afterwards; uncounted records are a difference too."""
        job, written, quarantined = self.job, numbers.rows_written, numbers.rows_quarantined
        others = numbers.superseded + numbers.deleted
        counted = written + quarantined + others
        # Spark may have lost the count of those that were read.
        rows_in = counted if self.rows_in is None else self.rows_in
        if rows_in != counted:
            counts_text = f"records read: {rows_in}, {written} written and {quarantined} quarantined"
            others_text = f", {others} superseded or deleting" if others else ""
            differences = (*differences, counts_text + others_text)
        return RunReport(
            run=self.identity.id,
            identity=self.identity,
            rows_in=rows_in,
            rows_written=written,
            rows_quarantined=quarantined,
            reasons=top_reasons(numbers.reasons),
            seconds=time.monotonic() - self.started,
            table_path=job.target.path,
            table_version=numbers.version,
            quarantine_path=job.quarantine_path if quarantined else None,
            quarantine_version=numbers.quarantine_version,
            differences=tuple(differences),
            superseded=numbers.superseded,
            deleted=numbers.deleted,
            warnings=top_reasons(numbers.warnings),
            absent=tuple(self.absent),
            reader=self.reader,
            stopped=None if self.stopped is None else self.stopped.message,
        )


@dataclass(kw_only=True)
class _EngineAttempt(_Attempt):
    """One whose target is a table of an engine."""

    form: TableForm
    sink: Sink
    opened: Opened | None
    replay: Replay | None
    version: int
    """Of the quarantine that is read; 0 if none is."""
    is_part: bool
    """Whether the source has other records, which other runs read."""
    is_of_nothing: bool = False

    def carry_out(self, spark: SparkSession) -> None:
        job, opened, properties = self.job, self.opened, dict[str, str]()
        register_engine(spark, sink_engine(job.target.format).name)
        if self.replay is not None:
            opened = partial(open_quarantine, spark, job, self.replay, self.version)
        else:
            new_input = news(spark, job, self.sink)
            if new_input.job is None:
                self.is_of_nothing = True
                return
            job, properties = new_input.job, new_input.properties
            self.is_part = self.is_part or new_input.is_rest
        may_pack = not job.target.is_through_connector
        records = conformed(spark, job, self.schema, opened, may_pack=may_pack)
        self.absent, self.reader = records.absent, records.reader
        records.check_lists(is_part=self.is_part)
        self.numbers = write_to_engine(
            records.frame, job, self.form, self.identity, self.seen, properties, self.version
        )
        if not self.numbers.is_repeat:
            self.rows_in = records_read(records.counts)

    def report(self) -> RunReport:
        job, sink, storage, numbers = self.job, self.sink, self.job.storage_options, self.numbers
        if self.stopped is not None:
            committed = committed_nevertheless(self.stopped, self.identity, job, sink)
            if committed.identity != self.identity:
                return RunReport.of_earlier(committed, job, time.monotonic() - self.started)
            numbers = numbers or SinkReport.of_commit(committed)
        elif self.is_of_nothing:
            return RunReport.of_nothing(self.identity, job, sink, time.monotonic() - self.started)
        elif numbers is not None and numbers.is_repeat:
            committed_run = sink.find_run(self.identity, job.target.path, storage)
            assert committed_run is not None
            return RunReport.of_earlier(committed_run, job, time.monotonic() - self.started)
        assert numbers is not None
        self.watch.end(self.rows_in)
        self.watch.at(Step.VERIFYING)
        return self.report_of(numbers, sink.differences(job.target.path, self.form, storage))


@dataclass(kw_only=True)
class _FormatAttempt(_Attempt):
    """One whose target is in a format of Spark."""

    folder: str | None
    """The folder of files in full; None if the target is a table of a connector."""
    differences: tuple[str, ...] | None = None
    is_undecided: bool = False
    """Whether the commit failed so that nobody could see what came of it."""

    def carry_out(self, spark: SparkSession) -> None:
        records = conformed(spark, self.job, self.schema, None)
        records.check_lists(is_part=False)
        self.absent, self.reader = records.absent, records.reader
        target = FormatTarget(spark, self.job, self.identity)
        keys = [field.name for field in self.schema if not field.nullable]
        try:
            self.numbers = target.write(records.frame, keys, self.seen)
        finally:
            self.is_undecided = target.is_undecided
        self.differences = target.differences(records.frame)
        self.rows_in = records_read(records.counts)

    def report(self) -> RunReport:
        numbers, stopped = self.numbers, self.stopped
        if numbers is None:
            assert stopped is not None
            committed = committed_in_format(stopped, self.identity, self.folder, self.job, self.is_undecided)
            numbers = SinkReport.of_commit(committed)
        run_report = self.report_of(numbers, self.differences or ())
        return replace(run_report, is_compared=stopped is None or self.differences is not None)


def no_progress(*_: object) -> None:
    """Report no progress."""
