"""The names at a cursor: what each may refer to, and those that a text defines: groups, fields, datasets, vocabularies.

Layer: lsp.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import SchemaField, preorder
from schemac.language.manifest.groups import Definition
from schemac.language.manifest.library import GroupScope, Reuse, scope_of
from schemac.lsp.projects import CheckedProject, key_of
from schemac.project.imported import FolderFiles
from schemac.project.manifests import CompiledFile
from schemac.text.source.json_object import TreePath
from schemac.text.source.report import Region, Report, SourceText
from schemac.text.syntax.document import parse


def file_at(text: str, path: str) -> str:
    """Return the absolute path of a file that a text names by its path from there; that of the text for an empty one."""
    return os.path.normpath(os.path.join(os.path.dirname(text), path)) if path else text


def paths_in(fields: Sequence[SchemaField]) -> Iterator[str]:
    """Yield the paths of fields and of those below them."""
    return (field.path_text for field in preorder(fields) if field.is_member)


def datasets_called(name: Any, checked: CheckedProject) -> Iterator[tuple[CompiledFile, LogicalDataset]]:
    """Yield the datasets of a name, with their manifests; there should be one."""
    for file in checked.files:
        for number, named in enumerate(file.named):
            if named.name == name:
                yield file, file.datasets[number]


class FieldLocation(NamedTuple):
    """Where a field was written: a text by its name, a document of it, and the path there."""

    file: str
    document: int
    path: TreePath


class DatasetField(NamedTuple):
    """A field of a dataset, and its manifest."""

    file: CompiledFile
    dataset: LogicalDataset
    field: SchemaField


def fields_by_location(file: CompiledFile) -> dict[FieldLocation, list[DatasetField]]:
    """Return the fields of a manifest by where they were written; a field of a group may be several."""
    by_location: dict[FieldLocation, list[DatasetField]] = {}
    for dataset in file.datasets:
        for field in preorder(dataset.columns):
            location = location_of(dataset, field)
            if location is not None:
                by_location.setdefault(location, []).append(DatasetField(file, dataset, field))
    return by_location


def innermost_fields(
    files: Sequence[CompiledFile], name: str, document: int, path: TreePath
) -> list[DatasetField]:
    """Return the fields that a path of a text is in, innermost first; the first manifest that has some counts."""
    for file in files:
        fields = fields_by_location(file)
        for depth in range(len(path), 0, -1):
            dataset_fields = fields.get(FieldLocation(name, document, path[:depth]))
            if dataset_fields:
                return dataset_fields
    return []


def location_of(dataset: LogicalDataset, field: SchemaField) -> FieldLocation | None:
    """Return the location of a field; None for one that the compiler inserted."""
    origins = dataset.origins
    if origins.document is None:
        return None
    document, path, _ = origins.document.origin((*origins.base, *field.declared_at))
    return FieldLocation(document.source.name, document.index, path)


def files_with(checked: CheckedProject, path: str) -> list[CompiledFile]:
    """Return the manifest at a path as it could be read last, or those that import it."""
    manifest = checked.readable.get(path)
    manifests = [manifest] if manifest is not None else []
    return [*manifests, *(file for file in users_of(checked, path) if file is not manifest)]


def users_of(checked: CheckedProject, path: str) -> Iterator[CompiledFile]:
    """Yield the manifests that import a file."""
    for file in checked.files:
        around = FolderFiles(file.file.path, file.file.name, checked.buffers)
        if any(around.key(imported) == path for imported, _ in file.imported.files):
            yield file


def document_number(lines: Sequence[str], first: int) -> int:
    """Return which document of a text begins at a line."""
    number = 0
    has_content = False
    for line in lines[: first + 1]:
        if line.startswith("---") and not line[3:4].strip():
            number += has_content
            has_content = True
        elif line.strip() and not line.startswith(("#", "%")):
            has_content = True
    return number


class FileRange(NamedTuple):
    """A range of a file, as editors name it."""

    path: str
    """Absolute."""
    region: Region

    def has(self, path: str, place: tuple[int, int]) -> bool:
        """Whether a zero-based line and column of a file is in it, or at its end."""
        region, at = self.region, (place[0] + 1, place[1] + 1)
        start, end = (region.line, region.column), (region.end_line, region.end_column)
        return self.path == path and start <= at <= end


@dataclass(frozen=True)
class FieldTarget:
    """A field; `all` are the fields that have its name from the same place."""

    dataset_field: DatasetField
    all: tuple[DatasetField, ...]


@dataclass(frozen=True)
class GroupTarget:
    """A group."""

    name: str
    file: str
    """The absolute path of the file that defines it."""


@dataclass(frozen=True)
class ParameterTarget:
    """A parameter of a group."""

    group: GroupTarget
    name: str


@dataclass(frozen=True)
class DatasetTarget:
    """A dataset."""

    name: str


@dataclass(frozen=True)
class FileTarget:
    """A file."""

    path: str


@dataclass(frozen=True)
class VocabularyTarget:
    """An attribute of a project's own domain."""

    name: str
    """With its domain."""


NamedTarget = GroupTarget | ParameterTarget | DatasetTarget | VocabularyTarget
"""What is called the same wherever it is named."""
Target = FieldTarget | FileTarget | NamedTarget


_MOST_FILES = 1_000
"""Files that are offered for an import, or as the schema of a pipeline."""


class TextScope:
    """The names that one text can use."""

    def __init__(self, checked: CheckedProject, path: str, lines: Sequence[str], line: int = -1) -> None:
        self._checked = checked
        self._path = path
        self._lines = lines
        self._line = line
        """The line that is being typed, which may be in the way of reading the others."""

    @cached_property
    def group_scope(self) -> GroupScope | None:
        """The groups that the text knows; None if it names none."""
        whole = "\n".join(self._lines)
        without = "\n".join([*self._lines[: self._line], "", *self._lines[self._line + 1 :]])
        for text in (whole, without) if self._line >= 0 else (whole,):
            source = SourceText(text, Path(self._path).name)
            documents = parse(source, Report())
            if documents:
                name, buffers = self._checked.name(self._path), self._checked.buffers
                reuse = Reuse(FolderFiles(Path(self._path), name, buffers))
                return scope_of(documents, reuse, Report())
        return None

    @property
    def folder(self) -> Path:
        """The folder of the text."""
        return Path(self._path).parent

    def definition(self, name: str) -> Definition | None:
        """Return a group."""
        scope = self.group_scope
        resolved = scope.find(name) if scope is not None else None
        return resolved[0] if resolved is not None else None

    def groups(self) -> Iterator[tuple[str, str]]:
        """Yield the groups that can be used, with their descriptions."""
        scope = self.group_scope
        for name in scope.names if scope is not None else ():
            definition = self.definition(name)
            yield name, definition.group.description if definition is not None else ""

    def parameters(self, name: Any) -> Iterator[tuple[str, str, bool]]:
        """Yield the parameters of a group: name, description, and whether a use has to give it."""
        definition = self.definition(name) if isinstance(name, str) else None
        for parameter, one in definition.group.parameters.items() if definition is not None else ():
            yield parameter, one.description, one.is_required

    def files(self, *, has_datasets: bool) -> Iterator[str]:
        """Yield the paths of the project's other files, from the folder of the text: manifests, or what they can import."""
        for file in self._checked.files[:_MOST_FILES]:
            if bool(file.named) == has_datasets and key_of(file.file.path) != self._path:
                yield Path(os.path.relpath(file.file.path, self.folder)).as_posix()

    def datasets(self) -> Iterator[str]:
        """Yield the names of the project's datasets."""
        for file in self._checked.files:
            yield from (named.name for named in file.named)

    def datasets_in(self, path: str = "") -> list[LogicalDataset]:
        """Return the datasets of the text, or of a manifest by its path from there, as they could be read last."""
        file = self._checked.readable.get(file_at(self._path, path))
        return file.datasets if file is not None else []

    def paths(self) -> Iterator[str]:
        """Yield the paths of the text's fields."""
        for dataset in self.datasets_in():
            yield from paths_in(dataset.columns)

    def paths_of(self, name: Any) -> Iterator[str]:
        """Yield the paths of the fields of another dataset."""
        dataset = self.dataset(name)
        return paths_in(dataset.columns if dataset is not None else ())

    def dataset(self, name: Any) -> LogicalDataset | None:
        """Return a dataset of the project."""
        return next((dataset for _, dataset in datasets_called(name, self._checked)), None)

    def dataset_of_pipeline(self, root: Mapping[str, str]) -> LogicalDataset | None:
        """Return the dataset that a pipeline with these outermost keys is about."""
        datasets = self.datasets_in(root.get("schema", ""))
        name = root.get("dataset")
        if name:
            return next((one for one in datasets if one.name == name), None)
        return datasets[0] if len(datasets) == 1 else None

    def vocabulary_keys(self) -> Iterator[tuple[str, str]]:
        """Yield the attributes of the project's own vocabularies, with their descriptions."""
        for vocabulary in self._checked.project.vocabularies:
            schema: Any = vocabulary.validator.schema
            properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
            for name, body in properties.items():
                text = body.get("description", "") if isinstance(body, dict) else ""
                yield f"{vocabulary.domain}/{name}", text
