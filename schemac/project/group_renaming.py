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
from schemac.logical.slots import Slot, preorder
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
    slots: tuple[Slot, ...]
    new: str

    @property
    def renamed(self) -> dict[str, str]:
        """The former paths by the new ones."""
        return {dotted((*slot.path[:-1], self.new)): slot.path_text for slot in self.slots}

    @property
    def fields_after(self) -> Fields:
        """The fields as they are to be."""
        new = {old: new for new, old in self.renamed.items()}
        return _renamed(fields_of(self.dataset, new), self.dataset.columns, frozenset(self.slots), self.new)


def rename_in_groups(
    file: CompiledFile,
    dataset: LogicalDataset,
    slot: Slot,
    new: str,
    project: Project,
    report: Report,
    around: Surroundings,
) -> Rewriting | None:
    """Return what changes where a field of a group is renamed, in all datasets that have it; None after saying why it cannot be."""
    place = place_of_name(dataset, slot)
    path = _file_of(file, place)
    if path is None or not _is_plain(dataset, slot):
        names = f"the name {slot.segment} is put together from the parameters of a group"
        refuse_edit(dataset, slot, names, report)
        return None
    files = _files_around(file, path, project, report, around)
    members = list(_members(files, place, new))
    if report.has_errors:
        return None
    try:
        contents = _contents(members, path, edit_of(place, new), place.source)
    except NoEditError as error:
        refuse_edit(dataset, slot, f"{slot.path_text} cannot be renamed: {error}", report)
        return None
    after = _checked(files, members, contents, project, report, around)
    if after is None:
        return None
    locks = _locks(members, after, report)
    if locks is None:
        return None
    found = {
        member.dataset.name: Renamed(
            member.file.file.name, path_text, _version(locks.get(member.file.file.path), member.dataset.name)
        )
        for member in members
        for path_text in list(member.renamed)[:1]
    }
    (own,) = (path_text for path_text, old in _own(members, dataset).items() if old == slot.path_text)
    others = tuple(one for name, one in found.items() if name != dataset.name)
    renamed = Renamed(file.file.name, own, found[dataset.name].version, place.source.name, others)
    existing = tuple(relocked for relocked in locks.values() if relocked.file.exists)
    return Rewriting(renamed, tuple(contents.values()), existing)


def _own(members: Sequence[_Member], dataset: LogicalDataset) -> Mapping[str, str]:
    return next(member.renamed for member in members if member.dataset.name == dataset.name)


def _version(held: Relocked | None, name: str) -> int | None:
    newest = held.lock.dataset(name).newest if held is not None else None
    return newest.number if newest is not None else None


def _file_of(file: CompiledFile, place: Place) -> Path | None:
    """Return the file that a place is in: the manifest, or one that it imports."""
    if place.source.name == file.file.name:
        return file.file.path
    files = FolderFiles(file.file.path, file.file.name)
    return next((files.place(p) for p, _ in file.imported.files if files.name(p) == place.source.name), None)


def _is_plain(dataset: LogicalDataset, slot: Slot) -> bool:
    """Whether the name stands in a text as it is."""
    origins = dataset.origins
    document = origins.document
    assert document is not None
    path = (*origins.base, *slot.declared_at, "name")
    found = document.origin(path) if isinstance(document, ExpandedDocument) else None
    if found is None:
        return True
    value: object = found.document.value
    for step in found.path:
        value = value[step]  # type: ignore[index]
    return value == slot.segment


def _files_around(
    file: CompiledFile, path: Path, project: Project, report: Report, around: Surroundings
) -> list[CompiledFile]:
    """Return the manifest, and all others of the project that import the file, or are it."""
    own, target = file.file.path.resolve(), path.resolve()
    if around.manifests is not None:
        known = around.manifests(report)
        compiled = [file, *(one for one in known if one.file.path.resolve() != own)]
        return [one for one in compiled if one is file or target in _files_of(one)]
    configured = project.configuration.manifests or (".",)
    out = project.folder / project.configuration.out
    found = find_manifests(configured, project.folder, out, Report(), project.exclusion)
    others = [other._replace(is_named=False) for other in found if other.path.resolve() != own]
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
            slots = tuple(
                slot
                for slot in preorder(dataset.columns)
                if slot.is_member and _where(place_of_name(dataset, slot)) == where
            )
            if slots:
                yield _Member(file, dataset, slots, new)


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
        for slot in member.slots:
            if slot.parent is None:
                own = member.file.file.path
                own_source = member.dataset.origins.source
                assert own_source is not None
                found = set(edits_of_column(member.dataset, str(slot.segment), member.new))
                if found:
                    texts.setdefault(own, own_source)
                    edits.setdefault(own, set()).update(found)
        named = edits_of_successors(member.dataset, paths[member.dataset.name])
        for place, other in (*named, *edits_of_references(member.dataset, paths)):
            found_in = _file_of(member.file, place)
            assert found_in is not None, "a manifest has texts of its own and of its imports"
            texts.setdefault(found_in, place.source)
            edits.setdefault(found_in, set()).add(other)
    return {
        place: Rewritten(
            place, texts[place].name, texts[place].content, edited(texts[place].content, [*found])
        )
        for place, found in edits.items()
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
    wanted = {member.dataset.name: member for member in members}
    given = {str(path.resolve()): text.after.encode() for path, text in contents.items()}
    given = {**surroundings.edited, **given}
    found = Report()
    for file in around:
        files = FolderFiles(file.file.path.resolve(), file.file.name, given)
        text = given.get(files.key(""), file.content).decode("utf-8")
        made = check_source(
            SourceText(text, file.file.name), project, found, reuse=Reuse(files), is_named=False
        )
        names = [named.name for named in file.named]
        for before, now, name in zip(file.datasets, made, names, strict=False):
            member = wanted.get(name)
            fields = fields_of(before) if member is None else member.fields_after
            if fields_of(now) == fields:
                after[name] = replace(now, name=name)
    if found.has_errors:
        report.extend(found.diagnostics)
        return None
    for member in members:
        if member.dataset.name not in after:
            slot = member.slots[0]
            message = f"{slot.path_text} cannot be edited alone: its text also stands for other fields"
            refuse_edit(member.dataset, slot, message, report)
            return None
    return after


def _renamed(fields: Fields, slots: Sequence[Slot], renamed: frozenset[Slot], new: str) -> Fields:
    """Return fields as plain values, with another name for some."""
    return [
        [new if slot in renamed else name, *own, _renamed(inside, slot.children, renamed, new)]
        for (name, *own, inside), slot in zip(fields, slots, strict=True)
    ]


def _locks(
    members: Sequence[_Member], after: Mapping[str, LogicalDataset], report: Report
) -> dict[Path, Relocked] | None:
    """Return the locks with the new names, by manifest, where datasets have one; None after saying what is in the way."""
    held: dict[Path, Relocked] = {}
    for member in members:
        path = member.file.file.path
        if path not in held:
            file = open_lock(path, member.file.file.name, report)
            if file is None:
                continue
            held[path] = Relocked(file, file.lock)
        lock = held[path].lock
        locked = lock.dataset(member.dataset.name)
        if locked.newest is None:
            continue
        before = identified(member.dataset, locked, report)
        report_unlocked(member.dataset, locked, before, report, is_error=True)
        found = identify(after[member.dataset.name], locked, renamed=member.renamed)
        lock = lock.with_dataset(freeze(after[member.dataset.name], locked, found))
        held[path] = Relocked(held[path].file, lock)
    return None if report.has_errors else held
