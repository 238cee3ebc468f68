"""The way from a table's schema to a locked version, change of type by change of type.

Layer: engines.
Shape: one version pair where no field changed its type more than once since the table's version. Otherwise one pair for
each version in which such a field did: `Bool → Int8 → String` makes "1", which `Bool → String` does not.
A change of `clockZone` counts in addition to one of the type, so that each version has the clock that it declares itself.
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
from schemac.logical.schema_fields import SchemaField, preorder


def pair_by_ids(old: LockedSchemaVersion, new: LockedSchemaVersion) -> LockedVersionPair:
    """Two versions of one lock."""
    by_id = {id: field for field, id in old.ids.items()}
    return LockedVersionPair(old, new, {field: by_id[id] for field, id in new.ids.items() if id in by_id})


def stages(pair: LockedVersionPair, start: int | None = None) -> tuple[LockedVersionPair, ...]:
    """Return the pairs that lead from the old version to the new one; the last one ends at the new version itself.

    `start` is the locked version that the old one is; None if it is none, and each field is as some version had it.
    """
    locked = pair.new.locked
    ways = _ways(pair, locked, start)
    stops = sorted({stop for way in ways.values() for stop in _stops(way)} | set(_made(pair)))
    locked = _with_states(locked, ways) if stops else locked
    pairs, old = [], pair.old
    for stop in stops:
        new = locked_schema_version(locked, stop)
        pairs.append(pair_by_ids(old, new))
        old = new
    return (*pairs, pair_by_ids(old, pair.new)) if pairs else (pair,)


def casts_of(field: SchemaField, ways: Sequence[LockedVersionPair]) -> list[tuple[SchemaField, SchemaField]]:
    """Return a field of the last new version before and after each change of its type on the way."""
    last = ways[-1]
    id = last.new.ids.get(field)
    casts = []
    for way in ways:
        after = field if way is last else next((s for s, other in way.new.ids.items() if other == id), None)
        before = way.before.get(after) if after is not None else None
        if after is not None and before is not None and before.type != after.type:
            casts.append((before, after))
    return casts


def is_cast(field: SchemaField, ways: Sequence[LockedVersionPair]) -> bool:
    """Whether a field of the last new version changes its own type on the way; its members may be others without that."""
    casts = casts_of(field, ways)
    types = [tuple(_type(shape_of(one, None, None).type) for one in cast) for cast in casts]
    return any(before != after for before, after in types)


def _made(pair: LockedVersionPair) -> Iterator[int]:
    """Yield the versions in which fields stood that the table does not have, before new structs were made of them.

    Where these have left the struct since, also the version in which it was made.
    """
    for field in preorder(pair.new.dataset.columns):
        if field not in pair.before:
            stop = version_before(field, pair.new)
            if stop is not None and not any(inner in pair.before for inner in preorder([field])):
                yield stop
                there = {state.id for state in pair.new.locked.states_of(stop)}
                if there.isdisjoint(pair.new.ids[child] for child in field.children):
                    yield stop + 1


def _ways(pair: LockedVersionPair, locked: LockedDataset, start: int | None) -> Mapping[int, list[State]]:
    """Return the states that the values of each field go through by its id, from that of the table on."""
    newest = locked.versions[-1].number
    states: dict[int, list[State]] = {}
    for state in sorted(locked.states, key=lambda state: state.first):
        if state.first <= newest:
            states.setdefault(state.id, []).append(state)
    clocks, states_by_id = ClockHistory(locked), {}
    for field, before in pair.before.items():
        id = pair.new.ids[field]
        field_states = states.get(id, [])
        begun = _state_of_table(pair, before, field_states, start)
        if begun is not None:
            states_by_id[id] = clocks.effective_states(before, field_states[field_states.index(begun) :])
    return states_by_id


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


def _with_states(locked: LockedDataset, ways: Mapping[int, list[State]]) -> LockedDataset:
    """Return the lock with the states of these ways in place of its own."""
    changed_states = {(state.id, state.first): state for way in ways.values() for state in way}
    return replace(locked, states=tuple(changed_states.get((s.id, s.first), s) for s in locked.states))


def _state_of_table(
    pair: LockedVersionPair, before: SchemaField, states: list[State], start: int | None
) -> State | None:
    """Which state of a field the table has: that of its version, else the one of its numbers, else the last one of this type; of several, one of its clock."""
    numbers = lance_ids(pair.old.numbers[before])
    shape = shape_of(before, None, None)
    alike = [state for state in states if _type(state.shape.type) == _type(shape.type)]
    then = [state for state in alike if start is not None and state.is_in(start)]
    numbered = [state for state in alike if numbers and lance_ids(state.numbers) == numbers]
    matches = then or numbered or alike
    clock = clock_in(shape)
    matches = [state for state in matches if clock_in(state.shape) == clock] or matches
    return matches[-1] if matches else None


def _type(text: str) -> str:
    return text.removesuffix("?")
