"""The fields that identify a row.

Layer: logical.
Source: Lance's table format, "Unenforced Primary Key": fields are ordered by their position; those without one follow, as
they stand in the schema.
"""

from collections.abc import Sequence

from schemac.attributes.attribute import Role
from schemac.attributes.lance import PRIMARY_KEY
from schemac.attributes.registry import ATTRIBUTES
from schemac.logical.dataset import LogicalDataset
from schemac.logical.slots import Slot, preorder

_LAST = 2**32
"""Above every position."""


def primary_key(columns: Sequence[Slot]) -> tuple[Slot, ...]:
    """Return the fields of the primary key in its order, at whatever depth; none where the schema declares no key."""
    keyed = [
        (key.position or _LAST, slot)
        for slot in preorder(columns)
        if slot.extra and (key := PRIMARY_KEY.read(slot.extra)) is not None
    ]
    return tuple([slot for _, slot in sorted(keyed, key=lambda pair: pair[0])])


def named_key(dataset: LogicalDataset) -> tuple[Slot, ...]:
    """Return the columns that an engine's attribute of the schema lists as its primary key, as they stand in the schema."""
    names = {
        name
        for attribute in ATTRIBUTES.values()
        if attribute.role is Role.PRIMARY_KEY
        for name in attribute.read(dataset.schema.extra) or ()
    }
    return tuple([slot for slot in dataset.columns if slot.segment in names])
