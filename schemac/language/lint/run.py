"""All rules, those that a project selects, how they are run on a dataset, and comments that ignore findings.

Layer: language.
Shape: a comment that ignores findings is `# schemac: ignore[SC811] why` at the end of a line, or on a line of its own above it; `#
      schemac: ignore-file[SC811] why` for the whole file. Findings are named by code or slug. Errors cannot be ignored, but for those
      that a project makes of rules.
Errors: SC801 unused-ignore, SC802 invalid-ignore.
Source: a distribution names its rules under the entry point group `schemac.language.lint`, a `Rule` or a tuple of them each: `acme =
      "acme_rules:RULES"`. A code of theirs is a word in capitals and a number, such as `ACME801`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from schemac.language.lint import constraints, naming, structure, types
from schemac.language.lint.codes import INVALID_IGNORE, UNUSED_IGNORE
from schemac.language.lint.rule import Reporter, Rule, Subject
from schemac.language.lint.settings import ALL, DEFAULT, LintSettings
from schemac.language.lint.structure import missing_group_description
from schemac.language.logical.dataset import Findings, LogicalDataset
from schemac.language.manifest.groups import GroupFile
from schemac.registry.codes import builtin_codes
from schemac.registry.engine import EngineError, entry_points_of, load_as, reason_of
from schemac.text.source.diagnostics import (
    Code,
    Diagnostic,
    Edit,
    Fix,
    Located,
    Report,
    Severity,
    SourceText,
    Span,
)
from schemac.text.source.phrases import Help, closest
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
        remaining: list[Diagnostic] = []
        for diagnostic in findings:
            comments = self.found if diagnostic.file == self._source.name else []
            ignoring = [
                one for one in comments if one.line in (0, diagnostic.line) and diagnostic.code in one.names
            ]
            for one in ignoring:
                one.used.add(diagnostic.code)
            if not ignoring:
                remaining.append(diagnostic)
        return remaining

    def report_unused(self, looked_for: Collection[str]) -> None:
        """Report each code that a comment ignores and that is not found; `looked_for` are those that could be."""
        for one in self.found:
            for name in one.names:
                if name in one.used or name not in looked_for:
                    continue
                place = "in this file" if one.line == 0 else "here"
                self.report.add(
                    UNUSED_IGNORE,
                    f"there is no {name} {self._codes[name].slug} {place}",
                    location=Located(self._source, one.span),
                    help="remove it",
                    fix=self._without(one, name),
                )

    def _read(self) -> Iterator[Ignore]:
        """Yield the comments that ignore codes, not those inside of scalars; invalid ones are reported."""
        content = self._source.content
        scalars: list[tuple[int, int]] = []
        with suppress(YAMLError):
            scalars += [
                (event.start_mark.index, event.end_mark.index)
                for event in events(content)
                if MARK in str(getattr(event, "value", ""))
            ]
        for comment in _COMMENT.finditer(content):
            span = Span(comment.start(), comment.end())
            if any(start <= span.start < end for start, end in scalars):
                continue
            kind, names = comment["kind"], comment["names"]
            if kind not in ("ignore", "ignore-file"):
                near = closest(kind, ("ignore", "ignore-file")) or "ignore"
                self._report_invalid(
                    span, f"there is no comment `schemac: {kind}`", Help.did_you_mean(near, kind)
                )
                continue
            words = [word.strip() for word in (names or "").split(",") if word.strip()]
            if not words:
                message = "this comment does not name a code to ignore"
                self._report_invalid(span, message, "write `# schemac: ignore[CODE] reason`")
                continue
            codes = [code for word in words if (code := self._code(word, span)) is not None]
            line = 0 if kind == "ignore-file" else self._line(span)
            yield Ignore(span, tuple(code.id for code in codes), Span(*comment.span("names")), line)

    def _code(self, word: str, span: Span) -> Code | None:
        """Return the code of an id or a slug; None after reporting that it is unknown or an error."""
        code = self._codes.get(word.upper()) or self._by_slug.get(word)
        if code is None:
            known = [*self._codes, *self._by_slug]
            help = Help.nearest(word, known, "`schemac explain` lists all codes")
            self._report_invalid(span, f"there is no diagnostic code '{word}'", help)
        elif code.severity is Severity.ERROR:
            message = f"{code.id} is an error, and errors cannot be ignored"
            self._report_invalid(span, message, "correct it, and remove this comment")
            return None
        return code

    def _report_invalid(self, span: Span, message: str, help: str) -> None:
        """Report an invalid comment, with a fix if the word to replace is in it exactly once."""
        fix = None
        if isinstance(help, Help):
            word = rf"(?<![\w-]){re.escape(help.arguments['instead_of'])}(?![\w-])"
            matches = list(re.finditer(word, self._source.excerpt(span)))
            if len(matches) == 1:
                at = self._source.region(Span(*(span.start + end for end in matches[0].span())))
                edit = Edit(self._source.name, *at, help.arguments["near"])
                fix = Fix(str(help), (edit,), help.is_safe)
        self.report.add(INVALID_IGNORE, message, location=Located(self._source, span), help=help, fix=fix)

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
        """Return the fix that removes a code from a comment, or the comment if it is the only one."""
        content = self._source.content
        others = [other for other in one.names if other != name]
        if others:
            span, text = one.names_span, ", ".join(others)
        else:
            start = one.span.start
            while start and content[start - 1] in " \t":
                start -= 1
            is_alone = not start or content[start - 1] == "\n"
            end = one.span.end
            if is_alone:
                end += 2 if content.startswith("\r\n", end) else 1 if content.startswith("\n", end) else 0
            span, text = Span(start, end), ""
        edit = Edit(self._source.name, *self._source.region(span), text)
        return Fix("remove it", (edit,))


GROUP = "schemac.language.lint"
_ID = re.compile(r"(?!SC\d)[A-Z][A-Z_]*[0-9]+")


@cache
def builtin_rules() -> tuple[Rule, ...]:
    """Return the rules that come with the compiler, by code."""
    modules = (naming, structure, types, constraints)
    rules = (rule for module in modules for rule in _rules_in(vars(module).values()))
    return tuple(sorted((*RULES, *rules), key=lambda rule: rule.code.id))


@cache
def installed_rules() -> tuple[Rule, ...]:
    """Return these and the rules of other distributions. Raises EngineError."""
    rules = list(builtin_rules())
    for point in entry_points_of(GROUP):
        loaded = load_as(f"{point.module}:{point.attr}", object, f"the rules {point.name}")
        rules += _checked(_rules_in(loaded), f"the rules {point.name} ({point.value})", rules)
    return tuple(rules)


@cache
def all_rules(files: tuple[Path, ...] = ()) -> tuple[Rule, ...]:
    """Return these and the rules in files of a project. Raises EngineError."""
    rules = list(installed_rules())
    for file in files:
        what = f"the rules in {file.name}"
        try:
            module = ModuleType(f"schemac_rules_{file.stem}")
            module.__file__ = str(file)
            # Python's own way would write what it compiles into the project, and take it for the rules of a file that was edited within a second.
            exec(compile(file.read_bytes(), file, "exec"), vars(module))  # noqa: S102 — these are the author's own rules
        except Exception as error:
            raise EngineError(f"{what} cannot be loaded: {reason_of(error)}") from error
        rules += _checked(_rules_in(vars(module).values()), what, rules)
    return tuple(rules)


def _rules_in(value: Any) -> Iterator[Any]:
    """Yield the rules among some values, or the one rule that a value is."""
    if isinstance(value, Rule):
        yield value
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        yield from dict.fromkeys(item for item in value if isinstance(item, Rule))


def _checked(rules: Iterable[Rule], what: str, before: Sequence[Rule]) -> list[Rule]:
    """Return the rules of another distribution, whose codes have to be new. Raises EngineError."""
    added_rules = list(rules)
    used = {word for code in builtin_codes().values() for word in (code.id, code.slug)}
    used.update(word for rule in before for word in (rule.code.id, rule.code.slug))
    for rule in added_rules:
        if not _ID.fullmatch(rule.code.id):
            raise EngineError(f"{what} have the code '{rule.code.id}'; write a code like ACME801")
        if rule.code.id in used or rule.code.slug in used:
            raise EngineError(f"{what} have a code {rule.code.id} {rule.code.slug}, which is already used")
        used |= {rule.code.id, rule.code.slug}
    if not added_rules:
        raise EngineError(f"{what} defines no rule (`schemac.language.lint.rule.Rule`)")
    return added_rules


class Selection:
    """The rules of a project, and those that it enables."""

    def __init__(self, settings: LintSettings, folder: Path) -> None:
        self.settings = settings
        self.rules: Sequence[Rule] = all_rules(tuple(folder / file for file in settings.rules))
        selected = self._named((*settings.select, *settings.extend_select)) - self._named(settings.ignore)
        self._selected = [rule for rule in self.rules if rule.code.id in selected]

    def rules_for(self, path: str) -> Sequence[Rule]:
        """Return the rules for a manifest, by its path from the project's folder."""
        if not self.settings.per_path:
            return self._selected
        refused: set[str] = set()
        for pattern, words in self.settings.per_path.items():
            if fnmatchcase(path, pattern) or fnmatchcase(path, f"{pattern.rstrip('/')}/*"):
                refused |= self._named(words)
        return [rule for rule in self._selected if rule.code.id not in refused]

    def code(self, rule: Rule) -> Code:
        """Return the code of a rule, with the severity that the project sets for it; the most specific name counts."""
        named = [word for word in self.settings.severity if _is_named(rule, word)]
        most = max(named, key=lambda word: (word == rule.code.slug, len(word)), default=None)
        if most is None:
            return rule.code
        return rule.code._replace(severity=Severity(self.settings.severity[most]))

    def unknown(self) -> Iterator[tuple[tuple[str, ...], str, str]]:
        """Yield what names no rule: the keys that lead to it in the settings, the word, and the nearest one that does."""
        settings = self.settings
        lists: dict[tuple[str, ...], Iterable[str]] = {
            ("select",): settings.select,
            ("extend-select",): settings.extend_select,
            ("ignore",): settings.ignore,
            **{("per-path", pattern): words for pattern, words in settings.per_path.items()},
        }
        known = [DEFAULT, ALL, *(rule.category for rule in self.rules)]
        known += [name for rule in self.rules for name in (rule.code.id, rule.code.slug)]
        places = [((*keys, str(i)), word) for keys, words in lists.items() for i, word in enumerate(words)]
        for keys, word in (*places, *((("severity", word), word) for word in settings.severity)):
            if not self._named((word,)):
                yield keys, word, closest(word, known) or ""

    def _named(self, words: Iterable[str]) -> set[str]:
        """Return the ids of all rules that some words name."""
        return {rule.code.id for word in words for rule in self.rules if _is_named(rule, word)}


def _is_named(rule: Rule, word: str) -> bool:
    """Whether a word of the settings names a rule: by its code, the beginning of it, its slug, its category or a set."""
    is_prefix = len(word) > 1 and word[:1].isupper() and rule.code.id.startswith(word)
    return is_prefix or word in (ALL, rule.category, rule.code.slug) or (word == DEFAULT and rule.is_default)


def lint(dataset: LogicalDataset, selection: Selection, path: str, report: Report) -> None:
    """Report the findings of the rules that are enabled for a manifest; what a source reads has the names of others.

    Raises EngineError for a rule of others that fails.
    """
    if dataset.is_source or not dataset.is_whole:
        return
    subject = Subject(dataset, selection.settings)
    for rule in selection.rules_for(path):
        try:
            rule.check(subject, Reporter(selection.code(rule), Findings(report, dataset.origins)))
        except ValidationError:
            # The checks have said which attribute is wrong; what a rule makes of it is known once that is mended.
            pass
        except Exception as error:
            if rule.code.id.startswith("SC8"):
                raise
            raise EngineError(f"the rule {rule.code.id} failed: {reason_of(error)}") from error


def lint_groups(files: Iterable[GroupFile], selection: Selection, path: str, report: Report) -> None:
    """Report groups without a description, wherever they are defined, if the rule about them is enabled for a manifest."""
    if missing_group_description not in selection.rules_for(path):
        return
    code, help = selection.code(missing_group_description), "write `description:` next to its `fields:`"
    for definition in [one for file in files for one in file.groups.values() if not one.group.description]:
        message = f"the group '{definition.name}' has no description"
        definition.document.report(code, message, definition.path, report, help, on_key=True)
