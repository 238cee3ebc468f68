"""Another name for a group, a parameter, a dataset or an attribute of a vocabulary, wherever it is written.

Layer: lsp.
Shape: the project is checked with the edited texts before anybody sees them. It may have no new errors, and the fields of all
datasets have to be what they were.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from schemac.attributes.registry import domain_of
from schemac.identity.lock import Lock
from schemac.identity.lockfile import write_lock
from schemac.lsp.mentions import Mention, datasets_of, mentions
from schemac.lsp.project_texts import ProjectTexts
from schemac.lsp.projects import Checked, ProjectFolder, key_of
from schemac.lsp.targets import DatasetTarget, NamedTarget, ParameterTarget, VocabularyTarget
from schemac.project.locking import open_lock
from schemac.project.name_edits import Edit, edited, fields_of
from schemac.source.diagnostic import Diagnostic, Severity
from schemac.source.report import Report


class RefusedRenameError(Exception):
    """Why something cannot be renamed, for the person at the editor."""


def refusal(diagnostics: Iterable[Diagnostic]) -> str:
    """Return what the first error says, with the way out."""
    errors = [one for one in diagnostics if one.severity is Severity.ERROR]
    return " ".join(f"{one.message}. {one.help}".rstrip(". ") + "." for one in errors[:1])


def renamed_texts(
    target: NamedTarget, old: str, new: str, texts: ProjectTexts, folder: ProjectFolder
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts and the locks with another name, by absolute path. Raises RefusedRenameError."""
    new = _checked_name(target, old, new)
    if new == old:
        return {}, {}
    occurrences = mentions(target, texts)
    _check_definition(target, occurrences)
    locks = _locks(target, new, texts) if isinstance(target, DatasetTarget) else {}
    afters = {
        path: _edited([one for one in occurrences if one.path == path], new) for path in _paths(occurrences)
    }
    keys = {old: new} if isinstance(target, VocabularyTarget) else {}
    _compare(texts.checked, _tried(target, afters, texts, folder), keys)
    return afters, locks


def _paths(occurrences: Sequence[Mention]) -> list[str]:
    return list(dict.fromkeys(one.path for one in occurrences))


def _edited(occurrences: Sequence[Mention], new: str) -> str:
    edits = [Edit(one.span, one.text(new)) for one in occurrences]
    return edited(occurrences[0].source.content, list(dict.fromkeys(edits)))


def _checked_name(target: NamedTarget, old: str, new: str) -> str:
    """Return the new name as it is written. Raises RefusedRenameError for one that cannot be."""
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


def _check_definition(target: NamedTarget, occurrences: Sequence[Mention]) -> None:
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
