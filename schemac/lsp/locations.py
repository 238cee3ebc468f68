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
from schemac.language.manifest.library import GroupScope, Reuse, scope_of
from schemac.lsp.projects import CheckedProject
from schemac.project.imported import FolderFiles, file_at
from schemac.project.project_texts import FieldTarget, NamedTarget, datasets_called, key_of
from schemac.text.source.diagnostics import Region, Report, SourceText
from schemac.text.syntax.document import parse


def paths_in(fields: Sequence[SchemaField]) -> Iterator[str]:
    """Yield the paths of fields and of those below them."""
    return (field.path_text for field in preorder(fields) if field.is_member)


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
class FileTarget:
    """A file."""

    path: str


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

    def groups(self) -> Iterator[tuple[str, str]]:
        """Yield the groups that can be used, with their descriptions."""
        scope = self.group_scope
        for name, (definition, _, _) in scope.known.items() if scope is not None else ():
            yield name, definition.group.description

    def parameters(self, name: Any) -> Iterator[tuple[str, str, bool]]:
        """Yield the parameters of a group: name, description, and whether a use has to give it."""
        scope = self.group_scope
        resolved = scope.find(name) if scope is not None and isinstance(name, str) else None
        for parameter, one in resolved[0].group.parameters.items() if resolved is not None else ():
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
        return next((dataset for _, dataset in datasets_called(name, self._checked.files)), None)

    def dataset_of_pipeline(self, root: Mapping[str, str]) -> LogicalDataset | None:
        """Return the dataset that a pipeline with these outermost keys is about."""
        datasets = self.datasets_in(root.get("schema", ""))
        name = root.get("dataset")
        if name:
            return next((one for one in datasets if one.name == name), None)
        return datasets[0] if len(datasets) == 1 else None

    def vocabulary_keys(self) -> Iterator[tuple[str, str]]:
        """Yield the attributes of the project's own vocabularies, with their descriptions."""
        for domain, validator in self._checked.project.vocabularies.items():
            schema: Any = validator.schema
            properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
            for name, body in properties.items():
                text = body.get("description", "") if isinstance(body, dict) else ""
                yield f"{domain}/{name}", text
