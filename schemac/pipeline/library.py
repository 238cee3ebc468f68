"""The pipeline as a library: `run` for the whole of it, `write` for a frame that some other program made.

Layer: pipeline.
Shape: a pipeline file, a `Job`, or a DataFrame in; a `RunReport` out, as `schemac run` gives it.
Errors: SchemaError with all findings of a pipeline file and its manifest; PipelineError for a run that cannot go on, after
        which nothing is written.
"""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Unpack

from pyspark.sql import DataFrame, SparkSession

from schemac.api import compile_file
from schemac.artifacts.dataset import CheckedDataset
from schemac.pipeline.conformed import Conformed, Rules, job_of_frame, open_frame
from schemac.pipeline.conforming.load import LoadedJob, load_job, schema_engines
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reports.progress import Progress
from schemac.pipeline.reruns.replay import Replay
from schemac.pipeline.runner import Opened, RunReport
from schemac.pipeline.spark.columns import ERRORS
from schemac.pipeline.stream import run_or_stream as run_job
from schemac.runs.request import RunRequest
from schemac.runs.tables import SINK, TableForm
from schemac.source.catalogue import PIPELINE_FILE, STREAMING_FRAME
from schemac.source.diagnostic import SchemaError
from schemac.source.report import Report


def run(
    pipeline: str | PathLike[str] | Job,
    dataset: CheckedDataset | None = None,
    *,
    run_id: str = "",
    interval: str = "",
    again: bool = False,
    spark: "SparkSession | None" = None,
    progress: Progress | None = None,
) -> RunReport:
    """Run a pipeline: read, conform, write the rows that fit and the quarantine in one commit each, verify.

    `pipeline` is the path of a pipeline file, or a `Job`; the paths of a job are those of the working folder, and its
    dataset is `dataset`, or that of the manifest that it names. `spark` is the session to run in, by default the active
    one, or one that is started. `run_id`, `interval` and `again` are those of `schemac run`: a run that was committed is
    not committed again, and its report says so with `is_repeat`. `progress` is called with a `State` whenever something has changed.

    Raises SchemaError for findings in the file or its manifest, PipelineError for a run that cannot start or finish;
    nothing is written then.
    """
    request = RunRequest(run_id, interval, again)
    if not isinstance(pipeline, Job):
        report = Report()
        loaded = load_job(Path(pipeline), report)
        if loaded is None:
            raise SchemaError(report.diagnostics)
        return run_loaded(loaded, request=request, spark=spark, progress=progress)
    return _run(pipeline, dataset or _dataset_of(pipeline), request, spark=spark, progress=progress)


def run_loaded(
    loaded: LoadedJob,
    *,
    request: RunRequest | None = None,
    replay: Replay | None = None,
    spark: SparkSession | None = None,
    progress: Progress | None = None,
) -> RunReport:
    """Run the job of a pipeline file."""
    return run_job(
        loaded.job,
        loaded.arrow_schema,
        loaded.form,
        request=request,
        replay=replay,
        progress=progress,
        spark=spark,
    )


def write(
    frame: "DataFrame | Conformed",
    dataset: CheckedDataset,
    table: str | PathLike[str],
    *,
    mode: Literal["create", "append", "overwrite"] = "create",
    quarantine: str | PathLike[str] | None = None,
    max_quarantined: float | Mapping[str, Any] | None = None,
    allow_empty: bool = False,
    storage_options: dict[str, str] | None = None,
    run_id: str = "",
    progress: Progress | None = None,
    **rules: Unpack[Rules],
) -> RunReport:
    """Write a frame to the dataset's table: rows that fit with one commit, the others to the quarantine.

    A frame is conformed first, by `rules` (see `conform`); what `conform` gave is written as it is. `quarantine` lies
    beside the table unless it is given. `max_quarantined` is the largest share of rows (0.05) or count of rows (5) that
    may not fit, or such limits for rules and fields (`{"total": 0.05, "fields": {"fare": 0}}`); with more of them nothing
    is written. `storage_options` are those of the engine, for object stores. With a `run_id`, such as the number of a
    batch, the rows are written once: the report of a second call says `is_repeat`.

    Raises PipelineError; nothing is written then.
    """
    source = frame.frame if isinstance(frame, Conformed) else frame
    _refuse_streams(source)
    target = {"mode": mode, "allow_empty": allow_empty, "storage_options": storage_options}
    beside = None if quarantine is None else {"path": str(quarantine)}
    job = job_of_frame(str(table), rules, target=target, quarantine=beside, max_quarantined=max_quarantined)
    is_conformed = ERRORS in source.columns
    if is_conformed and rules:
        given = ", ".join(f"`{rule}`" for rule in rules)
        message = f"the frame is conformed already, so {given} would do nothing"
        raise PipelineError(PIPELINE_FILE, message, "give the rules to `conform`")

    def opened() -> Any:
        return source if is_conformed else [open_frame(source, rules.get("json_column"))]

    request = RunRequest(run_id)
    return _run(job, dataset, request, spark=source.sparkSession, progress=progress, opened=opened)


def _run(
    job: Job,
    dataset: CheckedDataset,
    request: RunRequest,
    *,
    spark: "SparkSession | None",
    progress: Progress | None,
    opened: Opened | None = None,
) -> RunReport:
    for engine in schema_engines(job.target):
        dataset.losses(engine)  # raises SchemaError where the engine cannot hold the schema
    found = dataset._compilation
    if job.target.is_of_spark:
        form = TableForm(dataset.to_arrow())
    else:
        form = SINK.of(job.target.engine).form(found.lowered, found.numbers, dataset.schema.extra)
    return run_job(
        job,
        dataset.to_arrow(metadata=True),
        form,
        request=request,
        progress=progress,
        spark=spark,
        opened=opened,
    )


def _dataset_of(job: Job) -> CheckedDataset:
    """Compile the manifest that a job names."""
    if job.schema_ is None:
        message = "the job names no manifest, and no dataset was given"
        raise PipelineError(PIPELINE_FILE, message, "write `run(job, dataset)`, or set `schema` in the job")
    found = [one for one in compile_file(job.schema_) if job.dataset in (None, one.name)]
    if len(found) != 1:
        message = f"`{job.schema_}` has {len(found)} datasets that the job could mean"
        raise PipelineError(PIPELINE_FILE, message, "set `dataset` in the job, or write `run(job, dataset)`")
    return found[0]


def _refuse_streams(frame: DataFrame) -> None:
    if frame.isStreaming:
        raise PipelineError(
            STREAMING_FRAME,
            "the frame is a stream, which has no end to commit at",
            "write each of its batches: frame.writeStream.foreachBatch(lambda batch, _: write(batch, dataset, table,"
            ' mode="append")).start()',
        )
