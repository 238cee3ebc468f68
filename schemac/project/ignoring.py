"""Findings that comments in manifests ignore, and comments that ignore nothing.

Layer: project.
Shape: a comment counts in the text in which the finding is, which may be that of a group. Whether a comment in a text with groups
alone is of use, only the manifests that use them could tell, so nothing is said of it.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from schemac.project.configuration import Project
from schemac.project.imported import FolderFiles, Imported
from schemac.source.catalogue import CATALOGUE, REFERENCE_TO_NO_KEY, UNUSED_GROUP
from schemac.source.diagnostic import Diagnostic, Severity
from schemac.source.files import Contents
from schemac.source.report import Report
from schemac.source.text import SourceText, decode_text

if TYPE_CHECKING:
    # For start-up time: hardly any manifest has such comments.
    from schemac.lint.ignores import Ignores

_MARK = "schemac:"


class Ignoring:
    """The comments of one manifest and of what it imports."""

    def __init__(
        self,
        source: SourceText,
        project: Project,
        files: FolderFiles,
        imported: Imported,
        contents: Contents,
        *,
        has_rules: bool = False,
    ) -> None:
        self._project = project
        self._has_rules = has_rules
        """Whether rules are looked at, also those of the project's own."""
        texts = [source]
        for path, _ in imported.files:
            content = contents.of(files, path)
            text = None if isinstance(content, OSError) else decode_text(content, files.name(path), Report())
            texts += [text] if text is not None else []
        self._ignores = [
            _ignores(text, self._project, has_rules=self._has_rules)
            for text in texts
            if _MARK in text.content
        ]
        self._manifest_ignores = self._ignores[0] if self._ignores and _MARK in source.content else None

    def not_ignored(self, findings: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return the findings that no comment ignores."""
        remaining = list(findings)
        for ignores in self._ignores:
            remaining = ignores.kept(remaining)
        return remaining

    def of_comments(self, path: str, findings: Iterable[Diagnostic], *, has_schema: bool) -> list[Diagnostic]:
        """Return what there is to say of the manifest's own comments, after all findings went through `kept`."""
        if self._manifest_ignores is None:
            return []
        selection = self._project.selection
        rules = selection.rules_for(path)
        wrong = list(self._manifest_ignores.report.diagnostics)
        # A mistake may hide what a comment is for.
        if has_schema and not any(d.severity is Severity.ERROR for d in findings):
            looked_for = {rule.code.id for rule in rules}
            wrong += self._manifest_ignores.unused(looked_for | _OF_CHECKS)
        severities = {rule.code.id: selection.severity(rule) for rule in rules}
        return [
            replace(d, severity=severities[d.code] or d.severity, excerpt=d.excerpt, fix=d.fix)
            for d in wrong
            if d.code in severities
        ]


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
        remaining = _ignores(source, project).kept(remaining) if source is not None else remaining
    return remaining


def _ignores(source: SourceText, project: Project, *, has_rules: bool = False) -> "Ignores":
    from schemac.lint.ignores import Ignores  # for start-up time, as above
    from schemac.registry.codes import codes

    selection = project.selection if has_rules else project.known_rules
    of_rules = {rule.code.id: rule.code for rule in selection.rules}
    return Ignores(source, {**codes(), **of_rules})


_MARKED = _MARK.encode()
_OF_CHECKS = frozenset(
    code.id
    for code in CATALOGUE.values()
    if code.id.startswith(("SC2", "SC3")) and code.severity is not Severity.ERROR
) - {UNUSED_GROUP.id, REFERENCE_TO_NO_KEY.id}
"""Codes that every check of one manifest looks for; the others need all of them."""
