"""The field that a place of a text is about, and the places of values.

Layer: lsp.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.schema_fields import SchemaField, preorder
from schemac.lsp.projects import Checked
from schemac.project.imported import FolderFiles
from schemac.project.manifests import CompiledFile
from schemac.text.source.json_object import TreePath


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


class Index:
    """The fields of a project by where they were written; of each manifest it is made once."""

    def __init__(self) -> None:
        self._of: dict[bytes, tuple[CompiledFile, dict[FieldLocation, list[DatasetField]]]] = {}

    def fields(self, file: CompiledFile) -> dict[FieldLocation, list[DatasetField]]:
        """Return the fields of a manifest; a field of a group may be several."""
        key = file.file.name.encode() + b"\0" + file.key
        known = self._of.get(key)
        if known is not None and known[0].content == file.content:
            return known[1]
        by_place: dict[FieldLocation, list[DatasetField]] = {}
        for dataset in file.datasets:
            for field in preorder(dataset.columns):
                place = location_of(dataset, field)
                if place is not None:
                    by_place.setdefault(place, []).append(DatasetField(file, dataset, field))
        self._of = {k: v for k, v in self._of.items() if v[0].file != file.file}
        self._of[key] = (file, by_place)
        return by_place

    def at(
        self, files: Sequence[CompiledFile], name: str, document: int, path: TreePath
    ) -> list[DatasetField]:
        """Return the fields that a path of a text is in, innermost first; the first manifest that has some counts."""
        for file in files:
            fields = self.fields(file)
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


def files_with(checked: Checked, path: str) -> list[CompiledFile]:
    """Return the manifest at a path as it could be read last, or those that import it."""
    manifest = checked.readable.get(path)
    manifests = [manifest] if manifest is not None else []
    return [*manifests, *(file for file in users_of(checked, path) if file is not manifest)]


def users_of(checked: Checked, path: str) -> Iterator[CompiledFile]:
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
