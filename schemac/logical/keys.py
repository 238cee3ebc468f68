"""The fields that identify a row.

Layer: logical.
Shape: fields are ordered by their position; those without one follow, as they stand in the schema.
Source: Lance's table format, "Unenforced Primary Key".
"""

from collections.abc import Sequence

from schemac.attributes.attribute import Role
from schemac.attributes.registry import are_telling, of_role
from schemac.logical.dataset import LogicalDataset
from schemac.logical.slots import Slot, preorder

_LAST = 2**32
"""Above every position."""


def primary_key(columns: Sequence[Slot]) -> tuple[Slot, ...]:
    """Return the fields of the primary key in its order, at whatever depth; none where the schema declares no key."""
    parts = of_role(Role.KEY_PART)
    places: dict[Slot, int] = {}
    for slot in preorder(columns):
        for attribute in parts if slot.extra and are_telling(slot.extra) else ():
            if (part := attribute.read(slot.extra)) is not None:
                places.setdefault(slot, part.position or _LAST)
    return tuple(sorted(places, key=places.__getitem__))


def named_key(dataset: LogicalDataset) -> tuple[Slot, ...]:
    """Return the columns that an engine's attribute of the schema lists as its primary key, as they stand in the schema."""
    names = {
        name for attribute in of_role(Role.PRIMARY_KEY) for name in attribute.read(dataset.schema.extra) or ()
    }
    return tuple([slot for slot in dataset.columns if slot.segment in names])
