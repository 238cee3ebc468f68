"""JSON Schema: what a record of JSON has to be, so that a pipeline takes it.

Layer: engines.
Shape: `jsonschema/schema.json`, an object with a property a column. A column that may be null may be absent too; other
properties may be next to. An attribute is a keyword of its own, which validators ignore; so is `schemac.dev/type`, the type
of the manifest where the standard's keywords do not tell it.
Errors: SC586; losses SC587.
Source: JSON Schema 2020-12. Patterns and bounds are those of the values that a pipeline takes.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from schemac.artifacts.targets import Artifact, ArtifactTarget, Emission
from schemac.artifacts.type_writer import RecordTypeWriter
from schemac.engines import json_values
from schemac.engines.jsonschema import JSON_SCHEMA_LOSS, JSON_SCHEMA_TYPE, keywords
from schemac.engines.jsonschema.keywords import IGNORED, constrained, expressed_attributes
from schemac.language.attributes import builtin
from schemac.language.attributes.attribute import NESTED, Family, Role
from schemac.language.attributes.builtin import is_utc
from schemac.language.attributes.constraints import OF_ROWS
from schemac.language.attributes.registry import has_role
from schemac.language.constraints.field_constraints import constraints_at
from schemac.language.kinds.temporal import ARROW_UNITS
from schemac.language.logical.model import LogicalType, Part, SchemaField
from schemac.rows.judging.values import LARGEST_BRAIN_FLOAT
from schemac.text.source.json_object import Json, in_order
from schemac.text.source.phrases import Help
from schemac.versions.identity.compilation import Compilation

SCHEMA_FILE = "jsonschema/schema.json"
_PLAIN: dict[Family, Json] = {
    Family.NULL: {"type": "null"},
    Family.BOOLEAN: {"type": "boolean"},
    Family.TEXT: {"type": "string"},
    Family.DATE: keywords.DATE,
}
_KEYS = {
    Family.BOOLEAN: json_values.BOOLEAN,
    **dict.fromkeys((Family.INTEGER, Family.DECIMAL), json_values.NUMBER),
    Family.FLOAT: f"{json_values.NUMBER}|{json_values.NOT_FINITE}",
    Family.DURATION: r"[+-]?[0-9]+(?:\.0*)?",
}
"""Texts of the keys of maps, for values that are no texts elsewhere."""


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the file with the JSON Schema of a record."""
    dataset = compilation.dataset
    writer = _Writer(emission, compilation.lowered)
    for attribute in OF_ROWS:
        if attribute.key in dataset.schema.extra:
            emission.lose(None, f"the constraint {attribute.key}", IGNORED)
    document = {
        "$schema": keywords.DIALECT,
        "title": dataset.name,
        **_attributes(dataset.schema.extra),
        **writer.members(dataset.columns),
    }
    return [Artifact(SCHEMA_FILE, f"{keywords.dump(document)}\n".encode())]


class _Writer(RecordTypeWriter[Json]):
    """Finds the schema of each field."""

    json, uuid = keywords.ANY_JSON, keywords.UUID

    def field(self, field: SchemaField) -> Json:
        """Return the schema of a property, an item or a value: the one place where a field gets its keywords."""
        schema = dict(self.type(field))
        if field.extra:
            schema = constrained(schema, field, partial(self.lose, field))
        schema = {**schema, **self.type_keyword(field, schema)}
        expressed = expressed_attributes(schema, field.type) if field.extra else {}
        if field.is_nullable:
            named = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            types = [*named, *(() if "null" in named else ("null",))]
            values = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
            schema = {**schema, "type": types if len(types) > 1 else types[0], **values}
        # Those that the standard's keywords do not give back as they were written; 1 and `true` are two.
        rest = {
            key: value
            for key, value in field.extra.items()
            if type(expressed.get(key)) is not type(value) or repr(expressed.get(key)) != repr(value)
        }
        return {**_attributes(rest), **schema} if rest else schema

    def type_keyword(self, field: SchemaField, schema: Json) -> Json:
        """Return the keyword with the manifest's type; nothing if the schema determines it."""
        if field.type.family in (Family.LIST, Family.STRUCT):
            return {}
        tree = json_values.own_tree(field.type)
        if field.type.family is Family.MAP:
            key = field.children[0]
            if key.type.family is Family.TEXT and not key.extra and len(tree) == 1:
                return {}
            return {keywords.TYPE: {"kind": tree["kind"], "keyType": _part_tree(key.type, key.extra), **tree}}
        leaf_type, _ = keywords.leaf(schema) or ({}, None)
        is_expressed = {key: value for key, value in leaf_type.items() if key != "extra"} == tree
        return {} if is_expressed else {keywords.TYPE: tree}

    def members(self, members: Iterable[SchemaField]) -> Json:
        """Return the schema of an object with these members."""
        fields = {str(member.segment): member for member in members}
        needed = [name for name, member in fields.items() if not member.is_nullable]
        return {
            "type": "object",
            "properties": {name: self.field(member) for name, member in fields.items()},
            **({"required": needed} if needed else {}),
        }

    def refused(self, field: SchemaField) -> Json:
        """Report a type that JSON has no form for."""
        what = "as the key of a map " if field.segment is Part.KEY else ""
        message = f"{field.type.type_text()} {what}has no form in JSON ({field.path_text})"
        help = Help.leave_out("JSON Schema", builtin.TARGETS_OF.key, "jsonschema")
        self.emission.findings.at_type(field, JSON_SCHEMA_TYPE, message, help=help)
        return {"type": "null"}

    def plain(self, field: SchemaField, type_: Any) -> Json | None:
        """Return the schema of a type without parts; what it says less exactly is a loss."""
        match type_.family:
            case Family.INTEGER:
                return keywords.integer(type_.bits, is_signed=type_.is_signed)
            case Family.FLOAT:
                return keywords.floating(type_.bits)
            case Family.DECIMAL:
                return keywords.decimal(type_.precision, type_.scale)
            case Family.BYTES:
                return keywords.binary(type_.fixed_length)
            case Family.TIME:
                return keywords.text(json_values.time_of_day(ARROW_UNITS[type_.unit]))
            case Family.TIMESTAMP:
                return self.timestamp(field, type_)
            case Family.DURATION:
                self.lose(field, "counts without an exponent", "any whole number")
                return keywords.integer(64, is_signed=True)
        return _PLAIN.get(type_.family)

    def timestamp(self, field: SchemaField, type_: Any) -> Json:
        """Return the schema of timestamps as texts; what texts say less exactly is a loss."""
        unit, zone = ARROW_UNITS[type_.unit], type_.timezone
        if unit == "ns":
            self.lose(field, "the range of nanoseconds, 1677 to 2262", "the years 1 to 9999")
        if zone is None:
            return keywords.text(json_values.timestamp(unit, ""))
        clock = builtin.CLOCK_ZONE.read(field.extra) or ("UTC" if is_utc(zone) else None)
        if clock is not None and not is_utc(clock):
            self.lose(field, f"which times the clocks of {clock} skip or show twice", "all times")
        if unit != "ns":
            years = "the years 1 to 9999" if is_utc(zone) else "the years 1 to 9999 but for a day at each end"
            self.lose(field, f"the range of instants in UTC, {years}", "the years 1 to 9999 at any offset")
        # Without a zone it is what such a clock shows.
        offset = json_values.OFFSET if clock is None else f"{json_values.OFFSET}?"
        return keywords.text(json_values.timestamp(unit, offset))

    def struct(self, field: SchemaField) -> Json:
        """Return the schema of an object."""
        return self.members(field.children)

    def list(self, field: SchemaField) -> Json:
        """Return the schema of an array, of any number of items or of one."""
        (item,) = field.children
        length = getattr(field.type, "fixed_length", None)
        lengths = {} if length is None else {"minItems": length, "maxItems": length}
        if not has_role(field.extra, Role.BRAIN_FLOATS):
            return {"type": "array", "items": self.field(item), **lengths}
        limit = LARGEST_BRAIN_FLOAT
        tree = _part_tree(item.type, item.type.extra)
        named = ["number", "null"] if item.is_nullable else "number"
        schema = {"type": named, "minimum": -limit, "maximum": limit, keywords.TYPE: tree}
        return {"type": "array", "items": schema, **lengths}

    def map(self, field: SchemaField) -> Json:
        """Return the schema of an object with any keys of one type; keys that are no texts are a loss."""
        key, value = field.children
        schema: Json = {"type": "object", "additionalProperties": self.field(value)}
        if key.type.family is Family.TEXT:
            narrowed = self.constrained_key(key, {})
            return {**schema, "propertyNames": narrowed} if narrowed else schema
        if key.type.family in NESTED:
            self.refused(key)
            return schema
        self.lose(key, f"keys of {key.type.type_text()}", "texts, which may not fit, or be equal as keys")
        pattern = _KEYS.get(key.type.family)
        names = keywords.text(pattern) if pattern else self.type(key)
        key_schema = {"pattern": names["pattern"]} if "pattern" in names else {}
        return {**schema, "propertyNames": self.constrained_key(key, key_schema) or True}

    def constrained_key(self, field: SchemaField, key_schema: Json) -> Json:
        """Return what the keys of a map are, with their constraints where they have no value but their texts."""
        if field.type.family in _KEYS:
            for constraint in constraints_at(field):
                self.lose(field, f"the constraint {constraint.attribute.key}", IGNORED)
            return key_schema
        return constrained(key_schema, field, partial(self.lose, field))


def _part_tree(type_: LogicalType, extra: Mapping[str, Any]) -> Json:
    """Return a type without parts as a manifest writes it inside of a list or map, with its attributes."""
    tree = json_values.own_tree(type_)
    return {"kind": tree["kind"], "extra": in_order(dict(extra)), **tree} if extra else tree


def _attributes(extra: Any) -> Json:
    """Return attributes as keywords; the description is a word of the standard."""
    attributes = in_order({key: extra[key] for key in extra if key != builtin.DESCRIPTION.key})
    if builtin.DEPRECATED.key in attributes:
        attributes = {"deprecated": True, **attributes}
    if not attributes.get(builtin.DEPRECATED.key, True):
        del attributes[builtin.DEPRECATED.key]
    description = {"description": extra[builtin.DESCRIPTION.key]} if builtin.DESCRIPTION.key in extra else {}
    return {**description, **attributes}


TARGET = ArtifactTarget("jsonschema", JSON_SCHEMA_LOSS, emit)
