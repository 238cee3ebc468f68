"""Documents of a text, and the locations of their values.

Layer: text.
Shape: a tree path is a tuple of mapping keys and sequence indices from the root of the document. A mapping or list
whose values were written elsewhere, such as the fields of a group, has their origins; all other values are where their
path leads in the text.
Units: spans as in `schemac.text.source.diagnostics`. Locations come from a second reading, which happens only if one is asked
for: a text without findings is read once.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from schemac.text.source.diagnostics import Code, Label, Report, SourceText, Span
from schemac.text.source.json_object import Json, TreePath
from schemac.text.source.text import decode_text
from schemac.text.syntax.compose import Location, compose
from schemac.text.syntax.entries import Entry, Positions
from schemac.text.syntax.events import EventSource, YamlValue, fast_events, pure_events

__all__ = ["Document", "Location", "MappingNode", "SequenceNode", "TreePath", "ValueOrigin", "Via", "parse"]


class Document:
    """One document of a text: its value, and the locations of what is in it."""

    def __init__(self, source: SourceText, value: YamlValue, index: int, positions: Positions) -> None:
        self.source = source
        self.value = value
        self.index = index
        self.positions = positions
        self._written = self

    def with_value(self, value: Any) -> "Document":
        """Return the document with another value, some parts of which were written elsewhere."""
        document = Document(self.source, value, self.index, self.positions)
        document._written = self._written
        return document

    def part(self, path: TreePath) -> Any:
        """Return the value at a path, which has to be there."""
        value: Any = self.value
        return reduce(getitem, path, value)

    def origin(self, path: TreePath) -> "ValueOrigin":
        """Return where a value was written."""
        if self._written is self:
            return ValueOrigin(self, path)
        origin, value = ValueOrigin(self._written, ()), self.value
        for step in path:
            part_origin = value.origins.get(step) if isinstance(value, MappingNode | SequenceNode) else None
            origin = origin.child(step) if part_origin is None else part_origin
            value = child_of(value, step)
        return origin

    def span(self, path: TreePath) -> Span:
        """Return where a value is; for a path that the text does not have, where its nearest parent is."""
        return self.location(path).span

    def key_span(self, path: TreePath) -> Span:
        """Return where the key of a value is; like `span` for the items of a sequence."""
        return self.location(path, on_key=True).span

    def has(self, path: TreePath) -> bool:
        """Return whether a value was written for exactly this path."""
        return self.location(path).is_exact

    def location(self, path: TreePath, *, on_key: bool = False) -> Location:
        """Return where a value is, or its key: parts of a document may have been written in another one."""
        document, written_path, via = self.origin(path)
        root = document.positions.entries.roots[document.index]
        entry: Entry | None = None
        target, depth = root.target, 0
        for step in written_path:
            child = target.child(step) if target is not None else None
            if child is None:
                break
            entry, target, depth = child, child.target, depth + 1
        is_exact = depth == len(written_path)
        labels = tuple([step.label for step in via])
        if entry is None:
            return Location(document.source, root.span, labels, root=root.target, is_exact=is_exact)
        span = entry.key_span if on_key and is_exact else entry.value
        return Location(document.source, span, labels, entry, is_exact=is_exact)

    def report(
        self,
        code: Code,
        message: str,
        path: TreePath,
        report: Report,
        help: str = "",
        *,
        on_key: bool = False,
    ) -> None:
        """Report a finding about a value, or about its key."""
        report.add(code, message, location=self.location(path, on_key=on_key), help=help)


class Via(NamedTuple):
    """A value that explains how another one came to where it is."""

    message: str
    document: Document
    path: TreePath

    @property
    def label(self) -> Label:
        """The location as findings show it."""
        location = self.document.location(self.path)
        return location.label(self.message)


class ValueOrigin(NamedTuple):
    """Where a value was written, and how it came to where it is."""

    document: Document
    path: TreePath
    via: tuple[Via, ...] = ()

    def child(self, *steps: str | int) -> "ValueOrigin":
        """Return the origin of a part."""
        return ValueOrigin(self.document, (*self.path, *steps), self.via)

    def location(self, *, on_key: bool = False) -> Location:
        """Return the location of the value, or of its key, with what explains it."""
        location = self.document.location(self.path, on_key=on_key)
        return replace(location, labels=(*location.labels, *[step.label for step in self.via]))


class MappingNode(Json):
    """A mapping some of whose values were written elsewhere."""

    __slots__ = ("origins",)

    def __init__(self, values: Json | None = None) -> None:
        super().__init__(values or {})
        self.origins: dict[str | int, ValueOrigin] = (
            dict(values.origins) if isinstance(values, MappingNode) else {}
        )

    def put(self, key: str, value: Any, origin: ValueOrigin | None) -> None:
        """Set a value, with its origin if that is elsewhere than the mapping."""
        self[key] = value
        if origin is not None:
            self.origins[key] = origin

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class SequenceNode(list[Any]):
    """A list some of whose items were written elsewhere."""

    __slots__ = ("origins",)

    def __init__(self) -> None:
        super().__init__()
        self.origins: dict[str | int, ValueOrigin] = {}

    def put(self, item: Any, origin: ValueOrigin | None) -> None:
        """Append an item, with its origin if that is elsewhere than the list."""
        if origin is not None:
            self.origins[len(self)] = origin
        self.append(item)

    def extend(self, items: Iterable[Any]) -> None:
        """Append items, with their origins if they have some."""
        if isinstance(items, SequenceNode):
            self.origins |= {len(self) + int(i): origin for i, origin in items.origins.items()}
        super().extend(items)

    def __reduce__(self) -> Any:
        return list, (list(self),)


def child_of(value: Any, step: str | int) -> Any:
    """Return the part of a value; None where there is none."""
    try:
        return value[step]
    except (KeyError, IndexError, TypeError):
        return None


def documents_in(content: bytes, name: str) -> list[Document]:
    """Return all documents of a text that could be read, whatever is wrong with the others; none if it is not a text."""
    source = decode_text(content, name, Report())
    return [] if source is None else parse(source, Report())


def parse(
    source: SourceText,
    report: Report,
    event_sources: tuple[EventSource, EventSource] = (fast_events, pure_events),
) -> list[Document]:
    """Return all documents of a text that could be read; what could not is in the report. `event_sources` as in `compose`."""
    values, event_source = compose(source, report, event_sources)
    positions = Positions(source.content, event_source)
    return [Document(source, value, index, positions) for index, value in enumerate(values)]
