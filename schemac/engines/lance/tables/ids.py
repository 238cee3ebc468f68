"""Which fields of the lock the fields of a Lance table are.

Layer: engines.
Shape: by what a run has noted in the table between two of its commits; else by the names and types of a locked version; else by
Lance's ids, which the lock remembers for ever.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from schemac.attributes.own import TABLE_IDS, TABLE_VERSION
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.nodes import NAME as LANCE
from schemac.engines.lance.nodes import Node, lance_ids, nodes_by_slot, nodes_of
from schemac.engines.lance.tables.steps import MARK
from schemac.engines.lance.view import words, words_of
from schemac.evolution.table_version import Candidate, TableRecord, lock_ids
from schemac.evolution.version_pair import LockedSchemaVersion, SchemaVersion, locked_schema_version
from schemac.identity.lock import LockedDataset, Numbers, State
from schemac.identity.match import Ids
from schemac.identity.opening import open_version
from schemac.logical.dataset import LogicalDataset
from schemac.logical.path import FieldPath, Segment, dotted
from schemac.logical.slots import Slot, preorder

IDS_KEY = "schemac.ids"
"""Key under which the ids of fields stand while a table is between two commits of a run, and is no locked version."""

_Shape = list[tuple[int, str, str, bool]]
"""For each node the index of the one around it, its name if it has one of its own, its type, and whether it may be null."""


def record_of(path: str, dataset: Any, fields: Sequence[pb.Field], stated: int | None = None) -> TableRecord:
    """Return what a table says of itself, beside its fields in pre-order."""
    metadata: Mapping[bytes, bytes] = dataset.schema.metadata or {}
    config: Mapping[str, str] = dataset.config()
    version, digest = (metadata.get(key.encode()) for key in (TABLE_VERSION, TABLE_IDS))
    ids = tuple([field.id for field in fields])
    return TableRecord(
        path,
        # CREATE TABLE of Spark leaves properties in the configuration.
        config.get(TABLE_VERSION) if version is None else version.decode(errors="replace"),
        ids,
        is_fresh=ids == tuple(range(len(ids))),
        ids_then=digest.decode(errors="replace") if digest is not None else None,
        stated=stated,
    )


def candidates_of(fields: Sequence[pb.Field], locked: LockedDataset, recorded: str | None) -> list[Candidate]:
    """Return the versions that have exactly these fields, given in pre-order, the newest first.

    What may be null counts where some version has that as well, but not against the version that the table says it has:
    anybody can change it, and a run that fills a new column leaves it optional.
    """
    here = _shape_of_fields(fields)
    ids = [field.id for field in fields]
    names = {field.name for field in fields if field.parent_id < 0}
    found: list[Candidate] = []
    for version in reversed(locked.versions):
        states = locked.states_of(version.number)
        if {state.shape.segment for state in states if state.shape.parent is None} != names:
            continue
        candidate = locked_schema_version(locked, version.number)
        if _without_nullability(here) == _without_nullability(candidate.view(_shape)):
            own = numbers_in(candidate, ids)
            has_ids = all(lance_ids(candidate.numbers[slot]) == lance_ids(own[slot]) for slot in own)
            # A field whose type changed and changed back has the same name and type, other values, and other ids of Lance.
            numbers = [lance_ids(candidate.numbers[slot]) for slot in preorder(candidate.dataset.columns)]
            found.append(Candidate(candidate, has_ids, (*lock_ids(candidate), *numbers)))
    exact = [candidate for candidate in found if candidate.version.view(_shape) == here]
    is_exact = all(c in exact for c in found if str(c.version.number) == recorded)
    return exact if exact and is_exact else found


def numbers_in(version: SchemaVersion, ids: Sequence[int]) -> dict[Slot, Numbers]:
    """Return the ids that a table gives to the fields of a version, all of whose nodes it has in the same order."""
    owned = nodes_by_slot(version.lowered, version.view(_nodes))
    return {
        slot: Numbers.make({LANCE: tuple([ids[index] for index in indices])})
        for slot, indices in owned.items()
    }


def _nodes(version: SchemaVersion) -> list[Node]:
    return nodes_of(version.lowered, is_tolerant=True)


def _shape(version: SchemaVersion) -> _Shape:
    nodes = version.view(_nodes)
    return list(_shape_of([(n.parent, n.name, n.logical_type, n.is_nullable) for n in nodes]))


def _shape_of_fields(fields: Sequence[pb.Field]) -> _Shape:
    index = {field.id: number for number, field in enumerate(fields)}
    return list(_shape_of([(index.get(f.parent_id, -1), f.name, f.logical_type, f.nullable) for f in fields]))


def _shape_of(rows: _Shape) -> Iterator[tuple[int, str, str, bool]]:
    """Leave out the names of items, keys and values, which mean nothing."""
    for parent, name, type_, is_nullable in rows:
        is_member = parent < 0 or (
            rows[parent][2] == "struct" and (rows[parent][0] < 0 or rows[rows[parent][0]][2] != "map")
        )
        yield parent, name if is_member else "", type_, is_nullable


def _without_nullability(shape: _Shape) -> list[tuple[int, str, str]]:
    return [(parent, name, type_) for parent, name, type_, _ in shape]


def ids_by_name(logical: LogicalDataset, version: LockedSchemaVersion) -> tuple[Ids, list[str]]:
    """Return the ids of the fields that a version has under the same names and with the same types, and the fields that it does not have."""
    there, here = places(version), words_of(logical)
    ids: Ids = {}
    unknown: list[str] = []
    for slot in preorder(logical.columns):
        found = there.get((slot.path, here[slot]))
        if found is not None:
            ids[slot] = version.ids[found]
        elif here[slot]:
            unknown.append(slot.path_text)
    return ids, unknown


def new_tables_of(
    logical: LogicalDataset, numbers: Mapping[Slot, Numbers], locked: LockedDataset
) -> Iterator[LockedSchemaVersion]:
    """Yield the versions of which a new table had these ids, where some of its fields may be gone; the newest first."""
    here = words_of(logical)
    slots = preorder(logical.columns)
    for version in reversed(locked.versions):
        found = locked_schema_version(locked, version.number)
        there = places(found)
        fresh = nodes_by_slot(found.lowered, found.view(_nodes))
        twins = [(slot, there.get((slot.path, here[slot]))) for slot in slots]
        if all(twin is not None and lance_ids(numbers[slot]) == fresh[twin] for slot, twin in twins):
            yield found


def places(version: SchemaVersion) -> Mapping[tuple[FieldPath, tuple[str, ...]], Slot]:
    """Return the fields of a version by their paths and types."""
    there = words(version)
    return {(slot.path, there[slot]): slot for slot in preorder(version.dataset.columns)}


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


def ids_as_noted(
    logical: LogicalDataset, numbers: Mapping[Slot, Numbers] | None, config: Mapping[str, str]
) -> Ids | None:
    """Return the ids that a run noted in the table's configuration, where these are the fields that it noted.

    Without numbers it is enough that they have the same names and types.
    """
    noted: dict[str, list[Any]] = json.loads(config.get(IDS_KEY) or "{}")
    here, slots = words_of(logical), preorder(logical.columns)
    for slot in slots:
        _, words_then, *numbers_then = noted.get(slot.path_text, (0, None))
        is_same = numbers is None or numbers_then == [list(lance_ids(numbers[slot]))]
        if words_then != list(here[slot]) or not is_same:
            return None
    return {slot: noted[slot.path_text][0] for slot in slots} if len(noted) == len(slots) else None


def note_ids(version: LockedSchemaVersion, names: Mapping[int, str], numbers: Mapping[Slot, Numbers]) -> str:
    """Return the lock's ids of fields, their types and Lance's ids, to be noted in a table in which they have these names for a while."""
    found = {}
    for slot, id in version.ids.items():
        path = tuple(_name_now(inner, names, numbers) for inner in _chain(slot))
        found[dotted(path)] = [id, list(words(version)[slot]), list(lance_ids(numbers[slot]))]
    return json.dumps(found)


def _name_now(slot: Slot, names: Mapping[int, str], numbers: Mapping[Slot, Numbers]) -> Segment:
    return names[lance_ids(numbers[slot])[0]] if slot.is_member and lance_ids(numbers[slot]) else slot.segment


def _chain(slot: Slot) -> list[Slot]:
    return [*(_chain(slot.parent) if slot.parent is not None else ()), slot]
