"""The manifest language as JSON Schema, for editors and other tools.

Layer: language.
Shape: JSON Schema 2020-12, generated from the models; `make schemas` writes the files in `schemas/`, and a test fails
if they differ. The friendly schema accepts the three spellings, the short forms and the additions of the default mode;
the strict one accepts the standard alone. Neither finds everything that `schemac check` finds. Alternatives are chosen
by `if` and `then` instead of `anyOf`, because editors then explain the one that is meant. `enumDescriptions` and
`defaultSnippets` are keywords of editors that validators ignore. Each attribute's value is described once and
referenced wherever it is allowed.
"""

import re
import sys
from collections.abc import Iterable
from typing import Any

from schemac.language.attributes.attribute import KEY_PATTERN, Attribute, Family, spellings
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.attributes.registry import ATTRIBUTES, DOMAINS, OPEN
from schemac.language.kinds.registry import BY_NAME
from schemac.language.kinds.temporal import ARROW_UNITS
from schemac.language.logical.model import Schema
from schemac.language.manifest.envelopes import (
    BareSchema,
    DatasetResource,
    DatasetSnapshot,
    MetadataEvent,
    OtherEvent,
    SetDataSchema,
    SourceResource,
)
from schemac.language.manifest.groups import KEYS, GroupField, GroupLibrary, Use, is_inherited
from schemac.language.manifest.json_schema_conditions import (
    condition_definitions,
    condition_rules,
    either,
    has,
    inside_options,
    json_schema,
    of_extra,
    ref,
    rules_of_field,
    rules_of_kind,
    rules_of_mapping,
    spelled_words,
    type_object,
    word_choice,
    words_of,
)
from schemac.language.manifest.standard import EVENTS, SOURCE_EVENTS, SOURCE_NAME_RULE
from schemac.text.source.diagnostics import Report, SourceText
from schemac.text.source.json_object import Json, rewritten
from schemac.text.syntax.document import parse
from schemac.text.syntax.model import class_text

_FAMILIES = tuple(dict.fromkeys(kind.family for kind in BY_NAME.values() if kind.family is not Family.OPTION))


def attribute_definitions(*, strict: bool) -> Json:
    """Return the definitions of all values of attributes, and of the mappings of those that fit a place."""
    every = {**ATTRIBUTES, **OPEN}
    values = {
        _value_name(key): _attribute_value(attribute, strict=strict) for key, attribute in every.items()
    }
    on_fields = {key for key, attribute in every.items() if attribute.on_field}
    places = {
        "FieldAttributes": on_fields,
        "SchemaAttributes": {key for key, attribute in every.items() if attribute.on_schema},
        "GroupAttributes": {key for key in every if is_inherited(key)},
    }
    of_families = {
        f"{family.value.capitalize()}Attributes": _attribute_mapping(
            {key for key in on_fields if every[key].fits is None or family in (every[key].fits or ())}, family
        )
        for family in _FAMILIES
    }
    # What JSON can hold, at every depth: YAML has infinity as well.
    inside = ref("JsonValue")
    values["JsonValue"] = {
        "if": {"type": "number"},
        "then": {"minimum": -sys.float_info.max, "maximum": sys.float_info.max},
        "items": inside,
        "additionalProperties": inside,
    }
    return {**values, **{name: _attribute_mapping(keys) for name, keys in places.items()}, **of_families}


def _value_name(key: str) -> str:
    """Return the name of a definition; a slash would be a step in a reference."""
    return key.replace("/", " ")


def _attribute_mapping(keys: Iterable[str], family: Family | None = None) -> Json:
    """Return attributes of these keys; of the closed domains no others, and of every other domain all."""
    known = sorted(keys)
    rules = rules_of_mapping(known, family)
    closed = "|".join(re.escape(domain) for domain in DOMAINS)
    names = "|".join(re.escape(key) for key in known)
    return {
        "type": "object",
        "properties": {key: ref(_value_name(key).replace(" ", "%20")) for key in known},
        "propertyNames": {"pattern": f"^{KEY_PATTERN}$"},
        "patternProperties": {f"^(?!(?:{names})$)(?:{closed})/": False},
        "additionalProperties": ref("JsonValue"),
        **({"allOf": rules} if rules else {}),
    }


def attributes_by_type(key: str) -> list[Json]:
    """Return the rules that choose the attributes under `extra` by the type under a key, `type` or `inner`."""
    types = {family: ref(_type_name(family)) for family in _FAMILIES}
    return [
        *({"if": has(key, of), "then": of_extra(family_attributes(family))} for family, of in types.items()),
        either(has(key, {"anyOf": list(types.values())}), True, of_extra(ref("FieldAttributes"))),
        *condition_rules(key),
    ]


def type_definitions() -> Json:
    """Return what a type of each family is, inside of its Options."""
    definitions: Json = {}
    for family in _FAMILIES:
        name, words = _type_name(family), words_of(family)
        definitions[name] = inside_options(name, {"enum": words}, type_object(words))
    return {**definitions, **condition_definitions()}


def _type_name(family: Family) -> str:
    """Return the name of the definition of the types of a family."""
    return f"{family.value.capitalize()}Type"


def family_attributes(family: Family) -> Json:
    """Return a reference to the attributes that fit a family."""
    return ref(f"{family.value.capitalize()}Attributes")


def _attribute_value(attribute: Attribute[Any], *, strict: bool) -> Json:
    """Return the schema of an attribute's value, with each definition in place of references to it.

    It has the spellings of words that are accepted unless strict.
    """
    document = json_schema(attribute.value_type)
    definitions: Json = document.pop("$defs", {})

    def resolved(part: Json) -> Any:
        # Values of attributes do not contain themselves.
        if "$ref" not in part:
            return part
        return rewritten(definitions[part["$ref"].removeprefix("#/$defs/")], resolved)

    schema: Json = rewritten(document, resolved)
    schema = schema if strict else spelled(schema)
    if attribute.refused is not None:
        schema = {**schema, "allOf": [*schema.get("allOf", ()), {"not": dict(attribute.refused)}]}
    return {**schema, "description": attribute.summary}


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


_WITH_WORDS = ("SetDataSchema", "OtherEvent", "DatasetSpec", "DatasetSnapshotContent")
"""Definitions whose `kind` may be spelled in three ways."""
_HOLDERS = ("Field", "Schema", "BareSchema")
_PLACEHOLDER = {"type": "string", "pattern": r"\$\("}
"""A text of a group with a parameter in it."""


def manifest_schema(*, strict: bool) -> Json:
    """Return the schema of one manifest document."""
    event = SetDataSchema | OtherEvent
    envelopes = DatasetSnapshot | MetadataEvent | DatasetResource | SourceResource
    shapes: Any = (Schema if strict else BareSchema) | envelopes | event | list[event]
    definitions: Json = json_schema(shapes if strict else shapes | GroupLibrary)["$defs"]
    if not strict:
        definitions |= _of_groups(definitions)
    definitions = {name: rewritten(body, _with_reference) for name, body in definitions.items()}
    for name in BY_NAME:
        _spell_kind(definitions[name], name, strict=strict)
    for name in _HOLDERS:
        if name in definitions:
            _describe_extra(definitions[name], on_schema=name != "Field", strict=strict)
    option = [name for name, kind in BY_NAME.items() if kind.family is Family.OPTION]
    # The standard has a Null alone.
    null = [name for name, kind in BY_NAME.items() if kind.family is Family.NULL and not strict]
    is_alone = "only an Option may be null: write `{kind: Option, inner: Null}`"
    definitions |= {
        "Type": _type_schema(null, is_alone, strict=strict),
        "InnerType": _type_schema(option, "this is inside of an Option already", strict=strict),
        "KeyType": _type_schema([*option, *null], "the key of a map may not be null", strict=strict),
    }
    definitions |= {"Event": _event_schema(), **type_definitions()}
    definitions |= attribute_definitions(strict=strict)
    if not strict:
        for name in _WITH_WORDS:
            kind = definitions[name]["properties"]["kind"]
            words = word_choice(kind.get("enum", [kind.get("const")]))
            definitions[name]["properties"]["kind"] = {**words, "description": kind["description"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ODF manifest" if strict else "schemac manifest",
        **_document_schema(strict=strict),
        "$defs": dict(sorted(definitions.items())),
    }


def _document_schema(*, strict: bool) -> Json:
    """Return what a document is, by its outermost keys."""
    kinds = {"DatasetSnapshot": ref("DatasetSnapshot"), "MetadataEvent": ref("MetadataEvent")}
    with_kind: Json = {
        "properties": {"kind": word_choice([*kinds, *EVENTS]) if not strict else {"enum": [*kinds, *EVENTS]}},
        "allOf": [
            *({"if": has("kind", {"const": kind}), "then": body} for kind, body in kinds.items()),
            {"if": has("kind", {"enum": spelled_words(EVENTS)}), "then": ref("Event")},
        ],
    }
    resources = either(
        has("$schema", {"pattern": "/Source/?$"}), ref("SourceResource"), ref("DatasetResource")
    )
    plain = ref("Schema" if strict else "BareSchema")
    if not strict:
        is_library = {"required": ["groups"], "not": {"required": ["fields"]}}
        plain = either(is_library, ref("GroupLibrary"), plain)
    of_kind = either({"required": ["kind"]}, with_kind, plain)
    mapping = either({"required": ["$schema"]}, resources, of_kind)
    return {"type": ["object", "array"], **either({"type": "array"}, {"items": ref("Event")}, mapping)}


def _event_schema() -> Json:
    """Return one event of the standard."""
    is_schema = has("kind", {"enum": spelled_words(["SetDataSchema"])})
    is_source = has("kind", {"enum": spelled_words(SOURCE_EVENTS)})
    is_read = {
        **is_source,
        "properties": {**is_source["properties"], "read": {"type": "object", "required": ["schema"]}},
    }
    is_read["required"] = ["kind", "read"]
    read = {"properties": {"schema": ref("Schema")}, "description": "how the source is read"}
    name = {"description": "what the source is called", "type": "string", **SOURCE_NAME_RULE}
    return {
        "type": "object",
        "properties": {"kind": {"description": "which event of the standard this is"}},
        **either(is_schema, ref("SetDataSchema"), ref("OtherEvent")),
        "allOf": [{"if": is_read, "then": {"properties": {"read": read, "sourceName": name}}}],
    }


def _of_groups(definitions: Json) -> Json:
    """Return definitions in which groups may be among fields, and next to them."""
    group_definitions: Json = json_schema(Use | GroupField | GroupLibrary)["$defs"]
    group_definitions["Group"]["properties"]["fields"]["items"] = _field_or_use("GroupField")
    extra = group_definitions["Group"]["properties"]["extra"]
    group_definitions["Group"]["properties"]["extra"] = {
        **ref("GroupAttributes"),
        "description": extra["description"],
    }
    group_definitions["GroupField"]["properties"]["type"] |= either(
        {"anyOf": [_PLACEHOLDER, {"type": "object"}]}, {}, ref("Type")
    )
    with_groups: Json = {}
    for name, definition in definitions.items():
        properties: Json = dict(definition.get("properties", {}))
        if "fields" not in properties or name in group_definitions:
            continue
        properties["fields"] = {**properties["fields"], "items": _field_or_use("Field")}
        if name in _HOLDERS:
            library = group_definitions["GroupLibrary"]["properties"]
            properties |= {key: library[key] for key in KEYS}
        with_groups[name] = {**definition, "properties": properties}
    return {**group_definitions, **with_groups}


def _field_or_use(field: str) -> Json:
    """Return the schema of an item of `fields`: a use of a group, or a field by the name of its definition."""
    use = {"label": "use", "description": "the fields of a group", "body": {"use": "$1"}}
    return {**either({"required": ["use"]}, ref("Use"), ref(field)), "defaultSnippets": [use]}


def _type_schema(refused: list[str], reason: str, *, strict: bool) -> Json:
    """Return a type: a kind's name alone where the kind needs no property, or the kind with its properties."""
    bare = [name for name, kind in BY_NAME.items() if kind.has_short_form and name not in refused]
    texts = {name: class_text(kind) for name, kind in BY_NAME.items()}
    kinds = word_choice(BY_NAME, (), texts.values()) if not strict else {"enum": list(BY_NAME)}
    names = word_choice(bare, (), [texts[name] for name in bare]) if not strict else {"enum": bare}
    of_kinds = [
        {"if": has("kind", {"enum": [name] if strict else spelled_words([name])}), "then": ref(name)}
        for name in BY_NAME
        if name not in refused
    ]
    of_kinds.append(
        {"if": has("kind", {"enum": spelled_words(refused)}), "then": {"not": {}, "errorMessage": reason}}
    )
    long = {
        "type": "object",
        "properties": {"kind": {**kinds, "description": "what the values are"}},
        "required": ["kind"],
        "allOf": of_kinds,
    }
    snippets = [
        {
            "label": name,
            "description": texts[name],
            "body": parse(SourceText(kind.example), Report())[0].value,
        }
        for name, kind in BY_NAME.items()
        if not kind.has_short_form and name not in refused
    ]
    return {
        "description": "what the values are: the name of a kind, or a mapping with its `kind` and properties",
        "anyOf": [names, long],
        "defaultSnippets": snippets,
    }


def _with_reference(schema: Json) -> Json:
    """Return the union of all kinds, where pydantic wrote it out, as a reference to one definition; so with events."""
    text = {"description": schema["description"]} if "description" in schema else {}
    if "oneOf" in schema and len(schema.get("discriminator", {}).get("mapping", {})) == len(BY_NAME):
        return {**ref("Type"), **text}
    if schema.get("anyOf") == [ref("SetDataSchema"), ref("OtherEvent")]:
        return {**ref("Event"), **text}
    return schema


def _spell_kind(definition: Json, name: str, *, strict: bool) -> None:
    """Complete the definition of a kind in place: its attributes, spellings and rules, or in strict mode the standard's alone."""
    properties: Json = definition["properties"]
    # Whoever gets here has chosen the kind already.
    properties["kind"] = {"type": "string", "description": class_text(BY_NAME[name])}
    definition["required"] = ["kind", *(key for key in definition.get("required", []) if key != "kind")]
    for key in ("inner", "keyType"):
        if key in properties:
            text = properties[key].get("description", "")
            properties[key] = {**ref("InnerType" if key == "inner" else "KeyType"), "description": text}
    if strict:
        properties.pop("extra")
        if "timezone" in properties:
            properties["timezone"] = {**properties["timezone"], "minLength": 1, "type": "string"}
            properties["timezone"].pop("anyOf")
        if "fixedLength" in properties:
            (length, _null) = properties["fixedLength"].pop("anyOf")
            properties["fixedLength"] |= length
        return
    family = BY_NAME[name].family
    if "timezone" in properties:
        properties["timezone"]["anyOf"][0] |= {
            "pattern": _ZONE,
            "patternErrorMessage": "write an offset like +05:30",
        }
    if family is Family.OPTION:
        properties["extra"] = {"description": _EXTRA}
        definition["allOf"] = [*attributes_by_type("inner"), *rules_of_kind(name)]
    else:
        properties["extra"] = {**family_attributes(family), "description": _EXTRA}
        definition |= {"allOf": rules} if (rules := rules_of_kind(name)) else {}
    if "unit" in properties:
        plurals = [f"{spelling}s" for unit in ARROW_UNITS for spelling in spellings(unit)]
        properties["unit"] = {
            "default": "Millisecond",
            **word_choice(ARROW_UNITS, plurals),
            "description": properties["unit"].get("description", ""),
        }


_ZONE = r"^(?:(?![+-][0-9])[\s\S]+|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])$"
"""A name, or an offset of less than 15 hours."""
_EXTRA = "attributes, as `<domain>/<name>`: encodings, keys, constraints, owners and others"


def _describe_extra(definition: Json, *, on_schema: bool, strict: bool) -> None:
    """Complete the definition of a field or a schema in place: its attributes and their rules, and the description beside them."""
    properties = definition["properties"]
    if on_schema:
        properties["extra"] = {**ref("SchemaAttributes"), "description": _EXTRA}
        definition["allOf"] = [*definition.get("allOf", ()), {"properties": {"fields": ref("Columns")}}]
    else:
        properties["extra"] = {"type": "object", "description": _EXTRA}
        # The attributes of a field stand beside its name, not inside of its type.
        without_extra = {"if": {"type": "object"}, "then": of_extra(False)}
        properties["type"] = {
            "allOf": [ref("Type"), without_extra],
            "description": properties["type"].get("description", ""),
        }
        definition["allOf"] = [*attributes_by_type("type"), *rules_of_field()]
    if not strict:
        properties["description"] = {"description": DESCRIPTION.summary, "type": "string"}
        doubled = of_extra({"required": [DESCRIPTION.key]})
        definition["not"] = {**doubled, "required": ["description", "extra"]}
        definition["errorMessage"] = "there are two descriptions; keep one of them"
