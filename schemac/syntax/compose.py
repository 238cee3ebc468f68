"""Events into plain values.

Floor: 1 (syntax).
Shape: one value a document: dict, list and scalars. Aliases become the very value of their anchor.
Errors: SC102 and SC106 to SC113. After an error inside a document that document is dropped and the next is read, as
far as the parser still can.
Source: YAML 1.2.2; scalars by its core schema.
"""

from collections.abc import Callable
from typing import Any, NoReturn

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
    INVALID_YAML,
    TAB_INDENTATION,
    TOO_DEEP,
    UNDEFINED_ALIAS,
    UNKNOWN_TAG,
)
from schemac.source.diagnostic import Code
from schemac.source.report import Report, label
from schemac.source.span import Span
from schemac.source.text import SourceText, is_printable
from schemac.syntax.events import MarkedYAMLError, ReaderError, YAMLError, event_source
from schemac.syntax.scalars import Scalar, YamlValue, resolve

MAX_DEPTH = 200
"""Levels of nesting. A schema of 32 levels, the most any engine reads, needs about a hundred."""
MAX_UNFOLDED = 4_000_000
"""Nodes of a document with every alias written out."""

_CORE_TAG = "tag:yaml.org,2002:"


class _Abandoned(Exception):
    """The document cannot be read on; what is wrong has been reported."""


def compose(source: SourceText, report: Report, first: Callable[[], Any] | None = None) -> list[YamlValue]:
    """The values of all documents in a text. `first` replaces the event source, in tests."""
    documents: list[YamlValue] = []
    if not is_printable(source, report):
        return documents
    try:
        composer = _Composer(source, report, first or event_source(source.content))
        while (event := composer.next_event()).__class__ is not StreamEndEvent:
            if event.__class__ is DocumentStartEvent:
                documents.append(composer.document())
    except _Abandoned:
        pass
    except YAMLError as error:
        _report_syntax_error(error, source, report)
    return documents


class _Composer:
    def __init__(self, source: SourceText, report: Report, next_event: Callable[[], Any]) -> None:
        self.source = source
        self.report = report
        self.next_event = next_event
        self.anchors: dict[str, tuple[YamlValue, int] | None] = {}
        self.nodes = 0
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
            return self.alias(event)
        elif depth >= MAX_DEPTH:
            self.refuse(event, TOO_DEEP, f"nested more than {MAX_DEPTH} levels deep")
        anchor = event.anchor
        before = self.nodes
        if anchor is not None:
            self.anchors[anchor] = None
        value = self.content(event, depth)
        if anchor is not None:
            self.anchors[anchor] = (value, self.nodes - before)
        return value

    def content(self, event: Any, depth: int) -> YamlValue:
        kind = event.__class__
        if kind is MappingStartEvent:
            self.check_tag(event, "map")
            return self.mapping(depth + 1)
        if kind is SequenceStartEvent:
            self.check_tag(event, "seq")
            return self.sequence(depth + 1)
        return self.scalar(event)

    def mapping(self, depth: int) -> YamlValue:
        mapping: dict[str, YamlValue] = {}
        keys: dict[str, Any] = {}
        next_event = self.next_event
        while (event := next_event()).__class__ is not MappingEndEvent:
            key = self.key(event, depth)
            item = next_event()
            # The common case, a plain scalar, is decided here to save a call for every second node.
            if item.__class__ is ScalarEvent and item.anchor is None and item.tag is None:
                self.nodes += 1
                value: YamlValue = resolve(item.value) if item.implicit[0] else item.value
            else:
                value = self.value(item, depth)
            if key in mapping:
                self.duplicate(key, event, keys[key])
                continue
            mapping[key] = value
            keys[key] = event
        return mapping

    def sequence(self, depth: int) -> YamlValue:
        items: list[YamlValue] = []
        next_event = self.next_event
        while (event := next_event()).__class__ is not SequenceEndEvent:
            items.append(self.value(event, depth))
        return items

    def key(self, event: Any, depth: int) -> str:
        """Every scalar is taken as the text it is written as; only a null or a collection is no key."""
        self.nodes += 1
        if event.__class__ is ScalarEvent:
            if event.anchor is None and event.tag is None:
                return str(event.value)
            self.nodes -= 1
            self.value(event, depth)
            return str(event.value)
        if event.__class__ is AliasEvent and isinstance(found := self.alias(event), str):
            return found
        self.refuse(event, INVALID_KEY, "a key has to be a string", help="write the key as plain text")

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
        self.report_at(
            event, UNKNOWN_TAG, f"the tag {_readable(tag)} does not fit {event.value!r} or is not known"
        )
        return str(event.value)

    def alias(self, event: Any) -> YamlValue:
        found = self.anchors.get(event.anchor)
        if found is None:
            reason = (
                "stands inside its own anchor" if event.anchor in self.anchors else "has no anchor before it"
            )
            self.refuse(event, UNDEFINED_ALIAS, f"the alias *{event.anchor} {reason}")
        value, size = found
        self.nodes += size
        if self.nodes > MAX_UNFOLDED:
            self.refuse(event, ALIAS_BOMB, f"aliases unfold to more than {MAX_UNFOLDED:,} values")
        return value

    def check_tag(self, event: Any, name: str) -> None:
        if event.tag not in (None, "!", _CORE_TAG + name):
            self.report_at(
                event, UNKNOWN_TAG, f"the tag {_readable(event.tag)} is not known", help="remove the tag"
            )

    def duplicate(self, key: str, second: Any, first: Any) -> None:
        self.report.add(
            DUPLICATE_KEY,
            f"the key '{key}' stands here twice",
            source=self.source,
            span=_span(second),
            help="keep one of the two",
            labels=(label("first written here", self.source, _span(first)),),
        )

    def report_at(self, event: Any, code: Code, message: str, help: str = "") -> None:
        self.report.add(code, message, source=self.source, span=_span(event), help=help)

    def refuse(self, event: Any, code: Code, message: str, help: str = "") -> NoReturn:
        self.report_at(event, code, message, help)
        raise _Abandoned


def _span(event: Any) -> Span:
    return Span(event.start_mark.index, event.end_mark.index)


def _readable(tag: str) -> str:
    return tag.replace(_CORE_TAG, "!!")


def _report_syntax_error(error: YAMLError, source: SourceText, report: Report) -> None:
    """The parser's complaint at its place; a tab gets its own code, for that is what most of them are."""
    if isinstance(error, MarkedYAMLError):
        # What is never closed is shown where it opens, not at the end of the text.
        opening = "scanning a quoted scalar" in str(error.context) and "end of stream" in str(error.problem)
        mark = (opening and error.context_mark) or error.problem_mark or error.context_mark
        offset = mark.index if mark else 0
        problem = "this quote is not closed" if opening else str(error.problem or error.context)
    elif isinstance(error, ReaderError):
        offset, problem = int(error.position), str(error.reason)
    else:
        offset, problem = 0, str(error).splitlines()[0]
    position = source.position(offset)
    line = source.line(position.line)
    blank = line[: len(line) - len(line.lstrip())]
    if "\t" in blank:
        column = blank.index("\t")
        start = offset - (position.column - 1) + column
        report.add(
            TAB_INDENTATION,
            "a tab cannot indent YAML",
            source=source,
            span=Span(start, start + 1),
            help="indent with spaces",
        )
        return
    end = min(offset + 1, len(source.content))
    report.add(
        INVALID_YAML,
        f"this is not YAML: {problem}",
        source=source,
        span=Span(offset, end),
        help=_hint(problem),
    )


def _hint(problem: str) -> str:
    if "mapping values are not allowed" in problem:
        return "a text that holds a colon and a blank needs quotes"
    if "did not find expected key" in problem or "block end" in problem:
        return "look at the indentation of this line and the one above"
    return ""
