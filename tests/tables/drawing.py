"""Draws schemas, edits of them, and rows; and says what the rows are after the edit.

Shape: a field is a small mutable tree with an identity of its own, so that the rows after an edit can be told without
asking the compiler which field is which. Values are such that every change of a type that may be drawn keeps them.
"""

import datetime
import random
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

Tree = dict[str, Any]

INTS = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
FLOATS = ("Float16", "Float32", "Float64")
LEAVES = (*INTS, *FLOATS, "Decimal", "String", "Binary", "Bool", "Date", "Timestamp", "Time", "Duration")
UNITS = ("Second", "Millisecond", "Microsecond")
CASTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(INTS, (*INTS, "Float64", "String", "Decimal")),
    **dict.fromkeys(FLOATS, FLOATS),
    "String": ("Int64", "Float64", "Binary"),
    "Bool": ("Int8", "String"),
    "Date": ("Timestamp",),
    "Decimal": ("Decimal",),
    "Timestamp": ("Timestamp",),
    "Duration": ("Duration",),
    "Binary": (),
    "Time": (),
}
"""Kinds that a plain type may become, whose values fit."""


@dataclass(eq=False)
class Node:
    """A field, or an item, key or value."""

    kind: str
    name: str = ""
    is_optional: bool = False
    properties: Tree = field(default_factory=dict)
    extra: Tree = field(default_factory=dict)
    children: "list[Node]" = field(default_factory=list)
    was: "Node | None" = None
    """The node before the edit; None for one that is new."""
    is_refused: bool = False
    """Whether its length has changed."""

    def tree(self) -> Tree:
        """The type as a manifest has it."""
        type_: Tree = {"kind": self.kind, **self.properties}
        if self.kind == "Struct":
            type_["fields"] = [child.member() for child in self.children]
        elif self.kind == "List":
            type_["itemType"] = self.children[0].tree()
        elif self.kind == "Map":
            type_["keyType"], type_["valueType"] = (child.tree() for child in self.children)
        return {"kind": "Option", "inner": type_} if self.is_optional else type_

    def member(self) -> Tree:
        """The field as a manifest has it."""
        return {"name": self.name, "type": self.tree(), **({"extra": dict(self.extra)} if self.extra else {})}


def copied(node: Node) -> Node:
    """The same node in the next version."""
    twin = Node(node.kind, node.name, node.is_optional, dict(node.properties), dict(node.extra))
    twin.extra.pop("schemac.dev/renamedFrom", None)
    twin.children = [copied(child) for child in node.children]
    twin.was = node
    return twin


class Drawing:
    """One pair of schemas with rows, from one source of chance."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.names = 0
        self.free: list[str] = []
        """Names that fields had in earlier versions, and none has now."""

    def schema(self) -> list[Node]:
        """Some columns; the first is a plain number, so that a table is never left empty."""
        key = Node("Int64", "key")
        return [key, *(self.named(self.node(2)) for _ in range(self.chance.randint(2, 6)))]

    def named(self, node: Node) -> Node:
        """A name that no other field has."""
        self.names += 1
        node.name = f"f{self.names}"
        return node

    def node(self, depth: int) -> Node:
        """A type of some depth."""
        chance = self.chance
        form = chance.choice(("leaf", "leaf", "leaf", "struct", "list", "map", "vector")) if depth else "leaf"
        is_optional = chance.random() < 0.5
        if form == "struct":
            members = [self.named(self.node(depth - 1)) for _ in range(chance.randint(1, 3))]
            return Node("Struct", "", is_optional, children=members)
        if form == "list":
            return Node("List", "", is_optional, children=[self.node(depth - 1)])
        if form == "map":
            return Node("Map", "", is_optional, children=[Node("String"), self.node(depth - 1)])
        if form == "vector":
            item = Node(chance.choice(("Float32", "Float64", "Int32")))
            return Node("List", "", False, {"fixedLength": 3}, children=[item])
        return self.leaf(is_optional)

    def leaf(self, is_optional: bool) -> Node:
        """A plain type."""
        kind = self.chance.choice(LEAVES)
        return Node(kind, "", is_optional, self.properties(kind))

    def properties(self, kind: str) -> Tree:
        """Properties with room for all values that are drawn."""
        if kind == "Decimal":
            scale = self.chance.randint(2, 6)
            return {"precision": scale + self.chance.randint(4, 10), "scale": scale}
        if kind in ("Timestamp", "Duration"):
            return {"unit": self.chance.choice(UNITS)}
        return {"unit": "Microsecond"} if kind == "Time" else {}

    def edited(self, columns: list[Node], edits: int) -> list[Node]:
        """The next version after some edits."""
        after = [copied(column) for column in columns]
        for _ in range(edits):
            self.edit(after)
        left = {node.name for node in _all(after)}
        self.free += [node.name for node in _all(columns) if node.name and node.name not in left]
        return after

    def edit(self, columns: list[Node]) -> None:
        """One edit anywhere."""
        holders = [columns, *(node.children for node in _all(columns) if node.kind == "Struct")]
        siblings = self.chance.choice(holders)
        action = self.chance.choice(
            (
                "require",
                "refuse",
                "view",
                "add",
                "drop",
                "rename",
                "reorder",
                "optional",
                "cast",
                "cast",
                "describe",
                "compress",
                "wrap",
                "large",
            )
        )
        members = [node for node in siblings if node.name != "key"]
        if action == "add":
            new = self.named(self.node(1))
            new.is_optional = True
            if self.free and self.chance.random() < 0.5:
                new.name = self.free.pop(self.chance.randrange(len(self.free)))
            siblings.insert(self.chance.randint(0, len(siblings)), new)
        elif action == "reorder":
            self.chance.shuffle(siblings)
        elif not members:
            return
        elif action == "drop" and len(siblings) > 1:
            siblings.remove(self.chance.choice(members))
        elif action == "rename":
            self.rename(self.chance.choice(members))
        elif action == "optional":
            node = self.chance.choice(members)
            node.is_optional = node.is_optional or node.properties.get("fixedLength") is None
        elif action == "cast":
            self.cast(self.chance.choice([node for node in _all(members) if not node.children] or members))
        elif action == "describe":
            self.chance.choice(members).extra["opendatafabric.org/description"] = f"text {self.names}"
        elif action == "compress":
            node = self.chance.choice(members)
            if node.kind not in ("Struct", "Map"):
                node.extra["lance.org/encoding"] = {"compression": "zstd"}
        elif action == "wrap" and siblings is columns:
            self.wrap(columns, self.chance.choice(members))
        elif action == "large":
            self.enlarge(self.chance.choice(members))
        elif action == "view":
            texts = [node for node in members if node.kind == "String"]
            self.view(self.chance.choice(texts or members))
        elif action == "require":
            node = self.chance.choice(members)
            node.is_optional = node.is_optional and node.was is None
        elif action == "refuse" and self.chance.random() < 0.3:
            self.refuse(siblings, self.chance.choice(members))

    def rename(self, node: Node) -> None:
        """Another name, declared."""
        if node.was is not None and node.was.name == node.name:
            node.extra["schemac.dev/renamedFrom"] = node.name
            self.names += 1
            node.name = f"r{self.names}"

    def cast(self, node: Node) -> None:
        """Another type that has room for the values."""
        if node.children or node.was is None or node.was.kind != node.kind:
            return
        kinds = CASTS[node.kind]
        is_in_vector = node.was.kind in ("Float32", "Float64", "Int32") and not node.name
        if not kinds:
            return
        kind = self.chance.choice(
            [k for k in kinds if not is_in_vector or k in (*FLOATS, *INTS)] or [node.kind]
        )
        if kind == "Decimal" and node.kind == "Decimal":
            scale = node.properties["scale"] + 1
            node.properties = {"precision": node.properties["precision"] + 2, "scale": scale}
            return
        node.kind = kind
        node.extra.pop("arrow.apache.org/bufferEncoding", None)
        node.properties = {"precision": 24, "scale": 2} if kind == "Decimal" else self.properties(kind)
        if kind == "Timestamp" and node.was.kind == "Date":
            node.properties["timezone"] = None

    def wrap(self, columns: list[Node], node: Node) -> None:
        """Move a column into a new struct."""
        if node.was is None or "schemac.dev/renamedFrom" in node.extra or node.was.name != node.name:
            return
        place = columns.index(node)
        wrapper = self.named(Node("Struct", "", is_optional=False))
        node.extra["schemac.dev/renamedFrom"] = node.name
        self.names += 1
        node.name = f"w{self.names}"
        wrapper.children = [node]
        columns[place] = wrapper

    def view(self, node: Node) -> None:
        """Views, of which Lance knows nothing."""
        if node.kind == "String" and node.was is not None and node.was.kind == "String":
            node.extra["arrow.apache.org/bufferEncoding"] = {"kind": "View", "offsetBitWidth": 32}

    def refuse(self, siblings: list[Node], node: Node) -> None:
        """Something that no table with rows can become."""
        if node.kind == "List" and "fixedLength" in node.properties:
            node.properties["fixedLength"] = 5
            node.is_refused = True
        else:
            siblings.append(self.named(self.leaf(is_optional=False)))

    def enlarge(self, node: Node) -> None:
        """Large offsets for texts and bytes."""
        if node.kind in ("String", "Binary") and node.was is not None and node.was.kind == node.kind:
            node.extra["arrow.apache.org/bufferEncoding"] = {"kind": "Contiguous", "offsetBitWidth": 64}

    def value(self, node: Node) -> Any:
        """A value of a type; small, so that it fits whatever the type becomes."""
        if node.is_optional and self.chance.random() < 0.3:
            return None
        chance = self.chance
        match node.kind:
            case "Struct":
                return {child.name: self.value(child) for child in node.children}
            case "List":
                count = node.properties.get("fixedLength", chance.randint(0, 3))
                return [self.value(node.children[0]) for _ in range(count)]
            case "Map":
                return [(str(i), self.value(node.children[1])) for i in range(chance.randint(0, 2))]
            case "Decimal":
                return Decimal(chance.randint(0, 9999)).scaleb(-2)
            case "String":
                return str(chance.randint(0, 99))
            case "Binary":
                return chance.randbytes(3)
            case "Bool":
                return chance.random() < 0.5
            case "Date":
                return datetime.date(2020, 1, 1) + datetime.timedelta(days=chance.randint(0, 500))
            case "Timestamp":
                moment = datetime.datetime(2021, 5, 1, tzinfo=datetime.UTC)
                return moment + datetime.timedelta(seconds=chance.randint(0, 10**6))
            case "Time":
                return datetime.time(chance.randint(0, 23), 30)
            case "Duration":
                return datetime.timedelta(seconds=chance.randint(0, 10**6))
        return chance.randint(0, 100) * (0.5 if node.kind in FLOATS else 1)


def _all(nodes: list[Node]) -> list[Node]:
    return [found for node in nodes for found in (node, *_all(node.children))]


def is_refused(columns: list[Node]) -> bool:
    """Whether an edit among all was one that no table can follow: another length, or a field without values."""
    for node in columns:
        if node.is_refused:
            return True
        if node.was is not None or any(inner.was is not None for inner in _all([node])):
            if is_refused(node.children):
                return True
        elif not node.is_optional:
            return True
    return False


def has_misfit(columns: list[Node], rows: list[dict[str, Any]]) -> bool:
    """Whether a null stands where the edit wants none, or a list of one length where it wants another."""
    return any(_misfit(node, _value_of(node, row), row) for row in rows for node in columns if node.name)


def _misfit(node: Node, value: Any, row: dict[str, Any]) -> bool:
    if node.was is None:
        return any(_misfit(child, _value_of(child, row), row) for child in node.children if child.was)
    if value is None:
        return not node.is_optional and node.was.is_optional
    if node.kind == "Struct":
        return any(_misfit(child, value.get(child.was.name), {}) for child in node.children if child.was)
    if node.kind == "List":
        return node.is_refused or any(_misfit(node.children[0], item, {}) for item in value)
    if node.kind == "Map":
        return any(_misfit(node.children[1], item, {}) for _, item in value)
    return False


def row_after(columns: list[Node], row: dict[str, Any]) -> dict[str, Any]:
    """What a row is after the edit."""
    return {column.name: _value_after(column, _value_of(column, row), row) for column in columns}


def _value_of(node: Node, row: dict[str, Any]) -> Any:
    """The value that a column had; a wrapper made of others has none of its own."""
    return row.get(node.was.name) if node.was is not None else None


def _value_after(node: Node, value: Any, row: dict[str, Any]) -> Any:
    if node.kind == "Struct" and node.was is None:
        inner = [child for child in node.children if child.was is not None]
        if not inner:
            return None
        return {
            child.name: _value_after(child, _value_of(child, row), row) if child.was else None
            for child in node.children
        }
    if value is None or node.was is None:
        return None
    if node.kind == "Struct":
        return {
            child.name: _value_after(child, value.get(child.was.name), {}) if child.was is not None else None
            for child in node.children
        }
    if node.kind == "List":
        return [_value_after(node.children[0], item, {}) for item in value]
    if node.kind == "Map":
        keys, values = node.children
        return [(_value_after(keys, key, {}), _value_after(values, item, {})) for key, item in value]
    return _cast(node.was.kind, node.kind, value)


def _cast(old: str, new: str, value: Any) -> Any:
    if old == new:
        return value
    if new == "String":
        return str(value).lower() if isinstance(value, bool) else str(value)
    if new == "Binary":
        return value.encode()
    if old == "Date":
        return datetime.datetime(value.year, value.month, value.day)  # noqa: DTZ001 — a clock without zone
    if old == "String":
        return float(value) if new == "Float64" else int(value)
    return int(value) if new in INTS else value
