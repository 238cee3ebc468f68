"""Attributes in the JSON Schemas of manifests: each value once, and at every place those that fit.

Layer: manifest.
"""

import re
import sys
from collections.abc import Iterable
from typing import Any

from schemac.attributes.attribute import KEY_PATTERN, Attribute
from schemac.attributes.family import Family
from schemac.attributes.registry import ATTRIBUTES, DOMAINS, OPEN
from schemac.kinds.registry import BY_NAME
from schemac.manifest.inherited import is_inherited
from schemac.manifest.json_schema_together import (
    inside_options,
    rules_of_mapping,
    shape_definitions,
    shape_rules,
    words_of,
)
from schemac.manifest.json_schema_words import json_schema, word_choice
from schemac.source.json_object import Json

_FAMILIES = tuple(dict.fromkeys(kind.family for kind in BY_NAME.values() if kind.family is not Family.OPTION))


def attribute_definitions(*, strict: bool) -> Json:
    """Return the definitions of all values of attributes, and of the mappings of those that fit a place."""
    every = {**ATTRIBUTES, **OPEN}
    values = {_value_name(key): _value(attribute, strict=strict) for key, attribute in every.items()}
    on_fields = {key for key, attribute in every.items() if attribute.on_field}
    places = {
        "FieldAttributes": on_fields,
        "SchemaAttributes": {key for key, attribute in every.items() if attribute.on_schema},
        "GroupAttributes": {key for key in every if is_inherited(key)},
    }
    of_families = {
        f"{family.value.capitalize()}Attributes": _mapping(
            {key for key in on_fields if every[key].fits is None or family in (every[key].fits or ())}, family
        )
        for family in _FAMILIES
    }
    values["JsonValue"] = _json_value()
    return {**values, **{name: _mapping(keys) for name, keys in places.items()}, **of_families}


def _value_name(key: str) -> str:
    """Return the name of a definition; a slash would be a step in a reference."""
    return key.replace("/", " ")


def _mapping(keys: Iterable[str], family: Family | None = None) -> Json:
    """Return attributes of these keys; of the closed domains no others, and of every other domain all."""
    known = sorted(keys)
    rules = rules_of_mapping(known, family)
    closed = "|".join(re.escape(domain) for domain in DOMAINS)
    names = "|".join(re.escape(key) for key in known)
    return {
        "type": "object",
        "properties": {key: {"$ref": f"#/$defs/{_value_name(key).replace(' ', '%20')}"} for key in known},
        "propertyNames": {"pattern": f"^{KEY_PATTERN}$"},
        "patternProperties": {f"^(?!(?:{names})$)(?:{closed})/": False},
        "additionalProperties": {"$ref": "#/$defs/JsonValue"},
        **({"allOf": rules} if rules else {}),
    }


def _json_value() -> Json:
    """Return what JSON can hold, at every depth: YAML has infinity as well."""
    inside = {"$ref": "#/$defs/JsonValue"}
    return {
        "if": {"type": "number"},
        "then": {"minimum": -sys.float_info.max, "maximum": sys.float_info.max},
        "items": inside,
        "additionalProperties": inside,
    }


def attributes_by_type(key: str) -> list[Json]:
    """Return the rules that choose the attributes under `extra` by the type under a key, `type` or `inner`."""
    rules: list[Json] = []
    for family in _FAMILIES:
        condition = {"properties": {key: {"$ref": f"#/$defs/{_type_name(family)}"}}, "required": [key]}
        attributes = {"$ref": f"#/$defs/{family.value.capitalize()}Attributes"}
        rules.append({"if": condition, "then": {"properties": {"extra": attributes}}})
    known = {"properties": {key: {"anyOf": [{"$ref": f"#/$defs/{_type_name(f)}"} for f in _FAMILIES]}}}
    unknown = {"properties": {"extra": {"$ref": "#/$defs/FieldAttributes"}}}
    return [*rules, {"if": {**known, "required": [key]}, "then": True, "else": unknown}, *shape_rules(key)]


def type_definitions() -> Json:
    """Return what a type of each family is, inside of its Options."""
    definitions = {_type_name(family): _of_family(family) for family in _FAMILIES}
    return {**definitions, **shape_definitions()}


def _of_family(family: Family) -> Json:
    words = {"enum": words_of(family)}
    body = {"type": "object", "properties": {"kind": words}, "required": ["kind"]}
    return inside_options(_type_name(family), words, body)


def _type_name(family: Family) -> str:
    return f"{family.value.capitalize()}Type"


def family_attributes(family: Family) -> Json:
    """Return a reference to the attributes that fit a family."""
    return {"$ref": f"#/$defs/{family.value.capitalize()}Attributes"}


def _value(attribute: Attribute[Any], *, strict: bool) -> Json:
    document = json_schema(attribute.value_type)
    definitions: Json = document.pop("$defs", {})
    schema: Json = _with_definitions(document, definitions)
    schema = schema if strict else spelled(schema)
    if attribute.refused is not None:
        schema = {**schema, "allOf": [*schema.get("allOf", ()), {"not": dict(attribute.refused)}]}
    return {**schema, "description": attribute.summary}


def _with_definitions(value: Any, definitions: Json) -> Any:
    """Return a schema with each definition where it is referred to; values of attributes do not contain themselves."""
    if isinstance(value, list):
        return [_with_definitions(item, definitions) for item in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        return _with_definitions(definitions[value["$ref"].removeprefix("#/$defs/")], definitions)
    return {key: _with_definitions(item, definitions) for key, item in value.items()}


def spelled(value: Any) -> Any:
    """Return a schema that takes words in PascalCase in their other spellings too."""
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("const"), str):
        value = {**value, "enum": [value["const"]]}
        del value["const"]
    rest = {key: spelled(item) for key, item in value.items() if key != "enum"}
    if "enum" not in value:
        return rest
    words = value["enum"]
    if not any(isinstance(word, str) and word[:1].isupper() for word in words):
        return {**rest, "enum": words}
    rest.pop("type", None)
    return {**rest, **word_choice(words)}
