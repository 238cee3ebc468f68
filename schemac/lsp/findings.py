"""Findings and completion items in the form of the protocol.

Layer: lsp.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from lsprotocol import types
from pygls.uris import from_fs_path

from schemac.lsp.flow_cursor import is_plain
from schemac.lsp.texts import Lines
from schemac.registry.codes import codes, page_file
from schemac.text.source.diagnostic import Diagnostic, Severity
from schemac.text.source.span import Region

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
SOURCE = "schemac"
_UNUSED = ("unused",)
"""Slugs of what can be left out begin so; editors show it faded."""

LinesOf = Callable[[str], Lines]
"""Returns the text of a file by the name that findings have for it."""
PathOf = Callable[[str], str]
"""Returns the absolute path of such a file."""


def to_lsp_diagnostic(diagnostic: Diagnostic, lines_of: LinesOf, path_of: PathOf) -> types.Diagnostic:
    """Return a finding for the editor; the way out is below the message, and other places are links."""
    region = Region(diagnostic.line, diagnostic.column, diagnostic.end_line, diagnostic.end_column)
    message = diagnostic.message + (f"\nhelp: {diagnostic.help}" if diagnostic.help else "")
    link = page_link(diagnostic.code)
    related = []
    for label in diagnostic.labels:
        inner = lines_of(label.file).range(Region(label.line, label.column, label.end_line, label.end_column))
        place = types.Location(uri_of(path_of(label.file)), inner)
        related.append(types.DiagnosticRelatedInformation(place, label.message))
    return types.Diagnostic(
        lines_of(diagnostic.file).range(region),
        message,
        _SEVERITIES[diagnostic.severity],
        diagnostic.code,
        types.CodeDescription(link) if link is not None else None,
        SOURCE,
        [types.DiagnosticTag.Unnecessary] if diagnostic.slug.startswith(_UNUSED) else None,
        related or None,
    )


def uri_of(path: str) -> str:
    """Return the URI of a file."""
    return from_fs_path(path) or path


@cache
def page_link(code: str) -> str | None:
    """Return where the page of a code can be opened; None for a code without a file."""
    entry = codes().get(code)
    path = page_file(entry) if entry is not None else None
    return uri_of(str(path)) if path is not None else None


def actions(
    findings: Sequence[tuple[Diagnostic, types.Diagnostic]],
    lines_of: LinesOf,
    path_of: PathOf,
) -> list[types.CodeAction]:
    """Return what can be done about findings: carry out the way out that each has, and read about it."""
    code_actions: list[types.CodeAction] = []
    for diagnostic, lsp_diagnostic in findings:
        fix = diagnostic.fix
        if fix is not None:
            changes: dict[str, list[types.TextEdit]] = {}
            for edit in fix.edits:
                changes.setdefault(uri_of(path_of(edit.file)), []).append(lines_of(edit.file).edit(edit))
            title = fix.title if fix.is_safe else f"{fix.title} (changes what the manifest means)"
            code_actions.append(
                types.CodeAction(
                    title[0].upper() + title[1:],
                    types.CodeActionKind.QuickFix,
                    [lsp_diagnostic],
                    fix.is_safe,
                    edit=types.WorkspaceEdit(changes),
                )
            )
    seen: set[str] = set()
    for diagnostic, lsp_diagnostic in findings:
        if diagnostic.code not in seen:
            seen.add(diagnostic.code)
            code_actions.append(
                types.CodeAction(
                    f"Explain {diagnostic.code} {diagnostic.slug}",
                    types.CodeActionKind.Empty,
                    [lsp_diagnostic],
                    command=types.Command(f"Explain {diagnostic.code}", EXPLAIN, arguments=[diagnostic.code]),
                )
            )
    return code_actions


EXPLAIN = "schemac.explain"
"""The command that opens the page of a code."""


@dataclass(frozen=True)
class CompletionItem:
    """Something that can be written."""

    label: str
    text: str
    kind: types.CompletionItemKind
    detail: str = ""
    documentation: str = ""
    is_snippet: bool = False
    rank: int = 5
    """Sorts items; small ones come first."""
    filter: str = ""
    """What is typed to find it, where it is not the label."""


def plain(words: Iterable[str], kind: types.CompletionItemKind) -> Iterator[CompletionItem]:
    """Yield words that are values."""
    return (CompletionItem(word, yaml_text(word), kind, rank=2) for word in words)


def yaml_text(value: Any) -> str:
    """Return a value as a manifest writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and not is_plain(value):
        from schemac.language.manifest.write import scalar  # for start-up time: writing is rare

        return scalar(value)
    return str(value)


def named(words: Iterable[str], kind: types.CompletionItemKind) -> Iterator[CompletionItem]:
    """Yield words that are keys of a mapping."""
    return (CompletionItem(word, f"{yaml_text(word)}: ", kind, rank=2) for word in words)


def key_item(
    name: str,
    text: str = "",
    *,
    rank: int = 5,
    kind: types.CompletionItemKind = types.CompletionItemKind.Property,
    is_required: bool = False,
) -> CompletionItem:
    """Return a key with its description; one that is required comes first."""
    detail = "required" if is_required else ""
    return CompletionItem(name, f"{name}: ", kind, detail, text, rank=1 if is_required else rank)


@cache
def zones() -> tuple[str, ...]:
    """Return the names of time zones."""
    from zoneinfo import available_timezones  # for start-up time: few manifests name one

    return ("UTC", *sorted(available_timezones() - {"UTC"}))
