"""What Lance has in the place of a field.

Layer: engines.
"""

from collections.abc import Mapping

from schemac.arrow.lower import lower
from schemac.engines.lance.nodes import words_by_slot
from schemac.evolution.side import Side
from schemac.logical.dataset import LogicalDataset
from schemac.logical.slots import Slot

Words = Mapping[Slot, tuple[str, ...]]
"""Lance's logical types of the nodes that belong to each slot, parents first."""


def words_of(dataset: LogicalDataset) -> Words:
    """Return Lance's words for the fields of a dataset."""
    return words_by_slot(lower(dataset))


def _words(side: Side) -> Words:
    return words_by_slot(side.lowered)


def words(side: Side) -> Words:
    """Return Lance's words for the fields of a schema."""
    return side.view(_words)


def column_words(side: Side, column: Slot) -> Words:
    """Return Lance's words for the fields of one column; the others are not lowered for it."""
    return side.column_view(words_of, column)
