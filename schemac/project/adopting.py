"""A lock for what was imported.

Layer: project.
Shape: a Lance table's ids become version 1; a Paimon table's schema files become a version each, and so do the schemas of a
source that numbers every field, whose ids become those of the lock.
"""

from collections.abc import Callable
from typing import Any

from schemac.arrow.lower import lower
from schemac.engines.lance.nodes import numbers_of
from schemac.engines.lance.view import words_of
from schemac.identity.adopt import adopt, adopt_ids
from schemac.identity.lock import LockedDataset, Numbers
from schemac.identity.numbering import Highest
from schemac.importers.importer import Imported
from schemac.logical.dataset import LogicalDataset
from schemac.logical.slots import preorder

Compile = Callable[[dict[str, Any]], LogicalDataset | None]
"""Makes the dataset of a schema in the standard's long form."""


def adopted(dataset: LogicalDataset, imported: Imported, compile: Compile) -> LockedDataset | None:
    """The lock of an imported dataset; None where its source has no ids."""
    locked = LockedDataset(dataset.name)
    if imported.lance is not None:
        numbers = numbers_of(lower(dataset), imported.lance.fields)
        return (
            adopt(dataset, locked, numbers, Highest(imported.lance.highest), words_of)
            if numbers is not None
            else None
        )
    for version in imported.history:
        past = compile(version.schema)
        if past is None:
            return None
        paimon = {slot: version.ids.get(slot.path) for slot in preorder(past.columns)}
        locked = adopt(
            past,
            locked,
            {slot: Numbers(paimon=id) for slot, id in paimon.items()},
            Highest(paimon=version.highest),
            words_of,
            schema_id=version.schema_id,
            time_millis=version.time_millis,
        )
    for numbered in imported.numbered:
        past = compile(numbered.schema)
        if past is None:
            return None
        ids = {slot: numbered.ids[slot.path] for slot in preorder(past.columns) if slot.path in numbered.ids}
        locked = adopt_ids(past, locked, ids, numbered.highest, words_of)
    return locked if locked.versions else None
