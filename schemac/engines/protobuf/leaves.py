"""Types without parts.

Layer: engines.
Source: the language guide of proto3, "Scalar Value Types"; google/protobuf/timestamp.proto and duration.proto, which count
nanoseconds.
"""

from typing import Any, NamedTuple

from schemac.attributes.family import Family
from schemac.attributes.zones import is_utc
from schemac.kinds.units import ARROW_UNITS
from schemac.logical.model import LogicalType

TIMESTAMP = "google.protobuf.Timestamp"
DURATION = "google.protobuf.Duration"
IMPORTS = {TIMESTAMP: "google/protobuf/timestamp.proto", DURATION: "google/protobuf/duration.proto"}


class Leaf(NamedTuple):
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


_PLAIN = {Family.BOOLEAN: Leaf("bool", is_lossless=True), Family.TEXT: Leaf("string", is_lossless=True)}


def leaf_of(declared: LogicalType) -> Leaf | None:
    """Return the type of one without parts; None for types with parts, and for what Protobuf cannot hold."""
    type_: Any = declared
    if type_.family in _PLAIN:
        return _PLAIN[type_.family]
    match type_.family:
        case Family.INTEGER:
            is_same = type_.bits in (32, 64)
            return Leaf(f"{'' if type_.is_signed else 'u'}int{max(type_.bits, 32)}", is_same)
        case Family.FLOAT:
            return Leaf("double" if type_.bits == 64 else "float", type_.bits > 16)
        case Family.BYTES:
            return Leaf("bytes", type_.fixed_length is None, "bytes of any length")
        case Family.DECIMAL:
            return Leaf("string", becomes="string, with its digits")
        case Family.DATE:
            return Leaf("int32", becomes="int32, days since 1970")
        case Family.TIME:
            return Leaf("int64", becomes=f"int64, {ARROW_UNITS[type_.unit]} since midnight")
        case Family.TIMESTAMP if type_.timezone is None:
            return Leaf("int64", becomes=f"int64, {ARROW_UNITS[type_.unit]} since 1970 on the clock")
        case Family.TIMESTAMP:
            return Leaf(TIMESTAMP, is_utc(type_.timezone) and type_.unit == "Nanosecond")
        case Family.DURATION:
            return Leaf(DURATION, type_.unit == "Nanosecond")
    return None
