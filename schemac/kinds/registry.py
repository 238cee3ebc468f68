"""All kinds, in the order of the standard.

Layer: kinds.
Source: RFC-016; the order is that of the union in the standard's binary form, counted from 1.
"""

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

LogicalType.kinds = BY_NAME
