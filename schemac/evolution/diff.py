"""What changed between two versions of a schema.

Layer: evolution. Facts only; `judge` says what they mean.
Shape: changes in the order of the new schema, dropped fields where they stood, the schema's own changes first. Of a
field that came or went as a whole, what is inside it is not told again.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from schemac.attributes.family import Family
from schemac.evolution.changes import Change, Fact
from schemac.evolution.types import type_facts
from schemac.evolution.version_pair import SchemaVersion, VersionPair, pair_versions
from schemac.evolution.words import attribute_facts, schema_facts
from schemac.logical.facts import AnyFact
from schemac.logical.schema_fields import SchemaField, preorder


def diff(old: SchemaVersion, new: SchemaVersion) -> tuple[Change, ...]:
    """All changes from the old version to the new one."""
    return diff_of(pair_versions(old, new))


def diff_of(pair: VersionPair) -> tuple[Change, ...]:
    """All changes of a version pair."""
    changes = list(_schema_changes(pair))
    changes += _order_changes(pair, None, pair.old.dataset.columns, pair.new.dataset.columns)
    for field in preorder(pair.new.dataset.columns):
        before = pair.before.get(field)
        if before is not None:
            changes += _field_changes(pair, before, field)
        elif field.is_member and (field.parent is None or field.parent in pair.before):
            changes.append(_change(pair, Fact.FIELD_ADDED, None, field, None, field_type_text(field)))
    changes += _dropped(pair)
    return tuple(changes)


def field_type_text(field: SchemaField) -> str:
    """Return a field's type for people; `?` stands for Option."""
    return f"{field.type.type_text()}{'?' if field.is_nullable else ''}"


def _schema_changes(pair: VersionPair) -> Iterator[Change]:
    for fact, before, after, key in schema_facts(pair.old, pair.new, pair):
        yield Change(
            fact,
            pair.new.dataset.name,
            "",
            before,
            after,
            pair.old.location(None, "extra", key),
            pair.new.location(None, "extra", key),
            key=key,
        )


def _field_changes(pair: VersionPair, old: SchemaField, new: SchemaField) -> Iterator[Change]:
    if new.is_member:
        if not _has_same_parent(pair, old, new):
            yield _change(pair, Fact.FIELD_MOVED, old, new, old.path_text, new.path_text)
        elif old.segment != new.segment:
            yield _change(pair, Fact.FIELD_RENAMED, old, new, old.segment, new.segment)
    if old.is_nullable != new.is_nullable:
        fact = Fact.BECAME_OPTIONAL if new.is_nullable else Fact.BECAME_REQUIRED
        yield _change(pair, fact, old, new, field_type_text(old), field_type_text(new))
    for fact, before, after in type_facts(old.type, new.type):
        yield _change(pair, fact, old, new, before, after)
    if old.extra or new.extra:
        for changed_fact, before, after, key in attribute_facts(old, new):
            yield _change(pair, changed_fact, old, new, before, after, key)
    if old.type.family is new.type.family is Family.STRUCT:
        yield from _order_changes(pair, new, old.children, new.children)


def _has_same_parent(pair: VersionPair, old: SchemaField, new: SchemaField) -> bool:
    if new.parent is None or old.parent is None:
        return new.parent is old.parent
    return pair.before.get(new.parent) is old.parent


def _order_changes(
    pair: VersionPair, parent: SchemaField | None, old: Sequence[SchemaField], new: Sequence[SchemaField]
) -> Iterator[Change]:
    """One fact where members that stayed are in another order."""
    old_index = {field: index for index, field in enumerate(old)}
    stayed = [(old_index[before], field) for field in new if (before := pair.before.get(field)) in old_index]
    indices = [index for index, _ in stayed]
    if indices != sorted(indices):
        yield Change(
            Fact.FIELDS_REORDERED,
            pair.new.dataset.name,
            parent.path_text if parent is not None else "",
            [str(field.segment) for _, field in sorted(stayed, key=lambda s: s[0])],
            [str(field.segment) for _, field in stayed],
            pair.old.location(pair.before[parent] if parent is not None else None),
            pair.new.location(parent),
            pair.before[parent] if parent is not None else None,
            parent,
        )


def _dropped(pair: VersionPair) -> Iterator[Change]:
    for field in preorder(pair.old.dataset.columns):
        is_outermost = field.parent is None or field.parent in pair.after
        if field.is_member and field not in pair.after and is_outermost:
            yield _change(pair, Fact.FIELD_DROPPED, field, None, field_type_text(field), None)


def _change(
    pair: VersionPair,
    fact: AnyFact,
    old: SchemaField | None,
    new: SchemaField | None,
    before: Any,
    after: Any,
    key: str = "",
) -> Change:
    field = new if new is not None else old
    assert field is not None
    return Change(
        fact,
        pair.new.dataset.name,
        field.path_text,
        before,
        after,
        pair.old.location(old) if old is not None else None,
        pair.new.location(new) if new is not None else None,
        old,
        new,
        key,
    )
