"""What Lance has in the place of a field.

Layer: engines.
"""

from collections.abc import Mapping

from schemac.arrow.lower import lower
from schemac.engines.lance.nodes import words_by_slot
from schemac.evolution.version_pair import SchemaVersion
from schemac.logical.dataset import LogicalDataset
from schemac.logical.slots import Slot

Words = Mapping[Slot, tuple[str, ...]]
"""Lance's logical types of the nodes that belong to each slot, parents first."""


def words_of(dataset: LogicalDataset) -> Words:
    """Return Lance's words for the fields of a dataset."""
    return words_by_slot(lower(dataset))


def _words(version: SchemaVersion) -> Words:
    return words_by_slot(version.lowered)


def words(version: SchemaVersion) -> Words:
    """Return Lance's words for the fields of a schema."""
    return version.view(_words)


def column_words(version: SchemaVersion, column: Slot) -> Words:
    """Return Lance's words for the fields of one column; the others are not lowered for it."""
    return version.column_view(words_of, column)
