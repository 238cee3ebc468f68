"""Runs a pipeline as a stream (`trigger`): Spark Structured Streaming finds what is new, and each batch is a run of its own.

Layer: pipeline.
Shape: of files, the stream is that of their names, and a batch reads its files as any run does, in every form; other formats,
       such as kafka, give their rows. The checkpoint holds how far the stream is; the table holds which batches it has.
Rule: the run of a batch is called after the stream and the batch. A batch that is tried again because the checkpoint does not
      know that it was written (a kill between the two) is found among the runs of the table, and is not written again. A
      checkpoint that is removed makes another stream, which begins at the start.
"""

import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType

from schemac.pipeline.conforming.load import check
from schemac.pipeline.declaration.job import AVAILABLE_NOW, Job, Source
from schemac.pipeline.declaration.source_options import FORMS, OF_STREAMS
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading import texts
from schemac.pipeline.reading.records import Records
from schemac.pipeline.reading.source import records_of_frame
from schemac.pipeline.reading.table_source import stream_table
from schemac.pipeline.reports.progress import Progress
from schemac.pipeline.reruns.incremental import with_paths
from schemac.pipeline.runner import Opened, RunReport, run
from schemac.pipeline.session import session_of, settings_of_a_run
from schemac.pipeline.spark.failures import spark_errors_reported
from schemac.rows.judging.settings import ReasonCount
from schemac.rows.runs.identity import RunIdentity, RunRequest, random_id
from schemac.rows.runs.storage import storage_in_use
from schemac.rows.runs.tables import TableForm, source_names
from schemac.text.source.catalogue import UNREADABLE_INPUT

FILE_SCHEMA = "path string, modificationTime timestamp, length bigint, content binary"
LOOKED_EVERY_SECONDS = 1.0
GOES_ON = "batches that were written are committed; run it again, and the stream continues after them"


@dataclass
class _Stream:
    """What the batches of a stream have in common, their reports, and the error that stopped one."""

    job: Job
    schema: pa.Schema
    form: TableForm | None
    progress: Progress | None
    reports: list[RunReport] = field(default_factory=list)
    id: str = ""
    types: dict[str, DataType] = field(default_factory=dict)
    """The types of columns that hold counts."""
    is_known: threading.Event = field(default_factory=threading.Event)
    """Set when Spark has said what the stream is called; the first batch may come before."""
    error: Exception | None = None

    def take(self, frame: DataFrame, number: int) -> None:
        """Write one batch."""
        self.is_known.wait()
        try:
            self._take(frame, number)
        except Exception as error:
            # Spark keeps only the text of what is raised here.
            self.error = error
            raise

    def _take(self, frame: DataFrame, number: int) -> None:
        """Run the job over a micro-batch and add its report; a batch without files is passed over."""
        job, opened = self.job, None
        if job.source.format in FORMS:
            paths = [row[0] for row in frame.select("path").collect()]
            if not paths:
                return
            source = with_paths(job.source, paths)
            source = source.model_copy(update={"options": _options(source, of_stream=False)})
            job = job.model_copy(update={"source_": source, "trigger": None})
        else:
            opened = partial(_batch_records, frame, job, self.types)
        report = run(
            job,
            self.schema,
            self.form,
            request=RunRequest(f"{self.id}-{number}", is_batch=True),
            progress=self.progress,
            spark=frame.sparkSession,
            opened=opened,
        )
        self.reports.append(report)


def _options(source: Source, *, of_stream: bool) -> dict[str, str]:
    """Return the options of a source that are for its stream, or all others, which are for its batches."""
    names = {name.lower() for name in OF_STREAMS}
    return {name: text for name, text in source.options.items() if (name.lower() in names) is of_stream}


def _batch_records(frame: DataFrame, job: Job, types: dict[str, DataType]) -> list[Records]:
    """Return a micro-batch as the only records of the source."""
    return [records_of_frame(frame, types, explode=job.source.explode)]


def run_stream(
    job: Job,
    arrow_schema: pa.Schema,
    form: TableForm | None = None,
    *,
    progress: Progress | None = None,
    spark: SparkSession | None = None,
) -> list[RunReport]:
    """Run the job as a stream, to the end of what is available or until it is interrupted; return the reports of its batches."""
    check(job, arrow_schema)
    spark = session_of(spark, job)
    stream = _Stream(job, arrow_schema, form, progress)
    try:
        with spark_errors_reported(), storage_in_use(job.storage_options), settings_of_a_run(spark, job):
            _wait_for_end(spark, job, stream)
    except PipelineError as error:
        raise error.with_outcome(GOES_ON) from error
    return stream.reports


def _wait_for_end(spark: SparkSession, job: Job, stream: _Stream) -> None:
    """Wait until the stream ends, is interrupted, or fails in a batch."""
    try:
        source, reader = job.source, spark.readStream
        if source.format in source_names():
            frame, stream.types = stream_table(spark, source, job.storage_options)
        elif source.format not in FORMS:
            reader = reader.format(source.format).options(**source.options)
            try:
                frame = reader.load(*texts.spark_paths(source))
            except PySparkException as refused:
                text, format = str(refused).strip().splitlines()[0], f"format is `{job.source.format}`"
                raise PipelineError(UNREADABLE_INPUT, text, format, place=("source", "format")) from refused
        else:
            options = texts.file_options(source) | _options(source, of_stream=True)
            (path,) = texts.spark_paths(source)
            reader = reader.format("binaryFile").schema(FILE_SCHEMA).options(**options)
            frame = reader.load(path).select("path")
        writer = frame.writeStream.foreachBatch(stream.take)
        writer = writer.option("checkpointLocation", job.checkpoint_path)
        is_once = job.trigger == AVAILABLE_NOW
        trigger = {"availableNow": True} if is_once else {"processingTime": job.trigger}
        query = writer.trigger(**trigger).start()
        try:
            stream.id = query.id.replace("-", "")
            stream.is_known.set()
            with suppress(KeyboardInterrupt):
                while not query.awaitTermination(LOOKED_EVERY_SECONDS):
                    pass
        finally:
            query.stop()
    except PySparkException as error:
        if stream.error is not None:
            raise stream.error from error
        raise


def run_or_stream(
    job: Job,
    arrow_schema: pa.Schema,
    form: TableForm | None = None,
    *,
    request: RunRequest | None = None,
    progress: Progress | None = None,
    spark: SparkSession | None = None,
    opened: Opened | None = None,
) -> RunReport:
    """Run a job once, or as a stream; return the report, for a stream that of all batches."""
    replay = None if request is None else request.replay
    if job.trigger is None or job.is_backfill or opened is not None or replay is not None:
        return run(job, arrow_schema, form, request=request, progress=progress, spark=spark, opened=opened)
    return summary(run_stream(job, arrow_schema, form, progress=progress, spark=spark), job)


def summary(reports: list[RunReport], job: Job) -> RunReport:
    """Return one report of a stream: the sums of its batches, and the rest as in the last one; an empty one without batches."""
    if not reports:
        sources = [(part.source.format, part.source.path) for part in job.parts]
        identity = RunIdentity.new(random_id(), sources, job.target.mode.value)
        return RunReport(identity.id, identity, 0, 0, 0, (), 0.0, job.target.path, 0, None, None, ())
    absent = set.intersection(*({one.path for one in report.absent} for report in reports))
    summed = ("rows_in", "rows_written", "rows_quarantined", "superseded", "deleted", "seconds")
    return replace(
        reports[-1],
        **{name: sum(getattr(report, name) for report in reports) for name in summed},
        reasons=_summed_counts([report.reasons for report in reports]),
        warnings=_summed_counts([report.warnings for report in reports]),
        absent=tuple(one for one in reports[-1].absent if one.path in absent),
        quarantine_path=next((report.quarantine_path for report in reports if report.quarantine_path), None),
    )


def _summed_counts(reasons: list[tuple[ReasonCount, ...]]) -> tuple[ReasonCount, ...]:
    """Return the counts of all batches by path and rule, the most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    for one in reasons:
        counts.update({(reason.path, reason.rule): reason.count for reason in one})
    return ReasonCount.sorted(counts)
