"""Runs one job: read, conform, write good and bad rows in one pass, verify, report.

Layer: pipeline.
Shape: a `Job`, an Arrow schema and the form of its table in; a `RunReport` out, whose counts come from what the
       tasks wrote. Nothing is committed when the run raises.
Errors: PipelineError for what the author can mend; anything else is Spark's, the engine's or ours.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession

from schemac.pipeline.conform import key_check, primary_key
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.failures import sparks_errors_told
from schemac.pipeline.format_sink import FormatTarget
from schemac.pipeline.gather import gathered
from schemac.pipeline.incremental import is_incremental, only_new
from schemac.pipeline.job import Job, Keys
from schemac.pipeline.preflight import check
from schemac.pipeline.progress import Progress, Step, Watch, watched
from schemac.pipeline.registration import register
from schemac.pipeline.session import active, settings_of_a_run
from schemac.pipeline.sink_report import SinkReport
from schemac.pipeline.table_sink import SinkOptions, encode_options, encode_schema, spark_sink
from schemac.pipeline.workspace import temporary_folder
from schemac.runs.history import CommittedRun
from schemac.runs.identity import RunIdentity
from schemac.runs.locations import is_local, local_path
from schemac.runs.modes import Mode
from schemac.runs.staging import kept_alive
from schemac.runs.tables import Sink, TableForm, sink_engine, sink_of
from schemac.source.catalogue import TOO_MANY_QUARANTINED

SHOWN_REASONS = 20


@dataclass(frozen=True)
class ReasonCount:
    """How many times a field broke a rule; positions in the path are left out."""

    path: str
    rule: str
    count: int


@dataclass(frozen=True)
class RunReport:
    """What a run did."""

    run: str
    """Its id, which its rows in the quarantine carry."""
    identity: RunIdentity
    rows_in: int
    rows_written: int
    rows_quarantined: int
    reasons: tuple[ReasonCount, ...]
    seconds: float
    table_path: str
    table_version: int
    quarantine_path: str | None
    quarantine_version: int | None
    differences: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Give the report for programs."""
        quarantine = None
        if self.quarantine_path is not None:
            quarantine = {"path": self.quarantine_path, "version": self.quarantine_version}
        return {
            **self.identity.report(),
            "seconds": round(self.seconds, 3),
            "records": {
                "in": self.rows_in,
                "written": self.rows_written,
                "quarantined": self.rows_quarantined,
            },
            "reasons": [asdict(reason) for reason in self.reasons],
            "table": {"path": self.table_path, "version": self.table_version},
            "quarantine": quarantine,
            "differences": list(self.differences),
        }


@dataclass(frozen=True)
class Batch:
    """Some records of a stream."""

    id: str
    """The same whenever this batch is tried again, and no other batch's."""
    frame: DataFrame | None = None
    """Its rows, where the source is one that Spark reads on its own; otherwise the job names the batch's files."""


def run(
    job: Job,
    arrow_schema: pa.Schema,
    form: TableForm | None = None,
    *,
    progress: Progress | None = None,
    spark: SparkSession | None = None,
    batch: Batch | None = None,
) -> RunReport:
    """Run the job; paths are taken as they stand. `form` is what the engine makes of the schema where it is not given.

    `batch` is one of a stream: a batch that the table has is not written again.
    """
    started = time.monotonic()
    form = form or TableForm(arrow_schema)
    engine = job.target.engine
    sink = sink_of(engine.name)
    identity = _identity(job, batch)
    places = [path for path in (job.target.path, job.quarantine_path) if is_local(path)]
    watch = Watch(progress or _untold, tuple(local_path(path) for path in places))
    watch.at(Step.LOOKING)
    if not job.target.is_of_spark:
        sink.recover(job.target.path, job.quarantine_path, job.target.storage_options)
    check(job, arrow_schema)
    if batch is not None and (committed := _committed(sink, job, identity.id)) is not None:
        return _report_of(committed, job, started)
    watch.at(Step.STARTING)
    spark = _session(spark, job)
    with (
        sparks_errors_told(),
        active(spark),
        settings_of_a_run(spark, job),
        kept_alive(watch.tables, identity),
        watched(spark, identity.id, watch),
    ):
        register(spark, spark_sink(engine.name))
        more: dict[str, str] = {}
        if is_incremental(job):
            news, more = only_new(spark, job, _runs(sink, job))
            if news is None:
                return _nothing_new(sink, job, identity, started)
            job = news
        frame, counted = _conformed(spark, job, arrow_schema, batch)
        if job.target.is_of_spark:
            target = FormatTarget(spark, job, identity)
            numbers = target.write(frame, [field.name for field in arrow_schema if not field.nullable])
            found = target.differences(frame)
        else:
            numbers = _write(frame, job, form, identity, more)
    watch.at(Step.VERIFYING)
    if not job.target.is_of_spark:
        found = sink.differences(job.target.path, form, job.target.storage_options)
    written, quarantined = numbers.rows_written, numbers.rows_quarantined
    rows_in = sum(int(found.get["rows"]) for found in counted)
    if rows_in != written + quarantined:
        found = (*found, f"{rows_in} records were read, {written} written and {quarantined} quarantined")
    return RunReport(
        run=identity.id,
        identity=identity,
        rows_in=rows_in,
        rows_written=written,
        rows_quarantined=quarantined,
        reasons=_top_reasons(numbers),
        seconds=time.monotonic() - started,
        table_path=job.target.path,
        table_version=numbers.version,
        quarantine_path=job.quarantine_path if quarantined else None,
        quarantine_version=numbers.quarantine_version,
        differences=found,
    )


def _identity(job: Job, batch: Batch | None) -> RunIdentity:
    sources = [(part.source.format, part.source.path) for part in job.parts]
    identity = RunIdentity.new(sources, job.target.mode.value)
    return identity if batch is None else replace(identity, id=batch.id)


def _runs(sink: Sink, job: Job) -> Iterator[CommittedRun]:
    """List the runs of the table, the last one first; none where it is not there yet."""
    if sink.find(job.target.path, job.target.storage_options) is not None:
        yield from sink.runs(job.target.path, job.target.storage_options)


def _committed(sink: Sink, job: Job, id: str) -> CommittedRun | None:
    return next((run for run in _runs(sink, job) if run.id == id), None)


def _report_of(run: CommittedRun, job: Job, started: float) -> RunReport:
    """Tell of a run that was committed before."""
    quarantine = job.quarantine_path if run.rows_quarantined else None
    return RunReport(
        run.id, run.identity, run.rows + run.rows_quarantined, run.rows, run.rows_quarantined, (),
        time.monotonic() - started, job.target.path, run.version, quarantine, None, (),
    )  # fmt: skip


def _nothing_new(sink: Sink, job: Job, identity: RunIdentity, started: float) -> RunReport:
    """Tell of a run that found no new file, and has no commit."""
    table = sink.find(job.target.path, job.target.storage_options)
    version = 0 if table is None else table.version
    return RunReport(
        identity.id,
        identity,
        0,
        0,
        0,
        (),
        time.monotonic() - started,
        job.target.path,
        version,
        None,
        None,
        (),
    )


def _untold(*_: object) -> None:
    """Nobody watches."""


def _session(spark: SparkSession | None, job: Job) -> SparkSession:
    """Choose the session to run in."""
    if spark is None:
        from schemac.pipeline.session import start_session

        spark = start_session(master=job.spark.master, settings=job.spark.settings)
    return spark


def _conformed(
    spark: SparkSession, job: Job, schema: pa.Schema, batch: Batch | None = None
) -> tuple[DataFrame, "list[Observation]"]:
    """Conform the records of all sources, and look for keys that stand in several."""
    frame, counted = gathered(spark, job, schema, None if batch is None else batch.frame)
    keys = primary_key(schema)
    if job.keys is Keys.CHECK and keys:
        frame = key_check(frame, keys)
    return frame, counted


def _top_reasons(numbers: SinkReport) -> tuple[ReasonCount, ...]:
    ordered = sorted(numbers.reasons, key=lambda entry: (-entry[2], entry[0], entry[1]))
    return tuple(ReasonCount(*entry) for entry in ordered[:SHOWN_REASONS])


def _write(
    frame: DataFrame, job: Job, form: TableForm, identity: RunIdentity, more: dict[str, str]
) -> SinkReport:
    with temporary_folder() as folder:
        report = folder / "report.json"
        options = SinkOptions(
            path=job.target.path,
            schema=encode_schema(form.schema),
            quarantine=job.quarantine_path,
            run=identity.to_json(),
            report=str(report),
            must_create=job.target.mode is Mode.CREATE,
            keep_rows=not job.target.allow_empty,
            max_quarantined=None if job.max_quarantined is None else json.dumps(job.max_quarantined),
            storage_version=form.storage_version,
            max_rows_per_file=job.target.max_rows_per_file,
            storage_options=json.dumps(job.target.storage_options),
            native=form.native,
            properties=json.dumps(more),
        )
        mode = "overwrite" if job.target.mode is Mode.OVERWRITE else "append"
        try:
            format = spark_sink(sink_engine(job.target.format).name).name()
            frame.write.format(format).mode(mode).options(**encode_options(options)).save()
        except PySparkException as error:
            raise _explained(error, report) from error
        return SinkReport.read(report)


def _explained(error: PySparkException, report: Path) -> Exception:
    """Find the error that the sink raised in Spark's; a limit that was passed comes with its reasons."""
    numbers = SinkReport.read(report) if report.exists() else None
    if numbers is not None and numbers.over_limit is not None:
        worst = ", ".join(f"`{entry.path}` {entry.rule} {entry.count}" for entry in _top_reasons(numbers)[:5])
        return PipelineError(
            TOO_MANY_QUARANTINED,
            f"{numbers.rows_quarantined} of {numbers.rows_quarantined + numbers.rows_written} records do not"
            f" fit, the limit is {numbers.over_limit}; nothing was written",
            f"most of them: {worst}",
            place=("maxQuarantined",),
        )
    sparks_own: Exception = error
    return sparks_own
