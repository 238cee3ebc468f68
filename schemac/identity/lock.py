"""What a lock file remembers.

Layer: identity. Values only.
Shape: a dataset has versions, counted from 1, and states of fields. A state is what one field was in an unbroken
range of versions: where it stood, its type, its attributes, its numbers in the engines. A field that did not change
has one state for ever; a dropped field's last state is its tombstone, unless the field is given its id back later.
Nothing is ever taken out.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from schemac.logical.path import FieldPath, Part, Segment


@dataclass(frozen=True, slots=True)
class Numbers:
    """How the engines number one field."""

    lance: tuple[int, ...] = ()
    """Lance's ids of all nodes that belong to this field, parents first: a map has two (itself and its entries),
    the item of a vector of plain values none."""
    paimon: int | None = None
    """Paimon's id; columns and members of structs have one."""


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
    """Attributes as compact JSON; empty where there are none."""


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
    schema_id: int
    """The N of Paimon's `schema-N`."""
    highest_lance: int
    """Lance's highest id ever used, -1 for none."""
    highest_paimon: int
    time_millis: int = 0
    """When Paimon's file was made, as its importer found it; 0 for one that was made here."""
    extra: str = ""
    """Attributes of the schema as compact JSON."""
    digest: str = ""
    """Of everything in this version; says whether two locks mean the same by a number."""
    highest_id: int = 0
    """The highest id ever used, where no line of a field has it: a branch that was merged dropped that field again."""


@dataclass(frozen=True)
class LockedDataset:
    """All versions of one dataset, oldest first."""

    name: str
    versions: tuple[Version, ...] = ()
    states: tuple[State, ...] = field(default=(), repr=False)
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
        """The version of a number."""
        return next((v for v in self.versions if v.number == number), None)

    def states_of(self, number: int) -> tuple[State, ...]:
        """The states that make up a version."""
        return tuple([state for state in self.states if state.is_in(number)])


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock file: the datasets of one manifest."""

    datasets: tuple[LockedDataset, ...] = ()

    def dataset(self, name: str) -> LockedDataset:
        """The dataset of a name; an empty one where the lock does not know it."""
        return next((d for d in self.datasets if d.name == name), LockedDataset(name))

    def with_dataset(self, dataset: LockedDataset) -> "Lock":
        """The same lock with this dataset in the place of the one of its name."""
        others = {d.name: d for d in self.datasets}
        others[dataset.name] = dataset
        return Lock(tuple(others[name] for name in sorted(others)))


def paths_of(states: Iterable[State]) -> dict[int, FieldPath]:
    """The path of every field of one version, by id."""
    by_id = {state.id: state.shape for state in states}
    paths: dict[int, FieldPath] = {}

    def path(id: int) -> FieldPath:
        found = paths.get(id)
        if found is None:
            shape = by_id[id]
            found = paths[id] = (*(path(shape.parent) if shape.parent is not None else ()), shape.segment)
        return found

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
