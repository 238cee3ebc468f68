"""Records of a source, and where a field finds its value in them; items of a list as records of their own (`explode`).

Layer: pipeline.
Shape: `Records` are rows of Spark, or batches in tasks of ours; `JsonTexts`, `RecordColumns` and `TypedColumns` say, each for one sort of source, which input is at
      the place that a field names. Fields that are at no place of a record (expressions, constants, its file) are `ComputedFields`.
      An exploded record has the item in place of its list, once for each item: `lines.sku` is then a path into the item, and `id`
      one into the record around it (see `json_records` for those of JSON).
Rule: a list that is empty, null or missing gives no record, or with `keepEmpty` one without an item.
Errors: PipelineError for a column that the source does not have, and for one that no field takes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

from pyspark.sql import DataFrame, functions
from pyspark.sql.types import ArrayType, DataType, StructField, StructType

from schemac.pipeline.declaration.job import Explode, FieldSource, Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.cutting import FAULT, FileBatches
from schemac.pipeline.reading.inputs import (
    Input,
    Json,
    Text,
    follow,
    parse_steps,
    unknown_column,
    variant_path,
)
from schemac.pipeline.spark.packed import RAW
from schemac.pipeline.spark.sql import END, literal, name, parse_json_sql
from schemac.rows.judging.settings import Step, own_steps
from schemac.text.source.catalogue import SOURCE_TYPE_MISMATCH, UNEXPECTED_COLUMN, UNKNOWN_SOURCE_COLUMN

ITEM = "__item"
PLACE = ("source", "explode")


def items_of_columns(
    frame: DataFrame, types: dict[str, DataType], explode: Explode
) -> tuple[DataFrame, dict[str, DataType]]:
    """Give the rows of a column's items, and the types of the columns then."""
    first, *rest = [str(step) for step in parse_steps(explode.path)]
    if first not in types:
        raise unknown_column(first, [*types])
    item_type = _item_type(types[first], tuple(rest), explode.path)
    place = functions.col(".".join(name(step) for step in (first, *rest)))
    made = functions.explode_outer(place) if explode.keep_empty else functions.explode(place)
    if not rest:
        columns = [
            made.alias(label) if label == first else functions.col(name(label)) for label in frame.columns
        ]
        return frame.select(*columns), {**types, first: item_type}
    inside = functions.col(name(first)).withField(".".join(map(name, rest)), functions.col(ITEM))
    items = frame.select("*", made.alias(ITEM)).withColumn(first, inside).drop(ITEM)
    return items, {**types, first: item_type}


def _item_type(data_type: DataType, rest: tuple[str, ...], path: str) -> DataType:
    """Give the type of a column with the item in place of the list."""
    if not rest:
        if isinstance(data_type, ArrayType):
            return data_type.elementType
        message = f"`explode` names `{path}`, which is {data_type.simpleString()} in the source, not a list"
        raise PipelineError(SOURCE_TYPE_MISMATCH, message, "name a list of the source", place=PLACE)
    if not isinstance(data_type, StructType):
        message = f"`explode` names `{path}`, and `{rest[0]}` is looked for in a value that has no members"
        raise PipelineError(SOURCE_TYPE_MISMATCH, message, "name a list of the source", place=PLACE)
    if rest[0] not in data_type.names:
        raise unknown_column(rest[0], data_type.names)
    item = StructField(rest[0], _item_type(data_type[rest[0]].dataType, rest[1:], path))
    return StructType([item if part.name == rest[0] else part for part in data_type.fields])


RECORD = "_record"
"""The column of a record of JSON as a variant."""
IN_RECORD = (0,)
# An object: a number or a list where a record should be is as unreadable as a broken one.
IS_RECORD = (
    f"coalesce(try_variant_get({RECORD}, '$[1].{END}', 'boolean'), false) and startswith(ltrim({RAW}), '{{')"
)
"""Whether the parsed text was one record of JSON and nothing else."""


@dataclass(frozen=True)
class JsonTexts:
    """Records that are texts of JSON, which are taken apart by the task that validates them, or by Spark as variants."""

    is_geojson: bool = False
    columns: ClassVar[None] = None

    def parsed(self, frame: DataFrame) -> DataFrame:
        """Add the records as variants, for what Spark computes with them."""
        return (
            frame if RECORD in frame.columns else frame.selectExpr("*", f"{parse_json_sql(RAW)} as {RECORD}")
        )

    def steps_of(self, label: str, origin: FieldSource) -> tuple[Step, ...]:
        """Where a field is in a record."""
        if origin.from_ is not None:
            return parse_steps(origin.from_)
        return own_steps(label, is_geojson=self.is_geojson)

    def member_steps(self, label: str) -> tuple[Step, ...]:
        """Where a record has the member that is called as a folder's name is."""
        return ("properties", label) if self.is_geojson else (label,)

    def input_of(self, label: str, origin: FieldSource, _: dict[str, str]) -> Input:
        """Where a field is read."""
        return follow(Json(RECORD, IN_RECORD), self.steps_of(label, origin))

    def is_broken(self, partitions: dict[str, str]) -> str:
        """Return the condition that a record is malformed."""
        conditions = [f"not ({FAULT} is null and {IS_RECORD})"]
        for label, column in partitions.items():
            path = literal(variant_path((*IN_RECORD, *self.member_steps(label))))
            member = f"try_variant_get({RECORD}, {path}, 'string')"
            conditions.append(f"({member} is not null and not ({member} <=> {column}))")
        return f"({' or '.join(conditions)})"


@dataclass(frozen=True)
class RecordColumns:
    """Records that have columns, as inputs by their names: cells of CSV are texts."""

    columns: dict[str, Input]
    absent: dict[str, str] = field(default_factory=dict, kw_only=True)
    """For columns that the header of some file lacks, that file."""

    def input_of(self, label: str, origin: FieldSource, partitions: dict[str, str]) -> Input:
        """Where a field is read."""
        column_name = label if origin.from_ is None else origin.from_
        if column_name in self.columns:
            return self.columns[column_name]
        first, *rest = parse_steps(column_name)
        if first in self.absent:
            message = (
                f"`{self.absent[str(first)]}` has no column `{first}`, but other files of the source have it"
            )
            raise PipelineError(UNKNOWN_SOURCE_COLUMN, message, "read these files in two runs")
        if first not in self.columns:
            place = ("source", "path") if origin.from_ is None else ("fields", label, "from")
            raise unknown_column(str(first), [*self.columns, *partitions]).at(*place)
        return follow(self.columns[str(first)], tuple(rest))


@dataclass(frozen=True)
class TypedColumns(RecordColumns):
    """Records with columns that have types; `row_text` writes one as text, out of the columns `raw_columns` and where they are."""

    raw_columns: tuple[str, ...]
    row_text: Callable[[Callable[[str], str]], str]


@dataclass(frozen=True)
class ComputedFields:
    """Values of fields that are at no place of a record, and for those with an expression the condition that it failed."""

    inputs: dict[str, Input] = field(default_factory=dict)
    failing: dict[str, str] = field(default_factory=dict)
    used: tuple[str, ...] = ()
    """Columns, or keys, that expressions name."""


@dataclass(frozen=True)
class Records:
    """Records of a source, a batch at a time, and how a field finds its value in them."""

    rows: Callable[[], DataFrame]
    """Makes the frame: a row for each record."""
    values: JsonTexts | RecordColumns
    partitions: dict[str, str] = field(default_factory=dict)
    """The column of each name that a folder gives."""
    files: FileBatches | None = None
    """The files that tasks of ours can read; None where each record has to pass through Spark."""
    has_file: bool = True
    """Whether `FILE` says of each record which file it is from."""
    computed: ComputedFields = ComputedFields()
    exploded: DataFrame | None = None
    """The records whose items these are."""

    @cached_property
    def frame(self) -> DataFrame:
        """A row for each record; made when it is asked for."""
        return self.rows()

    @property
    def columns(self) -> dict[str, Input] | None:
        """The columns of a source that has columns."""
        return self.values.columns

    @property
    def is_broken(self) -> str:
        """Return the SQL condition over `parsed` that a record is malformed."""
        if isinstance(self.values, JsonTexts):
            return self.values.is_broken(self.partitions)
        return "false" if isinstance(self.values, TypedColumns) else f"{FAULT} is not null"

    def with_frame(self, frame: DataFrame) -> "Records":
        """Take other rows with the same columns."""
        return replace(self, rows=lambda: frame, files=None)

    def parsed(self) -> "Records":
        """Parse every record with Spark, for expressions over its values."""
        values, frame = self.values, self.frame
        return self.with_frame(values.parsed(frame) if isinstance(values, JsonTexts) else frame)

    def input_of(self, label: str, origin: FieldSource | None) -> Input | None:
        """Return where a field is read; None if the job has no source for it."""
        if origin is None:
            return None
        if label in self.computed.inputs:
            return self.computed.inputs[label]
        column_name = label if origin.from_ is None else origin.from_
        if column_name in self.partitions:
            return Text(self.partitions[column_name])
        return self.values.input_of(label, origin, self.partitions)

    def check_columns(self, labels: list[str], job: Job) -> None:
        """Refuse a column that no field reads; unexpected keys of JSON are found in each record."""
        if isinstance(self.values, JsonTexts):
            return
        read = [label for label in labels if label not in self.computed.inputs]
        used = {(job.fields.get(label) or FieldSource()).from_ or label for label in read}
        used |= {*self.computed.used}
        used |= {path.split(".")[0].split("[")[0] for path in used}
        extra = sorted({*self.values.columns, *self.values.absent} - used)
        if extra:
            more = f" (and {len(extra) - 1} more)" if len(extra) > 1 else ""
            message = f"no field reads the column `{extra[0]}`{more}"
            raise PipelineError(UNEXPECTED_COLUMN, message, "add the field, or set `unexpected: ignore`")
