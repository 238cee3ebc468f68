"""Conditions over the fields of a row.

Layer: language.
Shape: a tree of nodes, each with the type of its value. SQL's three truth values: a comparison with null is null. Numbers are
compared and added exactly, as decimals of at most 38 digits, which is what SQL engines have. A comparison with a float that is not
a number is false, and `<>` is true.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

from schemac.language.attributes.attribute import Family
from schemac.language.constraints.constraint import (
    Value,
    comparable_array,
    compute,
    plain,
    scalar_like,
    scale_of,
    shown,
)
from schemac.language.kinds.plain import Decimal
from schemac.language.logical.model import LogicalType, SchemaField, dotted
from schemac.language.physical import pa

MOST_DIGITS = 38


@dataclass(frozen=True)
class Node(ABC):
    """A part of a condition."""

    @abstractmethod
    def evaluate(self, rows: Any) -> Any:
        """Return the values for the rows of a record batch or struct array."""

    def parts(self) -> "tuple[Node, ...]":
        """Return the nodes that it is made of."""
        return tuple([part for part in vars(self).values() if isinstance(part, Node)])

    def fields(self) -> "Iterator[FieldNode]":
        """Yield the fields in it, in their order."""
        for part in self.parts():
            yield from part.fields()


@dataclass(frozen=True)
class Operand(Node):
    """A part with a value that can be compared."""

    type: LogicalType


@dataclass(frozen=True)
class FieldNode(Operand):
    """A column, or a member of structs."""

    path: tuple[str, ...]

    @classmethod
    def of(cls, field: SchemaField) -> "FieldNode":
        """Return the node of a field that is in structs only."""
        return cls(field.type, tuple(map(str, field.path)))

    def raw(self, rows: Any) -> Any:
        """Return the values as they are in the rows."""
        column = rows.column(self.path[0]) if isinstance(rows, pa.RecordBatch) else rows.field(self.path[0])
        for name in self.path[1:]:
            column = compute().struct_field(column, name)
        return column

    def evaluate(self, rows: Any) -> Any:
        """Return the values in a form that can be compared."""
        return comparable_array(self.raw(rows))

    def fields(self) -> "Iterator[FieldNode]":
        """Yield itself."""
        yield self

    def __str__(self) -> str:
        return dotted(self.path)


@dataclass(frozen=True)
class LiteralNode(Operand):
    """A value that is written in the condition."""

    value: Value

    def evaluate(self, rows: Any) -> Any:
        """Return the value."""
        return self.value

    def __str__(self) -> str:
        return shown(self.type, self.value)


@dataclass(frozen=True)
class LengthNode(Operand):
    """How many characters a text has."""

    field: FieldNode

    def evaluate(self, rows: Any) -> Any:
        """Return the lengths."""
        return compute().utf8_length(plain(self.field.raw(rows))).cast(pa.int64())

    def __str__(self) -> str:
        return f"length({self.field})"


@dataclass(frozen=True)
class ArithmeticNode(Operand):
    """A sum, a difference or a product of exact numbers; its type is a decimal that holds every result."""

    operator: str
    left: Operand
    right: Operand
    arrow_functions: ClassVar[dict[str, str]] = {"+": "add", "-": "subtract", "*": "multiply"}

    def evaluate(self, rows: Any) -> Any:
        """Return the results, as decimals of the type."""
        both = [as_decimals(one, rows, _wide(digits_of(one.type))) for one in (self.left, self.right)]
        # Arrow counts digits by the types, and would run out of them in a long sum.
        result = getattr(compute(), self.arrow_functions[self.operator])(*both)
        return result.cast(_wide(digits_of(self.type)))

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True)
class ComparisonNode(Node):
    """Two values side by side."""

    operator: str
    left: Operand
    right: Operand
    arrow_functions: ClassVar[dict[str, str]] = {
        "=": "equal", "<>": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
    }  # fmt: skip

    def evaluate(self, rows: Any) -> Any:
        """Return whether the comparison holds in each row; null where a side is null."""
        compare = getattr(compute(), self.arrow_functions[self.operator])
        left, right = self.comparables(rows)
        return compare(left, right)

    @property
    def is_exact(self) -> bool:
        """Whether numbers of several types are compared as decimals."""
        types = [self.left.type, self.right.type]
        return any(one.family is Family.DECIMAL for one in types) and types[0] != types[1]

    def comparables(self, rows: Any) -> tuple[Any, Any]:
        """Return both sides in one type of Arrow."""
        if not self.is_exact:
            left, right = self.left.evaluate(rows), self.right.evaluate(rows)
            if isinstance(self.left, LiteralNode):
                return scalar_like(right, left), right
            if isinstance(self.right, LiteralNode):
                return left, scalar_like(left, right)
            if left.type == right.type or self.left.type.family is not Family.INTEGER:
                return left, right
        common = _wide(common_digits(self.left.type, self.right.type))
        return as_decimals(self.left, rows, common), as_decimals(self.right, rows, common)


@dataclass(frozen=True)
class AmongNode(Node):
    """Whether a value is one of some."""

    operand: Operand
    values: tuple[LiteralNode, ...]

    def evaluate(self, rows: Any) -> Any:
        """Return whether the value of each row is one of them; null where it is null."""
        pc, operands = compute(), self.operand.evaluate(rows)
        among = [pc.equal(operands, scalar_like(operands, value.value)) for value in self.values]
        return reduce(pc.or_kleene, among)


@dataclass(frozen=True)
class NullNode(Node):
    """Whether a value is absent."""

    field: FieldNode

    def evaluate(self, rows: Any) -> Any:
        """Return whether the value of each row is null."""
        return compute().is_null(self.field.raw(rows))


@dataclass(frozen=True)
class NotNode(Node):
    """The contrary."""

    inner: Node

    def evaluate(self, rows: Any) -> Any:
        """Return the contrary for each row; null stays null."""
        return compute().invert(self.inner.evaluate(rows))


@dataclass(frozen=True)
class LogicNode(Node):
    """`and` or `or` between two conditions."""

    word: str
    left: Node
    right: Node

    def evaluate(self, rows: Any) -> Any:
        """Return the combination for each row, by SQL's rules for three truth values."""
        combine = compute().and_kleene if self.word == "and" else compute().or_kleene
        return combine(self.left.evaluate(rows), self.right.evaluate(rows))


def digits_of(type_: LogicalType) -> tuple[int, int]:
    """Return the digits before and after the point that an exact number of a type may have."""
    if type_.family is Family.DECIMAL:
        scale = scale_of(type_)
        return max(getattr(type_, "precision") - scale, 0), max(scale, 0)  # noqa: B009  of the family
    bits = getattr(type_, "bits", 64) - int(getattr(type_, "is_signed", True))
    return len(str(2**bits)), 0


def common_digits(one: LogicalType, other: LogicalType) -> tuple[int, int]:
    """Return the digits that values of both types need."""
    pairs = (digits_of(one), digits_of(other))
    return max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)


def result_type(operator: str, left: LogicalType, right: LogicalType) -> Decimal | None:
    """Return a decimal that holds every result; None if it would need more digits than there are."""
    (a, b), (c, d) = digits_of(left), digits_of(right)
    before, after = (a + c, b + d) if operator == "*" else (max(a, c) + 1, max(b, d))
    # SQL engines and Arrow both count one digit more for a product.
    precision = before + after + (operator == "*")
    return Decimal(precision=precision, scale=after) if precision <= MOST_DIGITS else None


def as_decimals(operand: Operand, rows: Any, type_: Any) -> Any:
    """Return exact numbers as decimals of a type that holds them."""
    operands = operand.evaluate(rows)
    if isinstance(operand, LiteralNode):
        return pa.scalar(operands, type_)
    if pa.types.is_integer(operands.type):
        # Arrow asks for the digits of the widest integer, however wide the field is.
        operands = operands.cast(pa.decimal256(20, 0))
    return operands.cast(type_)


def _wide(digits: tuple[int, int]) -> Any:
    """Return a decimal type of 256 bits for so many digits before and after the point."""
    return pa.decimal256(max(sum(digits), 1), digits[1])
