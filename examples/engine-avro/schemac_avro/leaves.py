"""Types without parts, and which of them Avro reads as which.

Source: Avro 1.12, "Primitive Types", "Logical Types", "Schema Resolution".
"""

from typing import Any, NamedTuple

from schemac.logical.model import LogicalType


class Leaf(NamedTuple):
    """A type of Avro without parts."""

    type: str
    logical: str = ""
    precision: int = 0
    scale: int = 0
    size: int = 0
    """Bytes of a `fixed`."""
    is_lossless: bool = True
    """Whether the manifest's type comes back from it."""

    @property
    def title(self) -> str:
        """As people write it."""
        if self.logical == "decimal":
            return f"decimal({self.precision}, {self.scale})"
        return self.logical or self.type


_PLAIN = {
    "Bool": Leaf("boolean"),
    "Int8": Leaf("int", is_lossless=False),
    "Int16": Leaf("int", is_lossless=False),
    "Int32": Leaf("int"),
    "Int64": Leaf("long"),
    "UInt8": Leaf("int", is_lossless=False),
    "UInt16": Leaf("int", is_lossless=False),
    "UInt32": Leaf("long", is_lossless=False),
    "UInt64": Leaf("bytes", "decimal", 20, is_lossless=False),
    "Float16": Leaf("float", is_lossless=False),
    "Float32": Leaf("float"),
    "Float64": Leaf("double"),
    "String": Leaf("string"),
    "Date": Leaf("int", "date"),
    "Null": Leaf("null"),
}
_TIMES = {
    "Second": Leaf("int", "time-millis", is_lossless=False),
    "Millisecond": Leaf("int", "time-millis"),
    "Microsecond": Leaf("long", "time-micros"),
    "Nanosecond": Leaf("long", is_lossless=False),  # the specification has no time-nanos
}
_UNITS = {"Second": "millis", "Millisecond": "millis", "Microsecond": "micros", "Nanosecond": "nanos"}

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
    if type_.kind in _PLAIN:
        return _PLAIN[type_.kind]
    match type_.kind:
        case "Binary":
            return Leaf("bytes") if type_.fixed_length is None else Leaf("fixed", size=type_.fixed_length)
        case "Decimal" if 0 <= type_.scale <= type_.precision:
            return Leaf("bytes", "decimal", type_.precision, type_.scale)
        case "Time":
            return _TIMES[type_.unit]
        case "Timestamp":
            local = "local-" if type_.timezone is None else ""
            is_lossless = type_.unit != "Second" and type_.timezone in (None, "UTC")
            return Leaf("long", f"{local}timestamp-{_UNITS[type_.unit]}", is_lossless=is_lossless)
        case "Duration":
            # Avro's `duration` counts months, days and milliseconds, which is something else.
            return Leaf("long", is_lossless=False)
    return None


def is_readable(written: Leaf, wanted: Leaf) -> bool:
    """Whether schema resolution turns what was written into what is wanted, with the same meaning."""
    if (written.logical, written.scale) != (wanted.logical, wanted.scale):
        return False
    if written.type == wanted.type:
        return written.size == wanted.size
    return not written.logical and wanted.type in _PROMOTIONS.get(written.type, ())
