"""A field gets another name or another place, in the manifest and in the lock at once.

Layer: project.
Shape: a renaming changes the text at the name itself, and where attributes of the schema name the column; a move takes
the field's lines, with their comments, to the end of another list of fields. All else stays byte for byte. The edited
text is read again before anything is written: it has to say what was asked for, and nothing more.
Errors: SC319 unknown-column for a name that is not there, SC401 where other changes wait to be locked, SC409 refused-edit,
and whatever the checks say of the edited manifest.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from schemac.attributes.family import Family
from schemac.identity.freeze import freeze, identify
from schemac.logical.dataset import LogicalDataset
from schemac.logical.path import dotted
from schemac.logical.schema_fields import SchemaField, TreePath, preorder
from schemac.manifest.library import Reuse
from schemac.manifest.write import scalar
from schemac.project.configuration import Project
from schemac.project.group_renaming import rename_in_groups
from schemac.project.imported import FolderFiles
from schemac.project.locking import identified, open_lock, report_unlocked
from schemac.project.manifest_edit import Block, NoBlockError, block_of, moved
from schemac.project.manifests import CompiledFile
from schemac.project.name_edits import (
    Edit,
    Fields,
    NoEditError,
    Renamed,
    edit_at,
    edited,
    edits_of_column,
    edits_of_references,
    edits_of_successors,
    fields_of,
    place_of_name,
    refuse_edit,
)
from schemac.project.rewriting import ON_DISK, Relocked, Rewriting, Rewritten, Surroundings, write
from schemac.project.stages import check_source
from schemac.source.catalogue import UNKNOWN_COLUMN
from schemac.source.json_object import Json
from schemac.source.report import Report
from schemac.source.span import Span
from schemac.source.suggest import closest
from schemac.source.text import SourceText, read_file
from schemac.syntax.document import parse

_STEP = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")


@dataclass(frozen=True, slots=True)
class _Goal:
    """Where a field is to go."""

    parent: SchemaField | None
    name: str

    @property
    def path_text(self) -> str:
        above = self.parent.path if self.parent is not None else ()
        return dotted((*above, self.name))


def rename(
    file: CompiledFile, dataset: LogicalDataset, old: str, new: str, project: Project, report: Report
) -> Renamed | None:
    """Rename or move a field; None after saying why not."""
    planned = planned_rename(file, dataset, old, new, project, report)
    return planned.renamed if planned is not None and write(planned, report) else None


def planned_rename(
    file: CompiledFile,
    dataset: LogicalDataset,
    old: str,
    new: str,
    project: Project,
    report: Report,
    around: Surroundings = ON_DISK,
) -> Rewriting | None:
    """Return what changes where a field is renamed or moved; None after saying why it cannot be.

    A name alone is another name at the same place, a path another place; and the name that the field has already,
    alone, takes it out to the columns.
    """
    field = _find(dataset, old, report)
    goal = _goal(dataset, field, new, report) if field is not None else None
    if field is None or goal is None:
        return None
    if goal.parent is field.parent and place_of_name(dataset, field).labels:
        return rename_in_groups(file, dataset, field, goal.name, project, report, around)
    lock_file = open_lock(file.file.path, file.file.name, report)
    if lock_file is None:
        return None
    locked = lock_file.lock.dataset(dataset.name)
    if locked.newest is not None:
        before = identified(dataset, locked, report)
        report_unlocked(dataset, locked, before, report, is_error=True)
    if report.has_errors:
        return None
    try:
        text = _edited_text(dataset, field, goal)
    except (NoBlockError, NoEditError) as error:
        refuse_edit(dataset, field, f"{field.path_text} cannot be moved: {error}", report)
        return None
    after = _checked(text, file, dataset, (field, goal), project, report, around)
    if after is None:
        return None
    lock = lock_file.lock
    if locked.newest is not None:
        identities = identify(after, locked, renamed={goal.path_text: field.path_text})
        lock = lock.with_dataset(freeze(after, locked, identities))
    newest = lock.dataset(dataset.name).newest
    renamed = Renamed(file.file.name, goal.path_text, newest.number if newest else None)
    assert dataset.origins.source is not None, "a manifest on disk has a text"
    rewritten = Rewritten(file.file.path, file.file.name, dataset.origins.source.content, text)
    return Rewriting(renamed, (rewritten,), (Relocked(lock_file, lock),) if lock_file.exists else ())


def pipeline_hints(file: CompiledFile, dataset: LogicalDataset, old: str, new: str) -> Iterator[str]:
    """Yield what to look at in pipelines next to a manifest, after a column has got another name."""
    if old not in {str(field.segment) for field in dataset.columns}:
        return
    manifest = file.file.path.resolve()
    for path in sorted(manifest.parent.glob("*.y*ml")):
        value = _pipeline(path)
        if value is None or (path.parent / value["schema"]).resolve() != manifest:
            continue
        fields = value.get("fields") or {}
        if isinstance(fields, dict) and old in fields:
            yield f"{path.name}: its `fields` uses {old}; change that to {new}"
        else:
            yield f"{path.name}: its records still have {old}; write `{scalar(new)}: {scalar(old)}` under `fields`"


def _pipeline(path: Any) -> Json | None:
    """Return a pipeline file's content; None for every other file."""
    try:
        content = read_file(path, 1 << 20)[: 1 << 20].decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    if "schema" not in content or "target" not in content:
        return None
    documents = parse(SourceText(content, path.name), Report())
    value = documents[0].value if len(documents) == 1 else None
    is_pipeline = isinstance(value, dict) and isinstance(value.get("schema"), str) and "target" in value
    return value if isinstance(value, dict) and is_pipeline else None


def _find(dataset: LogicalDataset, path_text: str, report: Report) -> SchemaField | None:
    fields = {field.path_text: field for field in preorder(dataset.columns) if field.is_member}
    if path_text not in fields:
        near = closest(path_text, fields)
        report.add(
            UNKNOWN_COLUMN,
            f"{dataset.name} has no field {path_text}",
            file=dataset.origins.file,
            help=f"did you mean {near}?" if near else f"its fields are {', '.join(fields)}",
        )
    return fields.get(path_text)


def _goal(dataset: LogicalDataset, field: SchemaField, new: str, report: Report) -> _Goal | None:
    steps = _steps(new)
    if steps is None:
        message = f"'{new}' is not a valid field path"
        report.add(
            UNKNOWN_COLUMN, message, file=dataset.origins.file, help="put names with dots in backticks"
        )
        return None
    *above, name = steps
    if not above:
        return _Goal(None if name == field.segment else field.parent, name)
    path_text = dotted(tuple(above))
    structs = {one.path_text: one for one in preorder(dataset.columns) if one.type.family is Family.STRUCT}
    parent = structs.get(path_text)
    if parent is None:
        near = closest(path_text, structs)
        report.add(
            UNKNOWN_COLUMN,
            f"{dataset.name} has no struct {path_text} to move {field.path_text} into",
            file=dataset.origins.file,
            help=f"did you mean {near}?"
            if near
            else "add the struct to the manifest and lock it first; if the dot is part of a name, put the name in backticks",
        )
        return None
    if field in _above(parent):
        refuse_edit(dataset, field, f"{field.path_text} cannot be moved into itself", report)
        return None
    return _Goal(parent, name)


def _above(field: SchemaField | None) -> Iterator[SchemaField]:
    while field is not None:
        yield field
        field = field.parent


def _steps(path: str) -> list[str] | None:
    """Return the names of a dotted path; those with dots or backticks are in backticks."""
    steps: list[str] = []
    at = 0
    while (match := _STEP.match(path, at)) is not None:
        steps.append(match[1].replace("``", "`") if match[1] is not None else match[2])
        at = match.end()
        if at == len(path):
            return steps
        if path[at] != ".":
            return None
        at += 1
    return None


def _edited_text(dataset: LogicalDataset, field: SchemaField, goal: _Goal) -> str:
    """Return the manifest after the edit; raises where the text is not written so that a move is a matter of lines."""
    assert dataset.origins.source is not None, "a manifest on disk has a text"
    text = dataset.origins.source.content
    edits = list(_edits(dataset, field, goal))
    if goal.parent is field.parent:
        named = [*_successors(dataset, field, goal), *_references(dataset, field, goal)]
        return edited(text, [*dict.fromkeys([*edits, *named])])
    block = _block(dataset, field.declared_at)
    last = _last_block(dataset, goal.parent)
    siblings = field.parent.children if field.parent is not None else dataset.columns
    if len(siblings) == 1:
        raise NoBlockError("the struct it is in would have no fields left")
    inside = [Edit(Span(e.span.start - block.start, e.span.end - block.start), e.text) for e in edits]
    return moved(text, block, edited(text[block.start : block.end], inside), last)


def _block(dataset: LogicalDataset, place: TreePath) -> Block:
    location = dataset.origins.place(place)
    assert location is not None
    if location.labels:
        raise NoBlockError("it stands in a group")
    return block_of(location.source.content, location.span)


def _last_block(dataset: LogicalDataset, parent: SchemaField | None) -> Block:
    """Return the last field of the list that a moved one goes to."""
    place: TreePath = (*parent.type_at, "fields") if parent is not None else ("fields",)
    siblings = parent.children if parent is not None else dataset.columns
    where = parent.path_text if parent is not None else "the columns"
    if not siblings:
        raise NoBlockError(f"{where} has no fields yet, so the place to insert it cannot be found")
    try:
        return _block(dataset, (*place, len(siblings) - 1))
    except NoBlockError:
        raise NoBlockError(f"the fields of {where} are not on lines of their own") from None


def _edits(dataset: LogicalDataset, field: SchemaField, goal: _Goal) -> Iterator[Edit]:
    """Yield the name, and for a column every attribute of the schema that speaks of it."""
    old, new = str(field.segment), goal.name
    if old != new:
        yield edit_at(dataset, (*field.declared_at, "name"), new)
    # A column that moves away is one no more: what names it has to be settled by its author.
    if field.parent is not None or goal.parent is not None or old == new:
        return
    yield from edits_of_column(dataset, old, new)


def _successors(dataset: LogicalDataset, field: SchemaField, goal: _Goal) -> Iterator[Edit]:
    """Yield the edits of the deprecated fields that name this one as their successor."""
    for place, edit in edits_of_successors(dataset, {field.path_text: goal.path_text}):
        if place.source.name != dataset.origins.file:
            raise NoBlockError(f"it is a successor in {place.source.name}")
        yield edit


def _references(dataset: LogicalDataset, field: SchemaField, goal: _Goal) -> Iterator[Edit]:
    """Yield the edits of the dataset's own references, of which some may lead to itself."""
    for place, edit in edits_of_references(dataset, {dataset.name: {field.path_text: goal.path_text}}):
        if place.source.name != dataset.origins.file:
            raise NoEditError(f"a reference in {place.source.name} names it")
        yield edit


def _checked(
    text: str,
    file: CompiledFile,
    dataset: LogicalDataset,
    change: tuple[SchemaField, _Goal],
    project: Project,
    report: Report,
    around: Surroundings,
) -> LogicalDataset | None:
    """Return the dataset of the edited manifest, if it passes the checks and says what it should."""
    field, goal = change
    local_report = Report()
    reuse = Reuse(FolderFiles(file.file.path, file.file.name, around.edited))
    datasets = check_source(SourceText(text, file.file.name), project, local_report, reuse=reuse)
    by_name = {one.name: one for one in datasets}
    after = by_name.pop(dataset.name, None)
    others = {one.name: one for one in file.datasets if one.name != dataset.name}
    is_as_asked = (
        after is not None and by_name == others and fields_of(after) == _fields_after(dataset, field, goal)
    )
    if local_report.has_errors and is_as_asked:
        # The edit is as it was meant, and what it makes is not allowed: a name that is taken, a key without its column.
        report.extend(local_report.diagnostics)
        return None
    if not is_as_asked:
        refuse_edit(
            dataset,
            field,
            f"{field.path_text} cannot be edited alone: its text, for example that of an anchor, also stands for"
            " other fields",
            report,
        )
        return None
    report.extend(local_report.diagnostics)
    return after


def _fields_after(dataset: LogicalDataset, field: SchemaField, goal: _Goal) -> Fields:
    """Return the fields as they are to be."""
    renamed = {field.path_text: goal.path_text} if goal.parent is field.parent else {}
    fields = fields_of(dataset, renamed)

    def at(parent: SchemaField | None) -> Fields:
        if parent is None:
            return fields
        members = parent.parent.children if parent.parent is not None else dataset.columns
        inner_fields: Fields = at(parent.parent)[members.index(parent)][-1]
        return inner_fields

    source, target = at(field.parent), at(goal.parent)
    siblings = field.parent.children if field.parent is not None else dataset.columns
    index = siblings.index(field)
    source[index][0] = goal.name
    if source is not target:
        target.append(source.pop(index))
    return fields
