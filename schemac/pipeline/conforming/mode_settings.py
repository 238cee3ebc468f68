"""The settings of `mode: upsert`, `keys: refuse` and `mode: backfill` in a pipeline file.

Layer: pipeline.
Shape: a job and its schema in; each mistake with its place in the file out.
Errors: SC665 merge-setting; SC667 backfill-setting.
"""

from collections.abc import Iterator

import pyarrow as pa
from pydantic.alias_generators import to_camel
from pyspark.sql import DataFrame, functions

from schemac.arrow.constraints import constraints_of, key_columns
from schemac.language.constraints.rows import DUPLICATE_RULE, UNIQUE_RULE
from schemac.pipeline.conforming.mapping import Mistake
from schemac.pipeline.declaration.job import DeleteMarker, FieldSource, Job, Keys
from schemac.pipeline.errors import PipelineError, did_you_mean
from schemac.pipeline.spark.packed import DELETE, ERRORS
from schemac.pipeline.spark.sql import literal
from schemac.rows.runs.columns import COLUMN_SINK
from schemac.rows.runs.identity import Mode
from schemac.rows.runs.tables import Merge, sink_names
from schemac.text.source.catalogue import BACKFILL_SETTING, MERGE_SETTING
from schemac.text.source.help import Help
from schemac.text.source.json_object import TreePath

MARK = pa.field(DELETE, pa.string())
_IS = pa.types
ORDERED = (_IS.is_integer, _IS.is_decimal, _IS.is_temporal, _IS.is_float32, _IS.is_float64, _IS.is_string)
"""Whether a type is one of those whose values have an order."""


def merge_of(job: Job, schema: pa.Schema) -> Merge | None:
    """Return how rows meet rows with the same key; None where keys do not matter."""
    keys = tuple(key_columns(schema))
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
    compares = is_upsert or job.keys is Keys.REFUSE
    setting = "`mode: upsert`" if is_upsert else "`keys: refuse`"
    place = ("target", "mode") if is_upsert else ("keys",)
    if target.is_of_spark and compares:
        # No run looks into such a table.
        message = f"{setting} compares keys with those of the table, which a run cannot do in a {target.format} target"
        instead = "write `mode: append` or `mode: overwrite`" if is_upsert else "write `keys: check`"
        help = f"{instead}, or leave `format` out of `target`"
        yield PipelineError(MERGE_SETTING, message, help, place=place)
        return
    if compares and not key_columns(schema):
        help = "declare the fields that identify a row as its primary key, as `schemac explain SC665` shows"
        message = f"{setting} needs a primary key, but the schema has none"
        yield PipelineError(MERGE_SETTING, message, help, place=place)
    for name, expression in (("latest", target.latest), ("delete", target.delete)):
        if expression is not None and not is_upsert:
            message = f"`{name}` has no effect with `mode: {target.mode}`"
            upsert = Help.add_keys("set `mode: upsert`", ("mode", "upsert"))
            yield PipelineError(MERGE_SETTING, message, upsert, place=("target", name))
    if DUPLICATE_RULE in job.warned and compares:
        message = "records with the same key cannot only warn where rows are compared by key"
        without = Help.remove(help="leave `duplicate` out", is_safe=False)
        yield PipelineError(MERGE_SETTING, message, without, place=("rules", DUPLICATE_RULE))
    if is_upsert and target.latest is not None:
        place = ("target", "latest")
        if target.latest not in schema.names:
            message = f"`latest` names `{target.latest}`, but the schema has no such field"
            yield PipelineError(
                MERGE_SETTING, message, did_you_mean(target.latest, schema.names), place=place
            )
        elif not any(is_kind(schema.field(target.latest).type) for is_kind in ORDERED):
            message = f"the values of `{target.latest}` cannot be ordered, so none of them is the latest"
            help = "name a field of a number, a date, a timestamp or a text"
            yield PipelineError(MERGE_SETTING, message, help, place=place)


def with_marker(job: Job, schema: pa.Schema) -> tuple[Job, pa.Schema]:
    """Have the marker of deleting records read like a field."""
    marker = job.target.delete
    if marker is None:
        return job, schema
    origin = FieldSource.model_validate({"from": marker.from_})
    return job.model_copy(update={"fields": {**job.fields, DELETE: origin}}), schema.append(MARK)


def without_other_reasons(frame: DataFrame, merge: Merge, marker: DeleteMarker | None) -> DataFrame:
    """Accept records that delete if their key and their order are valid: other fields may be missing.

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


NO_QUARANTINE = (
    "rows of a backfill stay in their table: a value that does not fit stops the run, with all reasons"
)
WITHOUT = {
    "quarantine": NO_QUARANTINE,
    "max_quarantined": NO_QUARANTINE,
    "rules": NO_QUARANTINE,
    "trigger": "a backfill cannot be a stream: let a schedule run it again, with `where` for the rows that have no value yet",
    "checkpoint": "a backfill is no stream",
    "keys": "a backfill adds no rows",
    "unexpected": "a backfill reads the columns that its fields name",
}
"""Settings that a backfill does not have, and why."""
WITHOUT_IN_TARGET = ("latest", "delete", "allow_empty", "max_rows_per_file", "options")


def backfill_mistakes(job: Job, schema: pa.Schema) -> Iterator[Mistake]:
    """Find settings at the wrong place."""
    if not job.is_backfill:
        help = Help.remove(help="set `mode: backfill` under `target`, or leave it out", is_safe=False)
        for label in ("joins", "where"):
            if getattr(job, label):
                yield _wrong((label,), f"`{label}` is for a backfill", help)
        for i, part in enumerate(job.parts):
            for label, origin in part.fields.items():
                if origin is not None and origin.python is not None:
                    place = job.place_of(i, ("fields", label, "python"))
                    yield _wrong(place, "`python` is for a backfill", help)
        return
    unused: list[tuple[tuple[str, ...], str]]
    unused = [((to_camel(one),), f": {why}") for one, why in WITHOUT.items() if one in job.model_fields_set]
    settings = job.target.model_fields_set
    unused += [(("target", to_camel(one)), "") for one in WITHOUT_IN_TARGET if one in settings]
    for place, why in unused:
        help = Help.remove(help=f"leave it out{why}", is_safe=False)
        yield _wrong(place, f"a backfill has no `{place[-1]}`", help)
    if job.target.is_of_spark or not COLUMN_SINK.is_of(job.target.engine):
        able = ", ".join(f"`{label}`" for label in sink_names())
        message = f"columns of a {job.target.format} table cannot be filled"
        yield _wrong(("target", "format"), message, f"backfills fill tables of {able}", is_key=False)
    if not job.fields:
        message = "the backfill names no field to fill"
        yield _wrong(("target", "mode"), message, "name the columns under `fields`", is_key=False)
    for label, origin in job.fields.items():
        if origin is not None and origin.columns and origin.python is None:
            message = "`columns` is for functions only: an expression names its columns itself"
            yield _wrong(
                ("fields", label, "columns"), message, Help.remove(help="leave it out", is_safe=False)
            )
    for label in job.joins:
        if label in schema.names:
            message = f"`{label}` is the name of both a join and a column of the table"
            yield _wrong(("joins", label), message, "give the join another name")


def _wrong(place: TreePath, message: str, help: str, *, is_key: bool = True) -> Mistake:
    """Return a mistake of the backfill's settings at a place; `is_key` marks the key there, not its value."""
    return Mistake(place, PipelineError(BACKFILL_SETTING, message, help, place=place), is_key=is_key)
