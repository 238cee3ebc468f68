"""One field as an engine stores it.

Layer: language.
Shape: a tree, parents before children, in the order of the manifest.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from schemac.language.physical.arrow import ArrowField, ArrowSchema, pa

NO_METADATA: Mapping[str, str] = MappingProxyType({})


class LoweredField:
    """An Arrow field, and the logical field that it was lowered from."""

    __slots__ = ("arrow", "children", "field", "metadata")

    arrow: ArrowField
    children: "tuple[LoweredField, ...]"
    """One a logical child. A type that unfolds into more than its kind says, as a blob does, has none here."""
    field: Any
    """The logical field, opaque on this floor; targets place their findings by it."""
    metadata: Mapping[str, str]
    """That of the Arrow field, as text: pyarrow makes a new dictionary of bytes each time it is asked."""

    def __init__(
        self,
        arrow: ArrowField,
        children: "tuple[LoweredField, ...]",
        field: Any,
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> None:
        self.arrow = arrow
        self.children = children
        self.field = field
        self.metadata = metadata

    @property
    def extension_name(self) -> str | None:
        """The name of the field's extension type, whether pyarrow has registered it or not; None if it has none."""
        type_: Any = self.arrow.type
        if isinstance(type_, pa.BaseExtensionType):
            return str(type_.extension_name)
        return self.metadata.get("ARROW:extension:name")

    def preorder(self) -> "Iterator[LoweredField]":
        """Yield this field and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.preorder()


@dataclass(frozen=True, slots=True)
class LoweredSchema:
    """All columns of a dataset with the schema's own metadata (Arrow's form: text to text)."""

    fields: tuple[LoweredField, ...]
    metadata: dict[str, str]

    def to_arrow(self) -> ArrowSchema:
        """Return the pyarrow schema of these fields."""
        return pa.schema([f.arrow for f in self.fields], metadata=self.metadata or None)

    def preorder(self) -> Iterator[LoweredField]:
        """Every field, parents before children."""
        for top in self.fields:
            if top.children:
                yield from top.preorder()
            else:
                yield top
