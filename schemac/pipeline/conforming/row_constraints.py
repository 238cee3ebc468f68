"""Constraints that no record can break by itself: fields that are unique together, and references to other tables.

Layer: pipeline.
Shape: conformed records in; the same with reasons for those that break one. As in SQL a record with a null among the fields breaks
none, and neither records that are to be deleted nor those that are no records of their format are looked at.
Errors: SC697 reference, at its place in the file, and what opening a table may raise.
"""

from collections.abc import Iterator, Sequence
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window, functions
from pyspark.sql.types import IntegralType, StringType

from schemac.arrow.constraints import constraints_of
from schemac.language.constraints.expressions import FieldNode
from schemac.language.constraints.rows import REFERENCE_RULE, UNIQUE_RULE, ReferenceTo, Unique
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError, did_you_mean
from schemac.pipeline.reading.inputs import Counted, Text, Typed, follow, parse_steps, value_sql
from schemac.pipeline.reading.source import open_records
from schemac.pipeline.spark.packed import DELETE, ERRORS
from schemac.pipeline.spark.sql import literal, name, reason, struct
from schemac.rows.judging.arrays import storage_type
from schemac.rows.runs.identity import Mode
from schemac.text.source.catalogue import REFERENCE


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
            yield PipelineError(
                REFERENCE, message, did_you_mean(label, list(referenced)), place=("references", label)
            )


def rows_checked(frame: DataFrame, schema: pa.Schema, job: Job, keys: Sequence[str]) -> DataFrame:
    """Give a reason to each record that breaks a constraint of rows."""
    rows = constraints_of(schema).rows
    for reference in rows.references:
        if job.references.get(reference.dataset) is not None:
            targets = _opened(frame, reference, schema, job)
            labels = targets.columns
            pairs = zip(reference.fields, labels, strict=True)
            conditions: list[Column] = [
                functions.expr(_column(field)) == targets[label] for field, label in pairs
            ]
            joined = frame.join(
                targets.withColumn("__found", functions.lit(True)), reduce(Column.__and__, conditions), "left"
            )
            is_wrong = f"{_counts(job, reference.fields, frame)} and __found is null"
            checked = _with_reason(joined, is_wrong, reference.path, REFERENCE_RULE, reference.fields)
            frame = checked.drop(*labels, "__found")
    for unique in rows.unique:
        frame = _with_duplicates(frame, unique, job, keys)
    return frame


def _counts(job: Job, fields: Sequence[FieldNode], frame: DataFrame) -> str:
    """Write which records are looked at."""
    # What is wrong with a record as a whole has no path; its columns have what some of its cells said.
    parts = [f"not exists(coalesce({ERRORS}, array()), e -> e.path = '')"]
    parts += [f"{_column(field)} is not null" for field in fields]
    marker = job.target.delete
    if marker is not None and DELETE in frame.columns:
        parts.append(f"not coalesce({name(DELETE)} = {literal(marker.value)}, false)")
    return " and ".join(parts)


def _column(field: FieldNode) -> str:
    """Return the path of a field as a column of SQL, each step quoted as needed."""
    return ".".join(map(name, field.path))


def _with_reason(
    frame: DataFrame, is_wrong: str, path: str, rule: str, fields: Sequence[FieldNode]
) -> DataFrame:
    values = f"to_json({struct((str(field), _column(field)) for field in fields)})"
    why = f"array({reason(literal(path), literal(rule), values)})"
    text = f"if({is_wrong}, concat(coalesce({ERRORS}, array()), {why}), {ERRORS})"
    return frame.withColumn(ERRORS, functions.expr(text))


def _with_duplicates(frame: DataFrame, unique: Unique, job: Job, keys: Sequence[str]) -> DataFrame:
    """Compare the records with each other; in an upsert those of one row are not duplicates, and only the latest one counts."""
    warned = ", ".join(map(literal, ["", *job.warned]))
    is_bad = f"exists(coalesce({ERRORS}, array()), e -> substring_index(e.rule, ':', 1) not in ({warned}))"
    is_counted = functions.expr(f"{_counts(job, unique.fields, frame)} and not {is_bad}")
    is_merged = job.target.mode is Mode.UPSERT and bool(keys)
    if is_merged and job.target.latest is not None:
        of_key = Window.partitionBy(
            functions.expr(f"not {is_bad}"), *(functions.expr(name(key)) for key in keys)
        )
        row_value, newest = (
            functions.expr(name(job.target.latest)),
            functions.max(functions.expr(name(job.target.latest))).over(of_key),
        )
        is_counted &= newest.isNull() | functions.coalesce(row_value >= newest, functions.lit(False))
    candidates = frame.withColumn("__counted", is_counted)
    same = Window.partitionBy("__counted", *(functions.expr(_column(field)) for field in unique.fields))
    if is_merged:
        row = functions.expr(f"struct({', '.join(map(name, keys))})")
        is_duplicate = functions.min(row).over(same) != functions.max(row).over(same)
    else:
        is_duplicate = functions.count(functions.lit(1)).over(same) > 1
    marked = candidates.withColumn("__twins", functions.col("__counted") & is_duplicate)
    checked = _with_reason(marked, "coalesce(__twins, false)", unique.path, UNIQUE_RULE, unique.fields)
    return checked.drop("__counted", "__twins")


def _opened(frame: DataFrame, reference: ReferenceTo, schema: pa.Schema, job: Job) -> DataFrame:
    """Read the fields of the other table that are referred to, each row of values once."""
    place = ("references", reference.dataset)
    try:
        records = open_records(frame.sparkSession, job.part_of_reference(reference.dataset)).parsed()
    except PipelineError as error:
        raise error.at(*place, *(error.place[1:] if error.place[:1] == ("source",) else ())) from error
    if records.columns is None:
        message = f"the table of `{reference.dataset}` has no columns"
        raise PipelineError(REFERENCE, message, "name a table, or files of Parquet or ORC", place=place)
    texts = []
    for i, (field, path) in enumerate(zip(reference.fields, reference.to, strict=True)):
        first, *rest = parse_steps(path)
        if first not in records.columns:
            message = f"the table of `{reference.dataset}` has no column `{first}`"
            raise PipelineError(
                REFERENCE, message, did_you_mean(str(first), list(records.columns)), place=place
            )
        value = follow(records.columns[str(first)], tuple(rest))
        referenced_type = value.type if isinstance(value, Typed) else StringType()
        value_type = frame.select(functions.expr(_column(field))).schema[0].dataType
        if not isinstance(value, Typed | Text) or not (
            value_type == referenced_type
            or (isinstance(value_type, IntegralType) and isinstance(referenced_type, IntegralType))
        ):
            message = f"`{field}` is {value_type.simpleString()}, and `{path}` of `{reference.dataset}` is {referenced_type.simpleString()}"
            raise PipelineError(REFERENCE, message, "give both fields one type", place=place)
        field_type = reduce(
            lambda data_type, part: data_type.field(part).type,
            field.path[1:],
            schema.field(field.path[0]).type,
        )
        if isinstance(value, Counted) and value.arrow_type != storage_type(field_type):
            message = (
                f"`{field}` is {field_type}, and `{path}` of `{reference.dataset}` is {value.arrow_type}"
            )
            raise PipelineError(REFERENCE, message, "give both fields one type", place=place)
        texts.append(f"{value_sql(value)} as __to{i}")
    return records.frame.selectExpr(*texts).dropna().distinct()
