"""A field gets another name or another place, in the manifests and in the locks at once.

Layer: project.
Shape: a renaming changes the name where it is written, which may be a group that several manifests use, and what attributes call the
field; a move takes the field's lines, with their comments, to the end of another list of fields. All else stays byte for byte. The
edited texts are read again before anything is written: they have to say what was asked for, and nothing more.
Errors: SC319 unknown-column for a name that is not there, SC401 where other changes wait to be locked, SC409 refused-edit,
and whatever the checks say of the edited manifests.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from schemac.language.attributes.attribute import Family
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import SchemaField, dotted, preorder
from schemac.language.manifest.library import Reuse
from schemac.project import name_edits
from schemac.project.configuration import Project
from schemac.project.imported import FolderFiles
from schemac.project.locking import LockFile, numbered_by_lock, open_lock, report_unlocked
from schemac.project.manifests import CompiledFile, read_manifests
from schemac.project.options import CompileOptions
from schemac.project.stages import check_source
from schemac.text.source.catalogue import UNKNOWN_COLUMN
from schemac.text.source.json_object import TreePath
from schemac.text.source.phrases import closest
from schemac.text.source.report import Report, SourceText, Span
from schemac.text.syntax.document import Location
from schemac.versions.identity.freeze import freeze, identify

_STEP = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
"""A name of a path; those with dots or backticks are in backticks."""
_PATH = re.compile(rf"(?:{_STEP.pattern})(?:\.(?:{_STEP.pattern}))*")


@dataclass(frozen=True, slots=True)
class _NewPlace:
    """Where a field is to go."""

    parent: SchemaField | None
    name: str

    @property
    def path_text(self) -> str:
        """The path of the field at its new place."""
        above = self.parent.path if self.parent is not None else ()
        return dotted((*above, self.name))


@dataclass(frozen=True)
class _Member:
    """A dataset that has the field, at one place or several."""

    file: CompiledFile
    dataset: LogicalDataset
    fields: tuple[SchemaField, ...]
    new_paths: Mapping[str, str]
    """By the former paths."""
    fields_after: name_edits.Fields
    """All fields of the dataset as they are to be."""

    @classmethod
    def renamed(
        cls, file: CompiledFile, dataset: LogicalDataset, fields: Sequence[SchemaField], new: str
    ) -> "_Member":
        """Return a dataset some of whose fields get another name."""
        new_paths = {field.path_text: dotted((*field.path[:-1], new)) for field in fields}
        return cls(file, dataset, tuple(fields), new_paths, name_edits.fields_of(dataset, fields, new_paths))

    @classmethod
    def of(
        cls, file: CompiledFile, dataset: LogicalDataset, field: SchemaField, goal: _NewPlace
    ) -> "_Member":
        """Return a dataset one of whose fields gets another name, or moves to the end of another list of fields."""
        if goal.parent is field.parent:
            return cls.renamed(file, dataset, (field,), goal.name)
        new_paths = {field.path_text: goal.path_text}
        moved, others = name_edits.Fields(), name_edits.Fields()
        for one, (path, *properties) in zip(
            preorder(dataset.columns), name_edits.fields_of(dataset), strict=True
        ):
            new_path = name_edits.path_after(path, new_paths) if field in (one, *one.ancestors) else None
            (others if new_path is None else moved).append([new_path or path, *properties])
        end = len(others)
        if goal.parent is not None:
            inside = {goal.parent.path_text: ""}
            end = 1 + max(
                i for i, (path, *_) in enumerate(others) if name_edits.path_after(path, inside) is not None
            )
        return cls(file, dataset, (field,), new_paths, [*others[:end], *moved, *others[end:]])


def planned_rename(
    file: CompiledFile,
    dataset: LogicalDataset,
    old: str,
    new: str,
    project: Project,
    report: Report,
    around: name_edits.Surroundings = name_edits.ON_DISK,
) -> name_edits.Rewriting | None:
    """Return the changes that rename or move a field; None after reporting why it cannot be done.

    A name alone is another name at the same place, a path another place; and the name that the field has already,
    alone, takes it out to the columns. The name of a field of a group changes in all datasets that have it.
    """
    field = _field_at(dataset, old, report)
    goal = _new_place(dataset, field, new, report) if field is not None else None
    if field is None or goal is None:
        return None
    place = name_edits.place_of_name(dataset, field)
    is_move = goal.parent is not field.parent
    is_shared = bool(place.labels) and not is_move
    if is_shared:
        files = _files_with_name(file, dataset, field, project, report, around)
        members = [*_members(files, place, goal.name)]
    else:
        files, members = [file], [_Member.of(file, dataset, field, goal)]
    locks = _unchanged_locks(members, report) if not report.has_errors else None
    if locks is None:
        return None
    try:
        texts = (
            _texts_after_move(members[0], goal) if is_move else _texts_after_rename(members, place, goal.name)
        )
    except name_edits.NoEditError as error:
        what = "moved" if is_move else "renamed"
        name_edits.refuse_edit(dataset, field, f"{field.path_text} cannot be {what}: {error}", report)
        return None
    contents = {str(path.resolve()): text.after.encode() for path, text in texts.items()}
    local_report = Report()
    after = _datasets_after(files, members, {**around.edited, **contents}, project, local_report)
    if local_report.has_errors and (is_shared or after is not None):
        # The edit is as it was meant, and what it makes is not allowed: a name that is taken, a key without its column.
        report.extend(local_report.diagnostics)
        return None
    if after is None:
        why = "its text, for example that of an anchor, also stands for other fields"
        name_edits.refuse_edit(dataset, field, f"{field.path_text} cannot be edited alone: {why}", report)
        return None
    report.extend(local_report.diagnostics if not is_shared else ())
    relocked = _relocked(members, after, locks)
    return name_edits.Rewriting(
        tuple(_outcomes(dataset, field, members, relocked)),
        tuple(texts.values()),
        tuple(lock for lock in relocked.values() if lock.file.exists),
    )


def _outcomes(
    dataset: LogicalDataset,
    field: SchemaField,
    members: Iterable[_Member],
    relocked: Mapping[Path, name_edits.Relocked],
) -> Iterator[name_edits.Renamed]:
    """Yield the result for each dataset, first for the one whose field was asked for."""
    for member in sorted(members, key=lambda one: one.dataset.name != dataset.name):
        name, new_path = member.file.file.name, next(iter(member.new_paths.values()))
        if member.dataset.name == dataset.name:
            name, new_path = (
                name_edits.place_of_name(dataset, field).source.name,
                member.new_paths[field.path_text],
            )
        newest = relocked[member.file.file.path].lock.dataset(member.dataset.name).newest
        yield name_edits.Renamed(name, new_path, newest.number if newest is not None else None)


def _field_at(dataset: LogicalDataset, path_text: str, report: Report) -> SchemaField | None:
    """Return a field by its path, never a part of a list or map; None after reporting that there is none."""
    fields = {field.path_text: field for field in preorder(dataset.columns) if field.is_member}
    if path_text not in fields:
        near = closest(path_text, fields)
        message = f"{dataset.name} has no field {path_text}"
        help = f"did you mean {near}?" if near else f"its fields are {', '.join(fields)}"
        report.add(UNKNOWN_COLUMN, message, file=dataset.origins.file, help=help)
    return fields.get(path_text)


def _new_place(dataset: LogicalDataset, field: SchemaField, new: str, report: Report) -> _NewPlace | None:
    """Return the new parent and name that a path stands for, where one name renames in place; None after reporting an error."""
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
        return _NewPlace(None if name == field.segment else field.parent, name)
    path_text = dotted(tuple(above))
    structs = {one.path_text: one for one in preorder(dataset.columns) if one.type.family is Family.STRUCT}
    parent = structs.get(path_text)
    if parent is None:
        near = closest(path_text, structs)
        message = f"{dataset.name} has no struct {path_text} to move {field.path_text} into"
        help = (
            f"did you mean {near}?"
            if near
            else "add the struct to the manifest and lock it first; if the dot is part of a name, put the name in backticks"
        )
        report.add(UNKNOWN_COLUMN, message, file=dataset.origins.file, help=help)
        return None
    if parent is field or dotted(parent.path).startswith(f"{field.path_text}."):
        name_edits.refuse_edit(dataset, field, f"{field.path_text} cannot be moved into itself", report)
        return None
    return _NewPlace(parent, name)


def _siblings(dataset: LogicalDataset, parent: SchemaField | None) -> Sequence[SchemaField]:
    """Return the fields of a struct, or the columns where there is no parent."""
    return parent.children if parent is not None else dataset.columns


def _file_of(file: CompiledFile, place: Location) -> Path | None:
    """Return the file that a place is in: the manifest, or one that it imports."""
    if place.source.name == file.file.name:
        return file.file.path
    files = FolderFiles(file.file.path, file.file.name)
    return next((files.place(p) for p, _ in file.imported.files if files.name(p) == place.source.name), None)


def _is_literal(dataset: LogicalDataset, field: SchemaField) -> bool:
    """Whether the name is written literally in the text."""
    origins = dataset.origins
    document = origins.document
    assert document is not None
    origin = document.origin((*origins.base, *field.declared_at, "name"))
    value: object = origin.document.value
    for step in origin.path:
        value = value[step]  # type: ignore[index]
    return value == field.segment


def _files_with_name(
    file: CompiledFile,
    dataset: LogicalDataset,
    field: SchemaField,
    project: Project,
    report: Report,
    around: name_edits.Surroundings,
) -> list[CompiledFile]:
    """Return the manifest of a field whose name is in a group, and all others of the project that have this group or import it."""
    path = _file_of(file, name_edits.place_of_name(dataset, field))
    if path is None or not _is_literal(dataset, field):
        message = f"the name {field.segment} is put together from the parameters of a group"
        name_edits.refuse_edit(dataset, field, message, report)
        return []
    manifest_path, target = file.file.path.resolve(), path.resolve()
    if around.manifests is not None:
        manifests = around.manifests
    else:
        others = [one for one in project.manifests(Report()) if one.path.resolve() != manifest_path]
        manifests = read_manifests([one._replace(is_named=False) for one in others], project, report)
    files = [file]
    for one in manifests:
        folder, place = FolderFiles(one.file.path, one.file.name), one.file.path.resolve()
        imported = {folder.place(name).resolve() for name, _ in one.imported.files}
        if place != manifest_path and target in {place, *imported}:
            files.append(one)
    return files


def _members(files: Sequence[CompiledFile], place: Location, new: str) -> Iterator[_Member]:
    """Yield the datasets with fields whose name is written at a place."""
    for file in files:
        for dataset in file.datasets:
            names = [
                (one, name_edits.place_of_name(dataset, one))
                for one in preorder(dataset.columns)
                if one.is_member
            ]
            where = (place.source.name, place.span)
            fields = [field for field, name in names if (name.source.name, name.span) == where]
            if fields:
                yield _Member.renamed(file, dataset, fields, new)


def _unchanged_locks(members: Iterable[_Member], report: Report) -> dict[Path, LockFile] | None:
    """Return the locks by manifest; None after reporting those that cannot be read or are not up to date."""
    locks: dict[Path, LockFile] = {}
    for member in members:
        path = member.file.file.path
        lock_file = locks.get(path) or open_lock(path, member.file.file.name, report)
        if lock_file is None:
            continue
        locks[path] = lock_file
        locked = lock_file.lock.dataset(member.dataset.name)
        if locked.newest is not None:
            before = numbered_by_lock(member.dataset, locked, report)
            report_unlocked(member.dataset, locked, before, report, is_error=True)
    return None if report.has_errors else locks


def _relocked(
    members: Iterable[_Member], after: Mapping[str, LogicalDataset], locks: Mapping[Path, LockFile]
) -> dict[Path, name_edits.Relocked]:
    """Return the locks with the new paths, by manifest; only what has been locked is locked again."""
    relocked = {path: name_edits.Relocked(file, file.lock) for path, file in locks.items()}
    for member in members:
        path, dataset = member.file.file.path, after[member.dataset.name]
        lock = relocked[path].lock
        locked = lock.dataset(member.dataset.name)
        if locked.newest is not None:
            former_paths = {new: old for old, new in member.new_paths.items()}
            identities = identify(dataset, locked, renamed=former_paths)
            relocked[path] = name_edits.Relocked(locks[path], lock.with_dataset(freeze(locked, identities)))
    return relocked


def _texts_after_rename(
    members: Sequence[_Member], place: Location, new: str
) -> dict[Path, name_edits.Rewritten]:
    """Return the edited texts by path: of the file that has the name, and of those that name the field. Raises NoEditError."""
    edits: dict[Path, list[name_edits.NameEdit]] = {}
    sources: dict[Path, SourceText] = {}
    new_paths = {member.dataset.name: member.new_paths for member in members}

    def add(file: CompiledFile, at: Location, edit: name_edits.NameEdit) -> None:
        path = _file_of(file, at)
        assert path is not None, "a manifest has texts of its own and of its imports"
        if not place.labels and at.source.name != place.source.name:
            # Other manifests may import it, and their fields keep their names.
            raise name_edits.NoEditError(f"{at.source.name} names it too")
        sources[path] = at.source
        edits.setdefault(path, []).append(edit)

    for member in members:
        file, dataset = member.file, member.dataset
        add(file, place, name_edits.edit_of(place, new))
        for field in member.fields:
            if field.parent is None:
                for at, edit in name_edits.edits_of_column(dataset, str(field.segment), new):
                    add(file, at, edit)
        for at, edit in name_edits.edits_of_successors(dataset, member.new_paths):
            add(file, at, edit)
        for at, edit in name_edits.edits_of_references(dataset, new_paths):
            add(file, at, edit)
    return {
        path: name_edits.Rewritten(
            path,
            source.name,
            source.content,
            name_edits.edited(source.content, [*dict.fromkeys(edits[path])]),
        )
        for path, source in sources.items()
    }


def _texts_after_move(member: _Member, goal: _NewPlace) -> dict[Path, name_edits.Rewritten]:
    """Return the text with a field in another list, by its path. Raises NoEditError if it cannot be moved as whole lines."""
    dataset, (field,) = member.dataset, member.fields
    source = dataset.origins.source
    assert source is not None, "a manifest on disk has a text"
    text, block = source.content, _block(dataset, field.declared_at)
    siblings = _siblings(dataset, goal.parent)
    where = goal.parent.path_text if goal.parent is not None else "the columns"
    if not siblings:
        raise name_edits.NoEditError(f"{where} has no fields yet, so the place to insert it cannot be found")
    try:
        last = _block(dataset, siblings[-1].declared_at)
    except name_edits.NoEditError:
        raise name_edits.NoEditError(f"the fields of {where} are not on lines of their own") from None
    if len(_siblings(dataset, field.parent)) == 1:
        raise name_edits.NoEditError("the struct it is in would have no fields left")
    content = text[block.start : block.end]
    if field.segment != goal.name:
        name = name_edits.edit_of(name_edits.place_of_name(dataset, field), goal.name)
        span = Span(name.span.start - block.start, name.span.end - block.start)
        content = name_edits.edited(content, [name_edits.NameEdit(span, name.text)])
    path = member.file.file.path
    return {
        path: name_edits.Rewritten(
            path, member.file.file.name, text, name_edits.moved_text(text, block, content, last)
        )
    }


def _block(dataset: LogicalDataset, place: TreePath) -> name_edits.Block:
    """Return the lines of a field's item in a list; refused with NoEditError for a field of a group."""
    location = dataset.origins.location(place)
    assert location is not None
    if location.labels:
        raise name_edits.NoEditError("it is defined in a group")
    return name_edits.block_of(location.source.content, location.span)


def _datasets_after(
    files: Sequence[CompiledFile],
    members: Sequence[_Member],
    contents: Mapping[str, bytes],
    project: Project,
    report: Report,
) -> dict[str, LogicalDataset] | None:
    """Return all datasets of the edited texts by name; None if one of them differs from what it should be."""
    fields_after = {member.dataset.name: member.fields_after for member in members}
    after: dict[str, LogicalDataset] = {}
    options = CompileOptions.of(project)
    for file in files:
        surroundings = FolderFiles(file.file.path.resolve(), file.file.name, contents)
        text = contents.get(surroundings.key(""), file.content).decode("utf-8")
        source, reuse = SourceText(text, file.file.name), Reuse(surroundings)
        datasets = check_source(source, project, report, options, is_named=False, reuse=reuse)
        if len(datasets) != len(file.named):
            return None
        for before, dataset, named in zip(file.datasets, datasets, file.named, strict=True):
            after[named.name] = replace(dataset, name=named.name)
            fields = fields_after.get(named.name)
            if before != after[named.name] if fields is None else name_edits.fields_of(dataset) != fields:
                return None
    return after
