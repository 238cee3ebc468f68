"""The pipeline as a library: `run` for all of it, `write` and `replay` for frames of another program, `fill_columns` for columns.

Layer: pipeline.
Shape: a pipeline file, a `Job`, or a DataFrame in; a `RunReport` out, as `schemac run` gives it.
Errors: SchemaError with all findings of a pipeline file and its manifest; PipelineError for a run that cannot go on, after
        which nothing is written.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, repeat
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol, Unpack

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from schemac.arrow.constraints import key_paths
from schemac.artifacts.dataset import CheckedDataset
from schemac.language.physical import parts_of, with_parts
from schemac.pipeline.conformed import Conformed, Rules, checked_job, job_of_frame, open_frame
from schemac.pipeline.conforming.load import load_job, schema_engines
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError, did_you_mean
from schemac.pipeline.reports.progress import Progress
from schemac.pipeline.runner import Opened, RunReport
from schemac.pipeline.spark.packed import ERRORS, ROW_ID
from schemac.pipeline.spark.sql import name
from schemac.pipeline.stream import run_or_stream
from schemac.project.api import compile_file
from schemac.rows.judging.arrays import is_list, plain_layout, storage_type, to_field
from schemac.rows.runs.identity import Replay, RunRequest, random_id
from schemac.rows.runs.plain_types import nullable_type, plain_field
from schemac.rows.runs.staging import temporary_folder
from schemac.rows.runs.tables import SINK, TableForm
from schemac.text.source.catalogue import (
    DUPLICATE_COLUMN,
    JOIN,
    PIPELINE_FILE,
    SOURCE_TYPE_MISMATCH,
    STREAMING_FRAME,
)
from schemac.text.source.diagnostics import Report, SchemaError


class ArrowStream(Protocol):
    """What hands out its rows by Arrow's C interface: readers and tables of pyarrow, polars, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the capsule of the stream."""
        ...


Batches = ArrowStream | Iterable[pa.RecordBatch]


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

    `pipeline` is the path of a pipeline file, or a `Job`; the paths of a job are relative to the working folder, and its
    dataset is `dataset`, or that of its manifest. `spark` is the session to run in, by default the active one, else a new one. `run_id`, `interval` and `again` are those of `schemac run`: a run that was committed is not committed again, and its report has `is_repeat`. `progress` is called with a `RunState` whenever something has changed.

    Raises SchemaError for findings in the file or its manifest, PipelineError for a run that cannot start or finish;
    nothing is written then.
    """
    request = RunRequest(run_id, interval, again)
    if not isinstance(pipeline, Job):
        report = Report()
        loaded = load_job(Path(pipeline), report)
        if loaded is None:
            raise SchemaError(report.diagnostics)
        job, schema, form = loaded.job, loaded.arrow_schema, loaded.form
        return run_or_stream(job, schema, form, request=request, progress=progress, spark=spark)
    return _run_job(pipeline, dataset or _dataset_of(pipeline), request, spark=spark, progress=progress)


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

    A frame is first conformed by `rules` (see `conform`); the result of `conform` is written unchanged. `quarantine`
    is next to the table by default. `max_quarantined` is the largest share of rows (0.05) or count of rows (5) that
    may be unfit, or such limits for rules and fields (`{"total": 0.05, "fields": {"fare": 0}}`); with more, nothing is written. `storage_options` are those of the engine, for object stores. With a `run_id`, such as the number of a
    batch, the rows are written once: the report of a second call has `is_repeat`.

    Raises PipelineError; nothing is written then.
    """
    source = frame.frame if isinstance(frame, Conformed) else frame
    if source.isStreaming:
        help = (
            "write each of its batches: frame.writeStream.foreachBatch(lambda batch, _: write(batch, dataset, table,"
            ' mode="append")).start()'
        )
        raise PipelineError(STREAMING_FRAME, "the frame is a stream, which has no end to commit at", help)
    target = {"mode": mode, "allow_empty": allow_empty, "storage_options": storage_options}
    quarantine_target = None if quarantine is None else {"path": str(quarantine)}
    settings = {"target": target, "quarantine": quarantine_target, "max_quarantined": max_quarantined}
    job = job_of_frame(str(table), rules, **settings)
    is_conformed = ERRORS in source.columns
    if is_conformed and rules:
        rules_text = ", ".join(f"`{rule}`" for rule in rules)
        message = f"the frame is already conformed, so {rules_text} would do nothing"
        raise PipelineError(PIPELINE_FILE, message, "pass the rules to `conform`")

    def opened() -> Any:
        return source if is_conformed else [open_frame(source, rules.get("json_column"))]

    request = RunRequest(run_id)
    return _run_job(job, dataset, request, spark=source.sparkSession, progress=progress, opened=opened)


def replay(
    dataset: CheckedDataset,
    table: str | PathLike[str],
    records: Replay = Replay(),  # noqa: B008  a frozen value
    *,
    quarantine: str | PathLike[str] | None = None,
    spark: SparkSession | None = None,
    progress: Progress | None = None,
    **rules: Unpack[Rules],
) -> RunReport:
    """Run records of the quarantine that `write` made through the present schema and `rules`; those that fit move into the table.

    By default all records of the quarantine are read again; `Replay(run=…, rule=…, path=…)` selects some. Those that still do not fit
    stay in the quarantine as they are. The commit of the table and that of the quarantine belong to one run, as in `schemac run --replay`.

    Raises PipelineError; nothing is written then.
    """
    quarantine_target = None if quarantine is None else {"path": str(quarantine)}
    job = job_of_frame(str(table), rules, target={"mode": "append"}, quarantine=quarantine_target)
    return _run_job(job, dataset, RunRequest(replay=records), spark=spark, progress=progress)


def fill_columns(
    source: Batches,
    dataset: CheckedDataset,
    table: str | PathLike[str],
    *,
    on: str | Sequence[str] | None = None,
    where: str | None = None,
    storage: Mapping[str, Mapping[str, Any]] | None = None,
    spark: SparkSession | None = None,
    progress: Progress | None = None,
) -> RunReport:
    """Fill new or existing columns of a table with values that another program computed, in one commit.

    `source` is a reader of Arrow batches, or batches, or anything else that exports an Arrow stream, such as a pyarrow or polars
    table. Its columns are those to fill, and the key of the row in the table: Lance's `_rowid`, or the columns `on`; by default `_rowid` if the source has it, else the primary key of the dataset. Each value is checked as in every run. Every row, or every row that `where` (Spark SQL) selects, needs exactly one value; null is a value. A duration is brought to the unit of its field.
    `storage` is that of a pipeline file.

    The batches are kept in a temporary file in the meantime, which executors of Spark on other machines have to reach (`TMPDIR`).

    Raises PipelineError for a key that the table does not have, that occurs twice, or that has no value, and for values that
    do not fit; nothing is written then.
    """
    with rows_in_file(source, dataset.to_arrow(metadata=True)) as (path, columns):
        keys = (on,) if isinstance(on, str) else tuple(on or ())
        if not keys:
            # Rows that compute a part of the key inside of a struct have no column of this name.
            paths = [(ROW_ID,)] if ROW_ID in columns else key_paths(dataset.to_arrow(metadata=True))
            keys = tuple(map(".".join, paths))
        if not keys:
            message = (
                f"the rows have no key: `{dataset.name}` has no primary key, and they have no `{ROW_ID}`"
            )
            help = 'name columns that both have: `on="id"`, or add the row ids of the table'
            raise PipelineError(JOIN, message, help)
        for key in keys:
            if key not in columns:
                message = f"the rows have no column `{key}`, by which they would find their row in the table"
                raise PipelineError(JOIN, message, did_you_mean(key, columns))
        names = dataset.to_arrow().names
        label = next(label for label in ("batches", "batches_", "batches__") if label not in names)
        fields = {one: f"{label}.{name(one)}" for one in columns if one not in keys}
        on_columns = {key: name(key) for key in keys}
        join = {"path": str(path), "format": "parquet", "on": on_columns, "exact": True}
        value = {"target": {"path": str(table), "mode": "backfill"}, "joins": {label: join}, "fields": fields}
        value |= {"where": where, "storage": storage or {}}
        return _run_job(checked_job(value), dataset, RunRequest(random_id()), spark=spark, progress=progress)


def _run_job(
    job: Job,
    dataset: CheckedDataset,
    request: RunRequest,
    *,
    spark: "SparkSession | None",
    progress: Progress | None,
    opened: Opened | None = None,
) -> RunReport:
    """Run a job with the schema of a dataset. Raises SchemaError if the engine of the target cannot store that."""
    for engine in schema_engines(job.target):
        dataset.losses(engine)  # raises SchemaError where the engine cannot hold the schema
    compilation = dataset._compilation
    if job.target.is_of_spark:
        form = TableForm(dataset.to_arrow())
    else:
        form = SINK.of(job.target.engine).form(compilation.lowered, compilation.numbers, dataset.schema.extra)
    schema = dataset.to_arrow(metadata=True)
    return run_or_stream(job, schema, form, request=request, progress=progress, spark=spark, opened=opened)


def _dataset_of(job: Job) -> CheckedDataset:
    """Compile the manifest that a job names."""
    if job.schema_ is None:
        message = "the job names no manifest, and no dataset was given"
        raise PipelineError(PIPELINE_FILE, message, "write `run(job, dataset)`, or set `schema` in the job")
    datasets = [one for one in compile_file(job.schema_) if job.dataset in (None, one.name)]
    if len(datasets) != 1:
        message = f"`{job.schema_}` has {len(datasets)} datasets that the job could mean"
        raise PipelineError(PIPELINE_FILE, message, "set `dataset` in the job, or write `run(job, dataset)`")
    return datasets[0]


@contextmanager
def rows_in_file(source: Batches, fields: pa.Schema) -> Iterator[tuple[Path, list[str]]]:
    """Write all batches of a source to a file, which goes at the end; yield its path and its columns. `fields` are those that they fill."""
    if hasattr(source, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(source)
        schema, batches = reader.schema, iter(reader)
    else:
        rest = iter(source)
        head = next(rest, None)
        schema, batches = (pa.schema([]), rest) if head is None else (head.schema, chain([head], rest))
    twice = sorted({one for one in schema.names if schema.names.count(one) > 1})
    if twice:
        raise PipelineError(DUPLICATE_COLUMN, f"the batches have two columns `{twice[0]}`")
    plain = pa.schema([_plain_field(field, _type_in(fields, field.name)) for field in schema])
    with temporary_folder() as folder:
        path = folder / "batches.parquet"
        with pq.ParquetWriter(path, plain) as writer:
            for batch in batches:
                if not batch.schema.equals(schema):
                    message = "the batches have different columns or types"
                    raise PipelineError(SOURCE_TYPE_MISMATCH, message, "pass batches with the same schema")
                writer.write_batch(
                    pa.RecordBatch.from_arrays([*_plain_columns(batch, plain, fields)], schema=plain)
                )
        yield path, schema.names


def _type_in(parts: Any, label: str) -> Any:
    """Return the type of a part of a schema or a struct; None if there is none."""
    place = parts.get_field_index(label) if isinstance(parts, pa.Schema | pa.StructType) else -1
    return None if place < 0 else storage_type(parts.field(place).type)


def _plain_field(field: Any, target: Any) -> Any:
    """Return a field as sources have it: of durations Parquet would make numbers without a unit, so they are counts in that of their field."""
    if field.name == ROW_ID and pa.types.is_integer(field.type):
        return pa.field(ROW_ID, pa.int64())
    type_ = plain_layout(pa.nulls(0, field.type)).type
    try:
        counted = _with_field_units(type_, target, lambda _: pa.int64())
    except _NoUnitError as error:
        message = f"`{field.name}` of the batches is {field.type}, and no duration is there in the schema"
        help = 'cast it to a number of the unit that you mean: `cast(pa.duration("ms")).cast("int64")`'
        raise PipelineError(SOURCE_TYPE_MISMATCH, message, help) from error
    return plain_field((field if counted.equals(type_) else field.with_type(counted)).with_nullable(True))


class _NoUnitError(Exception):
    """A duration is given for a field that is none."""


def _with_field_units(type_: Any, target: Any, leaf: Callable[[Any], Any]) -> Any:
    """Return a type with what `leaf` makes of the duration of the field in the place of each duration."""
    is_ = pa.types
    if is_.is_duration(type_):
        if target is None or not is_.is_duration(target):
            raise _NoUnitError
        return leaf(target)
    if is_.is_struct(type_):
        types = [_type_in(target, part.name) for part in type_]
    else:
        is_alike = target is not None and any(
            is_kind(type_) and is_kind(target) for is_kind in (is_list, is_.is_map)
        )
        types = [storage_type(part.type) for part in parts_of(target)] if is_alike else []
    remaining = chain(types, repeat(None))
    return with_parts(type_, lambda part: part.with_type(_with_field_units(part.type, next(remaining), leaf)))


def _plain_columns(batch: pa.RecordBatch, plain: pa.Schema, fields: pa.Schema) -> Iterator[pa.Array]:
    """Yield the columns of a batch in plain types. Raises PipelineError for a value that does not fit its type."""
    for column, field in zip(batch.columns, plain, strict=True):
        column = plain_layout(column)
        in_unit = _with_field_units(column.type, _type_in(fields, field.name), lambda target: target)
        try:
            values = column if in_unit.equals(column.type) else column.cast(in_unit)
            yield to_field(values.cast(nullable_type(field.type)), field)
        except pa.ArrowInvalid as error:
            shown = field.type if in_unit.equals(column.type) else in_unit
            message = f"`{field.name}` of the batches has a value that does not fit {shown}: {error}"
            raise PipelineError(SOURCE_TYPE_MISMATCH, message) from error
