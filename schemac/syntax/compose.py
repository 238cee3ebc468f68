"""Events into plain values.

Layer: syntax.
Shape: one value a document: dict, list and scalars. Aliases become the very value of their anchor.
Errors: SC102 and SC106 to SC113. After an error inside a document that document is dropped and the next is read, as
far as the parser still can.
Source: YAML 1.2.2; scalars by its core schema.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from schemac.source.catalogue import (
    ALIAS_BOMB,
    DUPLICATE_KEY,
    INVALID_KEY,
    TOO_DEEP,
    UNDEFINED_ALIAS,
    UNKNOWN_TAG,
)
from schemac.source.diagnostic import Code
from schemac.source.report import Report, label
from schemac.source.span import Span
from schemac.source.text import SourceText, is_printable
from schemac.syntax.events import EventSource, YAMLError, fast_events, pure_events
from schemac.syntax.place import Place
from schemac.syntax.remedies import REMOVE_TAG, Remove, Untag
from schemac.syntax.scalars import Scalar, YamlValue, resolve
from schemac.syntax.syntax_errors import report_syntax_error

MAX_DEPTH = 200
"""Levels of nesting. A schema of 32 levels, the most any engine reads, needs about a hundred."""
MAX_UNFOLDED = 4_000_000
"""Nodes of a document with every alias written out."""

_LONGEST_SECOND_LOOK = 1_000_000
"""Code points of a text that is read again by the slow parser, at four seconds the million."""
_CORE_TAG = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset(_CORE_TAG + name for name in ("int", "float", "bool", "null"))


class _Abandoned(Exception):
    """The document cannot be read on; what is wrong has been reported."""


class _Anchored(NamedTuple):
    """What an alias stands for: a value, its nodes, and the levels below it."""

    value: YamlValue
    nodes: int
    levels: int


class Composed(NamedTuple):
    """The values of all documents in a text, and the source of events that gave them."""

    values: list[YamlValue]
    event_source: EventSource


def compose(
    source: SourceText, report: Report, event_source: EventSource = fast_events, *, content: str | None = None
) -> Composed:
    """Return the values of all documents in a text, as far as it can be read.

    `content` is what is read in its place, with every node where the text has it.
    """
    if not is_printable(source, report):
        return Composed([], event_source)
    content = source.content if content is None else content
    attempt = Report()
    values, error = _values(source, content, attempt, event_source)
    if error is not None and event_source is not pure_events and len(source.content) <= _LONGEST_SECOND_LOOK:
        event_source, attempt = pure_events, Report()
        values, error = _values(source, content, attempt, event_source)
    report.extend(attempt.diagnostics)
    if error is not None:
        report_syntax_error(error, source, report)
    return Composed(values, event_source)


def _values(
    source: SourceText, content: str, report: Report, event_source: EventSource
) -> tuple[list[YamlValue], YAMLError | None]:
    values: list[YamlValue] = []
    try:
        composer = _Composer(source, report, content, event_source)
        while (event := composer.next_event()).__class__ is not StreamEndEvent:
            if event.__class__ is DocumentStartEvent:
                values.append(composer.document())
    except _Abandoned:
        pass
    except YAMLError as error:
        return values, error
    return values, None


class _Composer:
    def __init__(self, source: SourceText, report: Report, content: str, event_source: EventSource) -> None:
        self.source = source
        self.report = report
        self.read = content, event_source
        self.next_event = next_event = event_source(content)
        self.anchors: dict[str, _Anchored | None] = {}
        texts: dict[str, str] = {}
        self.shared: Callable[[str, str], str] = texts.setdefault
        """Gives equal keys as one text: there are few, and each field has all of them."""
        self.nodes = 0
        self.deepest = 0
        """Levels down to the deepest value since the last anchor, aliases written out."""
        if next_event().__class__ is not StreamStartEvent:
            raise AssertionError("a YAML stream starts with its start event")

    def document(self) -> YamlValue:
        self.anchors = {}
        self.nodes = 0
        value = self.value(self.next_event(), 0)
        self.next_event()
        return value

    def value(self, event: Any, depth: int) -> YamlValue:
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
        self.anchors[anchor] = _Anchored(value, self.nodes - before, self.deepest - depth)
        self.deepest = max(self.deepest, outside)
        return value

    def content(self, event: Any, depth: int) -> YamlValue:
        kind = event.__class__
        if kind is MappingStartEvent:
            if event.ctag is not None:
                self.check_tag(event, "map")
            return self.mapping(depth + 1)
        if kind is SequenceStartEvent:
            if event.ctag is not None:
                self.check_tag(event, "seq")
            return self.sequence(depth + 1)
        return self.scalar(event)

    def mapping(self, depth: int) -> YamlValue:
        mapping: dict[str, YamlValue] = {}
        keys: list[Any] = []
        next_event, scalar, shared = self.next_event, ScalarEvent, self.shared
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
            mapping[shared(key, key)] = value
            keys.append(event)
        self.nodes += nodes
        return mapping

    def sequence(self, depth: int) -> YamlValue:
        items: list[YamlValue] = []
        next_event = self.next_event
        while (event := next_event()).__class__ is not SequenceEndEvent:
            items.append(self.value(event, depth))
        return items

    def key(self, event: Any, depth: int) -> str:
        """Every scalar is taken as the text it is written as; only a null or a collection is no key."""
        if event.__class__ is ScalarEvent:
            self.value(event, depth)
            return str(event.value)
        self.nodes += 1
        found = self.alias(event, depth) if event.__class__ is AliasEvent else None
        if not isinstance(found, str):
            self.refuse(event, INVALID_KEY, "a key has to be a text", help="write a plain text")
        return found

    def scalar(self, event: Any) -> Scalar:
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
            message = f"'{event.value}' is not a valid {_readable(tag)}"
            self.refuse(event, UNKNOWN_TAG, message, help=Untag("remove the tag, or write a value that fits"))
        self.report_at(event, UNKNOWN_TAG, f"the tag {_readable(tag)} is unknown", help=REMOVE_TAG)
        return str(event.value)

    def alias(self, event: Any, depth: int) -> YamlValue:
        anchored = self.anchors.get(event.anchor)
        if anchored is None:
            name = event.anchor
            if name in self.anchors:
                self.refuse(
                    event,
                    UNDEFINED_ALIAS,
                    f"the alias *{name} is inside its own anchor",
                    help="write the value out: a value cannot contain itself",
                )
            self.refuse(
                event,
                UNDEFINED_ALIAS,
                f"the alias *{name} has no anchor before it",
                help=f"write `&{name}` before the value that you mean, above this line",
            )
        value, size, levels = anchored
        self.nodes += size
        self.deepest = max(self.deepest, depth + levels)
        if self.deepest > MAX_DEPTH:
            self.refuse_depth(event)
        if self.nodes > MAX_UNFOLDED:
            self.refuse(
                event,
                ALIAS_BOMB,
                f"aliases expand to more than {MAX_UNFOLDED:,} values",
                help="write the values out",
            )
        return value

    def refuse_depth(self, event: Any) -> NoReturn:
        self.refuse(
            event,
            TOO_DEEP,
            f"nested more than {MAX_DEPTH} levels deep",
            help="flatten the schema: no engine reads even half as many levels",
        )

    def check_tag(self, event: Any, name: str) -> None:
        if event.tag not in (None, "!", _CORE_TAG + name):
            self.report_at(event, UNKNOWN_TAG, f"the tag {_readable(event.tag)} is unknown", help=REMOVE_TAG)

    def duplicate(self, key: str, second: Any, first: Any, *, is_same: bool) -> None:
        help = "keep one of the two"
        self.report.add(
            DUPLICATE_KEY,
            f"the key '{key}' is given twice",
            spot=self.place(second),
            # Where they differ, it is for the author to say which is meant.
            help=Remove.it(help=help) if is_same else help,
            labels=(label("first written here", self.source, _span(first)),),
        )

    def report_at(self, event: Any, code: Code, message: str, help: str = "") -> None:
        self.report.add(code, message, spot=self.place(event), help=help)

    def place(self, event: Any) -> Place:
        content, event_source = self.read
        at = event.start_mark.index
        return Place(self.source, _span(event), at=at, content=content, event_source=event_source)

    def refuse(self, event: Any, code: Code, message: str, help: str = "") -> NoReturn:
        self.report_at(event, code, message, help)
        raise _Abandoned


def _span(event: Any) -> Span:
    return Span(event.start_mark.index, event.end_mark.index)


def _readable(tag: str) -> str:
    return tag.replace(_CORE_TAG, "!!")
