"""Constraints as Python writes them: calls that make validators, and conditions over the fields of a record.

Layer: engines.
Shape: source text over the functions of `keeping`; None for what no value of Python can be compared with, which is a loss.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from schemac.attributes.family import Family
from schemac.constraints.bounds import Bound, MultipleOf
from schemac.constraints.constraint import Constraint
from schemac.constraints.expressions import (
    AmongNode,
    ArithmeticNode,
    ComparisonNode,
    FieldNode,
    LengthNode,
    LiteralNode,
    LogicNode,
    Node,
    NotNode,
    NullNode,
    Operand,
    TruthNode,
)
from schemac.constraints.items import MaxItems, MinItems, UniqueItems
from schemac.constraints.texts import Enum, MaxLength, MinLength, Pattern
from schemac.constraints.values import Value
from schemac.engines.python_source import literal
from schemac.kinds.units import PER_SECOND
from schemac.logical.model import LogicalType

_EXACT = frozenset({Family.INTEGER, Family.DECIMAL})
_FUNCTIONS = {
    "minimum": "keeps_minimum",
    "maximum": "keeps_maximum",
    "exclusiveMinimum": "keeps_exclusive_minimum",
    "exclusiveMaximum": "keeps_exclusive_maximum",
    "multipleOf": "keeps_multiple_of",
    "minLength": "keeps_min_length",
    "maxLength": "keeps_max_length",
    "pattern": "keeps_pattern",
    "enum": "keeps_enum",
    "minItems": "keeps_min_items",
    "maxItems": "keeps_max_items",
    "uniqueItems": "keeps_unique_items",
}
"""Functions of `keeping`, by the rules that they check."""
OF_LISTS = tuple(_FUNCTIONS[rule] for rule in ("minItems", "maxItems", "uniqueItems"))


class UnwritableError(Exception):
    """A value that no value of Python stands for."""


def validator(constraint: Constraint) -> str:
    """Return the annotation's metadata that checks a constraint. Raises UnwritableError."""
    return f"AfterValidator({_FUNCTIONS[constraint.rule]}({_argument(constraint)}))"


def _argument(constraint: Constraint) -> str:
    type_ = constraint.type
    match constraint:
        case Bound():
            return python_value(type_, constraint.limit)
        case MultipleOf():
            return python_value(type_, constraint.divisor)
        case Enum():
            return _tuple([python_value(type_, one) for one in constraint.values])
        case Pattern():
            return literal(constraint.pattern.java)
        case MinLength() | MaxLength() | MinItems() | MaxItems():
            return str(constraint.limit)
        case UniqueItems():
            return ""
    raise AssertionError(f"{type(constraint).__name__} has no validator")


def _tuple(values: list[str]) -> str:
    return f"({values[0]},)" if len(values) == 1 else f"({', '.join(values)})"


def python_value(type_: LogicalType, value: Value) -> str:
    """Return the value that a field of a type has in Python. Raises UnwritableError."""
    match type_.family:
        case Family.TEXT:
            return literal(str(value))
        case Family.DECIMAL:
            assert isinstance(value, Decimal)
            return f'Decimal("{value:f}")'
        case Family.DATE:
            return repr(date(1970, 1, 1) + timedelta(days=int(value))).removeprefix("datetime.")
        case Family.TIME | Family.TIMESTAMP:
            return _time(type_, int(value))
    return repr(value)


def _time(type_: LogicalType, count: int) -> str:
    unit: str = getattr(type_, "unit")  # noqa: B009  of the family, not of a class
    if unit == "Nanosecond":
        return str(count)
    try:
        at = datetime(1970, 1, 1) + timedelta(microseconds=count * (10**6 // PER_SECOND[unit]))  # noqa: DTZ001  a clock
    except OverflowError as error:
        raise UnwritableError from error
    if type_.family is Family.TIME:
        return repr(at.time()).removeprefix("datetime.")
    if getattr(type_, "timezone", None) is None:
        return repr(at).removeprefix("datetime.")
    written = repr(at.replace(tzinfo=UTC)).removeprefix("datetime.")
    return written.replace("datetime.timezone.utc", "UTC")


Names = Callable[[tuple[str, ...]], tuple[str, ...]]
"""Gives the names that a field has in the models, from the table down."""


def condition(node: Node, names: Names) -> str:
    """Return a condition of a record, with SQL's three truth values. Raises UnwritableError."""
    match node:
        case ComparisonNode():
            sides = ", ".join(_operand(part, names) for part in (node.left, node.right))
            return f'applied("{node.operator}", {sides})'
        case AmongNode():
            values = _tuple([_operand(one, names) for one in node.values])
            return f"among({_operand(node.operand, names)}, {values})"
        case NullNode():
            return f"{_at('value_at', node.field, names)} is None"
        case TruthNode():
            return _at("value_at", node.field, names)
        case NotNode():
            return f"contrary({condition(node.inner, names)})"
        case LogicNode():
            word = "both" if node.word == "and" else "either"
            return f"{word}({condition(node.left, names)}, {condition(node.right, names)})"
    raise AssertionError(f"{type(node).__name__} has no condition in Python")


def _operand(operand: Operand, names: Names) -> str:
    match operand:
        case LiteralNode() if operand.type.family in _EXACT:
            return (
                f'Fraction("{operand.value:f}")' if isinstance(operand.value, Decimal) else f"{operand.value}"
            )
        case LiteralNode():
            return python_value(operand.type, operand.value)
        case LengthNode():
            return _at("length_at", operand.field, names)
        case ArithmeticNode():
            sides = ", ".join(_operand(part, names) for part in (operand.left, operand.right))
            return f'applied("{operand.operator}", {sides})'
        case FieldNode() if operand.type.family in _EXACT:
            return _at("exact_at", operand, names)
        case FieldNode():
            return _at("value_at", operand, names)
    raise AssertionError(f"{type(operand).__name__} has no value in Python")


def _at(function: str, field: FieldNode, names: Names) -> str:
    return f"{function}(self, {', '.join(map(literal, names(field.path)))})"


def python_names(names: Any) -> Names:
    """Return how fields are called, by the names of the members of each struct."""
    return lambda path: tuple(names[path[:depth]][segment] for depth, segment in enumerate(path))
