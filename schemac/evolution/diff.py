"""What changed between two versions of a schema.

Layer: evolution. Facts only; `judge` says what they mean.
Shape: changes in the order of the new schema, dropped fields where they stood, the schema's own changes first. Of a
field that came or went as a whole, what is inside it is not told again.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from schemac.evolution.changes import Change, Fact
from schemac.evolution.side import Pair, Side, pair
from schemac.evolution.types import type_facts
from schemac.evolution.words import attribute_facts, schema_facts
from schemac.logical.slots import Slot, preorder


def diff(old: Side, new: Side) -> tuple[Change, ...]:
    """All changes from one side to the other."""
    return diff_of(pair(old, new))


def diff_of(sides: Pair) -> tuple[Change, ...]:
    """All changes between two matched sides."""
    changes = list(_schema_changes(sides))
    changes += _order_changes(sides, None, sides.old.dataset.columns, sides.new.dataset.columns)
    for slot in preorder(sides.new.dataset.columns):
        before = sides.before.get(slot)
        if before is not None:
            changes += _slot_changes(sides, before, slot)
        elif slot.is_member and (slot.parent is None or slot.parent in sides.before):
            changes.append(_change(sides, Fact.FIELD_ADDED, None, slot, None, slot_title(slot)))
    changes += _dropped(sides)
    return tuple(changes)


def slot_title(slot: Slot) -> str:
    """Return a slot's type for people; `?` stands for Option."""
    return f"{slot.type.title()}{'?' if slot.is_nullable else ''}"


def _schema_changes(sides: Pair) -> Iterator[Change]:
    old, new = sides.old.dataset.schema.extra, sides.new.dataset.schema.extra
    for fact, before, after, key in schema_facts(old, new):
        yield Change(
            fact,
            sides.new.dataset.name,
            "",
            before,
            after,
            sides.old.place(None, "extra", key),
            sides.new.place(None, "extra", key),
            key=key,
        )


def _slot_changes(sides: Pair, old: Slot, new: Slot) -> Iterator[Change]:
    if new.is_member:
        if not _is_at_the_same_place(sides, old, new):
            yield _change(sides, Fact.FIELD_MOVED, old, new, old.title, new.title)
        elif old.segment != new.segment:
            yield _change(sides, Fact.FIELD_RENAMED, old, new, old.segment, new.segment)
    if old.is_nullable != new.is_nullable:
        fact = Fact.BECAME_OPTIONAL if new.is_nullable else Fact.BECAME_REQUIRED
        yield _change(sides, fact, old, new, slot_title(old), slot_title(new))
    for fact, before, after in type_facts(old.type, new.type):
        yield _change(sides, fact, old, new, before, after)
    if old.extra or new.extra:
        for fact, before, after, key in attribute_facts(old, new):
            yield _change(sides, fact, old, new, before, after, key)
    if old.type.kind == new.type.kind == "Struct":
        yield from _order_changes(sides, new, old.children, new.children)


def _is_at_the_same_place(sides: Pair, old: Slot, new: Slot) -> bool:
    if new.parent is None or old.parent is None:
        return new.parent is old.parent
    return sides.before.get(new.parent) is old.parent


def _order_changes(
    sides: Pair, parent: Slot | None, old: Sequence[Slot], new: Sequence[Slot]
) -> Iterator[Change]:
    """One fact where members that stayed stand in another order."""
    place = {slot: index for index, slot in enumerate(old)}
    stayed = [(place[before], slot) for slot in new if (before := sides.before.get(slot)) in place]
    indices = [index for index, _ in stayed]
    if indices != sorted(indices):
        yield Change(
            Fact.FIELDS_REORDERED,
            sides.new.dataset.name,
            parent.title if parent is not None else "",
            [str(slot.segment) for _, slot in sorted(stayed, key=lambda s: s[0])],
            [str(slot.segment) for _, slot in stayed],
            sides.old.place(sides.before[parent] if parent is not None else None),
            sides.new.place(parent),
            sides.before[parent] if parent is not None else None,
            parent,
        )


def _dropped(sides: Pair) -> Iterator[Change]:
    for slot in preorder(sides.old.dataset.columns):
        is_outermost = slot.parent is None or slot.parent in sides.after
        if slot.is_member and slot not in sides.after and is_outermost:
            yield _change(sides, Fact.FIELD_DROPPED, slot, None, slot_title(slot), None)


def _change(
    sides: Pair, fact: Fact, old: Slot | None, new: Slot | None, before: Any, after: Any, key: str = ""
) -> Change:
    slot = new if new is not None else old
    assert slot is not None
    return Change(
        fact,
        sides.new.dataset.name,
        slot.title,
        before,
        after,
        sides.old.place(old) if old is not None else None,
        sides.new.place(new) if new is not None else None,
        old,
        new,
        key,
    )
