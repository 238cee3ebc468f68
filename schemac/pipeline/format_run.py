"""Runs a job whose target is in a format of Spark: files, or a table of a connector.

Layer: pipeline.
Errors: PipelineError for what the author can mend; anything else is Spark's or ours.
"""

import time
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql import SparkSession

from schemac.pipeline.conforming.gather import conformed, records_read
from schemac.pipeline.conforming.preflight import check, check_places
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.absent_path import AbsentPath, explained
from schemac.pipeline.reading.unchanged import Seen, changed_since, look
from schemac.pipeline.reports.progress import Progress, Step, Watch
from schemac.pipeline.reports.run_report import RunReport
from schemac.pipeline.reruns.repeats import Identified, committed_in_format, identify_among, unnamed
from schemac.pipeline.session import on_spark, session_of, settings_of_a_run
from schemac.pipeline.spark.failures import spark_errors_reported
from schemac.pipeline.writing.file_systems import local_address
from schemac.pipeline.writing.format_sink import FormatTarget, recovered
from schemac.pipeline.writing.sink_report import SinkReport
from schemac.pipeline.writing.written_report import report_of
from schemac.rows.runs.identity import RunIdentity
from schemac.rows.runs.locations import is_local, local_path
from schemac.rows.runs.request import RunRequest
from schemac.rows.runs.staging import keep_alive
from schemac.rows.runs.storage import storage_in_use
from schemac.rows.runs.tables import TableForm, sink_of


def run_into_format(
    job: Job,
    schema: pa.Schema,
    form: TableForm,
    request: RunRequest,
    progress: Progress,
    spark: SparkSession | None,
    started: float,
) -> RunReport:
    """Run a job whose target is in a format of Spark; only a folder of files tells which runs it has."""
    watch = Watch(progress, ())
    watch.at(Step.LOOKING)
    check_places(job)
    seen = look(path for part in job.parts for path in part.source.path)
    folder = None
    if job.target.is_of_files:
        watch.at(Step.STARTING)
        spark = session_of(spark, job)
        folder, (identity, earlier) = _identified_in_folder(job, form, request, spark)
        if earlier is not None:
            return RunReport.of_earlier(earlier, job, time.monotonic() - started)
    else:
        identity = unnamed(job, form, request)
    check(job, schema)
    places = [local_path(path) for path in (job.quarantine_path,) if is_local(path)]
    attempt = _FormatAttempt(job, schema, identity, folder)
    try:
        with on_spark(spark, job, identity, watch) as session, keep_alive(places, identity):
            attempt.carry_out(session, seen)
    except PipelineError as error:
        attempt.stopped = changed_since(explained(error, attempt.absent), seen)
    return attempt.report(started)


@dataclass
class _FormatAttempt:
    """One attempt of a run whose target is in a format of Spark, and what is known of it."""

    job: Job
    schema: pa.Schema
    identity: RunIdentity
    folder: str | None
    """The folder of files in full; None if the target is a table of a connector."""
    numbers: SinkReport | None = None
    differences: tuple[str, ...] | None = None
    rows_in: int | None = None
    absent: tuple[AbsentPath, ...] = ()
    is_undecided: bool = False
    """Whether the commit failed so that nobody could see what came of it."""
    stopped: PipelineError | None = None

    def carry_out(self, spark: SparkSession, seen: Seen) -> None:
        """Do all that needs Spark."""
        gathered = conformed(spark, self.job, self.schema, None)
        gathered.check_lists(is_part=False)
        self.absent = tuple(gathered.absent)
        target = FormatTarget(spark, self.job, self.identity)
        keys = [field.name for field in self.schema if not field.nullable]
        try:
            self.numbers = target.write(gathered.frame, keys, seen)
        finally:
            self.is_undecided = target.is_undecided
        self.differences = target.differences(gathered.frame)
        self.rows_in = records_read(gathered.counts)

    def report(self, started: float) -> RunReport:
        """Tell what the target has of the attempt. Raises what stopped it where that is nothing."""
        numbers, stopped = self.numbers, self.stopped
        if numbers is None:
            assert stopped is not None
            committed = committed_in_format(stopped, self.identity, self.folder, self.job, self.is_undecided)
            numbers = SinkReport.of_commit(committed)
        differences = self.differences or ()
        run_report = report_of(numbers, self.job, self.identity, self.rows_in, differences, started)
        run_report = replace(run_report, absent=self.absent)
        if stopped is None:
            return run_report
        return replace(run_report, stopped=stopped.message, is_compared=self.differences is not None)


def _identified_in_folder(
    job: Job, form: TableForm, request: RunRequest, spark: SparkSession
) -> tuple[str, Identified]:
    """Identify the run among those of a folder, when what dead ones left is gone. Raises PipelineError if it is under way."""
    with spark_errors_reported(), storage_in_use(job.storage_options), settings_of_a_run(spark, job):
        runs = recovered(spark, job)
        records = runs.records()
        identified = identify_among(job, form, request, [one.run for one in records], runs.version(records))
    if identified.earlier is None:
        sink_of(None).fence(identified.identity, (job.quarantine_path,))
    return local_address(runs.path), identified
