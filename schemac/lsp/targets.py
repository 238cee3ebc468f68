"""What a name at a cursor may mean.

Layer: lsp.
"""

from dataclasses import dataclass
from typing import NamedTuple

from schemac.lsp.field_locations import DatasetField
from schemac.source.span import Region


class FileRange(NamedTuple):
    """A range of a file, as editors name it."""

    path: str
    """Absolute."""
    region: Region


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

    key: str


NamedTarget = GroupTarget | ParameterTarget | DatasetTarget | VocabularyTarget
"""What is called the same wherever it is named."""
Target = FieldTarget | FileTarget | NamedTarget
