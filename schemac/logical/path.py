"""Names of the places in a schema.

Layer: logical.
Shape: a path is a tuple of segments from the top: a member's name, or the part of a list or map. Names may
hold dots, so the dotted form exists for people only; names that need it are in backticks.
"""

from enum import Enum


class Part(Enum):
    """The nameless members of lists and maps."""

    ITEM = "item"
    KEY = "key"
    VALUE = "value"


Segment = str | Part
FieldPath = tuple[Segment, ...]


def dotted(path: FieldPath) -> str:
    """Return a path for people, such as ``trips.item.`stop.name` ``."""
    return ".".join(s.value if isinstance(s, Part) else quoted(s) for s in path)


def quoted(name: str) -> str:
    """Return a name as a segment of a dotted path."""
    return name if name and "." not in name and "`" not in name else f"`{name.replace('`', '``')}`"
