"""Constraints as SQL over the values of a record, after they were converted.

Layer: pipeline.
Shape: SQL text of whether a value breaks a constraint (null for null, which breaks none), and of the reasons with their paths, at any
depth. It says of every value what `schemac.constraints` says of it in Arrow arrays.
Units: see `timestamps`; a bound is brought to the form that Spark holds the values in, never the other way round.
"""

import math
import struct as binary
from typing import Any

import pyarrow as pa

from schemac.arrow.constrained import Constrained
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
    digits_of,
)
from schemac.constraints.items import UniqueItems
from schemac.constraints.texts import Enum, Pattern, Size
from schemac.constraints.values import Value
from schemac.kinds.units import PER_SECOND
from schemac.logical.model import LogicalType
from schemac.pipeline.spark.sqltext import any_of, fresh, literal, name, when
from schemac.pipeline.values.nested import NO_REASONS, Path, reason
from schemac.pipeline.values.timestamps import text_of_count


def conditions(place: Constrained, value: str) -> list[str]:
    """Give the conditions under which a value breaks a constraint, its own or one below."""
    found = [f"coalesce({violation(one, value)}, false)" for one in place.constraints]
    for child in place.children:
        match place.slot.type.family:
            case Family.STRUCT:
                found += conditions(child, f"{value}.{name(str(child.slot.segment))}")
            case Family.MAP:
                found.append(_exists(child, f"{_entries(place, child)}({value})"))
            case _:
                found.append(_exists(child, value))
    return found


def _entries(place: Constrained, child: Constrained) -> str:
    return "map_keys" if child.slot is place.slot.children[0] else "map_values"


def _exists(child: Constrained, items: str) -> str:
    x = fresh()
    return f"coalesce(exists({items}, {x} -> {any_of(conditions(child, x))}), false)"


def reasons(place: Constrained, value: str, path: Path) -> str:
    """Give the reasons of a value, of those below as well; an array that is never null."""
    found = [
        when(
            f"coalesce({violation(one, value)}, false)",
            f"array({reason(path, literal(one.rule), _shown(place, value))})",
        )
        for one in place.constraints
    ]
    for child in place.children:
        x, i = fresh(), fresh()
        match place.slot.type.family:
            case Family.STRUCT:
                label = str(child.slot.segment)
                found.append(reasons(child, f"{value}.{name(label)}", (*path, literal("." + label))))
            case Family.MAP:
                at = (*path, "'[\"'", f"cast({x}.key as string)", "'\"]'")
                part = "key" if child.slot is place.slot.children[0] else "value"
                inner = reasons(child, f"{x}.{part}", at)
                found.append(f"flatten(transform(map_entries({value}), {x} -> {inner}))")
            case _:
                inner = reasons(child, x, (*path, "'['", f"cast({i} as string)", "']'"))
                found.append(f"flatten(transform({value}, ({x}, {i}) -> {inner}))")
    return f"flatten(array_compact(array({', '.join([*found, NO_REASONS])})))"


def _shown(place: Constrained, value: str) -> str:
    type_ = place.field.type
    if place.slot.children:
        return f"to_json({value})"
    if place.slot.type.family is Family.BYTES:
        return f"base64({value})"
    is_count = pa.types.is_time(type_) or (pa.types.is_timestamp(type_) and type_.unit == "ns")
    return text_of_count(value, type_) if is_count else value


def violation(constraint: Constraint, value: str) -> str:
    """Whether a value breaks a constraint; null where the value is."""
    type_ = constraint.type
    match constraint:
        case Bound():
            return _beyond(constraint, value)
        case MultipleOf():
            held = comparable_value(type_, value)
            return f"({held} % {_literal(type_, constraint.divisor)} <> 0)"
        case Enum():
            return f"(not {any_of([_equals(type_, value, one) for one in constraint.values])})"
        case Pattern():
            return f"(not {value} rlike {literal(constraint.pattern.java)})"
        case Size():
            sizes = {Family.TEXT: "length", Family.BYTES: "octet_length"}
            operator = "<" if constraint.is_lower else ">"
            return f"({sizes.get(type_.family, 'size')}({value}) {operator} {constraint.limit})"
        case UniqueItems():
            return _has_twins(type_, value) if constraint.is_set else "false"
    raise AssertionError(f"{type(constraint).__name__} has no SQL")


def _has_twins(type_: LogicalType, value: str) -> str:
    item: LogicalType = getattr(type_, "item_type")  # noqa: B009  of the family, not of a class
    while (inner := item.inner_type()) is not None:
        item = inner
    x = fresh()
    held = comparable_value(item, x)
    items = value if held == x else f"transform({value}, {x} -> {held})"
    return f"(size({items}) <> size(array_distinct({items})))"


def _beyond(bound: Bound, value: str) -> str:
    held = comparable_value(bound.type, value)
    if bound.type.family is not Family.FLOAT:
        return f"(not {held} {bound.operator} {_literal(bound.type, bound.limit)})"
    limit = float(bound.limit)
    if _is_half(bound.type):
        # Values keep more digits until they are written; each stands for the half float that it will be.
        low, high = _rounding_to(limit)
        edge, takes_edge = (low if bound.is_lower != bound.is_exclusive else high), _is_even(limit)
        is_inside = takes_edge != bound.is_exclusive
        operator = (">" if bound.is_lower else "<") + ("=" if is_inside else "")
        return f"(isnan({held}) or not {held} {operator} {_double(edge)})"
    return f"(isnan({held}) or not {held} {bound.operator} {_literal(bound.type, limit)})"


def _equals(type_: LogicalType, value: str, other: Value) -> str:
    held = comparable_value(type_, value)
    if _is_half(type_):
        low, high = _rounding_to(float(other))
        equal = "=" if _is_even(float(other)) else ""
        return f"({held} >{equal} {_double(low)} and {held} <{equal} {_double(high)})"
    return f"({held} = {_literal(type_, other)})"


def comparable_value(type_: LogicalType, value: str) -> str:
    """Give a value in the form in which it is compared: dates and timestamps as counts, other numbers as numbers."""
    found: Any = type_
    match type_.family:
        case Family.DATE:
            return f"unix_date({value})"
        case Family.TIMESTAMP if found.unit != "Nanosecond":
            return f"unix_micros(cast({value} as timestamp))"
        case Family.DECIMAL if not 0 <= found.scale <= found.precision:
            # Spark has no such decimals; they travel as text.
            return f"cast({value} as {_decimal(type_)})"
        case Family.FLOAT if _is_half(type_):
            return f"cast({value} as double)"
    return value


def _decimal(type_: LogicalType) -> str:
    before, after = digits_of(type_)
    return f"decimal({max(before + after, 1)},{after})"


def _literal(type_: LogicalType, value: Any) -> str:
    """Write a value of a type in the form of `comparable_value`."""
    found: Any = type_
    match type_.family:
        case Family.TEXT:
            return literal(value)
        case Family.BOOLEAN:
            return "true" if value else "false"
        case Family.FLOAT:
            held = "float" if found.bits == 32 else "double"
            return f"cast('{value!r}' as {held})"
        case Family.DECIMAL:
            return f"cast('{value:f}' as {_decimal(type_)})"
        case Family.TIMESTAMP if found.unit != "Nanosecond":
            return f"cast('{value * (10**6 // PER_SECOND[found.unit])}' as bigint)"
        case Family.INTEGER if found.bits == 64 and not found.is_signed:
            return f"cast('{value}' as decimal(20,0))"
    return f"cast('{value}' as bigint)"


def _is_half(type_: LogicalType) -> bool:
    return type_.family is Family.FLOAT and getattr(type_, "bits", 64) == 16


def _double(value: float) -> str:
    return f"cast('{value!r}' as double)"


def _half_number(value: float) -> int:
    """Return the place of a half float among all of them, in their order."""
    (bits,) = binary.unpack("<h", binary.pack("<e", value))
    return int(bits) if bits >= 0 else -(int(bits) & 0x7FFF)


def _half(number: int) -> float:
    bits = number if number >= 0 else -number
    magnitude: float = binary.unpack("<e", binary.pack("<H", bits))[0]
    return math.copysign(magnitude, number)


def _is_even(value: float) -> bool:
    """Whether what lies in the middle between a half float and its neighbour is rounded to it."""
    return _half_number(value) % 2 == 0


def _rounding_to(value: float) -> tuple[float, float]:
    """Return the ends of the range of numbers that are rounded to a half float."""
    number, largest = _half_number(value), 65504.0
    low = -65520.0 if value == -largest else (_half(number - 1) + value) / 2
    high = 65520.0 if value == largest else (_half(number + 1) + value) / 2
    return low, high


Columns = dict[tuple[str, ...], str]
"""SQL of fields by their paths."""


def condition_sql(node: Node, values: Columns) -> str:
    """Write a condition over the fields of a row; it has SQL's three truth values."""
    match node:
        case ComparisonNode():
            return _comparison(node, values)
        case AmongNode():
            held = _operand(node.operand, values)
            return any_of([f"({held} = {_literal(one.type, one.value)})" for one in node.values])
        case NullNode():
            return f"({_column(node.field, values)} is null)"
        case TruthNode():
            return _column(node.field, values)
        case NotNode():
            return f"(not {condition_sql(node.inner, values)})"
        case LogicNode():
            left, right = (condition_sql(part, values) for part in (node.left, node.right))
            return f"({left} {node.word} {right})"
    raise AssertionError(f"{type(node).__name__} has no SQL")


def _comparison(node: ComparisonNode, values: Columns) -> str:
    is_exact = {node.left.type.family, node.right.type.family} <= {Family.INTEGER, Family.DECIMAL}
    write = _number if is_exact and node.left.type != node.right.type else _operand
    left, right = (write(part, values) for part in (node.left, node.right))
    compared = f"({left} {node.operator} {right})"
    if node.left.type.family is not Family.FLOAT:
        return compared
    is_nan = any_of([f"isnan({side})" for side in (left, right)])
    is_null = any_of([f"{side} is null" for side in (left, right)])
    other = f"({compared} or {is_nan})" if node.operator == "<>" else f"({compared} and not {is_nan})"
    return when(is_null, "cast(null as boolean)", other)


def _operand(operand: Operand, values: Columns) -> str:
    match operand:
        case LiteralNode():
            return _literal(operand.type, operand.value)
        case LengthNode():
            return f"length({_column(operand.field, values)})"
        case ArithmeticNode():
            sides = (_number(part, values) for part in (operand.left, operand.right))
            return f"cast({f' {operand.operator} '.join(sides)} as {_decimal(operand.type)})"
        case FieldNode():
            held = comparable_value(operand.type, _column(operand, values))
            return f"cast({held} as double)" if operand.type.family is Family.FLOAT else held
    raise AssertionError(f"{type(operand).__name__} has no SQL")


def _number(operand: Operand, values: Columns) -> str:
    return f"cast({_operand(operand, values)} as {_decimal(operand.type)})"


def _column(field: FieldNode, values: Columns) -> str:
    return ".".join([values[field.path[:1]], *map(name, field.path[1:])])
