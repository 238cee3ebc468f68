"""Avro's types without parts, its names and default values.

Layer: engines.
Source: Avro 1.12, "Primitive Types", "Logical Types", "Schema Resolution".
      Default values of fields: Avro 1.12, "Complex Types", the table of field default values; bytes are texts of code points up to 255.
      Names that Avro takes: Avro 1.12, "Names": a letter of ASCII or an underscore, then such letters, digits and underscores.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from schemac.arrow.from_arrow import storage_kind
from schemac.language.attributes.attribute import Family
from schemac.language.kinds.answers import ARROW_UNITS
from schemac.language.logical.model import LogicalType
from schemac.language.logical.schema_fields import SchemaField


class Leaf(NamedTuple):
    """A type of Avro without parts."""

    type: str
    logical: str = ""
    precision: int = 0
    scale: int = 0
    size: int = 0
    """Bytes of a `fixed`."""
    counts: str = ""
    """The unit that a number counts, where no logical type says it."""
    is_lossless: bool = True
    """Whether the manifest's type comes back from it."""

    @property
    def title(self) -> str:
        """As people write it."""
        if self.logical == "decimal":
            return f"decimal({self.precision}, {self.scale})"
        return self.logical or self.type


_PLAIN = {
    Family.BOOLEAN: Leaf("boolean"),
    Family.TEXT: Leaf("string"),
    Family.DATE: Leaf("int", "date"),
    Family.NULL: Leaf("null"),
}
_TIMES = {
    "s": Leaf("int", "time-millis", is_lossless=False),
    "ms": Leaf("int", "time-millis"),
    "us": Leaf("long", "time-micros"),
    "ns": Leaf("long", counts="ns", is_lossless=False),  # the specification has no time-nanos
}
_UNITS = {"s": "millis", "ms": "millis", "us": "micros", "ns": "nanos"}

_PROMOTIONS = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}


def leaf_of(declared: LogicalType) -> Leaf | None:
    """Avro's type for one without parts; None for types with parts, and for what Avro cannot hold."""
    type_: Any = declared
    if type_.family in _PLAIN:
        return _PLAIN[type_.family]
    match type_.family:
        case Family.INTEGER:
            return _integer(type_.bits, is_signed=type_.is_signed)
        case Family.FLOAT:
            return Leaf("double") if type_.bits == 64 else Leaf("float", is_lossless=type_.bits == 32)
        case Family.BYTES:
            return Leaf("bytes") if type_.fixed_length is None else Leaf("fixed", size=type_.fixed_length)
        case Family.DECIMAL if 0 <= type_.scale <= type_.precision:
            return Leaf("bytes", "decimal", type_.precision, type_.scale)
        case Family.TIME:
            return _TIMES[ARROW_UNITS[type_.unit]]
        case Family.TIMESTAMP:
            unit = ARROW_UNITS[type_.unit]
            local = "local-" if type_.timezone is None else ""
            is_lossless = unit != "s" and type_.timezone in (None, "UTC")
            return Leaf("long", f"{local}timestamp-{_UNITS[unit]}", is_lossless=is_lossless)
        case Family.DURATION:
            # Avro's `duration` counts months, days and milliseconds, which is something else.
            return Leaf("long", counts=ARROW_UNITS[type_.unit], is_lossless=False)
    storage = storage_kind(declared)
    leaf = None if storage is None else leaf_of(storage)
    return None if leaf is None else leaf._replace(is_lossless=False)


def _integer(bits: int, *, is_signed: bool) -> Leaf:
    if bits == 64 and not is_signed:
        return Leaf("bytes", "decimal", 20, is_lossless=False)
    needed = bits if is_signed else bits + 1
    return Leaf("int" if needed <= 32 else "long", is_lossless=is_signed and bits in (32, 64))


def is_readable(written: Leaf, target: Leaf) -> bool:
    """Whether schema resolution turns what was written into what is wanted, with the same meaning."""
    if (written.logical, written.scale, written.counts) != (target.logical, target.scale, target.counts):
        return False
    if written.type == target.type:
        return written.size == target.size
    return not written.logical and target.type in _PROMOTIONS.get(written.type, ())


_RANGES = {"int": 2**31, "long": 2**63}


def fits(value: Any, type_: Any) -> bool:
    """Whether a JSON value is a default value of an Avro type; of a union, of one of its branches."""
    if isinstance(type_, list):
        return any(fits(value, branch) for branch in type_)
    if isinstance(type_, Mapping):
        return _fits_complex(value, type_)
    if type_ in _RANGES:
        return type(value) is int and -_RANGES[type_] <= value < _RANGES[type_]
    match type_:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "float" | "double":
            return type(value) in (int, float)
        case "string":
            return isinstance(value, str)
        case "bytes":
            return isinstance(value, str) and all(ord(character) < 256 for character in value)
    return False


def _fits_complex(value: Any, type_: Mapping[str, Any]) -> bool:
    match type_["type"]:
        case "fixed":
            return fits(value, "bytes") and len(value) == type_["size"]
        case "array":
            return isinstance(value, list) and all(fits(item, type_["items"]) for item in value)
        case "map":
            return isinstance(value, dict) and all(fits(item, type_["values"]) for item in value.values())
        case "record":
            return isinstance(value, dict) and all(
                fits(value[field["name"]], field["type"]) if field["name"] in value else "default" in field
                for field in type_["fields"]
            )
    return fits(value, type_["type"])


def valid(name: str) -> str:
    """Return the nearest name that Avro takes."""
    valid_name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return valid_name if valid_name and not valid_name[0].isdigit() else f"_{valid_name}"


def name_of(field: SchemaField) -> str:
    """Return the name of a field in Avro; that of a part is `item`, `key` or `value`."""
    return valid(field.segment if isinstance(field.segment, str) else field.segment.value)
