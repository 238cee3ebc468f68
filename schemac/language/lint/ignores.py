"""Comments of a manifest that ignore findings.

Layer: language.
Shape: `# schemac: ignore[SC811] why` at the end of a line, or on a line of its own above it; `# schemac: ignore-file[SC811] why`
for the whole file. Findings are named by code or slug. Errors cannot be ignored, but for those that a project makes of rules.
Errors: SC801 unused-ignore, SC802 invalid-ignore.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from schemac.language.lint.codes import INVALID_IGNORE, UNUSED_IGNORE
from schemac.language.lint.rule import Rule
from schemac.text.source.diagnostic import Code, Diagnostic, Edit, Fix, Severity
from schemac.text.source.help import Help
from schemac.text.source.phrases import closest
from schemac.text.source.report import Report
from schemac.text.source.span import Span
from schemac.text.source.text import SourceText
from schemac.text.syntax.events import YAMLError, events

RULES = tuple(
    Rule(code, "ignores", lambda _subject, _reporter: None, is_default=True)
    for code in (UNUSED_IGNORE, INVALID_IGNORE)
)
"""They are chosen as rules are, but found in comments."""
MARK = "schemac:"
"""What is in every such comment."""
_COMMENT = re.compile(
    r"(?:^|(?<=\s))#[ \t]*schemac:[ \t]*(?P<kind>[a-z-]+)[ \t]*(?:\[(?P<names>[^\]\n]*)\])?[^\n\r]*",
    re.MULTILINE,
)


@dataclass
class Ignore:
    """One comment."""

    span: Span
    names: tuple[str, ...]
    names_span: Span
    line: int
    """The line whose findings it ignores; zero for all of the file."""
    used: set[str] = field(default_factory=set)


class Ignores:
    """The comments of one text."""

    def __init__(self, source: SourceText, codes: Mapping[str, Code]) -> None:
        self._source = source
        self._codes = codes
        self._by_slug = {code.slug: code for code in codes.values()}
        self.report = Report()
        """What is wrong with the comments themselves."""
        self.found = list(self._read()) if MARK in source.content else []
        """All comments that ignore something."""

    def remaining(self, findings: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return the findings that no comment ignores."""
        return [diagnostic for diagnostic in findings if not self._is_ignored(diagnostic)]

    def _is_ignored(self, diagnostic: Diagnostic) -> bool:
        if diagnostic.file != self._source.name:
            return False
        is_ignored = False
        for one in self.found:
            if one.line in (0, diagnostic.line) and diagnostic.code in one.names:
                one.used.add(diagnostic.code)
                is_ignored = True
        return is_ignored

    def unused(self, looked_for: Collection[str]) -> Iterator[Diagnostic]:
        """Yield a finding for each code that a comment ignores and that is not found; `looked_for` are those that could be."""
        for one in self.found:
            for name in one.names:
                if name in one.used or name not in looked_for:
                    continue
                report = Report()
                place = "in this file" if one.line == 0 else "here"
                report.add(
                    UNUSED_IGNORE,
                    f"there is no {name} {self._codes[name].slug} {place}",
                    source=self._source,
                    span=one.span,
                    help="remove it",
                    fix=self._without(one, name),
                )
                yield from report.diagnostics

    def _read(self) -> Iterator[Ignore]:
        content = self._source.content
        scalars = _scalars(content)
        for comment in _COMMENT.finditer(content):
            span = Span(comment.start(), comment.end())
            if any(start <= span.start < end for start, end in scalars):
                continue
            kind, names = comment["kind"], comment["names"]
            if kind not in ("ignore", "ignore-file"):
                near = closest(kind, ("ignore", "ignore-file")) or "ignore"
                self._reporter(span, f"there is no comment `schemac: {kind}`", Help.did_you_mean(near, kind))
                continue
            words = [word.strip() for word in (names or "").split(",") if word.strip()]
            if not words:
                self._reporter(
                    span,
                    "this comment does not name a code to ignore",
                    "write `# schemac: ignore[CODE] reason`",
                )
                continue
            codes = [code for word in words if (code := self._code(word, span)) is not None]
            line = 0 if kind == "ignore-file" else self._line(span)
            yield Ignore(span, tuple(code.id for code in codes), Span(*comment.span("names")), line)

    def _code(self, word: str, span: Span) -> Code | None:
        code = self._codes.get(word.upper()) or self._by_slug.get(word)
        if code is None:
            near = closest(word, [*self._codes, *self._by_slug])
            help = Help.did_you_mean(near, word) if near else "`schemac explain` lists all codes"
            self._reporter(span, f"there is no diagnostic code '{word}'", help)
        elif code.severity is Severity.ERROR:
            self._reporter(
                span,
                f"{code.id} is an error, and errors cannot be ignored",
                "correct it, and remove this comment",
            )
            return None
        return code

    def _reporter(self, span: Span, message: str, help: str) -> None:
        fix = self._fix(help, span) if isinstance(help, Help) else None
        self.report.add(INVALID_IGNORE, message, source=self._source, span=span, help=help, fix=fix)

    def _fix(self, help: Help, span: Span) -> Fix | None:
        """Return the fix that writes the word that was meant, where the other one occurs once in a comment."""
        text = self._source.excerpt(span)
        matches = list(re.finditer(rf"(?<![\w-]){re.escape(help.arguments['instead_of'])}(?![\w-])", text))
        if len(matches) != 1:
            return None
        region = self._source.region(Span(span.start + matches[0].start(), span.start + matches[0].end()))
        return Fix(str(help), (Edit(self._source.name, *region, help.arguments["near"]),), help.is_safe)

    def _line(self, span: Span) -> int:
        """Return the line that a comment is about: its own, or the next one that has more than comments."""
        number = self._source.position(span.start).line
        text = self._source.line(number)
        while not text.strip() or text.lstrip().startswith("#"):
            number += 1
            text = self._source.line(number)
            if not text and self._source.position(len(self._source.content)).line <= number:
                break
        return number

    def _without(self, one: Ignore, name: str) -> Fix:
        content = self._source.content
        others = [other for other in one.names if other != name]
        if others:
            span, text = one.names_span, ", ".join(others)
        else:
            span, text = _with_blanks(content, one.span), ""
        edit = Edit(self._source.name, *self._source.region(span), text)
        return Fix("remove it", (edit,))


def _with_blanks(content: str, span: Span) -> Span:
    """Return a comment with the blanks before it, or with its line if it is alone there."""
    start = span.start
    while start and content[start - 1] in " \t":
        start -= 1
    is_alone = not start or content[start - 1] == "\n"
    end = span.end
    if is_alone:
        end += 2 if content.startswith("\r\n", end) else 1 if content.startswith("\n", end) else 0
    return Span(start, end)


def _scalars(content: str) -> list[tuple[int, int]]:
    """Yield the spans of scalars that may contain such a comment."""
    spans: list[tuple[int, int]] = []
    with suppress(YAMLError):
        for event in events(content):
            is_one = MARK in str(getattr(event, "value", ""))
            spans += [(event.start_mark.index, event.end_mark.index)] if is_one else []
    return spans
