"""The numbers that engines give to fields, and the positions of siblings.

Layer: versions.
Shape: a field keeps its number where the engine would keep it; a new number is above the highest one ever used, and
none is used twice, whatever the engine itself would do. An engine that uses the ids of the lock, or names, lacks this
capability. Positions are decimal numbers above 0: a field between two others gets a number between theirs, so a lock
changes only in the lines of fields that moved.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.schema_fields import SchemaField
from schemac.registry.engine import Capability, EngineError
from schemac.registry.installed import engines
from schemac.versions.identity.lock import Highest

FieldNumbers = Mapping[SchemaField, tuple[int, ...]]
"""The numbers of an engine by field; a field that it does not number is absent or has an empty tuple."""
Numbered = tuple[FieldNumbers, int]
"""The numbers of all fields, and the highest one that was ever given."""


@dataclass(frozen=True, slots=True)
class Old:
    """A field as it was, with the numbers that an engine gave it."""

    field: SchemaField
    numbers: tuple[int, ...]
    is_back: bool = False
    """Whether it was dropped in between, and has been given its id back."""


@dataclass(frozen=True, slots=True)
class Former:
    """The version before, or the newest one of another branch."""

    dataset: LogicalDataset
    fields: Mapping[SchemaField, Old]
    """What fields were, by the fields that they are now."""

    def is_in_its_place(self, field: SchemaField) -> bool:
        """Whether a field that was there before is still in the same field, or still a column."""
        if field.parent is None:
            return self.fields[field].field.parent is None
        above = self.fields.get(field.parent)
        return above is not None and above.field is self.fields[field].field.parent


def _nothing(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return nothing: the default of `remember`."""
    return {}


@dataclass(frozen=True, slots=True)
class Numbering:
    """An engine's own way to number fields."""

    number: Callable[[LogicalDataset, Former | None, int], Numbered]
    """The numbers of a schema, given what was before it (None for the first version) and the highest number that was ever
    given, -1 for none. The same arguments have to give the same numbers."""
    takes: Callable[[LogicalDataset, Former], Container[SchemaField]] | None = None
    """The fields of a merged schema that may have the numbers which they have on the other branch, as far as those are not
    given to other fields; None for all."""
    next_data: Callable[[Mapping[str, Any]], Mapping[str, Any]] = _nothing
    """Data to keep about a version besides numbers, as a JSON object, computed from that of the version before; empty for none."""
    is_existing_only: bool = False
    """Whether it numbers only fields that were imported with numbers; a lock without any is not changed by it."""
    data_of_form_1: Callable[[int, int], Mapping[str, Any]] | None = None
    """The same of a version in a lock of form 1, which had two numbers there: of the schema, and of when it was made. For
    the engine that they were of."""


NUMBERING: Capability[Numbering] = Capability("numbering", Numbering)


ENGINE_NAME = "[A-Za-z0-9_.-]+"
"""The names that an engine with numbers in a lock may have."""


def numberings() -> dict[str, Numbering]:
    """How each of the installed engines numbers fields, by its name. Raises EngineError."""
    numberings_by_name: dict[str, Numbering] = {}
    for engine in engines():
        if not NUMBERING.is_of(engine):
            continue
        if not re.fullmatch(ENGINE_NAME, engine.name):
            message = f"no lock can name the engine {engine.name!r}: use letters, digits, `_`, `.` and `-`"
            raise EngineError(message)
        numberings_by_name[engine.name] = NUMBERING.of(engine)
    return numberings_by_name


def not_installed(highest: Highest) -> tuple[str, ...]:
    """Return the engines with numbers in the lock that are not installed."""
    known = numberings()
    return tuple([name for name in highest.engines if name not in known])


_MOST_DIGITS = 12
_STEP = Decimal(1)


def positions(known: Sequence[Decimal | None]) -> list[Decimal]:
    """Return positions for siblings in this order; as many of the old ones as possible are kept."""
    unchanged = _longest_rise(known)
    above: Decimal | None = None
    uppers: list[Decimal | None] = []
    for i in reversed(range(len(known))):
        uppers.append(above)
        above = known[i] if i in unchanged else above
    below = Decimal(0)
    result: list[Decimal] = []
    for i, (position, above) in enumerate(zip(known, reversed(uppers), strict=True)):
        if position is None or i not in unchanged:
            position = between(below, above)
            if len(position.as_tuple().digits) > _MOST_DIGITS:
                return [Decimal(n) for n in range(1, len(known) + 1)]
        result.append(position)
        below = position
    return result


def between(below: Decimal, above: Decimal | None) -> Decimal:
    """Return the shortest decimal number between two; without an upper one, a number above the lower."""
    if above is None:
        return below.to_integral_value(rounding="ROUND_FLOOR") + _STEP
    step = _STEP
    while True:
        candidate = (below // step + 1) * step
        if candidate < above:
            # The middle one of those with as few digits leaves most room on both sides.
            count = int((above - candidate) / step)
            middle = candidate + step * (count // 2)
            return (middle if middle < above else candidate).normalize() + 0
        step /= 10


def _longest_rise(known: Sequence[Decimal | None]) -> frozenset[int]:
    """Return indices of the longest rising series among the known positions."""
    tails: list[Decimal] = []
    ends: list[int] = []
    before: dict[int, int | None] = {}
    for i, position in enumerate(known):
        if position is None:
            continue
        place = bisect_left(tails, position)
        before[i] = ends[place - 1] if place else None
        if place == len(tails):
            tails.append(position)
            ends.append(i)
        else:
            tails[place], ends[place] = position, i
    chosen: set[int] = set()
    i_or_none: int | None = ends[-1] if ends else None
    while i_or_none is not None:
        chosen.add(i_or_none)
        i_or_none = before[i_or_none]
    return frozenset(chosen)
