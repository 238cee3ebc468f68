"""All texts of a project: manifests, what they import, pipelines and overlays; and what in them has a name.

Layer: project.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import SchemaField, preorder
from schemac.language.manifest.documents import is_overlay, is_pipeline
from schemac.language.manifest.library import GroupScope, Reuse, scope_of
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile, content_of
from schemac.project.imported import FolderFiles
from schemac.project.manifests import CompiledFile, read_manifests, with_distinct_datasets
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import TreePath
from schemac.text.syntax.document import Document, documents_in


class ProjectTexts:
    """The texts of a project whose manifests were checked; files that no manifest names are looked for once."""

    def __init__(self, project: Project, files: Sequence[CompiledFile], edited: Mapping[str, bytes]) -> None:
        self.project = project
        self.files = files
        self.edited = edited
        """What is taken in place of files, by absolute path: the texts that an editor holds."""
        self._documents: dict[str, list[Document]] = {}

    @classmethod
    def around(cls, file: CompiledFile, project: Project) -> "ProjectTexts":
        """Return the texts on disk, with a manifest that is read already; its datasets keep their names."""
        path = file.file.path.resolve()
        others = [one for one in project.manifests(Report()) if one.path.resolve() != path]
        compiled = read_manifests([one._replace(is_named=False) for one in others], project, Report())
        return cls(project, with_distinct_datasets([file, *compiled], Report()), {})

    def with_word(self, word: str) -> Iterator[str]:
        """Yield the absolute paths of all texts that have a word."""
        needle = word.encode()
        for path, (_, content) in self._contents.items():
            if needle in content:
                yield path

    def documents(self, path: str) -> list[Document]:
        """Return the documents of a text; none where it is not there, or is not YAML."""
        if path not in self._documents:
            name, content = self._contents.get(path) or (self._name(path), self._read(path))
            self._documents[path] = documents_in(content, name) if content is not None else []
        return self._documents[path]

    def groups(self, path: str) -> GroupScope | None:
        """Return the groups that a text knows."""
        files = FolderFiles(Path(path), self._name(path), self.edited)
        return scope_of(self.documents(path), Reuse(files), Report())

    def overlays(self, word: str) -> Iterator[tuple[str, Document]]:
        """Yield the overlays that have a word, with their absolute paths."""
        return self._with_value(word, is_overlay)

    def pipelines(self, word: str) -> Iterator[tuple[str, Document]]:
        """Yield the pipelines that have a word, with their absolute paths."""
        return self._with_value(word, is_pipeline)

    def _with_value(self, word: str, is_asked: Callable[[object], bool]) -> Iterator[tuple[str, Document]]:
        """Yield the documents of a sort that have a word, with their absolute paths."""
        for path in self.with_word(word):
            yield from ((path, one) for one in self.documents(path) if is_asked(one.value))

    def users_of(self, path: str) -> Iterator[CompiledFile]:
        """Yield the manifest at an absolute path, and those that import this file."""
        return (file for file in self.files if path in texts_of(file).values())

    @cached_property
    def _contents(self) -> dict[str, tuple[str, bytes]]:
        """How each text is spoken of, and its bytes; by absolute path."""
        contents = {key_of(file.file.path): (file.file.name, file.content) for file in self.files}
        imported = {path: name for file in self.files for name, path in texts_of(file).items()}
        others: list[ManifestFile] = []
        if self.project.configuration.manifests:
            # Elsewhere than in the folders of manifests there may be more YAML files.
            others = self.project.manifests_at((".",), self.project.folder, Report())
        for path, name in (*sorted(imported.items()), *((key_of(one.path), one.name) for one in others)):
            content = self._read(path) if path not in contents else None
            if content is not None:
                contents[path] = (name, content)
        return contents

    def _name(self, path: str) -> str:
        """Return how a text is spoken of: where nothing in the project names it, by its path from there."""
        return self._contents[path][0] if path in self._contents else name_in(self.project.folder, path)

    def _read(self, path: str) -> bytes | None:
        """Return the bytes of a file, of an edited text first; None if it cannot be read."""
        content = self.edited.get(path)
        return content_of(Path(path)) if content is None else content


def key_of(path: str | Path) -> str:
    """Return the key of a file, its absolute path."""
    return os.path.abspath(path)


def name_in(folder: Path, path: str) -> str:
    """Return how a file is spoken of: by its path from a project's folder."""
    return os.path.relpath(path, folder)


def texts_of(file: CompiledFile) -> dict[str, str]:
    """Return the absolute paths of a manifest and of the files that it imports, by how they are spoken of."""
    around = FolderFiles(file.file.path, file.file.name)
    return {around.name(path): around.key(path) for path in ("", *[path for path, _ in file.imported.files])}


def datasets_called(
    name: Any, files: Iterable[CompiledFile]
) -> Iterator[tuple[CompiledFile, LogicalDataset]]:
    """Yield the datasets of a name, with their manifests; there should be one."""
    for file in files:
        for number, named in enumerate(file.named):
            if named.name == name:
                yield file, file.datasets[number]


# What has a name


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


def location_of(dataset: LogicalDataset, field: SchemaField) -> FieldLocation | None:
    """Return the location of a field; None for one that the compiler inserted."""
    origins = dataset.origins
    if origins.document is None:
        return None
    document, path, _ = origins.document.origin((*origins.base, *field.declared_at))
    return FieldLocation(document.source.name, document.index, path)


def fields_by_location(file: CompiledFile) -> dict[FieldLocation, list[DatasetField]]:
    """Return the fields of a manifest by where they were written; a field of a group may be several."""
    by_location: dict[FieldLocation, list[DatasetField]] = {}
    for dataset in file.datasets:
        for field in preorder(dataset.columns):
            location = location_of(dataset, field)
            if location is not None:
                by_location.setdefault(location, []).append(DatasetField(file, dataset, field))
    return by_location


@dataclass(frozen=True)
class FieldTarget:
    """A field; `all` are the fields that have its name from the same place: those of all users of a group."""

    dataset_field: DatasetField
    all: tuple[DatasetField, ...]

    @classmethod
    def of(cls, dataset_field: DatasetField, files: Iterable[CompiledFile]) -> "FieldTarget":
        """Return a field with those of the same place in some manifests: those that have the text of its name."""
        where = location_of(dataset_field.dataset, dataset_field.field)
        every = [one for file in files for one in fields_by_location(file).get(where, ())] if where else []
        return cls(dataset_field, tuple(every) or (dataset_field,))


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
class VocabularyTarget:
    """An attribute of a project's own domain."""

    name: str
    """With its domain."""


NamedTarget = GroupTarget | ParameterTarget | DatasetTarget | VocabularyTarget
"""What is called the same wherever it is named."""
