"""Runs one job: read, conform, write good and bad rows in one pass, verify, report.

Shape: a `Job`, an Arrow schema and the expected Lance messages in; a `RunReport` out, whose counts come from what the
       tasks wrote. Nothing is committed when the run raises.
Errors: PipelineError for what the author can mend; anything else is Spark's, Lance's or ours.
"""

import json
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession, functions

from schemac.tables.differences import lance_fields_of, table_differences

from .conform import conform, key_check, primary_key
from .errors import PipelineError
from .failures import sparks_errors_told
from .job import Job, Keys, Mode
from .lance_sink import LanceSink, SinkOptions, encode_message, encode_options, encode_schema
from .preflight import check
from .source import open_records

Progress = Callable[[int, int], None]
SHOWN_REASONS = 20
# Most records pass through few operators that are heavy in themselves: to compile Java for them takes longer than it
# saves, even on a million records.
WITHOUT_CODE = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


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


def run(
    job: Job,
    arrow_schema: pa.Schema,
    lance_fields: list[bytes] | None = None,
    *,
    lance_metadata: dict[str, bytes] | None = None,
    storage_version: str | None = None,
    progress: Progress | None = None,
    spark: SparkSession | None = None,
) -> RunReport:
    """Runs the job; paths are taken as they stand."""
    started = time.monotonic()
    check(job, arrow_schema)
    if spark is None:
        from .session import start_session

        spark = start_session(master=job.spark.master, settings=job.spark.settings)
    else:
        spark.dataSource.register(LanceSink)
    run_id = uuid.uuid4().hex
    with sparks_errors_told(), _settings(spark, job), _watched(spark, run_id, progress):
        frame, counted = _conformed(spark, job, arrow_schema)
        message = encode_message(lance_fields, lance_metadata or {}) if lance_fields is not None else None
        numbers = _write(frame, job, arrow_schema, storage_version, run_id, message)
    expected = lance_fields_of(arrow_schema) if lance_fields is None else lance_fields
    found = table_differences(job.target.path, expected, lance_metadata, job.target.storage_options)
    written, quarantined = numbers["rows_written"], numbers["rows_quarantined"]
    rows_in = int(counted.get["rows"])
    if rows_in != written + quarantined:
        found = (*found, f"{rows_in} records were read, {written} written and {quarantined} quarantined")
    return RunReport(
        run=run_id,
        rows_in=rows_in,
        rows_written=written,
        rows_quarantined=quarantined,
        reasons=_top_reasons(numbers),
        seconds=time.monotonic() - started,
        table_path=job.target.path,
        table_version=numbers["version"],
        quarantine_path=job.quarantine_path if quarantined else None,
        quarantine_version=numbers["quarantine_version"],
        differences=found,
    )


def _conformed(spark: SparkSession, job: Job, schema: pa.Schema) -> tuple[DataFrame, Observation]:
    """The typed records, and the count of those that were read, taken on its own."""
    counted = Observation("records read")
    records = open_records(spark, job)
    records = replace(
        records, frame=records.frame.observe(counted, functions.count(functions.lit(1)).alias("rows"))
    )
    frame = conform(records, schema, job)
    keys = primary_key(schema)
    if job.keys is Keys.CHECK and keys:
        frame = key_check(frame, keys)
    return frame, counted


@contextmanager
def _settings(spark: SparkSession, job: Job) -> Iterator[None]:
    """Settings of one run, put back after it."""
    told = WITHOUT_CODE if job.source.format in ("json", "geojson") else {}
    before = {key: spark.conf.get(key, None) for key in told}
    for key, text in told.items():
        if key not in job.spark.settings:
            spark.conf.set(key, text)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, value)


def _top_reasons(numbers: dict[str, Any]) -> tuple[ReasonCount, ...]:
    ordered = sorted(numbers["reasons"], key=lambda entry: (-entry[2], entry[0], entry[1]))
    return tuple(ReasonCount(*entry) for entry in ordered[:SHOWN_REASONS])


def _write(
    frame: DataFrame,
    job: Job,
    schema: pa.Schema,
    storage_version: str | None,
    run_id: str,
    message: str | None,
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="schemac-") as folder:
        report = Path(folder) / "report.json"
        options = SinkOptions(
            path=job.target.path,
            schema=encode_schema(schema),
            quarantine=job.quarantine_path,
            run=run_id,
            report=str(report),
            must_create=job.target.mode is Mode.CREATE,
            keep_rows=not job.target.allow_empty,
            max_quarantined=None if job.max_quarantined is None else json.dumps(job.max_quarantined),
            storage_version=storage_version,
            max_rows_per_file=job.target.max_rows_per_file,
            storage_options=json.dumps(job.target.storage_options),
            lance_schema=message,
        )
        mode = "overwrite" if job.target.mode is Mode.OVERWRITE else "append"
        try:
            frame.write.format(LanceSink.name()).mode(mode).options(**encode_options(options)).save()
        except PySparkException as error:
            raise _explained(error, report) from error
        numbers: dict[str, Any] = json.loads(report.read_text())
        return numbers


def _explained(error: PySparkException, report: Path) -> Exception:
    """The error that the sink raised, out of Spark's; a limit that was passed comes with its reasons."""
    numbers = json.loads(report.read_text()) if report.exists() else {}
    if "over_limit" in numbers:
        worst = ", ".join(f"`{entry.path}` {entry.rule} {entry.count}" for entry in _top_reasons(numbers)[:5])
        return PipelineError(
            "too-many-quarantined",
            f"{numbers['rows_quarantined']} of {numbers['rows_quarantined'] + numbers['rows_written']} records do not"
            f" fit, the limit is {numbers['over_limit']}; nothing was written",
            f"most of them: {worst}",
        )
    sparks_own: Exception = error
    return sparks_own


@contextmanager
def _watched(spark: SparkSession, group: str, progress: Progress | None) -> Iterator[None]:
    if progress is None:
        yield
        return
    stopped = threading.Event()
    tracker = spark.sparkContext.statusTracker()
    spark.sparkContext.setJobGroup(group, "schemac run")

    def poll() -> None:
        while not stopped.wait(0.2):
            stages = [
                stage
                for job in tracker.getJobIdsForGroup(group)
                for stage_id in getattr(tracker.getJobInfo(job), "stageIds", ())
                if (stage := tracker.getStageInfo(stage_id)) is not None
            ]
            if stages:
                progress(sum(s.numCompletedTasks for s in stages), sum(s.numTasks for s in stages))

    watcher = threading.Thread(target=poll, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stopped.set()
        watcher.join()
