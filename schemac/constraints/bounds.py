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
    operator: ClassVar[str]
    """What is true of a value and the limit, as SQL writes it."""
    words: ClassVar[str]
    is_lower: ClassVar[bool]
    is_exclusive: ClassVar[bool]

    def __init_subclass__(cls, *, attribute: Attribute[Any], operator: str, words: str) -> None:
        """Take the attribute of the bound, its operator and the words for it."""
        cls.attribute, cls.operator, cls.words = attribute, operator, words
        cls.is_lower, cls.is_exclusive = operator.startswith(">"), not operator.endswith("=")
        super().__init_subclass__()

    @classmethod
    def read(cls, type_: LogicalType, authored: Any) -> Self:
        """Return the bound, which is a value of the type."""
        return cls(type_, read_value(type_, authored))

    def broken(self, values: Any) -> Any:
        """Return the values beyond it, and those that are no number."""
        numbers = comparable_array(values)
        keeps = getattr(compute(), _ARROW_FUNCTIONS[self.operator])
        return compute().invert(keeps(numbers, scalar_like(numbers, self.limit, scale_of(self.type))))

    def turn(self, new: Self) -> Turn:
        """Compare the limits."""
        before, after = comparable(self.type, self.limit), comparable(new.type, new.limit)
        is_higher, is_lower = after > before, after < before
        return turn_of(is_higher if self.is_lower else is_lower, is_lower if self.is_lower else is_higher)

    def allows(self, value: Value) -> bool:
        """Whether a value of the type keeps it."""
        if value == self.limit:
            return not self.is_exclusive
        return bool(value > self.limit if self.is_lower else value < self.limit)  # type: ignore[operator]  # one type

    @property
    def text(self) -> str:
        """`at least 3`."""
        return f"{self.words} {shown(self.type, self.limit)}"


_ARROW_FUNCTIONS = {">=": "greater_equal", "<=": "less_equal", ">": "greater", "<": "less"}


class Minimum(Bound, attribute=attributes.MINIMUM, operator=">=", words="at least"):
    """The least value."""


class Maximum(Bound, attribute=attributes.MAXIMUM, operator="<=", words="at most"):
    """The greatest value."""


class ExclusiveMinimum(Bound, attribute=attributes.EXCLUSIVE_MINIMUM, operator=">", words="greater than"):
    """What every value is greater than."""


class ExclusiveMaximum(Bound, attribute=attributes.EXCLUSIVE_MAXIMUM, operator="<", words="less than"):
    """What every value is less than."""


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
        numbers = comparable_array(values)
        if self.type.family is Family.DECIMAL:
            integers = unscaled_array(numbers)
            if integers is None:
                divisor = self.whole_divisor
                return pa.array(
                    [None if n is None else n % divisor != 0 for n in unscaled(numbers)], pa.bool_()
                )
            numbers = integers
        pc, divisor_scalar = compute(), scalar_like(numbers, self.whole_divisor)
        return pc.not_equal(numbers, pc.multiply(pc.divide(numbers, divisor_scalar), divisor_scalar))

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
