"""All constraints of values, and those that the type of a field implies already.

Layer: language.
"""

from collections.abc import Callable, Mapping
from typing import Any

from schemac.language.attributes.attribute import Family
from schemac.language.attributes.constraints import OF_VALUES
from schemac.language.constraints.constraint import Constraint
from schemac.language.constraints.field_constraints import (
    Bound,
    Enum,
    ExclusiveMaximum,
    ExclusiveMinimum,
    Maximum,
    MaxItems,
    MaxLength,
    Minimum,
    MinItems,
    MinLength,
    MultipleOf,
    Pattern,
    UniqueItems,
)
from schemac.language.constraints.values import limits_of
from schemac.language.logical.schema_fields import SchemaField

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


_SAYS_NOTHING: dict[type[Constraint], Callable[[Any], bool]] = {
    MinLength: lambda one: one.limit == 0,
    MinItems: lambda one: one.limit == 0,
    UniqueItems: lambda one: not one.is_set,
    MultipleOf: lambda one: one.type.family is Family.INTEGER and one.divisor == 1,
}


def is_redundant(one: Constraint) -> bool:
    """Whether every value of the type keeps a constraint."""
    if isinstance(one, Bound) and not one.is_exclusive:
        limits = limits_of(one.type)
        return limits is not None and one.limit == limits[0 if one.is_lower else 1]
    says_nothing = _SAYS_NOTHING.get(type(one))
    return says_nothing is not None and says_nothing(one)
