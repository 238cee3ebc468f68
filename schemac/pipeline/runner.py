"""The run of one job, into a table of an engine, columns of one, or a format of Spark, and its report.

Layer: pipeline.
Shape: a `Job`, an Arrow schema and the form of its table in; a `RunReport` out, whose counts come from what the tasks wrote. Nothing is
       committed when the run raises. A backfill is committed by the driver, so that a Spark that outlives it cannot; what it computes is
       kept until then: a run that dies goes on there, and so does one that finds rows that others have written in the meantime.
Errors: PipelineError for what the author can mend; anything else is Spark's, the engine's or ours. SC688 unfit-values with counts and
        reasons, after which nothing of a backfill is kept.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import pyarrow as pa
from pyspark.sql import SparkSession

from schemac.pipeline.backfill.frame import BackfillFrames
from schemac.pipeline.backfill.task import UNMATCHED, Counts, FillTask
from schemac.pipeline.conforming.gather import Opened, conform_sources, records_read
from schemac.pipeline.conforming.load import check, check_places
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import AbsentPath, PipelineError, with_likely_cause
from schemac.pipeline.reading.paths import FileStates, changed_since, check_files_unchanged, file_states
from schemac.pipeline.reports.progress import Progress, RunStep, Watch
from schemac.pipeline.reports.run_report import RunReport
from schemac.pipeline.reruns.incremental import find_new_input
from schemac.pipeline.reruns.repeats import (
    commit_in_spite_of,
    committed_in_format,
    fingerprint,
    identify_among,
    identify_and_fence,
    identify_unrecorded,
)
from schemac.pipeline.reruns.replay import as_replayed, check_replay, open_quarantine
from schemac.pipeline.session import on_spark, session_of, settings_of_a_run
from schemac.pipeline.spark.executors import collected
from schemac.pipeline.spark.failures import spark_errors_reported
from schemac.pipeline.writing.engine_write import write_to_engine
from schemac.pipeline.writing.file_runs import file_errors_reported, local_address
from schemac.pipeline.writing.format_sink import FormatTarget, recover_runs
from schemac.pipeline.writing.sink_options import SinkReport
from schemac.pipeline.writing.table_sink import register_formats
from schemac.rows.judging.settings import ReasonCount
from schemac.rows.runs.columns import COLUMN_SINK, ColumnSink, FilledColumns, Filling, Look
from schemac.rows.runs.history import COLUMNS, QUARANTINED, ROWS, CommittedRun
from schemac.rows.runs.identity import Replay, RunIdentity, RunRequest, random_id
from schemac.rows.runs.staging import keep_alive, remove_orphaned_folders
from schemac.rows.runs.storage import is_local, local_path, storage_in_use
from schemac.rows.runs.tables import Sink, TableForm, sink_of
from schemac.text.source.catalogue import (
    BACKFILL_SETTING,
    CHANGED_INPUT,
    CONCURRENT_RUN,
    INVALID_CONSTANT,
    INVALID_EXPRESSION,
    JOIN,
    PYTHON_FUNCTION,
    UNFIT_VALUES,
)

__all__ = ["Opened", "RunReport", "run"]

MOST_REASONS, MOST_REASONS_IN_A_MESSAGE = 20, 5


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
    replay, version, is_of_format = request.replay, 0, job.target.is_of_spark and not job.is_backfill
    # A run that was committed already needs no folder of its own.
    remove_orphaned_folders()
    if replay is not None and (is_of_format or job.is_backfill):
        check_replay(job, replay)
    quarantine = None if job.is_backfill else job.quarantine_path
    paths = [path for path in (job.target.path, quarantine) if path is not None and is_local(path)]
    watch = Watch(progress or (lambda _: None), () if is_of_format else tuple(map(local_path, paths)))
    watch.at(RunStep.LOOKING)
    if job.is_backfill:
        check(job, arrow_schema)
    else:
        check_places(job)
    if is_of_format:
        return _run_into_format(job, arrow_schema, form, request, watch, spark, started)
    sink = sink_of(job.target.engine.name)
    sink.recover(job.target.path, quarantine, job.storage_options)
    if replay is not None:
        job = as_replayed(job)
    # Before the run is named by what it reads.
    seen = {} if replay is not None else _input_states(job)
    identity, earlier = identify_and_fence(job, form, request, sink)
    if earlier is not None:
        return report_of_earlier(job, earlier, started)
    if job.is_backfill:
        columns = COLUMN_SINK.of(job.target.engine)
        backfill = _BackfillAttempt(
            job, arrow_schema, identity, seen, watch, started, form=form, sink=sink, columns=columns
        )
        return backfill.run(spark, watch.tables)
    check(job, arrow_schema, is_replay=replay is not None)
    if replay is not None:
        version = check_replay(job, replay)
        if not version:
            return _report_without_input(job, identity, sink, started)
    attempt = _EngineAttempt(
        job, arrow_schema, identity, seen, watch, started,
        form=form, sink=sink, opened=opened, replay=replay, version=version, is_part=request.is_batch,
    )  # fmt: skip
    return attempt.run(spark, watch.tables)


def _input_states(job: Job) -> FileStates:
    """Return the states of the files that a job reads, which for a backfill are those of its joins."""
    sources = job.joins.values() if job.is_backfill else [part.source for part in job.parts]
    return file_states(path for source in sources for path in source.path)


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
    seen, folder = _input_states(job), None
    if job.target.is_of_files:
        watch.at(RunStep.STARTING)
        spark = session_of(spark, job)
        with (
            spark_errors_reported(),
            file_errors_reported(),
            storage_in_use(job.storage_options),
            settings_of_a_run(spark, job),
        ):
            runs = recover_runs(spark, job)
            records = runs.records()
            identified = identify_among(
                job, form, request, [one.run for one in records], runs.version(records)
            )
        if identified.earlier is None:
            sink_of(None).fence(identified.identity, (job.quarantine_path,))
        folder, (identity, earlier) = local_address(runs.path), identified
        if earlier is not None:
            return report_of_earlier(job, earlier, started)
    else:
        identity = identify_unrecorded(job, form, request)
    check(job, schema)
    places = [local_path(path) for path in (job.quarantine_path,) if is_local(path)]
    return _FormatAttempt(job, schema, identity, seen, watch, started, folder=folder).run(spark, places)


@dataclass
class _Attempt(ABC):
    """One attempt of a run; it knows what was written if Spark stops after the commit."""

    place_of_files: ClassVar[tuple[str, ...]] = ("source", "path")
    """The setting that names the files that are read."""
    job: Job
    schema: pa.Schema
    identity: RunIdentity
    seen: FileStates
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
            self.stopped = changed_since(
                with_likely_cause(error, self.absent), self.seen, self.place_of_files
            )
        return self.report()

    @abstractmethod
    def carry_out(self, spark: SparkSession) -> None:
        """Do all that needs Spark, and keep the numbers of what was written."""

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
        return replace(
            _report(job, self.identity, numbers, self.started),
            rows_in=rows_in,
            differences=tuple(differences),
            absent=tuple(self.absent),
            reader=self.reader,
            stopped=None if self.stopped is None else self.stopped.message,
        )


def _report(job: Job, identity: RunIdentity, numbers: SinkReport, started: float) -> RunReport:
    """Return the report of a run by what it wrote."""
    written, quarantined = numbers.rows_written, numbers.rows_quarantined
    return RunReport(
        run=identity.id,
        identity=identity,
        rows_in=written + quarantined + numbers.superseded + numbers.deleted,
        rows_written=written,
        rows_quarantined=quarantined,
        reasons=numbers.reasons[:MOST_REASONS],
        seconds=time.monotonic() - started,
        table_path=job.target.path,
        table_version=numbers.version,
        quarantine_path=job.quarantine_path if quarantined else None,
        quarantine_version=numbers.quarantine_version,
        differences=(),
        is_repeat=numbers.is_repeat,
        superseded=numbers.superseded,
        deleted=numbers.deleted,
        warnings=numbers.warnings[:MOST_REASONS],
    )


def report_of_earlier(job: Job, earlier: CommittedRun, started: float) -> RunReport:
    """Report a run that was committed before."""
    return _report(job, earlier.identity, replace(SinkReport.of_commit(earlier), is_repeat=True), started)


def _report_without_input(job: Job, identity: RunIdentity, sink: Sink, started: float) -> RunReport:
    """Report a run that finds nothing to read: no quarantine to replay, no new file."""
    table = sink.find(job.target.path, job.storage_options)
    return _report(job, identity, SinkReport(0, 0, (), 0 if table is None else table.version), started)


@dataclass(kw_only=True)
class _EngineAttempt(_Attempt):
    """An attempt whose target is a table of an engine."""

    form: TableForm
    sink: Sink
    opened: Opened | None
    replay: Replay | None
    version: int
    """Of the quarantine that is read; 0 if none is."""
    is_part: bool
    """Whether the source has other records, which other runs read."""

    def carry_out(self, spark: SparkSession) -> None:
        job, opened, properties = self.job, self.opened, dict[str, str]()
        register_formats(spark)
        if self.replay is not None:
            opened = partial(open_quarantine, spark, job, self.replay, self.version)
        else:
            new_input = find_new_input(spark, job, self.sink)
            if new_input.job is None:
                return
            job, properties = new_input.job, new_input.properties
            self.is_part = self.is_part or new_input.is_rest
        may_pack = not job.target.is_through_connector
        records = conform_sources(spark, job, self.schema, opened, may_pack=may_pack)
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
            committed = commit_in_spite_of(self.stopped, self.identity, job, sink)
            if committed.identity != self.identity:
                return report_of_earlier(job, committed, self.started)
            numbers = numbers or SinkReport.of_commit(committed)
        elif numbers is None:
            return _report_without_input(job, self.identity, sink, self.started)
        elif numbers.is_repeat:
            committed_run = sink.find_run(self.identity, job.target.path, storage)
            assert committed_run is not None
            return report_of_earlier(job, committed_run, self.started)
        self.watch.end(self.rows_in)
        self.watch.at(RunStep.VERIFYING)
        return self.report_of(numbers, sink.differences(job.target.path, self.form, storage))


@dataclass(kw_only=True)
class _FormatAttempt(_Attempt):
    """An attempt whose target is in a format of Spark."""

    folder: str | None
    """The folder of files in full; None if the target is a table of a connector."""
    differences: tuple[str, ...] | None = None
    target: FormatTarget | None = None

    def carry_out(self, spark: SparkSession) -> None:
        records = conform_sources(spark, self.job, self.schema, None)
        records.check_lists(is_part=False)
        self.absent, self.reader = records.absent, records.reader
        target = self.target = FormatTarget(spark, self.job, self.identity)
        keys = [field.name for field in self.schema if not field.nullable]
        self.numbers = target.write(records.frame, keys, self.seen)
        self.differences = target.differences(records.frame)
        self.rows_in = records_read(records.counts)

    def report(self) -> RunReport:
        numbers, stopped = self.numbers, self.stopped
        if numbers is None:
            assert stopped is not None
            is_undecided = self.target is not None and self.target.is_undecided
            committed = committed_in_format(stopped, self.identity, self.folder, self.job, is_undecided)
            numbers = SinkReport.of_commit(committed)
        run_report = self.report_of(numbers, self.differences or ())
        return replace(run_report, is_compared=stopped is None or self.differences is not None)


MOST_LOOKS = 40
"""How often a backfill looks again where others keep writing: once to compute, once to commit."""
FINAL = (
    BACKFILL_SETTING,
    CHANGED_INPUT,
    INVALID_CONSTANT,
    INVALID_EXPRESSION,
    JOIN,
    PYTHON_FUNCTION,
    UNFIT_VALUES,
)
"""What another attempt would meet again: nothing is kept for it."""
LONGEST_EXAMPLE = 200


@dataclass(kw_only=True)
class _BackfillAttempt(_Attempt):
    """An attempt that fills columns of a table."""

    place_of_files: ClassVar[tuple[str, ...]] = ("joins",)
    form: TableForm
    sink: Sink
    columns: ColumnSink
    unmatched: Mapping[str, int] = field(default_factory=dict)

    def carry_out(self, spark: SparkSession) -> None:
        path, storage = self.job.target.path, self.job.storage_options
        with self._filling() as filling:
            new = self.columns.new_columns(path, self.form, filling.columns.names, storage)
            frames = BackfillFrames(spark, self.job, self.schema, new)
            for _ in range(MOST_LOOKS):
                look = self.columns.look(filling)
                if look.missing:
                    self._compute(frames, filling, look)
                elif (version := self._commit(filling, look)) is not None:
                    numbers = look.numbers.items()
                    self.numbers = SinkReport(look.numbers.get("rows", 0), 0, (), version)
                    self.unmatched = {
                        key.removeprefix(UNMATCHED): n for key, n in numbers if key.startswith(UNMATCHED)
                    }
                    return
            message = f"`{path}` gets new rows faster than its columns can be filled"
            help = "run it again when there are fewer writes; it goes on"
            raise PipelineError(CONCURRENT_RUN, message, help)

    def report(self) -> RunReport:
        if self.numbers is None:
            assert self.stopped is not None
            raise self.stopped
        self.watch.at(RunStep.VERIFYING)
        path, has_ids = self.job.target.path, self.form.version is not None
        differences = self.sink.differences(path, self.form, self.job.storage_options, ids=has_ids)
        return replace(self.report_of(self.numbers, differences), unmatched=self.unmatched)

    @contextmanager
    def _filling(self) -> Iterator[Filling]:
        """Yield what the run fills; at the end it is removed, or left to the next attempt."""
        job = self.job
        names = tuple(field.name for field in self.schema if field.name in job.fields)
        columns = FilledColumns(names, fingerprint(job, self.form) or random_id(), job.where is not None)
        filling = self.columns.open(
            job.target.path, self.form, columns, storage=job.storage_options, run=self.identity
        )
        try:
            yield filling
        except PipelineError as error:
            (self.columns.close if error.code in FINAL else self.columns.pause)(filling)
            raise
        except BaseException:
            self.columns.pause(filling)
            raise
        self.columns.close(filling)

    def _commit(self, filling: Filling, look: Look) -> int | None:
        """Commit the values of all parts; return the version, None if the table has changed since the look."""
        check_files_unchanged(self.seen, self.place_of_files)
        earlier = self.sink.find_run(self.identity, self.job.target.path, self.job.storage_options)
        if earlier is not None:
            return earlier.version
        self.watch.at(RunStep.COMMITTING)
        rows = str(look.numbers.get("rows", 0))
        properties = {ROWS: rows, QUARANTINED: "0", COLUMNS: ",".join(filling.columns.names)}
        return self.columns.commit(filling, look, properties)

    def _compute(self, frames: BackfillFrames, filling: Filling, look: Look) -> None:
        """Write the values of the parts that have none."""
        frame = frames.of(look.version, look.missing)
        folder = self.columns.prepare(filling, look.version)
        flags = tuple(frames.flags.items())
        task = FillTask(self.job.target.engine.name, filling, look.version, folder, flags)
        total, parts = Counts(), set()
        for part, counts in collected(frame, task.resolved()):
            total.add(counts)
            parts.add(part)
        if total.unfit:
            reasons = ReasonCount.sorted(total.reasons)
            worst = (f"`{one.path}` {one.rule} {one.count:,}" for one in reasons[:MOST_REASONS_IN_A_MESSAGE])
            label = reasons[0].path.partition(".")[0].partition("[")[0]
            place: tuple[str, ...] = ("fields", label) if label in self.job.fields else ("fields",)
            example = total.example
            short_example = example if len(example) <= LONGEST_EXAMPLE else f"{example[:LONGEST_EXAMPLE]}…"
            message = f"{total.unfit:,} of {total.rows:,} values do not fit ({', '.join(worst)}); nothing was written"
            help = f"the first row is {short_example}; change the value there, or leave such rows out with `where`"
            raise PipelineError(UNFIT_VALUES, message, help, place=place)
        left = tuple(part for part in look.missing if part not in parts)
        self.columns.leave(filling, look.version, left)
