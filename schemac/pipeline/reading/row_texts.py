"""Rows of typed columns as text that keeps every value, and the rows of such texts.

Layer: pipeline.
Shape: `{"types": {column: type}, "row": {column: value}}`. A type is Spark's word for it, or Arrow's where a column holds counts;
       `{"array": type}`, `{"map": [key, value]}` and `{"struct": {member: type}}` are those with parts.
       Numbers have all their digits; NaN and infinities are words; bytes are base64; dates and timestamps are ISO 8601, an instant in UTC; durations
       are microseconds; a map is a list of `{"key": …, "value": …}`, for a key may stand twice; what is null is written as null.
       A text that is not UTF-8 begins with U+0000, and has each byte as a character of ISO-8859-1 behind it.
Errors: UnreadableRowError for types that no rows can be made of.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from schemac.pipeline.reading.inputs import CountType, arrow_type_of, without_counts
from schemac.pipeline.spark.executors import mapped
from schemac.pipeline.spark.packed import RAW
from schemac.pipeline.spark.sql import fresh_variable, literal, name, struct, when

TYPES, ROW = "types", "row"
EPOCH, _NOT_PLAIN = "timestamp_ntz'1970-01-01'", "decode(X'00', 'ISO-8859-1')"
COUNTED = {
    str(arrow_type): CountType(arrow_type, IntegerType() if pa.types.is_time32(arrow_type) else LongType())
    for arrow_type in (
        pa.timestamp("ns"), pa.timestamp("ns", "UTC"), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"),
        pa.duration("s"), pa.duration("ms"), pa.duration("us"), pa.duration("ns"),
    )
}  # fmt: skip
_MOMENT = re.compile(r"[-+]?[0-9]+-[0-9]{2}-[0-9]{2}(?: [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)?Z?")
"""The only texts of a moment that rows have; numpy would read others too: `today`, `2024`, and nothing as not a time."""
NOT_PLAIN = "\0"
"""What a text begins with that is shown as its bytes."""


class UnreadableRowError(Exception):
    """A type that no rows can be made of."""


def text_of_row(types: Mapping[str, DataType], place: Callable[[str], str]) -> str:
    """Return the SQL text of a row as text; `place` gives the SQL of a column."""
    types_of = {label: _type_json(data_type) for label, data_type in types.items()}
    types_json = json.dumps(types_of, ensure_ascii=False)
    row = struct((label, _json_sql(data_type, place(label))) for label, data_type in types.items())
    row_json = f"to_json({row}, map('ignoreNullFields', 'false'))" if types else "'{}'"
    head = literal(f'{{"{TYPES}": {types_json}, "{ROW}": ')
    return f"concat({head}, {row_json}, {literal('}')})"


def _type_json(data_type: DataType) -> Any:
    """Return the JSON of a type in a row's text."""
    if isinstance(data_type, CountType):
        arrow_type = data_type.arrow_type
        return str(pa.timestamp("ns", "UTC") if getattr(arrow_type, "tz", None) is not None else arrow_type)
    if isinstance(data_type, ArrayType):
        return {"array": _type_json(data_type.elementType)}
    if isinstance(data_type, MapType):
        return {"map": [_type_json(data_type.keyType), _type_json(data_type.valueType)]}
    if isinstance(data_type, StructType):
        return {"struct": {member.name: _type_json(member.dataType) for member in data_type.fields}}
    return data_type.simpleString()


def _json_sql(data_type: DataType, x: str) -> str:
    """Write SQL text of what `to_json` writes so that nothing of the value is lost."""
    if isinstance(data_type, StringType):
        is_plain = f"is_valid_utf8({x}) and not startswith({x}, {_NOT_PLAIN})"
        as_bytes = f"concat({_NOT_PLAIN}, decode(cast({x} as binary), 'ISO-8859-1'))"
        return when(f"{x} is null or {is_plain}", x, as_bytes)
    if isinstance(data_type, DateType | TimestampNTZType):
        return f"cast({x} as string)"
    if isinstance(data_type, TimestampType):
        return f"concat(cast({x} as string), 'Z')"
    if isinstance(data_type, DayTimeIntervalType):
        return f"timestampdiff(MICROSECOND, {EPOCH}, {EPOCH} + {x})"
    if isinstance(data_type, ArrayType):
        item = fresh_variable()
        inner = _json_sql(data_type.elementType, item)
        return x if inner == item else f"transform({x}, {item} -> {inner})"
    if isinstance(data_type, MapType):
        pair = fresh_variable()
        key = _json_sql(data_type.keyType, f"{pair}.key")
        value = _json_sql(data_type.valueType, f"{pair}.value")
        return f"transform(map_entries({x}), {pair} -> {struct([('key', key), ('value', value)])})"
    if isinstance(data_type, StructType) and data_type.fields:
        places = [(member.name, f"{x}.{name(member.name)}", member.dataType) for member in data_type.fields]
        parts = [(label, _json_sql(part_type, place)) for label, place, part_type in places]
        if all(text == place for (_, text), (_, place, _) in zip(parts, places, strict=True)):
            return x
        return when(f"{x} is null", "null", struct(parts))
    return x


def types_of_text(types_json: str) -> dict[str, DataType]:
    """Return the types in the texts of rows. Raises UnreadableRowError."""
    try:
        return {label: _type_of_json(data_type) for label, data_type in json.loads(types_json).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise UnreadableRowError(types_json) from error


def _type_of_json(type_json: Any) -> DataType:
    """Return Spark's type from its form in JSON; `void` and texts of limited length are texts. Raises UnreadableRowError."""
    if isinstance(type_json, str):
        if type_json in COUNTED:
            return COUNTED[type_json]
        try:
            data_type = DataType.fromDDL(type_json)
        except PySparkException as error:
            raise UnreadableRowError(type_json) from error
        # A text of at most so many characters is a text.
        data_type = StringType() if isinstance(data_type, StringType) or type_json == "void" else data_type
        if type(data_type) not in _LEAVES:
            raise UnreadableRowError(type_json)
        return data_type
    ((kind, parts),) = type_json.items()
    if kind == "array":
        return ArrayType(_type_of_json(parts))
    if kind == "map":
        return MapType(*map(_type_of_json, parts))
    return StructType([StructField(label, _type_of_json(part)) for label, part in parts.items()])


def rows_of_texts(texts: DataFrame, types: Mapping[str, DataType]) -> DataFrame:
    """Return the rows of texts in the column `_raw`, next to all columns of the frame."""
    stored_types = StructType(
        [StructField(label, without_counts(data_type)) for label, data_type in types.items()]
    )
    all_types = StructType([*stored_types.fields, *texts.schema.fields])
    return mapped(texts, partial(_with_row_columns, stored_types), all_types)


def _with_row_columns(types: StructType, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Insert the columns of the rows before those of each batch."""
    read = _value_reader(types)
    # Bytes first, because texts may be none; Arrow would not make those of Python's.
    with_bytes, with_texts = arrow_type_of(types, pa.binary()), arrow_type_of(types)
    for batch in batches:
        texts = (json.loads(text, parse_int=str, parse_float=str) for text in batch.column(RAW).to_pylist())
        rows = pa.array([read(text[ROW]) for text in texts], with_bytes).view(with_texts)
        names = [*types.names, *batch.schema.names]
        yield pa.RecordBatch.from_arrays([*rows.flatten(), *batch.columns], names=names)


Read = Callable[[Any], Any]


def _value_reader(data_type: DataType) -> Read:
    """Return what makes the value of a type of what is in the text of a row."""
    if isinstance(data_type, ArrayType):
        item = _value_reader(data_type.elementType)
        return _unless_null(lambda x: [item(part) for part in x])
    if isinstance(data_type, MapType):
        key, value = _value_reader(data_type.keyType), _value_reader(data_type.valueType)
        return _unless_null(lambda x: [(key(pair["key"]), value(pair["value"])) for pair in x])
    if isinstance(data_type, StructType):
        parts = [(part.name, _value_reader(part.dataType)) for part in data_type.fields]
        return _unless_null(lambda x: {label: read(x[label]) for label, read in parts})
    return _unless_null(_LEAVES[type(data_type)])


def _unless_null(read: Read) -> Read:
    """Return a reader that leaves null as it is."""
    return lambda x: None if x is None else read(x)


def _since_epoch(unit: Literal["D", "us"], text: str) -> int:
    """Return the days or microseconds since 1970-01-01; unlike `datetime`, numpy has years of any length, with a sign."""
    assert _MOMENT.fullmatch(text) is not None, text
    return int(np.datetime64(text.removesuffix("Z"), unit).astype(np.int64))


_LEAVES: dict[type[DataType], Read] = {
    StringType: lambda x: x[1:].encode("ISO-8859-1") if x.startswith(NOT_PLAIN) else x.encode(),
    BinaryType: base64.b64decode,
    BooleanType: bool,
    **dict.fromkeys((ByteType, ShortType, IntegerType, LongType, DayTimeIntervalType), int),
    # By way of a double it would be rounded twice.
    FloatType: lambda x: pa.scalar(x).cast(pa.float32()).as_py(),
    DoubleType: float,
    DecimalType: Decimal,
    DateType: partial(_since_epoch, "D"),
    **dict.fromkeys((TimestampType, TimestampNTZType), partial(_since_epoch, "us")),
}
