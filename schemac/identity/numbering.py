"""Numbers for fields, as the engines give them.

Layer: identity.
Shape: numbers that a field had are kept where the engine would keep them, the others are new, above the highest that
was ever used; none is used twice, whatever the engine itself would do.
Source: Lance numbers every node in pre-order, and a column that is cast gets a new id with all below it; what it can
add and cast was tried at every place with pylance 14.0.2. Paimon numbers
columns and members of rows: `SchemaChange.addColumn` and `Schema.Builder` take the column's number first, then those of
the members inside its type, children before their parent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemac.identity.casts import is_cast
from schemac.identity.lock import Numbers
from schemac.logical.slots import Slot, preorder

_PAIMON_TYPE = "paimon.apache.org/type"
Words = Mapping[Slot, tuple[str, ...]]
"""Lance's logical types of the nodes that belong to each slot, parents first."""


@dataclass(frozen=True, slots=True)
class Old:
    """A slot of the version before, with its numbers."""

    slot: Slot
    words: tuple[str, ...]
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Highest:
    """The highest numbers ever used, -1 for none."""

    lance: int = -1
    paimon: int = -1


def number(
    columns: Sequence[Slot], words: Words, old: Mapping[Slot, Old], highest: Highest
) -> tuple[dict[Slot, Numbers], Highest]:
    """The numbers of all slots, and the highest ones after that."""
    lance, highest_lance = _lance(columns, words, old, highest.lance)
    rows, highest_paimon = number_for_paimon(columns, _kept_by_paimon(columns, old), highest.paimon)
    numbers = {slot: Numbers(lance[slot], rows.get(slot)) for slot in preorder(columns)}
    return numbers, Highest(highest_lance, highest_paimon)


def _lance(
    columns: Sequence[Slot], words: Words, old: Mapping[Slot, Old], highest: int
) -> tuple[dict[Slot, tuple[int, ...]], int]:
    found: dict[Slot, tuple[int, ...]] = {}
    slots = preorder(columns)
    new = {slot for slot in slots if _is_new(slot, words, old)}
    renewed = {_root(slot, words, old) for slot in new if slot.parent not in new}
    for slot in slots:
        # All nodes below a renewed one are new.
        if slot in renewed or slot.parent in renewed:
            renewed.add(slot)
            found[slot] = tuple(range(highest + 1, highest + 1 + len(words[slot])))
            highest += len(words[slot])
        else:
            found[slot] = old[slot].numbers.lance
    return found, highest


def _is_new(slot: Slot, words: Words, old: Mapping[Slot, Old]) -> bool:
    before = old.get(slot)
    return before is None or before.words != words[slot] or not _is_below_the_same(slot, before, old)


def _root(slot: Slot, words: Words, old: Mapping[Slot, Old]) -> Slot:
    """What has to be written anew for a new node: itself where Lance can do that, else the whole column.

    It adds nothing inside maps and vectors, and inside lists it makes no more than its own casts.
    """
    before = old.get(slot)
    column, kinds = slot, set()
    while column.parent is not None:
        column = column.parent
        is_vector = column.type.kind == "List" and getattr(column.type, "fixed_length", None) is not None
        kinds.add("Vector" if is_vector else column.type.kind)
    is_added = before is None and slot.is_member
    is_casted = before is not None and len(before.words) == len(words[slot]) == 1
    is_casted = is_casted and is_cast(before.words[0], words[slot][0]) if before is not None else False
    is_possible = kinds <= {"Struct"} or (kinds <= {"Struct", "List"} and (is_added or is_casted))
    return slot if is_possible else column


def _is_below_the_same(slot: Slot, before: Old, old: Mapping[Slot, Old]) -> bool:
    if slot.parent is None:
        return before.slot.parent is None
    above = old.get(slot.parent)
    return above is not None and above.slot is before.slot.parent


def _is_of_the_same_form(slot: Slot, before: Slot) -> bool:
    """Whether Paimon could keep the id: it casts plain values, but makes no row of a number."""
    return slot.type.kind == before.type.kind or not (slot.children or before.children)


def _kept_by_paimon(columns: Sequence[Slot], old: Mapping[Slot, Old]) -> dict[Slot, int]:
    """The ids that fields bring with them: those that stand where they stood, in types that Paimon can cast."""
    kept: dict[Slot, int] = {}
    stack = list(columns)
    while stack:
        slot = stack.pop()
        before = old.get(slot)
        if before is None or not _is_below_the_same(slot, before, old):
            continue
        if not _is_of_the_same_form(slot, before.slot):
            continue
        if before.numbers.paimon is not None:
            kept[slot] = before.numbers.paimon
        stack.extend(slot.children)
    return kept


def number_for_paimon(
    columns: Sequence[Slot], kept: Mapping[Slot, int] | None = None, highest: int = -1
) -> tuple[dict[Slot, int], int]:
    """Paimon's ids of all columns and members, and the highest one: kept ids stay, others count on."""
    numbering = _PaimonNumbering(kept or {}, highest)
    for slot in columns:
        numbering.added(slot)
    return numbering.ids, numbering.highest


class _PaimonNumbering:
    """Goes through the columns in the order of Paimon's Java."""

    def __init__(self, kept: Mapping[Slot, int], highest: int) -> None:
        self._kept = kept
        self.highest = highest
        self.ids: dict[Slot, int] = {}

    def added(self, slot: Slot) -> None:
        """A column, or a member of a row that was there before."""
        self._take(slot)
        self._below(slot, is_new=slot not in self._kept)

    def _below(self, slot: Slot, *, is_new: bool) -> None:
        """Everything that a slot is made of; `is_new` tells whether the field that it belongs to is."""
        if not slot.children or (slot.extra and slot.extra.get(_PAIMON_TYPE) == "VARIANT"):
            return
        for child in slot.children:
            if not child.is_member:
                self._below(child, is_new=is_new)
            elif is_new:
                self._below(child, is_new=True)
                self._take(child)
            else:
                self.added(child)

    def _take(self, slot: Slot) -> None:
        id = self._kept.get(slot)
        if id is None:
            self.highest += 1
            id = self.highest
        self.ids[slot] = id
