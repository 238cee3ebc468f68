"""Fixes of findings, carried out on the manifests of a run until there are no more.

Layer: project.
Shape: nothing is written before the end: what a round of fixes makes is checked again in memory, with what it may bring to light. A
round after which a text is not YAML any more is tried again with one fix, and a fix that does this alone is left out.
"""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schemac.project.writing import replace_file
from schemac.source.catalogue import DUPLICATE_KEY, WRITE_FAILED
from schemac.source.diagnostic import Diagnostic, Fix
from schemac.source.edits import applied, files_of
from schemac.source.report import Report
from schemac.source.text import SourceText, read_file, reason_of
from schemac.syntax.document import parse

MOST_ROUNDS = 100
"""Rounds of fixes; a text with more is done when the command runs again."""
_MARK = "\ufeff"
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
        """Fix what can be fixed, and return the findings that are left; `given` are contents that are not on disk."""
        findings = check(unsaved)
        for _ in range(MOST_ROUNDS):
            fixable = [d for d in findings if d.fix is not None and self._is_accepted(d.fix)]
            # Copies of a key go first, alone: another fix may change what they are copies of.
            copies = [d for d in fixable if d.code == DUPLICATE_KEY.id]
            if not any(self._changes(part, unsaved) for part in (copies, fixable)):
                break
            findings = check({**unsaved, **self.edited})
        return findings

    def _changes(self, findings: Sequence[Diagnostic], unsaved: dict[str, bytes]) -> bool:
        """Carry out the fixes of findings, in every file; whether a file changed."""
        fixes = [d.fix for d in findings if d.fix is not None]
        changed = [name for name in files_of(fixes) if self._round(name, fixes, unsaved)]
        return bool(changed)

    def _is_accepted(self, fix: Fix) -> bool:
        return (fix.is_safe or self.is_unsafe) and fix not in self._refused

    def _round(self, name: str, fixes: Sequence[Fix], unsaved: dict[str, bytes]) -> bool:
        """Fix one text; whether it changed."""
        content = self.after.get(name)
        if content is None:
            content = self._read(name, unsaved)
        if content is None:
            return False
        source = SourceText(content, name)
        mine = [fix for fix in fixes if any(edit.file == name for edit in fix.edits)]
        fixed = applied(source, mine)
        broken = _mistakes(source)
        if len(fixed.fixes) > 1 and _mistakes(SourceText(fixed.content, name)) - broken:
            fixed = applied(source, fixed.fixes[:1])
        if _mistakes(SourceText(fixed.content, name)) - broken:
            self._refused.update(fixed.fixes)
            return True
        if not fixed.fixes or fixed.content == source.content:
            self._refused.update(mine)
            return False
        self.after[name] = fixed.content
        self.done += fixed.fixes
        return True

    def _read(self, name: str, unsaved: dict[str, bytes]) -> str | None:
        content = unsaved.get(os.path.abspath(name))
        try:
            text = (read_file(name) if content is None else content).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            return None
        self.before[name] = text
        return text.removeprefix(_MARK)

    @property
    def edited(self) -> dict[str, bytes]:
        """The contents of the changed files, by absolute path."""
        return {os.path.abspath(name): self.text(name).encode() for name in self.after}

    def text(self, name: str) -> str:
        """Return a changed text with the byte order mark that it had."""
        mark = _MARK if self.before[name].startswith(_MARK) else ""
        return mark + self.after[name]

    def write(self, report: Report) -> None:
        """Write the changed files, each whole or not at all; what is not written is not done."""
        self.written = [n for n in self.after if rewrite(n, self.before[n], self.text(n), report)]
        self.done = [fix for fix in self.done if any(edit.file in self.written for edit in fix.edits)]

    def left(self, findings: Sequence[Diagnostic]) -> Counter[bool]:
        """Count the fixes that are left: those that are safe, and those that are not."""
        return Counter(d.fix.is_safe for d in findings if d.fix is not None)


def rewrite(name: str, before: str, after: str, report: Report) -> bool:
    """Put a text in place of a file, if that is still what it was; False after saying why it was not written."""
    try:
        if read_file(name) != before.encode():
            message = f"{name} was changed by another program in the meantime; nothing was written"
            report.add(WRITE_FAILED, message, file=name)
            return False
        replace_file(Path(name), after.encode())
    except OSError as error:
        report.add(WRITE_FAILED, f"cannot write {name}: {reason_of(error)}", file=name)
        return False
    return True


def _mistakes(source: SourceText) -> Counter[str]:
    """Count what is wrong with a text as YAML, by code."""
    report = Report()
    parse(source, report)
    return Counter(d.code for d in report.diagnostics)
