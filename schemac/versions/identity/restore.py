"""Gives a field the id, and so the history, that it had before it was dropped or renamed.

Layer: versions.
Shape: the field is put back into the version before, as it was when it was last there, with all inside it; the new schema is
then matched against that. So a table that still has the field's data keeps them.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.findings import Findings
from schemac.language.logical.model import dotted
from schemac.language.logical.schema_fields import preorder
from schemac.versions.identity.freeze import Identified, former_places, identified, identify, lost
from schemac.versions.identity.lock import LockedDataset, State, paths_of
from schemac.versions.identity.match import Matcher
from schemac.versions.identity.opening import open_version


class RestoreError(Exception):
    """Why an id cannot be given to a field."""


def restored(
    dataset: LogicalDataset,
    locked: LockedDataset,
    requested_ids: Mapping[str, int],
    findings: Findings | None = None,
) -> Identified:
    """Return the ids of a dataset's fields, with the requested ids for these paths; raises RestoreError."""
    newest = locked.newest
    if newest is None:
        raise RestoreError(f"{dataset.name} was never locked, so there is no id to restore")
    opened = open_version(locked, newest)
    present = {state.id: state for state in opened.states.values()}
    newest_ids = frozenset(present)
    holders = {id: field.path_text for field, id in identify(dataset, locked).ids.items() if id in present}
    for path_text, id in requested_ids.items():
        if holders.get(id, path_text) != path_text:
            raise RestoreError(f"{path_text} cannot have the id {id}, because {holders[id]} has it")
    requested_ids = _with_parents(dataset, locked, present, requested_ids)
    for path_text, id in requested_ids.items():
        present = _put_back(locked, present, path_text, id)
    # A version as there was none: the newest, and what is given back.
    states = tuple(replace(state, first=newest.number, last=None) for state in present.values())
    before = open_version(LockedDataset(locked.name, locked.versions, states), opened.version)
    path_texts = {id: dotted(path) for id, path in paths_of(states).items()}
    renamed = {path_text: path_texts[id] for path_text, id in requested_ids.items()}
    former, dropped = partial(former_places, locked), partial(lost, locked)
    ids = Matcher(states, dataset.columns, renamed, former, dropped).match(findings)
    by_path = {field.path_text: id for field, id in ids.items()}
    for path_text, id in requested_ids.items():
        if by_path.get(path_text) != id:
            raise RestoreError(f"{path_text} cannot get the id {id}, because it already has another id")
    return identified(dataset, locked, before, ids, frozenset(ids.values()) - newest_ids)


def _with_parents(
    dataset: LogicalDataset,
    locked: LockedDataset,
    present: Mapping[int, State],
    requested_ids: Mapping[str, int],
) -> dict[str, int]:
    """Return the requested ids, parents first, with those of the fields around each that were dropped with it."""
    fields = {field.path_text: field for field in preorder(dataset.columns)}
    with_parents: dict[str, int] = {}
    for path_text, id in requested_ids.items():
        way = {path_text: id}
        field, parent = fields[path_text].parent, _last(locked, id)[id].shape.parent
        while field is not None and parent is not None and parent not in present:
            if field.is_member:
                way[field.path_text] = parent
            field, parent = field.parent, _last(locked, parent)[parent].shape.parent
        with_parents |= dict(reversed(way.items()))
    return with_parents


def _last(locked: LockedDataset, id: int) -> dict[int, State]:
    """Return the version that a field was last in."""
    last = max(
        (
            len(locked.versions) if state.last is None else state.last
            for state in locked.states
            if state.id == id
        ),
        default=0,
    )
    if not last:
        known = ", ".join(f"{name}={number}" for number, name in sorted(lost(locked).items()))
        raise RestoreError(
            f"no field of {locked.name} ever had the id {id}"
            + (f"; the ids of dropped fields are {known}" if known else "; no field was ever dropped")
        )
    version = locked.version(last)
    assert version is not None
    return {state.id: state for state in open_version(locked, version).states.values()}


def _put_back(
    locked: LockedDataset, present: Mapping[int, State], path_text: str, id: int
) -> dict[int, State]:
    """Return the states of a version with those of a field that was dropped, and of what was in it."""
    if id in present:
        return dict(present)
    then = _last(locked, id)
    parent = then[id].shape.parent
    if parent is not None and parent not in present:
        path = dotted(paths_of(then.values())[parent])
        raise RestoreError(
            f"the field that had the id {id} was in {path}, which was dropped, and {path_text} is elsewhere;"
            f" restore {path}={parent} first, with everything inside it"
        )
    inside = {id}
    for state in _downwards(then):
        if state.shape.parent in inside:
            inside.add(state.id)
    shape = then[id].shape
    names = {state.shape.segment for state in present.values() if state.shape.parent == shape.parent}
    while shape.segment in names:
        # Another field has its name by now; under which name it comes back is no matter, for it is told by its path.
        shape = replace(shape, segment=f"{shape.segment}'")
    back = {one: state for one, state in then.items() if one in inside and one not in present}
    return {**present, **back, id: replace(then[id], shape=shape)}


def _downwards(states: Mapping[int, State]) -> list[State]:
    """Return the states, parents first."""
    paths = paths_of(states.values())
    return sorted(states.values(), key=lambda state: len(paths[state.id]))
