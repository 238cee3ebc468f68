"""Keywords of JSON Schema for types without parts and for constraints, in both directions.

Layer: engines.
Shape: a schema as JSON, with numbers that have a fraction as `Decimal`, so that no digit is lost when it is written. What no keyword
      says stays an annotation, and is a loss; a bound that the type has anyway is none. A bound of dates, times of day and timestamps
      without a zone is a pattern.
Source: JSON Schema 2020-12, "Validation", 6 and 7, where a keyword says nothing of values of other types, such as null;
      `exclusiveMinimum: true` of draft 4. A `format` is written only where each text of the pattern has it: `date-time` needs seconds
      and an offset, which a pipeline does not, so a validator that checks formats would refuse what is taken.
"""

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

from schemac.engines import json_values
from schemac.importers.importer import Beyond
from schemac.language.attributes.attribute import NUMBERS, Family
from schemac.language.attributes.constraints import OF_VALUES
from schemac.language.constraints import field_constraints
from schemac.language.constraints.constraint import EXACT, Constraint, limits_of
from schemac.language.logical.model import LogicalType, SchemaField
from schemac.rows.judging.values import LARGEST_BRAIN_FLOAT
from schemac.text.source.json_object import Json

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TYPE = "schemac.dev/type"
"""The keyword for the type of a manifest, where the standard's keywords do not tell it."""
ANY_JSON: Json = {"type": ["object", "array", "string", "number", "boolean"]}
"""Everything but null."""
_INTEGERS = {
    json_values.integer_bounds(bits, is_signed=is_signed): f"{'' if is_signed else 'U'}Int{bits}"
    for bits in (8, 16, 32, 64)
    for is_signed in (True, False)
}
_BASE64_LENGTH = re.compile(r"\^\[A-Za-z0-9\+/\]\{([0-9]+)\}(={0,2})\$")


def integer(bits: int, *, is_signed: bool) -> Json:
    """Return the schema of integers."""
    lowest, highest = json_values.integer_bounds(bits, is_signed=is_signed)
    return {"type": "integer", "minimum": lowest, "maximum": highest}


def floating(bits: int) -> Json:
    """Return the schema of floats, without those that round to infinity."""
    limit = json_values.FLOAT_LIMITS.get(bits)
    if limit is not None:
        return {"type": "number", "exclusiveMinimum": limit.copy_negate(), "exclusiveMaximum": limit}
    return {"type": "number", "minimum": -json_values.LARGEST_DOUBLE, "maximum": json_values.LARGEST_DOUBLE}


def decimal(precision: int, scale: int) -> Json:
    """Return the schema of decimals."""
    step = Decimal(1).scaleb(-scale)
    largest = Decimal(10**precision - 1).scaleb(-scale, EXACT)
    return {"type": "number", "multipleOf": step, "minimum": largest.copy_negate(), "maximum": largest}


def text(pattern: str, **more: str) -> Json:
    """Return the schema of texts that are of a form as a whole."""
    return {"type": "string", **more, "pattern": f"^(?:{pattern})$" if "|" in pattern else f"^{pattern}$"}


def binary(length: int | None = None) -> Json:
    """Return the schema of binaries in base64."""
    return text(json_values.base64(length), contentEncoding="base64")


DATE = text(json_values.DATE, format="date")
UUID = text(json_values.UUID, format="uuid")


def leaf(schema: Mapping[str, Any]) -> tuple[Json, frozenset[str]] | None:
    """Return the type that the standard's keywords express, and these keywords; None if they describe no leaf.

    Keywords that narrow the type further are not among them.
    """
    match schema.get("type"):
        case "boolean":
            return {"kind": "Bool"}, frozenset({"type"})
        case "null":
            return {"kind": "Null"}, frozenset({"type"})
        case "integer":
            bounds = (schema.get("minimum"), schema.get("maximum"))
            kind = _INTEGERS.get(bounds)  # type: ignore[arg-type]
            keywords = frozenset({"type", "minimum", "maximum"}) if kind else frozenset({"type"})
            return {"kind": kind or "Int64"}, keywords
        case "string":
            return _string(schema)
        case "number":
            for kind, bits in (("Float16", 16), ("Float32", 32), ("Float64", 64)):
                words = floating(bits)
                if _has(schema, words):
                    return {"kind": kind}, frozenset(words)
            step, highest = schema.get("multipleOf"), schema.get("maximum")
            if isinstance(step, int | Decimal) and isinstance(highest, int | Decimal):
                exact = Decimal(step)
                scale = -exact.adjusted()
                precision = (Decimal(highest).adjusted() if highest else 0) + scale + 1
                if 0 < precision <= 76 and -76 <= scale <= 76 and _has(schema, decimal(precision, scale)):
                    tree = {"kind": "Decimal", "precision": precision, "scale": scale}
                    return tree, frozenset({"type", "multipleOf", "minimum", "maximum"})
            return {"kind": "Float64"}, frozenset({"type"})
    return None


def _string(schema: Mapping[str, Any]) -> tuple[Json, frozenset[str]]:
    """Return the tree of a `string` schema, and the keywords that it accounts for."""
    formats = frozenset({"type", "format"})
    for format, words, tree in (("date", DATE, {"kind": "Date"}), ("uuid", UUID, json_values.UUID_TYPE)):
        if schema.get("format") == format:
            return tree, frozenset(words) if _has(schema, words) else formats
    if schema.get("format") == "date-time":
        return {"kind": "Timestamp", "unit": "Microsecond"}, formats
    if schema.get("contentEncoding") != "base64":
        return {"kind": "String"}, frozenset({"type"})
    keywords = frozenset({"type", "contentEncoding"})
    pattern = str(schema.get("pattern"))
    fixed = _BASE64_LENGTH.fullmatch(pattern)
    if fixed is not None and (int(fixed[1]) + len(fixed[2])) % 4 == 0:
        length = (int(fixed[1]) + len(fixed[2])) // 4 * 3 - len(fixed[2])
        return {"kind": "Binary", "fixedLength": length}, keywords | {"pattern"}
    return {"kind": "Binary"}, keywords | {"pattern"} if pattern == binary()["pattern"] else keywords


def _has(schema: Mapping[str, Any], words: Json) -> bool:
    """Whether a document has some keywords with these values; floats are compared by their shortest digits."""
    for key, word in words.items():
        value = schema.get(key)
        if isinstance(word, float) and isinstance(value, int | Decimal):
            value = nearest_float(value)
        if key not in schema or value != word:
            return False
    return True


def nearest_float(value: float | Decimal) -> float:
    """Return the nearest float, which is infinite for a number without one."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def dump(value: Any, indent: str = "") -> str:
    """Return JSON with two blanks a level, and decimals digit by digit, which the library cannot write."""
    below = f"{indent}  "
    if isinstance(value, dict):
        members = [f"{below}{encode_basestring(key)}: {dump(item, below)}" for key, item in value.items()]
        return "{\n" + ",\n".join(members) + f"\n{indent}}}" if members else "{}"
    if isinstance(value, list):
        items = [dump(item, below) for item in value]
        is_short = not any(isinstance(item, dict | list) for item in value)
        if is_short:
            return f"[{', '.join(items)}]"
        return "[\n" + ",\n".join(f"{below}{item}" for item in items) + f"\n{indent}]"
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{value:f}" if isinstance(value, Decimal) else repr(value)


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
    for constraint in field_constraints.constraints_at(field):
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
    """Return the keywords of one constraint; None if JSON Schema has none."""
    family, name = constraint.type.family, constraint.attribute.name
    match constraint:
        case field_constraints.Bound() if family in _NUMERIC:
            return _edge_of(constraint) if is_narrow(constraint.type) else {name: constraint.limit}
        case field_constraints.Bound():
            return json_values.bound_keywords(constraint)
        case field_constraints.MultipleOf():
            return {name: constraint.divisor}
        case field_constraints.Pattern():
            return {name: constraint.pattern.ecma}
        case field_constraints.Enum() if is_narrow(constraint.type):
            bits = _bits(constraint.type)
            edges = [(float(one), bits) for one in constraint.values]
            return {"anyOf": [{**_lower_edge(*one), **_upper_edge(*one)} for one in edges]}
        case field_constraints.Enum() if family in _NUMERIC | {Family.TEXT, Family.BOOLEAN}:
            return {"enum": list(constraint.values)}
        case field_constraints.Enum():
            return json_values.enum_keywords(constraint)
        case field_constraints.MinItems() | field_constraints.MaxItems():
            return {name: constraint.limit}
        case field_constraints.Size():
            return {name: constraint.limit} if family is Family.TEXT else _bytes(constraint)
        case field_constraints.UniqueItems():
            return _unique(constraint, lose)
    return None


def is_narrow(type_: LogicalType) -> bool:
    """Whether values of a type are rounded to fewer digits than a validator reads."""
    return type_.family is Family.FLOAT and _bits(type_) < 64


def _edge_of(bound: field_constraints.Bound) -> Json:
    """Return the keyword of a bound for a narrow float: of the numbers that are rounded to values within it."""
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
    """Return the midpoint between a narrow float and the one below it, and whether the midpoint is rounded up."""
    middle = value - _step_below(value, bits) / 2
    is_even = value / _unit(value, bits) % 2 == 0
    if bits == 32:
        return Decimal(middle), is_even
    # What becomes a half becomes a single before.
    return _edge(middle if is_even else middle + _step_below(-middle, 32), 32)


def _step_below(value: float, bits: int) -> float:
    """Return the distance to the next lower float: below a power of two, half of that above it."""
    unit, (_, least) = _unit(value, bits), _DIGITS[bits]
    return max(unit / 2, least) if math.frexp(value)[0] == 0.5 else unit


def _unit(value: float, bits: int) -> float:
    """Return the value of the last binary digit of a float."""
    digits, least = _DIGITS[bits]
    return max(math.ldexp(1, math.frexp(value)[1] - digits), least) if value else least


def _bits(type_: LogicalType) -> int:
    """Return the width of an integer or float in bits."""
    return int(getattr(type_, "bits"))  # noqa: B009  of the family, not of a class


def _unique(constraint: field_constraints.UniqueItems, lose: Lose) -> Json:
    """Return `uniqueItems`, empty if it is not set; report items that are compared by spelling in place of value."""
    if not constraint.is_set:
        return {}
    item = getattr(constraint.type, "item_type", None)
    while item is not None and item.inner_type() is not None:
        item = item.inner_type()
    if item is not None and item.family in _SPELLED:
        lose(f"that items are compared by value, not by spelling ({constraint.attribute.key})", "equal texts")
    return {"uniqueItems": True}


def _bytes(constraint: field_constraints.Size) -> Json:
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


KEYWORDS = {attribute.name: attribute for attribute in OF_VALUES}
"""Keywords that are called as constraints are."""


_DRAFT_4 = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))
"""Keywords that were true or false in draft 4, with those that they are about."""


def has_annotations(schema: Mapping[str, Any]) -> bool:
    """Whether a schema has constraints as schemac's annotations, which make its keywords redundant."""
    return any(attribute.key in schema for attribute in OF_VALUES)


def expressed_attributes(schema: Mapping[str, Any], type_: LogicalType) -> Json:
    """Return the constraints in the keywords of a type, without those that the type implies."""
    attributes: Json = {}
    family = type_.family
    for word, bound in _DRAFT_4:
        # A bound that draft 4 calls exclusive is one of today.
        if isinstance(schema.get(word), bool):
            others = {key: value for key, value in schema.items() if key not in (word, bound)}
            if bound in schema:
                others[word if schema[word] else bound] = schema[bound]
            schema = others
    # Beside annotations of ours, bounds of narrow floats are those of the numbers that are rounded to them.
    rounded = {*LOWER, *UPPER} if is_narrow(type_) and has_annotations(schema) else set()
    for word, attribute in KEYWORDS.items():
        value = schema.get(word)
        if (
            value is None
            or word in rounded
            or _is_beyond(value)
            or family not in (attribute.fits or ())
            or family is Family.BYTES  # the keyword counts the characters of base64
            or _is_of_type(word, value, type_)
        ):
            continue
        attributes[attribute.key] = _authored_value(value, family)
    if "const" in schema and not _is_beyond(schema["const"]) and family in (KEYWORDS["enum"].fits or ()):
        attributes[KEYWORDS["enum"].key] = _authored_value([schema["const"]], family)
    return attributes


def _is_beyond(value: Any) -> bool:
    """Whether a number, or one in a list, is one that no type has."""
    return any(isinstance(one, Beyond) for one in (value if isinstance(value, list) else [value]))


def redundant(schema: Mapping[str, Any], type_: LogicalType) -> set[str]:
    """Return the keywords that add nothing to the type, or to annotations of ours."""
    keywords = {*KEYWORDS, "allOf", "anyOf", "not"} if has_annotations(schema) else set()
    of_type = {word for word in KEYWORDS if word in schema and _is_of_type(word, schema[word], type_)}
    for word, bound in _DRAFT_4:
        keywords |= {word, bound} if isinstance(schema.get(word), bool) else set()
    return keywords | of_type | {word for word in ("uniqueItems",) if schema.get(word) is False}


def _is_of_type(word: str, value: Any, type_: LogicalType) -> bool:
    """Whether a keyword is one that every schema of the type has."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    if type_.family is Family.FLOAT:
        type_bound = floating(_bits(type_)).get(word)
        # Items of a vector of brain floats have their limits, and the type of wider floats.
        number = nearest_float(value)
        is_brain = word in ("minimum", "maximum") and abs(number) == LARGEST_BRAIN_FLOAT
        return is_brain or (type_bound is not None and nearest_float(type_bound) == number)
    if type_.family is Family.DECIMAL and word == "multipleOf":
        return bool(value == Decimal(1).scaleb(-getattr(type_, "scale")))  # noqa: B009  likewise
    if getattr(type_, "fixed_length", None) is not None and word in ("minItems", "maxItems"):
        return bool(value == getattr(type_, "fixed_length"))  # noqa: B009  likewise
    limits = limits_of(type_)
    if limits is None or word not in ("minimum", "maximum"):
        return False
    return bool(value == limits[word == "maximum"])


def _authored_value(value: Any, family: Family) -> Any:
    """Return a value of JSON as an author writes it: exact numbers with a fraction are texts."""
    if isinstance(value, list):
        return [_authored_value(one, family) for one in value if one is not None]
    if isinstance(value, Decimal):
        if family is not Family.DECIMAL and Decimal(repr(float(value))) == value:
            return float(value)
        return int(value) if value == value.to_integral_value() else f"{value:f}"
    return value
