"""Assigns ids to fields, and freezes a schema as the next version of a lock.

Layer: versions.
Shape: an unchanged field keeps its line; a changed one gets a new line, and its old line ends with the previous version. A version that
      was locked elsewhere is added with the numbers that it had there; the numbers of other engines are assigned here. Its fields are
      matched by these numbers, not by name.
      To give a field the id that it had before it was dropped or renamed, and so its history, the field is put back into the version
      before, as it was when it was last there, with all inside it; the new schema is then matched against that. So a table that still
      has the field's data keeps them.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import count

from schemac.arrow.metadata import compact
from schemac.language.logical.dataset import Findings, LogicalDataset
from schemac.language.logical.model import SchemaField, dotted, preorder
from schemac.versions.identity import lock as locks
from schemac.versions.identity.compilation import Locked
from schemac.versions.identity.lockfile import digest_of
from schemac.versions.identity.match import Ids, Matcher, lost
from schemac.versions.identity.opening import LockedVersion, former_of, open_version, shape_of


def identify(
    dataset: LogicalDataset,
    locked: locks.LockedDataset,
    findings: Findings | None = None,
    renamed: Mapping[str, str] | None = None,
) -> Locked:
    """Return a dataset with the ids and numbers of its fields; `renamed` gives old paths by new ones."""
    newest = locked.newest
    if newest is None:
        return number_fields(dataset, locked, None, {})
    before = open_version(locked, newest)
    ids = Matcher(before.states.values(), dataset.columns, renamed or {}, locked, findings).match()
    return number_fields(dataset, locked, before, ids)


def freeze(locked: Locked) -> locks.LockedDataset:
    """Return the lock with this schema as its newest version; the same lock where nothing changed."""
    if not locked.is_changed:
        return locked.lock
    fields = {id: (locked.shapes[field], locked.numbers[field]) for field, id in locked.ids.items()}
    return advance(locked.lock, locked.version, fields)


def next_version(before: locks.Version | None, highest: locks.Highest, extra: str) -> locks.Version:
    """Return the version that comes after another one, with these highest numbers and attributes; its digest is not made yet."""
    data = before.data if before is not None else locks.EngineData()
    for engine, numbering in locks.numberings().items():
        if numbering.is_existing_only and highest.get(engine) is None:
            continue
        remembered = numbering.next_data(data.of(engine))
        if remembered:
            data = data.with_value(engine, compact(dict(remembered)))
    number = before.number + 1 if before is not None else 1
    return locks.Version(number, highest, data, extra, carried=locks.not_installed(highest))


def advance(
    locked: locks.LockedDataset,
    version: locks.Version,
    fields: Mapping[int, tuple[locks.FieldShape, locks.Numbers]],
) -> locks.LockedDataset:
    """Return the lock with one more version, of exactly these fields; its digest is made here."""
    lasting = {state.id: state for state in locked.states if state.last is None}
    states = [state for state in locked.states if state.last is not None]
    for id, (shape, numbers) in fields.items():
        before = lasting.pop(id, None)
        if before is not None and (before.shape, before.numbers) == (shape, numbers):
            states.append(before)
            continue
        if before is not None:
            states.append(before._replace(last=version.number - 1))
        states.append(locks.FieldState(id, version.number, None, shape, numbers))
    states += [state._replace(last=version.number - 1) for state in lasting.values()]
    states.sort(key=lambda state: (state.id, state.first))
    present = [state for state in states if state.last is None]
    digest = digest_of(version, present)
    version = version._replace(digest=digest, seal=digest)
    return locks.LockedDataset(locked.name, (*locked.versions, version), tuple(states))


def number_fields(
    dataset: LogicalDataset,
    locked: locks.LockedDataset,
    before: LockedVersion | None,
    matched: Ids,
    back: frozenset[int] = frozenset(),
    assigned_ids: Ids | None = None,
    above: int = 0,
) -> Locked:
    """Return a dataset whose fields have the ids of those that were in the previous version.

    `back` are ids of fields that were dropped in between. `assigned_ids` are those of some of the new fields; the other new ones get ids
    above `above`.
    """
    states = before.states_by_id if before is not None else {}
    known_ids = {**(assigned_ids or {}), **matched}
    unused_ids = count(max(locked.highest_id, above, *known_ids.values(), 0) + 1)
    ids = {
        field: known_ids[field] if field in known_ids else next(unused_ids)
        for field in preorder(dataset.columns)
    }
    shapes = _shapes(dataset.columns, ids, states)
    extra = extra_of(dataset)
    if before is not None:
        same = len(states) == len(ids) and all(
            id in states and states[id].shape == shapes[field] for field, id in ids.items()
        )
        if same and not back and before.version.extra == extra:
            numbers = {field: states[id].numbers for field, id in ids.items()}
            return Locked(dataset, locked, ids, numbers, shapes, before.version, is_changed=False)
    made, highest = _assigned_numbers(dataset, before, matched, back)
    version = next_version(before.version if before is not None else None, highest, extra)
    return Locked(dataset, locked, ids, made, shapes, version, is_changed=True)


def _assigned_numbers(
    dataset: LogicalDataset, before: LockedVersion | None, matched: Ids, back: frozenset[int]
) -> tuple[dict[SchemaField, locks.Numbers], locks.Highest]:
    """Return the numbers of all engines; those of engines that are not installed stay with the fields that have them."""
    made: dict[str, locks.FieldNumbers] = {}
    highest = before.version.highest if before is not None else locks.Highest()
    for engine in locks.not_installed(highest):
        assert before is not None
        made[engine] = {field: before.states_by_id[id].numbers.of(engine) for field, id in matched.items()}
    for engine, numbering in locks.numberings().items():
        if numbering.is_existing_only and highest.get(engine) is None:
            continue
        former = former_of(before, matched, engine, back) if before is not None else None
        made[engine], most = numbering.number(dataset, former, highest.of(engine))
        highest = highest.with_value(engine, most)
    return numbers_of(preorder(dataset.columns), made), highest


def numbers_of(
    fields: Iterable[SchemaField], made: Mapping[str, locks.FieldNumbers]
) -> dict[SchemaField, locks.Numbers]:
    """Return the numbers by field, from those by engine."""
    engines = sorted(made.items())
    return {
        field: locks.Numbers(
            tuple([(engine, numbers) for engine, of in engines if (numbers := of.get(field))])
        )
        for field in fields
    }


def _shapes(
    columns: Sequence[SchemaField], ids: Ids, states: Mapping[int, locks.FieldState]
) -> dict[SchemaField, locks.FieldShape]:
    """Return the shapes of all fields; siblings that remain have their old positions, and new ones get some between them."""
    shapes: dict[SchemaField, locks.FieldShape] = {}

    def siblings(fields: Sequence[SchemaField], parent: int | None) -> None:
        known: list[Decimal | None] = []
        for field in fields:
            state = states.get(ids[field])
            is_here = state is not None and state.shape.parent == parent
            known.append(state.shape.position if state is not None and is_here else None)
        placed: Sequence[Decimal | None] = locks.positions(known) if fields and fields[0].is_member else known
        for field, position in zip(fields, placed, strict=True):
            shapes[field] = shape_of(field, parent, position if field.is_member else None)
            if field.children:
                siblings(field.children, ids[field])

    siblings(columns, None)
    return shapes


def extra_of(dataset: LogicalDataset) -> str:
    """Return the attributes of a schema as a lock holds them."""
    return compact(dict(dataset.schema.extra)) if dataset.schema.extra else ""


def adopt(
    dataset: LogicalDataset,
    locked: locks.LockedDataset,
    existing_ids: Mapping[SchemaField, locks.Numbers],
    highest: locks.Highest,
    data: locks.EngineData,
) -> locks.LockedDataset | None:
    """Return the lock with this schema as its next version, whatever the version before was.

    None if an engine would give a field more or fewer numbers than `existing_ids` has: the numbers belong to another schema.
    """
    newest = locked.newest
    before = open_version(locked, newest) if newest is not None else None
    identities = number_fields(
        dataset, locked, before, _ids_by_number(dataset, before, existing_ids) if before else {}
    )
    numbers: dict[SchemaField, locks.Numbers] = {}
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
        version = version._replace(data=version.data.with_value(engine, text))
    return freeze(identities._replace(numbers=numbers, version=version, is_changed=True))


def _ids_by_number(
    dataset: LogicalDataset, before: LockedVersion, existing_ids: Mapping[SchemaField, locks.Numbers]
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


def adopt_ids(
    dataset: LogicalDataset, locked: locks.LockedDataset, ids: Ids, highest: int
) -> locks.LockedDataset:
    """Return the lock with this schema as its next version, whose fields have these ids; those without one get new ones.

    `highest` is the highest id that was ever used where the ids come from.
    """
    newest = locked.newest
    before = open_version(locked, newest) if newest is not None else None
    known_ids = before.states_by_id if before is not None else {}
    matched = {field: id for field, id in ids.items() if id in known_ids}
    identities = number_fields(dataset, locked, before, matched, assigned_ids=ids, above=highest)
    return freeze(identities._replace(version=identities.version._replace(highest_id=highest)))


class RestoreError(Exception):
    """Why an id cannot be given to a field."""


def restored(
    dataset: LogicalDataset,
    locked: locks.LockedDataset,
    requested_ids: Mapping[str, int],
    findings: Findings | None = None,
) -> Locked:
    """Return a dataset with the ids of its fields, the requested ones for these paths; raises RestoreError."""
    newest = locked.newest
    if newest is None:
        raise RestoreError(f"{dataset.name} was never locked, so there is no id to restore")
    opened = open_version(locked, newest)
    present = opened.states_by_id
    newest_ids = frozenset(present)
    holders = {id: field.path_text for field, id in identify(dataset, locked).ids.items() if id in present}
    for path_text, id in requested_ids.items():
        if holders.get(id, path_text) != path_text:
            raise RestoreError(f"{path_text} cannot have the id {id}, because {holders[id]} has it")
    requested_ids = _with_parents(dataset, locked, present, requested_ids)
    for path_text, id in requested_ids.items():
        present = _with_dropped_field(locked, present, path_text, id)
    # A version as there was none: the newest, and what is given back.
    states = tuple(state._replace(first=newest.number, last=None) for state in present.values())
    before = open_version(locks.LockedDataset(locked.name, locked.versions, states), opened.version)
    path_texts = {id: dotted(path) for id, path in locks.paths_of(states).items()}
    renamed = {path_text: path_texts[id] for path_text, id in requested_ids.items()}
    ids = Matcher(states, dataset.columns, renamed, locked, findings).match()
    by_path = {field.path_text: id for field, id in ids.items()}
    for path_text, id in requested_ids.items():
        if by_path.get(path_text) != id:
            raise RestoreError(f"{path_text} cannot get the id {id}, because it already has another id")
    return number_fields(dataset, locked, before, ids, frozenset(ids.values()) - newest_ids)


def _with_parents(
    dataset: LogicalDataset,
    locked: locks.LockedDataset,
    present: Mapping[int, locks.FieldState],
    requested_ids: Mapping[str, int],
) -> dict[str, int]:
    """Return the requested ids, parents first, with those of the fields around each that were dropped with it."""
    fields = {field.path_text: field for field in preorder(dataset.columns)}
    with_parents: dict[str, int] = {}
    for path_text, id in requested_ids.items():
        way = {path_text: id}
        field, parent = fields[path_text].parent, _last_states(locked, id)[id].shape.parent
        while field is not None and parent is not None and parent not in present:
            if field.is_member:
                way[field.path_text] = parent
            field, parent = field.parent, _last_states(locked, parent)[parent].shape.parent
        with_parents |= dict(reversed(way.items()))
    return with_parents


def _last_states(locked: locks.LockedDataset, id: int) -> dict[int, locks.FieldState]:
    """Return the states, by id, of the last version that had a field. Raises RestoreError if none had it."""
    lasts = [state.last or len(locked.versions) for state in locked.states if state.id == id]
    if not lasts:
        known = ", ".join(f"{name}={number}" for number, name in sorted(lost(locked).items()))
        raise RestoreError(
            f"no field of {locked.name} ever had the id {id}"
            + (f"; the ids of dropped fields are {known}" if known else "; no field was ever dropped")
        )
    version = locked.version(max(lasts))
    assert version is not None
    return open_version(locked, version).states_by_id


def _with_dropped_field(
    locked: locks.LockedDataset, present: Mapping[int, locks.FieldState], path_text: str, id: int
) -> dict[int, locks.FieldState]:
    """Return the states of a version with those of a field that was dropped, and of what was in it."""
    if id in present:
        return dict(present)
    then = _last_states(locked, id)
    paths = locks.paths_of(then.values())
    parent = then[id].shape.parent
    if parent is not None and parent not in present:
        path = dotted(paths[parent])
        raise RestoreError(
            f"the field that had the id {id} was in {path}, which was dropped, and {path_text} is elsewhere;"
            f" restore {path}={parent} first, with everything inside it"
        )
    shape = then[id].shape
    names = {state.shape.segment for state in present.values() if state.shape.parent == shape.parent}
    while shape.segment in names:
        # Another field has its name by now; under which name it comes back is no matter, for it is told by its path.
        shape = shape._replace(segment=f"{shape.segment}'")
    depth = len(paths[id])
    back = {
        one: state for one, state in then.items() if paths[one][:depth] == paths[id] and one not in present
    }
    return {**present, **back, id: then[id]._replace(shape=shape)}
