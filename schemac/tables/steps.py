"""The steps that change a Lance table.

Floor: 11 (tables). Values only.
Shape: ordered; each says what it costs and what it does to ids, metadata and indices.
"""

from dataclasses import dataclass, field
from typing import Any

from schemac.evolution.verdict import Outcome
from schemac.logical.slots import Slot

MARK = "__schemac_"
"""Names of columns that are under way begin with this."""


@dataclass(frozen=True, slots=True)
class Index:
    """An index of a table, with all that is needed to build it again."""

    name: str
    path: str
    """Of its field, as Lance writes it."""
    type: str
    parameters: dict[str, Any] = field(default_factory=dict)
    field_id: int = 0
    """The lock's id of the field, once it is known; it stays when the field gets another name."""


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
        """What it does, for people."""
        return ""

    def to_json(self) -> dict[str, Any]:
        """The step for programs."""
        return {"cost": str(self.cost), "does": self.describe(), "field": self.title, "step": self.verb}


@dataclass(frozen=True, slots=True)
class Check(Step):
    """Look at the data before anything is changed."""

    cost: Outcome = Outcome.DATA
    question: str = ""
    query: str = ""
    """A filter of Lance that finds the rows in question; empty where it has no words for them."""
    slot: Slot | None = field(default=None, repr=False, compare=False)
    is_about_nulls: bool = False

    def describe(self) -> str:
        """The question, and the query that answers it, where Lance has one."""
        return f"{self.question}: rows where {self.query}" if self.query else self.question


@dataclass(frozen=True, slots=True)
class DropIndex(Step):
    """Take an index away that Lance would refuse to keep."""

    index: Index | None = None
    is_rebuilt: bool = True

    def describe(self) -> str:
        """Which one."""
        assert self.index is not None
        again = "it is built again at the end" if self.is_rebuilt else "its field goes"
        return f"{self.index.type} index {self.index.name}; {again}"


@dataclass(frozen=True, slots=True)
class Add(Step):
    """Add fields of nulls, with the ids that the lock gives them."""

    slots: tuple[Slot, ...] = field(default=(), repr=False, compare=False)
    ids: tuple[int, ...] = ()

    def describe(self) -> str:
        """The ids."""
        return f"rows that are there read as null; id {_range(self.ids)}; no data is written"


@dataclass(frozen=True, slots=True)
class Cast(Step):
    """Let Lance write a column anew in another type."""

    cost: Outcome = Outcome.REWRITE
    slot: Slot | None = field(default=None, repr=False, compare=False)
    before: str = ""
    after: str = ""
    ids: tuple[int, ...] = ()
    old_ids: tuple[int, ...] = ()

    def describe(self) -> str:
        """The types and ids."""
        return (
            f"{self.before} → {self.after}, one column is written anew; id {_range(self.old_ids)} → "
            f"{_range(self.ids)}; Lance drops its metadata, which the last commit restores"
        )


@dataclass(frozen=True, slots=True)
class Rewrite(Step):
    """Write a column beside the old one, for there is no cast; the last commit puts it in its place."""

    cost: Outcome = Outcome.REWRITE
    slot: Slot | None = field(default=None, repr=False, compare=False)
    before: str = ""
    after: str = ""
    ids: tuple[int, ...] = ()

    @property
    def column(self) -> str:
        """What it is called until then."""
        return f"{MARK}{self.ids[0]}"

    def describe(self) -> str:
        """The types and ids."""
        return f"{self.before} → {self.after}, filled under the name {self.column} with id {_range(self.ids)}, then swapped in"


@dataclass(frozen=True, slots=True)
class SetSchema(Step):
    """One commit that gives every field its name, place, nullability and metadata, and lets dropped ones go."""

    details: tuple[str, ...] = ()

    def describe(self) -> str:
        """What changes by it."""
        return f"one commit, no data is touched: {'; '.join(self.details) or 'metadata'}"


@dataclass(frozen=True, slots=True)
class BuildIndex(Step):
    """Build an index again."""

    cost: Outcome = Outcome.REWRITE
    index: Index | None = None

    def describe(self) -> str:
        """Which one."""
        assert self.index is not None
        return f"{self.index.type} index {self.index.name}"


_VERBS = {
    "Check": "check",
    "DropIndex": "drop index",
    "Add": "add",
    "Cast": "cast",
    "Rewrite": "rewrite",
    "SetSchema": "set schema",
    "BuildIndex": "build index",
}


def _range(ids: tuple[int, ...]) -> str:
    if not ids:
        return "-"
    return str(ids[0]) if len(ids) == 1 else f"{min(ids)}–{max(ids)}"
