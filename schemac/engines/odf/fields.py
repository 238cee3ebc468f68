"""The standard's form of one field, and the error of binary forms that are malformed.

What the readers of binary forms say of bytes that are not what they should be.

Layer: engines.
Shape: all defaults written out. Attributes belong to fields and to the schema, and a timestamp always has a zone; what the manifest
      says beyond that is lost, and said so.
Source: RFC-016 and the standard's JSON Schemas of DataField, DataType and ExtraAttributes.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from schemac.language.attributes.arrow import BUFFER_ENCODING, DATE_ENCODING, DICTIONARY_ENCODING
from schemac.language.attributes.odf import ARCHETYPE, DESCRIPTION, TYPE
from schemac.language.kinds.answers import ARROW_UNITS
from schemac.language.kinds.registry import BY_NAME, KINDS
from schemac.language.logical.model import ExtraAttributes, LogicalType
from schemac.language.logical.schema_fields import SchemaField

Lose = Callable[[SchemaField, str, str], None]
"""Enters a loss: where, what, and what there is instead."""

UNITS = tuple(ARROW_UNITS)
"""Units by their number in the standard's binary form."""
TAGS = {kind.__name__: kind.standard_number for kind in KINDS if kind.standard_number is not None}
"""Numbers of kinds in the standard's union; a kind that the standard does not have has none."""
KINDS_BY_TAG = {number: kind for kind, number in TAGS.items()}
_WITH_WORDS = {
    attribute.key: attribute
    for attribute in (ARCHETYPE, BUFFER_ENCODING, DATE_ENCODING, DICTIONARY_ENCODING, TYPE)
}
"""Attributes whose values have words that may be spelled in three ways; the standard has one."""


class Property(NamedTuple):
    """One property of a kind."""

    name: str
    alias: str
    """As manifests spell it."""
    field: int
    """Its number in the kind's binary table. A type takes two: this one for its tag, the next for its table."""


def _properties(kind: type[LogicalType]) -> tuple[Property, ...]:
    """Return the properties of a kind in the standard's order, which is that of the class."""
    properties: list[Property] = []
    field = 0
    for name, info in kind.model_fields.items():
        if name not in ("kind", "extra"):
            properties.append(Property(name, info.alias or name, field))
            field += 2 if info.annotation is LogicalType else 1
    return tuple(properties)


PROPERTIES = {name: _properties(kind) for name, kind in BY_NAME.items()}


def standard_properties(field: SchemaField, lose: Lose) -> list[tuple[Property, Any]]:
    """Return the properties of a field's type that hold a value; types stand for the field's children."""
    properties: list[tuple[Property, Any]] = []
    for item in PROPERTIES[field.type.kind]:
        value = getattr(field.type, item.name)
        if value is None and item.name == "timezone":
            lose(field, "a timestamp without zone", "the zone UTC")
            value = "UTC"
        if value is not None:
            properties.append((item, value))
    return properties


def standard_extra(field: SchemaField, lose: Lose) -> ExtraAttributes:
    """Return the attributes of a field, keys sorted; those of the nameless parts of lists and maps have no place."""
    if not field.is_member:
        for key in sorted(field.extra):
            lose(field, f"the attribute {key}", "nothing")
        return {}
    return standard_attributes(field.extra)


def standard_attributes(extra: Mapping[str, Any]) -> ExtraAttributes:
    """Attributes with keys sorted, and words in the standard's spelling."""
    if len(extra) == 1 and DESCRIPTION.key in extra:
        return dict(extra)
    attributes: ExtraAttributes = {}
    for key in sorted(extra):
        value = extra[key]
        attribute = _WITH_WORDS.get(key)
        if attribute is not None:
            value = attribute.as_standard(value)
        attributes[key] = value if value.__class__ is str else _sorted(value)
    return attributes


def _sorted(value: Any) -> Any:
    """Return a value with the keys of its mappings sorted."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


class MalformedBufferError(Exception):
    """The bytes are not what they should be; the message completes "it is no …: "."""
