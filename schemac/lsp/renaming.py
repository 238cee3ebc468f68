"""Another name for the field under the cursor, in its manifest, its lock and wherever else it is named.

Layer: lsp.
Shape: what `schemac rename` would write, as edits that the editor shows before they are made. An unsaved manifest is renamed as it
stands in the editor.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from lsprotocol import types

from schemac.identity.lockfile import write_lock
from schemac.logical.path import quoted
from schemac.lsp.context import Context
from schemac.lsp.findings import uri_of
from schemac.lsp.navigation import FieldTarget
from schemac.lsp.outline import Word, word_at
from schemac.lsp.projects import Checked, key_of
from schemac.lsp.texts import Lines, line_edits
from schemac.project.manifests import CompiledFile
from schemac.project.name_edits import Renamed
from schemac.project.renaming import planned_rename
from schemac.project.rewriting import Rewriting, Surroundings
from schemac.source.diagnostic import Severity
from schemac.source.report import Report

OF_MANIFESTS = "manifests"
OF_LOCKS = "locks"
ANNOTATIONS = {
    OF_MANIFESTS: types.ChangeAnnotation("Manifests", description="the name, and what names the field"),
    OF_LOCKS: types.ChangeAnnotation(
        "Locks", needs_confirmation=True, description="the next version, in which the field keeps its id"
    ),
}
"""What an editor groups the edits by in its preview."""


class RefusedRenameError(Exception):
    """Why a field cannot be renamed, for the person at the editor."""


def renamed_word(context: Context) -> Word | None:
    """Return the name at the cursor; None where there is none."""
    cursor = context.cursor
    if cursor.path[-1:] != ("name",) or cursor.key:
        return None
    line = context.lines[cursor.place.line]
    word = word_at(line, cursor.place.column)
    return word if word.start < word.end else None


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
                [_annotated(edit, group) if has_annotations else edit for edit in edits],
            )
            for group, by_path in ((OF_MANIFESTS, self.texts), (OF_LOCKS, self.locks))
            for path, edits in by_path.items()
        ]
        return types.WorkspaceEdit(
            document_changes=changes, change_annotations=dict(ANNOTATIONS) if has_annotations else None
        )


def rename_edits(
    target: FieldTarget, new: str, checked: Checked, lines_of: Callable[[str], Lines]
) -> RenameEdits:
    """Return what a renaming changes; `lines_of` gives texts by absolute path. Raises RefusedRenameError."""
    rewriting = _planned(target, new, checked)
    texts = {key_of(text.path): text.after for text in rewriting.texts}
    locks = {key_of(one.file.path): write_lock(one.lock) for one in rewriting.locks}
    return RenameEdits(
        *[
            {path: edits for path, after in afters.items() if (edits := line_edits(lines_of(path), after))}
            for afters in (texts, locks)
        ]
    )


def _planned(target: FieldTarget, new: str, checked: Checked) -> Rewriting:
    found = target.found
    report = Report()

    def manifests(_: Report) -> list[CompiledFile]:
        return list(checked.files)

    around = Surroundings(checked.buffers, manifests)
    if new == found.slot.segment:
        # Alone, the present name would mean a move.
        return Rewriting(Renamed(found.file.file.name, found.slot.path_text, None), (), ())
    rewriting = planned_rename(
        found.file, found.dataset, found.slot.path_text, quoted(new), checked.project, report, around
    )
    if rewriting is None:
        errors = [d for d in report.diagnostics if d.severity is Severity.ERROR]
        raise RefusedRenameError(" ".join(f"{d.message}. {d.help}".rstrip(". ") + "." for d in errors[:1]))
    return rewriting


def _annotated(edit: types.TextEdit, group: str) -> types.AnnotatedTextEdit:
    return types.AnnotatedTextEdit(group, edit.range, edit.new_text)
