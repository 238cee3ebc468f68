"""Settings of a judge, the spellings and limits of values, and paths into records.

Limits of values, and of what is shown of them. Paths into a record, such as `properties.mag`, "geometry.coordinates[0]" or "`a.b`.c".

Layer: rows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from schemac.language.kinds.temporal import PER_SECOND, TimeUnit

EpochUnit = Literal["Day", TimeUnit]
"""What a number that means a timestamp counts."""


class Coerce(StrEnum):
    """What is converted implicitly: nothing, or text and numbers into each other if that is exact."""

    NONE = "none"
    TEXT = "text"


class Unexpected(StrEnum):
    """What happens to a record with a key that no field reads."""

    IGNORE = "ignore"
    REJECT = "reject"


@dataclass(frozen=True)
class FieldOrigin:
    """Where a field is read, if not from the key of its own name; `epoch` is the unit of a number, `zone` that of local times."""

    path: str | None = None
    epoch: EpochUnit | None = None
    zone: str | None = None


OWN_NAME = FieldOrigin()


@dataclass(frozen=True)
class ValidationSettings:
    """The rules of validation, as in a pipeline file; a field whose origin is None is always null."""

    unexpected: Unexpected = Unexpected.IGNORE
    coerce: Coerce = Coerce.NONE
    null_values: tuple[str, ...] = ()
    timezone: str | None = None
    fields: Mapping[str, FieldOrigin | None] = field(default_factory=dict)
    taken: tuple[tuple[str | int, ...], ...] = ()
    """Places of a record that something else than its fields reads, such as an expression."""
    is_geojson: bool = False
    takes_objects: bool = False
    """Whether records hold objects of Python besides what JSON has: dates, bytes and the like."""

    def origin_of(self, label: str) -> FieldOrigin | None:
        """Return where a field is read; None where from nowhere."""
        return self.fields.get(label, OWN_NAME)


POSITIONS = r'\[(?:[0-9]+|"(?s:.*?)")\]'
"""Numbers of items and keys of maps in a path, in a pattern that RE2, Java and Python read alike."""
LONGEST_VALUE = 1000
"""Characters of a value that a reason shows."""


@dataclass(frozen=True)
class ReasonCount:
    """How often a rule is broken at a path, whose positions are left out."""

    path: str
    rule: str
    count: int

    @classmethod
    def sorted(cls, counts: Mapping[tuple[str, str], int]) -> "tuple[ReasonCount, ...]":
        """Return counts by path and rule, the most frequent first."""
        ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
        return tuple(cls(*reason, count) for reason, count in ordered)


FLOAT16_LARGEST = 65520.0 - 2**-8
"""A half comes out of a single: the last single that is not rounded to infinity."""
FLOAT32_LARGEST, FLOAT64_LARGEST = 3.4028234663852886e38, 1.7976931348623157e308

FIRST_DAY, LAST_DAY = -719162, 2932896
"""Years 0001 to 9999, which is what other readers of dates and timestamps take."""
FIRST_MICROSECOND, LAST_MICROSECOND = -62135596800000000, 253402300799999999

NANOSECONDS_PER: dict[str, int] = {
    "Day": 86_400 * 10**9,
    **{unit: 10**9 // count for unit, count in PER_SECOND.items()},
}


Step = str | int

_STEP = re.compile(r"`((?:[^`]|``)*)`|\[(\d+)\]|([^.\[`]+)")
GEOJSON_TOP = ("id", "geometry", "bbox", "properties")
GEOJSON_KEYS: Mapping[tuple[Step, ...], tuple[str, ...]] = {
    (): ("type", *GEOJSON_TOP),
    ("geometry",): ("type", "coordinates"),
}
"""Keys that the objects of a record may have whether a field takes them or not, by their places."""


class UnreadablePathError(ValueError):
    """A path cannot be read; `position` is the character, from 0, at which it goes wrong."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


def parse_steps(path: str) -> tuple[Step, ...]:
    """Return the keys and positions of a path. Raises UnreadablePathError."""
    steps: list[Step] = []
    position = 0
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            raise UnreadablePathError(position)
        quoted, index, plain = match.groups()
        steps.append(int(index) if index is not None else plain or quoted.replace("``", "`"))
        position = match.end()
        if path[position : position + 1] == "." and position + 1 < len(path):
            position += 1
    return tuple(steps)


def own_steps(label: str, *, is_geojson: bool) -> tuple[Step, ...]:
    """Return where a record of JSON has a field that names no other place."""
    return ("properties", label) if is_geojson and label not in GEOJSON_TOP else (label,)
