"""Structs that lose, get and exchange their members: values are kept, or the change is stopped before anything is done.

Shape: columns are small trees of ints and structs, edited at random: members are dropped, added and moved in and out of
structs that may be null, and lists of structs get other members, until nothing of the first version may be left. What a
row is afterwards is told by an independent model; the table is read back through pylance in every storage version.
"""

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

from schemac.engines.lance.tables.apply import apply_plan, report_drift
from schemac.engines.lance.tables.plan import plan
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.version_pair import locked_schema_version
from tests.tables.test_oracle import QUIET, locked, opened

Tree = dict[str, Any]


@dataclass(eq=False)
class Node:
    """A number, a struct, or a list of structs."""

    name: str
    is_optional: bool
    children: "list[Node] | None" = None
    is_list: bool = False
    was: "Node | None" = None
    old_name: str | None = None

    def tree(self) -> Tree:
        """The field as a manifest has it."""
        type_: Any = "Int32"
        if self.children is not None:
            type_ = {"kind": "Struct", "fields": [child.tree() for child in self.children]}
        if self.is_list:
            type_ = {"kind": "List", "itemType": {"kind": "Option", "inner": type_}}
        if self.is_optional:
            type_ = {"kind": "Option", "inner": type_}
        extra = {"schemac.dev/renamedFrom": self.old_name} if self.old_name else {}
        return {"name": self.name, "type": type_, **({"extra": extra} if extra else {})}


@dataclass
class Drawing:
    """One history of one table."""

    chance: random.Random
    names: int = 0
    lost: list[Node] = field(default_factory=list)

    def name(self) -> str:
        self.names += 1
        return f"f{self.names}"

    def node(self, depth: int) -> Node:
        form = self.chance.choice(("int", "struct", "struct", "list")) if depth else "int"
        is_optional = self.chance.random() < 0.5
        if form == "int":
            return Node(self.name(), is_optional)
        children = [self.node(depth - 1) for _ in range(self.chance.randint(1, 2))]
        return Node(self.name(), is_optional, children, form == "list")

    def value(self, node: Node) -> Any:
        if node.is_optional and self.chance.random() < 0.3:
            return None
        if node.is_list:
            return [self.inner(node) for _ in range(self.chance.randint(0, 2))]
        return self.struct(node)

    def inner(self, node: Node) -> Any:
        return None if self.chance.random() < 0.2 else self.struct(node)

    def struct(self, node: Node) -> Any:
        if node.children is None:
            return self.chance.randint(0, 99)
        return {child.name: self.value(child) for child in node.children}

    def edited(self, columns: list[Node]) -> list[Node]:
        after = [copied(node) for node in columns]
        for _ in range(self.chance.randint(1, 3)):
            self.chance.choice((self.replace, self.replace, self.move, self.move, self.add, self.loosen))(
                after
            )
        return after

    def replace(self, columns: list[Node]) -> None:
        """Members go, all of them as often as not, and another one comes."""
        holders = [node for node in below(columns) if node.children]
        if not holders:
            return
        holder = self.chance.choice(holders)
        assert holder.children is not None
        kept = [] if self.chance.random() < 0.6 else holder.children[1:]
        holder.children[:] = kept
        if not kept or self.chance.random() < 0.7:
            self.add_to(holder.children)

    def add(self, columns: list[Node]) -> None:
        self.add_to(self.chance.choice([columns, *(n.children for n in below(columns) if n.children)]))

    def add_to(self, siblings: list[Node]) -> None:
        new = self.node(1)
        new.is_optional = True
        siblings.insert(self.chance.randint(0, len(siblings)), new)

    def loosen(self, columns: list[Node]) -> None:
        """The one way that is always open."""
        self.chance.choice(
            [n for n in below(columns) if n.name != "key"] or [Node("x", True)]
        ).is_optional = True

    def move(self, columns: list[Node]) -> None:
        """A field moves to another struct, or to the top."""
        places: list[tuple[list[Node], str]] = [(columns, "")]
        for node in columns:
            places += structs(node, "")
        movable = [
            (siblings, node, path) for siblings, path in places for node in siblings
            if node.was and node.name != "key" and not node.old_name and (siblings is columns or len(siblings) > 1)
        ]  # fmt: skip
        if not movable:
            return
        siblings, node, path = self.chance.choice(movable)
        inside = {id(inner.children) for inner in below([node])}
        others = [(s, p) for s, p in places if s is not siblings and id(s) not in inside]
        if any(n.was is None or n.old_name for n in below(columns) if n.children and node in n.children):
            return
        if others:
            target, _ = self.chance.choice(others)
            siblings.remove(node)
            node.old_name = f"{path}.{node.name}" if path else node.name
            node.name = self.name()
            target.append(node)


def structs(node: Node, path: str) -> list[tuple[list[Node], str]]:
    """The members of structs that stand in no list, each with its path."""
    if node.children is None or node.is_list or node.was is None:
        return []
    here = f"{path}.{node.name}" if path else node.name
    return [(node.children, here), *(found for child in node.children for found in structs(child, here))]


def below(nodes: list[Node]) -> list[Node]:
    return [found for node in nodes for found in (node, *below(node.children or []))]


def copied(node: Node) -> Node:
    children = [copied(child) for child in node.children] if node.children is not None else None
    return Node(node.name, node.is_optional, children, node.is_list, node)


class _LostError(Exception):
    """A value has no place in the new row."""


def places(nodes: list[Node], row: Tree | None) -> dict[Node, Any]:
    """The value of every old node that has one in every row."""
    found: dict[Node, Any] = {}
    for node in nodes:
        value = row[node.name] if row is not None else None
        found[node] = value
        if node.children is not None and not node.is_list:
            found.update(places(node.children, value))
    return found


def after(node: Node, values: dict[Node, Any]) -> Any:
    """A node's value in the new row; raises where a value is lost, or null in what may not be null."""
    value = values.get(node.was) if node.was else None
    if node.is_list and value is not None:
        assert node.children is not None
        assert node.was is not None
        olds = node.was.children or []
        return [struct(node.children, places(olds, item)) if item is not None else None for item in value]
    if node.children is not None and not node.is_list and value is not None:
        return struct(node.children, values)
    if value is None:
        if any(values.get(inner.was) is not None for inner in below(node.children or []) if inner.was):
            raise _LostError(node.name)
        if not node.is_optional:
            raise _LostError(node.name)
    return value


def struct(children: list[Node], values: dict[Node, Any]) -> Tree:
    return {child.name: after(child, values) for child in children}


def row_after(columns: list[Node], old: list[Node], row: Tree) -> Tree:
    return struct(columns, places(old, row))


def is_readable(rows: pa.Table, path: str, version: str) -> bool:
    """Whether pylance reads what it wrote itself: of nulls in four lists inside each other it miscounts some."""
    lance.write_dataset(rows, path, data_storage_version=version, mode="overwrite")
    try:
        lance.dataset(path).to_table()
    except pa.ArrowInvalid:
        return False
    return True


def hold(seed: int, folder: Path, version: str) -> str:
    """One history: what comes of it is what the model says, or nothing is changed."""
    drawing = Drawing(random.Random(seed))
    columns = [
        Node("key", is_optional=False),
        *(drawing.node(2) for _ in range(drawing.chance.randint(1, 3))),
    ]
    first = columns
    rows = [{node.name: drawing.value(node) for node in columns} for _ in range(12)]
    histories = [columns]
    for _ in range(drawing.chance.randint(1, 3)):
        columns = drawing.edited(histories[-1])
        if [node.tree() for node in columns] != [node.tree() for node in histories[-1]]:
            histories.append(columns)
    lock = locked([{"fields": [node.tree() for node in columns]} for columns in histories])
    path = str(folder / f"{seed}.lance")
    schema = locked_schema_version(lock, 1).lowered.to_arrow()
    for start in range(0, 12, 6):
        table = pa.Table.from_pylist(rows[start : start + 6], schema=schema)
        lance.write_dataset(table, path, mode="append" if start else "create", data_storage_version=version)
    old = first
    for number, new_columns in enumerate(histories[1:], 2):
        report, table = Report(), opened(path, lock)
        made = plan(table, locked_schema_version(lock, number), report)
        before = lance.dataset(path).version
        try:
            wanted = [row_after(new_columns, old, row) for row in rows]
        except _LostError:
            assert made is None or not apply_plan(made, report, QUIET), "a value is lost"
            assert lance.dataset(path).version == before
            return "stopped"
        assert made is not None, report.diagnostics
        assert apply_plan(made, report, QUIET), report.diagnostics
        report_drift(opened(path, lock), made.pair.new, report)
        assert not report.diagnostics
        arrow = locked_schema_version(lock, number).lowered.to_arrow()
        if not is_readable(pa.Table.from_pylist(wanted, schema=arrow), f"{path}.new", version):
            return "unreadable"
        assert lance.dataset(path).to_table().to_pylist() == wanted, f"version {number}"
        old, rows = new_columns, wanted
    return "done"


def test_keep_what_structs_hold(tmp_path: Path) -> None:
    seen = set()
    for seed in range(45):
        version = ("2.2", "2.1", "2.3")[seed % 3]
        try:
            seen.add(hold(seed, tmp_path, version))
        except Exception as error:
            raise AssertionError(f"seed {seed}, storage version {version}") from error
    assert seen >= {"done", "stopped"}


@pytest.mark.long
@pytest.mark.parametrize("version", ["2.1", "2.2", "2.3"])
def test_keep_what_many_structs_hold(tmp_path: Path, version: str) -> None:
    for seed in range(1000, 2000):
        hold(seed, tmp_path, version)
