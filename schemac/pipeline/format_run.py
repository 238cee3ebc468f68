"""Runs a job whose target is in a format of Spark: files, or a table of a connector.

Layer: pipeline.
Errors: PipelineError for what the author can mend; anything else is Spark's or ours.
"""

import time
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import SparkSession

from schemac.pipeline.codes import JAVA_GONE
from schemac.pipeline.conforming.gather import conformed, records_read
from schemac.pipeline.conforming.preflight import check, check_places
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.unchanged import changed_since, look
from schemac.pipeline.reports.progress import Progress, Step, Watch
from schemac.pipeline.reports.run_report import RunReport
from schemac.pipeline.reruns.repeats import Identified, identify_among, unnamed
from schemac.pipeline.session import on_spark, session_of, settings_of_a_run
from schemac.pipeline.spark.failures import NOTHING, sparks_errors_told
from schemac.pipeline.writing.format_sink import FormatTarget, recovered
from schemac.pipeline.writing.written_report import report_of
from schemac.runs.locations import is_local, local_path
from schemac.runs.request import RunRequest
from schemac.runs.staging import kept_alive
from schemac.runs.storage import storage_in_use
from schemac.runs.tables import TableForm, sink_of


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
    if job.target.is_of_files:
        watch.at(Step.STARTING)
        spark = session_of(spark, job)
        identity, earlier = _identified_in_folder(job, form, request, spark)
        if earlier is not None:
            return RunReport.of_earlier(earlier, job, time.monotonic() - started)
    else:
        identity = unnamed(job, form, request)
    check(job, schema)
    places = [local_path(path) for path in (job.quarantine_path,) if is_local(path)]
    try:
        with on_spark(spark, job, identity, watch) as session, kept_alive(places, identity):
            frame, counts, absent = found = conformed(session, job, schema, None)
            found.check_lists(is_part=False)
            target = FormatTarget(session, job, identity)
            numbers = target.write(frame, [field.name for field in schema if not field.nullable], seen)
            differences = target.differences(frame)
            rows_in = records_read(counts)
    except PipelineError as error:
        if error.code is not JAVA_GONE:
            raise changed_since(error, seen) from error
        help = (error.help or NOTHING).replace(NOTHING, _left_behind(job))
        raise PipelineError(error.code, error.message, help, place=error.place) from error
    return replace(report_of(numbers, job, identity, rows_in, differences, started), absent=tuple(absent))


def _left_behind(job: Job) -> str:
    """Say what a target may have of a run whose Java is gone; nobody knows how far it was."""
    path = job.target.path
    if job.target.is_of_files:
        return f"`schemac runs {path}` lists this run if it was committed; otherwise the next one removes what it left"
    return f"look at `{path}` before you run it again: it may have rows of this run"


def _identified_in_folder(job: Job, form: TableForm, request: RunRequest, spark: SparkSession) -> Identified:
    """Identify the run among those of a folder, when what dead ones left is gone. Raises PipelineError where it is under way."""
    with sparks_errors_told(), storage_in_use(job.storage_options), settings_of_a_run(spark, job):
        runs = recovered(spark, job)
        records = runs.records()
        found = identify_among(job, form, request, [one.run for one in records], runs.version(records))
    if found.earlier is None:
        sink_of(None).fence(found.identity, (job.quarantine_path,))
    return found
