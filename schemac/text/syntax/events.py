"""The events of a YAML text, the meaning of its plain scalars, and whether a text needs quotes.

Layer: text.
Errors: SC106 invalid-yaml, SC107 tab-indentation.
Source: ruamel.yaml. Its C parser is twenty times as fast as its pure one, but reads YAML 1.1: it refuses a colon in an unquoted text
      inside brackets, and takes three more characters for line ends. Where the two may differ, the pure parser, which reads YAML 1.2,
      decides. Plain scalars have the meaning of YAML 1.2.2, section 10.3.2 (core schema): `no`, `on`, `2020-01-01` and `12:30` are
      strings, `010` is ten. A text needs quotes by YAML 1.2.2, sections 6.9 and 7.3.3, and if a reader of YAML 1.1 would not read a
      string.
      The messages of ruamel.yaml's two parsers differ in wording alone.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import ScalarEvent, StreamEndEvent
from ruamel.yaml.reader import ReaderError

from schemac.text.source.catalogue import INVALID_YAML, TAB_INDENTATION
from schemac.text.source.diagnostics import Edit, Fix, Located, Report, SourceText, Span
from schemac.text.source.phrases import quoted

try:
    from ruamel.yaml.cyaml import CParser
except ImportError:  # no compiled extension on this platform
    CParser = None

__all__ = ["CParser", "YAMLError"]

EventSource = Callable[[str], Callable[[], Any]]
"""Makes of a text a function that gives the next event each time it is called."""

_LINE_ENDS_OF_1_1 = ("\x85", "\u2028", "\u2029")


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
            # JSON writes two escapes for one character.
            try:
                event.value = event.value.encode("utf-16", "surrogatepass").decode("utf-16")
            except UnicodeDecodeError:
                raise MarkedYAMLError(
                    problem="half of a surrogate pair is not a character", problem_mark=event.start_mark
                ) from None
        return event

    return next_event


def events(text: str, source: EventSource = fast_events) -> Iterator[Any]:
    """Yield all events of a text, to its end."""
    get_event = source(text)
    while (event := get_event()) is not None:
        yield event
        if event.__class__ is StreamEndEvent:
            return


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
_OCTAL_OR_HEXADECIMAL = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
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
    return int(text, 0) if _OCTAL_OR_HEXADECIMAL.fullmatch(text) else text


_START = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`=<~.0-9+]")
_NUMBER_LIKE = re.compile(r"[-+.]?[0-9][0-9_,:.eExXoObBa-fA-FTtZz+\- ]*|[-+]?\.(?:inf|nan)", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_]*[./-][A-Za-z0-9_./-]*[A-Za-z0-9_]")
"""Of several words, for a single one may be another value of YAML."""
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


def written(text: str, like: str = "") -> str:
    """Return a text as a scalar on one line, in the quotes of `like`, else in those that it needs inside of brackets."""
    return _with_quotes(text, like, is_plain(text, is_in_flow=True))


def scalar(text: str, like: str = "") -> str:
    """Return the same, with quotes around everything that is more than a word."""
    return _with_quotes(text, like, _NAME.fullmatch(text) is not None and text.lower() not in _OLD_WORDS)


def flow(value: Any) -> str:
    """Return a value as YAML on one line; a type that is only a kind, as its name."""
    if isinstance(value, dict):
        if set(value) == {"kind"}:
            return scalar(str(value["kind"]))
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return scalar(value) if isinstance(value, str) else str(value)


def scalar_of_name(name: str, like: str = "") -> str:
    """Return a name as `scalar` does; one of several parts, such as a path or a key of attributes, may be plain too."""
    return name if _PLAIN_PATH.fullmatch(name) and like[:1] not in ("'", '"') else scalar(name, like)


def _with_quotes(text: str, like: str, may_be_plain: bool) -> str:
    """Return a text in the quotes that `like` has, where that goes; without quotes if it may be."""
    if like.startswith("'") and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return text if may_be_plain and not like.startswith('"') else quoted(text)


class _Problem(NamedTuple):
    """One kind of syntax error, and what is said about it; `{}` in the message is replaced by the character."""

    context: str
    """What is in the parser's own words for the context of the error; likewise for the problem."""
    parser_problem: str
    message: str
    help: str = ""
    at_opening: bool = False
    """Whether what is never closed is shown where it opens, not where its end was missed."""
    edit: "Callable[[SourceText, int], tuple[Span, str] | None]" = lambda _source, _error_offset: None
    """What the help would write at an offset of the text, and in place of what; None if that cannot be told."""


def _doubled_backslash(source: SourceText, offset: int) -> tuple[Span, str] | None:
    """Return two backslashes for the one at a place or before it."""
    at = next((at for at in (offset, offset - 1) if source.content[at : at + 1] == "\\"), None)
    return None if at is None else (Span(at, at + 1), "\\\\")


_PLAIN = re.compile(r"[^\n\r#,\[\]{}\"'\\]*[^\s#,\[\]{}\"'\\]")
_SECOND_COLON = re.compile(
    r"[ \t]*(?:- +)*[\w./-]+:[ \t]+(?P<text>[^\s\"'\[{#&*!|>][^#\"\\]*: [^#\"\\]*[^\s#\"\\])[ \t]*(?:#.*)?"
)


def _text_in_quotes(source: SourceText, offset: int) -> tuple[Span, str] | None:
    """Return the text that begins at an offset, in quotes, as far as its end on the line can be guessed."""
    match = _PLAIN.match(source.content, offset)
    if match is None or ": " in match[0] or match[0].endswith(":"):
        return None
    return Span(*match.span()), f'"{match[0]}"'


def _value_in_quotes(source: SourceText, offset: int) -> tuple[Span, str] | None:
    """Return the whole value of a line, where a second colon is in it."""
    position = source.position(offset)
    line, start = source.line(position.line), offset - position.column + 1
    match = _SECOND_COLON.fullmatch(line)
    if match is None:
        return None
    return Span(start + match.start("text"), start + match.end("text")), f'"{match["text"]}"'


_AT_END = " at the end"
_INDENTATION = "check the indentation of this line and of the lines above"
_QUOTES = "write the text in quotes"
_NO_ITEM = ("this does not belong to an item of the list above", f"start it with `- `, or {_INDENTATION}")
_BAD_TAG = ("this tag is incomplete", "remove it")
_NO_NAME = ("an anchor or alias needs a name", _QUOTES)
_BAD_DIRECTIVE = ("this directive is unknown", "remove the line that starts with %")
_BLOCK = ("a text block cannot start like this", "write `|` or `>` alone, and the text on the next lines")
_COLON = ("a second colon is not allowed here", f"{_QUOTES} if it contains a colon; otherwise {_INDENTATION}")
_BACKSLASH = ("this backslash does not start a valid escape", "double it, or use single quotes")
_ESCAPE = ("this escape is incomplete or not a valid character", "write the character itself")
_LIST = ("a list cannot start on this line", "start it on the next line")
_UNQUOTED = ("an unquoted text cannot start with {}", _QUOTES)
_NO_COLON = ("this key has no colon", "write `key: value`")
_AFTER_END = ("there is something after the end of the document", "start another document with `---`")
_MESSAGES = (
    _Problem("quoted scalar", "end of stream", "this quote is not closed", "close it", at_opening=True),
    _Problem("", "unknown escape", *_BACKSLASH, edit=_doubled_backslash),
    _Problem("", "escape", *_ESCAPE),
    _Problem("", "mapping values are not allowed", *_COLON, edit=_value_in_quotes),
    _Problem("", "sequence entries are not allowed", *_LIST),
    _Problem("", "unexpected ':'", "a colon inside brackets needs quotes, or a space after it", _QUOTES),
    _Problem("", "cannot start any token", *_UNQUOTED, edit=_text_in_quotes),
    _Problem("flow mapping", _AT_END, "this brace is not closed", "close it with `}}`", at_opening=True),
    _Problem("flow sequence", _AT_END, "this bracket is not closed", "close it with `]`", at_opening=True),
    _Problem("flow mapping", "", "a comma or `}}` is missing before this"),
    _Problem("flow sequence", "", "a comma or `]` is missing before this"),
    _Problem("", "could not find expected ':'", *_NO_COLON, at_opening=True),
    _Problem("", "node content", "a value is missing here", "write one, or `null`"),
    _Problem("block collection", "", *_NO_ITEM),
    _Problem("block sequence", "", *_NO_ITEM),
    _Problem("block mapping", "", "this is not a key of the mapping above", _INDENTATION),
    _Problem("block scalar", "", *_BLOCK),
    _Problem("", "document start", *_AFTER_END),
    _Problem("tag", "", *_BAD_TAG),
    _Problem("", "tag", *_BAD_TAG),
    _Problem("anchor", "", *_NO_NAME),
    _Problem("alias", "", *_NO_NAME),
    _Problem("directive", "", *_BAD_DIRECTIVE),
    _Problem("", "YAML document", *_BAD_DIRECTIVE),
    _Problem("", "version", *_BAD_DIRECTIVE),
)
"""The first one counts whose texts are in what the parser says."""


def report_syntax_error(error: YAMLError, source: SourceText, report: Report) -> None:
    """Report the parser's complaint at its place; a tab gets its own code, for that is what most of them are."""
    context, problem = str(getattr(error, "context", "") or ""), str(getattr(error, "problem", "") or error)
    if _error_offset(error, at_opening=False) >= len(source.content.rstrip()):
        problem += _AT_END
    fallback = _Problem("", "", problem.splitlines()[0])
    words = next(
        (one for one in _MESSAGES if one.context in context and one.parser_problem in problem), fallback
    )
    offset = _error_offset(error, at_opening=words.at_opening)
    position = source.position(_error_offset(error, at_opening=False))
    line = source.line(position.line)
    blank = line[: len(line) - len(line.lstrip())]
    if "\t" in blank:
        code, message, help = TAB_INDENTATION, "YAML does not allow tabs in indentation", "indent with spaces"
        offset = source.offset(position.line, blank.index("\t") + 1)
        tabs = blank[blank.index("\t") :]
        tabs = tabs[: len(tabs) - len(tabs.lstrip(" \t"))]
        edit: tuple[Span, str] | None = (Span(offset, offset + len(tabs)), tabs.replace("\t", _LEVEL))
    else:
        problem_text = words.message.format(f"'{source.content[offset : offset + 1]}'")
        code, message, help = INVALID_YAML, f"this is not valid YAML: {problem_text}", words.help.format()
        edit = words.edit(source, offset)
    # It is unsafe, because the meaning of invalid YAML is a guess.
    edits = (Edit(source.name, *source.region(edit[0]), edit[1]),) if edit is not None else ()
    fix = Fix(help, edits, is_safe=False) if edits else None
    span = Span(offset, min(offset + 1, len(source.content)))
    report.add(code, message, location=Located(source, span), help=help, fix=fix)


_LEVEL = "  "
"""What a tab is taken for."""


def _error_offset(error: YAMLError, *, at_opening: bool) -> int:
    """Return the offset of a syntax error in the text, with `at_opening` where its context began; 0 if it is unknown."""
    if isinstance(error, MarkedYAMLError):
        mark: Any = (at_opening and error.context_mark) or error.problem_mark or error.context_mark
        return int(mark.index) if mark else 0
    return int(error.position) if isinstance(error, ReaderError) else 0
