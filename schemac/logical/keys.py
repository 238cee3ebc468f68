"""The fields that identify a row.

Layer: logical.
Source: Lance's table format, "Unenforced Primary Key": fields are ordered by their position; those without one follow, as
they stand in the schema.
"""

from collections.abc import Sequence

from schemac.attributes.lance import PRIMARY_KEY
from schemac.logical.slots import Slot, preorder

_LAST = 2**32
"""Above every position."""


def primary_key(columns: Sequence[Slot]) -> tuple[Slot, ...]:
    """The fields of the primary key in its order, at whatever depth; none where the schema declares no key."""
    keyed = [
        (key.position or _LAST, slot)
        for slot in preorder(columns)
        if slot.extra and (key := PRIMARY_KEY.read(slot.extra)) is not None
    ]
    return tuple([slot for _, slot in sorted(keyed, key=lambda pair: pair[0])])
