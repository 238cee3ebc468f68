"""The versions of a schema that are compared, two at a time.

Layer: evolution.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import getitem
from typing import Any, TypeVar

from schemac.arrow.lower import lower
from schemac.arrow.lower_metadata import compact, with_version
from schemac.artifacts.emission import Compilation
from schemac.attributes.own import RENAMED_FROM
from schemac.evolution.changes import Place
from schemac.identity.lock import LockedDataset, Numbers, Shape, State
from schemac.identity.match import Ids, Matcher
from schemac.identity.opening import open_version
from schemac.logical.dataset import LogicalDataset
from schemac.logical.model import Schema
from schemac.logical.path import FieldPath
from schemac.logical.slots import Slot, columns, preorder
from schemac.physical.field import LoweredSchema
from schemac.source.json_object import Json

T = TypeVar("T")


@dataclass(frozen=True)
class SchemaVersion:
    """A schema that is compared."""

    dataset: LogicalDataset
    label: str
    """What people call it: a file, `lock:3`, `git:main`."""

    @cached_property
    def lowered(self) -> LoweredSchema:
        """Its Arrow fields."""
        return lower(self.dataset)

    def view(self, make: "Callable[[SchemaVersion], T]") -> T:
        """Return what a function makes of this schema; it is called once."""
        if make not in self._views:
            self._views[make] = make(self)
        found: T = self._views[make]
        return found

    def column_view(self, make: "Callable[[LogicalDataset], T]", column: Slot) -> T:
        """Return what a function makes of one column alone; the others are not compiled for it."""
        key = (make, column)
        if key not in self._views:
            self._views[key] = make(replace(self.dataset, columns=(column,)))
        found: T = self._views[key]
        return found

    @cached_property
    def _views(self) -> dict[Any, Any]:
        return {}

    @cached_property
    def compilation(self) -> Compilation:
        """What targets see of it."""
        return Compilation(self.dataset, self.lowered)

    def place(self, slot: Slot | None, *steps: str | int) -> Place:
        """Where a slot, or a part of it, stands."""
        origins = self.dataset.origins
        path = (*slot.declared_at, *steps) if slot is not None else steps
        found = origins.place(path)
        if found is None:
            return Place(self.label)
        position = found.source.position(found.span.start)
        at = found.labels[-1] if found.labels else None
        used = Place(at.file, at.line, at.column) if at is not None else None
        return Place(found.source.name, position.line, position.column, used)


@dataclass(frozen=True)
class LockedSchemaVersion(SchemaVersion):
    """A schema whose fields have the ids of a lock."""

    locked: LockedDataset
    """The lock that the ids are of."""
    ids: Ids
    numbers: Mapping[Slot, Numbers]

    @property
    def number(self) -> int:
        """That of the newest version of its lock."""
        return self.locked.versions[-1].number

    @cached_property
    def lowered(self) -> LoweredSchema:
        """Its Arrow fields, with the number of the version for tables to keep."""
        return with_version(lower(self.dataset), self.number)

    @cached_property
    def compilation(self) -> Compilation:
        """What targets see of it, with the numbers of its fields."""
        return Compilation(self.dataset, self.lowered, self.numbers)


@dataclass(frozen=True)
class InferredSchemaVersion(SchemaVersion):
    """A schema that was inferred as Arrow's: which of its fields are optional, nobody declared."""

    def with_optionality_of(self, new: SchemaVersion) -> SchemaVersion:
        """Return the same schema with each slot as optional as the new one has it."""
        tree: Any = self.dataset.schema.model_dump(by_alias=True)
        pairs = sorted(pair_versions(self._as_declared(), new).before.items(), key=lambda p: -len(p[1].path))
        for after, before in pairs:
            steps = (*before.declared_at, "type") if before.is_member else before.declared_at
            *above, last = steps
            holder: Any = reduce(getitem, above, tree)
            if after.is_nullable and not before.is_nullable:
                holder[last] = {"kind": "Option", "inner": holder[last]}
            elif before.is_nullable and not after.is_nullable:
                holder[last] = holder[last]["inner"]
        schema = Schema.model_validate(tree)
        return SchemaVersion(replace(self.dataset, schema=schema, columns=columns(schema)), self.label)

    def _as_declared(self) -> SchemaVersion:
        return SchemaVersion(self.dataset, self.label)


def locked_schema_version(locked: LockedDataset, number: int) -> LockedSchemaVersion:
    """One version of a locked dataset; there has to be one of this number."""
    version = locked.version(number)
    assert version is not None
    opened = open_version(locked, version)
    history = LockedDataset(locked.name, locked.versions[:number], locked.states)
    ids = {slot: state.id for slot, state in opened.states.items()}
    numbers = {slot: state.numbers for slot, state in opened.states.items()}
    return LockedSchemaVersion(opened.logical, f"lock:{number}", history, ids, numbers)


def narrowed(version: LockedSchemaVersion, paths: Sequence[FieldPath]) -> LockedSchemaVersion:
    """Return a version with those of its columns and members alone that have these paths, in the order of the paths."""
    place = {path: number for number, path in enumerate(paths)}

    def members(trees: Sequence[Json], slots: Sequence[Slot]) -> list[Json]:
        by_name = {tree["name"]: tree for tree in trees}
        kept = sorted((slot for slot in slots if slot.path in place), key=lambda slot: place[slot.path])
        found = [(by_name[str(slot.segment)], slot) for slot in kept]
        return [{**tree, "type": type_of(tree["type"], slot)} for tree, slot in found]

    def type_of(tree: Any, slot: Slot) -> Any:
        if not isinstance(tree, dict):
            return tree
        if "inner" in tree:
            return {**tree, "inner": type_of(tree["inner"], slot)}
        if "fields" in tree:
            return {**tree, "fields": members(tree["fields"], slot.children)}
        parts = [key for key in ("itemType", "keyType", "valueType") if key in tree]
        inner = {key: type_of(tree[key], child) for key, child in zip(parts, slot.children, strict=True)}
        return {**tree, **inner}

    tree = version.dataset.schema.model_dump(mode="json", by_alias=True)
    schema = Schema.model_validate({**tree, "fields": members(tree["fields"], version.dataset.columns)})
    dataset = replace(version.dataset, schema=schema, columns=columns(schema))
    slots = {slot.path: slot for slot in version.ids}
    before = {slot: slots[slot.path] for slot in preorder(dataset.columns)}
    return replace(
        version,
        dataset=dataset,
        label=f"a part of {version.label}",
        ids={slot: version.ids[old] for slot, old in before.items()},
        numbers={slot: version.numbers[old] for slot, old in before.items()},
    )


@dataclass(frozen=True)
class VersionPair:
    """Two versions, and which field of the new one is which of the old one."""

    old: SchemaVersion
    new: SchemaVersion
    before: Mapping[Slot, Slot]
    """The old slot of each new slot that was there before."""

    @cached_property
    def after(self) -> Mapping[Slot, Slot]:
        """The new slot of each old slot that is still there."""
        return {old: new for new, old in self.before.items()}


@dataclass(frozen=True)
class LockedVersionPair(VersionPair):
    """Two versions whose fields have the ids of one lock."""

    old: LockedSchemaVersion
    new: LockedSchemaVersion


def pair_versions(old: SchemaVersion, new: SchemaVersion) -> VersionPair:
    """Match two versions: by the ids of one lock where both have them, else by names and what is declared.

    Of a schema that was inferred, the standard ignores which fields were optional.
    """
    if isinstance(old, InferredSchemaVersion):
        old = old.with_optionality_of(new)
    if (
        isinstance(old, LockedSchemaVersion)
        and isinstance(new, LockedSchemaVersion)
        and _is_same_line(old, new)
    ):
        return LockedVersionPair(old, new, _by_ids(old, new))
    if any(RENAMED_FROM.key in slot.extra for slot in preorder(new.dataset.columns)):
        by_id, states = _numbered(old.dataset)
        ids = Matcher(states, new.dataset.columns).match()
        return VersionPair(old, new, {slot: by_id[id] for slot, id in ids.items()})
    return VersionPair(old, new, dict(_namesakes(old.dataset.columns, new.dataset.columns)))


def _by_ids(old: LockedSchemaVersion, new: LockedSchemaVersion) -> dict[Slot, Slot]:
    """By the ids that both locks know; those that a field would get by the next locking say nothing of it."""
    known = min(old.locked.highest_id, new.locked.highest_id)
    by_id = {id: slot for slot, id in old.ids.items() if id <= known}
    before = {slot: by_id[id] for slot, id in new.ids.items() if id in by_id}
    taken = set(before.values())
    for slot, namesake in _namesakes(old.dataset.columns, new.dataset.columns):
        is_beside = slot.parent is None or before.get(slot.parent) is namesake.parent
        if slot not in before and namesake not in taken and is_beside and old.ids[namesake] > known:
            before[slot] = namesake
    return before


def _numbered(dataset: LogicalDataset) -> tuple[dict[int, Slot], list[State]]:
    """Return the slots by number, and as much of a lock's states as it takes to match them."""
    slots = preorder(dataset.columns)
    ids = {slot: id for id, slot in enumerate(slots)}
    states = []
    for slot, id in ids.items():
        parent = ids[slot.parent] if slot.parent is not None else None
        extra = compact(dict(slot.extra)) if RENAMED_FROM.key in slot.extra else ""
        states.append(State(id, 1, None, Shape(parent, slot.segment, None, "", extra), Numbers()))
    return dict(enumerate(slots)), states


def _namesakes(old: Sequence[Slot], new: Sequence[Slot]) -> Iterator[tuple[Slot, Slot]]:
    """Slots of the same path, new ones first."""
    by_name = {slot.segment: slot for slot in old}
    for slot in new:
        before = by_name.get(slot.segment)
        if before is not None:
            yield slot, before
            if slot.children and before.children:
                yield from _namesakes(before.children, slot.children)


def _is_same_line(old: LockedSchemaVersion, new: LockedSchemaVersion) -> bool:
    """Whether one lock is a later state of the other: then their ids mean the same."""
    olds, news = ([v.digest for v in version.locked.versions] for version in (old, new))
    shared = min(len(olds), len(news))
    return shared > 0 and olds[:shared] == news[:shared]
