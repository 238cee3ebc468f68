"""Lengths, patterns and enumerations.

Layer: constraints.
Units: a text is as long as it has characters (Unicode code points, as in JSON Schema), bytes as there are of them.
Source: JSON Schema 2020-12, "Validation", sections 6.1.2 and 6.3.
"""

from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Self

from schemac.attributes import constraints as attributes
from schemac.attributes.attribute import Attribute
from schemac.attributes.family import Family
from schemac.constraints.columns import comparable_array, comparable_value, compute, plain
from schemac.constraints.constraint import Constraint, Turn, turn_of
from schemac.constraints.patterns import PortablePattern, read_pattern
from schemac.constraints.values import UnfitValueError, Value, comparable, read_value, scale_of, shown
from schemac.logical.model import LogicalType
from schemac.physical.arrow import pa
from schemac.source.help import Help

_LARGEST = 2**63 - 1
"""What lengths are counted in."""


@dataclass(frozen=True)
class Size(Constraint):
    """A limit of how much there is in a value."""

    limit: int
    is_lower: ClassVar[bool]

    def __init_subclass__(cls, *, attribute: Attribute[Any] | None = None, is_lower: bool = True) -> None:
        """Take the attribute of the limit, and whether it is the least size; both are open in what several have in common."""
        if attribute is not None:
            cls.attribute, cls.is_lower = attribute, is_lower
        super().__init_subclass__()

    @classmethod
    def read(cls, type_: LogicalType, authored: Any) -> Self:
        """Return the limit; what always has the same size has none."""
        fixed = getattr(type_, "fixed_length", None)
        if fixed is not None:
            raise UnfitValueError(f"every {type_.type_text()} has the length {fixed}", Help.remove())
        if authored > _LARGEST:
            raise UnfitValueError(f"no {type_.type_text()} is as long as {authored}", Help.remove())
        return cls(type_, int(authored))

    def sizes(self, values: Any) -> Any:
        """Return how much there is in each value."""
        measure = compute().utf8_length if self.type.family is Family.TEXT else compute().binary_length
        return measure(plain(values))

    def broken(self, values: Any) -> Any:
        """Return the values with too little, or too much."""
        sizes = self.sizes(values)
        compare = compute().less if self.is_lower else compute().greater
        return compare(sizes.cast(pa.int64()), pa.scalar(self.limit, pa.int64()))

    def turn(self, new: Self) -> Turn:
        """Compare the limits."""
        is_higher, is_lower = new.limit > self.limit, new.limit < self.limit
        return turn_of(is_higher if self.is_lower else is_lower, is_lower if self.is_lower else is_higher)

    @property
    def text(self) -> str:
        """`at least 3 characters long`."""
        noun = "byte" if self.type.family is Family.BYTES else "character"
        many = "" if self.limit == 1 else "s"
        return f"{'at least' if self.is_lower else 'at most'} {self.limit} {noun}{many} long"


class MinLength(Size, attribute=attributes.MIN_LENGTH):
    """The least length."""


class MaxLength(Size, attribute=attributes.MAX_LENGTH, is_lower=False):
    """The greatest length."""


@dataclass(frozen=True)
class Pattern(Constraint):
    """A regular expression that is found in every text."""

    pattern: PortablePattern
    attribute: ClassVar[Attribute[Any]] = attributes.PATTERN

    @classmethod
    def read(cls, type_: LogicalType, authored: Any) -> Self:
        """Return the pattern."""
        return cls(type_, read_pattern(authored))

    def broken(self, values: Any) -> Any:
        """Return the texts in which it is not found."""
        return compute().invert(compute().match_substring_regex(plain(values), self.pattern.text))

    def turn(self, new: Self) -> Turn:
        """Nobody compares patterns."""
        return Turn.SAME if self.pattern == new.pattern else Turn.CHANGED

    @property
    def text(self) -> str:
        """`matched by the pattern ^a`."""
        return f"matched by the pattern {self.pattern.text}"


@dataclass(frozen=True)
class Enum(Constraint):
    """The only values."""

    values: tuple[Value, ...]
    attribute: ClassVar[Attribute[Any]] = attributes.ENUM

    @classmethod
    def read(cls, type_: LogicalType, authored: Any) -> Self:
        """Return the values, which are all of the type, and none of which occurs twice."""
        authored_by_value: dict[Value, Any] = {}
        for i, one in enumerate(authored):
            try:
                value = read_value(type_, one)
            except UnfitValueError as error:
                raise UnfitValueError(error.message, error.help, at=i) from error
            if value in authored_by_value:
                was = authored_by_value[value]
                as_ = "" if repr(was) == repr(one) else f", once as {was}"
                message = f"{shown(type_, value)} occurs twice in the list{as_}"
                raise UnfitValueError(message, Help.remove(help="keep one of the two", is_safe=not as_), at=i)
            authored_by_value[value] = one
        return cls(type_, tuple(authored_by_value))

    def broken(self, values: Any) -> Any:
        """Return the values that are not among them."""
        comparables = comparable_array(values)
        if self.type.family is Family.BOOLEAN:
            return (
                compute().not_equal(comparables, pa.scalar(self.values[0]))
                if len(self.values) == 1
                else pa.array([False] * len(comparables), pa.bool_())
            )
        if self.type.family is Family.FLOAT:
            # To `is_in`, -0.0 is not 0.0.
            return compute().invert(
                reduce(compute().or_, [compute().equal(comparables, v) for v in self.values])
            )
        values = [comparable_value(value, scale_of(self.type)) for value in self.values]
        # To `is_in` null is a value like any other.
        is_among = compute().is_in(comparables, value_set=pa.array(values, comparables.type))
        return compute().and_(compute().is_valid(comparables), compute().invert(is_among))

    def turn(self, new: Self) -> Turn:
        """Compare the sets."""
        before, after = ({comparable(c.type, value) for value in c.values} for c in (self, new))
        return turn_of(bool(before - after), bool(after - before))

    @property
    def text(self) -> str:
        """`one of a, b`."""
        return f"one of {', '.join(shown(self.type, value) for value in self.values)}"
