"""What a lock file remembers.

Layer: versions. Values only.
Shape: a dataset has versions, counted from 1, and states of fields. A state is what one field was in an unbroken
range of versions: where it stood, its type, its attributes, its numbers in the engines. A field that did not change
has one state for ever; a dropped field's last state is its tombstone, unless the field is given its id back later.
Nothing is ever taken out. Engines are names here: a lock also keeps what belongs to an engine that is not installed.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

from schemac.language.logical.model import FieldPath, Part, Segment
from schemac.text.source.json_object import Json

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ByEngine(Generic[T]):
    """One value for each of some engines."""

    entries: tuple[tuple[str, T], ...] = ()
    """By the engine's name, in alphabetical order."""

    @classmethod
    def make(cls, values: Mapping[str, T]) -> Self:
        """Out of a mapping; an engine without numbers is left out."""
        return cls(tuple([(name, values[name]) for name in sorted(values) if values[name] != ()]))

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that have a value."""
        return tuple([name for name, _ in self.entries])

    def get(self, engine: str) -> T | None:
        """Return the value of an engine; None if it has none."""
        for name, value in self.entries:
            if name == engine:
                return value
        return None

    def with_value(self, engine: str, value: T) -> Self:
        """Return the same with this value for an engine."""
        return self.make({**dict(self.entries), engine: value})


@dataclass(frozen=True, slots=True)
class Numbers(ByEngine[tuple[int, ...]]):
    """The numbers that engines gave to one field."""

    def of(self, engine: str) -> tuple[int, ...]:
        """Return the numbers of an engine; none where it does not number the field."""
        return self.get(engine) or ()


@dataclass(frozen=True, slots=True)
class Highest(ByEngine[int]):
    """The highest number that each engine ever gave in a dataset."""

    def of(self, engine: str) -> int:
        """Return the highest number of an engine; -1 for none."""
        highest = self.get(engine)
        return -1 if highest is None else highest

    def merged(self, other: "Highest") -> "Highest":
        """Return the higher one of two, engine by engine."""
        return Highest.make(
            {name: max(self.of(name), other.of(name)) for name in {*self.engines, *other.engines}}
        )


@dataclass(frozen=True, slots=True)
class EngineData(ByEngine[str]):
    """What engines have to remember of one version, besides the numbers of its fields: JSON objects in compact form."""

    def of(self, engine: str) -> Json:
        """Return what an engine remembers; empty for nothing."""
        text = self.get(engine)
        data: Json = json.loads(text) if text else {}
        return data


@dataclass(frozen=True, slots=True)
class Shape:
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


@dataclass(frozen=True, slots=True)
class State:
    """What a field was from one version to another."""

    id: int
    """Of this field alone, for life."""
    first: int
    last: int | None
    """The last version with this state; None while it lasts."""
    shape: Shape
    numbers: Numbers

    def is_in(self, version: int) -> bool:
        """Whether the state was that of this version."""
        return self.first <= version and (self.last is None or version <= self.last)


@dataclass(frozen=True, slots=True)
class Version:
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


@dataclass(frozen=True)
class LockedDataset:
    """All versions of one dataset, oldest first."""

    name: str
    versions: tuple[Version, ...] = ()
    states: tuple[State, ...] = dataclasses.field(default=(), repr=False)
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

    def view(self, make: "Callable[[LockedDataset], T]") -> T:
        """Return a function's result for this lock; it is called once."""
        if make not in self._views:
            self._views[make] = make(self)
        cached_view: T = self._views[make]
        return cached_view

    @cached_property
    def _views(self) -> dict[Any, Any]:
        return {}

    def version(self, number: int) -> Version | None:
        """Return the version of a number."""
        return next((v for v in self.versions if v.number == number), None)

    def states_of(self, number: int) -> tuple[State, ...]:
        """Return the states that make up a version."""
        return tuple([state for state in self.states if state.is_in(number)])


@dataclass(frozen=True, slots=True)
class Lock:
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


def paths_of(states: Iterable[State]) -> dict[int, FieldPath]:
    """Return the path of every field of one version, by id."""
    by_id = {state.id: state.shape for state in states}
    paths: dict[int, FieldPath] = {}

    def path(id: int) -> FieldPath:
        field_path = paths.get(id)
        if field_path is None:
            shape = by_id[id]
            field_path = paths[id] = (
                *(path(shape.parent) if shape.parent is not None else ()),
                shape.segment,
            )
        return field_path

    for id in by_id:
        path(id)
    return paths


def order_of(state: State) -> tuple[int, Decimal, int]:
    """Sorts siblings: parts of a map by their part, members by their position."""
    shape = state.shape
    if isinstance(shape.segment, Part):
        return (_PARTS.index(shape.segment), Decimal(0), state.id)
    return (0, shape.position or Decimal(0), state.id)


_PARTS = tuple(Part)
