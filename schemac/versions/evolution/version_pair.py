"""The versions of a schema that are compared, two at a time.

Layer: versions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import getitem
from typing import Any, TypeVar

from schemac.arrow.metadata import compact
from schemac.language.attributes.builtin import RENAMED_FROM
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import PART_KEYS, FieldPath, Schema, SchemaField, columns, preorder
from schemac.language.physical import LoweredSchema
from schemac.text.source.json_object import Json
from schemac.versions.evolution.changes import SourceLocation
from schemac.versions.identity.compilation import Compilation, Locked
from schemac.versions.identity.lock import FieldShape, FieldState, LockedDataset, Numbers, Version, Viewed
from schemac.versions.identity.match import Matcher
from schemac.versions.identity.opening import open_version

T = TypeVar("T")


@dataclass(frozen=True)
class SchemaVersion(Viewed):
    """A schema that is compared."""

    dataset: LogicalDataset
    label: str
    """What people call it: a file, `lock:3`, `git:main`."""

    @property
    def lowered(self) -> LoweredSchema:
        """Its Arrow fields, of a locked version with its record for tables to keep."""
        return self.compilation.lowered

    def column_view(self, make: "Callable[[LogicalDataset], T]", column: SchemaField) -> T:
        """Return a function's result for one column; the others are not compiled for it."""
        key = (make, column)
        if key not in self._views:
            self._views[key] = make(replace(self.dataset, columns=(column,)))
        cached_view: T = self._views[key]
        return cached_view

    @cached_property
    def compilation(self) -> Compilation:
        """The compilation that targets get."""
        return Compilation.of(self.dataset)

    def location(self, field: SchemaField | None, *steps: str | int) -> SourceLocation:
        """Return the location of a field or of a part of it, of the schema for None; without a line where it is in no text."""
        origins = self.dataset.origins
        path = (*field.declared_at, *steps) if field is not None else steps
        location = origins.location(path)
        if location is None:
            return SourceLocation(self.label)
        position = location.source.position(location.span.start)
        at = location.labels[-1] if location.labels else None
        used = SourceLocation(at.file, at.line, at.column) if at is not None else None
        return SourceLocation(location.source.name, position.line, position.column, used)


@dataclass(frozen=True)
class LockedSchemaVersion(SchemaVersion):
    """A schema whose fields have the ids of a lock."""

    locked: LockedDataset
    """The lock that the ids are of."""
    ids: Mapping[SchemaField, int]
    numbers: Mapping[SchemaField, Numbers]

    @classmethod
    def of(cls, locked: Locked, label: str) -> "LockedSchemaVersion":
        """Return the present schema of a dataset with its lock."""
        return cls(locked.dataset, label, locked.lock, locked.ids, locked.numbers)

    @property
    def number(self) -> int:
        """That of the newest version of its lock."""
        return self.version.number

    @property
    def version(self) -> Version:
        """The newest version of its lock."""
        return self.locked.versions[-1]

    @cached_property
    def by_id(self) -> Mapping[int, SchemaField]:
        """Its fields by their ids."""
        return {id: field for field, id in self.ids.items()}

    @cached_property
    def compilation(self) -> Compilation:
        """The compilation that targets get, with the numbers of its fields."""
        return Compilation.of(self.dataset, identities=self)


@dataclass(frozen=True)
class InferredSchemaVersion(SchemaVersion):
    """A schema that was inferred from Arrow: its optional fields were not declared."""

    def with_optionality_of(self, new: SchemaVersion) -> SchemaVersion:
        """Return the same schema with each field as optional as the new one has it."""
        tree: Any = self.dataset.schema.model_dump(by_alias=True)
        pairs = sorted(
            pair_versions(SchemaVersion(self.dataset, self.label), new).before.items(),
            key=lambda p: -len(p[1].path),
        )
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


def locked_schema_version(locked: LockedDataset, number: int) -> LockedSchemaVersion:
    """Return a version of a locked dataset by its number, which has to exist."""
    version = locked.version(number)
    assert version is not None
    opened = open_version(locked, version)
    history = LockedDataset(locked.name, locked.versions[:number], locked.states)
    return LockedSchemaVersion(opened.logical, f"lock:{number}", history, opened.ids, opened.numbers)


def locked_schema_versions(locked: LockedDataset) -> Iterator[LockedSchemaVersion]:
    """Yield all versions of a locked dataset, the newest first."""
    for version in reversed(locked.versions):
        yield locked_schema_version(locked, version.number)


def narrowed_tree(dataset: LogicalDataset, paths: Sequence[FieldPath]) -> Json:
    """Return a schema as JSON with those of its columns and members alone that have these paths, in the order of the paths."""
    order = {path: index for index, path in enumerate(paths)}

    def members(trees: Sequence[Json], fields: Sequence[SchemaField]) -> list[Json]:
        by_name = {tree["name"]: tree for tree in trees}
        ordered = sorted(
            (field for field in fields if field.path in order), key=lambda field: order[field.path]
        )
        pairs = [(by_name[str(field.segment)], field) for field in ordered]
        return [{**tree, "type": type_of(tree["type"], field)} for tree, field in pairs]

    def type_of(tree: Any, field: SchemaField) -> Any:
        if not isinstance(tree, dict):
            return tree
        if "inner" in tree:
            return {**tree, "inner": type_of(tree["inner"], field)}
        if "fields" in tree:
            return {**tree, "fields": members(tree["fields"], field.children)}
        parts = [key for key in PART_KEYS.values() if key in tree]
        inner = {key: type_of(tree[key], child) for key, child in zip(parts, field.children, strict=True)}
        return {**tree, **inner}

    fields = tuple([field for field in dataset.schema.fields if (field.name,) in order])
    schema = dataset.schema.model_copy(update={"fields": fields})
    tree: Json = schema.model_dump(mode="json", by_alias=True)
    return {**tree, "fields": members(tree["fields"], dataset.columns)}


def narrowed(version: LockedSchemaVersion, paths: Sequence[FieldPath]) -> LockedSchemaVersion:
    """Return a version with those of its columns and members alone that have these paths, in the order of the paths."""
    schema = Schema.model_validate(narrowed_tree(version.dataset, paths))
    dataset = replace(version.dataset, schema=schema, columns=columns(schema))
    fields = {field.path: field for field in version.ids}
    before = {field: fields[field.path] for field in preorder(dataset.columns)}
    return replace(
        version,
        dataset=dataset,
        label=f"a part of {version.label}",
        ids={field: version.ids[old] for field, old in before.items()},
        numbers={field: version.numbers[old] for field, old in before.items()},
    )


def in_order_of(first: SchemaVersion, version: LockedSchemaVersion) -> LockedSchemaVersion | None:
    """Return a version with its fields in the order of another one; None if they have other fields, or the same order."""
    paths, before = ([field.path for field in preorder(v.dataset.columns)] for v in (first, version))
    if before == paths or set(before) != set(paths):
        return None
    return replace(narrowed(version, paths), label=version.label)


@dataclass(frozen=True)
class VersionPair:
    """Two versions, and which field of the new one is which of the old one."""

    old: SchemaVersion
    new: SchemaVersion
    before: Mapping[SchemaField, SchemaField]
    """The old field of each new field that was there before."""

    @cached_property
    def after(self) -> Mapping[SchemaField, SchemaField]:
        """The new field of each old field that is still there."""
        return {old: new for new, old in self.before.items()}

    def is_same(self, old: SchemaField | None, new: SchemaField | None) -> bool:
        """Whether one is the other; None is the schema as a whole."""
        return old is None if new is None else old is not None and self.before.get(new) is old


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
    if isinstance(old, LockedSchemaVersion) and isinstance(new, LockedSchemaVersion):
        olds, news = ([v.digest for v in version.locked.versions] for version in (old, new))
        shared = min(len(olds), len(news))
        if shared and olds[:shared] == news[:shared]:
            # One lock is a later state of the other, so their ids mean the same.
            return LockedVersionPair(old, new, _by_ids(old, new))
    if any(RENAMED_FROM.key in field.extra for field in preorder(new.dataset.columns)):
        by_id, states = _numbered(old.dataset)
        ids = Matcher(states, new.dataset.columns).match()
        return VersionPair(old, new, {field: by_id[id] for field, id in ids.items()})
    return VersionPair(old, new, dict(_namesakes(old.dataset.columns, new.dataset.columns)))


def _by_ids(old: LockedSchemaVersion, new: LockedSchemaVersion) -> dict[SchemaField, SchemaField]:
    """Match fields by the ids that both locks have; an id that the next locking would assign identifies nothing yet."""
    known = min(old.locked.highest_id, new.locked.highest_id)
    by_id = {id: field for field, id in old.ids.items() if id <= known}
    before = {field: by_id[id] for field, id in new.ids.items() if id in by_id}
    matched = set(before.values())
    for field, namesake in _namesakes(old.dataset.columns, new.dataset.columns):
        is_sibling = field.parent is None or before.get(field.parent) is namesake.parent
        if field not in before and namesake not in matched and is_sibling and old.ids[namesake] > known:
            before[field] = namesake
    return before


def _numbered(dataset: LogicalDataset) -> tuple[dict[int, SchemaField], list[FieldState]]:
    """Return the fields by number, and the part of a lock's states that matching needs."""
    fields = preorder(dataset.columns)
    ids = {field: id for id, field in enumerate(fields)}
    states = []
    for field, id in ids.items():
        parent = ids[field.parent] if field.parent is not None else None
        extra = compact(dict(field.extra)) if RENAMED_FROM.key in field.extra else ""
        states.append(FieldState(id, 1, None, FieldShape(parent, field.segment, None, "", extra), Numbers()))
    return dict(enumerate(fields)), states


def _namesakes(
    old: Sequence[SchemaField], new: Sequence[SchemaField]
) -> Iterator[tuple[SchemaField, SchemaField]]:
    """Return the pairs of fields with the same path, the new one first."""
    by_name = {field.segment: field for field in old}
    for field in new:
        before = by_name.get(field.segment)
        if before is not None:
            yield field, before
            if field.children and before.children:
                yield from _namesakes(before.children, field.children)
