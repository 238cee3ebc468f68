"""What the standard says at one slot.

Floor: 7 (targets).
Shape: all defaults written out. Attributes belong to fields and to the schema; a timestamp always has a zone; values of
attributes are JSON. Whatever the manifest says beyond that is lost, and said so.
Source: RFC-016 and the standard's JSON Schemas of DataField, DataType and ExtraAttributes.
"""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, NamedTuple

from schemac.attributes.arrow import BUFFER_ENCODING, DATE_ENCODING, DICTIONARY_ENCODING
from schemac.attributes.odf import ARCHETYPE, TYPE
from schemac.kinds.registry import BY_NAME, KINDS
from schemac.kinds.units import ARROW_UNITS
from schemac.logical.dataset import LogicalDataset
from schemac.logical.model import LogicalType
from schemac.logical.slots import Slot

Lose = Callable[[Slot | None, str, str], None]
"""Enters a loss: where, what, and what stands instead."""

UNITS = tuple(ARROW_UNITS)
"""Units by their number in the standard's binary form."""
TAGS = {kind.__name__: number for number, kind in enumerate(KINDS, start=1)}
"""Kinds by their number in the standard's union."""
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
    """The properties of a kind in the standard's order, which is that of the class."""
    found: list[Property] = []
    slot = 0
    for name, info in kind.model_fields.items():
        if name not in ("kind", "extra"):
            found.append(Property(name, info.alias or name, slot))
            slot += 2 if info.annotation is LogicalType else 1
    return tuple(found)


PROPERTIES = {name: _properties(kind) for name, kind in BY_NAME.items()}


def standard_properties(slot: Slot, lose: Lose) -> list[tuple[Property, Any]]:
    """The properties of a slot's type that hold a value; types stand for the slot's children."""
    found: list[tuple[Property, Any]] = []
    for item in PROPERTIES[slot.type.kind]:
        value = getattr(slot.type, item.name)
        if value is None and item.name == "timezone":
            lose(slot, "a timestamp without zone", "the zone UTC")
            value = "UTC"
        if value is not None:
            found.append((item, value))
    return found


def standard_extra(slot: Slot, lose: Lose) -> dict[str, Any]:
    """The attributes of a field, keys sorted; those of the nameless parts of lists and maps have no place."""
    if not slot.is_member:
        for key in sorted(slot.extra):
            lose(slot, f"the attribute {key}", "nothing")
        return {}
    return _attributes(slot.extra, slot, lose)


def standard_schema_extra(dataset: LogicalDataset, lose: Lose) -> dict[str, Any]:
    """The attributes of the schema as a whole, keys sorted."""
    return _attributes(dataset.schema.extra, None, lose)


def _attributes(extra: Mapping[str, Any], slot: Slot | None, lose: Lose) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in sorted(extra):
        value = extra[key]
        attribute = _WITH_WORDS.get(key)
        if attribute is not None:
            adapter = attribute.adapter
            value = adapter.dump_python(adapter.validate_python(value), by_alias=True, exclude_unset=True)
        if value.__class__ is not str:
            value = _json(value, lambda word, key=key: lose(slot, f"{word} in {key}", "null"))
        found[key] = value
    return found


def _json(value: Any, lose_number: Callable[[str], None]) -> Any:
    """A value with null in the place of the numbers that YAML has and JSON has not; keys of mappings sorted."""
    if isinstance(value, dict):
        return {key: _json(value[key], lose_number) for key in sorted(value)}
    if isinstance(value, list):
        return [_json(item, lose_number) for item in value]
    if isinstance(value, float) and not isfinite(value):
        lose_number(f"the number {value}")
        return None
    return value
