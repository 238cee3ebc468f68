"""What the standard says at one slot.

Layer: engines.
Shape: all defaults written out. Attributes belong to fields and to the schema, and a timestamp always has a zone; what the
manifest says beyond that is lost, and said so.
Source: RFC-016 and the standard's JSON Schemas of DataField, DataType and ExtraAttributes.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from schemac.attributes.arrow import BUFFER_ENCODING, DATE_ENCODING, DICTIONARY_ENCODING
from schemac.attributes.odf import ARCHETYPE, DESCRIPTION, TYPE
from schemac.kinds.registry import BY_NAME, KINDS
from schemac.kinds.units import ARROW_UNITS
from schemac.logical.model import ExtraAttributes, LogicalType
from schemac.logical.slots import Slot

Lose = Callable[[Slot, str, str], None]
"""Enters a loss: where, what, and what stands instead."""

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
    slot: int
    """Its number in the kind's binary table. A type takes two: this one for its tag, the next for its table."""


def _properties(kind: type[LogicalType]) -> tuple[Property, ...]:
    """Return the properties of a kind in the standard's order, which is that of the class."""
    found: list[Property] = []
    slot = 0
    for name, info in kind.model_fields.items():
        if name not in ("kind", "extra"):
            found.append(Property(name, info.alias or name, slot))
            slot += 2 if info.annotation is LogicalType else 1
    return tuple(found)


PROPERTIES = {name: _properties(kind) for name, kind in BY_NAME.items()}


def standard_properties(slot: Slot, lose: Lose) -> list[tuple[Property, Any]]:
    """Return the properties of a slot's type that hold a value; types stand for the slot's children."""
    found: list[tuple[Property, Any]] = []
    for item in PROPERTIES[slot.type.kind]:
        value = getattr(slot.type, item.name)
        if value is None and item.name == "timezone":
            lose(slot, "a timestamp without zone", "the zone UTC")
            value = "UTC"
        if value is not None:
            found.append((item, value))
    return found


def standard_extra(slot: Slot, lose: Lose) -> ExtraAttributes:
    """Return the attributes of a field, keys sorted; those of the nameless parts of lists and maps have no place."""
    if not slot.is_member:
        for key in sorted(slot.extra):
            lose(slot, f"the attribute {key}", "nothing")
        return {}
    return standard_attributes(slot.extra)


def standard_attributes(extra: Mapping[str, Any]) -> ExtraAttributes:
    """Attributes with keys sorted, and words in the standard's spelling."""
    if len(extra) == 1 and DESCRIPTION.key in extra:
        return dict(extra)
    found: ExtraAttributes = {}
    for key in sorted(extra):
        value = extra[key]
        attribute = _WITH_WORDS.get(key)
        if attribute is not None:
            value = attribute.as_standard(value)
        found[key] = value if value.__class__ is str else _sorted(value)
    return found


def _sorted(value: Any) -> Any:
    """Return a value with the keys of its mappings sorted."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
