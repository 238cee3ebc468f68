"""Documents of a text, and where in it each of their values is.

Layer: syntax.
Shape: a tree path is a tuple of mapping keys and sequence indices from the document's root.
Units: spans as in `schemac.source.span`.
Positions are found by a second reading, and only if one is asked for: a text without findings, the common
case, is read once and keeps none. The first few are looked for one by one, up to the place in question; a caller that needs more
gets all of them.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamStartEvent,
)

from schemac.source.report import Report
from schemac.source.span import Span
from schemac.source.text import SourceText
from schemac.syntax.compose import compose
from schemac.syntax.events import EventSource, events
from schemac.syntax.place import Place
from schemac.syntax.scalars import YamlValue

TreePath = tuple[str | int, ...]


class Stream:
    """The marks of the documents of a text: each is read once, however many ask, and no further than asked for."""

    def __init__(self, content: str, event_source: EventSource) -> None:
        self.event_source = event_source
        self.content = content
        self._found: list[_Mark] = []

    @cached_property
    def _events(self) -> Iterator[Any]:
        return events(self.content, self.event_source)

    def mark(self, index: int) -> "_Mark":
        """Return the mark of one document, which could be composed, as could all before it."""
        while len(self._found) <= index:
            if next(self._events).__class__ is DocumentStartEvent:
                self._found.append(_mark(next(self._events), self._events, {}))
        return self._found[index]


class Document:
    """One document of a text: its value, and the places of what is in it."""

    def __init__(self, source: SourceText, value: YamlValue, index: int, stream: Stream) -> None:
        self.source = source
        self.value = value
        self.index = index
        self.stream = stream
        self._searches = 0

    @property
    def written(self) -> YamlValue:
        """The value as its text has it."""
        return self.value

    def span(self, path: TreePath) -> Span:
        """Where a value is; for a path that the text does not have, where its nearest parent is."""
        return self._find(path)[0].span

    def key_span(self, path: TreePath) -> Span:
        """Where the key of a value is; like `span` for the items of a sequence."""
        mark, depth = self._find(path)
        return mark.key if mark.key is not None and depth == len(path) else mark.span

    def has(self, path: TreePath) -> bool:
        """Whether a value is at exactly this path."""
        return self._find(path)[1] == len(path)

    def place(self, path: TreePath, *, on_key: bool = False) -> Place:
        """Where a value is, or its key, with its text: parts of a document may be in another one."""
        mark, depth = self._find(path)
        is_exact = depth == len(path)
        is_item = mark.key is None
        span = mark.key if on_key and is_exact and mark.key is not None else mark.span
        at = -1 if not depth else mark.key.start if mark.key is not None else mark.span.start
        stream = self.stream
        return Place(self.source, span, (), at, is_exact, is_item, stream.content, stream.event_source)

    def _find(self, path: TreePath) -> tuple["_Mark", int]:
        self._searches += 1
        if self._searches <= _FEW:
            found = self._search(path)
            if found is not None:
                return found, len(path)
        mark = self._marks
        for depth, segment in enumerate(path):
            child = mark.children.get(segment)
            if child is None:
                return mark, depth
            mark = child
        return mark, len(path)

    def _search(self, path: TreePath) -> "_Mark | None":
        """Return the mark of one value; None if it is not there, or is behind an alias."""
        if self.index or "&" in self.stream.content:
            return None
        iterator = events(self.stream.content, self.stream.event_source)
        event = next(event for event in iterator if event.__class__ not in _BEFORE_ROOT)
        key: Any = None
        for segment in path:
            if event.__class__ is MappingStartEvent and segment.__class__ is str:
                while (key := next(iterator)).__class__ is not MappingEndEvent:
                    if key.__class__ is not ScalarEvent:
                        return None
                    event = next(iterator)
                    if key.value == segment:
                        break
                    _skip(event, iterator)
                else:
                    return None
            elif event.__class__ is SequenceStartEvent and segment.__class__ is int:
                key = None
                event = next(iterator)
                for _ in range(int(segment)):
                    if event.__class__ is SequenceEndEvent:
                        return None
                    _skip(event, iterator)
                    event = next(iterator)
                if event.__class__ is SequenceEndEvent:
                    return None
            else:
                return None
        mark = _mark(event, iterator, {})
        key_span = Span(key.start_mark.index, key.end_mark.index) if key is not None else None
        if key_span is not None and mark.span.start == mark.span.end:
            return _Mark(Span(key_span.end, key_span.end), {}, key_span)
        return _Mark(mark.span, mark.children, key_span)

    @property
    def _marks(self) -> "_Mark":
        return self.stream.mark(self.index)


def parse(source: SourceText, report: Report, *, content: str | None = None) -> list[Document]:
    """All documents of a text that could be read; what could not is in the report.

    `content` is what is read in its place, with every node where the text has it.
    """
    content = source.content if content is None else content
    values, event_source = compose(source, report, content=content)
    stream = Stream(content, event_source)
    return [Document(source, value, index, stream) for index, value in enumerate(values)]


__all__ = ["Document", "Place", "Stream", "TreePath", "parse"]

_FEW = 8
"""Searches that cost less than marks for everything."""
_BEFORE_ROOT = (StreamStartEvent, DocumentStartEvent)
_STARTS = (MappingStartEvent, SequenceStartEvent)
_ENDS = (MappingEndEvent, SequenceEndEvent)


def _skip(event: Any, rest: Any) -> None:
    """Read to the end of a value that has just begun."""
    depth = int(event.__class__ in _STARTS)
    while depth:
        kind = next(rest).__class__
        depth += (kind in _STARTS) - (kind in _ENDS)


class _Mark:
    __slots__ = ("children", "key", "span")

    def __init__(self, span: Span, children: dict[str | int, "_Mark"], key: Span | None = None) -> None:
        self.span = span
        self.children = children
        self.key = key


def _mark(event: Any, rest: Any, anchors: dict[str, _Mark]) -> _Mark:
    start = event.start_mark.index
    kind = event.__class__
    if kind is AliasEvent:
        return _Mark(Span(start, event.end_mark.index), anchors[event.anchor].children)
    mark = _Mark(Span(start, event.end_mark.index), {})
    if kind is MappingStartEvent:
        while (key := next(rest)).__class__ is not MappingEndEvent:
            key_mark = _mark(key, rest, anchors)
            value = _mark(next(rest), rest, anchors)
            if value.span.start == value.span.end:
                # The two parsers put a value that is not there at different places; nobody looks beside its key.
                value = _Mark(Span(key_mark.span.end, key_mark.span.end), {})
            name = key.value if key.__class__ is ScalarEvent else ""
            if name not in mark.children:
                # A copy of the mark, for an alias may give one value several keys.
                mark.children[name] = _Mark(value.span, value.children, key_mark.span)
            mark.span = Span(start, max(mark.span.end, value.span.end, key_mark.span.end))
        if event.flow_style:
            mark.span = Span(start, key.end_mark.index)
    elif kind is SequenceStartEvent:
        while (item := next(rest)).__class__ is not SequenceEndEvent:
            child = _mark(item, rest, anchors)
            mark.children[len(mark.children)] = child
            mark.span = Span(start, max(mark.span.end, child.span.end))
        if event.flow_style:
            mark.span = Span(start, item.end_mark.index)
    if event.anchor is not None:
        anchors[event.anchor] = mark
    return mark
