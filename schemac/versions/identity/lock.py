"""What a lock file remembers.

Layer: versions. Values only.
Shape: a dataset has versions, counted from 1, and states of fields. A state is what one field was in an unbroken range of versions:
      where it stood, its type, its attributes, its numbers in the engines. A field that did not change has one state for ever; a
      dropped field's last state is its tombstone, unless the field is given its id back later. Nothing is ever taken out. Engines are
      names here: a lock also keeps what belongs to an engine that is not installed.
      A field keeps its number where the engine would keep it; a new number is above the highest one ever used, and none is used twice,
      whatever the engine itself would do. An engine that uses the ids of the lock, or names, lacks this capability. Positions are
      decimal numbers above 0: a field between two others gets a number between theirs, so a lock changes only in the lines of fields
      that moved.
"""

import dataclasses
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property
from typing import Any, Generic, NamedTuple, Self, TypeVar

from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import FieldPath, Part, SchemaField, Segment
from schemac.registry.engine import Capability, EngineError, engines
from schemac.text.source.json_object import Json

T = TypeVar("T")


class ByEngine(NamedTuple, Generic[T]):
    """One value for each of some engines."""

    entries: tuple[tuple[str, T], ...] = ()
    """By the engine's name, in alphabetical order."""

    @classmethod
    def make(cls, values: Mapping[str, T]) -> Self:
        """Return the values of a mapping by engine; an empty tuple is left out."""
        return cls(tuple([(name, values[name]) for name in sorted(values) if values[name] != ()]))

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that have a value."""
        return tuple([name for name, _ in self.entries])

    def get(self, engine: str) -> T | None:
        """Return the value of an engine; None if it has none."""
        return dict(self.entries).get(engine)

    def with_value(self, engine: str, value: T) -> Self:
        """Return the same with this value for an engine."""
        return self.make({**dict(self.entries), engine: value})


class Numbers(ByEngine[tuple[int, ...]]):
    """The numbers that engines gave to one field."""

    __slots__ = ()

    def of(self, engine: str) -> tuple[int, ...]:
        """Return the numbers of an engine; none where it does not number the field."""
        return self.get(engine) or ()


class Highest(ByEngine[int]):
    """The highest number that each engine ever gave in a dataset."""

    __slots__ = ()

    def of(self, engine: str) -> int:
        """Return the highest number of an engine; -1 for none."""
        highest = self.get(engine)
        return -1 if highest is None else highest


class EngineData(ByEngine[str]):
    """What engines have to remember of one version, besides the numbers of its fields: JSON objects in compact form."""

    __slots__ = ()

    def of(self, engine: str) -> Json:
        """Return what an engine remembers; empty for nothing."""
        text = self.get(engine)
        data: Json = json.loads(text) if text else {}
        return data


class FieldShape(NamedTuple):
    """What a field is, apart from its numbers: its place, and canonical texts of its type and attributes."""

    parent: int | None
    """The id of the field around it; None for a column."""
    segment: Segment
    position: Decimal | None
    """Sorts the members of one struct; None for the parts of lists and maps."""
    type: str
    """The type without its children: `Int64`, `Int64?` where it may be null, else JSON as in the manifest."""
    extra: str = ""
    """Attributes as compact JSON; empty if there are none."""


class FieldState(NamedTuple):
    """What a field was from one version to another."""

    id: int
    """Of this field alone, for life."""
    first: int
    last: int | None
    """The last version with this state; None while it lasts."""
    shape: FieldShape
    numbers: Numbers

    def is_in(self, version: int) -> bool:
        """Whether the state was that of this version."""
        return self.first <= version and (self.last is None or version <= self.last)


class Version(NamedTuple):
    """One frozen version of a dataset's schema."""

    number: int
    highest: Highest = Highest()
    data: EngineData = EngineData()
    extra: str = ""
    """Attributes of the schema as compact JSON."""
    digest: str = ""
    """Of everything in this version as it was locked; says whether two locks mean the same by a number. It stays as it
    is when the file is written in another form."""
    highest_id: int = 0
    """The highest id ever used, where no line of a field has it: a branch that was merged dropped that field again."""
    carried: tuple[str, ...] = ()
    """Engines that were not installed when this was locked: their numbers are those of the version before."""
    seal: str = ""
    """The digest of everything in this version as the present form of the file has it."""

    @property
    def table_record(self) -> str:
        """The record in a table of this version: its number and digest, which differs from that of any other branch."""
        return f"{self.number}-{self.digest}"

    def is_recorded_as(self, text: str | None) -> bool:
        """Whether a table's record is of this version; a record that a person wrote may be the number alone."""
        return text in (self.table_record, str(self.number))

    def is_numbered_by(self, engine: str) -> bool:
        """Whether an engine has numbered the fields of this version."""
        return self.highest.get(engine) is not None and engine not in self.carried


class Viewed:
    """Remembers what functions make of an object that does not change."""

    def view(self, make: Callable[[Self], T]) -> T:
        """Return a function's result for this object; it is called once."""
        if make not in self._views:
            self._views[make] = make(self)
        cached_view: T = self._views[make]
        return cached_view

    @cached_property
    def _views(self) -> dict[Any, Any]:
        """The results so far, by the functions that made them."""
        return {}


@dataclass(frozen=True)
class LockedDataset(Viewed):
    """All versions of one dataset, oldest first."""

    name: str
    versions: tuple[Version, ...] = ()
    states: tuple[FieldState, ...] = dataclasses.field(default=(), repr=False)
    """By id, then by version."""

    @property
    def newest(self) -> Version | None:
        """The newest version, if there is one."""
        return self.versions[-1] if self.versions else None

    @cached_property
    def highest_id(self) -> int:
        """The highest id that a field ever had; 0 for none."""
        ids = (*(state.id for state in self.states), *(version.highest_id for version in self.versions))
        return max(ids, default=0)

    def version(self, number: int) -> Version | None:
        """Return the version of a number."""
        return next((v for v in self.versions if v.number == number), None)

    def states_of(self, number: int) -> tuple[FieldState, ...]:
        """Return the states that make up a version."""
        return tuple([state for state in self.states if state.is_in(number)])


class Lock(NamedTuple):
    """A lock file: the datasets of one manifest."""

    datasets: tuple[LockedDataset, ...] = ()

    def dataset(self, name: str) -> LockedDataset:
        """Return the dataset of a name; an empty one where the lock does not know it."""
        return next((d for d in self.datasets if d.name == name), LockedDataset(name))

    def with_dataset(self, dataset: LockedDataset) -> "Lock":
        """Return the same lock with this dataset in place of the one of its name."""
        others = {d.name: d for d in self.datasets}
        others[dataset.name] = dataset
        return Lock(tuple(others[name] for name in sorted(others)))


def paths_of(states: Iterable[FieldState]) -> dict[int, FieldPath]:
    """Return the path of every field of one version, by id."""
    by_id = {state.id: state.shape for state in states}

    @cache
    def path(id: int) -> FieldPath:
        shape = by_id[id]
        return (*(path(shape.parent) if shape.parent is not None else ()), shape.segment)

    return {id: path(id) for id in by_id}


def order_of(state: FieldState) -> tuple[int, Decimal, int]:
    """Return the key that sorts siblings: parts of a map by their part, members by their position."""
    shape = state.shape
    if isinstance(shape.segment, Part):
        return (_PARTS.index(shape.segment), Decimal(0), state.id)
    return (0, shape.position or Decimal(0), state.id)


_PARTS = tuple(Part)


FieldNumbers = Mapping[SchemaField, tuple[int, ...]]
"""The numbers of an engine by field; a field that it does not number is absent or has an empty tuple."""
Numbered = tuple[FieldNumbers, int]
"""The numbers of all fields, and the highest one that was ever given."""


class Old(NamedTuple):
    """A field as it was, with the numbers that an engine gave it."""

    field: SchemaField
    numbers: tuple[int, ...]
    is_back: bool = False
    """Whether it was dropped in between, and has been given its id back."""


class Former(NamedTuple):
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


class Numbering(NamedTuple):
    """An engine's own way to number fields."""

    number: Callable[[LogicalDataset, Former | None, int], Numbered]
    """The numbers of a schema, given what was before it (None for the first version) and the highest number that was ever
    given, -1 for none. The same arguments have to give the same numbers."""
    takes: Callable[[LogicalDataset, Former], Container[SchemaField]] | None = None
    """The fields of a merged schema that may have the numbers which they have on the other branch, as far as those are not
    given to other fields; None for all."""
    next_data: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda _data: {}
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
    """Return how each of the installed engines numbers fields, by its name. Raises EngineError."""
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
    unchanged = longest_rise(known)
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


def longest_rise(known: Sequence[Decimal | None]) -> frozenset[int]:
    """Return indices of the longest rising series among the known positions, of which as many as possible can stay."""
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
