"""Texts of an editor, and findings in the form of the protocol.

Layer: lsp.
Units: positions of the protocol are zero-based, in UTF-16 code units unless the client asked for others; those of the compiler are
one-based, in code points. This is the only module that converts between them.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import from_fs_path
from pygls.workspace import PositionCodec, TextDocument, Workspace

from schemac.registry.codes import codes, page_file
from schemac.text.source.diagnostics import Diagnostic, Edit, Label, Region, Severity

_LINE = re.compile("[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


def split_lines(text: str) -> list[str]:
    """Return the lines of a text without their ends, as the protocol counts them; there is always one."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


class EditedText(TextDocument):
    """The text of an editor's buffer. Its lines end where those of the protocol do, and nowhere else."""

    @property
    def lines(self) -> Sequence[str]:
        """The lines with their ends."""
        return split_with_ends(self.source)


class EditedWorkspace(Workspace):
    """The open texts, with the lines of the protocol."""

    def update_text_document(
        self, text_doc: types.VersionedTextDocumentIdentifier, change: types.TextDocumentContentChangeEvent
    ) -> None:
        """Apply an edit; one of a text that is not open is ignored, because the rest of that text is unknown."""
        if unquote(text_doc.uri) in self._text_documents:
            super().update_text_document(text_doc, change)

    def _create_text_document(self, *arguments: Any, **named: Any) -> TextDocument:
        """Return the text of a buffer, for pygls, which gives the arguments."""
        named |= {"sync_kind": self._sync_kind, "position_codec": self._position_codec}
        return EditedText(*arguments, **named)


def split_with_ends(text: str) -> Sequence[str]:
    """Return the lines of a text with their ends; Python takes more signs for the end of a line than the protocol."""
    return _LINE.findall(text)


class TextLines:
    """A text as lines, with positions of both sorts."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self.source = text
        """The whole text; `text` is without its byte order mark."""
        self.text = text.removeprefix("\ufeff")
        self._codec = codec
        self._mark = len(text) - len(self.text)

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return split_lines(self.text)

    def place(self, position: types.Position) -> tuple[int, int]:
        """Return a position of the protocol as a line and a column, both zero-based and inside of the text."""
        line = min(position.line, len(self.lines) - 1)
        if position.line > line:
            return line, len(self.lines[line])
        text = self.lines[line]
        units = position.character - (self._mark if line == 0 else 0)
        if text.isascii():
            return line, max(0, min(units, len(text)))
        for column, character in enumerate(text):
            if units <= 0:
                return line, column
            units -= self._codec.client_num_units(character)
        return line, len(text)

    def position(self, line: int, column: int) -> types.Position:
        """Return the position of a zero-based line and column."""
        if line >= len(self.lines):
            return types.Position(len(self.lines), 0)
        text = self.lines[line][:column]
        units = len(text) if text.isascii() else self._codec.client_num_units(text)
        return types.Position(line, units + (self._mark if line == 0 else 0))

    def range(self, region: Region | Diagnostic | Label | Edit) -> types.Range:
        """Return the range of a region of the compiler; that of a file as a whole is its first line."""
        if region.line == 0:
            return types.Range(self.position(0, 0), self.position(0, len(self.lines[0])))
        start = self.position(region.line - 1, region.column - 1)
        end = self.position(region.end_line - 1, region.end_column - 1)
        return types.Range(start, max(start, end))


def line_edits(before: TextLines, after: str) -> list[types.TextEdit]:
    """Return the edits that make another text of this one, as few lines as can be seen to differ."""
    from difflib import SequenceMatcher  # for start-up time: only where a lock changes

    old, new = split_with_ends(before.text), split_with_ends(after)
    edits: list[types.TextEdit] = []
    for word, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if word != "equal":
            place = types.Range(before.position(i, 0), before.position(j, 0))
            if j == len(old) and old and not old[-1].endswith(("\n", "\r")):
                place.end = before.position(len(before.lines) - 1, len(before.lines[-1]))
            edits.append(types.TextEdit(place, "".join(new[k:m])))
    return edits


# Findings

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}

LinesOf = Callable[[str], TextLines]
"""Returns the text of a file by the name that findings have for it."""
PathOf = Callable[[str], str]
"""Returns the absolute path of such a file."""


def to_lsp_diagnostic(diagnostic: Diagnostic, lines_of: LinesOf, path_of: PathOf) -> types.Diagnostic:
    """Return a finding for the editor; the way out is below the message, and other places are links."""
    link = page_link(diagnostic.code)
    # Editors show faded what can be left out.
    is_unused = diagnostic.slug.startswith("unused")
    related = []
    for label in diagnostic.labels:
        place = types.Location(uri_of(path_of(label.file)), lines_of(label.file).range(label))
        related.append(types.DiagnosticRelatedInformation(place, label.message))
    return types.Diagnostic(
        lines_of(diagnostic.file).range(diagnostic),
        diagnostic.message_with_help,
        _SEVERITIES[diagnostic.severity],
        diagnostic.code,
        types.CodeDescription(link) if link is not None else None,
        "schemac",
        [types.DiagnosticTag.Unnecessary] if is_unused else None,
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
    findings: Sequence[tuple[Diagnostic, types.Diagnostic]], lines_of: LinesOf, path_of: PathOf
) -> list[types.CodeAction]:
    """Return what can be done about findings: carry out the way out that each has, and read about it."""
    code_actions: list[types.CodeAction] = []
    for diagnostic, lsp_diagnostic in findings:
        fix = diagnostic.fix
        if fix is not None:
            changes: dict[str, list[types.TextEdit]] = {}
            for edit in fix.edits:
                edits = changes.setdefault(uri_of(path_of(edit.file)), [])
                edits.append(types.TextEdit(lines_of(edit.file).range(edit), edit.text))
            title = fix.title if fix.is_safe else f"{fix.title} (changes what the manifest means)"
            action = types.CodeAction(title[0].upper() + title[1:], types.CodeActionKind.QuickFix)
            action.diagnostics, action.is_preferred = [lsp_diagnostic], fix.is_safe
            action.edit = types.WorkspaceEdit(changes)
            code_actions.append(action)
    first: dict[str, tuple[Diagnostic, types.Diagnostic]] = {}
    for diagnostic, lsp_diagnostic in findings:
        first.setdefault(diagnostic.code, (diagnostic, lsp_diagnostic))
    for code, (diagnostic, lsp_diagnostic) in first.items():
        title = f"Explain {code} {diagnostic.slug}"
        command = types.Command(f"Explain {code}", EXPLAIN, arguments=[code])
        kind = types.CodeActionKind.Empty
        code_actions.append(types.CodeAction(title, kind, [lsp_diagnostic], command=command))
    return code_actions


EXPLAIN = "schemac.explain"
"""The command that opens the page of a code."""
