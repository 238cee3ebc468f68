"""Keys with their values, and items of lists, as they are in a text: what an edit may take out or put in.

Layer: text.
Units: offsets of code points, half-open.
"""

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from schemac.text.source.diagnostics import Located, Span
from schemac.text.syntax.events import EventSource, YAMLError, events

_TYPE_KEYS = frozenset({"type", "inner", "itemType", "keyType", "valueType"})
"""Keys whose value is a type."""
MAX_DEPTH = 200
"""Levels of nesting. A schema of 32 levels, the most any engine reads, needs about a hundred."""
_STARTS = (MappingStartEvent, SequenceStartEvent)
ENDS = (MappingEndEvent, SequenceEndEvent)
"""The events that end what has entries."""


@dataclass(eq=False, slots=True)
class Collection:
    """A mapping or a sequence."""

    span: Span
    is_flow: bool
    holder: "Entry | None"
    """The entry whose value it is; None at the top of a document."""
    entries: "list[Entry]" = dataclasses.field(default_factory=list)
    _words: frozenset[str] | None = None
    _by_key: "dict[str, Entry] | None" = None

    @property
    def is_field(self) -> bool:
        """Whether it is a field."""
        return self.get("name") is not None and self.get("type") is not None

    def get(self, key: str) -> "Entry | None":
        """Return the first entry of a key; None where there is none."""
        if self._by_key is None:
            self._by_key = {e.key: e for e in reversed(self.entries) if e.key is not None}
        return self._by_key.get(key)

    def child(self, step: str | int) -> "Entry | None":
        """Return the entry of a key, or the item of an index; None where there is none."""
        if isinstance(step, str):
            return self.get(step)
        is_item = step < len(self.entries) and self.entries[step].key is None
        return self.entries[step] if is_item else None

    def words(self, content: str) -> frozenset[str]:
        """Return its keys, or those of its items that are scalars, without quotes."""
        if self._words is None:
            items = (content[e.span.start : e.span.end].strip("'\"") for e in self.entries if not e.inside)
            keys = [entry.key for entry in self.entries if entry.key is not None]
            self._words = frozenset(keys or items)
        return self._words


@dataclass(eq=False, slots=True)
class Entry:
    """A key with its value, or an item."""

    key: str | None
    """The key; None for an item."""
    key_span: Span
    """Where its key is; that of the value for an item."""
    span: Span
    value: Span
    within: Collection
    index: int
    is_shared: bool
    """Whether aliases stand for what it is in, or for itself."""
    inside: Collection | None = None
    """What it has, where that is not a scalar."""
    target: Collection | None = None
    """The same; for an alias, what its anchor has."""

    @property
    def next(self) -> "Entry | None":
        """The one after it."""
        return self.within.entries[self.index + 1] if self.index + 1 < len(self.within.entries) else None

    @property
    def type(self) -> "Entry | None":
        """The entry whose value is the type that it is about: it is in its `extra`, or in the type itself."""
        for entry in self.enclosing():
            if entry.is_shared:
                return None
            if entry.key == "extra":
                sibling = entry.within.get("type")
                return entry.within.holder if sibling is None else sibling
            if entry.key in _TYPE_KEYS:
                return entry
            if entry.within.is_field:
                return entry.within.get("type")
        return None

    @property
    def outer_type(self) -> "Entry | None":
        """The type that it is in; None where there is none."""
        return next((one for one in self.enclosing() if one is not self and one.key in _TYPE_KEYS), None)

    @property
    def inside_option(self) -> "Entry":
        """The type inside of the Options of this one."""
        inner = self.inside.get("inner") if self.inside is not None else None
        return self if inner is None else inner.inside_option

    @property
    def schema(self) -> Collection | None:
        """The outermost mapping with `fields`; None if it is in a group or behind an alias."""
        schema: Collection | None = None
        for entry in self.enclosing():
            if entry.is_shared or entry.key == "groups":
                return None
            if entry.within.get("fields") is not None:
                schema = entry.within
        return schema

    def enclosing(self) -> "Iterator[Entry]":
        """Yield it, and those that it is in, from the innermost on."""
        entry: Entry | None = self
        while entry is not None:
            yield entry
            entry = entry.within.holder

    def attributes(self, key: str, *, is_far: bool = False) -> "Iterator[Entry]":
        """Yield the attribute that it is in, or those of this name around its type, from the nearest on."""
        for entry in self.enclosing():
            if entry.key == key:
                yield entry
                return
            extra = entry.within.get("extra")
            attribute = extra.inside.get(key) if extra is not None and extra.inside is not None else None
            if attribute is not None:
                yield attribute
            if entry.within.is_field and not is_far:
                return

    def removal(self, content: str) -> Span | None:
        """Return what to take out of a text so that it is gone; None where what is left would not be the rest."""
        if len(self.within.entries) == 1:
            return None
        if self.within.is_flow:
            if self.next is not None:
                return Span(self.span.start, self.next.span.start)
            return Span(self.within.entries[self.index - 1].span.end, self.span.end)
        start = content.rfind("\n", 0, self.span.start) + 1
        lead = content[start : self.span.start]
        end = self.span.end
        if content[end - 1 : end] != "\n":
            end = content.find("\n", end) + 1 or len(content)
        if not lead.strip() or (self.key is None and lead.strip() == "-"):
            return Span(start, end) if _is_blank(content[self.span.end : end]) else None
        after = self.next
        if after is None or not _is_blank(content[self.span.end : after.span.start]):
            return None
        return Span(self.span.start, after.span.start)


@dataclass(frozen=True, slots=True)
class EntryLocation(Located):
    """Where something is in a text of YAML."""

    entry: Entry | None = None
    """The key with its value, or the item, that is here; None for a document as a whole."""
    root: Collection | None = None
    """The mapping or sequence of the document, where this is the document as a whole."""
    is_exact: bool = True
    """Whether what was asked for is here; otherwise it is what is nearest around it."""


class DocumentRoot(NamedTuple):
    """The value of a document."""

    span: Span
    target: Collection | None
    """What it has, where that is not a scalar."""


class Positions:
    """The entries of a text, which is read for them when the first one is asked for, as far as it can be."""

    def __init__(self, content: str, event_source: EventSource) -> None:
        self.content = content
        self.event_source = event_source

    @cached_property
    def entries(self) -> "TextEntries":
        """What could be read of the text."""
        return TextEntries(events(self.content, self.event_source))


class _TooDeepError(Exception):
    """A text that is nested more deeply than a manifest may be."""


class TextEntries:
    """The entries of a text up to a mistake of YAML, or to where it is nested too deeply: they stay good for edits."""

    def __init__(self, events: Iterator[Any]) -> None:
        self.roots: list[DocumentRoot] = []
        """The values of the documents."""
        self.keys: dict[int, Entry] = {}
        """The entries with keys, by the offsets where these begin."""
        self._events = events
        self._anchors: dict[str, Collection] = {}
        with suppress(YAMLError, _TooDeepError):
            for event in events:
                if event.__class__ is DocumentStartEvent:
                    self._anchors = {}
                    value = next(events)
                    target = self._collection(value, None, False, 0) if value.__class__ in _STARTS else None
                    span = target.span if target is not None else event_span(value)
                    self.roots.append(DocumentRoot(span, target))

    def _collection(self, event: Any, holder: Entry | None, is_shared: bool, depth: int) -> Collection:
        """Read a mapping or sequence up to its end event, with its entries, and record those with keys."""
        if depth > MAX_DEPTH:
            raise _TooDeepError
        start = event.start_mark.index
        collection = Collection(event_span(event), bool(event.flow_style), holder)
        is_shared = is_shared or event.anchor is not None
        is_mapping = event.__class__ is MappingStartEvent
        end = collection.span.end
        while (first := next(self._events)).__class__ not in ENDS:
            key_span = event_span(first)
            if is_mapping and first.__class__ in _STARTS:
                # What a key may not be is skipped.
                key_span = self._collection(first, None, True, depth + 1).span
            value = next(self._events) if is_mapping else first
            key = str(first.value) if is_mapping and first.__class__ is ScalarEvent else None
            is_alias = value.__class__ is AliasEvent
            here = is_shared or is_alias or getattr(value, "anchor", None) is not None
            entry = Entry(key, key_span, key_span, key_span, collection, len(collection.entries), here)
            collection.entries.append(entry)
            if value.__class__ in _STARTS:
                entry.inside = entry.target = self._collection(value, entry, here, depth + 1)
                entry.value = entry.inside.span
            elif value.start_mark.index == value.end_mark.index:
                # The two parsers put a value that is not there at different places; nobody looks beside its key.
                entry.value = Span(key_span.end, key_span.end)
            else:
                entry.value = event_span(value)
                entry.target = self._anchors.get(value.anchor) if is_alias else None
            entry.span = Span(key_span.start, max(key_span.end, entry.value.end))
            if is_mapping:
                self.keys.setdefault(key_span.start, entry)
            else:
                entry.key_span = entry.value
            end = entry.span.end
        collection.span = Span(start, first.end_mark.index if collection.is_flow else max(end, start))
        if event.anchor is not None:
            self._anchors[event.anchor] = collection
        return collection


def event_span(event: Any) -> Span:
    """Return where what an event stands for is written."""
    return Span(event.start_mark.index, event.end_mark.index)


def _is_blank(rest: str) -> bool:
    """Whether a range has nothing, or a comment; the caller checks comments."""
    return all(not line.strip() or line.lstrip().startswith("#") for line in rest.splitlines())
