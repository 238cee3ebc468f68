"""Constraints as keywords that validators know.

Layer: engines.
Shape: the keywords of a type go in, with those of its constraints they come out. A bound of dates, times of day and timestamps
without a zone is a pattern. What no keyword says stays an annotation, and is a loss.
Source: JSON Schema 2020-12, "Validation", section 6; a keyword says nothing of values of other types, such as null.
"""

import struct
from collections.abc import Callable
from typing import Any

from schemac.attributes.family import NUMBERS, Family
from schemac.constraints.bounds import Bound, MultipleOf
from schemac.constraints.constraint import Constraint
from schemac.constraints.items import MaxItems, MinItems, UniqueItems
from schemac.constraints.registry import constraints_at
from schemac.constraints.texts import Enum, Pattern, Size
from schemac.engines.jsonschema import text_orders
from schemac.logical.model import LogicalType
from schemac.logical.slots import Slot
from schemac.source.json_object import Json

LOWER, UPPER = ("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")
_NUMERIC = NUMBERS | {Family.DECIMAL, Family.DURATION}
_SPELLED = frozenset({Family.BYTES, Family.TIME, Family.TIMESTAMP})
"""Families one value of which may be written in several ways."""
IGNORED = "a keyword that validators ignore"
Lose = Callable[[str, str], None]
"""Enters a loss: what is lost, and what stands in its place."""


def constrained(schema: Json, slot: Slot, lose: Lose) -> Json:
    """Return the schema of a type with the constraints of a slot; null is not among its values yet."""
    parts: list[Json] = []
    for constraint in constraints_at(slot):
        found = _keywords(constraint, lose)
        if found is None:
            lose(f"the constraint {constraint.attribute.key}", IGNORED)
        else:
            parts.append(found)
    return joined(schema, parts)


def joined(schema: Json, parts: list[Json]) -> Json:
    """Return a schema with further keywords; bounds replace those of the type, which are never narrower."""
    for names in (LOWER, UPPER):
        if any(name in part for part in parts for name in names):
            schema = {key: value for key, value in schema.items() if key not in names}
    own = dict(schema)
    rest: list[Json] = []
    for part in parts:
        if "multipleOf" in part or not own.keys() & part.keys():
            own |= part
        else:
            rest.append(part)
    return {**own, "allOf": rest} if rest else own


def _keywords(constraint: Constraint, lose: Lose) -> Json | None:
    """Return the keywords of one constraint; None where there are none."""
    family, name = constraint.type.family, constraint.attribute.name
    match constraint:
        case Bound() if family in _NUMERIC:
            takes_less = constraint.is_lower != constraint.is_exclusive
            return {name: _number(constraint.type, constraint.limit, is_greatest=not takes_less)}
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


def _number(type_: LogicalType, value: Any, *, is_greatest: bool) -> Any:
    """Return a limit; of a narrow float, the least or the greatest of its spellings, so that all are on one side."""
    if type_.family is not Family.FLOAT:
        return value
    spellings = _spellings(type_, value)
    return max(spellings) if is_greatest else min(spellings)


def _spellings(type_: LogicalType, value: float) -> list[float]:
    """Return a float as a wider one, and as the one with the fewest digits that its type takes for it."""
    packing: str = getattr(type_, "packing")  # noqa: B009  of the family, not of a class
    for digits in range(1, 18):
        short = float(f"{value:.{digits}g}")
        try:
            if struct.pack(packing, short) == struct.pack(packing, value):
                return [short, value] if short != value else [value]
        except OverflowError:
            continue
    return [value]


def _enum(constraint: Enum) -> Json | None:
    type_, values = constraint.type, constraint.values
    if type_.family is Family.FLOAT:
        return {"enum": [one for value in values for one in _spellings(type_, float(value))]}
    if type_.family in _NUMERIC | {Family.TEXT, Family.BOOLEAN}:
        return {"enum": list(values)}
    return text_orders.among(constraint)


def _unique(constraint: UniqueItems, lose: Lose) -> Json:
    if not constraint.is_set:
        return {}
    item = getattr(constraint.type, "item_type", None)
    while item is not None and item.inner_type() is not None:
        item = item.inner_type()
    if item is not None and item.family in _SPELLED:
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
        found: Json = {"minLength": length}
        return _without(found, {"maxLength": length}, short if constraint.limit else None)
    long = {0: None, 1: "[^=]=?$", 2: "[^=]$"}[rest]
    return _without({"maxLength": length}, {"minLength": length}, long)


def _without(found: Json, at: Json, pattern: str | None) -> Json:
    """Return keywords that leave texts of one length out whose end matches a pattern."""
    return found if pattern is None else {**found, "not": {"type": "string", **at, "pattern": pattern}}
