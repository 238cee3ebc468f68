"""The events of a YAML text, the meaning of its plain scalars, and whether a text needs quotes.

Layer: text.
Source: ruamel.yaml. Its C parser is twenty times as fast as its pure one, but reads YAML 1.1: it refuses a colon in an
unquoted text inside brackets, and takes three more characters for line ends. Where the two may differ, the pure parser,
which reads YAML 1.2, decides. Plain scalars have the meaning of YAML 1.2.2, section 10.3.2 (core schema): `no`, `on`,
`2020-01-01` and `12:30` are strings, `010` is ten. A text needs quotes by YAML 1.2.2, sections 6.9 and 7.3.3, and if a
reader of YAML 1.1 would not read a string.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import CollectionStartEvent, Event, NodeEvent, ScalarEvent, StreamEndEvent
from ruamel.yaml.reader import ReaderError

from schemac.text.source.help import quoted

try:
    from ruamel.yaml.cyaml import CParser
except ImportError:  # no compiled extension on this platform
    CParser = None

__all__ = [
    "CParser",
    "EventSource",
    "MarkedYAMLError",
    "ReaderError",
    "YAMLError",
    "events",
    "fast_events",
    "pure_events",
]

EventSource = Callable[[str], Callable[[], Any]]
"""Makes of a text a function that gives the next event each time it is called."""

_LINE_ENDS_OF_1_1 = ("\x85", "\u2028", "\u2029")


def _scalar(
    self: Any,
    anchor: Any,
    tag: Any,
    implicit: Any,
    value: Any,
    start_mark: Any = None,
    end_mark: Any = None,
    style: Any = None,
    comment: Any = None,
) -> None:
    self.start_mark = start_mark
    self.end_mark = end_mark
    self.comment = comment
    self.anchor = anchor
    self.ctag = tag
    self.implicit = implicit
    self.value = value
    self.style = style


def _collection_start(
    self: Any,
    anchor: Any,
    tag: Any,
    implicit: Any,
    start_mark: Any = None,
    end_mark: Any = None,
    flow_style: Any = None,
    comment: Any = None,
    nr_items: Any = None,
) -> None:
    self.start_mark = start_mark
    self.end_mark = end_mark
    self.comment = comment
    self.anchor = anchor
    self.ctag = tag
    self.implicit = implicit
    self.flow_style = flow_style
    self.nr_items = nr_items


_CONSTRUCTORS = (
    (ScalarEvent, ("ctag", "implicit", "value", "style"), _scalar),
    (CollectionStartEvent, ("ctag", "implicit", "flow_style", "nr_items"), _collection_start),
)
"""What makes the events that nearly all of a text consists of. ruamel's own constructors do the same in three calls each, which
takes half of the time of reading; so these are in their place as long as its classes have the attributes that are set here."""

if Event.__slots__ == ("start_mark", "end_mark", "comment") and NodeEvent.__slots__ == ("anchor",):
    for kind, fields, constructor in _CONSTRUCTORS:
        if kind.__slots__ == fields:
            kind.__init__ = constructor


def fast_events(text: str) -> Callable[[], Any]:
    """Return the quickest source there is for this text."""
    if CParser is None or (not text.isascii() and any(character in text for character in _LINE_ENDS_OF_1_1)):
        return pure_events(text)
    next_event: Callable[[], Any] = CParser(text).get_event
    return next_event


def pure_events(text: str) -> Callable[[], Any]:
    """Return the source that is written in Python and reads YAML 1.2."""
    # Imported here for start-up time: hardly any text needs the pure parser.
    from ruamel.yaml import YAML

    iterator = YAML(typ="safe", pure=True).parse(text)

    def next_event() -> Any:
        try:
            event = next(iterator)
        except (YAMLError, StopIteration):
            raise
        except Exception as error:
            # Some texts it does not refuse but stumbles over, such as a `%YAML 1.3` line.
            raise YAMLError(str(error) or "unreadable") from error
        if event.__class__ is ScalarEvent and not event.value.isascii():
            _join_surrogates(event)
        return event

    return next_event


def events(text: str, source: EventSource = fast_events) -> Iterator[Any]:
    """All events of a text, to its end."""
    get_event = source(text)
    while (event := get_event()) is not None:
        yield event
        if event.__class__ is StreamEndEvent:
            return


def _join_surrogates(event: Any) -> None:
    """Join two escapes that JSON writes for one character; a lone surrogate stays as it is."""
    try:
        event.value.encode()
    except UnicodeEncodeError:
        try:
            event.value = event.value.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise MarkedYAMLError(
                problem="half of a surrogate pair is not a character", problem_mark=event.start_mark
            ) from None


Scalar = str | int | float | bool | None
YamlValue = Scalar | list["YamlValue"] | dict[str, "YamlValue"]
"""What a YAML document holds, as plain Python values."""

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NUMBER_STARTS = frozenset("+-.0123456789")
_LONGEST_INTEGER = 400
"""Digits. Longer ones stay strings: Python refuses to read them, and no number of a schema is that long."""


def resolve(text: str) -> Scalar:
    """Return the value of an unquoted, untagged scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS or len(text) > _LONGEST_INTEGER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if _HEXADECIMAL.fullmatch(text):
        return int(text[2:], 16)
    return text


_START = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`=<~.0-9+]")
_NUMBER_LIKE = re.compile(r"[-+.]?[0-9][0-9_,:.eExXoObBa-fA-FTtZz+\- ]*|[-+]?\.(?:inf|nan)", re.IGNORECASE)
_OLD_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "null", "true", "false"})


def is_plain(text: str, *, is_in_flow: bool) -> bool:
    """Whether every reader of YAML takes an unquoted text for this text."""
    if not text or text != text.strip() or not text.isprintable() or text.lower() in _OLD_WORDS:
        return False
    if _START.match(text) is None and not (text[0].isdigit() or text[0] in "./"):
        return False
    if ": " in text or " #" in text or text.endswith(":") or _NUMBER_LIKE.fullmatch(text):
        return False
    if is_in_flow and any(character in ",[]{}:?" for character in text):
        return False
    return resolve(text) == text and text not in ("---", "...")


def written(text: str, *, is_in_flow: bool = True) -> str:
    """Return a text of printable characters as a scalar, with quotes where it needs them."""
    return text if is_plain(text, is_in_flow=is_in_flow) else quoted(text)
