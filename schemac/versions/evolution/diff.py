"""The changes between two versions of a schema: fields, types, attributes, clock zones.

Layer: versions. Facts only; `judge` says what they mean.
Shape: changes in the order of the new schema, dropped fields where they were, those of the schema itself first. The
members of an added or dropped field are not listed. A changed type gives one fact for each changed property, with both
type texts; a changed attribute one for each property of its value.
Rule: between timestamps with and without a zone, `schemac.dev/clockZone` of the field without a zone counts first, then
that of the other field. If neither has one, local times are read as UTC if the instants are in UTC; any other case is
undecidable. Days and times of day are those of the instant's own zone unless its `clockZone` is another.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from schemac.language.attributes import arrow, builtin
from schemac.language.attributes.attribute import NUMBERS, TEMPORAL, Family, Role
from schemac.language.attributes.builtin import is_utc
from schemac.language.attributes.constraints import KEYS_OF_ROWS, KEYS_OF_VALUES
from schemac.language.attributes.registry import known
from schemac.language.logical.facts import AnyFact, Fact
from schemac.language.logical.model import SchemaField, preorder, type_text_of
from schemac.versions.evolution.changes import Change, attribute_fact, facts
from schemac.versions.evolution.version_pair import SchemaVersion, VersionPair, pair_versions

TypeFact = tuple[Fact, Any, Any]


def type_facts(old: Any, new: Any) -> Iterator[TypeFact]:
    """Yield the facts that lead from one type to the other."""
    if old.kind != new.kind:
        yield (_between_kinds(old, new), old.type_text(), new.type_text())
        return
    for fact in old.facts(new):
        if fact is Fact.SORTED_KEYS_CHANGED:
            # The type text does not tell it.
            yield (fact, bool(old.keys_sorted), bool(new.keys_sorted))
        else:
            yield (fact, old.type_text(), new.type_text())


def _between_kinds(old: Any, new: Any) -> Fact:
    """Return the fact of a change from one kind to another."""
    families = {old.family, new.family}
    if families == {Family.INTEGER}:
        if old.is_signed == new.is_signed or (not old.is_signed and new.bits > old.bits):
            return Fact.INTEGER_WIDENED if new.bits > old.bits else Fact.INTEGER_NARROWED
        return Fact.SIGN_CHANGED
    if families == {Family.FLOAT}:
        return Fact.FLOAT_WIDENED if new.bits > old.bits else Fact.FLOAT_NARROWED
    if families <= NUMBERS | {Family.DECIMAL}:
        return Fact.NUMBER_FAMILY_CHANGED
    if families <= TEMPORAL:
        return Fact.TEMPORAL_TYPE_CHANGED
    if families == {Family.TEXT, Family.BYTES}:
        return Fact.TEXT_AND_BYTES_SWAPPED
    return Fact.TYPE_REPLACED


AttributeFact = tuple[AnyFact, Any, Any, str]
_Extra = Mapping[str, Any]

_SILENT = frozenset({builtin.RENAMED_FROM.key})
"""Says what another fact says."""


def attribute_facts(old: SchemaField, new: SchemaField) -> Iterator[AttributeFact]:
    """Yield what changed in the attributes of a field."""
    for key, before, after in _changed_keys(old.extra, new.extra):
        if key in _SILENT:
            continue
        attribute = known(key)
        if key == arrow.BUFFER_ENCODING.key:
            hints = [arrow.BUFFER_ENCODING.read({key: value}) if value else None for value in (before, after)]
            kinds = [hint.kind if hint else "Contiguous" for hint in hints]
            widths = [(hint.offset_bit_width or 32) if hint else 32 for hint in hints]
            if kinds[0] != kinds[1]:
                yield (Fact.BUFFER_LAYOUT_CHANGED, kinds[0], kinds[1], key)
            if widths[0] != widths[1]:
                yield (Fact.OFFSET_WIDTH_CHANGED, widths[0], widths[1], key)
        elif key in KEYS_OF_VALUES:
            # For start-up time, here and below: most changes are of other attributes.
            from schemac.versions.evolution.constraints import constraint_fact

            fact = constraint_fact(key, old, new)
            yield from [(fact, before, after, key)] if fact is not None else []
        elif attribute is not None and attribute.property_facts is not None:
            for name, was, is_ in _changed_keys(before or {}, after or {}):
                property_fact = attribute.property_facts.get(name, attribute.facts.changed)
                yield (facts()[property_fact], was, is_, f"{key}.{name}")
        else:
            yield (_fact(key, before, after), before, after, key)


def schema_facts(
    older: SchemaVersion, newer: SchemaVersion, pair: VersionPair | None = None
) -> Iterator[AttributeFact]:
    """Yield what changed in the attributes of a schema; `pair` is that of both versions, where it is known."""
    old, new = (version.dataset.schema.extra for version in (older, newer))
    for key, before, after in _changed_keys(old, new):
        attribute = known(key)
        if attribute is not None and attribute.role is Role.OPTIONS:
            for name, was, is_ in _changed_keys(before or {}, after or {}):
                yield (_fact(key, was, is_), was, is_, name)
        elif key in KEYS_OF_ROWS:
            from schemac.versions.evolution.constraints import row_fact

            fact = row_fact(pair or pair_versions(older, newer), key)
            yield from [(fact, before, after, key)] if fact is not None else []
        else:
            yield (_fact(key, before, after), before, after, key)


def _fact(key: str, before: Any, after: Any) -> AnyFact:
    """Return the fact of a changed attribute, where None stands for an absent value."""
    attribute = known(key)
    if attribute is None:
        return attribute_fact(before, after)
    added, removed, changed = attribute.facts
    return facts()[added if before is None else removed if after is None else changed]


def _changed_keys(old: _Extra, new: _Extra) -> Iterator[tuple[str, Any, Any]]:
    """Return the keys with different values; spellings and defaults of known attributes do not count."""
    for key in sorted({*old, *new}):
        before, after, attribute = old.get(key), new.get(key), known(key)
        is_different = before != after
        if is_different and attribute is not None and before is not None and after is not None:
            is_different = attribute.read({key: before}) != attribute.read({key: after})
        if is_different or key in KEYS_OF_VALUES or key in KEYS_OF_ROWS:
            yield key, before, after


def diff(old: SchemaVersion, new: SchemaVersion) -> tuple[Change, ...]:
    """Return all changes from the old version to the new one."""
    return diff_of(pair_versions(old, new))


def diff_of(pair: VersionPair) -> tuple[Change, ...]:
    """Return all changes of a version pair, those of the schema as a whole first."""
    changes = [
        _change(pair, fact, None, None, before, after, key)
        for fact, before, after, key in schema_facts(pair.old, pair.new, pair)
    ]
    changes += _order_changes(pair, None, pair.old.dataset.columns, pair.new.dataset.columns)
    for field in preorder(pair.new.dataset.columns):
        old_field = pair.before.get(field)
        if old_field is not None:
            changes += _field_changes(pair, old_field, field)
        elif field.is_member and (field.parent is None or field.parent in pair.before):
            changes.append(_change(pair, Fact.FIELD_ADDED, None, field, None, type_text_of(field)))
    for field in preorder(pair.old.dataset.columns):
        is_outermost = field.parent is None or field.parent in pair.after
        if field.is_member and field not in pair.after and is_outermost:
            changes.append(_change(pair, Fact.FIELD_DROPPED, field, None, type_text_of(field), None))
    return tuple(changes)


def _field_changes(pair: VersionPair, old: SchemaField, new: SchemaField) -> Iterator[Change]:
    """Yield the changes of a field that is in both versions, without those of its members."""
    if new.is_member:
        if not pair.is_same(old.parent, new.parent):
            yield _change(pair, Fact.FIELD_MOVED, old, new, old.path_text, new.path_text)
        elif old.segment != new.segment:
            yield _change(pair, Fact.FIELD_RENAMED, old, new, old.segment, new.segment)
    if old.is_nullable != new.is_nullable:
        fact = Fact.BECAME_OPTIONAL if new.is_nullable else Fact.BECAME_REQUIRED
        yield _change(pair, fact, old, new, type_text_of(old), type_text_of(new))
    for fact, before, after in type_facts(old.type, new.type):
        yield _change(pair, fact, old, new, before, after)
    if old.extra or new.extra:
        for changed_fact, before, after, key in attribute_facts(old, new):
            yield _change(pair, changed_fact, old, new, before, after, key)
    if old.type.family is new.type.family is Family.STRUCT:
        yield from _order_changes(pair, new, old.children, new.children)


def _order_changes(
    pair: VersionPair, parent: SchemaField | None, old: Sequence[SchemaField], new: Sequence[SchemaField]
) -> Iterator[Change]:
    """Yield one change if members that stayed are in another order."""
    old_index = {field: index for index, field in enumerate(old)}
    stayed = [(old_index[before], field) for field in new if (before := pair.before.get(field)) in old_index]
    indices = [index for index, _ in stayed]
    if indices != sorted(indices):
        old_names = [str(field.segment) for _, field in sorted(stayed, key=lambda s: s[0])]
        names = [str(field.segment) for _, field in stayed]
        old_parent = pair.before[parent] if parent is not None else None
        yield _change(pair, Fact.FIELDS_REORDERED, old_parent, parent, old_names, names)


def _change(
    pair: VersionPair,
    fact: AnyFact,
    old: SchemaField | None,
    new: SchemaField | None,
    before: Any,
    after: Any,
    key: str = "",
) -> Change:
    """Return a change of a field, or of the schema for None; only `old` or `new` is None where the field was added or dropped."""
    field = new if new is not None else old
    # The attributes of a schema have places of their own.
    steps = ("extra", key) if field is None and key else ()
    return Change(
        fact,
        pair.new.dataset.name,
        field.path_text if field is not None else "",
        before,
        after,
        pair.old.location(old, *steps) if old is not None or field is None else None,
        pair.new.location(new, *steps) if new is not None or field is None else None,
        old,
        new,
        key,
    )


_READINGS = frozenset({Family.DATE, Family.TIME})


def declared_clock(reading: str | None, instant: str | None, zone: str | None) -> str | None:
    """Return the zone of local times, from `clockZone` of these and of the instants, which are in `zone`; None if it is unknown."""
    return reading or instant or ("UTC" if is_utc(zone) else None)


def clock_of(old: SchemaField, new: SchemaField) -> str | None:
    """Return the clock zone of a change; empty if it needs none, None if it needs one that is not declared."""
    before: Any = old.type
    after: Any = new.type
    families = (before.family, after.family)
    if Family.TIMESTAMP not in families:
        return ""
    if Family.TEXT in families:
        return declared_clock(_clock_zone(new), _clock_zone(old), _zone(after)) or ""
    if families == (Family.TIMESTAMP, Family.TIMESTAMP):
        if (before.timezone is None) == (after.timezone is None):
            return ""
        reading, instant = (old, new) if before.timezone is None else (new, old)
        return declared_clock(_clock_zone(reading), _clock_zone(instant), _zone(instant.type))
    instant = old if before.family is Family.TIMESTAMP else new
    if _READINGS.isdisjoint(families) or _zone(instant.type) is None:
        return ""
    return _clock_zone(instant) or _zone(instant.type)


def _clock_zone(field: SchemaField) -> str | None:
    """Return the `clockZone` of a timestamp; None if it has none, or the type is another."""
    return builtin.CLOCK_ZONE.read(field.extra) if field.type.family is Family.TIMESTAMP else None


def _zone(type_: Any) -> str | None:
    """Return the zone of a type; None for types without one."""
    return getattr(type_, "timezone", None)
