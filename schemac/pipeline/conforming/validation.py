"""Plans how the records of a source are validated, and has it done in tasks of ours.

Layer: pipeline.
Shape: `Records` in; a frame of the fields of the schema out, in order, then `_errors`, `_raw`, `_source`. `_errors` is null for a record that
       fits, else array<struct<path, rule, value>> with every reason. The one task over batches (`record_tasks`) runs where the files
       are read, or over batches that Spark brings; SQL stays for expressions and for dates by patterns of Java.
Errors: PipelineError for a mapping that names what the source does not have, and for a column that can never become its field.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, functions
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import ArrayType, DataType, MapType, NullType, StructField, StructType, VariantType

from schemac.arrow.constraints import constraints_of
from schemac.pipeline.conforming.mapping import has_zone, with_zones
from schemac.pipeline.declaration.job import FieldSource, Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.cutting import FAULT
from schemac.pipeline.reading.inputs import (
    CountType,
    Input,
    Json,
    JsonText,
    Text,
    TypedInput,
    arrow_type_of,
    unknown_column,
    value_sql,
)
from schemac.pipeline.reading.records import RECORD, JsonTexts, Records, TypedColumns
from schemac.pipeline.record_tasks import RecordTask, column_type, spark_type
from schemac.pipeline.spark.executors import mapped
from schemac.pipeline.spark.packed import ERRORS, PACKED, RAW, SOURCE
from schemac.pipeline.spark.sql import column_of, literal, name, struct, when
from schemac.rows.judging.arrays import MissingMemberError
from schemac.rows.judging.settings import FieldOrigin, Unexpected, ValidationSettings
from schemac.rows.judging.typed_values import UnreadableTypeError, typed_reader
from schemac.rows.validation.validator import TEXT, FieldInput
from schemac.text.source.catalogue import SOURCE_TYPE_MISMATCH

UNEXPECTED = "unexpected"


@dataclass(frozen=True)
class ValidationPlan:
    """How the records of a source are validated for a schema."""

    records: Records
    schema: pa.Schema
    job: Job
    packs: bool = False

    @classmethod
    def of(cls, records: Records, schema: pa.Schema, job: Job, *, may_pack: bool = False) -> "ValidationPlan":
        """Return the plan for records; with `may_pack` a row of its frame may stand for many of them. Raises PipelineError."""
        if UNEXPECTED in job.warned:
            job = job.model_copy(update={"unexpected": Unexpected.REJECT})
        packs = may_pack and not _looks_at_rows(schema, job) and not job.warned
        return cls(records, with_zones(schema, job), job, packs)

    @cached_property
    def settings(self) -> ValidationSettings:
        """The settings by which tasks validate."""
        values, computed = self.records.values, self.records.computed
        if not isinstance(values, JsonTexts):
            return settings_of(self.job)
        # Places of a JSON record that something else than the text's own fields reads: an expression, or the name of a folder.
        outside: list[tuple[str | int, ...]] = [(key,) for key in computed.used]
        for label in self.schema.names:
            origin = None if label in computed.inputs else self._origin(label)
            if origin is not None and (origin.from_ or label) in self.records.partitions:
                outside.append(values.steps_of(label, origin))
        return settings_of(self.job, tuple(outside))

    def _origin(self, label: str) -> FieldSource | None:
        """Return where a field is read from, by default the column of its name; None if it is set to null."""
        return self.job.fields.get(label, FieldSource())

    @cached_property
    def inputs(self) -> tuple[list[FieldInput], dict[str, str]]:
        """Where tasks read each field, and the SQL of the columns that they get for it, by name."""
        inputs: list[FieldInput] = []
        columns: dict[str, str] = {}

        def column(text: str) -> str:
            label = f"__c{len(columns)}"
            columns[label] = text
            return label

        for member in self.schema:
            column_type(member)
            origin = self._origin(member.name)
            input_ = self._input(member, origin, self.records.input_of(member.name, origin), column)
            failed = self.records.computed.failing.get(member.name)
            if failed is not None and origin is not None:
                input_ = replace(input_, failed=column(failed), expression=origin.expr or "")
            inputs.append(input_)
        return inputs, columns

    def _input(
        self, member: pa.Field, origin: FieldSource | None, source: Input | None, column: Callable[[str], str]
    ) -> FieldInput:
        """Return what a task needs to read a field; `column` adds SQL to the columns that it gets."""
        label = member.name
        if source is None or origin is None:
            return FieldInput(label, "nothing")
        if origin.format is not None:
            if isinstance(source, Json):
                token = source.text
                inner = f"try_variant_get({source.variant}, '$', 'string')"
                content = when(f"startswith({token}, '\"')", inner, token)
            elif isinstance(source, Text):
                token = content = source.text
            else:
                token = content = f"cast({value_sql(source)} as string)"
            micros = f"unix_micros(try_to_timestamp({content}, {literal(origin.format)}))"
            is_json = "true" if isinstance(source, Json) else "false"
            text = struct([("t", token), ("m", micros), ("j", is_json)])
            return FieldInput(label, "pattern", column(text), has_zone=has_zone(origin.format))
        if isinstance(source, Json) and source.root == RECORD:
            return FieldInput(label, "record", epoch=origin.epoch)
        if isinstance(source, Json | JsonText):
            return FieldInput(label, "json", column(source.text), origin.epoch)
        if isinstance(source, Text):
            return FieldInput(label, "column", column(source.text), origin.epoch)
        if _has_type(source.type, VariantType):
            return FieldInput(label, "json", column(f"to_json({source.column})"), origin.epoch)
        count_schema = self._check_type(member, source, origin)
        return FieldInput(label, "column", column(source.column), origin.epoch, count_schema)

    def _check_type(self, member: pa.Field, source: TypedInput, origin: FieldSource) -> bytes:
        """Refuse a column that can never become its field; return the type that its integers count."""
        is_count = isinstance(source.type, CountType)
        type_text = str(source.type.arrow_type) if is_count else source.type.simpleString()
        message = f"`{member.name}` is {member.type}, the source has {type_text}"
        error = PipelineError(SOURCE_TYPE_MISMATCH, message)
        try:
            source_type = arrow_type_of(source.type)
        except PySparkException:
            raise error from None
        column = pa.field(member.name, source_type)
        try:
            typed_reader(member, column, self.settings, epoch=origin.epoch)
        except UnreadableTypeError:
            raise error from None
        except MissingMemberError as missing:
            known = [part.name for part in source_type] if pa.types.is_struct(source_type) else []
            raise unknown_column(str(missing), known) from None
        return pa.schema([column]).serialize().to_pybytes() if _has_type(source.type, CountType) else b""

    @cached_property
    def in_tasks(self) -> list[FieldInput] | None:
        """Where tasks that read the files read each field; None if Spark has to compute something first."""
        if self.records.files is None or not self.packs:
            return None
        inputs, (from_spark, columns) = [], self.inputs
        for one in from_spark:
            column = column_of(columns[one.column]) if one.form == "column" else ""
            if one.failed or one.form in ("json", "pattern") or column is None:
                return None
            inputs.append(replace(one, column=column))
        return inputs

    def _task(self, inputs: Sequence[FieldInput]) -> RecordTask:
        """Return the task that validates the records with these inputs."""
        values, folders = self.records.values, self.records.partitions.items()
        return RecordTask(
            self.schema.serialize().to_pybytes(),
            self.settings,
            tuple(inputs),
            tuple((values.member_steps(label), column) for label, column in folders)
            if isinstance(values, JsonTexts)
            else (),
            keeps_all=_looks_at_rows(self.schema, self.job),
            packs=self.packs,
        )

    def is_text(self, label: str) -> bool:
        """Whether a field is read from a column of texts."""
        return isinstance(self.records.input_of(label, self._origin(label)), Text)

    @property
    def reader(self) -> str:
        """How the records are read, in words."""
        if self.in_tasks is not None:
            return "in the tasks that read the files"
        return "in batches that Spark brings to tasks"

    def frame(self) -> DataFrame:
        """Return typed columns with their reasons; where it packs, some rows may stand for many records."""
        if self.job.unexpected is Unexpected.REJECT:
            self.records.check_columns(self.schema.names, self.job)
        files, inputs = self.records.files, self.in_tasks
        if files is not None and inputs is not None:
            used_columns = dict.fromkeys(one.column for one in inputs if one.column)
            files = replace(files, reader=files.reader.reading([*used_columns]))
            task = self._task(inputs)
            raw_type = from_arrow_type(files.reader.raw_type, prefer_timestamp_ntz=True)
            validated = files.mapped(task, task.spark_schema(raw_type))
        else:
            frame, task = self._spark_rows, self._task(self.inputs[0])
            raw_type = frame.schema[RAW].dataType
            validated = mapped(frame, task.of_frame, task.spark_schema(raw_type))
        raw, values = RAW, self.records.values
        if isinstance(values, TypedColumns) and isinstance(raw_type, StructType):
            raw = values.row_text(lambda label: f"{RAW}.{name(label)}")
        is_needed = "true" if task.keeps_all else f"{ERRORS} is not null"
        nulls = functions.lit(None)
        fields = [
            (nulls.cast(spark_type(member)) if self.packs else functions.col(f"__v{i}")).alias(member.name)
            for i, member in enumerate(self.schema)
        ]
        others = [
            functions.col(ERRORS),
            functions.expr(when(is_needed, raw)).alias(RAW),
            functions.expr(when(is_needed, SOURCE)).alias(SOURCE),
        ]
        return validated.select(*fields, *others, *([functions.col(PACKED)] if self.packs else []))

    @property
    def _spark_rows(self) -> DataFrame:
        """The rows that Spark gives to the tasks: what fields are read from, the record, its file, and its fault."""
        inputs, texts_by_label = self.inputs
        columns = [f"{text} as {label}" for label, text in texts_by_label.items()]
        frame, values = self.records.frame, self.records.values
        if isinstance(values, TypedColumns):
            # Only of a record that is wrong the text is made.
            labels = values.raw_columns
            if labels and all(_is_of_arrow(frame.schema[label]) for label in labels):
                raw = struct((label, name(label)) for label in values.raw_columns)
            else:
                raw = values.row_text(name)
            return frame.selectExpr(f"{raw} as {RAW}", SOURCE, *columns)
        texts: list[str] = []
        if isinstance(values, JsonTexts):
            texts = [f"{when(f'{FAULT} is null', RAW)} as {TEXT}", *self.records.partitions.values()]
            if any(one.form == "pattern" for one in inputs):
                frame = values.parsed(frame)
        return frame.selectExpr(RAW, SOURCE, FAULT, *texts, *columns)


def _looks_at_rows(schema: pa.Schema, job: Job) -> bool:
    """Whether records are compared with each other, or with other tables."""
    rows = constraints_of(schema).rows
    return bool(job.compares_keys or rows.unique or rows.references)


def settings_of(job: Job, consumed_paths: tuple[tuple[str | int, ...], ...] = ()) -> ValidationSettings:
    """Return the settings of validation from a job."""
    origins = {
        label: None if origin is None else FieldOrigin(origin.from_, origin.epoch, origin.zone)
        for label, origin in job.fields.items()
    }
    is_geojson = job.source.format == "geojson"
    return ValidationSettings(
        job.unexpected, job.coerce, job.null_values, job.source.timezone, origins, consumed_paths, is_geojson
    )


def _has_type(data_type: DataType, kind: type[DataType] | tuple[type[DataType], ...]) -> bool:
    """Whether a type, or a part of it, is of a kind."""
    if isinstance(data_type, StructType):
        return any(_has_type(part.dataType, kind) for part in data_type.fields)
    if isinstance(data_type, MapType):
        return _has_type(data_type.keyType, kind) or _has_type(data_type.valueType, kind)
    if isinstance(data_type, ArrayType):
        return _has_type(data_type.elementType, kind)
    return isinstance(data_type, kind)


def _is_of_arrow(field: StructField) -> bool:
    """Whether Arrow has a type for the values of a column."""
    try:
        arrow_type_of(field.dataType)
    except PySparkException:
        return False
    return not _has_type(field.dataType, (VariantType, NullType))
