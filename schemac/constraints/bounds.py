"""The least and the greatest value, and what every value is a multiple of.

Layer: constraints.
Source: JSON Schema 2020-12, "Validation", section 6.2. A float that is not a number keeps no bound.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Self

from schemac.attributes import constraints as attributes
from schemac.attributes.attribute import Attribute
from schemac.attributes.family import Family
from schemac.constraints.columns import (
    comparable_array,
    compute,
    scalar_like,
    unscaled,
    unscaled_array,
    whole,
)
from schemac.constraints.constraint import Constraint, Turn, turn_of
from schemac.constraints.values import UnfitValueError, Value, comparable, read_value, scale_of, shown
from schemac.logical.model import LogicalType
from schemac.physical.arrow import pa


@dataclass(frozen=True)
class Bound(Constraint):
    """A limit of ordered values."""

    limit: Value
    is_lower: ClassVar[bool]
    is_exclusive: ClassVar[bool]
    arrow_function: ClassVar[str]
    """The name of Arrow's function for values that keep it."""
    operator: ClassVar[str]
    """The same as SQL writes it."""
    words: ClassVar[str]

    @classmethod
    def read(cls, type_: LogicalType, authored: Any) -> Self:
        """Return the bound, which is a value of the type."""
        return cls(type_, read_value(type_, authored))

    def broken(self, values: Any) -> Any:
        """Return the values beyond it, and those that are no number."""
        found = comparable_array(values)
        keeps = getattr(compute(), self.arrow_function)
        return compute().invert(keeps(found, scalar_like(found, self.limit, scale_of(self.type))))

    def turn(self, new: Self) -> Turn:
        """Compare the limits."""
        before, after = comparable(self.type, self.limit), comparable(new.type, new.limit)
        is_higher, is_lower = after > before, after < before
        return turn_of(is_higher if self.is_lower else is_lower, is_lower if self.is_lower else is_higher)

    def allows(self, value: Value) -> bool:
        """Whether a value of the type keeps it."""
        if value == self.limit:
            return not self.is_exclusive
        found: bool = value > self.limit if self.is_lower else value < self.limit  # type: ignore[operator]  # one type
        return found

    @property
    def text(self) -> str:
        """`at least 3`."""
        return f"{self.words} {shown(self.type, self.limit)}"


class Minimum(Bound):
    """The least value."""

    attribute: ClassVar[Attribute[Any]] = attributes.MINIMUM
    is_lower: ClassVar[bool] = True
    is_exclusive: ClassVar[bool] = False
    arrow_function: ClassVar[str] = "greater_equal"
    operator: ClassVar[str] = ">="
    words: ClassVar[str] = "at least"


class Maximum(Bound):
    """The greatest value."""

    attribute: ClassVar[Attribute[Any]] = attributes.MAXIMUM
    is_lower: ClassVar[bool] = False
    is_exclusive: ClassVar[bool] = False
    arrow_function: ClassVar[str] = "less_equal"
    operator: ClassVar[str] = "<="
    words: ClassVar[str] = "at most"


class ExclusiveMinimum(Bound):
    """What every value is greater than."""

    attribute: ClassVar[Attribute[Any]] = attributes.EXCLUSIVE_MINIMUM
    is_lower: ClassVar[bool] = True
    is_exclusive: ClassVar[bool] = True
    arrow_function: ClassVar[str] = "greater"
    operator: ClassVar[str] = ">"
    words: ClassVar[str] = "greater than"


class ExclusiveMaximum(Bound):
    """What every value is less than."""

    attribute: ClassVar[Attribute[Any]] = attributes.EXCLUSIVE_MAXIMUM
    is_lower: ClassVar[bool] = False
    is_exclusive: ClassVar[bool] = True
    arrow_function: ClassVar[str] = "less"
    operator: ClassVar[str] = "<"
    words: ClassVar[str] = "less than"


@dataclass(frozen=True)
class MultipleOf(Constraint):
    """What every value is a whole multiple of."""

    divisor: int | Decimal
    attribute: ClassVar[Attribute[Any]] = attributes.MULTIPLE_OF

    @classmethod
    def read(cls, type_: LogicalType, authored: Any) -> Self:
        """Return the divisor, which is a value of the type above zero."""
        try:
            divisor = read_value(type_, authored)
        except UnfitValueError as error:
            is_fraction = type_.family is not Family.DECIMAL and error.help.startswith("write 0 ")
            raise UnfitValueError(
                error.message, "write a whole number above zero" if is_fraction else error.help
            ) from error
        assert isinstance(divisor, int | Decimal)
        if divisor <= 0:
            raise UnfitValueError(f"{shown(type_, divisor)} is not above zero", "write a number above zero")
        return cls(type_, divisor)

    @property
    def whole_divisor(self) -> int:
        """The divisor in the whole numbers that values of the type are kept as."""
        return whole(Decimal(self.divisor), scale_of(self.type))

    def broken(self, values: Any) -> Any:
        """Return the values that leave a remainder."""
        found = comparable_array(values)
        if self.type.family is Family.DECIMAL:
            numbers = unscaled_array(found)
            if numbers is None:
                divisor = self.whole_divisor
                return pa.array(
                    [None if n is None else n % divisor != 0 for n in unscaled(found)], pa.bool_()
                )
            found = numbers
        pc, divisor_scalar = compute(), scalar_like(found, self.whole_divisor)
        return pc.not_equal(found, pc.multiply(pc.divide(found, divisor_scalar), divisor_scalar))

    def turn(self, new: Self) -> Turn:
        """Compare the divisors: a multiple of the old one allows fewer values."""
        before, after = (Fraction(comparable(c.type, c.divisor)) for c in (self, new))
        if before == after:
            return Turn.SAME
        if (after / before).denominator == 1:
            return Turn.NARROWED
        return Turn.WIDENED if (before / after).denominator == 1 else Turn.CHANGED

    @property
    def text(self) -> str:
        """`a multiple of 5`."""
        return f"a multiple of {shown(self.type, self.divisor)}"
