"""Which fields of the lock the fields of a Lance table are.

Layer: engines.
Shape: by Lance's ids, which the lock remembers for ever; else by what a run has noted in the table; else by their places
in one of the versions.
"""

import json
from collections.abc import Mapping
from typing import Any

from schemac.engines.lance.nodes import lance_ids
from schemac.engines.lance.tables.steps import MARK
from schemac.engines.lance.view import words, words_of
from schemac.evolution.version_pair import LockedSchemaVersion
from schemac.identity.lock import LockedDataset, Numbers, State
from schemac.identity.match import Ids
from schemac.identity.opening import open_version
from schemac.logical.dataset import LogicalDataset
from schemac.logical.path import Segment, dotted
from schemac.logical.slots import Slot, preorder

IDS_KEY = "schemac.ids"
"""Key under which the ids of fields stand while a table is between two commits of a run, and is no locked version."""


def ids_by_number(
    logical: LogicalDataset, numbers: Mapping[Slot, Numbers], locked: LockedDataset
) -> tuple[Ids, list[str]]:
    """Return the lock's ids of the fields that have numbers of the lock, and the fields that have others.

    A number alone may be a coincidence: the field has to be of the type that the number stands for, and to be called
    as that field was in some version.
    """
    known = _known(locked)
    words = words_of(logical)
    parts: dict[tuple[int, object], State] = {
        (state.shape.parent, state.shape.segment): state
        for state in locked.states
        if state.shape.parent is not None and not lance_ids(state.numbers)
    }
    ids: Ids = {}
    unknown: list[str] = []
    for slot in preorder(logical.columns):
        lance = lance_ids(numbers[slot])
        if not lance:
            state = parts.get((ids[slot.parent], slot.segment)) if slot.parent in ids else None
            id = state.id if state is not None else None
        else:
            is_marked = slot.is_member and str(slot.segment).startswith(MARK)
            id = known.get((lance, words[slot], None if is_marked else slot.segment))
            if id is None:
                unknown.append(slot.path_text)
        if id is not None:
            ids[slot] = id
    return ids, unknown


def _known(locked: LockedDataset) -> dict[tuple[tuple[int, ...], tuple[str, ...], Segment | None], int]:
    """Return the id of every field by its numbers with the types that they stand for, and each name that it had; None for any."""
    names: dict[int, set[Segment]] = {}
    for state in locked.states:
        names.setdefault(state.id, set()).add(state.shape.segment)
    known: dict[tuple[tuple[int, ...], tuple[str, ...], Segment | None], int] = {}
    for version in locked.versions:
        opened = open_version(locked, version)
        words = words_of(opened.logical)
        for slot, state in opened.states.items():
            for name in names[state.id]:
                known[lance_ids(state.numbers), words[slot], name] = state.id
            known[lance_ids(state.numbers), words[slot], None] = state.id
    return known


def ids_by_place(logical: LogicalDataset, locked: LockedDataset) -> Ids | None:
    """Return the ids of the newest version that has exactly these fields."""
    words = words_of(logical)
    here = [(slot.path, words[slot]) for slot in preorder(logical.columns)]
    for version in reversed(locked.versions):
        opened = open_version(locked, version)
        theirs = words_of(opened.logical)
        there = [(slot.path, theirs[slot]) for slot in preorder(opened.logical.columns)]
        if here == there:
            states = [opened.states[slot] for slot in preorder(opened.logical.columns)]
            return {slot: state.id for slot, state in zip(preorder(logical.columns), states, strict=True)}
    return None


def ids_as_noted(logical: LogicalDataset, dataset: Any) -> Ids | None:
    """Return the ids that a run noted in the table's configuration, where these are the fields that it noted."""
    noted: dict[str, list[Any]] = json.loads(dataset.config().get(IDS_KEY) or "{}")
    words = words_of(logical)
    slots = preorder(logical.columns)
    if not noted or {slot.path_text: list(words[slot]) for slot in slots} != {
        path: words for path, (_, words) in noted.items()
    }:
        return None
    return {slot: noted[slot.path_text][0] for slot in slots}


def note_ids(version: LockedSchemaVersion, names: Mapping[int, str], numbers: Mapping[Slot, Numbers]) -> str:
    """Return the lock's ids of fields and their types, to be noted in a table in which they have these names for a while."""
    found = {}
    for slot, id in version.ids.items():
        path = tuple(_name_now(inner, names, numbers) for inner in _chain(slot))
        found[dotted(path)] = [id, list(words(version)[slot])]
    return json.dumps(found)


def _name_now(slot: Slot, names: Mapping[int, str], numbers: Mapping[Slot, Numbers]) -> Segment:
    return names[lance_ids(numbers[slot])[0]] if slot.is_member and lance_ids(numbers[slot]) else slot.segment


def _chain(slot: Slot) -> list[Slot]:
    return [*(_chain(slot.parent) if slot.parent is not None else ()), slot]
