"""Another name for what is under the cursor, in its manifest, its lock and wherever else it is named.

Layer: lsp.
Shape: edits that the editor shows before they are made; of a field, they are what `schemac rename` would write. Unsaved texts are
renamed as they are in the editor. The project is checked with the edited texts before anybody sees them: it may have no new errors,
and the fields of all datasets have to be what they were.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from lsprotocol import types

from schemac.language.attributes.registry import domain_of
from schemac.language.logical.model import quoted
from schemac.lsp.cursor import word_at
from schemac.lsp.grammar import GrammarContext
from schemac.lsp.locations import (
    DatasetTarget,
    FieldTarget,
    FileTarget,
    NamedTarget,
    ParameterTarget,
    VocabularyTarget,
    datasets_called,
)
from schemac.lsp.navigation import Navigator
from schemac.lsp.occurrences import field_edits, occurrences_of
from schemac.lsp.projects import CheckedProject, ProjectFolder, ProjectTexts, key_of
from schemac.lsp.texts import TextLines, line_edits, uri_of
from schemac.project.locking import open_lock
from schemac.project.name_edits import NameEdit, NoEditError, Surroundings, edited, fields_of
from schemac.project.renaming import planned_rename
from schemac.text.source.json_object import Json, rewritten
from schemac.text.source.report import Diagnostic, Region, Report, SourceText
from schemac.versions.identity.lock import Lock
from schemac.versions.identity.lockfile import write_lock


class RefusedRenameError(Exception):
    """Why something cannot be renamed, for the person at the editor."""


def refusal(diagnostics: Iterable[Diagnostic]) -> str:
    """Return the message of the first error, with its help."""
    errors = [one for one in diagnostics if one.is_error]
    return " ".join(f"{one.message}. {one.help}".rstrip(". ") + "." for one in errors[:1])


def renamed_texts(
    target: NamedTarget, new: str, texts: ProjectTexts, folder: ProjectFolder
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts and the locks with another name, by absolute path. Raises RefusedRenameError."""
    new = _checked_name(target, new)
    if new == target.name:
        return {}, {}
    occurrences = occurrences_of(target, texts)
    defined = [one for one in occurrences if one.is_definition]
    if len(defined) != 1:
        match target:
            case DatasetTarget() if defined:
                reason = f"There are {len(defined)} datasets called {target.name}."
            case DatasetTarget():
                reason = f"{target.name} is named after its file. Write `name: {target.name}` in its manifest, then rename it."
            case VocabularyTarget():
                reason = f"The vocabulary has no property `{target.name.partition('/')[2]}`."
            case _:
                reason = f"It cannot be found where {target.name} is defined."
        raise RefusedRenameError(reason)
    locks = _renamed_locks(target, new, texts) if isinstance(target, DatasetTarget) else {}
    edits: dict[str, dict[NameEdit, SourceText]] = {}
    for one in occurrences:
        edits.setdefault(one.path, {})[NameEdit(one.span, one.text(new))] = one.source
    afters = {
        path: edited(next(iter(by_edit.values())).content, list(by_edit)) for path, by_edit in edits.items()
    }
    keys = {target.name: new} if isinstance(target, VocabularyTarget) else {}
    before = texts.checked
    edited_contents = {path: text.encode("utf-8", "surrogatepass") for path, text in afters.items()}
    project = before.project
    if isinstance(target, VocabularyTarget):
        domain = domain_of(target.name)
        path = key_of(project.folder / project.configuration.vocabularies[domain])
        contents = {**project.vocabulary_contents, domain: edited_contents.pop(path)}
        project = replace(project, vocabulary_contents=contents)
    _refuse_changed_fields(texts.checked, folder.tried({**before.buffers, **edited_contents}, project), keys)
    return afters, locks


def _checked_name(target: NamedTarget, new: str) -> str:
    """Return the new name. Raises RefusedRenameError if it is not allowed."""
    new = new.strip()
    if not new.isprintable() or not new:
        raise RefusedRenameError("A name needs at least one letter, and no line breaks.")
    if isinstance(target, ParameterTarget) and re.search(r"[()$\s\"'\\]", new):
        raise RefusedRenameError(f"`{new}` cannot be written as `$(…)`. Use letters, digits and underscores.")
    if isinstance(target, VocabularyTarget):
        domain = domain_of(target.name)
        name = new.removeprefix(f"{domain}/")
        if not name or "/" in name:
            raise RefusedRenameError(
                f"An attribute cannot be moved to another domain here. Write `{domain}/` and a name."
            )
        return f"{domain}/{name}"
    return new


def _renamed_locks(target: DatasetTarget, new: str, texts: ProjectTexts) -> dict[str, str]:
    """Return the lock of a dataset with its new name; its versions and ids stay."""
    ((file, _),) = datasets_called(target.name, texts.checked)
    report = Report()
    lock_file = open_lock(file.file.path, file.file.name, report)
    if lock_file is None:
        raise RefusedRenameError(refusal(report.diagnostics))
    locked = lock_file.lock.dataset(target.name)
    if not lock_file.exists or locked.newest is None:
        return {}
    if lock_file.lock.dataset(new).newest is not None:
        raise RefusedRenameError(
            f"{lock_file.name} has the versions of a former dataset {new}. Use another name."
        )
    others = [one for one in lock_file.lock.datasets if one.name != target.name]
    datasets = sorted([*others, replace(locked, name=new)], key=lambda one: one.name)
    return {key_of(lock_file.path): write_lock(Lock(tuple(datasets)))}


def _refuse_changed_fields(before: CheckedProject, after: CheckedProject, renamed: Mapping[str, str]) -> None:
    """Raise RefusedRenameError if there is a new error, or a dataset has other fields."""

    def with_new_keys(object: Json) -> Json:
        return {renamed.get(key, key): item for key, item in object.items()}

    check_findings(before, after)
    fields = {file.file.path: file.datasets for file in after.files}
    for file in before.files:
        for old, new in zip(file.datasets, fields.get(file.file.path, ()), strict=False):
            if rewritten(fields_of(old), with_new_keys) != fields_of(new):
                raise RefusedRenameError(
                    f"The fields of {old.name} would not stay the same: the name is also written in another form."
                    " Rename it by hand."
                )


def check_findings(before: CheckedProject, after: CheckedProject) -> None:
    """Raise RefusedRenameError if there is a new error."""
    former = {(one.code, one.message): one for one in _errors(before)}
    now = {(one.code, one.message): one for one in _errors(after)}
    # An error that was there before may have the name in its message.
    gone = Counter(code for code, _ in former.keys() - now.keys())
    for key, one in now.items():
        if key not in former:
            gone[one.code] -= 1
            if gone[one.code] < 0:
                raise RefusedRenameError(f"This name would cause an error: {one.message}.")


def _errors(checked: CheckedProject) -> list[Diagnostic]:
    """Return the errors of all files, without warnings."""
    return [one for every in checked.findings.values() for one in every if one.is_error]


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
        name, region = (
            str(target.dataset_field.field.segment),
            Region.within(line + 1, word.start + 1, word.end + 1),
        )
        return Renamable(target, name, region, navigator) if word.start < word.end else None
    for one in occurrences_of(target, navigator.texts):
        region = one.site.region
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


def rename_edits(
    renamable: Renamable, new: str, folder: ProjectFolder, lines_of: Callable[[str], TextLines]
) -> RenameEdits:
    """Return what a renaming changes; `lines_of` gives texts by absolute path. Raises RefusedRenameError."""
    target, navigator = renamable.target, renamable.navigator
    checked = navigator.checked
    if isinstance(target, FieldTarget):
        file, dataset, field = target.dataset_field
        if new == field.segment:
            # Alone, the present name would mean a move.
            return RenameEdits({}, {})
        report, around = Report(), Surroundings(checked.buffers, checked.files)
        rewriting = planned_rename(
            file, dataset, field.path_text, quoted(new), checked.project, report, around
        )
        if rewriting is None:
            raise RefusedRenameError(refusal(report.diagnostics))
        texts = {key_of(text.path): text.after for text in rewriting.texts}
        locks = {key_of(one.file.path): write_lock(one.lock) for one in rewriting.locks}
    else:
        texts, locks = renamed_texts(target, new, navigator.texts, folder)
    edits = RenameEdits(
        *[
            {path: edits for path, after in afters.items() if (edits := line_edits(lines_of(path), after))}
            for afters in (texts, locks)
        ]
    )
    if isinstance(target, FieldTarget) and edits.texts:
        # What other texts call the field; a line that changes anyway is left to the author.
        try:
            other_edits = list(field_edits(target, new, navigator.texts))
        except NoEditError as error:
            raise RefusedRenameError(f"It cannot be renamed: {error}.") from error
        changed_lines: dict[str, set[int]] = {}
        for path, text_edits in edits.texts.items():
            for start, end in ((one.range.start, one.range.end) for one in text_edits):
                # An edit may end where the next line begins.
                lines = {start.line, *range(start.line, end.line + (end.character > 0))}
                changed_lines.setdefault(path, set()).update(lines)
        for path, source, edit in dict.fromkeys(other_edits):
            range_ = lines_of(path).range(source.region(edit.span))
            if range_.start.line not in changed_lines.get(path, ()):
                edits.texts.setdefault(path, []).append(types.TextEdit(range_, edit.text))
        contents = {
            path: lines_of(path).edited(text_edits).encode("utf-8", "surrogatepass")
            for path, text_edits in edits.texts.items()
        }
        check_findings(checked, folder.tried({**checked.buffers, **contents}, checked.project))
    return edits
