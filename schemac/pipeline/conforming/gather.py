"""The records of all sources of a pipeline in one frame of the table's columns, computed fields included.

Layer: pipeline.
Shape: a job and its Arrow schema in; the columns of `conform` out, one source behind the other, and for each source the count of its
       records. Fields that are at no place of a record (expressions, constants, facts of its file) become columns of their own. An
       expression sees the columns of its source: cells as text, keys of JSON as variants, others as they are typed, and `_metadata`.
Rule: an expression that fails for a record sends it to the quarantine. Spark Connect cannot catch that: there the run stops.
Errors: PipelineError with the place in the file where a source or one of its fields is wrong; SC628, SC629, SC646 of fields.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import Column, DataFrame, Observation, SparkSession, functions

from schemac.pipeline.conforming.mapping import with_zones
from schemac.pipeline.conforming.row_constraints import (
    rows_checked,
    with_delete_marker,
    with_warnings,
    without_other_reasons,
)
from schemac.pipeline.conforming.validation import ValidationPlan, settings_of
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import AbsentPath, PipelineError, did_you_mean
from schemac.pipeline.reading.absent_paths import absent_paths
from schemac.pipeline.reading.inputs import (
    FILE,
    FILE_TYPES,
    METADATA,
    Input,
    Json,
    JsonText,
    file_part,
    no_file,
    parse_steps,
    typed_input,
    value_sql,
)
from schemac.pipeline.reading.records import IN_RECORD, RECORD, ComputedFields, Records
from schemac.pipeline.reading.source import check_input, open_records
from schemac.pipeline.spark.packed import ADDRESS, ADDRESS_FIELD, COUNTED, NOT_PACKED, PACKED
from schemac.pipeline.spark.sql import literal, name, with_operator
from schemac.rows.validation.validator import FieldInput, Validator
from schemac.text.source.catalogue import INVALID_CONSTANT, INVALID_EXPRESSION

ALL, VALUE = "__all", "v"
MISSING = "UNRESOLVED_COLUMN"
MOST_COLUMNS = 1000


def with_computed_fields(records: Records, job: Job) -> Records:
    """Add what the fields of a job need that is at no place of the records."""
    inputs: dict[str, Input] = {}
    failing: dict[str, str] = {}
    if any(origin.expr is not None for origin in job.origins.values()):
        records = records.parsed()
    scope = ExpressionScope(records)
    for label, origin in job.origins.items():
        if origin.value is not None:
            inputs[label] = JsonText(literal(constant_text(origin.value)))
        elif origin.expr is not None:
            inputs[label], failing[label] = scope.add(label, origin.expr)
        elif (part := file_part(origin.from_)) is not None:
            if not records.has_file:
                raise no_file(label, job.source.format)
            inputs[label] = typed_input(f"{FILE}.{part}", FILE_TYPES[part])
    if not inputs:
        return records
    return replace(scope.added(), computed=ComputedFields(inputs, failing, tuple(scope.members)))


def constant_text(value: Any) -> str:
    """Write a constant as JSON."""
    return json.dumps(value, ensure_ascii=False, default=str)


class ExpressionScope:
    """Resolves the expressions of a source: each sees the columns that it names, which Spark's errors tell."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self.members: dict[str, str] = {}
        """SQL text of each column that some expression names."""
        self._columns: list[Column] = []

    def add(self, label: str, text: str) -> tuple[Input, str]:
        """Add an expression; return where its value is, and the SQL condition that it failed."""
        self.resolve(label, text)
        column = f"__e{len(self._columns)}"
        struct_column = functions.named_struct(functions.lit(VALUE), functions.expr(text))
        spark = self._records.frame.sparkSession
        if getattr(spark, "_jvm", None) is not None:
            # Null where to compute it fails.
            struct_column = with_operator(spark, "TryEval", struct_column)
        self._columns.append(struct_column.alias(column))
        try:
            data_type = self._frame().schema[column].dataType[VALUE].dataType
        except PySparkException as error:
            raise expression_error(label, text, error) from error
        return typed_input(f"{column}.{VALUE}", data_type), f"({column} is null)"

    def resolve(self, label: str, text: str) -> None:
        """Find the columns that the expression names, by Spark's errors, one after the other."""
        for _ in range(MOST_COLUMNS):
            try:
                # A generator, which makes several rows of one, is refused inside of a struct.
                inner = functions.named_struct(functions.lit(VALUE), functions.expr(text))
                _ = self._scoped().select(inner).schema
            except AnalysisException as error:
                missed, condition = None, error.getCondition() or ""
                if condition.startswith(MISSING):
                    object_name = (error.getMessageParameters() or {}).get("objectName", "")
                    missed = str(parse_steps(object_name)[0]) if object_name else None
                if missed is None or missed in self.members:
                    raise expression_error(label, text, error) from error
                of = self._records
                if missed in of.partitions:
                    self.members[missed] = of.partitions[missed]
                elif missed == METADATA and of.has_file:
                    self.members[missed] = FILE
                elif of.columns is None:
                    self.members[missed] = Json(RECORD, (*IN_RECORD, missed)).variant
                else:
                    input_ = of.columns.get(missed)
                    if input_ is None:
                        message = f"the expression of `{label}` names `{missed}`, which is not a column of the source"
                        known = [*of.columns, *of.partitions, *([METADATA] if of.has_file else [])]
                        help, place = did_you_mean(missed, known), ("fields", label, "expr")
                        raise PipelineError(INVALID_EXPRESSION, message, help, place=place) from error
                    self.members[missed] = value_sql(input_)
            else:
                return

    def _scoped(self) -> DataFrame:
        """Return the source's columns that expressions name, and all others in one struct."""
        columns = [f"{text} as {name(label)}" for label, text in self.members.items()]
        return self._records.frame.selectExpr(f"struct(*) as {ALL}", *columns)

    def _frame(self) -> DataFrame:
        """Return the columns of the source, with one more for each expression."""
        return self._scoped().select(f"{ALL}.*", *self._columns)

    def added(self) -> Records:
        """Return the records with a column for each expression."""
        return self._records.with_frame(self._frame()) if self._columns else self._records


def expression_error(label: str, text: str, error: PySparkException) -> PipelineError:
    """Return the error of an expression that Spark refuses."""
    first_line = str(error).strip().splitlines()[0]
    message = f"Spark refuses the expression `{text}` of `{label}`: {first_line}"
    help = "see https://spark.apache.org/docs/latest/api/sql/ for its functions"
    if "INVALID_EXTRACT_BASE_FIELD_TYPE" in first_line or "variant" in first_line.lower():
        help = "read a part of a JSON record with a colon, and give its type: `properties:mag::double`"
    return PipelineError(INVALID_EXPRESSION, message, help, place=("fields", label, "expr"))


def expression_mistakes(job: Job) -> Iterator[PipelineError]:
    """Yield the expressions of a source that Spark's parser refuses; nothing without a session. A run asks again, with the columns."""
    spark = SparkSession.getActiveSession()
    for label, origin in job.origins.items() if spark is not None else ():
        if origin.expr is not None:
            try:
                _ = spark.range(0).select(functions.expr(origin.expr)).schema
            except PySparkException as error:
                # Without a source its columns are not there.
                if isinstance(error, ParseException):
                    yield expression_error(label, origin.expr, error)


Opened = Callable[[], Any]
"""Gives lists of `Records`, or a DataFrame that is conformed already."""


class SourceRecords(NamedTuple):
    """The conformed records of all sources in one frame, and how many each source had."""

    frame: DataFrame
    counts: list[Observation]
    """How many records each source had."""
    absent: list[AbsentPath]
    """Paths that the pipeline names, and no record of their source has."""
    reader: str | None = None
    """How the records are read; None where they were conformed before."""

    def check_lists(self, *, is_part: bool) -> None:
        """Refuse to commit nothing of a source because of a list that none of its records has; a part of a source may have none."""
        lost = next((one for one in self.absent if one.loses_records), None)
        if lost is not None and not is_part:
            raise lost.error()


def conform_sources(
    spark: SparkSession, job: Job, schema: pa.Schema, opened: Opened | None, *, may_pack: bool = False
) -> SourceRecords:
    """Conform the records of all sources, and compare their keys; `opened` gives them in place of the job's sources.

    With `may_pack` some rows of the frame may stand for many records (see `packed`).
    """
    given = None if opened is None else opened()
    if isinstance(given, DataFrame):
        observation, rows = Observation("records read"), functions.count(functions.lit(1)).alias("rows")
        return SourceRecords(given.observe(observation, rows), [observation], [])
    frames, readers, counts, absent = [], list[str](), list[Observation](), list[AbsentPath]()
    is_replay = any(ADDRESS in records.partitions for records in given or ())
    for i, part in enumerate(job.parts):
        with job.located_in_part(i):
            check_constants(part, schema)
            marked, read = with_delete_marker(part, schema)
            read = read.append(ADDRESS_FIELD) if is_replay else read
            for unconformed in [open_records(spark, part)] if given is None else given:
                observation = Observation(f"records read from source {i}, {len(counts)}")
                records = with_computed_fields(unconformed, part)
                if given is None:
                    missing = absent_paths(records, part.source, marked.fields)
                    absent += [replace(one, place=job.place_of(i, one.place)) for one in missing]
                validation = ValidationPlan.of(records, read, marked, may_pack=may_pack and given is None)
                conformed_rows = validation.frame()
                readers.append(validation.reader)
                count = COUNTED if PACKED in conformed_rows.columns else "count(1)"
                frames.append(conformed_rows.observe(observation, functions.expr(count).alias("rows")))
                counts.append(observation)
    if any(PACKED in frame.columns for frame in frames):
        frames = [frame if PACKED in frame.columns else frame.selectExpr("*", NOT_PACKED) for frame in frames]
    frame = without_other_reasons(reduce(DataFrame.union, frames), job, schema)
    frame = with_warnings(rows_checked(frame, schema, job), job)
    return SourceRecords(frame, counts, absent, "; ".join(dict.fromkeys(readers)))


def records_read(counts: Sequence[Observation]) -> int:
    """Return how many records were read; Spark's Java has the number."""
    return sum(int(one.get["rows"]) for one in counts)


def source_mistakes(job: Job) -> Iterator[PipelineError]:
    """Yield why a source cannot be read, one reason for each, as far as it is seen without Spark."""
    for i, part in enumerate(job.parts):
        try:
            with job.located_in_part(i):
                check_input(part)
        except PipelineError as error:
            yield error


def check_constants(job: Job, schema: pa.Schema) -> None:
    """Refuses a constant that does not fit its field, by the rules for records: otherwise all records were quarantined."""
    origins = {label: origin for label, origin in job.origins.items() if origin.value is not None}
    if not origins:
        return
    constant_fields = with_zones(pa.schema([schema.field(label) for label in origins], schema.metadata), job)
    inputs = [FieldInput(label, "json", label) for label in origins]
    texts = {label: [constant_text(origin.value)] for label, origin in origins.items()}
    batch = pa.RecordBatch.from_pydict(texts, pa.schema([(label, pa.string()) for label in origins]))
    reasons = Validator(constant_fields, settings_of(job), inputs).validate(batch).reasons
    for why in reasons.by_row().get(0, ()):
        path = why.path
        label = next(one for one in origins if path == one or path.startswith((f"{one}.", f"{one}[")))
        message = f"the constant of `{label}` does not fit its field, {schema.field(label).type}: {why.rule}"
        help = f"`schemac explain {why.rule.partition(':')[0]}` explains the rule"
        raise PipelineError(INVALID_CONSTANT, message, help, place=("fields", label, "value"))
