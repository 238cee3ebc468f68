"""Keys with their values, and items of lists, as they stand in a text: what an edit may take out or put in.

Layer: syntax.
Units: offsets of code points, half-open.
"""

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ruamel.yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from schemac.source.span import Span
from schemac.syntax.events import EventSource, YAMLError, events

_TYPE_KEYS = frozenset({"type", "inner", "itemType", "keyType", "valueType"})
"""Keys whose value is a type."""
_STARTS = (MappingStartEvent, SequenceStartEvent)
_ENDS = (MappingEndEvent, SequenceEndEvent)


@dataclass(eq=False, slots=True)
class Collection:
    """A mapping or a sequence."""

    span: Span
    is_flow: bool
    holder: "Entry | None"
    """The entry whose value it is; None at the top of a document."""
    entries: "list[Entry]" = dataclasses.field(default_factory=list)
    _words: frozenset[str] | None = None

    @property
    def is_field(self) -> bool:
        """Whether it is a field."""
        return self.get("name") is not None and self.get("type") is not None

    def get(self, key: str) -> "Entry | None":
        """Return the entry of a key; None where there is none."""
        return next((entry for entry in self.entries if entry.key == key), None)

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
    span: Span
    value: Span
    within: Collection
    index: int
    is_shared: bool
    """Whether aliases stand for what it is in, or for itself."""
    inside: Collection | None = None
    """What it has, where that is no scalar."""

    @property
    def next(self) -> "Entry | None":
        """The one after it."""
        return self.within.entries[self.index + 1] if self.index + 1 < len(self.within.entries) else None

    @property
    def before(self) -> "Entry | None":
        """The one before it."""
        return self.within.entries[self.index - 1] if self.index else None

    @property
    def type(self) -> "Entry | None":
        """The entry whose value is the type that it is about: it is in its `extra`, or in the type itself."""
        for entry in self.enclosing():
            if entry.is_shared:
                return None
            if entry.key == "extra":
                beside = entry.within.get("type")
                return entry.within.holder if beside is None else beside
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
            assert self.before is not None
            return Span(self.before.span.end, self.span.end)
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
class Entries:
    """The entries of a text."""

    keys: dict[int, Entry] = dataclasses.field(default_factory=dict)
    """By the places where their keys begin."""
    items: dict[int, Entry] = dataclasses.field(default_factory=dict)
    """Those without keys, by where they begin; an item that is a mapping begins where its first key does."""
    roots: dict[int, Collection] = dataclasses.field(default_factory=dict)
    """The outermost mapping or sequence of each document, by where it begins."""

    def find(self, start: int, *, is_item: bool) -> Entry | None:
        """Return the entry that begins at a place."""
        return (self.items if is_item else self.keys).get(start)


@lru_cache(maxsize=2)
def entries_of(content: str, event_source: EventSource) -> Entries:
    """Return the entries of a text, as far as it can be read."""
    found = Entries()
    iterator = events(content, event_source)
    # What could be read before a mistake stays good for edits.
    with suppress(YAMLError):
        for event in iterator:
            if event.__class__ in _STARTS:
                root = _collection(event, iterator, None, found, is_shared=False)
                found.roots[root.span.start] = root
    return found


def _collection(
    event: Any, rest: Iterator[Any], holder: Entry | None, found: Entries, *, is_shared: bool
) -> Collection:
    start = event.start_mark.index
    collection = Collection(Span(start, event.end_mark.index), bool(event.flow_style), holder)
    is_shared = is_shared or event.anchor is not None
    is_mapping = event.__class__ is MappingStartEvent
    end = collection.span.end
    while (first := next(rest)).__class__ not in _ENDS:
        value = next(rest) if is_mapping else first
        at = Span(first.start_mark.index, first.end_mark.index)
        name = str(first.value) if is_mapping and first.__class__ is ScalarEvent else None
        here = is_shared or getattr(value, "anchor", None) is not None
        entry = Entry(name, at, at, collection, len(collection.entries), here)
        collection.entries.append(entry)
        if value.__class__ in _STARTS:
            inside = _collection(value, rest, entry, found, is_shared=here)
            entry.inside, entry.value = inside, inside.span
        elif value.start_mark.index == value.end_mark.index:
            entry.value = Span(at.end, at.end)
        else:
            entry.value = Span(value.start_mark.index, value.end_mark.index)
        entry.span = Span(at.start, max(at.end, entry.value.end))
        if value.__class__ is AliasEvent:
            entry.is_shared = True
        (found.keys if is_mapping else found.items).setdefault(at.start, entry)
        end = entry.span.end
    collection.span = Span(start, first.end_mark.index if collection.is_flow else max(end, start))
    return collection


def _is_blank(rest: str) -> bool:
    """Whether nothing stands there, or a comment: those are looked at by whoever takes it out."""
    return all(not line.strip() or line.lstrip().startswith("#") for line in rest.splitlines())
