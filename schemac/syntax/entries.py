"""Keys with their values, and items of lists, as they are in a text: what an edit may take out or put in.

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
    """What it has, where that is not a scalar."""

    @property
    def next(self) -> "Entry | None":
        """The one after it."""
        return self.within.entries[self.index + 1] if self.index + 1 < len(self.within.entries) else None

    @property
    def before(self) -> "Entry | None":
        """The one before it."""
        return self.within.entries[self.index - 1] if self.index else None


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of a text."""

    keys: dict[int, Entry] = dataclasses.field(default_factory=dict)
    """By the places where their keys begin."""
    items: dict[int, Entry] = dataclasses.field(default_factory=dict)
    """Those without keys, by where they begin; an item that is a mapping begins where its first key does."""

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
                _collection(event, iterator, None, found, is_shared=False)
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


def without(content: str, entry: Entry) -> Span | None:
    """Return what to take out of a text so that an entry is gone; None if what is left would not be the rest."""
    if len(entry.within.entries) == 1:
        return None
    if entry.within.is_flow:
        if entry.next is not None:
            return Span(entry.span.start, entry.next.span.start)
        assert entry.before is not None
        return Span(entry.before.span.end, entry.span.end)
    start = content.rfind("\n", 0, entry.span.start) + 1
    lead = content[start : entry.span.start]
    end = _line_end(content, entry.span.end)
    if not lead.strip() or (entry.key is None and lead.strip() == "-"):
        return Span(start, end) if _is_blank(content[entry.span.end : end]) else None
    after = entry.next
    if after is None or not _is_blank(content[entry.span.end : after.span.start]):
        return None
    return Span(entry.span.start, after.span.start)


def _line_end(content: str, offset: int) -> int:
    if content[offset - 1 : offset] == "\n":
        return offset
    found = content.find("\n", offset)
    return len(content) if found < 0 else found + 1


def _is_blank(rest: str) -> bool:
    """Whether nothing is there, or a comment: those are looked at by whoever takes it out."""
    return all(not line.strip() or line.lstrip().startswith("#") for line in rest.splitlines())
