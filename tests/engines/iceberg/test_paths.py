"""Tables that go through the versions of a lock, in one step or in several, as pyiceberg sees them.

Random histories, and for each a random path through them: after every `apply` the ids of the table are those of the lock and of
`schema.json`, rows are what they were, and what names fields (the name mapping, properties of columns) names those of now, so that
files can be added under the new names.
"""

import json
import random
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemac.cli.main import main
from schemac.engines.iceberg.artifact import schema_of
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.version_pair import locked_schema_version
from schemac.versions.identity.lockfile import read_lock
from tests.engines.iceberg.conftest import CATALOG

TABLE = f"iceberg://{CATALOG}/n.trips"
MAPPING = "schema.name-mapping.default"
METRICS = "write.metadata.metrics.column."
BLOOM = "write.parquet.bloom-filter-enabled.column."


@dataclass
class Node:
    """A field that stays itself, whatever it is called."""

    name: str
    uid: int
    members: "list[Node]" = field(default_factory=list)
    is_list: bool = False
    before: str = ""

    def tree(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"kind": "Option", "inner": {"kind": "Int32"}}
        struct = {"kind": "Struct", "fields": [member.tree() for member in self.members]}
        inner = {"kind": "List", "itemType": struct} if self.is_list else struct
        type_ = {"kind": "Option", "inner": inner} if self.members else plain
        extra = {"extra": {"schemac.dev/renamedFrom": self.before}} if self.before else {}
        return {"name": self.name, "type": type_, **extra}

    def value(self, seed: int) -> Any:
        """What a row has here: a number of the field and the row."""
        if not self.members:
            return self.uid * 100 + seed
        inside = {member.name: member.value(seed) for member in self.members}
        return [inside] if self.is_list else inside

    def seen(self, then: "Node | None", seed: int) -> Any:
        """The same of a row that was written under an earlier schema; None for what there was not yet."""
        if then is None:
            return None
        if not self.members:
            return self.value(seed)
        known = {member.uid: member for member in then.members}
        inside = {m.name: m.seen(known.get(m.uid), seed) for m in self.members}
        return [inside] if self.is_list else inside

    def copy(self) -> "Node":
        return Node(self.name, self.uid, [member.copy() for member in self.members], self.is_list)


class History:
    """Versions of a schema, by random edits."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._uids, self._names = count(1), count(1)
        key = self._new()
        first = [key, self._new(), self._struct(is_list=False), self._struct(is_list=True)]
        self.versions = [first]

    def _new(self) -> Node:
        return Node(f"f{next(self._names)}", next(self._uids))

    def _struct(self, *, is_list: bool) -> Node:
        return Node(f"f{next(self._names)}", next(self._uids), [self._new(), self._new()], is_list)

    def edit(self) -> None:
        columns = [node.copy() for node in self.versions[-1]]
        for _ in range(self.random.randint(1, 3)):
            groups = [columns, *(node.members for node in columns if node.members)]
            group = self.random.choice(groups)
            match self.random.choice(("add", "add", "add struct", "drop", "rename", "reorder")):
                case "add":
                    group.insert(self.random.randint(0, len(group)), self._new())
                case "add struct":
                    columns.append(self._struct(is_list=self.random.random() < 0.5))
                case "drop" if len(group) > 2:
                    group.remove(self.random.choice(group[1:]))
                case "rename":
                    node = self.random.choice(group)
                    if not node.before and any(node.uid == n.uid for n in _all(self.versions[-1])):
                        node.before, node.name = node.name, f"f{next(self._names)}"
                case "reorder":
                    self.random.shuffle(group)
        if [node.copy() for node in columns] == [node.copy() for node in self.versions[-1]]:
            columns.append(self._new())
        self.versions.append(columns)


def _all(nodes: list[Node]) -> list[Node]:
    return [*nodes, *(inner for node in nodes for inner in _all(node.members))]


def _drops(old: list[Node], new: list[Node], above: str = "") -> list[str]:
    """The paths of the fields that are no longer there, outermost first."""
    now = {node.uid: node for node in new}
    found = []
    for node in old:
        path = f"{above}{node.name}"
        if node.uid not in now:
            found.append(path)
        else:
            below = f"{path}.item." if node.is_list else f"{path}."
            found += _drops(node.members, now[node.uid].members, below)
    return found


def lock(history: History) -> None:
    for index, version in enumerate(history.versions):
        Path("trips.yaml").write_text(
            json.dumps({"name": "trips", "fields": [node.tree() for node in version]})
        )
        drops = _drops(history.versions[index - 1], version) if index else []
        flags = [word for path in drops for word in ("--drop", path)]
        if main(["lock", "trips.yaml", *flags]) != 0:
            raise AssertionError(flags)


def locked_ids(number: int) -> dict[str, int]:
    held = read_lock(Path("trips.lock").read_text(), "trips.lock", Report())
    assert held is not None
    schema = schema_of(locked_schema_version(held.dataset("trips"), number))
    return {".".join(path): one.id for path, one in schema.preorder()}


def ids_of(schema: Any) -> dict[str, int]:
    found: dict[str, int] = {schema.find_column_name(id): id for id in schema.field_ids}
    return found


def append(table: Any, version: list[Node], seed: int) -> None:
    row = {node.name: node.value(seed) for node in version}
    table.append(pa.Table.from_pylist([row], schema=table.schema().as_arrow()))


def add_file(table: Any, version: list[Node], seed: int, path: Path) -> None:
    """A file without ids, whose columns are found by their names."""
    row = {node.name: node.value(seed) for node in version}
    schema = pa.schema([f.remove_metadata() for f in _without_ids(table.schema().as_arrow())])
    pq.write_table(pa.Table.from_pylist([row], schema=schema), path)
    table.add_files([str(path)])


def _without_ids(fields: Any) -> list[Any]:
    return [pa.field(f.name, _bare(f.type), f.nullable) for f in fields]


def _bare(type_: Any) -> Any:
    if pa.types.is_struct(type_):
        return pa.struct(_without_ids(type_))
    if pa.types.is_large_list(type_) or pa.types.is_list(type_):
        return pa.list_(_without_ids([type_.value_field])[0])
    return type_


def check_names(table: Any) -> None:
    """Whatever names a field names one of now."""
    names = set(ids_of(table.schema()))
    columns = {key.partition(".column.")[2] for key in table.metadata.properties if ".column." in key}
    assert columns <= names
    from pyiceberg.table.name_mapping import NameMapping

    mapping = NameMapping.model_validate_json(table.metadata.properties[MAPPING])
    for name, id in ids_of(table.schema()).items():
        assert mapping._field_by_name[name].field_id == id


@pytest.mark.filterwarnings("ignore:Parquet writer option:UserWarning")
@pytest.mark.parametrize(
    "seed", [*range(10), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(10, 150))]
)
def test_keep_ids_rows_and_names_on_every_path(
    seed: int, catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    history = History(seed)
    for _ in range(history.random.randint(1, 4)):
        history.edit()
    lock(history)
    last = len(history.versions)
    between = [number for number in range(2, last) if history.random.random() < 0.5]
    from pyiceberg.schema import Schema

    held = read_lock(Path("trips.lock").read_text(), "trips.lock", Report())
    assert held is not None
    first = schema_of(locked_schema_version(held.dataset("trips"), 1))
    table = catalog.create_table("n.trips", Schema.model_validate(first.to_json()))
    assert main(["apply", "trips", "--table", TABLE, "--to", "1"]) == 0
    table.refresh()
    assert ids_of(table.schema()) == locked_ids(1)
    measured = [name for name in ids_of(table.schema()) if history.random.random() < 0.6]
    with table.transaction() as transaction:
        transaction.set_properties(
            {f"{METRICS}{name}": "full" for name in measured}
            | {f"{BLOOM}{name}": "true" for name in measured}
        )
    measured_ids = {ids_of(table.schema())[name] for name in measured}
    append(table, history.versions[0], 1)
    add_file(table, history.versions[0], 2, tmp_path / "one.parquet")
    written = {1: 1, 2: 1}
    for step, number in enumerate([*between, last]):
        assert main(["apply", "trips", "--table", TABLE, "--to", str(number)]) == 0
        assert main(["verify", "trips", "--table", TABLE, "--to", str(number)]) == 0
        table = catalog.load_table("n.trips")
        assert ids_of(table.schema()) == locked_ids(number)
        check_names(table)
        found = {ids_of(table.schema())[key[len(BLOOM) :]] for key in table.properties if BLOOM in key}
        assert found == measured_ids & set(ids_of(table.schema()).values())
        version = history.versions[number - 1]
        append(table, version, 10 * step + 3)
        add_file(table, version, 10 * step + 4, tmp_path / f"{step}.parquet")
        written |= {10 * step + 3: number, 10 * step + 4: number}
        now = table.scan().to_arrow().to_pylist()
        for row_seed, then in written.items():
            known = {node.uid: node for node in history.versions[then - 1]}
            assert {node.name: node.seen(known.get(node.uid), row_seed) for node in version} in now
        assert len(now) == len(written)
    assert main(["build", "trips.yaml", "--target", "iceberg", "--out", "built"]) == 0
    wanted = json.loads(Path("built/trips/iceberg/schema.json").read_text())
    assert ids_of(table.schema()) == ids_of(Schema.model_validate(wanted))
