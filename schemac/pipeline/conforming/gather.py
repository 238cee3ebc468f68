"""Gathers the records of all sources of a pipeline, each read by its own rules, into one frame of the table's columns.

Layer: pipeline.
Shape: a job and its Arrow schema in; the columns of `conform` out, one source behind the other, and for each source the
       count of its records as they were read.
Errors: PipelineError with the place in the file where a source, or one of its fields, is wrong.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, Observation, SparkSession, functions

from schemac.pipeline.batch_reading.record_task import RecordTask
from schemac.pipeline.conforming.clocks import with_zones
from schemac.pipeline.conforming.given import constant_text, with_computed_fields
from schemac.pipeline.conforming.merge_settings import merge_of, with_marker, without_other_reasons
from schemac.pipeline.conforming.validation import conform, key_checked, settings_of, with_warnings
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.absent_path import AbsentPath
from schemac.pipeline.reading.absent_paths import absent_paths
from schemac.pipeline.reading.source import Records, check_source, open_records
from schemac.pipeline.spark.columns import ADDRESS, ADDRESS_FIELD, ERRORS
from schemac.pipeline.spark.packed import COUNTED, NOT_PACKED, PACKED
from schemac.rows.validation.validator import FieldInput
from schemac.source.catalogue import INVALID_CONSTANT

Opened = Callable[[], Any]
"""Gives lists of `Records`, or a DataFrame that is conformed already."""


class Gathered(NamedTuple):
    """The records of all sources."""

    frame: DataFrame
    counts: list[Observation]
    """How many records each source had."""
    absent: list[AbsentPath]
    """Paths that the pipeline names, and no record of their source has."""

    def check_lists(self, *, is_part: bool) -> None:
        """Refuse to commit nothing of a source because of a list that none of its records has; a part of a source may have none."""
        lost = next((one for one in self.absent if one.loses_records), None)
        if lost is not None and not is_part:
            raise lost.error()


def gathered(
    spark: SparkSession,
    job: Job,
    schema: pa.Schema,
    given: Sequence[Records] | None = None,
    *,
    may_pack: bool = False,
) -> Gathered:
    """Conform the records of each source, and count those that were read, on their own; or records that are `given` in place of the one source.

    With `may_pack` some rows of the frame may stand for many records (see `packed`).
    """
    frames, counts, absent = [], list[Observation](), list[AbsentPath]()
    is_replay = any(ADDRESS in records.partitions for records in given or ())
    for i, part in enumerate(job.parts):
        with _placed(job, i):
            check_constants(part, schema)
            marked, read = with_marker(part, schema)
            read = read.append(ADDRESS_FIELD) if is_replay else read
            for opened in [open_records(spark, part)] if given is None else given:
                counted = Observation(f"records read from source {i}, {len(counts)}")
                records = with_computed_fields(opened, part)
                if given is None:
                    missing = absent_paths(records, part.source, marked.fields)
                    absent += [replace(one, place=job.place_of(i, one.place)) for one in missing]
                frames.append(_conformed(records, read, marked, counted, may_pack=may_pack and given is None))
                counts.append(counted)
    if any(PACKED in frame.columns for frame in frames):
        frames = [frame if PACKED in frame.columns else frame.selectExpr("*", NOT_PACKED) for frame in frames]
    return Gathered(reduce(DataFrame.union, frames), counts, absent)


def _conformed(
    records: Records, schema: pa.Schema, job: Job, counted: Observation, *, may_pack: bool
) -> DataFrame:
    """Conform records, where they are read if Spark is not needed for that, and count them."""
    conformed_rows = conform(records, schema, job, may_pack=may_pack)
    count = COUNTED if PACKED in conformed_rows.columns else "count(1)"
    return conformed_rows.observe(counted, functions.expr(count).alias("rows"))


def conformed(
    spark: SparkSession, job: Job, schema: pa.Schema, opened: Opened | None, *, may_pack: bool = False
) -> Gathered:
    """Conform the records of all sources, count those that were read, and look for keys that are in several."""
    records = None if opened is None else opened()
    if isinstance(records, DataFrame):
        counted, rows = Observation("records read"), functions.count(functions.lit(1)).alias("rows")
        return Gathered(records.observe(counted, rows), [counted], [])
    conformed_rows = gathered(spark, job, schema, records, may_pack=may_pack)
    merge, frame = merge_of(job, schema), conformed_rows.frame
    frame = frame if merge is None else without_other_reasons(frame, merge, job.target.delete)
    return conformed_rows._replace(frame=with_warnings(key_checked(frame, schema, job), job))


def records_read(counts: Sequence[Observation]) -> int:
    """Return how many records were read; Spark's Java has the number."""
    return sum(int(one.get["rows"]) for one in counts)


def source_mistakes(job: Job) -> Iterator[PipelineError]:
    """Look, without Spark, whether each source can be read; yield why not, one reason for each."""
    for i, part in enumerate(job.parts):
        try:
            with _placed(job, i):
                check_source(part)
        except PipelineError as error:
            yield error


@contextmanager
def _placed(job: Job, part: int) -> Iterator[None]:
    """Say of a mistake in one source where the file has it."""
    try:
        yield
    except PipelineError as error:
        error.place = job.place_of(part, error.place)
        raise


def check_constants(job: Job, schema: pa.Schema) -> None:
    """Refuses a constant that does not fit its field, by the rules for records: otherwise all records were quarantined."""
    origins = {
        label: origin
        for label, origin in job.fields.items()
        if origin is not None and origin.value is not None
    }
    if not origins:
        return
    constant_fields = with_zones(pa.schema([schema.field(label) for label in origins], schema.metadata), job)
    inputs = [FieldInput(label, "json", label) for label in origins]
    task = RecordTask(constant_fields.serialize().to_pybytes(), settings_of(job), tuple(inputs))
    texts = {label: [constant_text(origin.value)] for label, origin in origins.items()}
    (batch,) = task.rows(
        pa.RecordBatch.from_pydict(texts, pa.schema([(label, pa.string()) for label in origins]))
    )
    for why in batch.column(ERRORS)[0].as_py() or ():
        path = why["path"]
        label = next(
            label for label in origins if path == label or path.startswith((f"{label}.", f"{label}["))
        )
        message = (
            f"the constant of `{label}` does not fit its field, {schema.field(label).type}: {why['rule']}"
        )
        help = f"`schemac explain {why['rule'].partition(':')[0]}` explains the rule"
        raise PipelineError(INVALID_CONSTANT, message, help, place=("fields", label, "value"))
