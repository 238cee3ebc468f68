"""Constraints of one value: bounds, multiples, lengths, patterns, enumerations and items; and all of them at a field.

Layer: language.
Units: the length of a text is in characters (Unicode code points, as in JSON Schema), that of binary data in bytes.
Source: JSON Schema 2020-12, "Validation", sections 6.1.2 to 6.4. NaN satisfies no bound. Two null items of a list are equal.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Any, ClassVar, Self

from schemac.language.attributes import constraints as attributes
from schemac.language.attributes.attribute import NESTED, Attribute, Family
from schemac.language.attributes.constraints import OF_VALUES
from schemac.language.constraints.constraint import (
    Constraint,
    Turn,
    UnfitValueError,
    Value,
    comparable,
    comparable_array,
    comparable_value,
    compute,
    limits_of,
    plain,
    read_value,
    scalar_like,
    scale_of,
    shown,
    turn_of,
    unscaled,
    unscaled_array,
    whole,
)
from schemac.language.constraints.patterns import PortablePattern, read_pattern
from schemac.language.logical.model import LogicalType, SchemaField
from schemac.language.physical import pa
from schemac.text.source.phrases import Help


@dataclass(frozen=True)
class Limit(Constraint):
    """A limit of values, or of their sizes."""

    limit: Value
    is_lower: ClassVar[bool]

    def turn(self, new: Self) -> Turn:
        """Return how the limit changed."""
        before, after = comparable(self.type, self.limit), comparable(new.type, new.limit)
        low, high = (before, after) if self.is_lower else (after, before)
        return turn_of(high > low, high < low)


@dataclass(frozen=True)
class Bound(Limit):
    """A limit of ordered values."""

    operator: ClassVar[str]
    """What is true of a value and the limit, as SQL writes it."""
    words: ClassVar[str]
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
        """Return the values beyond it, and NaN."""
        numbers = comparable_array(values)
        keeps = getattr(compute(), _ARROW_FUNCTIONS[self.operator])
        return compute().invert(keeps(numbers, scalar_like(numbers, self.limit, scale_of(self.type))))

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
        """Return how the divisor changed: a multiple of the old one allows fewer values."""
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


_LARGEST = 2**63 - 1
"""What lengths are counted in."""


@dataclass(frozen=True)
class Size(Limit):
    """A limit of how much there is in a value."""

    limit: int

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
        """Return SAME or CHANGED; which texts two patterns match is not compared."""
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
        if self.type.family is Family.FLOAT:
            # To `is_in`, -0.0 is not 0.0.
            equal = [compute().equal(comparables, value) for value in self.values]
            return compute().invert(reduce(compute().or_, equal))
        values = [comparable_value(value, scale_of(self.type)) for value in self.values]
        # To `is_in` null is a value like any other.
        is_among = compute().is_in(comparables, value_set=pa.array(values, comparables.type))
        return compute().and_(compute().is_valid(comparables), compute().invert(is_among))

    def turn(self, new: Self) -> Turn:
        """Return how the set of values changed."""
        before, after = ({comparable(c.type, value) for value in c.values} for c in (self, new))
        return turn_of(bool(before - after), bool(after - before))

    @property
    def text(self) -> str:
        """`one of a, b`."""
        return f"one of {', '.join(shown(self.type, value) for value in self.values)}"


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
        """Return it for items without members; engines disagree about others."""
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
        """Return whether it was switched on or off."""
        return turn_of(new.is_set and not self.is_set, self.is_set and not new.is_set)

    @property
    def text(self) -> str:
        """`without equal items`."""
        return "a list in which no item occurs twice" if self.is_set else "any list"


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
