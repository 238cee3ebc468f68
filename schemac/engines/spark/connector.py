"""lance-spark: columns as Spark has them, the table that it makes of them, what it loses, and what it cannot read.

Layer: engines.
Shape: columns of Spark and table properties become the Arrow fields that the connector gives to Lance, and their metadata as text. The
      lowered fields are compared with these place by place: layout, nullability, names of items, and what the attributes say. All that
      differs is told, so that nothing can be left out by forgetting it.
Errors: warning SC523.
Source: `SchemaConverter.processSchemaWithProperties` and `LanceArrowUtils.toArrowField` of github.com/lance-format/lance-spark, the
      tables that lance-spark 0.4.0 made of our statements, and tables that pylance wrote of every type, read with lance-spark 0.4.0 and
      a build of August 2026.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from schemac.arrow.from_arrow import decoded
from schemac.arrow.metadata import (
    EXTENSION_METADATA,
    EXTENSION_NAME,
    field_metadata,
    forms,
    registered_extension_metadata,
)
from schemac.artifacts.targets import Emission, load_target
from schemac.engines.spark import ENGINE, SPARK_CONNECTOR
from schemac.engines.spark import columns as lance_spark
from schemac.engines.spark.columns import SparkField, storage_version
from schemac.engines.spark.versions import NEWEST_KNOWN, Connector
from schemac.language.attributes import arrow, builtin
from schemac.language.attributes.arrow import DICTIONARY_ENCODING
from schemac.language.attributes.attribute import Role
from schemac.language.attributes.registry import domain_of, has_role
from schemac.language.logical.model import SchemaField
from schemac.language.physical import ArrowField, ArrowType, LoweredField, pa, parts_of
from schemac.text.source.phrases import Help
from schemac.versions.identity.compilation import Compilation

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_TEXTS = ("string", "char(", "varchar(", "variant")
"""Words for texts; a variant is none, and the connector refuses a statement with one."""
BLOB_SINCE = "2.2"
"""The storage version from which on a blob is a struct of its own type."""


def made_table(
    connector: Connector, columns: Sequence[SparkField], properties: Mapping[str, str], key: Sequence[str]
) -> list[ArrowField]:
    """Return the columns of the table as Lance gets them from a version of the connector, without what DDL cannot express."""
    made = []
    key_positions = {name: str(i) for i, name in enumerate(key, 1)} if connector.is_since_0_5 else {}
    for column in columns:
        metadata = _comment(column.comment)
        type_ = _type(connector, column.type.json, column.is_nullable)
        type_ = _with_properties(connector, column.name, type_, metadata, properties)
        if column.name in key_positions:
            # The second statement marks the key.
            metadata[lance_spark.PRIMARY_KEY] = "true"
            metadata[lance_spark.PRIMARY_KEY_POSITION] = key_positions[column.name]
        made.append(pa.field(column.name, type_, column.is_nullable, metadata or None))
    return made


def _comment(text: str | None) -> dict[str, str]:
    return {} if text is None else {lance_spark.COMMENT: text}


def _with_properties(
    connector: Connector, name: str, type_: Any, metadata: dict[str, str], properties: Mapping[str, str]
) -> ArrowType:
    """Return the type of a column after its table properties, some of which become metadata."""

    def property_of(suffix: str) -> str | None:
        return properties.get(f"{name}.{suffix}")

    is_newer = connector.is_since_0_5
    for encoding in lance_spark.ENCODINGS if is_newer else ():
        value = property_of(f"lance.{encoding}")
        if value is not None:
            metadata[lance_spark.ENCODING_PREFIX + encoding] = value
    size, width = property_of(lance_spark.VECTOR_SIZE), property_of(lance_spark.BYTE_WIDTH)
    if size is not None:
        item = pa.float16() if property_of(lance_spark.FLOAT16) and is_newer else type_.value_type
        return pa.list_(type_.value_field.with_type(item), int(size))
    if width is not None and is_newer:
        return pa.binary(int(width))
    if property_of("arrow.large_var_char"):
        return pa.large_string()
    if property_of("lance.encoding") != "blob":
        return type_
    if properties[lance_spark.FILE_FORMAT_VERSION] >= BLOB_SINCE:
        metadata[EXTENSION_NAME] = lance_spark.BLOB_EXTENSION
        return blob_type()
    metadata[lance_spark.BLOB] = "true"
    return pa.large_binary()


def _type(connector: Connector, json: Any, is_nullable: bool) -> ArrowType:
    """Return the type that Lance gets; DDL keeps nothing of the metadata of members but their comments."""
    if isinstance(json, str):
        return _atomic(json)
    if json["type"] == "array":
        # What DDL has no words for, Spark takes for allowed.
        name = "item" if connector.is_since_0_5 else "element"
        return pa.list_(pa.field(name, _type(connector, json["elementType"], True)))
    if json["type"] == "map":
        key = pa.field("key", _type(connector, json["keyType"], False), nullable=False)
        return pa.map_(key, pa.field("value", _type(connector, json["valueType"], True)))
    members = []
    for member in json["fields"]:
        # A parent that is null makes its members null.
        is_member_nullable = member["nullable"] or (is_nullable and connector.is_since_0_5)
        type_ = _type(connector, member["type"], is_member_nullable)
        metadata = _comment(member["metadata"].get(lance_spark.COMMENT))
        members.append(pa.field(member["name"], type_, is_member_nullable, metadata or None))
    return pa.struct(members)


def blob_type() -> ArrowType:
    """Return the struct of a blob."""
    places = [(name, pa.uint64()) for name in ("position", "size")]
    return pa.struct([("data", pa.large_binary()), ("uri", pa.string()), *places])


@cache
def _atomic(name: str) -> ArrowType:
    """Return the Arrow type of a Spark type without parts, by its name in JSON."""
    if name.startswith(_TEXTS):
        return pa.string()
    if name.startswith("time("):
        return pa.time64("ns")
    if match := _DECIMAL.fullmatch(name):
        return pa.decimal128(int(match[1]), int(match[2]))
    return ATOMIC[name]()


ATOMIC: Mapping[str, Callable[[], ArrowType]] = {
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
    **dict.fromkeys(("timestamp", "timestamp_ltz"), lambda: pa.timestamp("us", "UTC")),
    "timestamp_ntz": lambda: pa.timestamp("us"),
    "interval day to second": lambda: pa.duration("us"),
}
"""Spark's types without parameters, but for texts, by their words in JSON."""


Lose = Callable[[SchemaField, str, str], None]


def report_differences(
    field: LoweredField, made: ArrowField, reported_paths: frozenset[str], lose: Lose
) -> None:
    """Report how a field of the table that the connector makes, and all below it, differs from the expected one.

    The types of the fields in `reported_paths` have been reported already.
    """
    schema_field: SchemaField = field.field
    arrow = field.arrow
    expected_type: Any = arrow.type
    metadata = field.metadata
    if isinstance(expected_type, pa.BaseExtensionType):
        metadata = {**metadata, **registered_extension_metadata(expected_type)}
        expected_type = expected_type.storage_type
    if made.nullable and not arrow.nullable:
        lose(schema_field, "a value that may not be null", "one that may")
    if metadata:
        _report_metadata(schema_field, metadata, decoded(made.metadata), lose)
    if not field.children and expected_type.equals(made.type):
        return
    words, becomes = _layout(expected_type), _layout(made.type)
    # Lance keeps JSON in its own layout, whatever the text is in.
    is_json = getattr(arrow.type, "extension_name", "") == "arrow.json"
    if words != becomes and schema_field.path_text not in reported_paths and not is_json:
        lose(schema_field, words, becomes)
    if not field.children:
        return
    # What is in a vector of plain values Lance itself does not keep.
    if pa.types.is_fixed_size_list(expected_type) and not pa.types.is_struct(expected_type.value_type):
        return
    parts = parts_of(made.type)
    if len(parts) == len(field.children):
        for child, part in zip(field.children, parts, strict=True):
            if pa.types.is_list(made.type) and child.arrow.name != part.name:
                lose(schema_field, f"the name {child.arrow.name} of its items", part.name)
            report_differences(child, part, reported_paths, lose)


def _layout(type_: ArrowType) -> str:
    """Return a type without its parts."""
    if not pa.types.is_nested(type_):
        return str(type_)
    if pa.types.is_fixed_size_list(type_):
        of = "" if pa.types.is_nested(type_.value_type) else f" of {type_.value_type}"
        return f"a vector of length {type_.list_size}{of}"
    if pa.types.is_large_list(type_):
        return "a list with large offsets"
    if pa.types.is_map(type_):
        return "a map"
    if pa.types.is_struct(type_):
        return "a struct"
    return "a list"


def _report_metadata(
    field: SchemaField, expected: Mapping[str, str], made: Mapping[str, str], lose: Lose
) -> None:
    """Enter what the table does not know of a field, in the author's words."""
    is_commented = lance_spark.COMMENT in made
    lost = [
        key
        for key, value in expected.items()
        if value and made.get(key) != value and not (is_commented and key == builtin.DESCRIPTION.key)
    ]
    if EXTENSION_NAME in lost:
        is_json = has_role(field.extra, Role.JSON)
        lost_type = "JSON" if is_json else f"the extension type {expected[EXTENSION_NAME]}"
        lose(field, lost_type, "a text" if is_json else "its storage")
    entries = set(lost) - {EXTENSION_NAME, EXTENSION_METADATA}
    # Sorted, for the order of keys means nothing.
    for key, value in sorted(field.extra.items()):
        if key == arrow.METADATA.key:
            words = [f"the metadata {name}" for name in sorted(entries & value.keys())]
        else:
            # `dictDivisor of lance.org/encoding`, or the attribute as a whole.
            form = forms().get(domain_of(key))
            mine = sorted(entries & field_metadata({key: value}).keys())
            names = [form.property_of(key, entry) if form is not None else "" for entry in mine]
            words = [f"{name} of {key}" if name else f"the attribute {key}" for name in names]
        for word in dict.fromkeys(words):
            lose(field, word, "nothing")


_OFFSET = re.compile(r"[+-]\d\d(:?\d\d)?")
_TABLE = "cannot read a table with"


def report_connector(compilation: Compilation, emission: Emission, asked: frozenset[str]) -> None:
    """Report what its tables differ in, also if Spark is the only target; and warn of each field that it stumbles over.

    It stumbles where Lance and Spark are both asked for, or a version of it.
    """
    of_storage = load_target(ENGINE.alters).of_storage
    if of_storage is not None and ENGINE.alters not in asked:
        of_storage(compilation, emission)
    if "spark" not in compilation.versions and not asked >= {"lance", "spark"}:
        return
    connector = Connector.of(compilation.versions.get("spark", NEWEST_KNOWN))
    version = storage_version(compilation.dataset.schema.extra)
    added = set() if connector.is_since_0_5 else set(_added_members(compilation))
    for field in compilation.lowered.preorder():
        schema_field: SchemaField = field.field
        obstacles = list(_obstacles(field, connector))
        if not connector.is_since_0_5 and version >= BLOB_SINCE and has_role(schema_field.extra, Role.BLOB):
            what = f"refuses the CREATE TABLE of a blob in files of version {version}"
            help = 'write `lance.org/storageVersion: "2.1"`, make the table with `schemac run`, or use lance-spark 0.5 or newer'
            obstacles.append((what, help))
        if schema_field in added:
            what = "stops the JVM when it reads rows that were written before their struct had this member"
            help = "add a column instead, write all rows anew, or use lance-spark 0.5 or newer"
            obstacles.append((what, help))
        for what, help in obstacles:
            message = f"{schema_field.path_text}: {connector} {what}"
            emission.findings.at_type(schema_field, SPARK_CONNECTOR, message, help=help)


def _added_members(compilation: Compilation) -> Iterator[SchemaField]:
    """Yield the struct members that are missing in some locked version; none without a lock."""
    ids = compilation.ids
    if ids is None:
        return
    members = {
        (ids[schema_field], ids[child]): child
        for field in compilation.lowered.preorder()
        if pa.types.is_struct(field.arrow.type)
        for schema_field, child in ((field.field, one.field) for one in field.children)
    }
    for past in compilation.past() if members else ():
        assert past.ids is not None
        there = set(past.ids.values())
        for (struct, member), schema_field in members.items():
            if struct in there and member not in there:
                yield schema_field


def _obstacles(field: LoweredField, connector: Connector) -> Iterator[tuple[str, str]]:
    """Yield what the connector cannot do with a column, each with the help for it."""
    type_: Any = field.arrow.type
    if isinstance(type_, pa.BaseExtensionType):
        if type_.extension_name == "arrow.uuid" and not connector.is_since_0_5:
            yield (
                "writes `arrow.uuid` from a DataFrame as bytes of any length, which no reader can read",
                "write the rows with `schemac run`, leave the extension type out, or use lance-spark 0.5 or newer",
            )
        if type_.extension_name == "arrow.json" and field.field.parent is None:
            yield (
                "cannot read a JSON column; it can read the other columns",
                "remove `lance.org/json`, or do not read the column with Spark",
            )
        type_ = type_.storage_type
    if pa.types.is_dictionary(type_):
        what = f"{_TABLE} a dictionary"
        if not connector.is_since_0_5:
            what = "returns the indices of a dictionary instead of its values"
        yield what, Help.remove_attribute(f"remove `{DICTIONARY_ENCODING.key}`", DICTIONARY_ENCODING.key)
    elif pa.types.is_decimal(type_) and type_.bit_width == 256:
        yield f"{_TABLE} a decimal of 256 bits", "write a precision of at most 38, without `bitWidth: 256`"
    elif pa.types.is_duration(type_) and type_.unit != "us":
        yield f"{_TABLE} a Duration in {type_.unit}", Help.retype("unit", "Microsecond")
    elif pa.types.is_timestamp(type_) and type_.tz is not None and _OFFSET.fullmatch(type_.tz):
        yield (
            f"stops the JVM when it reads the zone {type_.tz}",
            "write the name of a zone, such as `Asia/Kolkata`, or use UTC",
        )
    elif not connector.is_since_0_5:
        for is_met, what in _LATER.items():
            if is_met(type_):
                yield f"{_TABLE} {what}", "use lance-spark 0.5 or newer"


_LATER: Mapping[Callable[[Any], bool], str] = {
    lambda t: pa.types.is_time(t): "a Time",
    lambda t: pa.types.is_timestamp(t) and t.unit != "us": "a Timestamp with a unit other than Microsecond",
    lambda t: pa.types.is_float16(t): "a Float16",
    lambda t: pa.types.is_large_list(t): "a list with large offsets",
    lambda t: pa.types.is_map(t): "a Map",
}
"""What versions before 0.5 do not read."""
