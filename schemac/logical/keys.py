"""The fields that identify a row.

Layer: logical.
Shape: fields are ordered by their position; those without one follow, as they are in the schema.
Source: Lance's table format, "Unenforced Primary Key".
"""

from collections.abc import Sequence

from schemac.attributes.attribute import Role
from schemac.attributes.registry import are_telling, of_role
from schemac.logical.dataset import LogicalDataset
from schemac.logical.schema_fields import SchemaField, preorder

_LAST = 2**32
"""Above every position."""


def primary_key(columns: Sequence[SchemaField]) -> tuple[SchemaField, ...]:
    """Return the fields of the primary key in its order, at whatever depth; none where the schema declares no key."""
    parts = of_role(Role.KEY_PART)
    places: dict[SchemaField, int] = {}
    for field in preorder(columns):
        for attribute in parts if field.extra and are_telling(field.extra) else ():
            if (part := attribute.read(field.extra)) is not None:
                places.setdefault(field, part.position or _LAST)
    return tuple(sorted(places, key=places.__getitem__))


def named_key(dataset: LogicalDataset) -> tuple[SchemaField, ...]:
    """Return the columns that an engine's attribute of the schema lists as its primary key, as they are in the schema."""
    names = {
        name for attribute in of_role(Role.PRIMARY_KEY) for name in attribute.read(dataset.schema.extra) or ()
    }
    return tuple([field for field in dataset.columns if field.segment in names])
