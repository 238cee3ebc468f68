"""Constraints as keywords that validators know.

Layer: engines.
Shape: the keywords of a type go in, with those of its constraints they come out. A bound of dates, times of day and timestamps
without a zone is a pattern. What no keyword says stays an annotation, and is a loss.
Source: JSON Schema 2020-12, "Validation", section 6; a keyword says nothing of values of other types, such as null.
"""

import math
from collections.abc import Callable
from decimal import Decimal

from schemac.attributes.family import NUMBERS, Family
from schemac.constraints.bounds import Bound, MultipleOf
from schemac.constraints.constraint import Constraint
from schemac.constraints.items import MaxItems, MinItems, UniqueItems
from schemac.constraints.registry import constraints_at
from schemac.constraints.texts import Enum, Pattern, Size
from schemac.engines.jsonschema import text_orders
from schemac.logical.model import LogicalType
from schemac.logical.schema_fields import SchemaField
from schemac.source.json_object import Json

LOWER, UPPER = ("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")
_NUMERIC = NUMBERS | {Family.DECIMAL, Family.DURATION}
_SPELLED = frozenset({Family.BYTES, Family.TIME, Family.TIMESTAMP})
"""Families one value of which may be written in several ways."""
_DIGITS = {16: (11, 2.0**-24), 32: (24, 2.0**-149)}
"""By bits of a float, how many binary digits it keeps, and the least float above zero."""
IGNORED = "a keyword that validators ignore"
Lose = Callable[[str, str], None]
"""Enters a loss: what is lost, and what is in its place."""


def constrained(schema: Json, field: SchemaField, lose: Lose) -> Json:
    """Return the schema of a type with the constraints of a field; null is not among its values yet."""
    parts: list[Json] = []
    for constraint in constraints_at(field):
        keywords = _keywords(constraint, lose)
        if keywords is None:
            lose(f"the constraint {constraint.attribute.key}", IGNORED)
        else:
            parts.append(keywords)
    return joined(schema, parts)


def joined(schema: Json, parts: list[Json]) -> Json:
    """Return a schema with further keywords; bounds replace those of the type, which are never narrower."""
    for names in (LOWER, UPPER):
        if any(name in part for part in parts for name in names):
            schema = {key: value for key, value in schema.items() if key not in names}
    merged = dict(schema)
    rest: list[Json] = []
    for part in parts:
        if "anyOf" not in part and ("multipleOf" in part or not merged.keys() & part.keys()):
            merged |= part
        else:
            rest.append(part)
    return {**merged, "allOf": rest} if rest else merged


def _keywords(constraint: Constraint, lose: Lose) -> Json | None:
    """Return the keywords of one constraint; None if there are none."""
    family, name = constraint.type.family, constraint.attribute.name
    match constraint:
        case Bound() if family in _NUMERIC:
            return _edge_of(constraint) if is_narrow(constraint.type) else {name: constraint.limit}
        case Bound():
            return text_orders.bound(constraint)
        case MultipleOf():
            return {name: constraint.divisor}
        case Pattern():
            return {name: constraint.pattern.ecma}
        case Enum():
            return _enum(constraint)
        case MinItems() | MaxItems():
            return {name: constraint.limit}
        case Size():
            return {name: constraint.limit} if family is Family.TEXT else _bytes(constraint)
        case UniqueItems():
            return _unique(constraint, lose)
    return None


def is_narrow(type_: LogicalType) -> bool:
    """Whether values of a type are rounded to fewer digits than a validator reads."""
    return type_.family is Family.FLOAT and _bits(type_) < 64


def _edge_of(bound: Bound) -> Json:
    """Return the bound of the numbers that are rounded to values within a bound."""
    limit, bits = float(bound.limit), _bits(bound.type)
    if bound.is_lower:
        return _lower_edge(limit + _step_below(-limit, bits) if bound.is_exclusive else limit, bits)
    return _upper_edge(limit - _step_below(limit, bits) if bound.is_exclusive else limit, bits)


def _lower_edge(value: float, bits: int) -> Json:
    """Return from where on numbers are rounded to a value, or to a greater one."""
    edge, takes_edge = _edge(value, bits)
    return {"minimum" if takes_edge else "exclusiveMinimum": edge}


def _upper_edge(value: float, bits: int) -> Json:
    """Return up to where numbers are rounded to a value, or to a lesser one."""
    edge, takes_edge = _edge(-value, bits)
    return {"maximum" if takes_edge else "exclusiveMaximum": edge.copy_negate()}


def _edge(value: float, bits: int) -> tuple[Decimal, bool]:
    """Return the middle of a narrow float and the one below it, and whether it is rounded up."""
    middle = value - _step_below(value, bits) / 2
    is_even = value / _unit(value, bits) % 2 == 0
    if bits == 32:
        return Decimal(middle), is_even
    # What becomes a half becomes a single before.
    return _edge(middle if is_even else middle + _step_below(-middle, 32), 32)


def _step_below(value: float, bits: int) -> float:
    """Return how far the next lower float is: below a power of two, half as far as above it."""
    unit, (_, least) = _unit(value, bits), _DIGITS[bits]
    return max(unit / 2, least) if math.frexp(value)[0] == 0.5 else unit


def _unit(value: float, bits: int) -> float:
    """Return what the last digit of a float counts."""
    digits, least = _DIGITS[bits]
    return max(math.ldexp(1, math.frexp(value)[1] - digits), least) if value else least


def _bits(type_: LogicalType) -> int:
    return int(getattr(type_, "bits"))  # noqa: B009  of the family, not of a class


def _enum(constraint: Enum) -> Json | None:
    type_, values = constraint.type, constraint.values
    if is_narrow(type_):
        bits = _bits(type_)
        return {
            "anyOf": [{**_lower_edge(float(one), bits), **_upper_edge(float(one), bits)} for one in values]
        }
    if type_.family in _NUMERIC | {Family.TEXT, Family.BOOLEAN}:
        return {"enum": list(values)}
    return text_orders.among(constraint)


def _unique(constraint: UniqueItems, lose: Lose) -> Json:
    if not constraint.is_set:
        return {}
    item = getattr(constraint.type, "item_type", None)
    while item is not None and item.inner_type() is not None:
        item = item.inner_type()
    if item is not None and (item.family in _SPELLED or is_narrow(item)):
        lose(
            f"that equal items count as such however they are written ({constraint.attribute.key})",
            "equal texts",
        )
    return {"uniqueItems": True}


def _bytes(constraint: Size) -> Json:
    """Return the lengths of texts in base64: four characters for three bytes, with `=` behind a last group that has fewer."""
    length, rest = -(-constraint.limit // 3) * 4, constraint.limit % 3
    if constraint.is_lower:
        short = {0: "=$", 1: None, 2: "==$"}[rest]
        bound: Json = {"minLength": length}
        return _without(bound, {"maxLength": length}, short if constraint.limit else None)
    long = {0: None, 1: "[^=]=?$", 2: "[^=]$"}[rest]
    return _without({"maxLength": length}, {"minLength": length}, long)


def _without(keywords: Json, at: Json, pattern: str | None) -> Json:
    """Return keywords that leave texts of one length out whose end matches a pattern."""
    return keywords if pattern is None else {**keywords, "not": {"type": "string", **at, "pattern": pattern}}
