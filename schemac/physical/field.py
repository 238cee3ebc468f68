"""One field as an engine stores it.

Floor: 1 (physical).
Shape: a tree, parents before children, in the order of the manifest.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from schemac.physical.arrow import ArrowField, ArrowSchema, pa


@dataclass(frozen=True, slots=True)
class LoweredField:
    """An Arrow field with its identity.

    `ids` are those of this node and of the nodes that only some engines number: a map's `entries` struct comes
    right after the map itself. Non-negative 32-bit integers, unique in a schema.
    """

    id: int
    path: str
    arrow: ArrowField
    children: tuple["LoweredField", ...] = ()
    slot: Any = field(default=None, repr=False, compare=False)
    """The logical slot this came from, for findings; None where there is no manifest."""

    def preorder(self) -> Iterator["LoweredField"]:
        """This field and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.preorder()


@dataclass(frozen=True, slots=True)
class LoweredSchema:
    """All columns of a dataset with the schema's own metadata (Arrow's form: text to text)."""

    fields: tuple[LoweredField, ...]
    metadata: dict[str, str]

    def to_arrow(self) -> ArrowSchema:
        """The pyarrow schema of these fields."""
        return pa.schema([f.arrow for f in self.fields], metadata=self.metadata or None)  # type: ignore[arg-type]

    def preorder(self) -> Iterator[LoweredField]:
        """Every field, parents before children."""
        for top in self.fields:
            yield from top.preorder()
