"""What keeps lance-spark from reading, or from making, a table that Lance itself reads.

Layer: engines.
Errors: warning SC523.
Source: tables that pylance wrote of every type, read with lance-spark 0.4.0 and a build of August 2026.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from schemac.artifacts.emission import Compilation, Emission
from schemac.attributes.arrow import DICTIONARY_ENCODING
from schemac.attributes.attribute import Role
from schemac.attributes.registry import has_role
from schemac.engines.spark.codes import SPARK_CONNECTOR
from schemac.engines.spark.connector import BLOB_SINCE
from schemac.engines.spark.storage import storage_version
from schemac.engines.spark.versions import NEWEST_KNOWN, Connector
from schemac.logical.schema_fields import SchemaField
from schemac.physical.arrow import pa
from schemac.physical.field import LoweredField
from schemac.source.help import Help

_OFFSET = re.compile(r"[+-]\d\d(:?\d\d)?")
_TABLE = "cannot read a table with"


def warn_of_unreadable(compilation: Compilation, emission: Emission, asked: frozenset[str]) -> None:
    """Warn of each field that it stumbles over, where Lance and Spark are both asked for, or a version of it."""
    if "spark" not in compilation.versions and not asked >= {"lance", "spark"}:
        return
    connector = Connector.of(compilation.versions.get("spark", NEWEST_KNOWN))
    version = storage_version(compilation.dataset.schema.extra)
    suspects = _suspects()
    added = (
        frozenset[SchemaField]() if connector.reads_added_members else frozenset(_added_members(compilation))
    )
    for field in compilation.lowered.preorder():
        type_ = field.arrow.type
        schema_field: SchemaField = field.field
        obstacles: list[tuple[str, str]] = []
        if type_.id in suspects or isinstance(type_, pa.BaseExtensionType):
            obstacles += _obstacles(field, connector)
        if not connector.makes_blobs and version >= BLOB_SINCE and has_role(schema_field.extra, Role.BLOB):
            obstacles.append(
                (
                    f"refuses the CREATE TABLE of a blob in files of version {version}",
                    'write `lance.org/storageVersion: "2.1"`, make the table with `schemac run`, or use lance-spark 0.5 or newer',
                )
            )
        if schema_field in added:
            obstacles.append(
                (
                    "stops the JVM when it reads rows that were written before their struct had this member",
                    "add a column instead, write all rows anew, or use lance-spark 0.5 or newer",
                )
            )
        for what, help in obstacles:
            emission.findings.at_type(
                schema_field, SPARK_CONNECTOR, f"{schema_field.path_text}: {connector} {what}", help=help
            )


def _added_members(compilation: Compilation) -> Iterator[SchemaField]:
    """Yield the members that structs did not have in every locked version; without a lock, nobody knows of any."""
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
    type_: Any = field.arrow.type
    if isinstance(type_, pa.BaseExtensionType):
        if type_.extension_name == "arrow.uuid" and not connector.knows_widths:
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
        if not connector.reads_all_units:
            what = "returns the indices of a dictionary instead of its values"
        yield (
            what,
            Help.remove_attribute("remove `arrow.apache.org/dictionaryEncoding`", DICTIONARY_ENCODING.key),
        )
    elif pa.types.is_decimal(type_) and type_.bit_width == 256:
        yield f"{_TABLE} a decimal of 256 bits", "write a precision of at most 38, without `bitWidth: 256`"
    elif pa.types.is_duration(type_) and type_.unit != "us":
        yield f"{_TABLE} a Duration in {type_.unit}", Help.retype("unit", "Microsecond")
    elif pa.types.is_timestamp(type_) and type_.tz is not None and _OFFSET.fullmatch(type_.tz):
        yield (
            f"stops the JVM when it reads the zone {type_.tz}",
            "write the name of a zone, such as `Asia/Kolkata`, or use UTC",
        )
    elif not connector.reads_all_units:
        for is_met, what in _LATER.items():
            if is_met(type_):
                yield f"{_TABLE} {what}", "use lance-spark 0.5 or newer"


@cache
def _suspects() -> frozenset[int]:
    """Return the ids of Arrow's types that may be an obstacle; most fields have another, and need no second look."""
    names = ("DICTIONARY", "DECIMAL256", "DURATION", "TIMESTAMP")
    later = ("TIME32", "TIME64", "HALF_FLOAT", "LARGE_LIST", "MAP")
    return frozenset(getattr(pa.lib, f"Type_{name}") for name in (*names, *later))


_LATER: Mapping[Callable[[Any], bool], str] = {
    lambda t: pa.types.is_time(t): "a Time",
    lambda t: pa.types.is_timestamp(t) and t.unit != "us": "a Timestamp with a unit other than Microsecond",
    lambda t: pa.types.is_float16(t): "a Float16",
    lambda t: pa.types.is_large_list(t): "a list with large offsets",
    lambda t: pa.types.is_map(t): "a Map",
}
"""What versions before 0.5 do not read."""
