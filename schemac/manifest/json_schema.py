"""The manifest language as JSON Schema, for editors and for others' tools.

Layer: manifest.
Shape: JSON Schema 2020-12. The records are the master; the files in `schemas/` are written from here
(`python -m schemac.manifest.json_schema FOLDER`), and a test fails when they differ.
The friendly schema knows the three spellings, short forms and the additions of the default mode; the strict one
the standard alone. Neither can tell everything that `schemac check` tells.
"""

import json
import sys
from pathlib import Path
from typing import Any

from schemac.attributes.attribute import KEY_PATTERN, Attribute, spellings
from schemac.attributes.registry import ATTRIBUTES, OPEN
from schemac.kinds.registry import BY_NAME
from schemac.kinds.units import ARROW_UNITS
from schemac.logical.model import Schema
from schemac.manifest.envelopes import (
    BareSchema,
    DatasetResource,
    DatasetSnapshot,
    MetadataEvent,
    OtherEvent,
    SetDataSchema,
    SourceResource,
)
from schemac.manifest.groups import KEYS, GroupField, GroupLibrary, Use
from schemac.manifest.pydantic_models import json_schema
from schemac.source.json_object import Json

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_FIELD_ATTRIBUTES: Json = {"$ref": "#/$defs/FieldAttributes"}
_SCHEMA_ATTRIBUTES: Json = {"$ref": "#/$defs/SchemaAttributes"}
_WITH_WORDS = ("SetDataSchema", "OtherEvent", "DatasetSpec", "DatasetSnapshotContent")
"""Definitions whose `kind` may be spelled in three ways."""
_HOLDERS = ("Field", "Schema", "BareSchema")


def manifest_schema(*, strict: bool) -> Json:
    """Return the schema of one manifest document."""
    event = SetDataSchema | OtherEvent
    envelopes = DatasetSnapshot | MetadataEvent | DatasetResource | SourceResource
    shapes: Any = (Schema if strict else BareSchema) | envelopes | event | list[event]
    document = json_schema(shapes if strict else shapes | GroupLibrary)
    definitions: Json = document.pop("$defs")
    if not strict:
        definitions |= _of_groups(definitions)
    definitions = {name: _with_type_references(body) for name, body in definitions.items()}
    for name in BY_NAME:
        _spell_kind(definitions[name], name, strict=strict)
    for name in _HOLDERS:
        if name in definitions:
            _describe_extra(definitions[name], on_schema=name != "Field", strict=strict)
    definitions["Type"] = _type(strict=strict)
    definitions["FieldAttributes"] = _extra(on_schema=False, strict=strict)
    definitions["SchemaAttributes"] = _extra(on_schema=True, strict=strict)
    if not strict:
        for name in _WITH_WORDS:
            properties = definitions[name]["properties"]
            properties["kind"] = _spelled(properties["kind"])
    title = "ODF manifest" if strict else "schemac manifest"
    return {
        "$schema": _DIALECT,
        "title": title,
        **_with_type_references(document),
        "$defs": dict(sorted(definitions.items())),
    }


def _of_groups(definitions: Json) -> Json:
    """Return definitions in which groups may stand among fields, and beside them."""
    own: Json = json_schema(Use | GroupField | GroupLibrary)["$defs"]
    use = {"$ref": "#/$defs/Use"}
    own["Group"]["properties"]["fields"]["items"] = {"anyOf": [{"$ref": "#/$defs/GroupField"}, use]}
    found: Json = {}
    for name, definition in definitions.items():
        properties: Json = dict(definition.get("properties", {}))
        if "fields" not in properties:
            continue
        items = properties["fields"]["items"]
        properties["fields"] = {**properties["fields"], "items": {"anyOf": [items, use]}}
        if name in _HOLDERS:
            properties |= {key: own["GroupLibrary"]["properties"][key] for key in KEYS}
        found[name] = {**definition, "properties": properties}
    return {**own, **found}


def _type(*, strict: bool) -> Json:
    """Return a type: a kind's name alone where the kind needs no property, or the kind with its properties."""
    bare = [
        name for name, kind in BY_NAME.items() if not any(f.is_required() for f in kind.model_fields.values())
    ]
    names = list(dict.fromkeys(word for name in bare for word in ((name,) if strict else spellings(name))))
    return {"anyOf": [{"enum": names}, *({"$ref": f"#/$defs/{name}"} for name in BY_NAME)]}


def _with_type_references(value: Any) -> Any:
    """Return the union of all kinds, wherever pydantic wrote it out, as a reference to one definition."""
    if isinstance(value, list):
        return [_with_type_references(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "oneOf" in value and len(value.get("discriminator", {}).get("mapping", {})) == len(BY_NAME):
        return {"$ref": "#/$defs/Type"}
    return {key: _with_type_references(item) for key, item in value.items()}


def _spell_kind(definition: Json, name: str, *, strict: bool) -> None:
    properties: Json = definition["properties"]
    words = [name] if strict else list(dict.fromkeys(spellings(name)))
    properties["kind"] = {"enum": words}
    definition["required"] = ["kind", *(key for key in definition.get("required", []) if key != "kind")]
    if strict:
        properties.pop("extra")
        if "timezone" in properties:
            properties["timezone"] = {"default": "UTC", "minLength": 1, "title": "Timezone", "type": "string"}
        if "fixedLength" in properties:
            (properties["fixedLength"], _null) = properties["fixedLength"]["anyOf"]
        return
    properties["extra"] = _FIELD_ATTRIBUTES
    if "unit" in properties:
        units = [
            word
            for unit in ARROW_UNITS
            for spelling in spellings(unit)
            for word in (spelling, spelling + "s")
        ]
        properties["unit"] = {"default": "Millisecond", "enum": list(dict.fromkeys(units)), "title": "Unit"}


def _describe_extra(definition: Json, *, on_schema: bool, strict: bool) -> None:
    definition["properties"]["extra"] = _SCHEMA_ATTRIBUTES if on_schema else _FIELD_ATTRIBUTES
    if not strict:
        definition["properties"]["description"] = {
            "description": "A description for readers.",
            "type": "string",
        }


def _extra(*, on_schema: bool, strict: bool) -> Json:
    """Attributes: the known ones with their values, others by the form of their key."""
    known = {
        key: {**_value(attribute, strict=strict), "description": attribute.summary}
        for key, attribute in sorted({**ATTRIBUTES, **OPEN}.items())
        if (attribute.on_schema if on_schema else attribute.on_field)
    }
    return {"type": "object", "properties": known, "propertyNames": {"pattern": f"^{KEY_PATTERN}$"}}


def _value(attribute: Attribute[Any], *, strict: bool) -> Json:
    document = json_schema(attribute.value_type)
    schema: Json = _with_definitions(document, document.pop("$defs", {}))
    return schema if strict else _spelled(schema)


def _with_definitions(value: Any, definitions: Json) -> Any:
    """Return a schema with each definition where it is referred to; values of attributes do not contain themselves."""
    if isinstance(value, list):
        return [_with_definitions(item, definitions) for item in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        return _with_definitions(definitions[value["$ref"].removeprefix("#/$defs/")], definitions)
    return {key: _with_definitions(item, definitions) for key, item in value.items()}


def _spelled(value: Any) -> Any:
    """Return a schema that takes words in PascalCase in their other spellings too."""
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("const"), str):
        value = {**value, "enum": [value["const"]]}
        del value["const"]
    rest = {key: _spelled(item) for key, item in value.items() if key != "enum"}
    words = [
        spelling
        for word in value.get("enum", [])
        for spelling in (spellings(word) if isinstance(word, str) and word[:1].isupper() else (word,))
    ]
    return {**rest, "enum": list(dict.fromkeys(words))} if words else rest


def write_schemas(folder: Path) -> None:
    """Write the files of `schemas/`."""
    for name, strict in (("manifest", False), ("manifest.strict", True)):
        content = json.dumps(manifest_schema(strict=strict), indent=2, ensure_ascii=False) + "\n"
        (folder / f"{name}.schema.json").write_text(content, encoding="utf-8")


if __name__ == "__main__":
    write_schemas(Path(sys.argv[1]))
