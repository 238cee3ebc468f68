"""What changed in the attributes.

Layer: evolution.
Shape: facts with the old and the new value and the key; one fact a property where an attribute has several.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from schemac.attributes import arrow, own
from schemac.attributes.attribute import Attribute, Role
from schemac.attributes.registry import known
from schemac.constraints.registry import BY_KEY as OF_VALUES
from schemac.evolution.changes import Fact
from schemac.evolution.constraints import constraint_fact, row_fact
from schemac.evolution.facts import attribute_fact, facts
from schemac.evolution.row_rules import BY_KEY as OF_ROWS
from schemac.evolution.version_pair import SchemaVersion, VersionPair, pair_versions
from schemac.logical.facts import AnyFact
from schemac.logical.schema_fields import SchemaField

AttributeFact = tuple[AnyFact, Any, Any, str]
_Extra = Mapping[str, Any]

_SILENT = frozenset({own.RENAMED_FROM.key})
"""Says what another fact says."""


def attribute_facts(old: SchemaField, new: SchemaField) -> Iterator[AttributeFact]:
    """Yield what changed in the attributes of a field."""
    for key, before, after in _different(old.extra, new.extra):
        if key in _SILENT:
            continue
        attribute = known(key)
        if key == arrow.BUFFER_ENCODING.key:
            yield from _buffer_facts(before, after, key)
        elif key in OF_VALUES:
            fact = constraint_fact(key, old, new)
            yield from [(fact, before, after, key)] if fact is not None else []
        elif attribute is not None and attribute.property_facts is not None:
            yield from _property_facts(attribute, attribute.property_facts, before or {}, after or {})
        else:
            yield (_fact(key, before, after), before, after, key)


def schema_facts(
    older: SchemaVersion, newer: SchemaVersion, pair: VersionPair | None = None
) -> Iterator[AttributeFact]:
    """Yield what changed in the attributes of a schema; `pair` is that of both versions, where it is known."""
    old, new = (version.dataset.schema.extra for version in (older, newer))
    for key, before, after in _different(old, new):
        attribute = known(key)
        if attribute is not None and attribute.role is Role.OPTIONS:
            for name, was, is_ in _different(before or {}, after or {}):
                yield (_fact(key, was, is_), was, is_, name)
        elif key in OF_ROWS:
            fact = row_fact(pair or pair_versions(older, newer), key)
            yield from [(fact, before, after, key)] if fact is not None else []
        else:
            yield (_fact(key, before, after), before, after, key)


def _fact(key: str, before: Any, after: Any) -> AnyFact:
    attribute = known(key)
    if attribute is None:
        return attribute_fact(before, after)
    added, removed, changed = attribute.facts
    return facts()[added if before is None else removed if after is None else changed]


def _buffer_facts(before: Any, after: Any, key: str) -> Iterator[AttributeFact]:
    was, is_ = (arrow.BUFFER_ENCODING.read({key: value}) if value else None for value in (before, after))
    kinds = [hint.kind if hint else "Contiguous" for hint in (was, is_)]
    widths = [(hint.offset_bit_width or 32) if hint else 32 for hint in (was, is_)]
    if kinds[0] != kinds[1]:
        yield (Fact.BUFFER_LAYOUT_CHANGED, kinds[0], kinds[1], key)
    if widths[0] != widths[1]:
        yield (Fact.OFFSET_WIDTH_CHANGED, widths[0], widths[1], key)


def _property_facts(
    attribute: Attribute[Any], by_property: Mapping[str, str], before: _Extra, after: _Extra
) -> Iterator[AttributeFact]:
    for name, was, is_ in _different(before, after):
        yield (facts()[by_property.get(name, attribute.facts.changed)], was, is_, f"{attribute.key}.{name}")


def _different(old: _Extra, new: _Extra) -> Iterator[tuple[str, Any, Any]]:
    """Keys with unequal values; spellings and defaults of known attributes do not count, and constraints are compared by what they ask."""
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if key in OF_VALUES or key in OF_ROWS or (before != after and not _mean_the_same(key, before, after)):
            yield key, before, after


def _mean_the_same(key: str, before: Any, after: Any) -> bool:
    attribute = known(key)
    if attribute is None or before is None or after is None:
        return False
    return bool(attribute.read({key: before}) == attribute.read({key: after}))
