"""Composes YAML events into plain values.

Layer: text.
Shape: one value a document: dict, list and scalars. An alias is the same object as its anchor's value. Types in the notation of another
      system, such as `decimal(10,2)` or `list<item: int32>` inside braces, are not valid YAML, or YAML splits them. In a text that has
      mistakes already, each such type is read as one scalar: its signs are replaced by characters of the private use area, which keeps
      all offsets. This makes messages better and nothing valid.
Errors: SC102 and SC106 to SC113. A document with an error is dropped, and the next one is read if the parser can go on.
Source: YAML 1.2.2; scalars by its core schema.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial
from sys import intern
from typing import Any, NoReturn

from ruamel.yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from schemac.text.source import catalogue as codes
from schemac.text.source.diagnostics import Code, Fix, Located, Report, SourceText
from schemac.text.source.phrases import Help
from schemac.text.source.text import is_printable
from schemac.text.syntax.entries import MAX_DEPTH, EntryLocation, Positions, event_span
from schemac.text.syntax.events import (
    EventSource,
    Scalar,
    YAMLError,
    YamlValue,
    fast_events,
    pure_events,
    report_syntax_error,
    resolve,
)
from schemac.text.syntax.type_text import read_type


class Location(EntryLocation):
    """A location whose text can be corrected."""

    def fix(self, help: str) -> Fix | None:
        """Return the fix that a help names; None if it names none, or the text here is written in a way that it would damage."""
        if not isinstance(help, Help):
            return None
        from schemac.text.syntax.fixes import fix_of

        return fix_of(help, self)


MAX_UNFOLDED = 4_000_000
"""Nodes of a document with every alias written out."""

_LONGEST_SECOND_LOOK = 1_000_000
"""Code points of a text that is read again by the slow parser, at four seconds the million."""
_CORE_TAG = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset(_CORE_TAG + name for name in ("int", "float", "bool", "null"))


class _Abandoned(Exception):
    """The document cannot be read on; what is wrong has been reported."""


def compose(
    source: SourceText,
    report: Report,
    event_sources: tuple[EventSource, EventSource] = (fast_events, pure_events),
) -> tuple[list[YamlValue], EventSource]:
    """Return the values of all documents in a text, as far as it can be read, and the source of the events that gave them.

    Of the two sources the second one has the last word where the first one finds a mistake.
    """
    event_source, exact_source = event_sources
    if not is_printable(source, report):
        return [], event_source
    attempt = Report()
    values, error = _compose_all(source, attempt, event_source)
    if error is not None and event_source is not exact_source and len(source.content) <= _LONGEST_SECOND_LOOK:
        event_source, attempt = exact_source, Report()
        values, error = _compose_all(source, attempt, event_source)
    report.extend(attempt.diagnostics)
    if error is not None:
        report_syntax_error(error, source, report)
    return values, event_source


def _compose_all(
    source: SourceText, report: Report, event_source: EventSource
) -> tuple[list[YamlValue], YAMLError | None]:
    """Return the values of the documents as far as they can be read, and the syntax error that ends them; None if none does."""
    values: list[YamlValue] = []
    try:
        composer = _Composer(source, report, event_source)
        while composer.next_event().__class__ is not StreamEndEvent:
            values.append(composer.document())
    except _Abandoned:
        pass
    except YAMLError as error:
        return values, error
    return values, None


class _Composer:
    """Makes the values of one text out of its events."""

    def __init__(self, source: SourceText, report: Report, event_source: EventSource) -> None:
        self.source = source
        self.report = report
        self.positions = Positions(source.content, event_source)
        self.next_event = next_event = event_source(source.content)
        self.anchors: dict[str, tuple[YamlValue, int, int] | None] = {}
        """The value of each, its number of nodes and its depth; None while it is read."""
        self.nodes = 0
        self.deepest = 0
        """Levels down to the deepest value since the last anchor, aliases written out."""
        next_event()  # the start of the stream

    def document(self) -> YamlValue:
        """Return the value of the document whose start event was read."""
        self.anchors = {}
        self.nodes = 0
        value = self.value(self.next_event(), 0)
        self.next_event()
        return value

    def value(self, event: Any, depth: int) -> YamlValue:
        """Return the value that an event begins, at a depth; one with an anchor is kept for its aliases."""
        self.nodes += 1
        kind = event.__class__
        if kind is ScalarEvent:
            if event.anchor is None:
                return self.scalar(event)
        elif kind is AliasEvent:
            return self.alias(event, depth)
        elif depth >= MAX_DEPTH:
            self.refuse_depth(event)
        self.deepest = max(self.deepest, depth)
        anchor = event.anchor
        if kind is MappingStartEvent and anchor is None and event.ctag is None:
            return self.mapping(depth + 1)
        if anchor is None:
            return self.content(event, depth)
        before, outside = self.nodes, self.deepest
        self.anchors[anchor] = None
        self.deepest = depth
        value = self.content(event, depth)
        self.anchors[anchor] = value, self.nodes - before, self.deepest - depth
        self.deepest = max(self.deepest, outside)
        return value

    def content(self, event: Any, depth: int) -> YamlValue:
        """Return the value that an event begins, whatever its anchor; an unknown tag is reported."""
        if event.__class__ is ScalarEvent:
            return self.scalar(event)
        is_mapping = event.__class__ is MappingStartEvent
        if event.ctag is not None:
            own_tag = _CORE_TAG + ("map" if is_mapping else "seq")
            if event.tag not in (None, "!", own_tag):
                message = f"the tag {_tag_text(event.tag)} is unknown"
                self.report_at(event, codes.UNKNOWN_TAG, message, help=Help.remove_tag())
        return self.mapping(depth + 1) if is_mapping else self.sequence(depth + 1)

    def mapping(self, depth: int) -> YamlValue:
        """Return the mapping whose start event was read; of a key that is there twice the first one counts."""
        mapping: dict[str, YamlValue] = {}
        keys: list[Any] = []
        next_event, scalar = self.next_event, ScalarEvent
        nodes = 0
        # The common cases, scalars and collections without tag and anchor, are decided here to save calls for most nodes;
        # `ctag` is None where `tag` is.
        while (event := next_event()).__class__ is not MappingEndEvent:
            if event.__class__ is scalar and event.ctag is None and event.anchor is None:
                nodes += 1
                key: str = event.value
            else:
                key = self.key(event, depth)
            item = next_event()
            if item.__class__ is scalar and item.ctag is None and item.anchor is None:
                nodes += 1
                value: YamlValue = resolve(item.value) if item.implicit[0] else item.value
            else:
                self.nodes += nodes
                nodes = 0
                value = self.value(item, depth)
            if key in mapping:
                first = keys[list(mapping).index(key)]
                self.duplicate(key, event, first, is_same=value == mapping[key])
                continue
            # Equal keys are one text: there are few, and each field has all of them.
            mapping[intern(key)] = value
            keys.append(event)
        self.nodes += nodes
        return mapping

    def sequence(self, depth: int) -> YamlValue:
        """Return the list whose start event was read."""
        items: list[YamlValue] = []
        next_event = self.next_event
        while (event := next_event()).__class__ is not SequenceEndEvent:
            items.append(self.value(event, depth))
        return items

    def key(self, event: Any, depth: int) -> str:
        """Return a key: every scalar is the text that it is written as. A collection is refused, and an alias of anything but a text."""
        if event.__class__ is ScalarEvent:
            self.value(event, depth)
            return str(event.value)
        self.nodes += 1
        key = self.alias(event, depth) if event.__class__ is AliasEvent else None
        if not isinstance(key, str):
            self.refuse(event, codes.INVALID_KEY, "a key has to be a text", help="write a plain text")
        return key

    def scalar(self, event: Any) -> Scalar:
        """Return what a scalar means by its tag, or by the core schema where it has none."""
        tag = event.tag
        if tag is None or tag == "!":
            return resolve(event.value) if event.implicit[0] and tag is None else str(event.value)
        if tag == _CORE_TAG + "str":
            return str(event.value)
        resolved = resolve(event.value)
        names = {int: "int", float: "float", bool: "bool", type(None): "null"}
        if tag == _CORE_TAG + names.get(type(resolved), "str"):
            return resolved
        if tag == _CORE_TAG + "float" and isinstance(resolved, int):
            return float(resolved)
        if tag in _SCALAR_TAGS:
            message = f"'{event.value}' is not a valid {_tag_text(tag)}"
            help = Help.remove_tag("remove the tag, or write a value that fits")
            self.refuse(event, codes.UNKNOWN_TAG, message, help=help)
        self.report_at(
            event, codes.UNKNOWN_TAG, f"the tag {_tag_text(tag)} is unknown", help=Help.remove_tag()
        )
        return str(event.value)

    def alias(self, event: Any, depth: int) -> YamlValue:
        """Return the value of an alias, which is the same object as that of its anchor."""
        anchored = self.anchors.get(event.anchor)
        if anchored is None:
            name = event.anchor
            message = f"the alias *{name} has no anchor before it"
            help = f"write `&{name}` before the value that you mean, above this line"
            if name in self.anchors:
                message = f"the alias *{name} is inside its own anchor"
                help = "write the value out: a value cannot contain itself"
            self.refuse(event, codes.UNDEFINED_ALIAS, message, help=help)
        value, size, levels = anchored
        self.nodes += size
        self.deepest = max(self.deepest, depth + levels)
        if self.deepest > MAX_DEPTH:
            self.refuse_depth(event)
        if self.nodes > MAX_UNFOLDED:
            message = f"aliases expand to more than {MAX_UNFOLDED:,} values"
            self.refuse(event, codes.ALIAS_BOMB, message, help="write the values out")
        return value

    def refuse_depth(self, event: Any) -> NoReturn:
        """Report that an event is nested too deeply, and abandon the document."""
        message = f"nested more than {MAX_DEPTH} levels deep"
        help = "flatten the schema: no engine reads even half as many levels"
        self.refuse(event, codes.TOO_DEEP, message, help=help)

    def duplicate(self, key: str, second: Any, first: Any, *, is_same: bool) -> None:
        """Report a key that is there twice; where both have the same value, either can be removed."""
        # Where they differ, it is for the author to say which is meant.
        help = Help.remove(help="keep one of the two") if is_same else "keep one of the two"
        self.report.add(
            codes.DUPLICATE_KEY,
            f"the key '{key}' is given twice",
            location=self.location(second, help),
            help=help,
            labels=(Located(self.source, event_span(first)).label("first written here"),),
        )

    def report_at(self, event: Any, code: Code, message: str, help: str = "") -> None:
        """Report a finding about an event."""
        self.report.add(code, message, location=self.location(event, help), help=help)

    def location(self, event: Any, help: str) -> Location:
        """Return where an event is; with the entry of its key only for a help that names a fix."""
        span = event_span(event)
        entry = self.positions.entries.keys.get(span.start) if isinstance(help, Help) else None
        return Location(self.source, span, entry=entry)

    def refuse(self, event: Any, code: Code, message: str, help: str = "") -> NoReturn:
        """Report a finding about an event, and abandon the document."""
        self.report_at(event, code, message, help)
        raise _Abandoned


def _tag_text(tag: str) -> str:
    """Return a tag as authors write it, with `!!` for those of YAML."""
    return tag.replace(_CORE_TAG, "!!")


_PRIVATE = {sign: chr(0xE000 + sign) for sign in range(128) if not chr(sign).isalnum() and chr(sign) != "_"}
_SIGNS = {ord(private): sign for sign, private in _PRIVATE.items()}
_CLOSING = {"(": ")", "<": ">", "[": "]", "{": "}"}
_SIGN = re.compile(r"[()<>\[\]{},\n]|\s#")
_FOLD = re.compile(
    f"[{_PRIVATE[9]}{_PRIVATE[13]}{_PRIVATE[32]}]*{_PRIVATE[10]}[{_PRIVATE[9]}{_PRIVATE[13]}{_PRIVATE[32]}]*"
)
"""A line end with the blanks around it, which YAML makes one blank."""
_LONGEST = 2_000
"""Code points of a type's text: each is looked through to its end."""
_MOST_LOOKS = 10
"""How often a code point is looked at, where what looks like a type never ends; the rest is left as it is."""


def whole_types(content: str, keys: Iterable[str]) -> tuple[EventSource, EventSource] | None:
    """Return the sources, quick and exact, of a text's events with whole types behind these keys; None if each is a name alone."""
    marked = _with_private_signs(content, keys)
    if marked is None:
        return None
    return partial(_whole_events, fast_events, marked), partial(_whole_events, pure_events, marked)


def _whole_events(event_source: EventSource, marked: str, _content: str) -> Callable[[], Any]:
    """Return the source of the events of a marked text, with the signs of types in their scalars."""
    next_event = event_source(marked)

    def next_whole_event() -> Any:
        event = next_event()
        if event.__class__ is ScalarEvent and not event.value.isascii():
            event.value = _FOLD.sub(" ", event.value).translate(_SIGNS)
        return event

    return next_whole_event


def _with_private_signs(content: str, keys: Iterable[str]) -> str | None:
    """Return the text with each type as one scalar for YAML; None if it has no types."""
    if not content.isascii() and any(chr(private) in content for private in _SIGNS):
        return None
    names = "|".join(map(re.escape, sorted(keys)))
    start = re.compile(
        rf"""(?<![\w.-])(?:["'](?:{names})["']:\s*|(?:{names}):\s+)(?:\[\s*(?:["']?null["']?\s*,\s*)?)?(?=\w)""",
        re.IGNORECASE,
    )
    parts: list[str] = []
    at, looked_through = 0, 0
    for match in start.finditer(content):
        end = _type_end(content, match.end())
        looked_through += (end - match.end()) or _LONGEST
        if looked_through > _MOST_LOOKS * len(content):
            break
        written = content[match.end() : end]
        if match.end() < at or written.isidentifier() or read_type(written) is None:
            continue
        parts += (content[at : match.end()], written.translate(_PRIVATE))
        at = end
    return "".join((*parts, content[at:])) if parts else None


def _type_end(content: str, start: int) -> int:
    """Where the text of a type ends: at a comma, a bracket or a line end that is not inside its own brackets."""
    open_: list[str] = []
    limit = min(len(content), start + _LONGEST)
    end = limit
    for match in _SIGN.finditer(content, start, limit):
        sign = match.group()
        if sign in _CLOSING:
            open_.append(_CLOSING[sign])
        elif open_ and sign == open_[-1]:
            open_.pop()
        elif not open_ or sign not in ",\n":
            end = match.start()
            break
    # What is not closed is no type, whatever it begins like.
    return start if open_ else start + len(content[start:end].rstrip())
