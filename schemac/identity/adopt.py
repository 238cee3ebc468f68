"""Versions that stood elsewhere first, taken into a lock with the numbers that they had.

Layer: identity.
Shape: the numbers of some engines are given, those of the others are made here. Fields of a later version are those of the
earlier one by the given numbers, not by their names.
"""

from collections.abc import Mapping
from dataclasses import replace

from schemac.identity.freeze import extra_of, identified, next_version, with_version
from schemac.identity.lock import EngineData, Highest, LockedDataset, Numbers
from schemac.identity.match import Ids
from schemac.identity.opening import LockedVersion, open_version
from schemac.logical.dataset import LogicalDataset
from schemac.logical.slots import Slot, preorder


def adopt(
    dataset: LogicalDataset,
    locked: LockedDataset,
    given: Mapping[Slot, Numbers],
    highest: Highest,
    data: EngineData,
) -> LockedDataset | None:
    """Return the lock with this schema as its next version, whatever the version before was.

    None where an engine would give a field more or fewer numbers than are given: they are not of this schema.
    """
    newest = locked.newest
    before = open_version(locked, newest) if newest is not None else None
    found = identified(dataset, locked, before, _matched(dataset, before, given) if before else {})
    numbers: dict[Slot, Numbers] = {}
    for slot, made in found.numbers.items():
        own = made
        for engine, wanted in given[slot].entries:
            is_new = found.version.highest.get(engine) is None
            if len(wanted) != len(made.of(engine)) and not is_new:
                return None
            own = own.with_value(engine, wanted)
        numbers[slot] = own
    known = found.version.highest
    for engine, most in highest.entries:
        used = (number for own in numbers.values() for number in own.of(engine))
        known = known.with_value(engine, max(most, *used, -1))
    version = next_version(before.version if before is not None else None, known, extra_of(dataset))
    for engine, text in data.entries:
        version = replace(version, data=version.data.with_value(engine, text))
    return with_version(locked, version, replace(found, numbers=numbers))


def _matched(dataset: LogicalDataset, before: LockedVersion, given: Mapping[Slot, Numbers]) -> Ids:
    """Return the ids of the fields that were there before."""
    matched: Ids = {}
    states = before.states.values()
    by_number = {(name, own): state.id for state in states for name, own in state.numbers.entries}
    parts = {(state.shape.parent, state.shape.segment): state.id for state in states}
    for slot in preorder(dataset.columns):
        parent = matched.get(slot.parent) if slot.parent is not None else None
        numbers = given[slot].entries
        id = by_number.get(numbers[0]) if numbers else parts.get((parent, slot.segment))
        if id is not None and (slot.is_member or parent is not None):
            matched[slot] = id
    return matched


def adopt_ids(dataset: LogicalDataset, locked: LockedDataset, ids: Ids, highest: int) -> LockedDataset:
    """Return the lock with this schema as its next version, whose fields have these ids; those without one get new ones.

    `highest` is the highest id that was ever used where the ids come from.
    """
    newest = locked.newest
    before = open_version(locked, newest) if newest is not None else None
    known = {state.id for state in before.states.values()} if before is not None else set()
    matched = {slot: id for slot, id in ids.items() if id in known}
    found = identified(dataset, locked, before, matched, given=ids, above=highest)
    if not found.is_changed:
        return locked
    return with_version(locked, replace(found.version, highest_id=highest), found)
