"""Fields get their ids, and a schema becomes the next version of a lock.

Layer: identity.
Shape: what did not change keeps its line; what changed gets a new one, and its old one ends with the version before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

from schemac.arrow.lower_metadata import compact
from schemac.identity.lock import LockedDataset, Numbers, Shape, State, Version, order_of
from schemac.identity.lockfile import digest_of
from schemac.identity.match import Ids, Matcher
from schemac.identity.numbering import Highest, Old, Words, number
from schemac.identity.positions import positions
from schemac.identity.shapes import schema_of, shape_of
from schemac.logical.dataset import LogicalDataset
from schemac.logical.findings import Findings
from schemac.logical.origins import Origins
from schemac.logical.path import Segment
from schemac.logical.slots import Slot, columns, preorder

WordsOf = Callable[[LogicalDataset], Words]
"""Lance's words for the fields of a dataset; a cast shows in them."""


@dataclass(frozen=True)
class LockedVersion:
    """One version as it was: its schema, and the state behind every slot."""

    version: Version
    logical: LogicalDataset
    states: Mapping[Slot, State]


@dataclass(frozen=True)
class Identified:
    """The fields of a schema with their ids and numbers."""

    ids: Ids
    numbers: Mapping[Slot, Numbers]
    shapes: Mapping[Slot, Shape]
    highest: Highest
    is_changed: bool
    """Whether the schema differs from the newest locked version, or there is none."""


def open_version(dataset: LockedDataset, version: Version) -> LockedVersion:
    """Rebuild a version."""
    schema = schema_of(dataset, version)
    logical = LogicalDataset(
        dataset.name, schema, columns(schema), Origins(f"version {version.number} of {dataset.name}")
    )
    states = _preorder(dataset.states_of(version.number))
    return LockedVersion(version, logical, dict(zip(preorder(logical.columns), states, strict=True)))


def identify(
    dataset: LogicalDataset,
    locked: LockedDataset,
    words_of: WordsOf,
    findings: Findings | None = None,
    renamed: Mapping[str, str] | None = None,
) -> Identified:
    """The ids and numbers of a dataset's fields; `renamed` gives old titles by new ones."""
    newest = locked.newest
    if newest is None:
        return identified(dataset, locked, None, {}, words_of)
    before = open_version(locked, newest)
    former = partial(former_places, locked)
    ids = Matcher(before.states.values(), dataset.columns, renamed, former).match(findings)
    return identified(dataset, locked, before, ids, words_of)


def former_places(locked: LockedDataset) -> dict[tuple[int | None, Segment], int]:
    """The fields by the places that they had in earlier versions, and have no more; the last one to be there counts."""
    past = [
        state for state in locked.states if state.last is not None and isinstance(state.shape.segment, str)
    ]
    present = {
        state.id: (state.shape.parent, state.shape.segment) for state in locked.states if state.last is None
    }
    past.sort(key=lambda state: (state.last or 0, state.id))
    places = {(state.shape.parent, state.shape.segment): state.id for state in past}
    return {place: id for place, id in places.items() if present.get(id) != place}


def freeze(dataset: LogicalDataset, locked: LockedDataset, identified: Identified) -> LockedDataset:
    """The lock with this schema as its newest version; the same lock where nothing changed."""
    if not identified.is_changed:
        return locked
    version = replace(next_version(locked, identified), extra=extra_of(dataset))
    return with_version(locked, version, identified)


def next_version(locked: LockedDataset, identified: Identified) -> Version:
    """The version that comes after the newest one."""
    newest = locked.newest
    return Version(
        newest.number + 1 if newest else 1,
        newest.schema_id + 1 if newest else 0,
        identified.highest.lance,
        identified.highest.paimon,
    )


def with_version(locked: LockedDataset, version: Version, identified: Identified) -> LockedDataset:
    """The lock with one more version of these fields."""
    fields = {id: (identified.shapes[slot], identified.numbers[slot]) for slot, id in identified.ids.items()}
    return advance(locked, version, fields)


def advance(
    locked: LockedDataset, version: Version, fields: Mapping[int, tuple[Shape, Numbers]]
) -> LockedDataset:
    """The lock with one more version, of exactly these fields; its digest is made here."""
    lasting = {state.id: state for state in locked.states if state.last is None}
    states = [state for state in locked.states if state.last is not None]
    for id, (shape, numbers) in fields.items():
        before = lasting.pop(id, None)
        if before is not None and (before.shape, before.numbers) == (shape, numbers):
            states.append(before)
            continue
        if before is not None:
            states.append(replace(before, last=version.number - 1))
        states.append(State(id, version.number, None, shape, numbers))
    states += [replace(state, last=version.number - 1) for state in lasting.values()]
    states.sort(key=lambda state: (state.id, state.first))
    present = [state for state in states if state.last is None]
    version = replace(version, digest=digest_of(version, present))
    return LockedDataset(locked.name, (*locked.versions, version), tuple(states))


def identified(
    dataset: LogicalDataset,
    locked: LockedDataset,
    before: LockedVersion | None,
    matched: Ids,
    words_of: WordsOf,
    back: frozenset[int] = frozenset(),
    given: Ids | None = None,
    above: int = 0,
) -> Identified:
    """The fields of a dataset, given which of them stood in the version before, and under what ids.

    `back` are ids of fields that were dropped in between: Lance gives no number of a dropped field to another column, so
    they get new ones, and a column that is still there is written anew. Paimon reads by its ids whatever was between.
    `given` are ids that fields are to have which did not stand there; the others get ids above `above`.
    """
    slots = preorder(dataset.columns)
    states = {state.id: state for state in before.states.values()} if before is not None else {}
    settled = {**(given or {}), **matched}
    ids = _all_ids(slots, settled, max(locked.highest_id, above, *settled.values(), 0))
    shapes = _shapes(dataset.columns, ids, states)
    if before is not None:
        same = len(states) == len(ids) and all(
            id in states and states[id].shape == shapes[slot] for slot, id in ids.items()
        )
        version = before.version
        highest = Highest(version.highest_lance, version.highest_paimon)
        if same and not back and version.extra == extra_of(dataset):
            numbers = {slot: states[id].numbers for slot, id in ids.items()}
            return Identified(ids, numbers, shapes, highest, is_changed=False)
        old = _old(before, matched, words_of, back)
    else:
        highest, old = Highest(), {}
    made, highest = number(dataset.columns, words_of(dataset), old, highest)
    return Identified(ids, made, shapes, highest, is_changed=True)


def _all_ids(slots: Sequence[Slot], matched: Ids, highest: int) -> Ids:
    ids: Ids = {}
    for slot in slots:
        id = matched.get(slot)
        if id is None:
            highest += 1
            id = highest
        ids[slot] = id
    return ids


def _old(before: LockedVersion, matched: Ids, words_of: WordsOf, back: frozenset[int]) -> dict[Slot, Old]:
    slots = {state.id: slot for slot, state in before.states.items()}
    words = words_of(before.logical)
    return {
        slot: Old(slots[id], () if id in back else words[slots[id]], before.states[slots[id]].numbers)
        for slot, id in matched.items()
    }


def _shapes(columns: Sequence[Slot], ids: Ids, states: Mapping[int, State]) -> dict[Slot, Shape]:
    shapes: dict[Slot, Shape] = {}

    def siblings(slots: Sequence[Slot], parent: int | None) -> None:
        known: list[Decimal | None] = []
        for slot in slots:
            state = states.get(ids[slot])
            is_here = state is not None and state.shape.parent == parent
            known.append(state.shape.position if state is not None and is_here else None)
        placed: Sequence[Decimal | None] = positions(known) if slots and slots[0].is_member else known
        for slot, position in zip(slots, placed, strict=True):
            shapes[slot] = shape_of(slot, parent, position if slot.is_member else None)
            if slot.children:
                siblings(slot.children, ids[slot])

    siblings(columns, None)
    return shapes


def _preorder(states: Sequence[State]) -> list[State]:
    children: dict[int | None, list[State]] = {}
    for state in states:
        children.setdefault(state.shape.parent, []).append(state)
    for siblings in children.values():
        siblings.sort(key=order_of, reverse=True)
    found: list[State] = []
    stack = list(children.get(None, ()))
    while stack:
        state = stack.pop()
        found.append(state)
        stack.extend(children.get(state.id, ()))
    return found


def extra_of(dataset: LogicalDataset) -> str:
    """The attributes of a schema as a lock holds them."""
    return compact(dict(dataset.schema.extra)) if dataset.schema.extra else ""
