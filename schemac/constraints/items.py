"""How many items a list has, and whether one may stand twice.

Layer: constraints.
Source: JSON Schema 2020-12, "Validation", section 6.4. Two items that are null are alike.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from schemac.attributes import constraints as attributes
from schemac.attributes.attribute import Attribute
from schemac.attributes.family import NESTED, Family
from schemac.constraints.columns import comparable_array, compute, plain
from schemac.constraints.constraint import Constraint, Turn, turn_of
from schemac.constraints.texts import Size
from schemac.constraints.values import UnfitValueError
from schemac.logical.model import LogicalType
from schemac.physical.arrow import pa


class _Items(Size):
    """A limit of the items of a list."""

    def sizes(self, values: Any) -> Any:
        """Return how many items there are."""
        return compute().list_value_length(values)

    @property
    def text(self) -> str:
        """`at least 3 items long`."""
        noun = "item" if self.limit == 1 else "items"
        return f"a list of {'at least' if self.is_lower else 'at most'} {self.limit} {noun}"


class MinItems(_Items, attribute=attributes.MIN_ITEMS):
    """The least number of items."""


class MaxItems(_Items, attribute=attributes.MAX_ITEMS, is_lower=False):
    """The greatest number of items."""


@dataclass(frozen=True)
class UniqueItems(Constraint):
    """No item occurs twice."""

    is_set: bool
    attribute: ClassVar[Attribute[Any]] = attributes.UNIQUE_ITEMS

    @classmethod
    def read(cls, type_: LogicalType, authored: Any) -> Self:
        """Return it, for items that have no parts: of others no engine says the same."""
        item = getattr(type_, "item_type", None)
        while item is not None and item.inner_type() is not None:
            item = item.inner_type()
        if item is not None and (item.family in NESTED or item.family in (Family.NULL, Family.FLOAT)):
            raise UnfitValueError(
                f"items of the type {item.type_text()} are not compared",
                "it is for lists of texts, bytes, booleans, integers, decimals, dates and times",
            )
        return cls(type_, bool(authored))

    def broken(self, values: Any) -> Any:
        """Return the lists in which an item occurs twice."""
        if not self.is_set:
            return pa.array([False] * len(values), pa.bool_())
        pc, parents = compute(), compute().list_parent_indices(values)
        items = plain(values.flatten())
        items = items if pa.types.is_binary(items.type) else comparable_array(items)
        table = pa.table({"list": parents, "item": items})
        groups = table.group_by(["list", "item"]).aggregate([([], "count_all")])
        twice = groups.filter(pc.greater(groups.column("count_all"), 1)).column("list").combine_chunks()
        rows = pa.array(range(len(values)), parents.type)
        return pc.is_in(rows, value_set=twice)

    def turn(self, new: Self) -> Turn:
        """Compare whether it holds."""
        return turn_of(new.is_set and not self.is_set, self.is_set and not new.is_set)

    @property
    def text(self) -> str:
        """`without equal items`."""
        return "a list in which no item occurs twice" if self.is_set else "any list"
