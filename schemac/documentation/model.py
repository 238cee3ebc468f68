"""What the pages tell. Values only; all texts are as their authors wrote them.

Layer: documentation.
"""

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

from schemac.attributes.own import Deprecation
from schemac.documentation.history import History
from schemac.evolution.changes import Change


class EngineType(NamedTuple):
    """What an engine has in place of a field."""

    engine: str
    """As people write it."""
    text: str


class LossText(NamedTuple):
    """What an engine does not keep."""

    engine: str
    lost: str
    becomes: str

    @property
    def text(self) -> str:
        """It as a sentence; what is left out has no place in the engine at all."""
        return (
            f"{self.lost} is left out" if self.becomes == "nothing" else f"{self.lost} becomes {self.becomes}"
        )


class Property(NamedTuple):
    """An attribute, as text."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class FieldPage:
    """A field, or a part of a list or map, and what is in it."""

    name: str
    path: str
    anchor: str
    """Of its own on the page of the dataset; letters, digits and hyphens."""
    type_text: str
    is_nullable: bool
    is_member: bool
    """Whether it is a field with a name of its author's, not a part of a list or map."""
    description: str = ""
    id: int | None = None
    """That of the lock."""
    key_position: int | None = None
    """Its place in the primary key, from 1."""
    owner: str = ""
    """Where it is not that of the dataset; likewise the tags and the classification."""
    tags: tuple[str, ...] = ()
    classification: str = ""
    deprecation: Deprecation | None = None
    constraints: tuple[Property, ...] = ()
    attributes: tuple[Property, ...] = ()
    """All others."""
    types: tuple[EngineType, ...] = ()
    losses: tuple[LossText, ...] = ()
    children: "tuple[FieldPage, ...]" = ()


class Relation(NamedTuple):
    """A reference from the fields of one dataset to those of another."""

    source: str
    fields: tuple[str, ...]
    target: str
    to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Revision:
    """What changed from one version to another."""

    old: str
    new: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class DatasetPage:
    """A dataset."""

    name: str
    file: str
    """Its page's file, without the ending."""
    manifest: str
    description: str
    owner: str
    tags: tuple[str, ...]
    classification: str
    deprecation: Deprecation | None
    fields: tuple[FieldPage, ...]
    key: tuple[str, ...]
    """The paths of the primary key."""
    constraints: tuple[Property, ...]
    attributes: tuple[Property, ...]
    losses: tuple[LossText, ...]
    """Those of the schema as a whole."""
    versions: tuple[str, ...] = ()
    """Labels of the locked versions, the oldest first; the last one may be what is not locked yet."""
    revisions: tuple[Revision, ...] = ()
    """What each version but the first one changed, the oldest first."""
    history: History | None = None
    """What all versions were, where there are several."""

    @property
    def field_count(self) -> int:
        """How many fields it has, those in structs too."""
        return sum(1 for one in self.all_fields if one.is_member)

    @property
    def version_text(self) -> str:
        """Its newest version, and whether there are changes since."""
        if not self.versions:
            return "not locked"
        *before, last = self.versions
        return (
            f"version {last}"
            if last.isdigit() or not before
            else f"version {before[-1]}, with changes that are {last}"
        )

    @property
    def all_fields(self) -> "tuple[FieldPage, ...]":
        """Every field and part, parents first."""
        return tuple(_flat(self.fields))


def _flat(fields: tuple[FieldPage, ...]) -> list[FieldPage]:
    return [one for top in fields for one in (top, *_flat(top.children))]


@dataclass(frozen=True)
class Site:
    """All pages."""

    title: str
    datasets: tuple[DatasetPage, ...]
    relations: tuple[Relation, ...] = dataclasses.field(default=())

    def of(self, name: str) -> DatasetPage | None:
        """Return the page of a dataset; None if another project has it."""
        return self._by_name.get(name)

    @property
    def _by_name(self) -> dict[str, DatasetPage]:
        cached = self.__dict__.get("_names")
        if cached is None:
            cached = self.__dict__["_names"] = {one.name: one for one in self.datasets}
        names: dict[str, DatasetPage] = cached
        return names

    def relations_of(self, name: str) -> tuple[Relation, ...]:
        """Return the references of a dataset to others."""
        return tuple([one for one in self.relations if one.source == name])

    def relations_to(self, name: str) -> tuple[Relation, ...]:
        """Return the references of others to a dataset."""
        return tuple([one for one in self.relations if one.target == name and one.source != name])
