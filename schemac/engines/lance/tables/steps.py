"""The steps that change a Lance table.

Layer: engines. Values only.
Shape: ordered; each says what it costs and what it does to ids, metadata and indices.
"""

import dataclasses
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from schemac.language.logical.schema_fields import SchemaField
from schemac.text.source.json_object import Json
from schemac.versions.evolution.constraints import Rule
from schemac.versions.evolution.verdict import Outcome

MARK = "__schemac_"
"""Names that columns have while they cannot have their own begin with this."""


IndexParameters = dict[str, Any]
"""Keyword arguments of the function of Lance that builds an index."""


@dataclass(frozen=True, slots=True)
class Index:
    """An index of a table, with all that is needed to build it again."""

    name: str
    path: str
    """Of its field, as Lance writes it."""
    type: str
    parameters: IndexParameters = dataclasses.field(default_factory=dict)
    field_id: int = 0
    """The lock's id of the field, once it is known; it stays when the field gets another name."""
    lost: tuple[str, ...] = ()
    """Parameters that do not come back when it is built again."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step; the subclasses are all that there are."""

    title: str
    """The field, or what the step is about."""

    cost: Outcome = Outcome.METADATA

    @property
    def verb(self) -> str:
        """The step in a word."""
        return _VERBS[type(self).__name__]

    def describe(self) -> str:
        """Return what it does, for people."""
        return ""

    def to_json(self) -> Json:
        """Return the step for programs."""
        return {"cost": str(self.cost), "does": self.describe(), "field": self.title, "step": self.verb}


class Subject(Enum):
    """What a check asks of the values of a field."""

    FIT = auto()
    """Each one has to fit the new type."""
    NULLS = auto()
    """None may be null."""
    RULE = auto()
    """They have to keep a constraint."""
    PLACE = auto()
    """Where one is, the structs that the field moves into may not be null."""


@dataclass(frozen=True, slots=True)
class Check(Step):
    """Look at the data before anything is changed."""

    cost: Outcome = Outcome.DATA
    question: str = ""
    query: str = ""
    """A filter of Lance that finds the rows in question; empty if it has no words for them."""
    field: SchemaField | None = dataclasses.field(default=None, repr=False, compare=False)
    subject: Subject = Subject.FIT
    rule: Rule | None = dataclasses.field(default=None, repr=False, compare=False)
    """The constraint, if it is about one."""

    def describe(self) -> str:
        """Return the question, and the query that answers it, where Lance has one."""
        return f"{self.question}: rows where {self.query}" if self.query else self.question


@dataclass(frozen=True, slots=True)
class Unlooked(Step):
    """A constraint that cannot be checked, because another table is needed."""

    cost: Outcome = Outcome.DATA
    dataset: str = ""
    question: str = ""

    def describe(self) -> str:
        """Return what is not looked at, and how it can be."""
        return f"{self.question}, and this is not checked; name that table with `--reference {self.dataset}=PATH`"


@dataclass(frozen=True, slots=True)
class Rewrite(Step):
    """Write a field anew, into files next to those that exist; nothing shows of it before the swap."""

    cost: Outcome = Outcome.REWRITE
    field: SchemaField | None = dataclasses.field(default=None, repr=False, compare=False)
    before: str = ""
    after: str = ""
    ids: tuple[int, ...] = ()
    old_ids: tuple[int, ...] = ()

    def describe(self) -> str:
        """Return the types and ids."""
        if not self.before:
            return f"{self.after} is written with nulls, so that the files show in which rows its struct or list is null; id {_range(self.ids)}"
        was = f"{_range(self.old_ids)} → " if self.old_ids else ""
        return f"{self.before} → {self.after}, written into new files; id {was}{_range(self.ids)}"


@dataclass(frozen=True, slots=True)
class Add(Step):
    """Add fields of nulls, with the ids that the lock gives them."""

    fields: tuple[SchemaField, ...] = dataclasses.field(default=(), repr=False, compare=False)
    ids: tuple[int, ...] = ()

    def describe(self) -> str:
        """Return the ids."""
        return f"existing rows read as null; id {_range(self.ids)}; no data is written"


@dataclass(frozen=True, slots=True)
class DropIndex(Step):
    """Drop an index together with its field."""

    index: Index | None = None
    is_rebuilt: bool = True

    def describe(self) -> str:
        """Which one."""
        assert self.index is not None
        again = "it is rebuilt at the end" if self.is_rebuilt else "its field is dropped"
        return f"{self.index.type} index {self.index.name}; {again}"


@dataclass(frozen=True, slots=True)
class Swap(Step):
    """One commit that adds all new fields to the table, and removes those that they replace."""

    details: tuple[str, ...] = ()

    def describe(self) -> str:
        """Return what changes by it."""
        return "; ".join(("one commit, only if no row was written since they were made", *self.details))


@dataclass(frozen=True, slots=True)
class SetSchema(Step):
    """One commit that sets every field's name, place, nullability and metadata, and removes dropped ones."""

    details: tuple[str, ...] = ()

    def describe(self) -> str:
        """Return what changes by it."""
        return f"one commit, no data is rewritten: {'; '.join(self.details) or 'metadata'}"


@dataclass(frozen=True, slots=True)
class BuildIndex(Step):
    """Build an index again."""

    cost: Outcome = Outcome.REWRITE
    index: Index | None = None

    def describe(self) -> str:
        """Which one."""
        assert self.index is not None
        lost = (
            f"; its settings {', '.join(self.index.lost)} are lost, because schemac does not know them"
            if self.index.lost
            else ""
        )
        return f"{self.index.type} index {self.index.name}{lost}"


_VERBS = {
    "Check": "check",
    "Unlooked": "not checked",
    "DropIndex": "drop index",
    "Add": "add",
    "Rewrite": "rewrite",
    "Swap": "swap in",
    "SetSchema": "set schema",
    "BuildIndex": "build index",
}


def _range(ids: tuple[int, ...]) -> str:
    if not ids:
        return "-"
    return str(ids[0]) if len(ids) == 1 else f"{min(ids)}–{max(ids)}"
