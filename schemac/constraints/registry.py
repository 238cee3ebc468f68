"""Every constraint of values.

Layer: constraints.
"""

from collections.abc import Mapping

from schemac.attributes.constraints import OF_VALUES
from schemac.constraints.bounds import ExclusiveMaximum, ExclusiveMinimum, Maximum, Minimum, MultipleOf
from schemac.constraints.constraint import Constraint
from schemac.constraints.items import MaxItems, MinItems, UniqueItems
from schemac.constraints.texts import Enum, MaxLength, MinLength, Pattern
from schemac.logical.schema_fields import SchemaField

CONSTRAINTS: tuple[type[Constraint], ...] = (
    Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum, MultipleOf, MinLength, MaxLength, Pattern, Enum,
    MinItems, MaxItems, UniqueItems,
)  # fmt: skip
BY_KEY: Mapping[str, type[Constraint]] = {kind.attribute.key: kind for kind in CONSTRAINTS}
assert {attribute.key for attribute in OF_VALUES} == BY_KEY.keys()


def constraints_at(field: SchemaField) -> tuple[Constraint, ...]:
    """Return the constraints of a checked field, in the order of the registry."""
    return tuple(
        [kind.read(field.type, field.extra[key]) for key, kind in BY_KEY.items() if key in field.extra]
    )
