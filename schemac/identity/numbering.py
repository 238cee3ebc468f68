"""Numbers for fields, as the engines give them.

Floor: 7 (identity).
Shape: numbers that a field had are kept where the engine would keep them, the others are new, above the highest that
was ever used; none is used twice, whatever the engine itself would do.
Source: Lance numbers every node in pre-order, and a column that is cast gets a new id with all below it. Paimon numbers
columns and members of rows: `SchemaChange.addColumn` and `Schema.Builder` take the column's number first, then those of
the members inside its type, children before their parent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemac.identity.lock import Numbers
from schemac.logical.slots import Slot, preorder

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
    paimon, highest_paimon = number_for_paimon(columns, old, highest.paimon)
    numbers = {slot: Numbers(lance[slot], paimon.get(slot)) for slot in preorder(columns)}
    return numbers, Highest(highest_lance, highest_paimon)


def _lance(
    columns: Sequence[Slot], words: Words, old: Mapping[Slot, Old], highest: int
) -> tuple[dict[Slot, tuple[int, ...]], int]:
    found: dict[Slot, tuple[int, ...]] = {}
    renewed: set[Slot] = set()
    for slot in preorder(columns):
        before = old.get(slot)
        # A node below a renewed one, or below another parent than before, is a new node.
        if (
            before is not None
            and before.words == words[slot]
            and slot.parent not in renewed
            and _is_below_the_same(slot, before, old)
        ):
            found[slot] = before.numbers.lance
            continue
        renewed.add(slot)
        found[slot] = tuple(range(highest + 1, highest + 1 + len(words[slot])))
        highest += len(words[slot])
    return found, highest


def _is_below_the_same(slot: Slot, before: Old, old: Mapping[Slot, Old]) -> bool:
    if slot.parent is None:
        return before.slot.parent is None
    above = old.get(slot.parent)
    return above is not None and above.slot is before.slot.parent


def _is_of_the_same_form(slot: Slot, before: Slot) -> bool:
    """Whether Paimon could keep the id: it casts plain values, but makes no row of a number."""
    return slot.type.kind == before.type.kind or not (slot.children or before.children)


class _PaimonNumbering:
    """Goes through the columns in the order of Paimon's Java."""

    def __init__(self, old: Mapping[Slot, Old], highest: int) -> None:
        self.old = old
        self.highest = highest
        self.found: dict[Slot, int] = {}

    def visit(self, slot: Slot) -> None:
        """A field that may have been there, and whose parent was."""
        before = self.old.get(slot)
        is_kept = (
            before is not None
            and _is_below_the_same(slot, before, self.old)
            and _is_of_the_same_form(slot, before.slot)
        )
        if before is not None and is_kept and before.numbers.paimon is not None:
            self.found[slot] = before.numbers.paimon
        elif slot.is_member:
            self.take(slot)
        if is_kept:
            for child in slot.children:
                self.visit(child)
        else:
            self.below(slot)

    def below(self, slot: Slot) -> None:
        """What is inside a new field: children before their parent."""
        for child in slot.children:
            self.below(child)
            if child.is_member:
                self.take(child)

    def take(self, slot: Slot) -> None:
        self.highest += 1
        self.found[slot] = self.highest


def number_for_paimon(
    columns: Sequence[Slot],
    old: Mapping[Slot, Old] | None = None,
    highest: int = -1,
) -> tuple[dict[Slot, int], int]:
    """Paimon's ids of columns and members, and the highest one after that."""
    numbering = _PaimonNumbering(old or {}, highest)
    for slot in columns:
        numbering.visit(slot)
    return numbering.found, numbering.highest
