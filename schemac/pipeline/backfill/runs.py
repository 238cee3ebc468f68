"""Runs a backfill: computes the parts that have no values yet on Spark, and commits when all have; verifies, reports.

Layer: pipeline.
Shape: a `Job` and the form of its table in, a `RunReport` out. The driver commits, so that a Spark that outlives it cannot. What is
       computed is kept until then: a run that dies goes on there, and so does one that finds rows that others have written in the meantime.
Errors: PipelineError; SC688 unfit-values with counts and reasons, after which nothing is kept.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import SparkSession

from schemac.pipeline.backfill.frame import Frames
from schemac.pipeline.backfill.task import UNMATCHED, Counts, FillTask, backfill_sink, results_in
from schemac.pipeline.conforming.load import check
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.paths import Seen, check_seen, look
from schemac.pipeline.reports.progress import Progress, Step, Watch
from schemac.pipeline.reports.run_report import RunReport
from schemac.pipeline.reruns.repeats import begin, fingerprint
from schemac.pipeline.runner import no_progress
from schemac.pipeline.session import on_spark
from schemac.pipeline.spark.executors import register
from schemac.rows.runs.columns import COLUMN_SINK, ColumnSink, FilledColumns, Filling, Look
from schemac.rows.runs.history import COLUMNS, QUARANTINED, ROWS
from schemac.rows.runs.identity import RunIdentity, RunRequest, random_id
from schemac.rows.runs.staging import keep_alive, temporary_folder
from schemac.rows.runs.storage import is_local, local_path
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

MOST_LOOKS = 40
"""How often a run looks again where others keep writing: once to compute, once to commit."""
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
MOST_REASONS = 5
LONGEST_EXAMPLE = 200


@dataclass(frozen=True)
class _Backfill:
    """One run."""

    job: Job
    schema: pa.Schema
    form: TableForm
    identity: RunIdentity
    columns: ColumnSink
    sink: Sink

    @contextmanager
    def filling(self) -> Iterator[Filling]:
        """Open what the run fills, and leave it to the next attempt, or remove it."""
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

    def done(self, spark: SparkSession, watch: Watch, seen: Seen) -> tuple[Look, int]:
        """Compute and commit until all parts have values."""
        job, storage = self.job, self.job.storage_options
        with self.filling() as filling, keep_alive(watch.tables, self.identity):
            new = self.columns.new_columns(job.target.path, self.form, filling.columns.names, storage)
            frames = Frames(spark, job, self.schema, new)
            for _ in range(MOST_LOOKS):
                look = self.columns.look(filling)
                if look.missing:
                    self._compute(frames, filling, look)
                    continue
                check_seen(seen, "joins")
                earlier = self.sink.find_run(self.identity, job.target.path, storage)
                if earlier is not None:
                    return look, earlier.version
                watch.at(Step.COMMITTING)
                rows = str(look.numbers.get("rows", 0))
                version = self.columns.commit(
                    filling, look, {ROWS: rows, QUARANTINED: "0", COLUMNS: ",".join(filling.columns.names)}
                )
                if version is not None:
                    return look, version
        message = f"`{job.target.path}` gets new rows faster than its columns can be filled"
        raise PipelineError(CONCURRENT_RUN, message, "run it again when there are fewer writes; it goes on")

    def _compute(self, frames: Frames, filling: Filling, look: Look) -> None:
        """Write the values of the parts that have none."""
        frame = frames.of(look.version, look.missing)
        folder = self.columns.prepare(filling, look.version)
        task = FillTask(
            self.job.target.engine.name, filling, look.version, folder, tuple(frames.flags.items())
        )
        total, parts = Counts(), set()
        with temporary_folder() as temporary:
            report = temporary / "report.json"
            sink = backfill_sink(task, str(report))
            register(frames.spark, sink)
            frame.write.format(sink.name()).mode("append").save()
            results = results_in(report)
        for result in results:
            total.add(result)
            parts.add(result.part)
        if total.unfit:
            ordered = sorted(total.reasons.items(), key=lambda one: (-one[1], one[0]))
            reasons_text = ", ".join(
                f"`{path}` {rule} {count:,}" for (path, rule), count in ordered[:MOST_REASONS]
            )
            label = ordered[0][0][0].partition(".")[0].partition("[")[0]
            place: tuple[str, ...] = ("fields", label) if label in self.job.fields else ("fields",)
            example = total.example
            short_example = example if len(example) <= LONGEST_EXAMPLE else f"{example[:LONGEST_EXAMPLE]}…"
            raise PipelineError(
                UNFIT_VALUES,
                f"{total.unfit:,} of {total.rows:,} values do not fit ({reasons_text}); nothing was written",
                f"the first row is {short_example}; change the value there, or leave such rows out with `where`",
                place=place,
            )
        left = tuple(part for part in look.missing if part not in parts)
        self.columns.leave(filling, look.version, left)


def backfill(
    job: Job,
    schema: pa.Schema,
    form: TableForm | None = None,
    *,
    request: RunRequest | None = None,
    progress: Progress | None = None,
    spark: SparkSession | None = None,
) -> RunReport:
    """Run the job; paths are used unchanged. A run is not committed again if it is the newest commit."""
    started, form, sink = time.monotonic(), form or TableForm(schema), sink_of(job.target.engine.name)
    tables = (local_path(job.target.path),) if is_local(job.target.path) else ()
    watch = Watch(progress or no_progress, tables)
    watch.at(Step.LOOKING)
    check(job, schema)
    sink.recover(job.target.path, None, job.storage_options)
    seen = look(path for join in job.joins.values() for path in join.path)
    identity, earlier = begin(job, form, request or RunRequest(), sink)
    if earlier is not None:
        return RunReport.of_earlier(earlier, job, time.monotonic() - started)
    run = _Backfill(job, schema, form, identity, COLUMN_SINK.of(job.target.engine), sink)
    done, stopped = None, None
    try:
        with on_spark(spark, job, identity, watch) as session:
            done = run.done(session, watch, seen)
    except PipelineError as error:
        if done is None:
            raise
        stopped = error.message
    observed, version = done
    watch.at(Step.VERIFYING)
    has_ids = form.version is not None
    differences = sink.differences(job.target.path, form, job.storage_options, ids=has_ids)
    rows = observed.numbers.get("rows", 0)
    unmatched = {
        key.removeprefix(UNMATCHED): count
        for key, count in observed.numbers.items()
        if key.startswith(UNMATCHED)
    }
    nothing: tuple[()] = ()
    return RunReport(
        run=identity.id, identity=identity, rows_in=rows, rows_written=rows, rows_quarantined=0, reasons=nothing,
        seconds=time.monotonic() - started, table_path=job.target.path, table_version=version,
        quarantine_path=None, quarantine_version=None, differences=differences, unmatched=unmatched,
        stopped=stopped,
    )  # fmt: skip
