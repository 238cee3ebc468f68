"""How one column is written anew, in a form that other processes can be told.

Floor: 11 (tables).
Shape: both schemas as trees, and which field of the new one is which of the old one, by their places in pre-order.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

import schemac.kinds.registry  # noqa: F401 — a worker knows no kind without it
from schemac.evolution.side import Pair, Side
from schemac.logical.dataset import LogicalDataset
from schemac.logical.model import Schema
from schemac.logical.origins import Origins
from schemac.logical.slots import Slot, columns, preorder
from schemac.tables.convert import Conversion, values_of


@dataclass(frozen=True)
class Recipe:
    """Makes the values of one field out of batches of the old table."""

    old: dict[str, Any]
    new: dict[str, Any]
    before: tuple[tuple[int, int], ...]
    """Places of a new field and of the old one that it is."""
    field: int
    """The place of the field that is made."""
    name: str
    """What it is called in the result."""
    rounded: tuple[str, ...] = ()
    """The fields whose values may be rounded."""

    @classmethod
    def of(cls, sides: Pair, slot: Slot, name: str, rounded: Collection[str] = ()) -> "Recipe":
        """The recipe for a slot of the new side."""
        olds = {s: i for i, s in enumerate(preorder(sides.old.dataset.columns))}
        news = {s: i for i, s in enumerate(preorder(sides.new.dataset.columns))}
        before = tuple((news[new], olds[old]) for new, old in sides.before.items())
        return cls(_tree(sides.old), _tree(sides.new), before, news[slot], name, tuple(sorted(rounded)))

    @cached_property
    def _sides(self) -> Pair:
        old, new = _side(self.old), _side(self.new)
        olds, news = preorder(old.dataset.columns), preorder(new.dataset.columns)
        return Pair(old, new, {news[i]: olds[j] for i, j in self.before})

    @cached_property
    def _slot(self) -> Slot:
        return preorder(self._sides.new.dataset.columns)[self.field]

    @cached_property
    def _conversion(self) -> Conversion:
        return Conversion(self._sides, self.rounded)

    @property
    def sources(self) -> list[str]:
        """The old columns that are read."""
        parents = {str(parent.column.segment) for parent in self._parents[:1]}
        return sorted(self._conversion.sources(self._slot) | parents)

    def make(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The new field's values, inside the old structs that it stands in."""
        values = self._conversion.build(self._slot, batch)
        field = pa.field(self.name, values.type)
        for parent in self._parents:
            mask = values_of(parent, batch).is_null()
            values = pa.StructArray.from_arrays([values], fields=[field], mask=mask)
            field = pa.field(str(parent.segment), values.type)
        return pa.RecordBatch.from_arrays([values], schema=pa.schema([field]))

    @cached_property
    def _parents(self) -> list[Slot]:
        """The old structs around the field, innermost first."""
        parents: list[Slot] = []
        above = self._slot.parent
        while above is not None:
            parents.append(self._sides.before[above])
            above = above.parent
        return parents


def _tree(side: Side) -> dict[str, Any]:
    return side.dataset.schema.model_dump(mode="json", by_alias=True)


def _side(tree: dict[str, Any]) -> Side:
    schema = Schema.model_validate(tree)
    return Side(LogicalDataset("", schema, columns(schema), Origins("")), "")
