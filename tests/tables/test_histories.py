"""From any version to any later one at once is the same as step by step, for random histories."""

import random
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemac.engines.lance.tables.apply import apply_plan, report_drift
from schemac.engines.lance.tables.plan import plan
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.version_pair import locked_schema_version
from schemac.versions.identity.lock import LockedDataset
from tests.effort import law
from tests.tables.drawing import Drawing, Tree
from tests.tables.test_apply import field, optional
from tests.tables.test_oracle import QUIET, comparable, locked, opened, write

QUICK = law(15)
LONG = settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))


def moved_on(path: str, lock: LockedDataset, number: int) -> tuple[str, ...]:
    """Carry a table to a version; the codes of what stands in the way."""
    report = Report()
    made = plan(opened(path, lock), locked_schema_version(lock, number), report)
    if made is not None and apply_plan(made, report, QUIET):
        report_drift(opened(path, lock), made.pair.new, report)
    return tuple(d.code for d in report.diagnostics)


def content(path: str) -> tuple[pa.Schema, list[tuple[str, int]], Any]:
    data = lance.dataset(path)
    ids = [(field.name(), field.id()) for field in data.lance_schema.fields()]
    return data.schema, ids, comparable(data.to_table().to_pylist())


def hold(seed: int, folder: Path) -> str:
    """One history of up to four versions."""
    drawing = Drawing(random.Random(seed))
    columns = drawing.schema()
    rows = [{column.name: drawing.value(column) for column in columns} for _ in range(10)]
    trees = [[column.member() for column in columns]]
    for _ in range(drawing.chance.randint(2, 4)):
        columns = drawing.edited(columns, drawing.chance.randint(1, 3))
        trees.append([column.member() for column in columns])
    lock = locked([{"fields": tree} for tree in trees])
    last = lock.versions[-1].number
    steps, at_once = str(folder / f"{seed}.steps"), str(folder / f"{seed}.once")
    for path in (steps, at_once):
        write(path, locked_schema_version(lock, 1), rows, per_file=5)
    start = drawing.chance.randint(1, max(1, last - 1))
    for number in range(2, last + 1):
        if number <= start:
            assert moved_on(at_once, lock, number) == moved_on(steps, lock, number)
        elif moved_on(steps, lock, number):
            return "stopped"
    assert moved_on(at_once, lock, last) == ()
    assert content(at_once) == content(steps)
    return "done"


@given(st.integers(0, 2**32))
@QUICK
def test_go_at_once_as_step_by_step(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    hold(seed, tmp_path_factory.mktemp("history"))


@pytest.mark.long
@given(st.integers(0, 2**32))
@LONG
def test_go_at_once_as_step_by_step_in_many_histories(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    hold(seed, tmp_path_factory.mktemp("history"))


KEY = field("Int64", "key")
DECIMAL = {"kind": "Decimal", "precision": 9, "scale": 2}
WAYS: dict[str, list[list[Any]]] = {
    "a cast and a new member": [
        [KEY, field("Int32", "x")],
        [KEY, field("Int32", "x"), field(optional({"kind": "Struct", "fields": [field(optional("Int8"), "q")]}), "n")],
        [KEY, field("Int64", "x"), field(optional({"kind": "Struct", "fields": [field(optional("Int8"), "q"), field(optional("Int8"), "r")]}), "n")],
    ],
    "numbers to texts, by way of others": [[KEY, field(kind, "x")] for kind in ("Int32", DECIMAL | {"precision": 12}, "String")],
    "truth to numbers to texts": [[KEY, field(kind, "x")] for kind in ("Bool", "Int8", "String")],
    "there and back": [[KEY, field(kind, "x")] for kind in ("Int32", "Int64", "Int32", "String")],
    "a way that there is only in steps": [[KEY, field(kind, "x")] for kind in ("Int32", "String", {**DECIMAL, "scale": 0, "precision": 5})],
    "in a struct, renamed": [
        [KEY, field({"kind": "Struct", "fields": [field("Bool", "a")]}, "s")],
        [KEY, field({"kind": "Struct", "fields": [field("Int8", "a")]}, "s")],
        [KEY, field({"kind": "Struct", "fields": [field("String", "b", **{"schemac.dev/renamedFrom": "a"})]}, "s")],
    ],
    "a member that stays was not there first": [
        [KEY, field(optional({"kind": "Struct", "fields": [field("Int8", "a")]}), "s")],
        [KEY, field(optional({"kind": "Struct", "fields": [field("Int8", "a"), field(optional("Int8"), "b")]}), "s")],
        [KEY, field(optional({"kind": "Struct", "fields": [field(optional("Int8"), "b")]}), "s")],
    ],
    "a struct made of what came later": [
        [KEY, field("Int8", "x")],
        [KEY, field("Int8", "x"), field(optional("Date"), "d")],
        [KEY, field("Int8", "x"), field({"kind": "Struct", "fields": [field(optional("Date"), "e", **{"schemac.dev/renamedFrom": "d"})]}, "w")],
    ],
    "a struct made of what came later, which has left it since": [
        [KEY, field("Int8", "x")],
        [KEY, field("Int8", "x"), field(optional("Date"), "d")],
        [KEY, field("Int8", "x"), field({"kind": "Struct", "fields": [field(optional("Date"), "e", **{"schemac.dev/renamedFrom": "d"})]}, "w")],
        [KEY, field("Int8", "x"), field({"kind": "Struct", "fields": [field(optional("Date"), "e"), field(optional("Int8"), "z")]}, "w")],
        [KEY, field("Int8", "x"), field({"kind": "Struct", "fields": [field(optional("Int8"), "z")]}, "w")],
    ],
    "a struct made of a field that has left it since": [
        [KEY, field("Int8", "x")],
        [KEY, field({"kind": "Struct", "fields": [field("Int8", "e", **{"schemac.dev/renamedFrom": "x"})]}, "w")],
        [KEY, field({"kind": "Struct", "fields": [field("Int8", "e"), field(optional("Int8"), "z")]}, "w")],
        [KEY, field({"kind": "Struct", "fields": [field(optional("Int8"), "z")]}, "w")],
    ],
    "dropped, and another of its name": [
        [KEY, field("Int8", "x")],
        [KEY],
        [KEY, field(optional("Int8"), "x")],
    ],
    "a member dropped, and another of its name": [
        [KEY, field(optional({"kind": "Struct", "fields": [field("Int8", "a"), field(optional("Int8"), "b")]}), "s")],
        [KEY, field(optional({"kind": "Struct", "fields": [field("Int8", "a")]}), "s")],
        [KEY, field(optional({"kind": "Struct", "fields": [field("Int8", "a"), field(optional("String"), "b")]}), "s")],
    ],
    "a column dropped, and a struct of its name made of another": [
        [KEY, field("Int8", "x")],
        [KEY, field(optional("Int64"), "n")],
        [KEY, field({"kind": "Struct", "fields": [field(optional("Int64"), "m", **{"schemac.dev/renamedFrom": "n"})]}, "x")],
    ],
    "a name that goes round": [
        [KEY, field("Int8", "x")],
        [KEY, field("Int8", "y", **{"schemac.dev/renamedFrom": "x"})],
        [KEY, field("Int8", "y"), field(optional("Int8"), "x")],
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
def test_go_two_versions_at_once(tmp_path: Path, name: str) -> None:
    lock = locked([{"fields": fields} for fields in WAYS[name]])
    first = WAYS[name][0][1]["type"]
    value = True if first == "Bool" or name == "in a struct, renamed" else 1
    rows: list[Tree] = [{"key": 1, WAYS[name][0][1]["name"]: value if isinstance(first, str) else None}]
    if not isinstance(first, str):
        is_optional = first["kind"] == "Option"
        rows = [{"key": 1, "s": {"a": value}}, {"key": 2, "s": None if is_optional else {"a": value}}]
    paths = [str(tmp_path / name) for name in ("steps", "once")]
    for path in paths:
        write(path, locked_schema_version(lock, 1), rows)
    last = lock.versions[-1].number
    assert last == len(WAYS[name])
    for number in range(2, last + 1):
        assert moved_on(paths[0], lock, number) == ()
    assert moved_on(paths[1], lock, last) == ()
    assert content(paths[1]) == content(paths[0])


def test_say_which_field_gets_its_name_late(tmp_path: Path) -> None:
    lock = locked([{"fields": fields} for fields in WAYS["dropped, and another of its name"]])
    path = str(tmp_path / "t.lance")
    write(path, locked_schema_version(lock, 1), [{"key": 1, "x": 1}])
    made = plan(opened(path, lock), locked_schema_version(lock, 3), Report())
    assert made is not None
    assert "gives x its final name" in made.steps[-1].describe()
