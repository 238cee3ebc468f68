"""What Lance has in place of a field.

Layer: engines.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

from schemac.arrow.lower import lower
from schemac.engines.lance.nodes import words_by_field
from schemac.evolution.version_pair import SchemaVersion
from schemac.kinds.plain import PlainType
from schemac.logical.dataset import LogicalDataset
from schemac.logical.schema_fields import SchemaField

Words = Mapping[SchemaField, tuple[str, ...]]
"""Lance's logical types of the nodes that belong to each field, parents first."""


class LazyWords(Words):
    """Lance's words for the fields of a dataset, which are worked out when one is read that is not known without Arrow.

    The merge driver starts for every lock anew, and loading pyarrow takes longer than merging one.
    """

    def __init__(self, dataset: LogicalDataset) -> None:
        self.dataset = dataset

    def __getitem__(self, field: SchemaField) -> tuple[str, ...]:
        """Return the words of a field."""
        type_ = field.type
        if field.parent is None and not field.extra and isinstance(type_, PlainType):
            return (type_.arrow_text,)
        return self._all[field]

    def __iter__(self) -> Iterator[SchemaField]:
        """Iterate over the fields."""
        return iter(self._all)

    def __len__(self) -> int:
        """Return how many fields there are."""
        return len(self._all)

    @cached_property
    def _all(self) -> Words:
        return words_of(self.dataset)


def words_of(dataset: LogicalDataset) -> Words:
    """Return Lance's words for the fields of a dataset."""
    return words_by_field(lower(dataset))


def _words(version: SchemaVersion) -> Words:
    return words_by_field(version.lowered)


def words(version: SchemaVersion) -> Words:
    """Return Lance's words for the fields of a schema."""
    return version.view(_words)


def column_words(version: SchemaVersion, column: SchemaField) -> Words:
    """Return Lance's words for the fields of one column; the others are not lowered for it."""
    return version.column_view(words_of, column)
