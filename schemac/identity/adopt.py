"""Versions that stood elsewhere first, taken into a lock with the numbers that they had.

Layer: identity.
Shape: the numbers of one engine are given, those of the other are made here. Fields of a later version are those of the
earlier one by the given numbers, not by their names.
"""

from collections.abc import Mapping
from dataclasses import replace

from schemac.identity.freeze import (
    WordsOf,
    extra_of,
    identified,
    next_version,
    open_version,
    with_version,
)
from schemac.identity.lock import LockedDataset, Numbers, Version
from schemac.identity.match import Ids
from schemac.identity.numbering import Highest
from schemac.logical.dataset import LogicalDataset
from schemac.logical.slots import Slot, preorder


def adopt(
    dataset: LogicalDataset,
    locked: LockedDataset,
    given: Mapping[Slot, Numbers],
    highest: Highest,
    words_of: WordsOf,
    *,
    schema_id: int | None = None,
    time_millis: int = 0,
) -> LockedDataset:
    """The lock with this schema as its next version, whatever the version before was."""
    newest = locked.newest
    before = open_version(locked, newest) if newest is not None else None
    matched: Ids = {}
    if before is not None:
        by_number = {state.numbers.paimon: state.id for state in before.states.values()}
        parts = {(s.shape.parent, s.shape.segment): s.id for s in before.states.values()}
        for slot in preorder(dataset.columns):
            paimon = given[slot].paimon
            parent = matched.get(slot.parent) if slot.parent is not None else None
            id = by_number.get(paimon) if paimon is not None else parts.get((parent, slot.segment))
            if id is not None and (slot.is_member or parent is not None):
                matched[slot] = id
    found = identified(dataset, locked, before, matched, words_of)
    numbers = {
        slot: Numbers(
            given[slot].lance or made.lance,
            given[slot].paimon if given[slot].paimon is not None else made.paimon,
        )
        for slot, made in found.numbers.items()
    }
    found = replace(found, numbers=numbers)
    version = Version(
        newest.number + 1 if newest else 1,
        schema_id if schema_id is not None else newest.schema_id + 1 if newest else 0,
        max(found.highest.lance, highest.lance),
        max(found.highest.paimon, highest.paimon) if highest.paimon < 0 else highest.paimon,
        time_millis,
        extra_of(dataset),
    )
    return with_version(locked, version, found)


def adopt_ids(
    dataset: LogicalDataset, locked: LockedDataset, ids: Ids, highest: int, words_of: WordsOf
) -> LockedDataset:
    """The lock with this schema as its next version, whose fields have these ids; those without one get new ones.

    `highest` is the highest id that was ever used where the ids come from.
    """
    newest = locked.newest
    before = open_version(locked, newest) if newest is not None else None
    known = {state.id for state in before.states.values()} if before is not None else set()
    matched = {slot: id for slot, id in ids.items() if id in known}
    found = identified(dataset, locked, before, matched, words_of, given=ids, above=highest)
    if not found.is_changed:
        return locked
    version = replace(next_version(locked, found), extra=extra_of(dataset), highest_id=highest)
    return with_version(locked, version, found)
