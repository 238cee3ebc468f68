"""A dataset as it was declared.

Layer: logical.
"""

import dataclasses
from dataclasses import dataclass

from schemac.logical.model import Schema
from schemac.logical.origins import Origins
from schemac.logical.schema_fields import SchemaField, TreePath
from schemac.logical.system import Naming


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
        return not any(place[: len(at)] == at for place in self.unread)
