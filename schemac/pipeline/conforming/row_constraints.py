"""Rows that meet other rows: those with the same key or unique fields, references to other tables, and the settings of that.

Layer: pipeline.
Shape: conformed records in; the same with reasons for those that break a constraint that no record can break by itself. As in SQL a
record with a null among the fields breaks none, and neither records that are to be deleted nor those that are no records of their format
are looked at.
Errors: SC665 merge-setting; SC697 reference, at its place in the file, and what opening a table may raise.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window, functions
from pyspark.sql.types import IntegralType, StringType

from schemac.arrow.constraints import constraints_of, key_paths
from schemac.language.constraints.expressions import FieldNode
from schemac.language.constraints.rows import DUPLICATE_RULE, REFERENCE_RULE, UNIQUE_RULE, ReferenceTo, Unique
from schemac.language.logical.model import dotted
from schemac.pipeline.declaration.job import FieldSource, Job, Keys
from schemac.pipeline.errors import PipelineError, did_you_mean, leave_out, located
from schemac.pipeline.reading.inputs import (
    CountType,
    Text,
    TypedInput,
    follow,
    parse_steps,
    value_sql,
    without_counts,
)
from schemac.pipeline.reading.source import open_records
from schemac.pipeline.spark.packed import DELETE, ERRORS, WARNINGS
from schemac.pipeline.spark.sql import literal, name, reason, struct
from schemac.rows.judging.arrays import storage_type
from schemac.rows.runs.identity import Mode
from schemac.rows.runs.tables import Merge
from schemac.text.source.catalogue import MERGE_SETTING, REFERENCE
from schemac.text.source.phrases import Help

MARK = pa.field(DELETE, pa.string())
_IS = pa.types
ORDERED = (_IS.is_integer, _IS.is_decimal, _IS.is_temporal, _IS.is_float32, _IS.is_float64, _IS.is_string)
"""Whether a type is one of those whose values have an order."""


def merge_of(job: Job, schema: pa.Schema) -> Merge | None:
    """Return how rows meet rows with the same key; None where keys do not matter."""
    is_upsert = job.target.mode is Mode.UPSERT
    if not is_upsert and (job.keys is not Keys.REFUSE or job.target.mode is Mode.OVERWRITE):
        return None
    # `merge_mistakes` refuses members of structs.
    keys = tuple([column for (column,) in key_paths(schema)])
    constraints = () if UNIQUE_RULE in job.warned else constraints_of(schema).rows.unique
    unique = tuple(tuple(field.path for field in one.fields) for one in constraints)
    if not is_upsert:
        return Merge(keys, is_refused=True, unique=unique)
    marker = job.target.delete
    return Merge(keys, job.target.latest, deletes=None if marker is None else marker.value, unique=unique)


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
    parts = key_paths(schema)
    members = [dotted(path) for path in parts if len(path) > 1]
    if compares and members:
        message = f"{setting} compares rows by their primary key, and `{members[0]}` of the key is inside a struct, where no table is searched for it"
        instead = "`mode: append`" if is_upsert else "`keys: check`, which compares the records of the run"
        yield PipelineError(MERGE_SETTING, message, f"make it a column, or write {instead}", place=place)
    if compares and not parts:
        help = "declare the fields that identify a row as its primary key, as `schemac explain SC665` shows"
        message = f"{setting} needs a primary key, but the schema has none"
        yield PipelineError(MERGE_SETTING, message, help, place=place)
    for key, expression in (("latest", target.latest), ("delete", target.delete)):
        if expression is not None and not is_upsert:
            message = f"`{key}` has no effect with `mode: {target.mode}`"
            upsert = Help.add_keys("set `mode: upsert`", ("mode", "upsert"))
            yield PipelineError(MERGE_SETTING, message, upsert, place=("target", key))
    if DUPLICATE_RULE in job.warned and compares:
        message = "records with the same key cannot only warn where rows are compared by key"
        yield PipelineError(
            MERGE_SETTING, message, leave_out(DUPLICATE_RULE), place=("rules", DUPLICATE_RULE)
        )
    if is_upsert and target.latest is not None:
        place = ("target", "latest")
        if target.latest not in schema.names:
            message = f"`latest` names `{target.latest}`, but the schema has no such field"
            near = did_you_mean(target.latest, schema.names)
            yield PipelineError(MERGE_SETTING, message, near, place=place)
        elif not any(is_kind(schema.field(target.latest).type) for is_kind in ORDERED):
            message = f"the values of `{target.latest}` cannot be ordered, so none of them is the latest"
            help = "name a field of a number, a date, a timestamp or a text"
            yield PipelineError(MERGE_SETTING, message, help, place=place)


def with_delete_marker(job: Job, schema: pa.Schema) -> tuple[Job, pa.Schema]:
    """Return the job and the schema with the marker of deleting records as one more field."""
    marker = job.target.delete
    if marker is None:
        return job, schema
    origin = FieldSource.model_validate({"from": marker.from_})
    return job.model_copy(update={"fields": {**job.fields, DELETE: origin}}), schema.append(MARK)


def without_other_reasons(frame: DataFrame, job: Job, schema: pa.Schema) -> DataFrame:
    """Return a frame in which records that delete have only the reasons against their key and their order.

    Reasons at the marker itself get the path that the author gave it.
    """
    merge, marker = merge_of(job, schema), job.target.delete
    if merge is None or merge.deletes is None or marker is None:
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


def reference_mistakes(job: Job, schema: pa.Schema) -> Iterator[PipelineError]:
    """Yield an error for each reference without a table, and for each table without a reference."""
    referenced = {one.dataset for one in constraints_of(schema).rows.references}
    for dataset in sorted(referenced - job.references.keys()):
        message = f"the schema refers to the dataset `{dataset}`, but the pipeline does not name its table"
        help = f"write `references: {{{dataset}: {{path: {dataset}{job.target.engine.table_suffix}}}}}` with its path, or `{{{dataset}: null}}` to leave it unchecked"
        yield PipelineError(REFERENCE, message, help)
    for label in job.references:
        if label not in referenced:
            message = f"`references` names `{label}`, but the schema does not refer to such a dataset"
            near = did_you_mean(label, list(referenced))
            yield PipelineError(REFERENCE, message, near, place=("references", label))


def rows_checked(frame: DataFrame, schema: pa.Schema, job: Job) -> DataFrame:
    """Return a frame with reasons for rows that break a constraint with other rows, or with other tables."""
    rows, key = constraints_of(schema).rows, key_paths(schema)
    for reference in rows.references:
        if job.references.get(reference.dataset) is not None:
            targets = _referenced_values(frame, reference, schema, job)
            labels = targets.columns
            pairs = zip(reference.fields, labels, strict=True)
            equal: list[Column] = [
                functions.expr(_column_sql(field.path)) == targets[label] for field, label in pairs
            ]
            marked = targets.withColumn("__found", functions.lit(True))
            joined = frame.join(marked, reduce(Column.__and__, equal), "left")
            is_wrong = f"{_is_compared_sql(job, reference.fields, frame)} and __found is null"
            values = _named_columns([field.path for field in reference.fields])
            frame = _with_reason(joined, is_wrong, reference.path, REFERENCE_RULE, values)
            frame = frame.drop(*labels, "__found")
    for unique in rows.unique:
        frame = _with_duplicates(frame, unique, job, key)
    if not key or not (job.compares_keys or DUPLICATE_RULE in job.warned):
        return frame
    # Of records with one key the latest counts; those that are equally late are judged as duplicates.
    paths = [*key, *([] if job.target.latest is None else [(job.target.latest,)])]
    is_good = functions.expr(_is_good_sql(job))
    same = Window.partitionBy(is_good, *(functions.expr(_column_sql(path)) for path in paths))
    marked = frame.withColumn("__twins", is_good & (functions.count(functions.lit(1)).over(same) > 1))
    values = _named_columns(paths)
    path_text = ",".join(map(dotted, paths))
    return _with_reason(marked, "__twins", path_text, DUPLICATE_RULE, values).drop("__twins")


def with_warnings(frame: DataFrame, job: Job) -> DataFrame:
    """Return a frame with the reasons of rules that only warn in a column of their own."""
    if not job.warned:
        return frame
    columns = [name(column) for column in frame.columns if column != ERRORS]
    columns += [f"filter({ERRORS}, {_is_warned_sql(job)}) as {WARNINGS}"]
    split = frame.selectExpr(*columns, f"filter({ERRORS}, {_is_warned_sql(job, 'not in')}) as {ERRORS}")
    return split.withColumn(ERRORS, functions.expr(f"if(size({ERRORS}) > 0, {ERRORS}, null)"))


def _is_warned_sql(job: Job, word: str = "in") -> str:
    """Write the test whether the rule of a reason only warns."""
    return f"x -> substring_index(x.rule, ':', 1) {word} ({', '.join(map(literal, ['', *job.warned]))})"


def _is_good_sql(job: Job) -> str:
    """Write the test whether a record has no reason but those that only warn."""
    return f"not exists(coalesce({ERRORS}, array()), {_is_warned_sql(job, 'not in')})"


def _is_compared_sql(job: Job, fields: Sequence[FieldNode], frame: DataFrame) -> str:
    """Write which records are looked at."""
    # What is wrong with a record as a whole has no path; its columns have what some of its cells said.
    parts = [f"not exists(coalesce({ERRORS}, array()), e -> e.path = '')"]
    parts += [f"{_column_sql(field.path)} is not null" for field in fields]
    marker = job.target.delete
    if marker is not None and DELETE in frame.columns:
        parts.append(f"not coalesce({name(DELETE)} = {literal(marker.value)}, false)")
    return " and ".join(parts)


def _column_sql(path: tuple[str, ...]) -> str:
    """Return the path of a field as a column of SQL, each step quoted as needed."""
    return ".".join(map(name, path))


def _named_columns(paths: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """Yield the names of fields, and the columns of SQL that they are."""
    return ((dotted(path), _column_sql(path)) for path in paths)


def _with_reason(
    frame: DataFrame, is_wrong: str, path: str, rule: str, values: Iterable[tuple[str, str]]
) -> DataFrame:
    """Add a reason to the rows that are wrong; its value are columns by their names."""
    why = f"array({reason(literal(path), literal(rule), f'to_json({struct(values)})')})"
    text = f"if({is_wrong}, concat(coalesce({ERRORS}, array()), {why}), {ERRORS})"
    return frame.withColumn(ERRORS, functions.expr(text))


def _with_duplicates(frame: DataFrame, unique: Unique, job: Job, key: Sequence[tuple[str, ...]]) -> DataFrame:
    """Add a reason to records with the same unique fields; in an upsert those of one row are not duplicates, and only the latest one counts."""
    is_good = _is_good_sql(job)
    is_counted = functions.expr(f"{_is_compared_sql(job, unique.fields, frame)} and {is_good}")
    is_merged = job.target.mode is Mode.UPSERT and bool(key)
    if is_merged and job.target.latest is not None:
        of_key = Window.partitionBy(functions.expr(is_good), *map(functions.expr, map(_column_sql, key)))
        row_value = functions.expr(name(job.target.latest))
        newest = functions.max(row_value).over(of_key)
        is_counted &= newest.isNull() | functions.coalesce(row_value >= newest, functions.lit(False))
    candidates = frame.withColumn("__counted", is_counted)
    paths = [field.path for field in unique.fields]
    same = Window.partitionBy("__counted", *(functions.expr(_column_sql(path)) for path in paths))
    if is_merged:
        row = functions.expr(f"struct({', '.join(map(_column_sql, key))})")
        is_duplicate = functions.min(row).over(same) != functions.max(row).over(same)
    else:
        is_duplicate = functions.count(functions.lit(1)).over(same) > 1
    marked = candidates.withColumn("__twins", functions.col("__counted") & is_duplicate)
    values = _named_columns(paths)
    checked = _with_reason(marked, "coalesce(__twins, false)", unique.path, UNIQUE_RULE, values)
    return checked.drop("__counted", "__twins")


def _referenced_values(frame: DataFrame, reference: ReferenceTo, schema: pa.Schema, job: Job) -> DataFrame:
    """Read the fields of the other table that are referred to, each row of values once."""
    place = ("references", reference.dataset)
    with located(*place):
        records = open_records(frame.sparkSession, job.part_of_reference(reference.dataset)).parsed()
    if records.columns is None:
        message = f"the table of `{reference.dataset}` has no columns"
        raise PipelineError(REFERENCE, message, "name a table, or files of Parquet or ORC", place=place)
    texts = []
    for i, (field, path) in enumerate(zip(reference.fields, reference.to, strict=True)):
        first, *rest = parse_steps(path)
        if first not in records.columns:
            message = f"the table of `{reference.dataset}` has no column `{first}`"
            help = did_you_mean(str(first), list(records.columns))
            raise PipelineError(REFERENCE, message, help, place=place)
        value = follow(records.columns[str(first)], tuple(rest))
        source_type = value.type if isinstance(value, TypedInput) else StringType()
        referenced_type = without_counts(source_type)
        value_type = frame.select(functions.expr(_column_sql(field.path))).schema[0].dataType
        if not isinstance(value, TypedInput | Text) or not (
            value_type == referenced_type
            or (isinstance(value_type, IntegralType) and isinstance(referenced_type, IntegralType))
        ):
            message = f"`{field}` is {value_type.simpleString()}, and `{path}` of `{reference.dataset}` is {referenced_type.simpleString()}"
            raise PipelineError(REFERENCE, message, "give both fields one type", place=place)
        outer_type = schema.field(field.path[0]).type
        field_type = reduce(lambda data_type, part: data_type.field(part).type, field.path[1:], outer_type)
        if isinstance(source_type, CountType) and source_type.arrow_type != storage_type(field_type):
            message = f"`{field}` is {field_type}, and `{path}` of `{reference.dataset}` is {source_type.arrow_type}"
            raise PipelineError(REFERENCE, message, "give both fields one type", place=place)
        texts.append(f"{value_sql(value)} as __to{i}")
    return records.frame.selectExpr(*texts).dropna().distinct()
