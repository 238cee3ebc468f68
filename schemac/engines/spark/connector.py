"""The table that lance-spark makes of a CREATE TABLE.

Layer: engines.
Shape: columns of Spark and table properties become the Arrow fields that the connector gives to Lance, and their
metadata as text.
Source: `SchemaConverter.processSchemaWithProperties` and `LanceArrowUtils.toArrowField` of
github.com/lance-format/lance-spark, and the tables that lance-spark 0.4.0 made of our statements.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from schemac.arrow.lower_metadata import EXTENSION_NAME
from schemac.engines.spark.columns import SparkField
from schemac.engines.spark.marks import (
    BLOB,
    BLOB_EXTENSION,
    BYTE_WIDTH,
    COMMENT,
    ENCODING_PREFIX,
    ENCODINGS,
    FLOAT16,
    PRIMARY_KEY,
    PRIMARY_KEY_POSITION,
    VECTOR_SIZE,
)
from schemac.engines.spark.versions import Connector
from schemac.physical.arrow import ArrowField, ArrowType, pa
from schemac.source.json_object import Json

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_TEXTS = ("string", "char(", "varchar(", "variant")
"""Words for texts; a variant is none, and the connector refuses a statement with one."""
BLOB_SINCE = "2.2"
"""The storage version from which on a blob is a struct of its own type."""


class MadeField(NamedTuple):
    """A column as Lance is given it."""

    name: str
    type: ArrowType
    is_nullable: bool
    metadata: Mapping[str, str]

    def to_arrow(self) -> ArrowField:
        """Return the same as Arrow has it."""
        return pa.field(self.name, self.type, self.is_nullable, dict(self.metadata) or None)


class Maker:
    """What one version of the connector makes."""

    def __init__(self, connector: Connector) -> None:
        self.connector = connector

    def table(
        self, columns: Sequence[SparkField], properties: Mapping[str, str], version: str, key: Sequence[str]
    ) -> list[MadeField]:
        """Return the columns of the table; what DDL does not say of a column is not in them."""
        made = []
        key_positions = {name: str(i) for i, name in enumerate(key, 1)} if self.connector.knows_widths else {}
        # Most tables have no property of a column; the version of the files is one of the table.
        are_described = len(properties) > 1
        for column in columns:
            metadata = {} if column.comment is None else {COMMENT: column.comment}
            type_ = self.type(column.type.json, column.is_nullable)
            field = MadeField(column.name, type_, column.is_nullable, metadata)
            if are_described and column.metadata:  # of which all properties are made
                field = self.with_properties(field, properties, version)
            made.append(_with_key(field, key_positions) if key_positions else field)
        return made

    def with_properties(self, made: MadeField, properties: Mapping[str, str], version: str) -> MadeField:
        """Return what the table properties of a column make of it."""
        type_: Any = made.type
        metadata = {**made.metadata}

        def property_of(suffix: str) -> str | None:
            return properties.get(f"{made.name}.{suffix}")

        is_newer = self.connector.knows_widths
        size, width = property_of(VECTOR_SIZE), property_of(BYTE_WIDTH)
        if size is not None:
            item = pa.float16() if property_of(FLOAT16) and is_newer else type_.value_type
            type_ = pa.list_(type_.value_field.with_type(item), int(size))
        elif width is not None and is_newer:
            type_ = pa.binary(int(width))
        elif property_of("arrow.large_var_char"):
            type_ = pa.large_string()
        elif property_of("lance.encoding") == "blob" and version >= BLOB_SINCE:
            metadata[EXTENSION_NAME] = BLOB_EXTENSION
            type_ = blob_type()
        elif property_of("lance.encoding") == "blob":
            metadata[BLOB] = "true"
            type_ = pa.large_binary()
        for encoding in ENCODINGS if is_newer else ():
            value = property_of(f"lance.{encoding}")
            if value is not None:
                metadata[ENCODING_PREFIX + encoding] = value
        return made._replace(type=type_, metadata=metadata)

    def field(self, name: str, json: Any, is_nullable: bool, metadata: Json | None = None) -> ArrowField:
        """Return a field; DDL keeps nothing of the metadata of members but their comments."""
        return pa.field(name, self.type(json, is_nullable), is_nullable, metadata or None)

    def type(self, json: Any, is_nullable: bool) -> ArrowType:
        """Return the type that Lance is given."""
        if isinstance(json, str):
            return _atomic(json)
        if json["type"] == "array":
            # What DDL has no words for, Spark takes for allowed.
            return pa.list_(self.field(self.connector.item_name, json["elementType"], is_nullable=True))
        if json["type"] == "map":
            key = self.field("key", json["keyType"], is_nullable=False)
            return pa.map_(key, self.field("value", json["valueType"], is_nullable=True))
        members = []
        for member in json["fields"]:
            comment = member["metadata"].get(COMMENT)
            # A parent that is null makes its members null.
            is_relaxed = is_nullable and self.connector.loosens_members
            metadata = {} if comment is None else {COMMENT: comment}
            members.append(
                self.field(member["name"], member["type"], is_relaxed or member["nullable"], metadata)
            )
        return pa.struct(members)


def blob_type() -> ArrowType:
    """Return the struct of a blob."""
    members = (
        ("data", pa.large_binary()),
        ("uri", pa.string()),
        ("position", pa.uint64()),
        ("size", pa.uint64()),
    )
    return pa.struct([pa.field(name, type_) for name, type_ in members])


def _with_key(made: MadeField, key_positions: Mapping[str, str]) -> MadeField:
    """Return a column of the key as the second statement marks it."""
    key_position = key_positions.get(made.name)
    if key_position is None:
        return made
    return made._replace(metadata={**made.metadata, PRIMARY_KEY: "true", PRIMARY_KEY_POSITION: key_position})


@cache
def _atomic(name: str) -> ArrowType:
    if name.startswith(_TEXTS):
        return pa.string()
    if name.startswith("time("):
        return pa.time64("ns")
    if match := _DECIMAL.fullmatch(name):
        return pa.decimal128(int(match[1]), int(match[2]))
    return _ATOMIC[name]()


_ATOMIC: Mapping[str, Callable[[], ArrowType]] = {
    "boolean": lambda: pa.bool_(),
    "byte": lambda: pa.int8(),
    "short": lambda: pa.int16(),
    "integer": lambda: pa.int32(),
    "long": lambda: pa.int64(),
    "float": lambda: pa.float32(),
    "double": lambda: pa.float64(),
    "binary": lambda: pa.binary(),
    "date": lambda: pa.date32(),
    "void": lambda: pa.null(),
    "timestamp": lambda: pa.timestamp("us", "UTC"),
    "timestamp_ntz": lambda: pa.timestamp("us"),
    "interval day to second": lambda: pa.duration("us"),
}
