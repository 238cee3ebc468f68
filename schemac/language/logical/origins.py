"""The locations of a schema in its text, and the names of the standard's system columns.

Layer: language.
Source: the standard's DatasetVocabulary and SetVocab for names and their defaults. RFC-016 and the standard's Parquet
table have UInt64 and UInt8; the reference implementation builds and expects Int64 and Int32.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from schemac.text.source.json_object import TreePath
from schemac.text.source.span import Span
from schemac.text.source.text import SourceText
from schemac.text.syntax.document import Document, Location, Origin


class Origins(NamedTuple):
    """The document and the place in it of one schema's mapping; without a document, a file name alone."""

    file: str
    document: Document | None = None
    base: TreePath = ()
    named_at: TreePath | None = None
    """Where the document gives the dataset its name; None if it does not."""
    overlaid: Mapping[TreePath, Origin] = MappingProxyType({})
    """Where overlays have the attributes that they give, by the paths of these; the paths start at the schema's mapping."""

    @property
    def source(self) -> SourceText | None:
        """The text, where there is one."""
        return self.document.source if self.document is not None else None

    def location(self, path: TreePath, *, on_key: bool = False) -> Location | None:
        """Return where a value is, or its key; `path` starts at the schema's mapping. It may be in another text."""
        if self.document is None:
            return None
        for depth in range(len(path), 0, -1) if self.overlaid else ():
            if (overlaid := self.overlaid.get(path[:depth])) is not None:
                return overlaid.child(*path[depth:]).location(on_key=on_key)
        return self.document.location((*self.base, *path), on_key=on_key)

    @property
    def name_span(self) -> Span | None:
        """The place of the dataset's name, or of what is first in its schema."""
        if self.document is None:
            return None
        if self.named_at is not None:
            return self.document.span(self.named_at)
        return self.document.key_span((*self.base, "fields"))

    def has(self, path: TreePath) -> bool:
        """Whether the text has a value at exactly this path."""
        location = self.location(path)
        return location is not None and location.is_exact


Variant = Literal["rfc", "kamu"]
VARIANTS: dict[str, tuple[str, str]] = {"rfc": ("UInt64", "UInt8"), "kamu": ("Int64", "Int32")}
"""Kinds of the offset and of the operation, as the standard has them and as the reference implementation has."""


class SystemColumns(NamedTuple):
    """What the system columns of a dataset are called, in their order."""

    offset: str = "offset"
    operation: str = "op"
    system_time: str = "system_time"
    event_time: str = "event_time"


SETTINGS = ("offsetColumn", "operationTypeColumn", "systemTimeColumn", "eventTimeColumn")
"""The properties of SetVocab, in the same order."""


class Naming(NamedTuple):
    """The names of a dataset's system columns, and which of them its manifest gives."""

    names: SystemColumns = SystemColumns()
    explicit: frozenset[str] = frozenset()
