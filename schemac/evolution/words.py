"""What changed in the attributes.

Layer: evolution.
Shape: facts with the old and the new value and the key; one fact a property where an attribute has several.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from schemac.attributes import arrow, lance, odf, own, paimon, spark
from schemac.attributes.registry import known
from schemac.evolution.changes import Fact
from schemac.logical.slots import Slot

AttributeFact = tuple[Fact, Any, Any, str]
_Extra = Mapping[str, Any]

_FIELD_FACTS: dict[str, Fact] = {
    arrow.DATE_ENCODING.key: Fact.DATE_ENCODING_CHANGED,
    arrow.DECIMAL_ENCODING.key: Fact.DECIMAL_WIDTH_CHANGED,
    arrow.EXTENSION_TYPE.key: Fact.EXTENSION_TYPE_CHANGED,
    arrow.CHILD_NAMES.key: Fact.CHILD_NAMES_CHANGED,
    arrow.METADATA.key: Fact.ARROW_METADATA_CHANGED,
    lance.CLUSTERING_KEY.key: Fact.CLUSTERING_KEY_CHANGED,
    lance.FLOAT_ENCODING.key: Fact.FLOAT_ENCODING_CHANGED,
    lance.JSON.key: Fact.JSON_CHANGED,
    paimon.TYPE.key: Fact.PAIMON_TYPE_CHANGED,
    paimon.DEFAULT_VALUE.key: Fact.DEFAULT_VALUE_CHANGED,
    spark.TYPE.key: Fact.SPARK_TYPE_CHANGED,
    odf.TYPE.key: Fact.ODF_TYPE_CHANGED,
    own.UNIT.key: Fact.UNIT_CHANGED,
}
_SCHEMA_FACTS: dict[str, Fact] = {
    arrow.METADATA.key: Fact.ARROW_METADATA_CHANGED,
    lance.STORAGE_VERSION.key: Fact.STORAGE_VERSION_CHANGED,
    paimon.PRIMARY_KEYS.key: Fact.PAIMON_PRIMARY_KEYS_CHANGED,
    paimon.PARTITION_KEYS.key: Fact.PAIMON_PARTITION_KEYS_CHANGED,
    paimon.COMMENT.key: Fact.PAIMON_COMMENT_CHANGED,
    own.TARGETS_OF.key: Fact.TARGETS_CHANGED,
    odf.ARCHETYPE.key: Fact.ARCHETYPE_CHANGED,
}
_COMES_AND_GOES: dict[str, tuple[Fact, Fact, Fact]] = {
    odf.DESCRIPTION.key: (Fact.DESCRIPTION_ADDED, Fact.DESCRIPTION_REMOVED, Fact.DESCRIPTION_CHANGED),
    arrow.DICTIONARY_ENCODING.key: (
        Fact.DICTIONARY_ADDED,
        Fact.DICTIONARY_REMOVED,
        Fact.DICTIONARY_CHANGED,
    ),
    lance.PRIMARY_KEY.key: (Fact.PRIMARY_KEY_ADDED, Fact.PRIMARY_KEY_REMOVED, Fact.PRIMARY_KEY_MOVED),
    lance.BLOB.key: (Fact.BLOB_ADDED, Fact.BLOB_REMOVED, Fact.BLOB_THRESHOLDS_CHANGED),
}
_ANY = (Fact.ATTRIBUTE_ADDED, Fact.ATTRIBUTE_REMOVED, Fact.ATTRIBUTE_CHANGED)
_ENCODING_FACTS = {
    "compression": Fact.COMPRESSION_CHANGED,
    "compressionLevel": Fact.COMPRESSION_CHANGED,
    "structuralEncoding": Fact.STRUCTURAL_ENCODING_CHANGED,
    "packed": Fact.PACKED_STRUCT_CHANGED,
}
_SILENT = frozenset({own.RENAMED_FROM.key})
"""Says what another fact says."""


def attribute_facts(old: Slot, new: Slot) -> Iterator[AttributeFact]:
    """Yield what changed in the attributes of a field."""
    for key, before, after in _different(old.extra, new.extra):
        if key in _SILENT:
            continue
        if key == arrow.BUFFER_ENCODING.key:
            yield from _buffer_facts(before, after, key)
        elif key == lance.ENCODING.key:
            yield from _encoding_facts(before or {}, after or {}, key)
        else:
            yield (_fact(key, before, after, _FIELD_FACTS), before, after, key)


def schema_facts(old: _Extra, new: _Extra) -> Iterator[AttributeFact]:
    """Yield what changed in the attributes of a schema."""
    for key, before, after in _different(old, new):
        if key == paimon.OPTIONS.key:
            for name, was, is_ in _different(before or {}, after or {}):
                yield (Fact.PAIMON_OPTION_REMOVED if is_ is None else Fact.PAIMON_OPTION_SET, was, is_, name)
        elif key == spark.TABLE_PROPERTIES.key:
            for name, was, is_ in _different(before or {}, after or {}):
                yield (
                    Fact.TABLE_PROPERTY_REMOVED if is_ is None else Fact.TABLE_PROPERTY_SET,
                    was,
                    is_,
                    name,
                )
        else:
            yield (_fact(key, before, after, _SCHEMA_FACTS), before, after, key)


def _fact(key: str, before: Any, after: Any, facts: Mapping[str, Fact]) -> Fact:
    if key in facts:
        return facts[key]
    added, removed, changed = _COMES_AND_GOES.get(key, _ANY)
    return added if before is None else removed if after is None else changed


def _buffer_facts(before: Any, after: Any, key: str) -> Iterator[AttributeFact]:
    was, is_ = (arrow.BUFFER_ENCODING.read({key: value}) if value else None for value in (before, after))
    kinds = [hint.kind if hint else "Contiguous" for hint in (was, is_)]
    widths = [(hint.offset_bit_width or 32) if hint else 32 for hint in (was, is_)]
    if kinds[0] != kinds[1]:
        yield (Fact.BUFFER_LAYOUT_CHANGED, kinds[0], kinds[1], key)
    if widths[0] != widths[1]:
        yield (Fact.OFFSET_WIDTH_CHANGED, widths[0], widths[1], key)


def _encoding_facts(before: _Extra, after: _Extra, key: str) -> Iterator[AttributeFact]:
    for name, was, is_ in _different(before, after):
        yield (_ENCODING_FACTS.get(name, Fact.PAGE_ENCODING_CHANGED), was, is_, f"{key}.{name}")


def _different(old: _Extra, new: _Extra) -> Iterator[tuple[str, Any, Any]]:
    """Keys with unequal values; spellings and defaults of known attributes do not count."""
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if before != after and not _mean_the_same(key, before, after):
            yield key, before, after


def _mean_the_same(key: str, before: Any, after: Any) -> bool:
    attribute = known(key)
    if attribute is None or before is None or after is None:
        return False
    return bool(attribute.read({key: before}) == attribute.read({key: after}))
