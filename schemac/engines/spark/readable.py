"""What keeps lance-spark from reading a table that Lance itself reads.

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
from schemac.engines.spark.codes import SPARK_CONNECTOR
from schemac.engines.spark.versions import NEWEST_KNOWN, Connector
from schemac.logical.slots import Slot
from schemac.physical.arrow import pa
from schemac.physical.field import LoweredField
from schemac.syntax.remedies_around import Detach
from schemac.syntax.remedies_of_types import Retype

_OFFSET = re.compile(r"[+-]\d\d(:?\d\d)?")
_TABLE = "cannot read a table with"


def warn_of_unreadable(compilation: Compilation, emission: Emission, asked: frozenset[str]) -> None:
    """Warn of each field that it stumbles over, where Lance and Spark are both asked for."""
    if not asked >= {"lance", "spark"}:
        return
    connector = Connector.of(compilation.versions.get("spark", NEWEST_KNOWN))
    suspects = _suspects()
    for field in compilation.lowered.preorder():
        type_ = field.arrow.type
        if type_.id not in suspects and not isinstance(type_, pa.BaseExtensionType):
            continue
        for what, help in _obstacles(field, connector):
            slot: Slot = field.slot
            emission.findings.at_type(
                slot, SPARK_CONNECTOR, f"{slot.path_text}: {connector} {what}", help=help
            )


def _obstacles(field: LoweredField, connector: Connector) -> Iterator[tuple[str, str]]:
    type_: Any = field.arrow.type
    if isinstance(type_, pa.BaseExtensionType):
        if type_.extension_name == "arrow.json" and field.slot.parent is None:
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
            Detach.attribute("remove `arrow.apache.org/dictionaryEncoding`", DICTIONARY_ENCODING.key),
        )
    elif pa.types.is_decimal(type_) and type_.bit_width == 256:
        yield f"{_TABLE} a decimal of 256 bits", "write a precision of at most 38, without `bitWidth: 256`"
    elif pa.types.is_duration(type_) and type_.unit != "us":
        yield f"{_TABLE} a Duration in {type_.unit}", Retype.write("unit", "Microsecond")
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
    later = ("TIME32", "TIME64", "HALF_FLOAT", "LARGE_LIST")
    return frozenset(getattr(pa.lib, f"Type_{name}") for name in (*names, *later))


_LATER: Mapping[Callable[[Any], bool], str] = {
    lambda t: pa.types.is_time(t): "a Time",
    lambda t: pa.types.is_timestamp(t) and t.unit != "us": "a Timestamp with a unit other than Microsecond",
    lambda t: pa.types.is_float16(t): "a Float16",
    lambda t: pa.types.is_large_list(t): "a list with large offsets",
}
"""What versions before 0.5 do not read."""
