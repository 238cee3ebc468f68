"""Constraints that say what the type says already.

Layer: constraints.
"""

from collections.abc import Callable
from typing import Any

from schemac.attributes.family import Family
from schemac.constraints.bounds import Bound, MultipleOf
from schemac.constraints.constraint import Constraint
from schemac.constraints.items import MinItems, UniqueItems
from schemac.constraints.texts import MinLength
from schemac.constraints.values import limits_of

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
