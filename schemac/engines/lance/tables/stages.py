"""The way from a table's schema to a locked version, change of type by change of type.

Layer: engines.
Shape: one version pair where no field changed its type more than once since the table's version. Otherwise one pair for
each version in which such a field did: `Bool → Int8 → String` makes "1", which `Bool → String` does not.
A change of `clockZone` counts beside one of the type, so that each version means the clock that it says itself.
Likewise a struct is made of fields that came after the table's version.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from schemac.engines.lance.judge import version_before
from schemac.engines.lance.nodes import lance_ids
from schemac.engines.lance.tables.undeclared_clocks import ClockHistory, clock_in
from schemac.evolution.version_pair import LockedSchemaVersion, LockedVersionPair, locked_schema_version
from schemac.identity.lock import LockedDataset, State
from schemac.identity.shapes import shape_of
from schemac.logical.slots import Slot, preorder


def pair_by_ids(old: LockedSchemaVersion, new: LockedSchemaVersion) -> LockedVersionPair:
    """Two versions of one lock."""
    by_id = {id: slot for slot, id in old.ids.items()}
    return LockedVersionPair(old, new, {slot: by_id[id] for slot, id in new.ids.items() if id in by_id})


def stages(pair: LockedVersionPair, start: int | None = None) -> tuple[LockedVersionPair, ...]:
    """Return the pairs that lead from the old version to the new one; the last one ends at the new version itself.

    `start` is the locked version that the old one is; None where it is none, and each field is as some version had it.
    """
    locked = pair.new.locked
    ways = _ways(pair, locked, start)
    stops = sorted({stop for way in ways.values() for stop in _stops(way)} | set(_made(pair)))
    locked = _settled(locked, ways) if stops else locked
    found, old = [], pair.old
    for stop in stops:
        new = locked_schema_version(locked, stop)
        found.append(pair_by_ids(old, new))
        old = new
    return (*found, pair_by_ids(old, pair.new)) if found else (pair,)


def casts_of(slot: Slot, ways: Sequence[LockedVersionPair]) -> list[tuple[Slot, Slot]]:
    """Return a field of the last new version before and after each change of its type on the way."""
    last = ways[-1]
    id = last.new.ids.get(slot)
    found = []
    for way in ways:
        after = slot if way is last else next((s for s, other in way.new.ids.items() if other == id), None)
        before = way.before.get(after) if after is not None else None
        if after is not None and before is not None and before.type != after.type:
            found.append((before, after))
    return found


def is_cast(slot: Slot, ways: Sequence[LockedVersionPair]) -> bool:
    """Whether a field of the last new version changes its own type on the way; its members may be others without that."""
    casts = casts_of(slot, ways)
    own = [tuple(_type(shape_of(one, None, None).type) for one in cast) for cast in casts]
    return any(before != after for before, after in own)


def _made(pair: LockedVersionPair) -> Iterator[int]:
    """Yield the versions in which fields stood that the table does not have, before new structs were made of them.

    Where these have left the struct since, also the version in which it was made.
    """
    for slot in preorder(pair.new.dataset.columns):
        if slot not in pair.before:
            stop = version_before(slot, pair.new)
            if stop is not None and not any(inner in pair.before for inner in preorder([slot])):
                yield stop
                there = {state.id for state in pair.new.locked.states_of(stop)}
                if there.isdisjoint(pair.new.ids[child] for child in slot.children):
                    yield stop + 1


def _ways(pair: LockedVersionPair, locked: LockedDataset, start: int | None) -> Mapping[int, list[State]]:
    """Return the states that the values of each field go through by its id, from that of the table on."""
    newest = locked.versions[-1].number
    states: dict[int, list[State]] = {}
    for state in sorted(locked.states, key=lambda state: state.first):
        if state.first <= newest:
            states.setdefault(state.id, []).append(state)
    clocks, found = ClockHistory(locked), {}
    for slot, before in pair.before.items():
        id = pair.new.ids[slot]
        own = states.get(id, [])
        begun = _state_of_table(pair, before, own, start)
        if begun is not None:
            found[id] = clocks.settled(before, own[own.index(begun) :])
    return found


def _stops(way: Sequence[State]) -> Iterator[int]:
    """Yield the versions in which a field got a type that is neither its old nor its new one's neighbour, or another clock."""
    changed, is_cast = [], False
    for before, state in pairwise(way):
        is_other = _type(before.shape.type) != _type(state.shape.type)
        is_cast = is_cast or is_other
        if is_other or clock_in(before.shape) != clock_in(state.shape):
            changed.append(state.first)
    if is_cast:
        yield from changed[:-1]


def _settled(locked: LockedDataset, ways: Mapping[int, list[State]]) -> LockedDataset:
    """Return the lock with the states of these ways in the place of its own."""
    settled = {(state.id, state.first): state for way in ways.values() for state in way}
    return replace(locked, states=tuple(settled.get((s.id, s.first), s) for s in locked.states))


def _state_of_table(
    pair: LockedVersionPair, before: Slot, states: list[State], start: int | None
) -> State | None:
    """Which state of a field the table has: that of its version, else the one of its numbers, else the last one of this type; of several, one of its clock."""
    numbers = lance_ids(pair.old.numbers[before])
    shape = shape_of(before, None, None)
    alike = [state for state in states if _type(state.shape.type) == _type(shape.type)]
    then = [state for state in alike if start is not None and state.is_in(start)]
    numbered = [state for state in alike if numbers and lance_ids(state.numbers) == numbers]
    found = then or numbered or alike
    clock = clock_in(shape)
    found = [state for state in found if clock_in(state.shape) == clock] or found
    return found[-1] if found else None


def _type(text: str) -> str:
    return text.removesuffix("?")
