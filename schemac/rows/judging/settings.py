"""What is decided for a whole judge, and for single fields.

Layer: rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from schemac.kinds.units import TimeUnit

EpochUnit = Literal["Day", TimeUnit]
"""What a number that means a timestamp counts."""


class Coerce(StrEnum):
    """What is converted implicitly: nothing, or text and numbers into each other if that is exact."""

    NONE = "none"
    TEXT = "text"


class Unexpected(StrEnum):
    """What a key of a record that no field takes does to the record."""

    IGNORE = "ignore"
    REJECT = "reject"


@dataclass(frozen=True)
class Origin:
    """Where a field is read, when not from the key of its own name; `epoch` is what a number counts, `zone` that of clocks."""

    path: str | None = None
    epoch: EpochUnit | None = None
    zone: str | None = None


OWN_NAME = Origin()


@dataclass(frozen=True)
class Settings:
    """The rules of a judge, in the words of a pipeline file; a field whose origin is None is always null."""

    unexpected: Unexpected = Unexpected.IGNORE
    coerce: Coerce = Coerce.NONE
    null_values: tuple[str, ...] = ()
    timezone: str | None = None
    fields: Mapping[str, Origin | None] = field(default_factory=dict)
    taken: tuple[tuple[str | int, ...], ...] = ()
    """Places of a record that something else than its fields reads, such as an expression."""
    is_geojson: bool = False
    takes_objects: bool = False
    """Whether records hold objects of Python besides what JSON has: dates, bytes and the like."""

    def origin_of(self, label: str) -> Origin | None:
        """Return where a field is read; None where from nowhere."""
        return self.fields.get(label, OWN_NAME)
