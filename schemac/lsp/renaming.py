"""Another name for what is under the cursor, in its manifest, its lock and wherever else it is named.

Layer: lsp.
Shape: edits that the editor shows before they are made; of a field, they are what `schemac rename` would write. Unsaved texts are
renamed as they are in the editor.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from lsprotocol import types

from schemac.identity.lockfile import write_lock
from schemac.logical.path import quoted
from schemac.lsp.context import Context
from schemac.lsp.findings import uri_of
from schemac.lsp.mentions import field_edits, mentions
from schemac.lsp.name_renaming import RefusedRenameError, check_findings, refusal, renamed_texts
from schemac.lsp.navigation import Navigator
from schemac.lsp.outline import word_at
from schemac.lsp.project_texts import ProjectTexts
from schemac.lsp.projects import Checked, ProjectFolder, key_of
from schemac.lsp.targets import (
    DatasetTarget,
    FieldTarget,
    FileTarget,
    GroupTarget,
    NamedTarget,
    ParameterTarget,
    VocabularyTarget,
)
from schemac.lsp.texts import Lines, line_edits
from schemac.project.manifests import CompiledFile
from schemac.project.name_edits import NoEditError, Renamed
from schemac.project.renaming import planned_rename
from schemac.project.rewriting import Rewriting, Surroundings
from schemac.source.report import Report
from schemac.source.span import Region

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


def renamable(path: str, context: Context, navigator: Navigator) -> Renamable | None:
    """Return what can be renamed at a cursor in a text, by its absolute path; None if there is no such name."""
    target = navigator.target(path, context)
    line, column = context.cursor.place
    if target is None or isinstance(target, FileTarget):
        return None
    if isinstance(target, FieldTarget):
        if context.cursor.path[-1:] != ("name",) or context.cursor.key:
            return None
        word = word_at(context.lines[line], column)
        name, region = (
            str(target.dataset_field.field.segment),
            Region.within(line + 1, word.start + 1, word.end + 1),
        )
        return Renamable(target, name, region, navigator) if word.start < word.end else None
    for one in mentions(target, navigator.texts):
        region = one.site.region
        if one.path == path and _covers(region, line + 1, column + 1):
            return Renamable(target, name_of(target), region, navigator)
    return None


def _covers(region: Region, line: int, column: int) -> bool:
    """Whether a place is in a region, or at its end; quotes around it count."""
    start, end = (region.line, region.column - 1), (region.end_line, region.end_column + 1)
    return start <= (line, column) <= end


def name_of(target: NamedTarget) -> str:
    """Return what something is called."""
    match target:
        case VocabularyTarget():
            return target.key
        case GroupTarget() | ParameterTarget() | DatasetTarget():
            return target.name


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
            for group, by_path in ((OF_TEXTS, self.texts), (OF_LOCKS, self.locks))
            for path, edits in by_path.items()
        ]
        return types.WorkspaceEdit(
            document_changes=changes, change_annotations=dict(ANNOTATIONS) if has_annotations else None
        )


def rename_edits(
    renamable: Renamable, new: str, folder: ProjectFolder, lines_of: Callable[[str], Lines]
) -> RenameEdits:
    """Return what a renaming changes; `lines_of` gives texts by absolute path. Raises RefusedRenameError."""
    checked = renamable.navigator.checked
    if isinstance(renamable.target, FieldTarget):
        rewriting = _planned(renamable.target, new, checked)
        texts = {key_of(text.path): text.after for text in rewriting.texts}
        locks = {key_of(one.file.path): write_lock(one.lock) for one in rewriting.locks}
    else:
        texts, locks = renamed_texts(renamable.target, renamable.name, new, renamable.navigator.texts, folder)
    edits = RenameEdits(
        *[
            {path: edits for path, after in afters.items() if (edits := line_edits(lines_of(path), after))}
            for afters in (texts, locks)
        ]
    )
    if isinstance(renamable.target, FieldTarget) and edits.texts:
        _add_others(renamable.target, new, renamable.navigator.texts, edits, lines_of)
        contents = {
            path: lines_of(path).edited(text_edits).encode("utf-8", "surrogatepass")
            for path, text_edits in edits.texts.items()
        }
        check_findings(checked, folder.tried({**checked.buffers, **contents}, checked.project))
    return edits


def _add_others(
    target: FieldTarget, new: str, texts: ProjectTexts, edits: RenameEdits, lines_of: Callable[[str], Lines]
) -> None:
    """Add the edits of what other texts call a field; a line that changes anyway is left to the author. Raises RefusedRenameError."""
    try:
        other_edits = list(field_edits(target, new, texts))
    except NoEditError as error:
        raise RefusedRenameError(f"It cannot be renamed: {error}.") from error
    before = {path: list(text_edits) for path, text_edits in edits.texts.items()}
    for path, edit, source in dict.fromkeys((one.path, one.edit, one.source) for one in other_edits):
        range_ = lines_of(path).range(source.region(edit.span))
        if not any(_is_on_line(range_.start.line, other.range) for other in before.get(path, ())):
            edits.texts.setdefault(path, []).append(types.TextEdit(range_, edit.text))


def _is_on_line(line: int, range_: types.Range) -> bool:
    """Whether a line is one of those that are in a range."""
    last = range_.end.line - 1 if range_.end.character == 0 < range_.end.line else range_.end.line
    return range_.start.line <= line <= max(last, range_.start.line)


def _planned(target: FieldTarget, new: str, checked: Checked) -> Rewriting:
    dataset_field = target.dataset_field
    report = Report()

    def manifests(_: Report) -> list[CompiledFile]:
        return list(checked.files)

    around = Surroundings(checked.buffers, manifests)
    if new == dataset_field.field.segment:
        # Alone, the present name would mean a move.
        return Rewriting(Renamed(dataset_field.file.file.name, dataset_field.field.path_text, None), (), ())
    rewriting = planned_rename(
        dataset_field.file,
        dataset_field.dataset,
        dataset_field.field.path_text,
        quoted(new),
        checked.project,
        report,
        around,
    )
    if rewriting is None:
        raise RefusedRenameError(refusal(report.diagnostics))
    return rewriting


def _annotated(edit: types.TextEdit, group: str) -> types.AnnotatedTextEdit:
    return types.AnnotatedTextEdit(group, edit.range, edit.new_text)
