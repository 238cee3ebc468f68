"""The places that a value can be read from by Spark: a JSON variant, text, or a column with a type.

Layer: pipeline.
Shape: each `Input` is SQL text for one value, with what is known of it; children are reached by name.
       What is known of a record's file is in the column `FILE`, by Spark's names: `from: _metadata.file_name`. A key of the record that is
       called so is written in backquotes.
Errors: PipelineError for a path that cannot be read, or leads to no member.
Source: Spark's variant keeps what kind of token a value was, which string columns lose; but a number with an exponent, or with more
        than 38 digits, becomes a double, of which `to_json` writes the shortest digits.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import (
    ArrayType,
    DataType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
    VariantType,
)

from schemac.language.physical import with_parts
from schemac.pipeline.errors import PipelineError, did_you_mean
from schemac.pipeline.spark.sql import literal, name
from schemac.rows.judging.settings import Step, UnreadablePathError
from schemac.rows.judging.settings import parse_steps as steps_of_path
from schemac.rows.runs.plain_types import has_decimal, is_count
from schemac.text.source.catalogue import (
    INVALID_RECORD_PATH,
    NO_FILE,
    SOURCE_TYPE_MISMATCH,
    UNKNOWN_SOURCE_COLUMN,
)


@dataclass(frozen=True)
class Json:
    """A value inside of a variant of JSON: a column and the path below it."""

    root: str
    steps: tuple[Step, ...] = ()

    @property
    def text(self) -> str:
        """The value as JSON text."""
        return f"to_json({self.variant})"

    @property
    def variant(self) -> str:
        """The value itself; null where the path leads nowhere."""
        if not self.steps:
            return self.root
        return f"try_variant_get({self.root}, {literal(variant_path(self.steps))}, 'variant')"


@dataclass(frozen=True)
class JsonText:
    """A value in a column of JSON texts."""

    text: str


@dataclass(frozen=True)
class Text:
    """A value in a column of texts: a cell of CSV, the name of a folder."""

    text: str


@dataclass(frozen=True)
class TypedInput:
    """A value in a column with a type, which may be a `CountType`."""

    column: str
    type: DataType


class CountType(DataType):  # type: ignore[misc]  # PySpark is not followed
    """The type of a column of integers that count what Spark has no type for, such as nanoseconds; `arrow_type` is what they mean."""

    def __init__(self, arrow_type: pa.DataType, count: DataType) -> None:
        self.arrow_type = arrow_type
        self.count = count


def counts_type(data_type: pa.DataType, *, has_counts: bool = True) -> pa.DataType:
    """Return a type with integers in place of what Spark reads as counts, of the same widths, and texts in place of decimals that it lacks."""
    is_ = pa.types
    if is_.is_decimal(data_type):
        return data_type if has_decimal(data_type) else pa.string()
    if has_counts and is_count(data_type):
        return pa.int32() if is_.is_time32(data_type) else pa.int64()
    counted = with_parts(
        data_type, lambda part: part.with_type(counts_type(part.type, has_counts=has_counts))
    )
    is_of_lists = is_.is_large_list(counted) or is_.is_fixed_size_list(counted)
    return pa.list_(counted.value_field) if is_of_lists else counted


def arrow_type_of(data_type: DataType, text: pa.DataType | None = None) -> pa.DataType:
    """Return the Arrow type of values of one of Spark's types; that of a count is what it counts, that of texts is `text`.

    Raises PySparkException for a type that Arrow has none for.
    """
    if isinstance(data_type, CountType):
        return data_type.arrow_type
    if isinstance(data_type, StructType):
        return pa.struct(
            [pa.field(part.name, arrow_type_of(part.dataType, text)) for part in data_type.fields]
        )
    if isinstance(data_type, MapType):
        return pa.map_(arrow_type_of(data_type.keyType, text), arrow_type_of(data_type.valueType, text))
    if isinstance(data_type, ArrayType):
        return pa.list_(pa.field("element", arrow_type_of(data_type.elementType, text)))
    if text is not None and isinstance(data_type, StringType):
        return text
    return to_arrow_type(data_type, timezone="UTC")


def with_counts(spark_type: DataType, data_type: pa.DataType) -> DataType:
    """Return Spark's type of a column with a `CountType` for each count in it, given the Arrow type of the source."""
    is_ = pa.types
    if is_count(data_type):
        return CountType(data_type, spark_type)
    if isinstance(spark_type, StructType) and is_.is_struct(data_type):
        parts = zip(spark_type.fields, data_type, strict=True)
        return StructType([StructField(part.name, with_counts(part.dataType, of.type)) for part, of in parts])
    if isinstance(spark_type, MapType) and is_.is_map(data_type):
        key = with_counts(spark_type.keyType, data_type.key_type)
        return MapType(key, with_counts(spark_type.valueType, data_type.item_type))
    if isinstance(spark_type, ArrayType):
        return ArrayType(with_counts(spark_type.elementType, data_type.value_type))
    return spark_type


def without_counts(data_type: DataType) -> DataType:
    """Return a type as Spark has it: integers where something is counted."""
    if isinstance(data_type, CountType):
        return data_type.count
    if isinstance(data_type, ArrayType):
        return ArrayType(without_counts(data_type.elementType))
    if isinstance(data_type, MapType):
        return MapType(without_counts(data_type.keyType), without_counts(data_type.valueType))
    if isinstance(data_type, StructType):
        return StructType(
            [StructField(part.name, without_counts(part.dataType)) for part in data_type.fields]
        )
    return data_type


Input = Json | JsonText | Text | TypedInput


def value_sql(input_: Input) -> str:
    """Return SQL text of the value itself, of JSON as a variant."""
    if isinstance(input_, TypedInput):
        return input_.column
    return input_.variant if isinstance(input_, Json) else input_.text


def variant_path(steps: tuple[Step, ...]) -> str:
    """Return Spark's path for steps below a variant. Raises PipelineError for a key with both kinds of quotes."""
    parts = ["$"]
    for step in steps:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif "'" not in step:
            parts.append(f"['{step}']")
        elif '"' not in step:
            parts.append(f'["{step}"]')
        else:
            message = f"key {step!r} has both kinds of quotes: Spark cannot address it"
            raise PipelineError(INVALID_RECORD_PATH, message)
    return "".join(parts)


def parse_steps(path: str) -> tuple[Step, ...]:
    """Return the keys and positions of a path such as `properties.mag` or `coordinates[0]`. Raises PipelineError."""
    try:
        return steps_of_path(path)
    except UnreadablePathError as error:
        message = f"cannot read the path `{path}` at character {error.position + 1}"
        raise PipelineError(INVALID_RECORD_PATH, message) from None


def typed_input(column: str, data_type: DataType) -> Input:
    """Return the input that a column of a type is."""
    if isinstance(data_type, VariantType):
        return Json(column)
    if isinstance(data_type, StringType):
        return Text(column)
    return TypedInput(column, data_type)


def follow(parent: Input, steps: tuple[Step, ...]) -> Input:
    """Return the input at the end of a path. Raises PipelineError if it leads nowhere."""
    for step in steps:
        match parent, step:
            case Json(), _:
                parent = replace(parent, steps=(*parent.steps, step))
            case TypedInput(column, StructType() as members), str():
                if step not in members.names:
                    raise unknown_column(step, members.names)
                parent = typed_input(f"{column}.{name(step)}", members[step].dataType)
            case TypedInput(column, ArrayType() as items), int():
                parent = typed_input(f"get({column}, {step})", items.elementType)
            case _:
                what = f"`{step}` is looked for in a value that has no members"
                if isinstance(step, int):
                    what = f"[{step}] is looked for in a value that has no items"
                raise PipelineError(SOURCE_TYPE_MISMATCH, what)
    return parent


def leaves(data_type: pa.DataType) -> Iterator[pa.DataType]:
    """Yield the types without parts in a type, the storage types of extensions."""
    if isinstance(data_type, pa.BaseExtensionType):
        yield from leaves(data_type.storage_type)
    elif data_type.num_fields:
        for i in range(data_type.num_fields):
            yield from leaves(data_type.field(i).type)
    else:
        yield data_type


def unknown_column(label: str, known: list[str]) -> PipelineError:
    """Return the error of naming a column that the source does not have."""
    message = f"the source has no column `{label}`"
    return PipelineError(UNKNOWN_SOURCE_COLUMN, message, did_you_mean(label, known))


FILE, METADATA = "__file", "_metadata"
"""The column with what is known of a record's file, and what Spark and an author call it."""


FILE_TYPES = {
    "file_path": StringType(),
    "file_name": StringType(),
    "file_size": LongType(),
    "file_modification_time": TimestampType(),
}


NO_FILE_KNOWN = "cast(null as struct<file_path:string>)"


def file_name(part: str) -> str:
    """Write the name of a file, which Spark gives as a part of a URI; `+` is itself there, and not a blank as in a form."""
    return f"url_decode(replace({part}, '+', '%2B'))"


_PARTS = [
    f"{METADATA}.{part}" if part != "file_name" else f"{file_name(f'{METADATA}.{part}')} as {part}"
    for part in FILE_TYPES
]


OF_FILE = f"struct({', '.join(_PARTS)}) as {FILE}"


def file_part(place: str | None) -> str | None:
    """Return which fact of the record's file a field's `from` names; None for a place in the record."""
    first, _, rest = (place or "").partition(".")
    return rest if first == METADATA and rest in FILE_TYPES else None


def no_file(label: str, format: str) -> PipelineError:
    """Return the error of asking for the file of a record that is in none."""
    message = (
        f"`{label}` is read from the file of a record, but Spark does not report files for a {format} source"
    )
    return PipelineError(NO_FILE, message, f"leave `{label}` out, or give it a `value`")
