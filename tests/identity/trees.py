"""Small schemas that are easy to edit, and locks of them, without YAML between.

Shape: a node is a field with a `uid` of the test's own, which stays with it whatever happens to its name and place.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from itertools import count
from typing import Any

from schemac.language.logical.dataset import LogicalDataset, Origins
from schemac.language.logical.model import Part, Schema, SchemaField, columns
from schemac.versions.identity.compilation import Locked
from schemac.versions.identity.freeze import freeze, identify
from schemac.versions.identity.lock import LockedDataset

Tree = dict[str, Any]
RENAMED_FROM = "schemac.dev/renamedFrom"
ITEM, KEY, VALUE = Part
_KEYS = {ITEM: "itemType", KEY: "keyType", VALUE: "valueType"}
_uids = count(1)


@dataclass
class Node:
    """A field, or the item, key or value of one."""

    segment: str | Part
    type: Tree
    children: "list[Node]" = dataclasses.field(default_factory=list)
    is_nullable: bool = False
    extra: Tree = dataclasses.field(default_factory=dict)
    uid: int = dataclasses.field(default_factory=lambda: next(_uids))

    @property
    def name(self) -> str:
        assert isinstance(self.segment, str)
        return self.segment

    @property
    def is_struct(self) -> bool:
        return bool(self.type["kind"] == "Struct")

    def tree(self) -> Tree:
        """The field as a manifest has it."""
        type_ = dict(self.type)
        if self.is_struct:
            type_["fields"] = [child.tree() for child in self.children]
        else:
            type_ |= {_KEYS[child.segment]: child.tree() for child in self.children if child.segment in _KEYS}
        whole = {"kind": "Option", "inner": type_} if self.is_nullable else type_
        extra = {"extra": dict(self.extra)} if self.extra else {}
        return {"name": self.segment, "type": whole, **extra} if self.segment not in _KEYS else whole | extra

    def walk(self, above: "tuple[Node, ...]" = ()) -> "Iterator[tuple[Node, tuple[Node, ...]]]":
        """This and all below it, each with what is above it, outermost first."""
        yield self, above
        for child in self.children:
            yield from child.walk((*above, self))


@dataclass
class Model:
    """A manifest."""

    columns: list[Node]
    extra: Tree = dataclasses.field(default_factory=dict)

    def walk(self) -> Iterator[tuple[Node, tuple[Node, ...]]]:
        for column in self.columns:
            yield from column.walk()

    def members(self) -> list[tuple[Node, tuple[Node, ...]]]:
        """Everything with a name."""
        return [(node, above) for node, above in self.walk() if isinstance(node.segment, str)]

    def lists(self) -> list[tuple[list[Node], tuple[Node, ...]]]:
        """Every list of members, with the way to it."""
        structs = [(node.children, (*above, node)) for node, above in self.walk() if node.is_struct]
        return [(self.columns, ()), *structs]

    def copy(self) -> "Model":
        return deepcopy(self)

    def dataset(self, name: str = "d") -> LogicalDataset:
        extra = {"extra": self.extra} if self.extra else {}
        return dataset_of({"fields": [column.tree() for column in self.columns], **extra}, name)


def dataset_of(tree: Tree, name: str = "d") -> LogicalDataset:
    """A dataset out of a manifest's standard tree."""
    schema = Schema.model_validate(tree)
    return LogicalDataset(name, schema, columns(schema), Origins(f"{name}.yaml"))


def fields(**kinds: Any) -> LogicalDataset:
    """A dataset with these columns: a kind, or a mapping with `type` and `extra`."""
    return dataset_of({"fields": [member(name, kind) for name, kind in kinds.items()]})


def member(name: str, kind: Any) -> Tree:
    """A field of a kind, of a whole type, or with attributes as `(type, extra)`."""
    if isinstance(kind, tuple):
        return {**member(name, kind[0]), "extra": kind[1]}
    return {"name": name, "type": {"kind": kind} if isinstance(kind, str) else kind}


def struct(**kinds: Any) -> Tree:
    """A struct of these members."""
    return {"kind": "Struct", "fields": [member(name, kind) for name, kind in kinds.items()]}


def locked(
    dataset: LogicalDataset,
    lock: LockedDataset | None = None,
    renamed: Mapping[str, str] | None = None,
) -> tuple[LockedDataset, Locked]:
    """The lock with this schema as its newest version."""
    lock = lock or LockedDataset(dataset.name)
    found = identify(dataset, lock, renamed=renamed)
    return freeze(found), found


def history(*datasets: LogicalDataset) -> LockedDataset:
    """A lock with these versions."""
    lock = LockedDataset(datasets[0].name)
    for dataset in datasets:
        lock, _ = locked(dataset, lock)
    return lock


def ids(lock: LockedDataset) -> dict[str, int]:
    """The newest version's ids by path."""
    from schemac.language.logical.model import dotted
    from schemac.versions.identity.lock import paths_of

    states = [state for state in lock.states if state.last is None]
    return {dotted(path): id for id, path in paths_of(states).items()}


def lance(lock: LockedDataset) -> dict[str, tuple[int, ...]]:
    """The newest version's Lance numbers by path."""
    by_id = {state.id: state.numbers.of("lance") for state in lock.states if state.last is None}
    return {path: by_id[id] for path, id in ids(lock).items()}


def fields_by_uid(model: Model, dataset: LogicalDataset) -> dict[int, SchemaField]:
    """The field of every node."""
    found: dict[int, SchemaField] = {}

    def go(nodes: list[Node], fields: tuple[SchemaField, ...]) -> None:
        by_segment = {field.segment: field for field in fields}
        for node in nodes:
            field = by_segment[node.segment]
            found[node.uid] = field
            go(node.children, field.children)

    go(model.columns, dataset.columns)
    return found
