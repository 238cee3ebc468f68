"""What a constraint is.

Layer: constraints.
Shape: a constraint is made of a type and of what an author wrote; it knows which values of an Arrow array break it, and
whether it lets pass more or fewer values than another one of its class.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, ClassVar, Self

from schemac.attributes.attribute import Attribute
from schemac.constraints.columns import compute
from schemac.logical.model import LogicalType


class Turn(Enum):
    """How a constraint changed."""

    SAME = auto()
    NARROWED = auto()
    """Some values are no longer allowed, and no others are."""
    WIDENED = auto()
    CHANGED = auto()
    """Some values are no longer allowed, others are for the first time; or nobody can tell."""


@dataclass(frozen=True)
class Constraint(ABC):
    """One constraint of the values at one place; null breaks none."""

    type: LogicalType
    attribute: ClassVar[Attribute[Any]]

    @classmethod
    @abstractmethod
    def read(cls, type_: LogicalType, authored: Any) -> Self:
        """Return the constraint that an attribute's value means for a type. Raises UnfitValueError or PatternError."""

    @abstractmethod
    def broken(self, values: Any) -> Any:
        """Return which of the values break it: an array of booleans; those of null may be null."""

    @abstractmethod
    def turn(self, new: Self) -> Turn:
        """Return how a new constraint of this class differs."""

    @property
    @abstractmethod
    def text(self) -> str:
        """What every value has to be, as the end of a sentence: "at least 3"."""

    @property
    def rule(self) -> str:
        """The name of the rule that is broken: that of the attribute."""
        return self.attribute.name

    def violations(self, values: Any) -> Any:
        """Return a mask of the values that break it."""
        return compute().fill_null(self.broken(values), False)


def turn_of(narrowed: bool, widened: bool) -> Turn:
    """Return how a constraint changed, by whether it forbids what was allowed, and allows what was forbidden."""
    if narrowed:
        return Turn.CHANGED if widened else Turn.NARROWED
    return Turn.WIDENED if widened else Turn.SAME
