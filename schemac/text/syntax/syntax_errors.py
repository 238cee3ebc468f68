"""What a YAML parser complains about, in words for the author.

Layer: text.
Errors: SC106 invalid-yaml, SC107 tab-indentation.
Source: the messages of ruamel.yaml's two parsers, which differ in wording alone.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from schemac.text.source.catalogue import INVALID_YAML, TAB_INDENTATION
from schemac.text.source.diagnostic import Edit, Fix
from schemac.text.source.report import Report
from schemac.text.source.span import Span
from schemac.text.source.text import SourceText
from schemac.text.syntax.events import MarkedYAMLError, ReaderError, YAMLError


class _Words(NamedTuple):
    """The words of one syntax error; `{}` is replaced by the character."""

    message: str
    help: str = ""
    at_opening: bool = False
    """Whether what is never closed is shown where it opens, not where its end was missed."""
    way_out: "Callable[[SourceText, int], tuple[Span, str] | None]" = lambda _source, _offset: None
    """What the help would write at a place of the text, and instead of what."""


def _doubled(source: SourceText, offset: int) -> tuple[Span, str] | None:
    """Return two backslashes for the one at a place or before it."""
    at = next((at for at in (offset, offset - 1) if source.content[at : at + 1] == "\\"), None)
    return None if at is None else (Span(at, at + 1), "\\\\")


_PLAIN = re.compile(r"[^\n\r#,\[\]{}\"'\\]*[^\s#,\[\]{}\"'\\]")
_SECOND_COLON = re.compile(
    r"[ \t]*(?:- +)*[\w./-]+:[ \t]+(?P<text>[^\s\"'\[{#&*!|>][^#\"\\]*: [^#\"\\]*[^\s#\"\\])[ \t]*(?:#.*)?"
)


def _in_quotes(source: SourceText, offset: int) -> tuple[Span, str] | None:
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
_MESSAGES: tuple[tuple[Callable[[str, str], bool], _Words], ...] = (
    (
        lambda context, problem: "quoted scalar" in context and "end of stream" in problem,
        _Words("this quote is not closed", "close it", at_opening=True),
    ),
    (
        lambda context, problem: "unknown escape" in problem,
        _Words(
            "this backslash does not start a valid escape",
            "double it, or use single quotes",
            way_out=_doubled,
        ),
    ),
    (
        lambda context, problem: "escape" in problem or "escape sequence" in problem,
        _Words("this escape is incomplete or not a valid character", "write the character itself"),
    ),
    (
        lambda context, problem: "mapping values are not allowed" in problem,
        _Words(
            "a second colon is not allowed here",
            f"{_QUOTES} if it contains a colon; otherwise {_INDENTATION}",
            way_out=_value_in_quotes,
        ),
    ),
    (
        lambda context, problem: "sequence entries are not allowed" in problem,
        _Words("a list cannot start on this line", "start it on the next line"),
    ),
    (
        lambda context, problem: "unexpected ':'" in problem,
        _Words("a colon inside brackets needs quotes, or a space after it", _QUOTES),
    ),
    (
        lambda context, problem: "cannot start any token" in problem,
        _Words("an unquoted text cannot start with {}", _QUOTES, way_out=_in_quotes),
    ),
    (
        lambda context, problem: "flow mapping" in context and _AT_END in problem,
        _Words("this brace is not closed", "close it with `}}`", at_opening=True),
    ),
    (
        lambda context, problem: "flow sequence" in context and _AT_END in problem,
        _Words("this bracket is not closed", "close it with `]`", at_opening=True),
    ),
    (lambda context, problem: "flow mapping" in context, _Words("a comma or `}}` is missing before this")),
    (lambda context, problem: "flow sequence" in context, _Words("a comma or `]` is missing before this")),
    (
        lambda context, problem: "could not find expected ':'" in problem,
        _Words("this key has no colon", "write `key: value`", at_opening=True),
    ),
    (
        lambda context, problem: "node content" in problem,
        _Words("a value is missing here", "write one, or `null`"),
    ),
    (
        lambda context, problem: "block collection" in context or "block sequence" in context,
        _Words("this does not belong to an item of the list above", f"start it with `- `, or {_INDENTATION}"),
    ),
    (
        lambda context, problem: "block mapping" in context,
        _Words("this is not a key of the mapping above", _INDENTATION),
    ),
    (
        lambda context, problem: "block scalar" in context,
        _Words(
            "a text block cannot start like this", "write `|` or `>` alone, and the text on the next lines"
        ),
    ),
    (
        lambda context, problem: "document start" in problem,
        _Words("there is something after the end of the document", "start another document with `---`"),
    ),
    (
        lambda context, problem: "tag" in context or "tag" in problem,
        _Words("this tag is incomplete", "remove it"),
    ),
    (
        lambda context, problem: "anchor" in context or "alias" in context,
        _Words("an anchor or alias needs a name", _QUOTES),
    ),
    (
        lambda context, problem: "directive" in context or "YAML document" in problem or "version" in problem,
        _Words("this directive is unknown", "remove the line that starts with %"),
    ),
)


def report_syntax_error(error: YAMLError, source: SourceText, report: Report) -> None:
    """Report the parser's complaint at its place; a tab gets its own code, for that is what most of them are."""
    context, problem = str(getattr(error, "context", "") or ""), str(getattr(error, "problem", "") or error)
    if _offset(error, at_opening=False) >= len(source.content.rstrip()):
        problem += _AT_END
    words = next(
        (w for applies, w in _MESSAGES if applies(context, problem)), _Words(problem.splitlines()[0])
    )
    offset = _offset(error, at_opening=words.at_opening)
    tab = _indenting_tab(source, _offset(error, at_opening=False))
    if tab is not None:
        report.add(
            TAB_INDENTATION,
            "YAML does not allow tabs in indentation",
            source=source,
            span=Span(tab, tab + 1),
            help="indent with spaces",
            fix=_fix("indent with spaces", source, _spaces(source, tab)),
        )
        return
    character = source.content[offset : offset + 1]
    end = min(offset + 1, len(source.content))
    report.add(
        INVALID_YAML,
        "this is not valid YAML: " + words.message.format(f"'{character}'"),
        source=source,
        span=Span(offset, end),
        help=words.help.format(),
        fix=_fix(words.help.format(), source, words.way_out(source, offset)),
    )


def _fix(help: str, source: SourceText, edit: tuple[Span, str] | None) -> Fix | None:
    """Return the fix of a help; it is unsafe, because the meaning of invalid YAML is a guess."""
    if edit is None:
        return None
    span, text = edit
    return Fix(help, (Edit(source.name, *source.region(span), text),), is_safe=False)


_LEVEL = "  "
"""What a tab is taken for."""


def _spaces(source: SourceText, tab: int) -> tuple[Span, str]:
    """Return the indentation of a line from its first tab on, as spaces."""
    match = re.compile(r"[ \t]+").match(source.content, tab)
    assert match is not None
    return Span(*match.span()), match[0].replace("\t", _LEVEL)


def _offset(error: YAMLError, *, at_opening: bool) -> int:
    if isinstance(error, MarkedYAMLError):
        mark: Any = (at_opening and error.context_mark) or error.problem_mark or error.context_mark
        return int(mark.index) if mark else 0
    return int(error.position) if isinstance(error, ReaderError) else 0


def _indenting_tab(source: SourceText, offset: int) -> int | None:
    position = source.position(offset)
    line = source.line(position.line)
    blank = line[: len(line) - len(line.lstrip())]
    return offset - (position.column - 1) + blank.index("\t") if "\t" in blank else None
