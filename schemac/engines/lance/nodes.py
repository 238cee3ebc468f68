"""The fields of a schema as Lance numbers them.

Layer: engines.
Shape: pre-order; lists have an item below them, maps an `entries` struct with key and value, but a fixed-size list of
plain values is one node. A field of the manifest may own several nodes (a map, a blob) or none (the item of a vector).
Source: rust/lance-core/src/datatypes.rs of github.com/lance-format/lance, held against pylance 14.0.2.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from schemac.arrow.lower_metadata import EXTENSION_NAME, registered_extension_metadata
from schemac.engines.lance.names import (
    CLUSTERING_KEY_POSITION,
    JSON_EXTENSION,
    PRIMARY_KEY_MARK,
    PRIMARY_KEY_POSITION,
)
from schemac.engines.lance.types import Encoding, types_of_lance
from schemac.identity.lock import Numbers
from schemac.logical.schema_fields import SchemaField
from schemac.physical.arrow import ArrowField, pa
from schemac.physical.field import NO_METADATA, LoweredField, LoweredSchema

NAME = "lance"


class KeyMarks(NamedTuple):
    """What metadata says about a field's place in the table's keys."""

    is_primary: bool = False
    primary_position: int = 0
    clustering_position: int = 0


def lance_ids(numbers: Numbers) -> tuple[int, ...]:
    """Return the ids of all nodes that belong to a field, parents first."""
    return numbers.of(NAME)


class Node(NamedTuple):
    """One field of Lance; others name it by its index."""

    name: str
    parent: int
    """Index of the node around it, -1 for none."""
    logical_type: str
    is_nullable: bool
    encoding: int
    """One of `types.Encoding`."""
    metadata: Mapping[str, str]
    """Keys in order."""
    marks: KeyMarks


NO_MARKS = KeyMarks()


def nodes_of(lowered: LoweredSchema, *, is_tolerant: bool = False) -> list[Node]:
    """All fields in pre-order.

    Raises ValueError for a type that Lance has no word for, unless Arrow's own will do.
    """
    writer = _Writer(is_tolerant)
    for top in lowered.fields:
        writer.field(top.arrow, -1, top.metadata)
    return writer.nodes


class _Writer:
    """Numbers fields and finds Lance's words for each. Needs nothing but Arrow fields, wherever they are from."""

    def __init__(self, is_tolerant: bool) -> None:
        self.is_tolerant = is_tolerant
        self.nodes: list[Node] = []
        self.types = types_of_lance()

    def field(self, arrow: ArrowField, parent: int, metadata: Mapping[str, str]) -> None:
        nodes, types = self.nodes, self.types
        id = len(nodes)
        type_: Any = arrow.type
        if isinstance(type_, pa.BaseExtensionType):
            metadata = {**registered_extension_metadata(type_), **metadata}
            type_ = type_.storage_type
        marks = NO_MARKS
        if metadata:
            metadata = _canonical(metadata)
            marks = _key_marks(metadata)
        try:
            logical_type, encoding = types.words(type_, metadata)
        except ValueError:
            if not self.is_tolerant:
                raise
            logical_type, encoding = str(type_), Encoding.NONE
        nodes.append(Node(arrow.name, parent, logical_type, arrow.nullable, encoding, metadata, marks))
        if logical_type in _PARENTS:
            self.children(type_, id)
        elif type_.id == types.fixed_list and type_.value_type.id == types.struct:
            self.part(type_.value_field, id)

    def part(self, arrow: ArrowField, parent: int) -> None:
        """Write a field below the top, whose metadata nobody has as text."""
        texts = {key.decode(): value.decode() for key, value in (arrow.metadata or {}).items()}
        self.field(arrow, parent, texts)

    def children(self, type_: Any, id: int) -> None:
        if type_.id == self.types.struct:
            for child in type_.fields:
                self.part(child, id)
        elif type_.id == self.types.map:
            entries = len(self.nodes)
            self.nodes.append(Node("entries", id, "struct", False, Encoding.NONE, NO_METADATA, NO_MARKS))
            self.part(type_.key_field, entries)
            self.part(type_.item_field, entries)
        else:
            self.part(type_.value_field, id)


_PARENTS = frozenset({"struct", "map", "list", "list.struct", "large_list", "large_list.struct"})
"""Logical types with messages below them; so is a fixed-size list of structs."""


def _canonical(metadata: Mapping[str, str]) -> Mapping[str, str]:
    """Metadata as Lance keeps it, keys in order."""
    if metadata.get(EXTENSION_NAME) == "arrow.json":
        metadata = {**metadata, EXTENSION_NAME: JSON_EXTENSION}
    if len(metadata) == 1:
        return metadata
    keys = sorted(metadata)
    # Mostly they are in order already.
    return metadata if keys == list(metadata) else {key: metadata[key] for key in keys}


def _key_marks(metadata: Mapping[str, str]) -> KeyMarks:
    """Read the marks of keys: a position alone makes a primary key, whatever the flag says, unless it is not a number."""
    if _MARKS.isdisjoint(metadata):
        return NO_MARKS
    flag, primary, clustering = (metadata.get(key) for key in _MARK_KEYS)
    position = _position(primary)
    is_primary = position is not None or (flag or "").lower() in _TRUE
    return KeyMarks(is_primary, position or 0, _position(clustering) or 0)


_MARK_KEYS = (PRIMARY_KEY_MARK, PRIMARY_KEY_POSITION, CLUSTERING_KEY_POSITION)
_MARKS = frozenset(_MARK_KEYS)


_TRUE = ("true", "1", "yes", "y", "on")
_NUMBER = re.compile(r"\+?[0-9]+")


def _position(text: str | None) -> int | None:
    if text is None or not _NUMBER.fullmatch(text):
        return None
    position = int(text)
    return position if position < 2**32 else None


def nodes_by_field(lowered: LoweredSchema, nodes: Sequence[Node]) -> dict[SchemaField, tuple[int, ...]]:
    """Return the indices of the nodes that each field owns, parents first."""
    children: list[list[int]] = [[] for _ in nodes]
    tops: list[int] = []
    for index, node in enumerate(nodes):
        (tops if node.parent < 0 else children[node.parent]).append(index)
    owned: dict[SchemaField, tuple[int, ...]] = {}

    def assign(field: LoweredField, index: int) -> None:
        below = children[index]
        if not field.children:
            owned[field.field] = _subtree(index, children)
            return
        is_map = nodes[index].logical_type == "map"
        owned[field.field] = (index, *below) if is_map else (index,)
        parts = children[below[0]] if is_map else below
        if not parts:
            # The item of a vector, with all that may be below it, is part of the vector's own type.
            owned.update({inner.field: () for child in field.children for inner in child.preorder()})
            return
        for child, part in zip(field.children, parts, strict=True):
            assign(child, part)

    for field, index in zip(lowered.fields, tops, strict=True):
        assign(field, index)
    return owned


def _subtree(index: int, children: Sequence[Sequence[int]]) -> tuple[int, ...]:
    indices = [index]
    for child in children[index]:
        indices += _subtree(child, children)
    return tuple(indices)


def numbered(
    lowered: LoweredSchema, nodes: Sequence[Node], numbers: Mapping[SchemaField, Numbers] | None
) -> Iterable[tuple[int, Node]]:
    """Every node with its id, its parent an id as well: those of the lock, else the indices."""
    if numbers is None:
        return enumerate(nodes)
    ids = [-1] * len(nodes)
    for field, indices in nodes_by_field(lowered, nodes).items():
        for index, id in zip(indices, lance_ids(numbers[field]), strict=True):
            ids[index] = id
    return [
        (id, node._replace(parent=ids[node.parent]) if node.parent >= 0 else node)
        for id, node in zip(ids, nodes, strict=True)
    ]


def numbers_of(
    lowered: LoweredSchema, fields: Sequence[tuple[str, int]]
) -> dict[SchemaField, Numbers] | None:
    """Return the ids that a table's fields, given by name and id in pre-order, have for each field; None if they differ."""
    nodes = nodes_of(lowered, is_tolerant=True)
    if [node.name for node in nodes] != [name for name, _ in fields]:
        return None
    return {
        field: Numbers.make({NAME: tuple(fields[index][1] for index in indices)})
        for field, indices in nodes_by_field(lowered, nodes).items()
    }


def words_by_field(lowered: LoweredSchema) -> dict[SchemaField, tuple[str, ...]]:
    """Lance's logical types of the nodes that each field owns."""
    nodes = nodes_of(lowered, is_tolerant=True)
    return {
        field: tuple([nodes[index].logical_type for index in indices])
        for field, indices in nodes_by_field(lowered, nodes).items()
    }
