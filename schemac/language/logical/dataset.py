"""A dataset as it was declared, its key, and the names of resources.

Layer: language.
Shape: The fields that identify a row: fields are ordered by their position; those without one follow, as they are in the schema.
Source: Lance's table format, "Unenforced Primary Key".
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from schemac.language.attributes.attribute import Role
from schemac.language.attributes.registry import are_telling, of_role
from schemac.language.logical.model import Schema
from schemac.language.logical.origins import Naming, Origins
from schemac.language.logical.schema_fields import SchemaField, preorder
from schemac.text.source.json_object import TreePath


@dataclass(frozen=True)
class LogicalDataset:
    """A named schema, its fields, and where it was written. Equal means: same name, same meaning."""

    name: str
    schema: Schema
    columns: tuple[SchemaField, ...] = dataclasses.field(compare=False, repr=False)
    origins: Origins = dataclasses.field(compare=False, repr=False)
    is_whole: bool = dataclasses.field(default=True, compare=False, repr=False)
    """Whether every field of the manifest could be read."""
    unread: frozenset[TreePath] = dataclasses.field(default=frozenset(), compare=False, repr=False)
    """Where types stand that could not be read; a text replaces each, so that what is around it can be checked."""
    naming: Naming = dataclasses.field(default=Naming(), compare=False, repr=False)
    """What the manifest calls the standard's system columns."""
    is_source: bool = dataclasses.field(default=False, compare=False, repr=False)
    """Whether this is what a source reads; if a dataset has the same name, it is called `<name>.source`."""

    def is_read(self, field: SchemaField) -> bool:
        """Whether the whole type of a field could be read."""
        at = field.type_at
        return not any(path[: len(at)] == at for path in self.unread)


_LAST = 2**32
"""Above every position."""


def primary_key(columns: Sequence[SchemaField]) -> tuple[SchemaField, ...]:
    """Return the fields of the primary key in its order, at whatever depth; none where the schema declares no key."""
    parts = of_role(Role.KEY_PART)
    positions: dict[SchemaField, int] = {}
    for field in preorder(columns):
        for attribute in parts if field.extra and are_telling(field.extra) else ():
            if (part := attribute.read(field.extra)) is not None:
                positions.setdefault(field, part.position or _LAST)
    return tuple(sorted(positions, key=positions.__getitem__))


def named_key(dataset: LogicalDataset) -> tuple[SchemaField, ...]:
    """Return the columns that an engine's attribute of the schema lists as its primary key, as they are in the schema."""
    names = {
        name for attribute in of_role(Role.PRIMARY_KEY) for name in attribute.read(dataset.schema.extra) or ()
    }
    return tuple([field for field in dataset.columns if field.segment in names])


@dataclass(frozen=True, slots=True)
class Named:
    """The name of a dataset, and where it is, without its schema."""

    name: str
    is_source: bool = False


R = TypeVar("R", Named, "LogicalDataset")


def with_distinct_names(resources: Sequence[R]) -> list[R]:
    """Return the resources, where a Source with the name of a Dataset is called `<name>.source`."""
    dataset_names = {resource.name.casefold() for resource in resources if not resource.is_source}
    return [
        replace(resource, name=f"{resource.name}.source")
        if resource.is_source and resource.name.casefold() in dataset_names
        else resource
        for resource in resources
    ]
