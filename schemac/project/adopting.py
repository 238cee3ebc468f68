"""A lock for what was imported.

Layer: project.
Shape: each version that the source has becomes one of the lock, with the numbers that its engine gave; a source
that numbers every field gives the lock its ids.
"""

from collections.abc import Callable

from schemac.identity.adopt import adopt, adopt_ids
from schemac.identity.lock import LockedDataset, Numbers
from schemac.importers.importer import Imported
from schemac.logical.dataset import LogicalDataset
from schemac.logical.schema_fields import preorder
from schemac.source.json_object import Json

Compile = Callable[[Json], LogicalDataset | None]
"""Makes the dataset of a schema in the standard's long form."""

_NONE = Numbers()


def adopted(dataset: LogicalDataset, imported: Imported, compile: Compile) -> LockedDataset | None:
    """Return the lock of an imported dataset; None if its source has no numbers."""
    locked = LockedDataset(dataset.name)
    for version in imported.versions:
        present = dataset if version is imported.versions[-1] else compile(version.schema)
        if present is None:
            return None
        numbers = {field: version.numbers.get(field.path, _NONE) for field in preorder(present.columns)}
        after = adopt(present, locked, numbers, version.highest, version.data)
        if after is None:
            return None
        locked = after
    for numbered in imported.numbered:
        past = compile(numbered.schema)
        if past is None:
            return None
        ids = {
            field: numbered.ids[field.path] for field in preorder(past.columns) if field.path in numbered.ids
        }
        locked = adopt_ids(past, locked, ids, numbered.highest)
    return locked if locked.versions else None
