"""Looks at the values of a Lance table before anything is changed.

Floor: 11 (tables).
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemac.evolution.side import Pair
from schemac.logical.slots import Slot
from schemac.tables.convert import values_of
from schemac.tables.lance_plan import Plan
from schemac.tables.recipe import Recipe
from schemac.tables.steps import Check, Subject


class Question:
    """One check, asked of batch after batch."""

    def __init__(self, check: Check, plan: Plan) -> None:
        assert check.slot is not None
        self.check = check
        self.slot: Slot = check.slot
        self.sides: Pair = plan.sides
        self.is_moved = check.subject is Subject.PLACE or _is_moved(plan.sides, self.slot)
        self._count = 0
        self._row = 0
        self._misfit = ""
        self._recipe = Recipe.of(plan.stages, [self._root(plan)], plan.layout.numbers)

    @property
    def columns(self) -> list[str]:
        """The columns that it reads."""
        if self.check.subject is Subject.NULLS and not self.is_moved:
            return [str(self.sides.before[self.slot].column.segment)]
        return self._recipe.sources

    @property
    def answer(self) -> str:
        """What was found; empty where nothing stands in the way."""
        if self._misfit:
            return self._misfit
        what = "are null" if self.check.subject is Subject.NULLS else "are lost"
        return f"{self._count:,} {what}" if self._count else ""

    def ask(self, batch: pa.RecordBatch) -> None:
        """Look at some rows."""
        if self._misfit:
            return
        try:
            self._ask(batch)
        except ValueError as error:
            self._misfit = f"among rows {self._row:,} to {self._row + len(batch):,}: {error}"
        self._row += len(batch)

    def _ask(self, batch: pa.RecordBatch) -> None:
        before = self.sides.before[self.slot]
        if self.check.subject is Subject.FIT:
            self._recipe.make(batch)
        elif not self.is_moved:
            self._count += _null_count(batch.column(str(before.column.segment)), before)
        else:
            made = self._recipe.make(batch).column(0)
            if self.check.subject is Subject.NULLS:
                self._count += _null_count(made, self.slot)
            else:
                there, kept = values_of(before, batch).is_valid(), _values(self.slot, made).is_valid()
                self._count += pc.sum(pc.and_not(there, kept)).as_py() or 0

    def _root(self, plan: Plan) -> Slot:
        """What is made anew for the field: itself, or something around it."""
        slot: Slot = self.slot
        while slot not in plan.layout.written and slot.parent is not None:
            slot = slot.parent
        return slot


def _is_moved(sides: Pair, slot: Slot) -> bool:
    parent = sides.before.get(slot.parent) if slot.parent is not None else None
    return sides.before[slot].parent is not parent


def _values(slot: Slot, column: pa.Array) -> pa.Array:
    """The values of a slot that stands in structs only, out of its column."""
    for inner in _chain(slot)[1:]:
        column = pc.struct_field(column, str(inner.segment))
    return column


def _chain(slot: Slot) -> Sequence[Slot]:
    """The column, and what lies on the way to the slot."""
    chain = [slot]
    while chain[-1].parent is not None:
        chain.append(chain[-1].parent)
    return chain[::-1]


def _null_count(column: Any, slot: Slot) -> int:
    """How many values of a field are null where what is around it is not."""
    for inner in _chain(slot)[1:]:
        column = _inside(column.filter(column.is_valid()), inner)
    return int(column.null_count)


def _inside(values: Any, slot: Slot) -> Any:
    """The values of a part or member of what is around it, without what is null."""
    assert slot.parent is not None
    kind = slot.parent.type.kind
    if kind == "Struct":
        return pc.struct_field(values, str(slot.segment))
    if kind == "Map":
        return values.keys if str(getattr(slot.segment, "value", "")) == "key" else values.items
    return values.flatten()
