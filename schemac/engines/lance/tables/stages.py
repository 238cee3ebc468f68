"""The way from a table's schema to a locked version, change of type by change of type.

Layer: engines.
Shape: one pair of sides where no field changed its type more than once since the table's version. Otherwise one pair for
each version in which such a field did: `Bool → Int8 → String` makes "1", which `Bool → String` does not.
Likewise a struct is made of fields that came after the table's version.
"""

from collections.abc import Iterator, Sequence

from schemac.engines.lance.judge import version_before
from schemac.evolution.side import Pair, Side, side_of_version
from schemac.identity.lock import LockedDataset, State
from schemac.identity.shapes import shape_of
from schemac.logical.slots import Slot, preorder


def pair_by_ids(old: Side, new: Side) -> Pair:
    """Two sides of one lock."""
    assert old.ids is not None
    assert new.ids is not None
    by_id = {id: slot for slot, id in old.ids.items()}
    return Pair(old, new, {slot: by_id[id] for slot, id in new.ids.items() if id in by_id})


def stages(sides: Pair) -> tuple[Pair, ...]:
    """The pairs that lead from the old side to the new one; the last one ends at the new side itself."""
    locked = sides.new.locked
    if locked is None or sides.new.ids is None:
        return (sides,)
    stops = sorted(
        {stop for slot in sides.before for stop in _stops(sides, slot, locked)} | set(_made(sides))
    )
    found, old = [], sides.old
    for stop in stops:
        new = side_of_version(locked, stop)
        found.append(pair_by_ids(old, new))
        old = new
    return (*found, pair_by_ids(old, sides.new)) if found else (sides,)


def casts_of(slot: Slot, ways: Sequence[Pair]) -> list[tuple[Slot, Slot]]:
    """A field of the last new side before and after each change of its type on the way."""
    last = ways[-1]
    id = last.new.ids.get(slot) if last.new.ids is not None else None
    found = []
    for way in ways:
        ids = way.new.ids or {}
        after = slot if way is last else next((s for s, other in ids.items() if other == id), None)
        before = way.before.get(after) if after is not None else None
        if after is not None and before is not None and before.type != after.type:
            found.append((before, after))
    return found


def _made(sides: Pair) -> Iterator[int]:
    """The versions in which fields stood that the table does not have, before new structs were made of them."""
    for slot in preorder(sides.new.dataset.columns):
        if slot not in sides.before:
            stop = version_before(slot, sides.new)
            if stop is not None and not any(inner in sides.before for inner in preorder([slot])):
                yield stop


def _stops(sides: Pair, slot: Slot, locked: LockedDataset) -> Iterator[int]:
    """The versions in which a field got a type that is neither its old nor its new one's neighbour."""
    assert sides.new.ids is not None
    newest = locked.versions[-1].number
    id = sides.new.ids[slot]
    states = sorted((s for s in locked.states if s.id == id and s.first <= newest), key=lambda s: s.first)
    start = _state_of_table(sides, sides.before[slot], states)
    if start is None:
        return
    changed = []
    type_ = _type(start.shape.type)
    for state in states[states.index(start) + 1 :]:
        if _type(state.shape.type) != type_:
            changed.append(state.first)
            type_ = _type(state.shape.type)
    yield from changed[:-1]


def _state_of_table(sides: Pair, before: Slot, states: list[State]) -> State | None:
    """Which state of a field the table has: by its numbers, else the last one of this type."""
    numbers = sides.old.numbers[before].lance if sides.old.numbers is not None else ()
    text = _type(shape_of(before, None, None).type)
    alike = [state for state in states if _type(state.shape.type) == text]
    numbered = [state for state in alike if numbers and state.numbers.lance == numbers]
    found = numbered or alike
    return found[-1] if found else None


def _type(text: str) -> str:
    return text.removesuffix("?")
