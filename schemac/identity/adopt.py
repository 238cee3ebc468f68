"""Versions that were elsewhere first, taken into a lock with the numbers that they had.

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
from schemac.logical.schema_fields import SchemaField, preorder


def adopt(
    dataset: LogicalDataset,
    locked: LockedDataset,
    existing_ids: Mapping[SchemaField, Numbers],
    highest: Highest,
    data: EngineData,
) -> LockedDataset | None:
    """Return the lock with this schema as its next version, whatever the version before was.

    None if an engine would give a field more or fewer numbers than are given: they are not of this schema.
    """
    newest = locked.newest
    before = open_version(locked, newest) if newest is not None else None
    identities = identified(
        dataset, locked, before, _matched(dataset, before, existing_ids) if before else {}
    )
    numbers: dict[SchemaField, Numbers] = {}
    for field, made in identities.numbers.items():
        field_numbers = made
        for engine, engine_numbers in existing_ids[field].entries:
            is_new = identities.version.highest.get(engine) is None
            if len(engine_numbers) != len(made.of(engine)) and not is_new:
                return None
            field_numbers = field_numbers.with_value(engine, engine_numbers)
        numbers[field] = field_numbers
    known = identities.version.highest
    for engine, most in highest.entries:
        used = (number for field_numbers in numbers.values() for number in field_numbers.of(engine))
        known = known.with_value(engine, max(most, *used, -1))
    version = next_version(before.version if before is not None else None, known, extra_of(dataset))
    for engine, text in data.entries:
        version = replace(version, data=version.data.with_value(engine, text))
    return with_version(locked, version, replace(identities, numbers=numbers))


def _matched(
    dataset: LogicalDataset, before: LockedVersion, existing_ids: Mapping[SchemaField, Numbers]
) -> Ids:
    """Return the ids of the fields that were there before."""
    matched: Ids = {}
    states = before.states.values()
    by_number = {
        (name, field_numbers): state.id for state in states for name, field_numbers in state.numbers.entries
    }
    parts = {(state.shape.parent, state.shape.segment): state.id for state in states}
    for field in preorder(dataset.columns):
        parent = matched.get(field.parent) if field.parent is not None else None
        numbers = existing_ids[field].entries
        id = by_number.get(numbers[0]) if numbers else parts.get((parent, field.segment))
        if id is not None and (field.is_member or parent is not None):
            matched[field] = id
    return matched


def adopt_ids(dataset: LogicalDataset, locked: LockedDataset, ids: Ids, highest: int) -> LockedDataset:
    """Return the lock with this schema as its next version, whose fields have these ids; those without one get new ones.

    `highest` is the highest id that was ever used where the ids come from.
    """
    newest = locked.newest
    before = open_version(locked, newest) if newest is not None else None
    known = {state.id for state in before.states.values()} if before is not None else set()
    matched = {field: id for field, id in ids.items() if id in known}
    identities = identified(dataset, locked, before, matched, assigned_ids=ids, above=highest)
    if not identities.is_changed:
        return locked
    return with_version(locked, replace(identities.version, highest_id=highest), identities)
