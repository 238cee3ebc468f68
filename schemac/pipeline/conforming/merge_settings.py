"""What `mode: upsert` and `keys: refuse` ask of the schema, and how records that delete are told apart.

Layer: pipeline.
Errors: SC665 merge-setting.
"""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, functions

from schemac.arrow.constrained import constraints_of
from schemac.constraints.rows import UNIQUE_RULE
from schemac.pipeline.conforming.validation import DUPLICATE, primary_key
from schemac.pipeline.declaration.job import DeleteMarker, FieldSource, Job, Keys
from schemac.pipeline.errors import PipelineError, did_you_mean
from schemac.pipeline.spark.columns import DELETE, ERRORS
from schemac.pipeline.spark.sqltext import literal
from schemac.rows.runs.merges import Merge
from schemac.rows.runs.modes import Mode
from schemac.source.catalogue import MERGE_SETTING
from schemac.source.help import Help

MARK = pa.field(DELETE, pa.string())


def merge_of(job: Job, schema: pa.Schema) -> Merge | None:
    """Return how rows meet rows with the same key; None where keys do not matter."""
    keys = tuple(primary_key(schema))
    constraints = () if UNIQUE_RULE in job.warned else constraints_of(schema).rows.unique
    unique = tuple(tuple(field.path for field in one.fields) for one in constraints)
    if job.target.mode is Mode.UPSERT:
        marker = job.target.delete
        deletes = None if marker is None else marker.value
        return Merge(keys, job.target.latest, deletes=deletes, unique=unique)
    is_refused = job.keys is Keys.REFUSE and job.target.mode is not Mode.OVERWRITE
    return Merge(keys, is_refused=True, unique=unique) if is_refused else None


def merge_mistakes(job: Job, schema: pa.Schema) -> Iterator[PipelineError]:
    """Yield what the settings ask for and the schema does not have."""
    target, is_upsert = job.target, job.target.mode is Mode.UPSERT
    if target.is_of_spark and (is_upsert or job.keys is Keys.REFUSE):
        yield _not_merged(target.format, is_upsert=is_upsert)
        return
    if (is_upsert or job.keys is Keys.REFUSE) and not primary_key(schema):
        asked = "`mode: upsert`" if is_upsert else "`keys: refuse`"
        help = "declare the fields that identify a row as its primary key, as `schemac explain SC665` shows"
        place = ("target", "mode") if is_upsert else ("keys",)
        message = f"{asked} needs a primary key, but the schema has none"
        yield PipelineError(MERGE_SETTING, message, help, place=place)
    for name, expression in (("latest", target.latest), ("delete", target.delete)):
        if expression is not None and not is_upsert:
            message = f"`{name}` has no effect with `mode: {target.mode}`"
            yield PipelineError(
                MERGE_SETTING,
                message,
                Help.add_keys("set `mode: upsert`", ("mode", "upsert")),
                place=("target", name),
            )
    if DUPLICATE in job.warned and (is_upsert or job.keys is Keys.REFUSE):
        message = "records with the same key cannot only warn where rows are compared by key"
        yield PipelineError(
            MERGE_SETTING,
            message,
            Help.remove(help="leave `duplicate` out", is_safe=False),
            place=("rules", DUPLICATE),
        )
    if is_upsert and target.latest is not None:
        yield from _latest_mistakes(target.latest, schema)


def _not_merged(format: str | None, *, is_upsert: bool) -> PipelineError:
    """Describe rows that are to meet those of a table in a format of Spark, which no run looks into."""
    asked = "`mode: upsert`" if is_upsert else "`keys: refuse`"
    message = f"{asked} compares keys with those of the table, which a run cannot do in a {format} target"
    instead = "write `mode: append` or `mode: overwrite`" if is_upsert else "write `keys: check`"
    place = ("target", "mode") if is_upsert else ("keys",)
    return PipelineError(MERGE_SETTING, message, f"{instead}, or leave `format` out of `target`", place=place)


def _latest_mistakes(latest: str, schema: pa.Schema) -> Iterator[PipelineError]:
    place = ("target", "latest")
    if latest not in schema.names:
        message = f"`latest` names `{latest}`, but the schema has no such field"
        yield PipelineError(MERGE_SETTING, message, did_you_mean(latest, schema.names), place=place)
    elif not _is_ordered(schema.field(latest).type):
        message = f"the values of `{latest}` cannot be ordered, so none of them is the latest"
        help = "name a field of a number, a date, a timestamp or a text"
        yield PipelineError(MERGE_SETTING, message, help, place=place)


def _is_ordered(data_type: pa.DataType) -> bool:
    is_ = pa.types
    if is_.is_integer(data_type) or is_.is_decimal(data_type) or is_.is_temporal(data_type):
        return True
    return bool(is_.is_float32(data_type) or is_.is_float64(data_type) or is_.is_string(data_type))


def with_marker(job: Job, schema: pa.Schema) -> tuple[Job, pa.Schema]:
    """Have the marker of deleting records read like a field."""
    marker = job.target.delete
    if marker is None:
        return job, schema
    origin = FieldSource.model_validate({"from": marker.from_})
    return job.model_copy(update={"fields": {**job.fields, DELETE: origin}}), schema.append(MARK)


def without_other_reasons(frame: DataFrame, merge: Merge, marker: DeleteMarker | None) -> DataFrame:
    """Let records that delete be right where their key is, and what says how new they are: the rest may be missing.

    Reasons at the marker itself get the path that the author gave it.
    """
    if merge.deletes is None or marker is None:
        return frame
    # A record that is none at all has no path.
    paths = ", ".join(literal(path) for path in ("", DELETE, *merge.columns))
    row_errors = f"filter({ERRORS}, e -> e.path in ({paths}))"
    reduced = f"if(size({row_errors}) = 0, null, {row_errors})"
    deletes = f"coalesce({DELETE} = {literal(merge.deletes)}, false)"
    at_path = f"named_struct('path', {literal(marker.from_)}, 'rule', e.rule, 'value', e.value)"
    named = (
        f"transform(if({deletes}, {reduced}, {ERRORS}), e -> if(e.path = {literal(DELETE)}, {at_path}, e))"
    )
    return frame.withColumn(ERRORS, functions.expr(named))
