"""Every writer between any two moments of a run, which is killed there or goes on: no value is lost.

Shape: the writer speaks of fields by the ids of the lock, and writes whatever schema it finds. What it wrote is compared
with what the same writer does to a table that was migrated first.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

from schemac.engines.lance.tables.apply import apply_plan
from schemac.engines.lance.tables.plan import plan
from schemac.engines.lance.tables.steps import MARK
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.version_pair import locked_schema_version
from schemac.versions.identity.lock import LockedDataset
from tests.tables.test_apply import field, optional
from tests.tables.test_oracle import QUIET, locked, opened, write

Progress = Callable[[str, int, int], None]
Writer = Callable[[str, LockedDataset], None]

KEY = field("Int64", "key")
OLD = [
    KEY,
    field(optional("String"), "x"),
    field(optional("Int32"), "p"),
    field(optional("Int32"), "q"),
    field({"kind": "Struct", "fields": [field("Int32", "n")]}, "s"),
    field({"kind": "Struct", "fields": [field("Int32", "a")]}, "all"),
    field("Int64", "gone"),
]


def renamed(type_: Any, name: str, old: str) -> dict[str, Any]:
    return field(type_, name, **{"schemac.dev/renamedFrom": old})


NEW = {
    "one commit": [
        KEY,
        field(optional("Int32"), "x"),
        *OLD[2:4],
        field({"kind": "Struct", "fields": [field("String", "n"), field(optional("Bool"), "flag")]}, "s"),
        OLD[5],
        OLD[6],
    ],
    "two commits": [
        field(optional("Date"), "new"),
        renamed("Int64", "id", "key"),
        renamed(optional("Int32"), "y", "x"),
        renamed("Int64", "q", "p"),
        renamed(optional("Int32"), "p", "q"),
        field({"kind": "Struct", "fields": [field("String", "n")]}, "s"),
        field({"kind": "Struct", "fields": [field(optional("String"), "b")]}, "all"),
    ],
    "names alone": [renamed("Int64", "id", "key"), *OLD[1:]],
    "required": [KEY, field("String", "x"), *OLD[2:]],
}


def value(type_: Any, number: int) -> Any:
    """The like of a number in a type; members that were not there from the start are null."""
    if pa.types.is_struct(type_):
        return {f.name: value(f.type, number) if f.name in ("n", "a") else None for f in type_}
    if pa.types.is_string(type_):
        return str(number)
    return number if pa.types.is_integer(type_) else None


def names(path: str, lock: LockedDataset) -> dict[int, str]:
    """What the first version's columns are called now, by their places in it."""
    version = opened(path, lock).schema_version
    assert version.ids is not None
    first = locked_schema_version(lock, 1)
    assert first.ids is not None
    by_id = {id: str(field.segment) for field, id in version.ids.items() if field.parent is None}
    places = [first.ids[field] for field in first.dataset.columns]
    return {place: by_id[id] for place, id in enumerate(places) if id in by_id}


def rows(path: str, lock: LockedDataset, keys: dict[int, int], *places: int) -> pa.Table:
    """New rows in the schema that the table has now: the number of each key in every column."""
    schema = lance.dataset(path).schema
    known = names(path, lock)
    wanted = {known[place] for place in (places or known) if place in known}
    key = known[0]
    made = [
        {f.name: k if f.name == key else value(f.type, n) if f.name in wanted else None for f in schema}
        for k, n in keys.items()
    ]
    if places:
        schema = pa.schema([f for f in schema if f.name in wanted])
    return pa.Table.from_pylist(made, schema=schema)


def append(path: str, lock: LockedDataset) -> None:
    lance.write_dataset(rows(path, lock, {100: 7, 101: 8}), path, mode="append")


def update(path: str, lock: LockedDataset) -> None:
    known, schema = names(path, lock), lance.dataset(path).schema
    literal = "'77'" if pa.types.is_string(schema.field(known[1]).type) else "77"
    lance.dataset(path).update({known[1]: literal}, where=f"{known[0]} = 2")


def merge_insert(path: str, lock: LockedDataset) -> None:
    table = rows(path, lock, {3: 55, 102: 9})
    found = lance.dataset(path).merge_insert(names(path, lock)[0])
    found.when_matched_update_all().when_not_matched_insert_all().execute(table)


def merge_part(path: str, lock: LockedDataset) -> None:
    table = rows(path, lock, {1: 44, 4: 45}, 0, 1)
    lance.dataset(path).merge_insert(names(path, lock)[0]).when_matched_update_all().execute(table)


def delete(path: str, lock: LockedDataset) -> None:
    lance.dataset(path).delete(f"{names(path, lock)[0]} in (1, 4)")


def compact(path: str, lock: LockedDataset) -> None:
    lance.dataset(path).optimize.compact_files()


def index(path: str, lock: LockedDataset) -> None:
    lance.dataset(path).create_scalar_index(names(path, lock)[1], "BTREE", name="made")


def overwrite(path: str, lock: LockedDataset) -> None:
    lance.write_dataset(rows(path, lock, {100: 7, 101: 8}), path, mode="overwrite")


def again(path: str, lock: LockedDataset) -> None:
    migrate(path, lock, QUIET)


def restore(path: str, lock: LockedDataset) -> None:
    """Go back to the version before anything was changed; afterwards nobody goes on from there but `apply`."""
    lance.dataset(path, version=PREPARED).restore()


PREPARED = 3
"""The version of the table that `prepared` makes."""
WRITERS: tuple[Writer, ...] = (
    append, update, merge_insert, merge_part, delete, compact, index, overwrite, again,
)  # fmt: skip


def migrate(path: str, lock: LockedDataset, progress: Progress) -> None:
    report = Report()
    made = plan(opened(path, lock), locked_schema_version(lock, 2), report)
    assert made is not None, report.diagnostics
    assert apply_plan(made, report, progress), report.diagnostics


class _KilledError(BaseException):
    pass


def stop_at(moment: int, writer: Writer, path: str, lock: LockedDataset, *, is_killed: bool) -> Progress:
    told = -1

    def progress(what: str, done: int, total: int) -> None:
        nonlocal told
        told += 1
        if told == moment:
            writer(path, lock)
            if is_killed:
                raise _KilledError

    return progress


def prepared(folder: Path, name: str) -> tuple[str, LockedDataset]:
    lock, path = locked([{"fields": OLD}, {"fields": NEW[name]}]), str(folder / "start.lance")
    values = [
        {"key": k, "x": str(k), "p": k, "q": -k, "s": {"n": k}, "all": {"a": k}, "gone": k}
        for k in range(1, 6)
    ]
    write(path, locked_schema_version(lock, 1), values, per_file=3)
    lance.dataset(path).create_scalar_index("x", "BTREE", name="of_x")
    return path, lock


def content(path: str) -> dict[int, Any]:
    data = lance.dataset(path)
    key = "id" if "id" in data.schema.names else "key"
    return {row[key]: row for row in data.to_table().to_pylist()}


def moments(path: str, lock: LockedDataset) -> list[str]:
    """What is told in a run of its own."""
    shutil.copytree(path, f"{path}.count")
    told: list[str] = []
    migrate(f"{path}.count", lock, lambda what, done, total: told.append(f"{what} {done}"))
    return told


def hold(path: str, lock: LockedDataset, writer: Writer, moment: int, *, is_killed: bool) -> None:
    """One writer at one moment."""
    here = f"{path}.{writer.__name__}.{moment}.{is_killed}"
    shutil.copytree(path, here)
    try:
        migrate(here, lock, stop_at(moment, writer, here, lock, is_killed=is_killed))
    except _KilledError:
        migrate(here, lock, QUIET)
    data = lance.dataset(here)
    assert content(here) == expected(path, lock, writer)
    assert not any(MARK in name for name in data.schema.names)
    assert data.schema == lance.dataset(f"{path}.{writer.__name__}").schema
    assert data.config() == {}
    if writer is not overwrite:
        assert {"of_x"} <= {found.name for found in data.describe_indices()}
    if writer is index:
        assert {"of_x", "made"} == {found.name for found in data.describe_indices()}
    shutil.rmtree(here)


def expected(path: str, lock: LockedDataset, writer: Writer) -> dict[int, Any]:
    """What the writer does to a table that was migrated first."""
    first = f"{path}.{writer.__name__}"
    if not Path(first).exists():
        shutil.copytree(path, first)
        migrate(first, lock, QUIET)
        writer(first, lock)
    return content(first)


@pytest.mark.parametrize("name", NEW)
def test_lose_nothing_of_what_is_written_in_between(tmp_path: Path, name: str) -> None:
    """Each third moment in one of both ways, other ones for each writer."""
    path, lock = prepared(tmp_path, name)
    count = len(moments(path, lock))
    assert count >= (2 if name in ("names alone", "required") else 6)
    for number, writer in enumerate(WRITERS):
        for moment in range(number % 3, count, 3):
            hold(path, lock, writer, moment, is_killed=(moment // 3 + number) % 2 == 0)


@pytest.mark.long
@pytest.mark.parametrize("name", NEW)
def test_lose_nothing_at_any_moment(tmp_path: Path, name: str) -> None:
    path, lock = prepared(tmp_path, name)
    count = len(moments(path, lock))
    for writer in WRITERS:
        for moment in range(count):
            for is_killed in (False, True):
                hold(path, lock, writer, moment, is_killed=is_killed)


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("is_killed", [False, True])
def test_begin_again_after_a_restore(tmp_path: Path, name: str, is_killed: bool) -> None:
    """At every moment but after the last commit, whose result somebody then takes back."""
    path, lock = prepared(tmp_path, name)
    assert lance.dataset(path).version == PREPARED
    there = expected(path, lock, compact)
    told = moments(path, lock)
    for moment in range(len(told) - 1):
        here = f"{path}.{moment}"
        shutil.copytree(path, here)
        try:
            migrate(here, lock, stop_at(moment, restore, here, lock, is_killed=is_killed))
        except _KilledError:
            migrate(here, lock, QUIET)
        data = lance.dataset(here)
        assert content(here) == there, told[moment]
        assert data.config() == {}, told[moment]
        assert {"of_x"} == {found.name for found in data.describe_indices()}, told[moment]
        shutil.rmtree(here)


@pytest.mark.parametrize("way", ["append", "update", "merge_insert", "delete", "compact"])
def test_lose_nothing_of_what_began_before(tmp_path: Path, way: str) -> None:
    """Who opened the table before the swap and writes after it is refused by Lance, or has written what counts."""
    path, lock = prepared(tmp_path, "one commit")
    table = rows(path, lock, {3: 55, 102: 9})
    old = lance.dataset(path)
    migrate(path, lock, QUIET)
    migrated = content(path)
    writers: dict[str, Callable[[], Any]] = {
        "append": lambda: lance.write_dataset(table, old, mode="append"),
        "update": lambda: old.update({"x": "'77'"}, where="key = 2"),
        "merge_insert": lambda: (
            old.merge_insert("key").when_matched_update_all().when_not_matched_insert_all().execute(table)
        ),
        "delete": lambda: old.delete("key = 1"),
        "compact": lambda: old.optimize.compact_files(),
    }
    try:
        writers[way]()
    except OSError:
        assert content(path) == migrated
    else:
        assert content(path) == {key: row for key, row in migrated.items() if key != 1 or way != "delete"}


def test_know_the_moments(tmp_path: Path) -> None:
    """Every commit of a run has a moment before it and one after it."""
    path, lock = prepared(tmp_path, "two commits")
    told = moments(path, lock)
    start = lance.dataset(path).version
    assert [what for what in told if what.endswith(" 0")] != []
    commits = lance.dataset(f"{path}.count").version - start
    assert json.dumps(told).count("swap in the new fields") == 2
    assert commits >= 3
