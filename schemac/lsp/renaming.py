"""Another name for what is under the cursor, in its manifest, its lock and wherever else it is named.

Layer: lsp.
Shape: edits that the editor shows before they are made; of a field, they are what `schemac rename` would write. Unsaved texts are
renamed as they are in the editor.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from lsprotocol import types

from schemac.language.logical.model import quoted
from schemac.lsp.cursor import word_at
from schemac.lsp.grammar import GrammarContext
from schemac.lsp.locations import FileTarget
from schemac.lsp.navigation import Navigator, site_of
from schemac.lsp.texts import TextLines, line_edits, uri_of
from schemac.project.occurrences import occurrences_of
from schemac.project.project_texts import FieldTarget, NamedTarget, key_of
from schemac.project.renaming import rename
from schemac.text.source.diagnostics import Region, Report
from schemac.versions.identity.lockfile import write_lock


class RefusedRenameError(Exception):
    """Why something cannot be renamed, for the person at the editor."""


OF_TEXTS = "manifests"
OF_LOCKS = "locks"
ANNOTATIONS = {
    OF_TEXTS: types.ChangeAnnotation("Manifests", description="the name, and wherever else it is written"),
    OF_LOCKS: types.ChangeAnnotation(
        "Locks", needs_confirmation=True, description="under the new name, every field keeps its id"
    ),
}
"""What an editor groups the edits by in its preview."""


class Renamable(NamedTuple):
    """What can be renamed at a cursor, and where its name is there."""

    target: FieldTarget | NamedTarget
    name: str
    region: Region
    navigator: Navigator


def renamable(path: str, context: GrammarContext, navigator: Navigator) -> Renamable | None:
    """Return what can be renamed at a cursor in a text, by its absolute path; None if there is no such name."""
    target = navigator.target(path, context)
    line, column = context.cursor.place
    if target is None or isinstance(target, FileTarget):
        return None
    if isinstance(target, FieldTarget):
        if context.cursor.path[-1:] != ("name",) or context.cursor.key:
            return None
        word = word_at(context.lines[line], column)
        name = str(target.dataset_field.field.segment)
        region = Region.within(line + 1, word.start + 1, word.end + 1)
        return Renamable(target, name, region, navigator) if word.start < word.end else None
    for one in occurrences_of(target, "", navigator.texts):
        region = site_of(one).region
        # At its end and on its quotes, too.
        start, end = (region.line, region.column - 1), (region.end_line, region.end_column + 1)
        if one.path == path and start <= (line + 1, column + 1) <= end:
            return Renamable(target, target.name, region, navigator)
    return None


class RenameEdits(NamedTuple):
    """The edits of texts and those of locks, by absolute path."""

    texts: dict[str, list[types.TextEdit]]
    locks: dict[str, list[types.TextEdit]]

    def workspace_edit(
        self, versions: Mapping[str, int], *, is_versioned: bool, has_annotations: bool
    ) -> types.WorkspaceEdit:
        """Return them for the editor; `versions` are those of the texts that it holds."""
        if not is_versioned:
            every = {**self.texts, **self.locks}
            return types.WorkspaceEdit({uri_of(path): edits for path, edits in every.items()})
        changes = [
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri_of(path), versions.get(path)),
                [
                    types.AnnotatedTextEdit(group, edit.range, edit.new_text) if has_annotations else edit
                    for edit in edits
                ],
            )
            for group, by_path in ((OF_TEXTS, self.texts), (OF_LOCKS, self.locks))
            for path, edits in by_path.items()
        ]
        return types.WorkspaceEdit(
            document_changes=changes, change_annotations=dict(ANNOTATIONS) if has_annotations else None
        )


def rename_edits(renamable: Renamable, new: str, lines_of: Callable[[str], TextLines]) -> RenameEdits:
    """Return what a renaming changes; `lines_of` gives texts by absolute path. Raises RefusedRenameError."""
    target, report = renamable.target, Report()
    if new == renamable.name:
        # Of a field, the present name alone would mean a move.
        return RenameEdits({}, {})
    new = quoted(new) if isinstance(target, FieldTarget) else new
    rewriting = rename(target, new, renamable.navigator.texts, report)
    if rewriting is None:
        first = report.errors[0]
        raise RefusedRenameError(f"{first.message}. {first.help}".rstrip(". ") + ".")
    texts = {key_of(text.path): text.after for text in rewriting.texts}
    locks = {key_of(one.path): write_lock(one.lock) for one in rewriting.locks}
    return RenameEdits(
        *[
            {path: edits for path, after in afters.items() if (edits := line_edits(lines_of(path), after))}
            for afters in (texts, locks)
        ]
    )
