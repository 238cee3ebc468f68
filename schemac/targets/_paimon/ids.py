"""Numbers of columns and of the members of ROWs.

Floor: 7 (targets).
Shape: ids by path. Items, keys and values have none; the members of a ROW inside them have.
Source: `Schema.Builder`, `ReassignFieldId` and `SchemaManager` of github.com/apache/paimon. What is added first takes
its number and then numbers what it is made of; below it the members come after their own members.
"""

from collections.abc import Mapping, Sequence

from schemac.attributes import paimon
from schemac.logical.path import FieldPath
from schemac.logical.slots import Slot


def assign_ids(
    columns: Sequence[Slot], taken: Mapping[FieldPath, int], highest: int
) -> tuple[dict[FieldPath, int], int]:
    """The ids of all columns and members: those that are taken stay, others count on from the highest."""
    numbering = _Numbering(taken, highest)
    for column in columns:
        numbering.added(column, (column.segment,))
    return numbering.ids, numbering.highest


class _Numbering:
    def __init__(self, taken: Mapping[FieldPath, int], highest: int) -> None:
        self._taken = taken
        self.ids: dict[FieldPath, int] = {}
        self.highest = highest

    def added(self, slot: Slot, path: FieldPath) -> None:
        """A column, or a member of a ROW that was there before."""
        is_new = path not in self._taken
        self._number(path)
        self._below(slot, path, is_new)

    def _below(self, slot: Slot, path: FieldPath, is_new: bool) -> None:
        """Everything that a slot is made of; `is_new` tells whether the field that it belongs to is."""
        if not slot.children or slot.extra.get(paimon.TYPE.key) == "VARIANT":
            return
        for child in slot.children:
            below = (*path, child.segment)
            if not child.is_member:
                self._below(child, below, is_new)
            elif is_new:
                self._below(child, below, is_new=True)
                self._number(below)
            else:
                self.added(child, below)

    def _number(self, path: FieldPath) -> None:
        id = self._taken.get(path)
        if id is None:
            self.highest += 1
            id = self.highest
        self.ids[path] = id
