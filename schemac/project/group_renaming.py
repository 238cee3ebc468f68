"""Another name for a field of a group, in every dataset that has it.

Layer: project.
Shape: the name is edited where it is written, which may be a group or an argument of a use. All manifests of the project that
import the file are read again with the edited text; each has to say what was asked for and nothing more. Locks and
manifests change together: whatever cannot be written leaves all of them as they were.
Errors: SC401 where other changes wait to be locked, SC409 refused-edit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from schemac.identity.freeze import freeze, identify
from schemac.logical.dataset import LogicalDataset
from schemac.logical.path import dotted
from schemac.logical.schema_fields import SchemaField, preorder
from schemac.manifest.expanded import ExpandedDocument
from schemac.manifest.library import Reuse
from schemac.project.configuration import Project
from schemac.project.discovery import find_manifests
from schemac.project.imported import FolderFiles
from schemac.project.locking import identified, open_lock, report_unlocked
from schemac.project.manifests import CompiledFile, read_manifests
from schemac.project.name_edits import (
    Edit,
    Fields,
    NoEditError,
    Renamed,
    edit_of,
    edited,
    edits_of_column,
    edits_of_references,
    edits_of_successors,
    fields_of,
    place_of_name,
    refuse_edit,
)
from schemac.project.rewriting import Relocked, Rewriting, Rewritten, Surroundings
from schemac.project.stages import check_source
from schemac.source.report import Report
from schemac.source.text import SourceText
from schemac.syntax.document import Place


@dataclass(frozen=True)
class _Member:
    """A dataset that has the field, at one place or several."""

    file: CompiledFile
    dataset: LogicalDataset
    fields: tuple[SchemaField, ...]
    new: str

    @property
    def renamed(self) -> dict[str, str]:
        """The former paths by the new ones."""
        return {dotted((*field.path[:-1], self.new)): field.path_text for field in self.fields}

    @property
    def fields_after(self) -> Fields:
        """The fields as they are to be."""
        new = {old: new for new, old in self.renamed.items()}
        return _renamed(fields_of(self.dataset, new), self.dataset.columns, frozenset(self.fields), self.new)


def rename_in_groups(
    file: CompiledFile,
    dataset: LogicalDataset,
    field: SchemaField,
    new: str,
    project: Project,
    report: Report,
    around: Surroundings,
) -> Rewriting | None:
    """Return what changes where a field of a group is renamed, in all datasets that have it; None after saying why it cannot be."""
    place = place_of_name(dataset, field)
    path = _file_of(file, place)
    if path is None or not _is_plain(dataset, field):
        names = f"the name {field.segment} is put together from the parameters of a group"
        refuse_edit(dataset, field, names, report)
        return None
    files = _files_around(file, path, project, report, around)
    members = list(_members(files, place, new))
    if report.has_errors:
        return None
    try:
        contents = _contents(members, path, edit_of(place, new), place.source)
    except NoEditError as error:
        refuse_edit(dataset, field, f"{field.path_text} cannot be renamed: {error}", report)
        return None
    after = _checked(files, members, contents, project, report, around)
    if after is None:
        return None
    locks = _locks(members, after, report)
    if locks is None:
        return None
    renames = {
        member.dataset.name: Renamed(
            member.file.file.name, path_text, _version(locks.get(member.file.file.path), member.dataset.name)
        )
        for member in members
        for path_text in list(member.renamed)[:1]
    }
    (new_path,) = (
        path_text for path_text, old in _renamed_paths(members, dataset).items() if old == field.path_text
    )
    others = tuple(one for name, one in renames.items() if name != dataset.name)
    renamed = Renamed(file.file.name, new_path, renames[dataset.name].version, place.source.name, others)
    existing = tuple(relocked for relocked in locks.values() if relocked.file.exists)
    return Rewriting(renamed, tuple(contents.values()), existing)


def _renamed_paths(members: Sequence[_Member], dataset: LogicalDataset) -> Mapping[str, str]:
    return next(member.renamed for member in members if member.dataset.name == dataset.name)


def _version(relocked: Relocked | None, name: str) -> int | None:
    newest = relocked.lock.dataset(name).newest if relocked is not None else None
    return newest.number if newest is not None else None


def _file_of(file: CompiledFile, place: Place) -> Path | None:
    """Return the file that a place is in: the manifest, or one that it imports."""
    if place.source.name == file.file.name:
        return file.file.path
    files = FolderFiles(file.file.path, file.file.name)
    return next((files.place(p) for p, _ in file.imported.files if files.name(p) == place.source.name), None)


def _is_plain(dataset: LogicalDataset, field: SchemaField) -> bool:
    """Whether the name is in a text as it is."""
    origins = dataset.origins
    document = origins.document
    assert document is not None
    path = (*origins.base, *field.declared_at, "name")
    origin = document.origin(path) if isinstance(document, ExpandedDocument) else None
    if origin is None:
        return True
    value: object = origin.document.value
    for step in origin.path:
        value = value[step]  # type: ignore[index]
    return value == field.segment


def _files_around(
    file: CompiledFile, path: Path, project: Project, report: Report, around: Surroundings
) -> list[CompiledFile]:
    """Return the manifest, and all others of the project that import the file, or are it."""
    manifest_path, target = file.file.path.resolve(), path.resolve()
    if around.manifests is not None:
        known = around.manifests(report)
        compiled = [file, *(one for one in known if one.file.path.resolve() != manifest_path)]
        return [one for one in compiled if one is file or target in _files_of(one)]
    configured = project.configuration.manifests or (".",)
    out = project.folder / project.configuration.out
    manifests = find_manifests(configured, project.folder, out, Report(), project.exclusion)
    others = [other._replace(is_named=False) for other in manifests if other.path.resolve() != manifest_path]
    compiled = [file, *read_manifests(others, project, report)]
    return [one for one in compiled if one is file or target in _files_of(one)]


def _files_of(file: CompiledFile) -> set[Path]:
    files = FolderFiles(file.file.path, file.file.name)
    return {file.file.path.resolve(), *(files.place(path).resolve() for path, _ in file.imported.files)}


def _members(around: Sequence[CompiledFile], place: Place, new: str) -> Iterator[_Member]:
    """Yield the datasets with fields whose name is written at this place."""
    where = (place.source.name, place.span)
    for file in around:
        for dataset in file.datasets:
            fields = tuple(
                field
                for field in preorder(dataset.columns)
                if field.is_member and _where(place_of_name(dataset, field)) == where
            )
            if fields:
                yield _Member(file, dataset, fields, new)


def _where(place: Place) -> tuple[str, object]:
    return place.source.name, place.span


def _contents(
    members: Sequence[_Member], path: Path, edit: Edit, source: SourceText
) -> dict[Path, Rewritten]:
    """Return the edited texts: of the file that has the name, and of the manifests whose attributes name the column."""
    texts: dict[Path, SourceText] = {path: source}
    edits: dict[Path, set[Edit]] = {path: {edit}}
    paths = {member.dataset.name: {old: new for new, old in member.renamed.items()} for member in members}
    for member in members:
        for field in member.fields:
            if field.parent is None:
                manifest_path = member.file.file.path
                manifest_source = member.dataset.origins.source
                assert manifest_source is not None
                file_edits = set(edits_of_column(member.dataset, str(field.segment), member.new))
                if file_edits:
                    texts.setdefault(manifest_path, manifest_source)
                    edits.setdefault(manifest_path, set()).update(file_edits)
        named = edits_of_successors(member.dataset, paths[member.dataset.name])
        for place, other in (*named, *edits_of_references(member.dataset, paths)):
            file_path = _file_of(member.file, place)
            assert file_path is not None, "a manifest has texts of its own and of its imports"
            texts.setdefault(file_path, place.source)
            edits.setdefault(file_path, set()).add(other)
    return {
        place: Rewritten(
            place, texts[place].name, texts[place].content, edited(texts[place].content, [*file_edits])
        )
        for place, file_edits in edits.items()
    }


def _checked(
    around: Sequence[CompiledFile],
    members: Sequence[_Member],
    contents: Mapping[Path, Rewritten],
    project: Project,
    report: Report,
    surroundings: Surroundings,
) -> dict[str, LogicalDataset] | None:
    """Return all datasets after the edit, if they pass the checks and say what they should."""
    after: dict[str, LogicalDataset] = {}
    members_by_name = {member.dataset.name: member for member in members}
    edited_contents = {str(path.resolve()): text.after.encode() for path, text in contents.items()}
    edited_contents = {**surroundings.edited, **edited_contents}
    local_report = Report()
    for file in around:
        files = FolderFiles(file.file.path.resolve(), file.file.name, edited_contents)
        text = edited_contents.get(files.key(""), file.content).decode("utf-8")
        made = check_source(
            SourceText(text, file.file.name), project, local_report, reuse=Reuse(files), is_named=False
        )
        names = [named.name for named in file.named]
        for before, now, name in zip(file.datasets, made, names, strict=False):
            member = members_by_name.get(name)
            fields = fields_of(before) if member is None else member.fields_after
            if fields_of(now) == fields:
                after[name] = replace(now, name=name)
    if local_report.has_errors:
        report.extend(local_report.diagnostics)
        return None
    for member in members:
        if member.dataset.name not in after:
            field = member.fields[0]
            message = f"{field.path_text} cannot be edited alone: its text also stands for other fields"
            refuse_edit(member.dataset, field, message, report)
            return None
    return after


def _renamed(
    fields: Fields, schema_fields: Sequence[SchemaField], renamed: frozenset[SchemaField], new: str
) -> Fields:
    """Return fields as plain values, with another name for some."""
    return [
        [new if field in renamed else name, *properties, _renamed(inside, field.children, renamed, new)]
        for (name, *properties, inside), field in zip(fields, schema_fields, strict=True)
    ]


def _locks(
    members: Sequence[_Member], after: Mapping[str, LogicalDataset], report: Report
) -> dict[Path, Relocked] | None:
    """Return the locks with the new names, by manifest, where datasets have one; None after saying what is in the way."""
    relocked_by_path: dict[Path, Relocked] = {}
    for member in members:
        path = member.file.file.path
        if path not in relocked_by_path:
            file = open_lock(path, member.file.file.name, report)
            if file is None:
                continue
            relocked_by_path[path] = Relocked(file, file.lock)
        lock = relocked_by_path[path].lock
        locked = lock.dataset(member.dataset.name)
        if locked.newest is None:
            continue
        before = identified(member.dataset, locked, report)
        report_unlocked(member.dataset, locked, before, report, is_error=True)
        identities = identify(after[member.dataset.name], locked, renamed=member.renamed)
        lock = lock.with_dataset(freeze(after[member.dataset.name], locked, identities))
        relocked_by_path[path] = Relocked(relocked_by_path[path].file, lock)
    return None if report.has_errors else relocked_by_path
