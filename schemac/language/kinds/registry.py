"""All kinds, in the order of the standard, and their names in other systems.

Layer: language.
Shape: names of other systems are compared without case and punctuation; `manifest.foreign` reads what is in brackets
after them.
Source: RFC-016; the order is that of the union in the standard's binary form, counted from 1. Other names are those of
SQL dialects, Spark, Flink, Iceberg, Arrow, protobuf, Python, Rust and ClickHouse.
"""

from schemac.language.attributes.attribute import spellings
from schemac.language.kinds.nested import Map, Null, Option, Struct
from schemac.language.kinds.plain import (
    Bool,
    Decimal,
    Float16,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    PlainType,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
)
from schemac.language.kinds.sequences import Binary, List, String
from schemac.language.kinds.temporal import Date, Duration, Time, Timestamp
from schemac.language.logical.model import LogicalType

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

LogicalType.kinds = BY_NAME


ARROW_NAMES: dict[str, str] = {
    "null": "Null",
    **{kind.arrow_text: kind.__name__ for kind in KINDS if issubclass(kind, PlainType)},
}
"""Kinds by what pyarrow prints for their one Arrow type."""

FOREIGN_NAMES: dict[str, str] = {name: kind.__name__ for kind in KINDS for name in kind.foreign_names}
"""What other systems call it, to our kind."""
