"""From a name to where it is defined, and to all places that have it.

Layer: lsp.
Shape: a name at a cursor is a `Target`. Both directions begin with it.
"""

import os
from functools import cached_property

from schemac.language.attributes.constraints import REFERENCES
from schemac.language.attributes.registry import domain_of
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import preorder
from schemac.language.manifest.documents import is_overlay, is_pipeline
from schemac.language.manifest.groups import PLACEHOLDER, Use, strings_in
from schemac.lsp.completion import names_field
from schemac.lsp.cursor import CursorRole
from schemac.lsp.grammar import GrammarContext
from schemac.lsp.locations import FileRange, FileTarget, Target, TextScope, document_number
from schemac.lsp.projects import CheckedProject
from schemac.project.discovery import lock_path
from schemac.project.imported import FolderFiles, file_at
from schemac.project.locking import numbered_by_lock, open_lock
from schemac.project.manifests import CompiledFile
from schemac.project.occurrences import Occurrence, occurrences_of, place_of_name
from schemac.project.project_texts import (
    DatasetField,
    DatasetTarget,
    FieldLocation,
    FieldTarget,
    GroupTarget,
    ParameterTarget,
    ProjectTexts,
    VocabularyTarget,
    datasets_called,
    fields_by_location,
    key_of,
    location_of,
)
from schemac.text.source.diagnostics import Region, Report, Span
from schemac.text.source.json_object import TreePath
from schemac.text.syntax.document import documents_in
from schemac.versions.identity.lockfile import dataset_line


class Navigator:
    """Finds what a cursor names, in a project as it was checked."""

    def __init__(self, checked: CheckedProject) -> None:
        self.checked = checked

    @cached_property
    def texts(self) -> ProjectTexts:
        """All texts that may name something."""
        return ProjectTexts(self.checked.project, self.checked.files, self.checked.buffers)

    def _files_with(self, path: str) -> list[CompiledFile]:
        """Return the manifest at a path as it could be read last, or those that import it."""
        manifests = [self.checked.readable[path]] if path in self.checked.readable else []
        users = [file for file in self.texts.users_of(path) if key_of(file.file.path) != path]
        return [*manifests, *users]

    def fields_at(
        self, path: str, context: GrammarContext, tree_path: TreePath | None = None
    ) -> list[DatasetField]:
        """Return the innermost fields that the cursor is in, or a path of its text; the first manifest that has some counts."""
        number = document_number(context.lines, context.cursor.document)
        target_path = context.path_on_key if tree_path is None else tree_path
        for file in self._files_with(path):
            fields = fields_by_location(file)
            for depth in range(len(target_path), 0, -1):
                location = FieldLocation(self.checked.name(path), number, target_path[:depth])
                if location in fields:
                    return fields[location]
        return []

    def target(self, path: str, context: GrammarContext) -> Target | None:
        """Return what the name at a cursor means; None if there is no name."""
        if context.is_in_comment or context.cursor.role is CursorRole.TEXT:
            return None
        scope = TextScope(self.checked, path, context.lines)
        return (
            self._parameter_target(path, context, scope)
            or self._companion_target(path, context, scope)
            or self._written_name(path, context, scope)
            or self._field_name(path, context)
            or self._dataset_at_name(path, context)
        )

    def _written_name(self, path: str, context: GrammarContext, scope: TextScope) -> Target | None:
        """Return what a value names that is not a field's own name."""
        cursor = context.cursor
        on_key = context.path_on_key
        shape = context.shape_at(on_key)
        value = context.written.value(len(cursor.path)) if not cursor.key else None
        if on_key[-2:-1] == ("groups",) and cursor.key:
            return self._group_target(cursor.key, path, scope)
        if shape.holder is Use and shape.name == "use" and isinstance(value, str):
            return self._group_target(value, path, scope)
        if cursor.path[-2:-1] == ("imports",) and isinstance(value, str):
            return FileTarget(file_at(path, value))
        attribute, steps = shape.attribute, shape.steps
        if cursor.key and domain_of(cursor.key) in self.checked.project.vocabulary_contents:
            return VocabularyTarget(cursor.key)
        if attribute is None or not isinstance(value, str):
            return None
        if attribute.key == REFERENCES.key and steps[-1:] == ("dataset",):
            return DatasetTarget(value)
        if attribute.key == REFERENCES.key and steps[1:2] == ("to",):
            reference = context.written.value(len(cursor.path) - 2)
            name = reference.get("dataset") if isinstance(reference, dict) else None
            return self._find_field(scope.dataset(name), value)
        datasets = scope.datasets_in() if names_field(attribute, steps) else []
        targets = (self._find_field(dataset, value) for dataset in datasets)
        return next(filter(None, targets), None)

    def _group_target(self, name: str, path: str, scope: TextScope) -> GroupTarget | None:
        """Return a group with the file that defines it, by the name that a text uses; None if the text knows no such group."""
        resolved = scope.group_scope.find(name) if scope.group_scope is not None else None
        if resolved is None:
            return None
        definition, around = resolved
        return GroupTarget(definition.name, file_at(path, around.path))

    def _parameter_target(self, path: str, context: GrammarContext, scope: TextScope) -> Target | None:
        """Return the parameter of a group that is named: by its definition, by a use, or as `$(name)` in a text."""
        cursor, on_key = context.cursor, context.path_on_key
        if cursor.key and on_key[-2:-1] == ("with",):
            use = context.written.value(len(on_key) - 2)
            name, parameter = use.get("use") if isinstance(use, dict) else None, cursor.key
        elif cursor.key and on_key[-2:-1] == ("parameters",) and on_key[-4:-3] == ("groups",):
            name, parameter = on_key[-3], cursor.key
        elif "groups" in on_key[:-1]:
            line, column = cursor.place
            matches = PLACEHOLDER.finditer(context.lines[line])
            parameter = next((m[1] for m in matches if m[1] and m.start() <= column <= m.end()), "")
            name = on_key[on_key.index("groups") + 1]
        else:
            return None
        group = self._group_target(name, path, scope) if isinstance(name, str) and parameter else None
        return ParameterTarget(group, parameter) if group is not None else None

    def _companion_target(self, path: str, context: GrammarContext, scope: TextScope) -> Target | None:
        """Return what an overlay or a pipeline names: a dataset, a field of it, or a manifest."""
        root, is_key = context.written.root, bool(context.cursor.key)
        sort = "overlay" if is_overlay(root) else "pipeline" if is_pipeline(root) else ""
        match (sort, is_key, *context.path_on_key):
            case ("overlay", True, "datasets", str(name)) | ("pipeline", True, "references", str(name)):
                return DatasetTarget(name)
            case ("overlay", True, "datasets", name, "fields", str(path_text)):
                return self._find_field(scope.dataset(name), path_text)
            case ("pipeline", True, "fields", str(path_text)):
                return self._find_field(scope.dataset_of_pipeline(root), path_text)
            case ("pipeline", False, "dataset") if root.get("dataset"):
                return DatasetTarget(root["dataset"])
            case ("pipeline", False, "schema") if root.get("schema"):
                return FileTarget(file_at(path, root["schema"]))
        return None

    def _dataset_at_name(self, path: str, context: GrammarContext) -> Target | None:
        """Return the dataset whose own name the cursor is on."""
        file = self.checked.file(path)
        for named, dataset in zip(file.named, file.datasets, strict=True) if file is not None else ():
            place = dataset.origins.name_location if dataset.origins.named_at is not None else None
            if place is not None and FileRange(path, place.region).has(path, context.cursor.place):
                return DatasetTarget(named.name)
        return None

    def _field_name(self, path: str, context: GrammarContext) -> Target | None:
        """Return the field whose own name the cursor is on."""
        cursor = context.cursor
        if cursor.path[-1:] != ("name",) and cursor.key != "name":
            return None
        field_path = cursor.path[:-1] if not cursor.key else cursor.path
        dataset_fields = self.fields_at(path, context, field_path)
        if not dataset_fields or not dataset_fields[0].field.is_member:
            return None
        place = location_of(dataset_fields[0].dataset, dataset_fields[0].field)
        is_own_name = place is not None and place.path == field_path
        return self._field_target(dataset_fields[0]) if is_own_name else None

    def _find_field(self, dataset: LogicalDataset | None, path_text: str) -> FieldTarget | None:
        """Return a field of a dataset by its path; None if there is none."""
        if dataset is None:
            return None
        field = next((s for s in preorder(dataset.columns) if s.is_member and s.path_text == path_text), None)
        file = next((file for file, _ in datasets_called(dataset.name, self.checked.files)), None)
        if field is None or file is None:
            return None
        return self._field_target(DatasetField(file, dataset, field))

    def _field_target(self, dataset_field: DatasetField) -> FieldTarget:
        where = location_of(dataset_field.dataset, dataset_field.field)
        path = self.checked.path(where.file) if where is not None else ""
        return FieldTarget.of(dataset_field, self._files_with(path))

    # Definitions

    def definitions(self, target: Target) -> list[FileRange]:
        """Return where a name is defined; for a field at its own definition, its lines in the lock."""
        match target:
            case FileTarget():
                return [FileRange(target.path, Region(1, 1, 1, 1))] if os.path.exists(target.path) else []
            case FieldTarget():
                place = place_of_name(target.dataset_field.dataset, target.dataset_field.field)
                return [FileRange(self.checked.path(place.source.name), place.region)]
            case _:
                sites = [site_of(one) for one in occurrences_of(target, "", self.texts) if one.is_definition]
                if isinstance(target, DatasetTarget) and not sites:
                    return [
                        FileRange(key_of(file.file.path), start.region)
                        for file, dataset in datasets_called(target.name, self.checked.files)
                        if (start := dataset.origins.name_location) is not None
                    ]
                return sites

    def lock_lines(self, dataset_field: DatasetField) -> list[FileRange]:
        """Return the lines of a field in its lock, newest version last."""
        manifest, dataset = dataset_field.file.file, dataset_field.dataset
        lock_file = open_lock(manifest.path, manifest.name, Report())
        if lock_file is None or lock_file.text is None:
            return []
        id_ = numbered_by_lock(dataset, lock_file.lock, Report()).ids.get(dataset_field.field)
        header, path = dataset_line(dataset.name), key_of(lock_path(manifest.path))
        is_in_dataset = False
        lines: list[FileRange] = []
        for number, line in enumerate(lock_file.text.splitlines(), 1):
            if line.startswith("dataset "):
                is_in_dataset = line == header or line.startswith(f"{header} ")
            elif is_in_dataset and line.startswith(f"field {id_} "):
                lines.append(FileRange(path, Region.within(number, 1, len(line) + 1)))
        return lines

    # References

    def references(self, target: Target) -> list[FileRange]:
        """Return all places that name something, of a field those in locks too; without the definition of a name."""
        if isinstance(target, FileTarget):
            return [
                FileRange(key_of(file.file.path), document.location(at).region)
                for file in self.texts.users_of(target.path)
                for document in documents_in(file.content, file.file.name)
                for at, value in strings_in(document.value)
                if at[-2:-1] == ("imports",)
                and FolderFiles(file.file.path, file.file.name).key(value) == target.path
            ]
        sites = [site_of(one) for one in occurrences_of(target, "", self.texts) if not one.is_definition]
        for dataset_field in target.all if isinstance(target, FieldTarget) else ():
            sites += self.lock_lines(dataset_field)
        return list(dict.fromkeys(sites))


def site_of(occurrence: Occurrence) -> FileRange:
    """Return the place of a name without its quotes."""
    span, written = occurrence.span, occurrence.source.excerpt(occurrence.span)
    is_quoted = len(written) > 1 and written[0] in "'\"" and written[-1] == written[0]
    inner = Span(span.start + 1, span.end - 1) if is_quoted else span
    return FileRange(occurrence.path, occurrence.source.region(inner))
