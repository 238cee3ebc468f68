"""Constraints among the keywords of a schema.

Layer: engines.
Shape: keywords of the standard in, attributes as an author writes them out. A bound that the type has anyway is none.
Source: JSON Schema 2020-12, "Validation", section 6; `exclusiveMinimum: true` of draft 4.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from schemac.attributes.constraints import OF_VALUES
from schemac.attributes.family import Family
from schemac.constraints.values import limits_of
from schemac.engines.jsonschema.constraints import LOWER, UPPER, is_narrow
from schemac.engines.jsonschema.words import floating, nearest_float
from schemac.importers.json_file import Beyond
from schemac.logical.model import LogicalType
from schemac.rows.judging.values import LARGEST_BRAIN_FLOAT
from schemac.source.json_object import Json

KEYWORDS = {attribute.name: attribute for attribute in OF_VALUES}
"""Keywords that are called as constraints are."""


def has_annotations(schema: Mapping[str, Any]) -> bool:
    """Whether a schema has constraints as annotations of ours, next to which its keywords say nothing more."""
    return any(attribute.key in schema for attribute in OF_VALUES)


def expressed_attributes(schema: Mapping[str, Any], type_: LogicalType) -> Json:
    """Return the constraints that keywords say of values of a type; what the type says anyway is left out."""
    attributes: Json = {}
    family = type_.family
    schema = _current(schema)
    # Beside annotations of ours, bounds of narrow floats are those of the numbers that are rounded to them.
    rounded = {*LOWER, *UPPER} if is_narrow(type_) and has_annotations(schema) else set()
    for word, attribute in KEYWORDS.items():
        value = schema.get(word)
        if (
            value is None
            or word in rounded
            or _is_beyond(value)
            or family not in (attribute.fits or ())
            or _is_of_type(word, value, type_)
        ):
            continue
        if family is Family.BYTES:
            # The keyword counts the characters of base64.
            continue
        attributes[attribute.key] = _written(value, family)
    if "const" in schema and not _is_beyond(schema["const"]) and family in (KEYWORDS["enum"].fits or ()):
        attributes[KEYWORDS["enum"].key] = _written([schema["const"]], family)
    return attributes


def _is_beyond(value: Any) -> bool:
    """Whether a number, or one in a list, is one that no type has."""
    return any(isinstance(one, Beyond) for one in (value if isinstance(value, list) else [value]))


def redundant(schema: Mapping[str, Any], type_: LogicalType) -> set[str]:
    """Return the keywords that add nothing to the type, or to annotations of ours."""
    keywords = {*KEYWORDS, "allOf", "anyOf", "not"} if has_annotations(schema) else set()
    of_type = {word for word in KEYWORDS if word in schema and _is_of_type(word, schema[word], type_)}
    for word, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        keywords |= {word, bound} if isinstance(schema.get(word), bool) else set()
    return keywords | of_type | {word for word in ("uniqueItems",) if schema.get(word) is False}


def _current(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema in which a bound that draft 4 calls exclusive is one of today."""
    for word, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(schema.get(word), bool):
            others = {key: value for key, value in schema.items() if key not in (word, bound)}
            if bound in schema:
                others[word if schema[word] else bound] = schema[bound]
            schema = others
    return schema


def _is_of_type(word: str, value: Any, type_: LogicalType) -> bool:
    """Whether a keyword is one that every schema of the type has."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    if type_.family is Family.FLOAT:
        bits: int = getattr(type_, "bits")  # noqa: B009  of the family, not of a class
        type_bound = floating(bits).get(word)
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


def _written(value: Any, family: Family) -> Any:
    """Return a value of JSON as an author writes it: exact numbers with a fraction are texts."""
    if isinstance(value, list):
        return [_written(one, family) for one in value if one is not None]
    if isinstance(value, Decimal):
        if family is not Family.DECIMAL and Decimal(repr(float(value))) == value:
            return float(value)
        return int(value) if value == value.to_integral_value() else f"{value:f}"
    return value
