"""All kinds, in the order of the standard, and the union that they form.

Floor: 4 (kinds).
Source: RFC-016; the order is that of the union in the standard's binary form, counted from 1.
"""

from typing import Annotated, Union

from pydantic import Discriminator

from schemac.attributes.attribute import spellings
from schemac.kinds.decimal import Decimal
from schemac.kinds.map import Map
from schemac.kinds.null import Null
from schemac.kinds.option import Option
from schemac.kinds.plain import (
    Bool,
    Float16,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
)
from schemac.kinds.sequences import Binary, List, String
from schemac.kinds.struct import Struct
from schemac.kinds.temporal import Date, Duration, Time, Timestamp
from schemac.logical.model import LogicalType

KINDS: tuple[type[LogicalType], ...] = (
    Binary,
    Bool,
    Date,
    Decimal,
    Duration,
    Float16,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    List,
    Map,
    Null,
    Option,
    Struct,
    Time,
    Timestamp,
    String,
)

BY_NAME: dict[str, type[LogicalType]] = {kind.__name__: kind for kind in KINDS}
"""Kinds by their name in manifests."""

SPELLINGS: dict[str, str] = {spelling: name for name in BY_NAME for spelling in spellings(name)}
"""Every accepted spelling of a kind, to its name."""

FOREIGN_NAMES: dict[str, str] = {
    **dict.fromkeys(("bigint", "long", "int8byte"), "Int64"),
    **dict.fromkeys(("int", "integer", "i32"), "Int32"),
    **dict.fromkeys(("smallint", "short", "i16"), "Int16"),
    **dict.fromkeys(("tinyint", "byte", "i8"), "Int8"),
    **dict.fromkeys(("u8", "ubyte"), "UInt8"),
    **dict.fromkeys(("u16", "ushort"), "UInt16"),
    **dict.fromkeys(("u32", "uint", "unsigned"), "UInt32"),
    **dict.fromkeys(("u64", "ulong"), "UInt64"),
    "i64": "Int64",
    **dict.fromkeys(("double", "float8", "number", "f64", "doubleprecision"), "Float64"),
    **dict.fromkeys(("float", "real", "f32", "single"), "Float32"),
    **dict.fromkeys(("half", "halffloat", "f16", "bfloat16"), "Float16"),
    **dict.fromkeys(
        ("varchar", "char", "text", "str", "utf8", "largestring", "largeutf8", "stringview", "uuid"), "String"
    ),
    **dict.fromkeys(("bytes", "bytea", "blob", "varbinary", "largebinary"), "Binary"),
    **dict.fromkeys(("boolean", "bit"), "Bool"),
    **dict.fromkeys(("datetime", "timestamptz", "timestampltz", "timestampntz", "instant"), "Timestamp"),
    **dict.fromkeys(("date32", "date64"), "Date"),
    **dict.fromkeys(("time32", "time64"), "Time"),
    "interval": "Duration",
    **dict.fromkeys(("numeric", "money", "decimal128", "decimal256", "dec"), "Decimal"),
    **dict.fromkeys(("array", "sequence", "vector", "embedding", "largelist", "fixedsizelist"), "List"),
    **dict.fromkeys(("row", "record", "object"), "Struct"),
    **dict.fromkeys(("dict", "dictionary", "hashmap"), "Map"),
    **dict.fromkeys(("nullable", "optional", "maybe"), "Option"),
    **dict.fromkeys(("none", "void", "nil"), "Null"),
}
"""What other systems call it, without case and punctuation, to our kind."""

LogicalType.union = Annotated[Union[KINDS], Discriminator("kind")]  # noqa: UP007 — made from a tuple
