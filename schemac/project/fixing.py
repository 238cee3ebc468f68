"""Applies fixes until there are no more, and reads comments that ignore findings.

Layer: project.
Shape: files are written at the end only: the result of each round is checked in memory. If a text is not YAML after a
round, fixes are applied one by one, and one that breaks the text is left out. A comment that ignores a finding counts
in the text that has the finding, which may be that of a group. Comments in a text with groups alone are not reported as
unused, because only the manifests that use the groups could tell.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from schemac.project.configuration import Project
from schemac.project.writing import replace_file
from schemac.text.source import catalogue
from schemac.text.source.diagnostics import Diagnostic, Fix, Report, Severity, SourceText
from schemac.text.source.text import applied, decode_text, files_of, read_file, reason_of
from schemac.text.syntax.document import parse

if TYPE_CHECKING:
    from schemac.language.lint.run import Ignores

MOST_ROUNDS = 100
"""Rounds of fixes; a text with more is done when the command runs again."""
_FIX_MARK = "\ufeff"
Check = Callable[[dict[str, bytes]], Sequence[Diagnostic]]
"""Checks the manifests, with these contents in place of files, and returns the findings."""


@dataclass
class Fixing:
    """The fixes of one run."""

    is_unsafe: bool
    """Whether those are carried out that may change what a manifest means."""
    before: dict[str, str] = field(default_factory=dict)
    """The texts as they are on disk, by the names of findings."""
    after: dict[str, str] = field(default_factory=dict)
    """Those that changed."""
    done: list[Fix] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    """The names of the files that have been written."""
    _refused: set[Fix] = field(default_factory=set)

    def run(self, check: Check, unsaved: dict[str, bytes]) -> Sequence[Diagnostic]:
        """Apply all fixes, and return the remaining findings; `unsaved` are contents that are not on disk, by absolute path."""
        findings = check(unsaved)
        for _ in range(MOST_ROUNDS):
            fixable = [
                d
                for d in findings
                if d.fix is not None and (d.fix.is_safe or self.is_unsafe) and d.fix not in self._refused
            ]
            # Copies of a key go first, alone: another fix may change what they are copies of.
            copies = [d for d in fixable if d.code == catalogue.DUPLICATE_KEY.id]
            if not any(self._changes(part, unsaved) for part in (copies, fixable)):
                break
            findings = check({**unsaved, **self.edited})
        return findings

    def _changes(self, findings: Sequence[Diagnostic], unsaved: dict[str, bytes]) -> bool:
        """Apply the fixes of findings in memory; return whether a text changed, or a fix was refused."""
        fixes = [d.fix for d in findings if d.fix is not None]
        is_changed = False
        for name in files_of(fixes):
            content = self.after.get(name)
            if content is None:
                unsaved_content = unsaved.get(os.path.abspath(name))
                try:
                    present = read_file(name) if unsaved_content is None else unsaved_content
                    self.before[name] = present.decode("utf-8")
                except (OSError, UnicodeDecodeError):
                    continue
                content = self.before[name].removeprefix(_FIX_MARK)
            source = SourceText(content, name)
            mine = [fix for fix in fixes if any(edit.file == name for edit in fix.edits)]
            fixed = applied(source, mine)
            broken = _mistakes(source)
            if len(fixed.fixes) > 1 and _mistakes(SourceText(fixed.content, name)) - broken:
                fixed = applied(source, fixed.fixes[:1])
            if _mistakes(SourceText(fixed.content, name)) - broken:
                self._refused.update(fixed.fixes)
                is_changed = True
            elif not fixed.fixes or fixed.content == source.content:
                self._refused.update(mine)
            else:
                self.after[name] = fixed.content
                self.done += fixed.fixes
                is_changed = True
        return is_changed

    @property
    def edited(self) -> dict[str, bytes]:
        """The contents of the changed files, by absolute path."""
        return {os.path.abspath(name): self.text(name).encode() for name in self.after}

    def text(self, name: str) -> str:
        """Return the new text of a changed file, with the byte order mark that it had."""
        mark = _FIX_MARK if self.before[name].startswith(_FIX_MARK) else ""
        return mark + self.after[name]

    def write(self, report: Report) -> None:
        """Write the changed files, each whole or not at all; what is not written is not done."""
        self.written = [n for n in self.after if rewrite(n, self.before[n], self.text(n), report)]
        self.done = [fix for fix in self.done if any(edit.file in self.written for edit in fix.edits)]


def rewrite(name: str, before: str, after: str, report: Report) -> bool:
    """Replace a file if it is unchanged since it was read; False after reporting why it was not written."""
    try:
        if read_file(name) != before.encode():
            message = f"{name} was changed by another program in the meantime; nothing was written"
            report.add(catalogue.WRITE_FAILED, message, file=name)
            return False
        replace_file(Path(name), after.encode())
    except OSError as error:
        report.add(catalogue.WRITE_FAILED, f"cannot write {name}: {reason_of(error)}", file=name)
        return False
    return True


def _mistakes(source: SourceText) -> Counter[str]:
    """Return how often each code is reported for a text as YAML."""
    report = Report()
    parse(source, report)
    return Counter(d.code for d in report.diagnostics)


_COMMENT_MARK = "schemac:"


def not_ignored(
    findings: Sequence[Diagnostic],
    texts: Sequence[SourceText],
    project: Project,
    path_for_rules: str | None,
    *,
    has_schema: bool = False,
) -> list[Diagnostic]:
    """Return the findings that no comment of a manifest, the first text, or of what it imports ignores.

    With rules, those about the manifest's own comments come after them.
    """
    ignores_by_file = {
        text.name: _ignores(text, project, has_rules=path_for_rules is not None)
        for text in texts
        if _COMMENT_MARK in text.content
    }
    remaining = list(findings)
    for ignores in ignores_by_file.values():
        remaining = ignores.remaining(remaining)
    own_ignores = ignores_by_file.get(texts[0].name)
    if path_for_rules is None or own_ignores is None:
        return remaining
    rules = project.selection.rules_for(path_for_rules)
    # A mistake may hide what a comment is for.
    if has_schema and not any(d.is_error for d in findings):
        own_ignores.report_unused({rule.code.id for rule in rules} | _OF_CHECKS)
    severities = {rule.code.id: project.selection.code(rule).severity for rule in rules}
    of_comments = [
        replace(d, severity=severities[d.code], excerpt=d.excerpt, fix=d.fix)
        for d in own_ignores.report.diagnostics
        if d.code in severities
    ]
    return [*remaining, *of_comments]


def without_ignored(
    findings: Iterable[Diagnostic], texts: Callable[[str], bytes | None], project: Project
) -> list[Diagnostic]:
    """Return the findings that no comment of the text that each is about ignores.

    `texts` returns the content of a file by the name that findings have for it: of a manifest, an overlay or a pipeline.
    """
    remaining = list(findings)
    can_be_ignored = [one.file for one in remaining if one.severity is not Severity.ERROR]
    for name in dict.fromkeys(can_be_ignored):
        content = texts(name)
        source = decode_text(content, name, Report()) if content is not None and _MARKED in content else None
        remaining = _ignores(source, project).remaining(remaining) if source is not None else remaining
    return remaining


def _ignores(source: SourceText, project: Project, *, has_rules: bool = False) -> "Ignores":
    """Return the comments of a text that ignore findings; with `has_rules` they may name codes of the project's rules too."""
    from schemac.language.lint.run import Ignores  # for start-up time, as above
    from schemac.registry.codes import codes

    selection = project.selection if has_rules else project.known_rules
    of_rules = {rule.code.id: rule.code for rule in selection.rules}
    return Ignores(source, {**codes(), **of_rules})


_MARKED = _COMMENT_MARK.encode()
_OF_CHECKS = frozenset(
    code.id
    for code in catalogue.CATALOGUE.values()
    if code.id.startswith(("SC2", "SC3")) and code.severity is not Severity.ERROR
) - {catalogue.UNUSED_GROUP.id, catalogue.REFERENCE_TO_NO_KEY.id}
"""Codes that every check of one manifest looks for; the others need all of them."""
