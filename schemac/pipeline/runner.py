"""Runs one job: read, conform, write good and bad rows in one pass, verify, report.

Layer: pipeline.
Shape: a `Job`, an Arrow schema and the form of its table in; a `RunReport` out, whose counts come from what the
       tasks wrote. Nothing is committed when the run raises.
Errors: PipelineError for what the author can mend; anything else is Spark's, the engine's or ours.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession, functions

from schemac.pipeline.conforming.gather import gathered
from schemac.pipeline.conforming.merge_settings import merge_of, without_other_reasons
from schemac.pipeline.conforming.preflight import check, check_places
from schemac.pipeline.conforming.projection import key_checked, with_warnings
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.declaration.limits import Limits
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.unchanged import Seen, changed_since, look, note
from schemac.pipeline.reports.html import run_fragment, run_page
from schemac.pipeline.reports.offenders import first_offenders
from schemac.pipeline.reports.progress import Progress, Step, Watch, watched
from schemac.pipeline.reports.run_facts import ReasonCount, RunFacts
from schemac.pipeline.reports.text import run_text
from schemac.pipeline.reruns.history import runs_of
from schemac.pipeline.reruns.incremental import news
from schemac.pipeline.reruns.repeats import (
    Identified,
    committed_in_format,
    committed_nevertheless,
    identify,
    identify_among,
    settle,
    unnamed,
)
from schemac.pipeline.reruns.replay import Replay, as_replayed, check_replay, open_quarantine
from schemac.pipeline.session import settings_of_a_run
from schemac.pipeline.spark.executors import ship
from schemac.pipeline.spark.failures import sparks_errors_told
from schemac.pipeline.spark.registration import active
from schemac.pipeline.writing.connector_sink import write_through
from schemac.pipeline.writing.file_systems import local_address
from schemac.pipeline.writing.format_sink import FormatTarget, recovered
from schemac.pipeline.writing.sink_options import SinkOptions, encode_options, encode_schema
from schemac.pipeline.writing.sink_report import SinkReport
from schemac.pipeline.writing.table_sink import register_engine, spark_sink
from schemac.pipeline.writing.workspace import temporary_folder
from schemac.runs.history import CommittedRun
from schemac.runs.identity import RunIdentity, random_id
from schemac.runs.locations import is_local, local_path
from schemac.runs.modes import Mode
from schemac.runs.request import RunRequest
from schemac.runs.staging import kept_alive
from schemac.runs.storage import NO_STORAGE, Storage, storage_in_use
from schemac.runs.tables import Sink, TableForm, sink_engine, sink_of
from schemac.source.catalogue import TOO_MANY_QUARANTINED

SHOWN_REASONS = 20
Opened = Callable[[], Any]
"""Gives `Records`, or a DataFrame that is conformed already."""


@dataclass(frozen=True)
class RunReport(RunFacts):
    """What a run did."""

    @classmethod
    def of_earlier(cls, earlier: CommittedRun, job: Job, seconds: float) -> "RunReport":
        """Report a run that was committed before."""
        rows, quarantined = earlier.rows, earlier.rows_quarantined
        return cls(
            run=earlier.id,
            identity=earlier.identity,
            rows_in=rows + quarantined + earlier.superseded + earlier.deleted,
            rows_written=rows,
            rows_quarantined=quarantined,
            reasons=(),
            seconds=seconds,
            table_path=job.target.path,
            table_version=earlier.version,
            quarantine_path=job.quarantine_path if quarantined else None,
            quarantine_version=None,
            differences=(),
            is_repeat=True,
            superseded=earlier.superseded,
            deleted=earlier.deleted,
        )

    @classmethod
    def of_nothing(cls, identity: RunIdentity, job: Job, sink: Sink, seconds: float) -> "RunReport":
        """Report a run that finds nothing to read: no quarantine to replay, no new file."""
        table = sink.find(job.target.path, job.storage_options)
        version = 0 if table is None else table.version
        return cls(identity.id, identity, 0, 0, 0, (), seconds, job.target.path, version, None, None, ())

    def to_html(self, *, title: str = "schemac run", storage_options: Storage = NO_STORAGE) -> str:
        """Write a page that needs no other file: counts, the first offenders of each rule, and the runs of the table."""
        with storage_in_use(storage_options):
            offenders = first_offenders(self)
        runs = runs_of(self.table_path, storage_options=storage_options)
        return run_page(title, self, offenders=offenders, runs=runs)

    def __str__(self) -> str:
        return run_text(self)

    def _repr_html_(self) -> str:
        return run_fragment(self)


def run(
    job: Job,
    arrow_schema: pa.Schema,
    form: TableForm | None = None,
    *,
    request: RunRequest | None = None,
    replay: Replay | None = None,
    progress: Progress | None = None,
    spark: SparkSession | None = None,
    opened: Opened | None = None,
) -> RunReport:
    """Run the job; paths are taken as they stand.

    `form` is what the engine makes of the schema where it is not given, `opened` gives what is read in place of the job's source.

    A run that was committed before is not committed again, unless the request says so (see `repeats`).
    """
    started = time.monotonic()
    if job.target.is_of_spark:
        if replay is not None:
            check_replay(job, replay)
        form = form or TableForm(arrow_schema)
        return _run_into_format(job, arrow_schema, form, request or RunRequest(), progress, spark, started)
    form, sink = form or TableForm(arrow_schema), sink_of(job.target.format)
    places = [path for path in (job.target.path, job.quarantine_path) if is_local(path)]
    watch = Watch(progress or untold, tuple(local_path(path) for path in places))
    watch.at(Step.LOOKING)
    check_places(job)
    sink.recover(job.target.path, job.quarantine_path, job.storage_options)
    if replay is not None:
        job = as_replayed(job)
    # Before the run is named by what it reads.
    seen = look(path for part in job.parts for path in part.source.path if replay is None)
    identity, earlier = _identified(job, form, request or RunRequest(), sink, is_replay=replay is not None)
    if earlier is not None:
        return RunReport.of_earlier(earlier, job, time.monotonic() - started)
    check(job, arrow_schema, is_replay=replay is not None)
    version = check_replay(job, replay) if replay is not None else 0
    if replay is not None and not version:
        return RunReport.of_nothing(identity, job, sink, time.monotonic() - started)
    attempt = _Attempt(job, arrow_schema, form, identity, sink)
    try:
        with on_spark(spark, job, identity, watch) as session, kept_alive(watch.tables, identity):
            register_engine(session, sink_engine(job.target.format).name)
            if replay is not None:
                opened = partial(open_quarantine, session, job, replay, version)
            attempt.carry_out(session, opened, seen, version)
    except PipelineError as error:
        attempt.stopped = changed_since(error, seen)
    return attempt.report(watch, started)


@dataclass
class _Attempt:
    """One attempt of a run, and what is known of it: Spark may stop after its commit."""

    job: Job
    schema: pa.Schema
    form: TableForm
    identity: RunIdentity
    sink: Sink
    numbers: SinkReport | None = None
    rows_in: int | None = None
    is_of_nothing: bool = False
    stopped: PipelineError | None = None

    def carry_out(self, spark: SparkSession, opened: Opened | None, seen: Seen, replay: int) -> None:
        """Do all that needs Spark; `replay` is the version of the quarantine that is read, 0 where none is."""
        job, properties = self.job, dict[str, str]()
        if not replay:
            taken = news(spark, job, self.sink)
            if taken.job is None:
                self.is_of_nothing = True
                return
            job, properties = taken.job, taken.properties
        may_pack = not job.target.is_through_connector
        frame, counted = _conformed(spark, job, self.schema, opened, may_pack=may_pack)
        self.numbers = _write(frame, job, self.form, self.identity, seen, properties, replay)
        if not self.numbers.is_repeat:
            self.rows_in = _counted(counted)

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
            found = sink.find_run(self.identity, job.target.path, storage)
            assert found is not None
            return RunReport.of_earlier(found, job, time.monotonic() - started)
        watch.at(Step.VERIFYING)
        differences = sink.differences(job.target.path, self.form, storage)
        if self.stopped is None:
            assert self.numbers is not None
            return _told(job, self.identity, self.numbers, self.rows_in, differences, started)
        numbers = self.numbers or SinkReport.of_commit(committed)
        told = _told(job, self.identity, numbers, self.rows_in, differences, started)
        return replace(told, stopped=self.stopped.message)


def untold(*_: object) -> None:
    """Nobody watches."""


def _identified(job: Job, form: TableForm, request: RunRequest, sink: Sink, *, is_replay: bool) -> Identified:
    """Identify the run; earlier attempts of it that go on without their driver cannot commit from then on."""
    if is_replay and not (request.id or request.interval):
        # What a replay reads changes with each: what fits is gone from there.
        request = RunRequest(random_id())
    found = identify(job, form, request, sink)
    if found.earlier is not None:
        return found
    table, quarantine = job.target.path, job.quarantine_path
    return found._replace(earlier=settle(found.identity, table, quarantine, sink, job.storage_options))


@contextmanager
def on_spark(
    spark: SparkSession | None, job: Job, identity: RunIdentity, watch: Watch
) -> Iterator[SparkSession]:
    """Start what a run needs of Spark, and have its settings, its watch and its words for errors in place."""
    watch.at(Step.STARTING)
    spark = _session(spark, job)
    ship(spark)
    with (
        sparks_errors_told(),
        storage_in_use(job.storage_options),
        active(spark),
        settings_of_a_run(spark, job),
        watched(spark, identity.id, watch, job.spark.wait_for_executors),
    ):
        yield spark


def _session(spark: SparkSession | None, job: Job) -> SparkSession:
    """Choose the session to run in."""
    if spark is None:
        from schemac.pipeline.session import start_session

        spark = start_session(master=job.spark.master, settings=job.spark.settings)
    return spark


def _conformed(
    spark: SparkSession, job: Job, schema: pa.Schema, opened: Opened | None, *, may_pack: bool = False
) -> tuple[DataFrame, list[Observation]]:
    """Conform the records of all sources, count those that were read, and look for keys that stand in several."""
    records = None if opened is None else opened()
    if isinstance(records, DataFrame):
        counted, rows = Observation("records read"), functions.count(functions.lit(1)).alias("rows")
        return records.observe(counted, rows), [counted]
    frame, counts = gathered(spark, job, schema, records, may_pack=may_pack)
    merge = merge_of(job, schema)
    frame = frame if merge is None else without_other_reasons(frame, merge)
    return with_warnings(key_checked(frame, schema, job), job), counts


def _top_reasons(counts: Sequence[tuple[str, str, int]]) -> tuple[ReasonCount, ...]:
    ordered = sorted(counts, key=lambda entry: (-entry[2], entry[0], entry[1]))
    return tuple(ReasonCount(*entry) for entry in ordered[:SHOWN_REASONS])


def _run_into_format(
    job: Job,
    schema: pa.Schema,
    form: TableForm,
    request: RunRequest,
    progress: Progress | None,
    spark: SparkSession | None,
    started: float,
) -> RunReport:
    """Run a job whose target is in a format of Spark; only a folder of files tells which runs it has."""
    watch = Watch(progress or untold, ())
    watch.at(Step.LOOKING)
    check_places(job)
    seen = look(path for part in job.parts for path in part.source.path)
    folder = None
    if job.target.is_of_files:
        watch.at(Step.STARTING)
        spark = _session(spark, job)
        folder, (identity, earlier) = _identified_in_folder(job, form, request, spark)
        if earlier is not None:
            return RunReport.of_earlier(earlier, job, time.monotonic() - started)
    else:
        identity = unnamed(job, form, request)
    check(job, schema)
    places = [local_path(path) for path in (job.quarantine_path,) if is_local(path)]
    attempt = _FormatAttempt(job, schema, identity, folder)
    try:
        with on_spark(spark, job, identity, watch) as session, kept_alive(places, identity):
            attempt.carry_out(session, seen)
    except PipelineError as error:
        attempt.stopped = changed_since(error, seen)
    return attempt.report(started)


@dataclass
class _FormatAttempt:
    """One attempt of a run whose target is in a format of Spark, and what is known of it."""

    job: Job
    schema: pa.Schema
    identity: RunIdentity
    folder: str | None
    """The folder of files in full; None where the target is a table of a connector."""
    numbers: SinkReport | None = None
    differences: tuple[str, ...] | None = None
    rows_in: int | None = None
    is_undecided: bool = False
    """Whether the commit failed so that nobody could see what came of it."""
    stopped: PipelineError | None = None

    def carry_out(self, spark: SparkSession, seen: Seen) -> None:
        """Do all that needs Spark."""
        frame, counted = _conformed(spark, self.job, self.schema, None)
        target = FormatTarget(spark, self.job, self.identity)
        keys = [field.name for field in self.schema if not field.nullable]
        try:
            self.numbers = target.write(frame, keys, seen)
        finally:
            self.is_undecided = target.is_undecided
        self.differences = target.differences(frame)
        self.rows_in = _counted(counted)

    def report(self, started: float) -> RunReport:
        """Tell what the target has of the attempt. Raises what stopped it where that is nothing."""
        numbers, stopped = self.numbers, self.stopped
        if numbers is None:
            assert stopped is not None
            committed = committed_in_format(stopped, self.identity, self.folder, self.job, self.is_undecided)
            numbers = SinkReport.of_commit(committed)
        differences = self.differences or ()
        told = _told(self.job, self.identity, numbers, self.rows_in, differences, started)
        if stopped is None:
            return told
        return replace(told, stopped=stopped.message, is_compared=self.differences is not None)


def _counted(counts: Sequence[Observation]) -> int:
    """Return how many records were read; Spark's Java has the number."""
    return sum(int(one.get["rows"]) for one in counts)


def _identified_in_folder(
    job: Job, form: TableForm, request: RunRequest, spark: SparkSession
) -> tuple[str, Identified]:
    """Identify the run among those of a folder, when what dead ones left is gone. Raises PipelineError where it is under way."""
    with sparks_errors_told(), storage_in_use(job.storage_options), settings_of_a_run(spark, job):
        runs = recovered(spark, job)
        records = runs.records()
        found = identify_among(job, form, request, [one.run for one in records], runs.version(records))
    if found.earlier is None:
        sink_of(None).fence(found.identity, (job.quarantine_path,))
    return local_address(runs.path), found


def _told(
    job: Job,
    identity: RunIdentity,
    numbers: SinkReport,
    rows_in: int | None,
    differences: Sequence[str],
    started: float,
) -> RunReport:
    """Report what was written; records that are in no count are a difference too. `rows_in` is None where Spark took it along."""
    written, quarantined = numbers.rows_written, numbers.rows_quarantined
    others = numbers.superseded + numbers.deleted
    rows_in = written + quarantined + others if rows_in is None else rows_in
    if rows_in != written + quarantined + others:
        told = f"{rows_in} records were read, {written} written and {quarantined} quarantined"
        differences = (*differences, told + (f", {others} superseded or deleting" if others else ""))
    return RunReport(
        run=identity.id,
        identity=identity,
        rows_in=rows_in,
        rows_written=written,
        rows_quarantined=quarantined,
        reasons=_top_reasons(numbers.reasons),
        seconds=time.monotonic() - started,
        table_path=job.target.path,
        table_version=numbers.version,
        quarantine_path=job.quarantine_path if quarantined else None,
        quarantine_version=numbers.quarantine_version,
        differences=tuple(differences),
        superseded=numbers.superseded,
        deleted=numbers.deleted,
        warnings=_top_reasons(numbers.warnings),
    )


def _write(
    frame: DataFrame,
    job: Job,
    form: TableForm,
    identity: RunIdentity,
    seen: Seen,
    properties: dict[str, str],
    replay: int = 0,
) -> SinkReport:
    merge = merge_of(job, form.schema)
    with temporary_folder() as folder:
        report, inputs = folder / "report.json", folder / "inputs.json"
        note(seen, inputs)
        options = SinkOptions(
            path=job.target.path,
            schema=encode_schema(form.schema),
            quarantine=job.quarantine_path,
            run=identity.to_json(),
            report=str(report),
            inputs=str(inputs),
            must_create=job.target.mode is Mode.CREATE,
            keep_rows=not job.target.allow_empty,
            max_quarantined=(Limits() if replay else job.max_quarantined).model_dump_json(),
            storage_version=form.storage_version,
            max_rows_per_file=job.target.max_rows_per_file,
            storage_options=job.storage_options.to_json(),
            native=form.native,
            replay=replay,
            merge=None if merge is None else merge.to_json(),
            properties=json.dumps(properties),
        )
        try:
            _save(frame, job, options)
        except (PySparkException, PipelineError) as error:
            explained = _explained(error, report)
            if explained is error:
                raise
            raise explained from error
        return SinkReport.read(report)


def _save(frame: DataFrame, job: Job, options: SinkOptions) -> None:
    """Write with the engine's own sink, or through a connector."""
    target = job.target
    overwrite = target.mode is Mode.OVERWRITE
    if target.is_through_connector:
        word = target.engine.name
        write_through(frame, word, options, overwrite=overwrite, settings=target.options)
        return
    format = spark_sink(sink_engine(target.format).name).name()
    mode = "overwrite" if overwrite else "append"
    frame.write.format(format).mode(mode).options(**encode_options(options)).save()


def _explained(error: Exception, report: Path) -> Exception:
    """Find the error that the sink raised in Spark's; a limit that was passed comes with its reasons."""
    numbers = SinkReport.read(report) if report.exists() else None
    if numbers is not None and numbers.passed is not None:
        worst = ", ".join(
            f"`{entry.path}` {entry.rule} {entry.count}" for entry in _top_reasons(numbers.reasons)[:5]
        )
        return PipelineError(
            TOO_MANY_QUARANTINED,
            f"{numbers.passed.message}; nothing was written",
            f"most of them: {worst}",
            place=("maxQuarantined", *numbers.passed.place),
        )
    return error
