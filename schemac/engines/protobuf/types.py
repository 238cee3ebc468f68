"""Protobuf's types without parts, its names, and the numbers of fields in messages.

Layer: engines.
Shape: a field also has a name in JSON, and no two of a message the same.
      A schema that came from a `.proto` keeps the numbers that it had there, and a new field gets the next above all that were ever
      given. Any other goes by the ids of the lock, which are never used twice; it needs no numbers of its own.
Source: the language guide of proto3, "Scalar Value Types"; its language specification, "Identifiers"; google/protobuf/timestamp.proto
      and duration.proto, which count nanoseconds; "ProtoJSON Format" for messages that are any value of JSON.
      The language guide of Protocol Buffers, "Assigning Field Numbers": 1 to 536,870,911, without 19,000 to 19,999.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from schemac.arrow.from_arrow import extension_of_kind
from schemac.engines.protobuf.attributes import ENUM_NUMBERS, TYPE
from schemac.language.attributes.attribute import Family
from schemac.language.attributes.builtin import is_utc
from schemac.language.kinds.temporal import ARROW_UNITS
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import LogicalType, SchemaField, preorder
from schemac.versions.identity.compilation import Compilation
from schemac.versions.identity.lock import Former, Numbered, Numbering, Numbers

TIMESTAMP = "google.protobuf.Timestamp"
DURATION = "google.protobuf.Duration"
ENCODINGS = {
    **dict.fromkeys(("sint32", "sfixed32"), "int32"),
    **dict.fromkeys(("sint64", "sfixed64"), "int64"),
    "fixed32": "uint32",
    "fixed64": "uint64",
}
"""Other forms of a scalar type on the wire, with the usual one."""
WRAPPERS = {
    f"google.protobuf.{name}": type_
    for name, type_ in (
        ("BoolValue", "bool"), ("StringValue", "string"), ("BytesValue", "bytes"), ("FloatValue", "float"),
        ("DoubleValue", "double"), ("Int32Value", "int32"), ("Int64Value", "int64"), ("UInt32Value", "uint32"),
        ("UInt64Value", "uint64"),
    )
}  # fmt: skip
"""Messages around a value that may be absent, with the type of the value."""
DOCUMENTS = {
    "google.protobuf.Any": "google/protobuf/any.proto",
    "google.protobuf.Empty": "google/protobuf/empty.proto",
    "google.protobuf.FieldMask": "google/protobuf/field_mask.proto",
    "google.protobuf.Struct": "google/protobuf/struct.proto",
    "google.protobuf.Value": "google/protobuf/struct.proto",
    "google.protobuf.ListValue": "google/protobuf/struct.proto",
}
"""Messages that are any value of JSON, with the files that they are in."""
IMPORTS = {
    TIMESTAMP: "google/protobuf/timestamp.proto",
    DURATION: "google/protobuf/duration.proto",
    **dict.fromkeys(WRAPPERS, "google/protobuf/wrappers.proto"),
    **DOCUMENTS,
}
"""Messages that files import, with the files."""
USUAL = {**ENCODINGS, **WRAPPERS, **dict.fromkeys(DOCUMENTS, "string"), "bytes": "string"}
"""Values of the attribute `type`, with the usual type of fields that can have them."""
ENUM_TYPE = "enum"
"""Stands for an enum of the field's own."""


class ScalarType(NamedTuple):
    """A type of Protobuf without parts."""

    type: str
    is_lossless: bool = False
    """Whether all that the manifest says of the type is in it."""
    becomes: str = ""
    """As losses write it, where the name of the type does not say what it holds."""

    @property
    def is_message(self) -> bool:
        """Whether it may be absent whatever it is declared as."""
        return self.type in IMPORTS


def leaf_of(field: SchemaField) -> ScalarType | None:
    """Return the type of a field without parts; None for types with parts, and for what Protobuf cannot hold."""
    leaf = usual_leaf(field.type)
    other, enum = TYPE.read(field.extra), ENUM_NUMBERS.read(field.extra)
    if leaf is None or (other is None and enum is None):
        return leaf
    if enum is not None:
        return ScalarType(ENUM_TYPE, is_lossless=True) if leaf.type == "string" else leaf
    return leaf._replace(type=other) if other is not None and USUAL.get(other) == leaf.type else leaf


def usual_leaf(declared: LogicalType) -> ScalarType | None:
    """Return the type of a field without parts as its manifest type alone decides it; None as for `leaf_of`."""
    type_: Any = declared
    match type_.family:
        case Family.BOOLEAN:
            return ScalarType("bool", is_lossless=True)
        case Family.TEXT:
            return ScalarType("string", is_lossless=True)
        case Family.INTEGER:
            is_same = type_.bits in (32, 64)
            return ScalarType(f"{'' if type_.is_signed else 'u'}int{max(type_.bits, 32)}", is_same)
        case Family.FLOAT:
            return ScalarType("double" if type_.bits == 64 else "float", type_.bits > 16)
        case Family.BYTES:
            return ScalarType("bytes", type_.fixed_length is None, "bytes of any length")
        case Family.DECIMAL:
            return ScalarType("string", becomes="string, with its digits")
        case Family.DATE:
            return ScalarType("int32", becomes="int32, days since 1970")
        case Family.TIME:
            return ScalarType("int64", becomes=f"int64, {ARROW_UNITS[type_.unit]} since midnight")
        case Family.TIMESTAMP if type_.timezone is None:
            return ScalarType("int64", becomes=f"int64, {ARROW_UNITS[type_.unit]} since 1970 on the clock")
        case Family.TIMESTAMP:
            # Nanoseconds of 64 bits end before 2263; other units count beyond what Protobuf's own type may have.
            if type_.unit == "Nanosecond":
                return ScalarType(TIMESTAMP, is_utc(type_.timezone))
            return ScalarType(TIMESTAMP, becomes=f"{TIMESTAMP}, of the years 1 to 9999")
        case Family.DURATION:
            if type_.unit == "Nanosecond":
                return ScalarType(DURATION, is_lossless=True)
            return ScalarType(DURATION, becomes=f"{DURATION}, of up to 10,000 years")
    extension = extension_of_kind(declared)
    leaf = None if extension is None else usual_leaf(extension.storage)
    return None if leaf is None else leaf._replace(is_lossless=False)


def valid(name: str) -> str:
    """Return the nearest name that a field may have in Protobuf."""
    valid_name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return valid_name if valid_name[:1].isalpha() else f"f_{valid_name}".rstrip("_")


def json_name(name: str) -> str:
    """Return what a field is called in JSON: `pickupTime` for `pickup_time`."""
    return re.sub("_+([A-Za-z0-9]?)", lambda match: match[1].upper(), name)


def message_name(words: str, used_names: Collection[str] = ()) -> str:
    """Return the name of a message: `PickupTime`; one that is taken gets a number."""
    parts = re.findall("[A-Za-z0-9]+", words)
    base_name = "".join(part[0].upper() + part[1:] for part in parts)
    base_name = base_name if base_name[:1].isalpha() else f"M{base_name}"
    number, free = 1, base_name
    while free in used_names:
        number += 1
        free = f"{base_name}{number}"
    return free


NAME = "protobuf"
HIGHEST = 536_870_911
IMPLEMENTATION = range(19_000, 20_000)
"""Numbers that Protocol Buffers keeps for itself."""


def is_number(number: int) -> bool:
    """Whether a field may have a number."""
    return 1 <= number <= HIGHEST and number not in IMPLEMENTATION


def numbers_of(compilation: Compilation) -> Mapping[SchemaField, int]:
    """Return the number of every field: that of its `.proto`, or its id in the lock; without a lock the place in the schema."""
    numbers: Mapping[SchemaField, Numbers] = compilation.numbers or {}
    declared = {
        field: field_numbers.of(NAME)[0] for field, field_numbers in numbers.items() if field_numbers.of(NAME)
    }
    if declared:
        return declared
    return compilation.ids or {field: i for i, field in enumerate(preorder(compilation.dataset.columns), 1)}


def _number(dataset: LogicalDataset, former: Former | None, highest: int) -> Numbered:
    """Return the number of each column and member, the former one where it stays in place, and the highest one."""
    field_numbers: dict[SchemaField, tuple[int, ...]] = {}
    for field in preorder(dataset.columns):
        if not field.is_member:
            continue
        old = former.fields.get(field) if former is not None else None
        if former is not None and old is not None and old.numbers and former.is_in_its_place(field):
            field_numbers[field] = old.numbers
            continue
        highest = max(highest, 0) + 1
        if highest in IMPLEMENTATION:
            highest = IMPLEMENTATION.stop
        field_numbers[field] = (highest,)
    return field_numbers, highest


NUMBERING = Numbering(_number, is_existing_only=True)
