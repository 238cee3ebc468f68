"""Another name for what is under the cursor, in its manifest, its lock and wherever else it is named.

Layer: lsp.
Shape: edits that the editor shows before they are made; of a field, they are what `schemac rename` would write. Unsaved texts are
renamed as they are in the editor. The project is checked with the edited texts before anybody sees them: it may have no new errors,
and the fields of all datasets have to be what they were.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from lsprotocol import types

from schemac.language.attributes.registry import domain_of
from schemac.language.logical.model import quoted
from schemac.lsp.findings import uri_of
from schemac.lsp.grammar import Context
from schemac.lsp.locations import (
    DatasetTarget,
    FieldTarget,
    FileTarget,
    GroupTarget,
    NamedTarget,
    ParameterTarget,
    VocabularyTarget,
)
from schemac.lsp.navigation import Navigator
from schemac.lsp.occurrences import Occurrence, datasets_of, field_edits, occurrences_of
from schemac.lsp.outline import word_at
from schemac.lsp.projects import Checked, ProjectFolder, ProjectTexts, key_of
from schemac.lsp.texts import Lines, line_edits
from schemac.project.locking import open_lock
from schemac.project.manifests import CompiledFile
from schemac.project.name_edits import Edit, NoEditError, Renamed, Rewriting, Surroundings, edited, fields_of
from schemac.project.renaming import planned_rename
from schemac.text.source.diagnostic import Diagnostic, Severity
from schemac.text.source.report import Report
from schemac.text.source.span import Region
from schemac.versions.identity.lock import Lock
from schemac.versions.identity.lockfile import write_lock


class RefusedRenameError(Exception):
    """Why something cannot be renamed, for the person at the editor."""


def refusal(diagnostics: Iterable[Diagnostic]) -> str:
    """Return the message of the first error, with its help."""
    errors = [one for one in diagnostics if one.severity is Severity.ERROR]
    return " ".join(f"{one.message}. {one.help}".rstrip(". ") + "." for one in errors[:1])


def renamed_texts(
    target: NamedTarget, old: str, new: str, texts: ProjectTexts, folder: ProjectFolder
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts and the locks with another name, by absolute path. Raises RefusedRenameError."""
    new = _checked_name(target, old, new)
    if new == old:
        return {}, {}
    occurrences = occurrences_of(target, texts)
    _check_definition(target, occurrences)
    locks = _locks(target, new, texts) if isinstance(target, DatasetTarget) else {}
    afters = {
        path: _edited([one for one in occurrences if one.path == path], new)
        for path in dict.fromkeys(one.path for one in occurrences)
    }
    keys = {old: new} if isinstance(target, VocabularyTarget) else {}
    _compare(texts.checked, _tried(target, afters, texts, folder), keys)
    return afters, locks


def _edited(occurrences: Sequence[Occurrence], new: str) -> str:
    edits = [Edit(one.span, one.text(new)) for one in occurrences]
    return edited(occurrences[0].source.content, list(dict.fromkeys(edits)))


def _checked_name(target: NamedTarget, old: str, new: str) -> str:
    """Return the new name. Raises RefusedRenameError if it is not allowed."""
    new = new.strip()
    if not new.isprintable() or not new:
        raise RefusedRenameError("A name needs at least one letter, and no line breaks.")
    if isinstance(target, ParameterTarget) and re.search(r"[()$\s\"'\\]", new):
        raise RefusedRenameError(f"`{new}` cannot be written as `$(…)`. Use letters, digits and underscores.")
    if isinstance(target, VocabularyTarget):
        domain = domain_of(old)
        name = new.removeprefix(f"{domain}/")
        if not name or "/" in name:
            raise RefusedRenameError(
                f"An attribute cannot be moved to another domain here. Write `{domain}/` and a name."
            )
        return f"{domain}/{name}"
    return new


def _check_definition(target: NamedTarget, occurrences: Sequence[Occurrence]) -> None:
    defined = [one for one in occurrences if one.is_definition]
    if len(defined) == 1:
        return
    if isinstance(target, DatasetTarget):
        if defined:
            raise RefusedRenameError(f"There are {len(defined)} datasets called {target.name}.")
        raise RefusedRenameError(
            f"{target.name} is named after its file. Write `name: {target.name}` in its manifest, then rename it."
        )
    if isinstance(target, VocabularyTarget):
        raise RefusedRenameError(f"The vocabulary has no property `{target.key.partition('/')[2]}`.")
    raise RefusedRenameError(f"It cannot be found where {target.name} is defined.")


def _locks(target: DatasetTarget, new: str, texts: ProjectTexts) -> dict[str, str]:
    """Return the lock of a dataset with its new name; its versions and ids stay."""
    ((file, _),) = datasets_of(target.name, texts)
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


def _tried(
    target: NamedTarget,
    afters: Mapping[str, str],
    texts: ProjectTexts,
    folder: ProjectFolder,
) -> Checked:
    """Return the project with the edited texts."""
    before = texts.checked
    edited_contents = {path: text.encode("utf-8", "surrogatepass") for path, text in afters.items()}
    project = before.project
    if isinstance(target, VocabularyTarget):
        domain = domain_of(target.key)
        path = key_of(project.folder / project.configuration.vocabularies[domain])
        contents = {**project.vocabulary_contents, domain: edited_contents.pop(path)}
        project = replace(project, vocabulary_contents=contents)
    return folder.tried({**before.buffers, **edited_contents}, project)


def _compare(before: Checked, after: Checked, renamed: Mapping[str, str]) -> None:
    """Raise RefusedRenameError if there is a new error, or a dataset has other fields."""
    check_findings(before, after)
    fields = {file.file.path: file.datasets for file in after.files}
    for file in before.files:
        for old, new in zip(file.datasets, fields.get(file.file.path, ()), strict=False):
            if _renamed(fields_of(old), renamed) != fields_of(new):
                raise RefusedRenameError(
                    f"The fields of {old.name} would not stay the same: the name is also written in another form."
                    " Rename it by hand."
                )


def check_findings(before: Checked, after: Checked) -> None:
    """Raise RefusedRenameError if there is a new error."""
    former = {(one.code, one.message): one for one in _errors(before)}
    now = {(one.code, one.message): one for one in _errors(after)}
    # An error that was there before may have the name in its message.
    gone = Counter(code for code, _ in former.keys() - now.keys())
    for key, one in now.items():
        if key not in former:
            gone[one.code] -= 1
            if gone[one.code] < 0:
                raise RefusedRenameError(f"With this name there would be an error: {one.message}.")


def _errors(checked: Checked) -> list[Diagnostic]:
    diagnostics = [one for every in checked.findings.values() for one in every]
    return [one for one in diagnostics if one.severity is Severity.ERROR]


def _renamed(value: Any, renamed: Mapping[str, str]) -> Any:
    """Return fields as plain values, with other names for some attributes."""
    if isinstance(value, dict):
        return {renamed.get(key, key): _renamed(item, renamed) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, renamed) for item in value]
    return value


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
    for one in occurrences_of(target, navigator.texts):
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
