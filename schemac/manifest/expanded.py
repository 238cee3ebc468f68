"""A document in which groups stand where they are used.

Layer: manifest.
Shape: its paths are those of the value after expansion; each leads to the text that its value was written in.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from schemac.source.diagnostic import Label
from schemac.source.report import label
from schemac.source.span import Span
from schemac.syntax.document import Document, Place, TreePath


class Via(NamedTuple):
    """A place that explains how a value came to where it is."""

    message: str
    document: Document
    path: TreePath

    @property
    def label(self) -> Label:
        """The place as findings show it."""
        place = self.document.place(self.path)
        return label(self.message, place.source, place.span)


class Graft(NamedTuple):
    """Where a part of an expanded value was written, and how it came here."""

    document: Document
    path: TreePath
    via: tuple[Via, ...] = ()

    def below(self, *steps: str | int) -> "Graft":
        """Return the place of a part."""
        return Graft(self.document, (*self.path, *steps), self.via)


class ExpandedDocument(Document):
    """One document with some of its parts taken from elsewhere."""

    def __init__(self, document: Document, value: Any, grafts: Mapping[TreePath, Graft]) -> None:
        super().__init__(document.source, value, document.index, document.stream)
        self._document = document
        self._grafts = grafts

    @property
    def written(self) -> Any:
        """The value before groups were put in."""
        return self._document.written

    def origin(self, path: TreePath) -> Graft:
        """Return where a value was written."""
        for depth in range(len(path), 0, -1):
            graft = self._grafts.get(path[:depth])
            if graft is not None:
                return graft.below(*path[depth:])
        return Graft(self._document, path)

    def span(self, path: TreePath) -> Span:
        """Where a value is in the text that it was written in."""
        graft = self.origin(path)
        return graft.document.span(graft.path)

    def key_span(self, path: TreePath) -> Span:
        """Where the key of a value is, as `span`."""
        graft = self.origin(path)
        return graft.document.key_span(graft.path)

    def has(self, path: TreePath) -> bool:
        """Whether a value was written for exactly this path."""
        graft = self.origin(path)
        return graft.document.has(graft.path)

    def place(self, path: TreePath, *, on_key: bool = False) -> Place:
        """Where a value is, or its key, with the places that its group is used at."""
        graft = self.origin(path)
        place = graft.document.place(graft.path, on_key=on_key)
        return place._replace(labels=(*place.labels, *[via.label for via in graft.via]))


def replaced(value: Any, path: TreePath, new: Any) -> Any:
    """Return a value with another one at a path."""
    if not path:
        return new
    step, *rest = path
    copy = value.copy()
    copy[step] = replaced(value[step], tuple(rest), new)
    return copy
