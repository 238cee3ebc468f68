"""JSON Schema: what a record of JSON has to be, so that a pipeline takes it.

Layer: engines.
Shape: `jsonschema/schema.json`, an object with a property a column. A column that may be null may be absent too; other
properties may be next to. An attribute is a keyword of its own, which validators ignore; so is `schemac.dev/type`, the type
of the manifest where the standard's keywords do not tell it.
Errors: SC586; losses SC587.
Source: JSON Schema 2020-12. Patterns and bounds are those of the values that a pipeline takes.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from schemac.artifacts.targets import Artifact, ArtifactTarget, Emission
from schemac.artifacts.type_writer import RecordTypeWriter, TypeTable
from schemac.engines import json_values
from schemac.engines.jsonschema import JSON_SCHEMA_LOSS, JSON_SCHEMA_TYPE, keywords
from schemac.engines.jsonschema.keywords import IGNORED, constrained, expressed_attributes
from schemac.language.attributes import builtin
from schemac.language.attributes.attribute import NESTED, Family, Role
from schemac.language.attributes.builtin import is_utc
from schemac.language.attributes.constraints import OF_ROWS
from schemac.language.attributes.registry import has_role
from schemac.language.constraints.field_constraints import constraints_at
from schemac.language.logical.model import Part, SchemaField
from schemac.language.physical import LoweredField
from schemac.rows.judging.values import LARGEST_BRAIN_FLOAT
from schemac.text.source.json_object import Json, in_order
from schemac.text.source.phrases import Help
from schemac.versions.identity.compilation import Compilation

SCHEMA_FILE = "jsonschema/schema.json"
_STRING: Json = {"type": "string"}
_TABLE: TypeTable[Json] = TypeTable(
    same={
        "NA": {"type": "null"},
        "BOOL": {"type": "boolean"},
        **{f"INT{bits}": keywords.integer(bits, is_signed=True) for bits in (8, 16, 32, 64)},
        **{f"UINT{bits}": keywords.integer(bits, is_signed=False) for bits in (8, 16, 32, 64)},
        "HALF_FLOAT": keywords.floating(16),
        "FLOAT": keywords.floating(32),
        "DOUBLE": keywords.floating(64),
        **dict.fromkeys(("STRING", "LARGE_STRING", "STRING_VIEW"), _STRING),
        **dict.fromkeys(("BINARY", "LARGE_BINARY", "BINARY_VIEW"), keywords.binary()),
        **dict.fromkeys(("DATE32", "DATE64"), keywords.date()),
    }
)
_KEYS = {
    Family.BOOLEAN: json_values.BOOLEAN,
    Family.INTEGER: json_values.NUMBER,
    Family.DECIMAL: json_values.NUMBER,
    Family.FLOAT: f"{json_values.NUMBER}|{json_values.NOT_FINITE}",
    Family.DURATION: r"[+-]?[0-9]+(?:\.0*)?",
}
"""Texts of the keys of maps, for values that are no texts elsewhere."""


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the file with the JSON Schema of a record."""
    dataset = compilation.dataset
    writer = _Writer(emission)
    for attribute in OF_ROWS:
        if attribute.key in dataset.schema.extra:
            emission.lose(None, f"the constraint {attribute.key}", IGNORED)
    document = {
        "$schema": keywords.DIALECT,
        "title": dataset.name,
        **_attributes(dataset.schema.extra),
        **writer.members(compilation.lowered.fields),
    }
    return [Artifact(SCHEMA_FILE, f"{keywords.dump(document)}\n".encode())]


class _Writer(RecordTypeWriter[Json]):
    """Finds the schema of each lowered field."""

    blob, json, uuid = keywords.binary(), keywords.ANY_JSON, keywords.uuid()

    def __init__(self, emission: Emission) -> None:
        super().__init__(emission, _TABLE)

    def field(self, lowered: LoweredField) -> Json:
        """Return the schema of a property, an item or a value: the one place where a field gets its keywords."""
        schema_field: SchemaField = lowered.field
        schema = dict(self.type(lowered, lowered.arrow.type))
        if schema_field.extra:
            schema = constrained(schema, schema_field, partial(self.emission.lose, schema_field))
        schema = {**schema, **self.type_keyword(schema_field, schema)}
        expressed = expressed_attributes(schema, schema_field.type) if schema_field.extra else {}
        if lowered.arrow.nullable:
            named = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            types = [*named, *(() if "null" in named else ("null",))]
            values = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
            schema = {**schema, "type": types if len(types) > 1 else types[0], **values}
        # Those that the standard's keywords do not give back as they were written; 1 and `true` are two.
        rest = {
            key: value
            for key, value in schema_field.extra.items()
            if type(expressed.get(key)) is not type(value) or repr(expressed.get(key)) != repr(value)
        }
        return {**_attributes(rest), **schema} if rest else schema

    def type_keyword(self, field: SchemaField, schema: Json) -> Json:
        """Return the keyword with the manifest's type; nothing if the schema determines it."""
        tree = json_values.type_tree(field.type)
        tree.pop("extra", None)
        if field.type.family in (Family.LIST, Family.STRUCT):
            return {}
        if field.type.family is Family.MAP:
            key = field.children[0]
            del tree["valueType"]
            if key.extra:
                tree["keyType"]["extra"] = in_order(dict(key.extra))
            is_expressed = (
                set(tree) == {"kind", "keyType"} and not key.extra and key.type.family is Family.TEXT
            )
            return {} if is_expressed else {keywords.TYPE: tree}
        leaf = keywords.leaf(schema)
        leaf_type = leaf[0] if leaf is not None else {}
        leaf_type = {key: value for key, value in leaf_type.items() if key != "extra"}
        return {} if leaf_type == tree else {keywords.TYPE: tree}

    def members(self, members: Iterable[LoweredField]) -> Json:
        """Return the schema of an object with these members."""
        fields = {member.arrow.name: member for member in members}
        needed = [name for name, member in fields.items() if not member.arrow.nullable]
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

    def type_text(self, type_: Json) -> str:
        """Return the JSON type of a schema."""
        return str(type_["type"])

    def decimal(self, lowered: LoweredField, arrow_type: Any) -> Json:
        """Return the schema of decimals of a precision and scale."""
        return keywords.decimal(arrow_type.precision, arrow_type.scale)

    def timestamp(self, lowered: LoweredField, arrow_type: Any) -> Json:
        """Return the schema of timestamps as texts; what texts say less exactly is a loss."""
        field: SchemaField = lowered.field
        unit, zone = arrow_type.unit, arrow_type.tz
        if unit == "ns":
            self.lose(lowered, "the range of nanoseconds, 1677 to 2262", "the years 1 to 9999")
        if zone is None:
            return keywords.text(json_values.timestamp(unit, takes_zone=False, needs_zone=False))
        clock = builtin.CLOCK_ZONE.read(field.extra) or ("UTC" if is_utc(zone) else None)
        if clock is not None and not is_utc(clock):
            self.lose(lowered, f"which times the clocks of {clock} skip or show twice", "all times")
        if unit != "ns":
            years = "the years 1 to 9999" if is_utc(zone) else "the years 1 to 9999 but for a day at each end"
            self.lose(lowered, f"the range of instants in UTC, {years}", "the years 1 to 9999 at any offset")
        return keywords.text(json_values.timestamp(unit, takes_zone=True, needs_zone=clock is None))

    def time(self, lowered: LoweredField, arrow_type: Any) -> Json:
        """Return the schema of times of day as texts."""
        return keywords.text(json_values.time_of_day(arrow_type.unit))

    def duration(self, lowered: LoweredField, arrow_type: Any) -> Json:
        """Return the schema of durations as counts of their unit."""
        self.lose(lowered, "counts without an exponent", "any whole number")
        return keywords.integer(64, is_signed=True)

    def fixed_size_binary(self, lowered: LoweredField, arrow_type: Any) -> Json:
        """Return the schema of base64 texts of one length in bytes."""
        return keywords.binary(arrow_type.byte_width)

    def struct(self, lowered: LoweredField, arrow_type: Any) -> Json:
        """Return the schema of an object."""
        return self.members(lowered.children)

    def list(self, lowered: LoweredField, arrow_type: Any) -> Json:
        """Return the schema of an array."""
        return {"type": "array", "items": self.item(lowered)}

    def fixed_size_list(self, lowered: LoweredField, arrow_type: Any) -> Json:
        """Return the schema of an array with one number of items."""
        length = arrow_type.list_size
        return {"type": "array", "items": self.item(lowered), "minItems": length, "maxItems": length}

    def item(self, lowered: LoweredField) -> Json:
        """Return the schema of a list's items."""
        (item,) = lowered.children
        if not has_role(lowered.field.extra, Role.BRAIN_FLOATS):
            return self.field(item)
        limit = LARGEST_BRAIN_FLOAT
        tree = json_values.type_tree(item.field.type)
        named = ["number", "null"] if item.arrow.nullable else "number"
        return {"type": named, "minimum": -limit, "maximum": limit, keywords.TYPE: tree}

    def map(self, lowered: LoweredField, arrow_type: Any) -> Json:
        """Return the schema of an object with any keys of one type; keys that are no texts are a loss."""
        key, value = lowered.children
        schema: Json = {"type": "object", "additionalProperties": self.field(value)}
        field: SchemaField = key.field
        if field.type.family is Family.TEXT:
            narrowed = self.constrained_key(field, {})
            return {**schema, "propertyNames": narrowed} if narrowed else schema
        if field.type.family in NESTED:
            self.refused(field)
            return schema
        self.emission.lose(
            field, f"keys of {field.type.type_text()}", "texts, which may not fit, or be equal as keys"
        )
        pattern = _KEYS.get(field.type.family)
        names = keywords.text(pattern) if pattern else self.type(key, key.arrow.type)
        key_schema = {"pattern": names["pattern"]} if "pattern" in names else {}
        return {**schema, "propertyNames": self.constrained_key(field, key_schema) or True}

    def constrained_key(self, field: SchemaField, key_schema: Json) -> Json:
        """Return what the keys of a map are, with their constraints where they have no value but their texts."""
        if field.type.family in _KEYS:
            for constraint in constraints_at(field):
                self.emission.lose(field, f"the constraint {constraint.attribute.key}", IGNORED)
            return key_schema
        return constrained(key_schema, field, partial(self.emission.lose, field))


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
