"""Another name for a field, a group, a parameter, a dataset or an attribute of a vocabulary, or another place for a field.

Layer: project.
Shape: a renaming changes the name wherever the project has it, in manifests, groups, pipelines, overlays and vocabularies, and in the
lock of what is renamed; a move takes the field's lines, with their comments, to the end of another list of fields. All else stays byte
for byte. The edited texts are checked before anybody sees them: there may be no new error, and the fields of all datasets have to be
what they were but for the name.
Errors: SC319 unknown-column for a name that is not there, SC401 where other changes wait to be locked, SC409 refused-edit,
and whatever the checks say of the edited manifests.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from schemac.language.attributes.attribute import Family
from schemac.language.attributes.builtin import DEPRECATED
from schemac.language.attributes.registry import domain_of
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import SchemaField, dotted, preorder
from schemac.project.cache.store import NO_CACHE
from schemac.project.configuration import Project
from schemac.project.field_blocks import Block, block_of, moved
from schemac.project.locking import LockFile, numbered_by_lock, open_lock, report_unlocked
from schemac.project.manifests import CompiledFile, ManifestChecks, with_distinct_datasets
from schemac.project.occurrences import (
    NoEditError,
    Occurrence,
    RenamedPaths,
    field_occurrences,
    new_paths,
    new_successor,
    occurrences_of,
    path_after,
    place_in,
    place_of_name,
)
from schemac.project.options import CompileOptions
from schemac.project.project_checks import check_across
from schemac.project.project_texts import (
    DatasetField,
    DatasetTarget,
    FieldTarget,
    NamedTarget,
    ParameterTarget,
    ProjectTexts,
    VocabularyTarget,
    datasets_called,
    key_of,
    texts_of,
)
from schemac.project.rewriting import Renamed, Rewriting, Rewritten
from schemac.text.source.catalogue import REFUSED_EDIT, UNKNOWN_COLUMN
from schemac.text.source.diagnostics import Diagnostic, Report, Span
from schemac.text.source.json_object import TreePath
from schemac.text.source.phrases import Help
from schemac.text.syntax.events import scalar
from schemac.versions.identity.freeze import freeze, identify
from schemac.versions.identity.lock import Lock

_STEP = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
"""A name of a path; those with dots or backticks are in backticks."""
_PATH = re.compile(rf"(?:{_STEP.pattern})(?:\.(?:{_STEP.pattern}))*")


def rename(
    target: FieldTarget | NamedTarget, new: str, texts: ProjectTexts, report: Report
) -> Rewriting | None:
    """Return the changes that give something another name; None after reporting why it cannot be done.

    For a field, a name alone is another name at the same place, a path another place; and the name that the field has already,
    alone, takes it out to the columns. The name of a field of a group changes in all datasets that have it.
    """
    try:
        if isinstance(target, FieldTarget):
            return _renamed_field(target, new, texts, report)
        return _renamed_name(target, new, texts, report)
    except NoEditError as error:
        if not isinstance(target, FieldTarget):
            report.add(REFUSED_EDIT, str(error))
            return None
        _, dataset, field = target.dataset_field
        place, path = place_of_name(dataset, field), field.path_text
        help = (
            f"edit the manifest yourself, write `schemac.dev/renamedFrom: {scalar(path)}` under the field's `extra:`,"
            " and run `schemac lock`"
        )
        report.add(REFUSED_EDIT, str(error), location=place, path=path, help=help)
        return None


# Fields


def field_called(
    file: CompiledFile, dataset: LogicalDataset, path_text: str, texts: ProjectTexts, report: Report
) -> FieldTarget | None:
    """Return a field by its path, never a part of a list or map; None after reporting that there is none."""
    fields = {field.path_text: field for field in preorder(dataset.columns) if field.is_member}
    if path_text not in fields:
        message = f"{dataset.name} has no field {path_text}"
        help = Help.nearest(path_text, fields, f"its fields are {', '.join(fields)}", mark="")
        report.add(UNKNOWN_COLUMN, message, file=dataset.origins.file, help=help)
        return None
    field = fields[path_text]
    path = texts_of(file)[place_of_name(dataset, field).source.name]
    return FieldTarget.of(DatasetField(file, dataset, field), texts.users_of(path))


def _renamed_field(target: FieldTarget, new: str, texts: ProjectTexts, report: Report) -> Rewriting | None:
    """Return the changes that rename or move a field. Raises NoEditError."""
    file, dataset, field = target.dataset_field
    if not any(one is file for one in texts.files):
        raise NoEditError(f"{file.file.name} has mistakes that hide its fields")
    goal = _new_place(target.dataset_field, new, report)
    if goal is None:
        return None
    parent, name = goal
    is_move = parent is not field.parent
    place = place_of_name(dataset, field)
    if place.labels and not is_move and not _is_literal(dataset, field):
        raise NoEditError(f"the name {field.segment} is put together from the parameters of a group")
    above = parent.path if parent is not None else ()
    fields = (target.dataset_field,) if is_move else target.all
    paths = {dataset.name: {field.path_text: dotted((*above, name))}} if is_move else new_paths(target, name)
    locks = _unchanged_locks(fields, report)
    if locks is None:
        return None
    what = "moved" if is_move else "renamed"
    try:
        occurrences = [*field_occurrences(fields, name, paths, texts)]
        if is_move:
            occurrences = _with_block_moved(occurrences, target.dataset_field, parent)
        edited = _edited_texts(occurrences)
    except NoEditError as error:
        raise NoEditError(f"{field.path_text} cannot be {what}: {error}") from None
    after = _checked_files(texts, edited, report, paths=paths, goal=goal if is_move else None)
    if after is None:
        return None
    renamed: list[Renamed] = []
    members = {dataset.name: target.dataset_field}
    members |= {one.dataset.name: one for one in fields if one.dataset.name != dataset.name}
    for dataset_name, (manifest, _, one) in members.items():
        path, new_path = manifest.file.path, paths[dataset_name][one.path_text]
        locked = locks[path].lock.dataset(dataset_name)
        if locked.newest is not None:
            now = next(one for one in after[key_of(path)].datasets if one.name == dataset_name)
            former_paths = {now: before for before, now in paths[dataset_name].items()}
            locked = freeze(identify(now, locked, renamed=former_paths))
            locks[path] = locks[path]._replace(lock=locks[path].lock.with_dataset(locked))
        name = manifest.file.name if renamed else place.source.name
        renamed.append(Renamed(name, new_path, locked.newest.number if locked.newest else None))
    return Rewriting(tuple(renamed), edited, tuple(one for one in locks.values() if one.text is not None))


def _new_place(target: DatasetField, new: str, report: Report) -> tuple[SchemaField | None, str] | None:
    """Return the new parent and name that a path stands for, where one name renames in place; None after reporting an error."""
    _, dataset, field = target
    if _PATH.fullmatch(new) is None:
        message = f"'{new}' is not a valid field path"
        report.add(
            UNKNOWN_COLUMN, message, file=dataset.origins.file, help="put names with dots in backticks"
        )
        return None
    *above, name = [
        step[1].replace("``", "`") if step[1] is not None else step[2] for step in _STEP.finditer(new)
    ]
    if not above:
        return (None if name == field.segment else field.parent), name
    path_text = dotted(tuple(above))
    structs = {one.path_text: one for one in preorder(dataset.columns) if one.type.family is Family.STRUCT}
    parent = structs.get(path_text)
    if parent is None:
        message = f"{dataset.name} has no struct {path_text} to move {field.path_text} into"
        otherwise = "add the struct to the manifest and lock it first; if the dot is part of a name, put the name in backticks"
        help = Help.nearest(path_text, structs, otherwise, mark="")
        report.add(UNKNOWN_COLUMN, message, file=dataset.origins.file, help=help)
        return None
    if field in (parent, *parent.ancestors):
        raise NoEditError(f"{field.path_text} cannot be moved into itself")
    return parent, name


def _is_literal(dataset: LogicalDataset, field: SchemaField) -> bool:
    """Whether the name is written literally in the text."""
    origins = dataset.origins
    assert origins.document is not None
    origin = origins.document.origin((*origins.base, *field.declared_at, "name"))
    return bool(origin.document.part(origin.path) == field.segment)


def _unchanged_locks(fields: Iterable[DatasetField], report: Report) -> dict[Path, LockFile] | None:
    """Return the locks by manifest; None after reporting those that cannot be read or are not up to date."""
    locks: dict[Path, LockFile] = {}
    for file, dataset, _ in fields:
        path = file.file.path
        lock_file = locks.get(path) or open_lock(path, file.file.name, report)
        if lock_file is None:
            continue
        locks[path] = lock_file
        if lock_file.lock.dataset(dataset.name).newest is not None:
            report_unlocked(numbered_by_lock(dataset, lock_file.lock, report), report, is_error=True)
    return locks if not report.has_errors else None


def _with_block_moved(
    occurrences: Iterable[Occurrence], target: DatasetField, parent: SchemaField | None
) -> list[Occurrence]:
    """Return the edits with the lines of a field, as edited, in another list. Raises NoEditError where it cannot be moved so."""
    file, dataset, field = target
    document = dataset.origins.document
    assert document is not None, "a manifest on disk has a text"
    source = document.source
    path, text, block = key_of(file.file.path), source.content, _block(dataset, field.declared_at)
    siblings = _siblings(dataset, parent)
    where = parent.path_text if parent is not None else "the columns"
    if not siblings:
        raise NoEditError(f"{where} has no fields yet, so the place to insert it cannot be found")
    try:
        last = _block(dataset, siblings[-1].declared_at)
    except NoEditError:
        raise NoEditError(f"the fields of {where} are not on lines of their own") from None
    if len(_siblings(dataset, field.parent)) == 1:
        raise NoEditError("the struct it is in would have no fields left")
    inside: list[Occurrence] = []
    edits: list[Occurrence] = []
    for one in occurrences:
        is_inside = one.path == path and block.start <= one.span.start < block.end
        span = Span(one.span.start - block.start, one.span.end - block.start) if is_inside else one.span
        (inside if is_inside else edits).append(one._replace(span=span))
    content = _edited(text[block.start : block.end], inside)
    return [
        *edits,
        Occurrence(path, source, Span(block.start, block.end), ""),
        Occurrence(path, source, Span(last.end, last.end), moved(text, block, content, last)),
    ]


def _siblings(dataset: LogicalDataset, parent: SchemaField | None) -> Sequence[SchemaField]:
    """Return the fields of a struct, or the columns where there is no parent."""
    return parent.children if parent is not None else dataset.columns


def _block(dataset: LogicalDataset, place: TreePath) -> Block:
    """Return the lines of a field's item in a list; refused with NoEditError for a field of a group."""
    location = place_in(dataset, place)
    if location.labels:
        raise NoEditError("it is defined in a group")
    return block_of(location.source.content, location.span)


# Other names


def _renamed_name(target: NamedTarget, new: str, texts: ProjectTexts, report: Report) -> Rewriting | None:
    """Return the changes that give anything but a field another name. Raises NoEditError."""
    new = _checked_name(target, new)
    if new == target.name:
        return Rewriting((), (), ())
    occurrences = occurrences_of(target, new, texts)
    definitions = sum(one.is_definition for one in occurrences)
    if definitions != 1:
        match target:
            case DatasetTarget() if definitions:
                reason = f"There are {definitions} datasets called {target.name}"
            case DatasetTarget():
                reason = f"{target.name} is named after its file. Write `name: {target.name}` in its manifest, then rename it"
            case VocabularyTarget():
                reason = f"The vocabulary has no property `{target.name.partition('/')[2]}`"
            case _:
                reason = f"It cannot be found where {target.name} is defined"
        raise NoEditError(reason)
    locks = _renamed_lock(target.name, new, texts, report) if isinstance(target, DatasetTarget) else ()
    edited, project, keys = _edited_texts(occurrences), texts.project, dict[str, str]()
    if isinstance(target, VocabularyTarget):
        domain = domain_of(target.name)
        path = key_of(project.folder / project.configuration.vocabularies[domain])
        content = next(one.after for one in edited if key_of(one.path) == path).encode()
        project = replace(project, vocabulary_contents={**project.vocabulary_contents, domain: content})
        keys = {target.name: new}
    if report.has_errors or _checked_files(texts, edited, report, project, keys=keys) is None:
        return None
    return Rewriting((), edited, locks)


def _checked_name(target: NamedTarget, new: str) -> str:
    """Return the new name, of an attribute with its domain. Raises NoEditError if it is not allowed."""
    new = new.strip()
    if not new.isprintable() or not new:
        raise NoEditError("A name needs at least one letter, and no line breaks")
    if isinstance(target, ParameterTarget) and re.search(r"[()$\s\"'\\]", new):
        raise NoEditError(f"`{new}` cannot be written as `$(…)`. Use letters, digits and underscores")
    if isinstance(target, VocabularyTarget):
        domain = domain_of(target.name)
        name = new.removeprefix(f"{domain}/")
        if not name or "/" in name:
            raise NoEditError(
                f"An attribute cannot be moved to another domain here. Write `{domain}/` and a name"
            )
        return f"{domain}/{name}"
    return new


def _renamed_lock(name: str, new: str, texts: ProjectTexts, report: Report) -> tuple[LockFile, ...]:
    """Return the lock of a dataset with its new name; its versions and ids stay. Raises NoEditError."""
    ((file, _),) = datasets_called(name, texts.files)
    lock_file = open_lock(file.file.path, file.file.name, report)
    locked = lock_file.lock.dataset(name) if lock_file is not None else None
    if lock_file is None or locked is None or locked.newest is None:
        return ()
    if lock_file.lock.dataset(new).newest is not None:
        raise NoEditError(f"{lock_file.name} has the versions of a former dataset {new}. Use another name")
    others = Lock(tuple(one for one in lock_file.lock.datasets if one.name != name))
    return (lock_file._replace(lock=others.with_dataset(replace(locked, name=new))),)


# Edited texts and what they say


def _edited_texts(occurrences: Iterable[Occurrence]) -> tuple[Rewritten, ...]:
    """Return the texts with what is to be at some places of them. Raises NoEditError."""
    by_path: dict[str, list[Occurrence]] = {}
    for one in occurrences:
        if one.source.excerpt(one.span)[:1] in ("|", ">"):
            line = one.source.region(one.span).line
            raise NoEditError(f"the name in {one.source.name}, line {line}, is a text of several lines")
        by_path.setdefault(one.path, []).append(one)
    return tuple(
        Rewritten(
            Path(path), edits[0].source.name, edits[0].source.content, _edited(edits[0].source.content, edits)
        )
        for path, edits in by_path.items()
    )


def _edited(text: str, edits: Iterable[Occurrence]) -> str:
    """Return a text after edits, which do not overlap."""
    unique = {(one.span.start, one.span.end, one.text) for one in edits}
    for start, end, new in sorted(unique, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _checked_files(
    texts: ProjectTexts,
    edited: Iterable[Rewritten],
    report: Report,
    project: Project | None = None,
    *,
    paths: RenamedPaths = MappingProxyType({}),
    keys: Mapping[str, str] = MappingProxyType({}),
    goal: tuple[SchemaField | None, str] | None = None,
) -> dict[str, CompiledFile] | None:
    """Return all manifests with edited texts, by absolute path; None after reporting that there are new errors.

    `project` has the settings after the edits, `paths` of fields and `keys` of attributes are those that get another name; `goal` is
    the new parent and name of a field that moves. Raises NoEditError.
    """
    former = {key_of(one.path): one.before.encode() for one in edited}
    contents = {key_of(one.path): one.after.encode("utf-8", "surrogatepass") for one in edited}
    compiled, findings = _check(texts, contents, texts.project if project is None else project)
    added = _new_findings(_check(texts, former, texts.project)[1], findings) if findings else []
    report.extend(added)
    if report.has_errors:
        return None
    files = {key_of(one.file.path): one for one in compiled}
    for file in texts.files:
        after = files[key_of(file.file.path)]
        for old, new in zip(file.datasets, after.datasets, strict=False) if after is not file else ():
            renamed = paths.get(old.name, {})
            expected = _fields_of(old, renamed, keys)
            if goal is not None and renamed:
                expected = _with_moved_at_end(expected, goal[0], next(iter(renamed.values())))
            if list(expected.items()) != list(_fields_of(new).items()):
                # What is wrong with them anyway may be in the way.
                if any(one.is_error for one in findings):
                    report.extend(findings)
                    return None
                raise NoEditError(
                    f"The fields of {old.name} would not stay the same: the name is also written in another form,"
                    " or its text, such as that of an anchor, also stands for others"
                )
    return files


def _check(
    texts: ProjectTexts, contents: Mapping[str, bytes], project: Project
) -> tuple[list[CompiledFile], Sequence[Diagnostic]]:
    """Return the manifests with contents in place of texts, and the findings of those that have one of these texts."""
    report = Report()
    edited = {**texts.edited, **contents}
    options = replace(CompileOptions.of(project), edited=edited, has_rules=True)
    # What is tried is not worth a place on disk.
    checks = ManifestChecks(replace(project, cache=NO_CACHE), options)
    files: list[CompiledFile] = []
    for file in texts.files:
        path = key_of(file.file.path)
        is_same = project is texts.project and contents.keys().isdisjoint(texts_of(file).values())
        one = file if is_same else checks.check(edited.get(path, file.content), file.file, report)
        files += [one] if one is not None else []
    files = with_distinct_datasets(files, report)
    check_across(files, project, options, report, is_whole=False)
    return files, report.diagnostics


def _fields_of(
    dataset: LogicalDataset,
    paths: Mapping[str, str] = MappingProxyType({}),
    keys: Mapping[str, str] = MappingProxyType({}),
) -> Mapping[str, object]:
    """Return of each field its type without its parts, whether it may be null, and its attributes; by path, parents first, to be compared.

    They have the new `paths`, also as successors of deprecated fields, and the new `keys` of attributes.
    """
    fields: dict[str, object] = {}
    for field in preorder(dataset.columns):
        extra = {keys.get(key, key): value for key, value in field.extra.items()}
        successor = new_successor(extra, paths)
        if successor is not None:
            extra[DEPRECATED.key] = {**extra[DEPRECATED.key], "successor": successor}
        type_data = field.type.model_dump(exclude={"extra", "fields", "item_type", "key_type", "value_type"})
        fields[path_after(field.path_text, paths) or field.path_text] = [type_data, field.is_nullable, extra]
    return fields


def _with_moved_at_end(
    fields: Mapping[str, object], parent: SchemaField | None, moved: str
) -> Mapping[str, object]:
    """Return fields in the order that they have once one of them, with all inside it, is the last one of its new parent."""
    others, inside = list[str](), list[str]()
    for path in fields:
        (others if path_after(path, {moved: ""}) is None else inside).append(path)
    end = len(others)
    if parent is not None:
        end = 1 + max(
            i for i, path in enumerate(others) if path_after(path, {parent.path_text: ""}) is not None
        )
    return {path: fields[path] for path in (*others[:end], *inside, *others[end:])}


def _new_findings(before: Iterable[Diagnostic], after: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the findings that were not there before; one that was may have the name in its message."""
    former, now = ({(one.code, one.message): one for one in findings} for findings in (before, after))
    gone = Counter(code for code, _ in former.keys() - now.keys())
    added: list[Diagnostic] = []
    for key, one in now.items():
        if key not in former:
            gone[one.code] -= 1
            added += [one] if gone[one.code] < 0 else []
    return added
