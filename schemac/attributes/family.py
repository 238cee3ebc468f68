"""Families of kinds: what the rules that hold between kinds, and the places of attributes, go by.

Layer: attributes.
"""

from enum import StrEnum


class Family(StrEnum):
    """What values of a kind are like. A kind of a family that no rule names is refused by that rule."""

    NULL = "null"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    FLOAT = "float"
    DECIMAL = "decimal"
    TEXT = "text"
    BYTES = "bytes"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    DURATION = "duration"
    LIST = "list"
    MAP = "map"
    STRUCT = "struct"
    OPTION = "option"


NUMBERS = frozenset({Family.INTEGER, Family.FLOAT})
"""Numbers of a fixed width."""
TEMPORAL = frozenset({Family.DATE, Family.TIME, Family.TIMESTAMP, Family.DURATION})
NESTED = frozenset({Family.LIST, Family.MAP, Family.STRUCT})
"""Those with other types inside."""

PROPERTIES: dict[Family, tuple[str, ...]] = {
    Family.INTEGER: ("bits", "is_signed"),
    Family.FLOAT: ("bits", "mantissa"),
    Family.DECIMAL: ("precision", "scale"),
    Family.BYTES: ("fixed_length",),
    Family.LIST: ("fixed_length",),
    Family.MAP: ("keys_sorted",),
    Family.TIME: ("unit",),
    Family.TIMESTAMP: ("unit", "timezone"),
    Family.DURATION: ("unit",),
}
"""What the rules that go by a family read of each of its kinds."""
