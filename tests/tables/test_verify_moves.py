"""What `verify` says of a table whose fields are called otherwise, or stand elsewhere, than in the schema.

The oracle moves every field of a table to every struct, by its own name and by another, and compares what is said with what was
done; and it does the same to the names at every depth.
"""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance
import pytest

from schemac.engines.lance.tables.apply import apply_plan, report_drift
from schemac.engines.lance.tables.plan import plan
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.version_pair import locked_schema_version
from schemac.versions.identity.lock import LockedDataset
from tests.tables.test_apply import field, optional
from tests.tables.test_oracle import QUIET, locked, opened

Fields = list[dict[str, Any]]


def struct(*members: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "Struct", "fields": list(members)}


def tree() -> Fields:
    """Fields at every depth, each struct with one that stays."""
    innermost = field(struct(field("Int8", "stays3"), field("String", "d")), "t")
    items = {"kind": "List", "itemType": struct(field("Int8", "stays2"), field("Int32", "i"), innermost)}
    return [
        field("Int8", "stays"),
        field("Float64", "a"),
        field(optional("Int8"), "b"),
        field(struct(field("Int8", "stays1"), field("Float64", "c"), copy.deepcopy(innermost)), "s"),
        field(items, "l"),
    ]


def members(type_: Any) -> Fields:
    """The members of a struct, or of the structs in a list."""
    if not isinstance(type_, dict):
        return []
    return type_["fields"] if type_["kind"] == "Struct" else members(type_.get("itemType"))


def places(fields: Fields, above: str = "") -> Iterator[tuple[str, Fields, dict[str, Any]]]:
    """Every field with its path and its siblings."""
    for one in fields:
        path = above + one["name"]
        yield path, fields, one
        is_list = isinstance(one["type"], dict) and one["type"]["kind"] == "List"
        yield from places(members(one["type"]), f"{path}.item." if is_list else f"{path}.")


def holders(fields: Fields) -> dict[str, Fields]:
    """What a field can stand in, by its path with a dot behind; the columns by an empty one."""
    found = {"": fields}
    for path, _, one in places(fields):
        if members(one["type"]):
            found[path + (".item." if one["type"]["kind"] == "List" else ".")] = members(one["type"])
    return found


def drift(path: str, lock: LockedDataset, number: int) -> list[str]:
    report = Report()
    report_drift(opened(path, lock), locked_schema_version(lock, number), report)
    return [d.message.partition("t.lance: ")[2] for d in report.diagnostics]


def moves() -> Iterator[tuple[str, str, Fields]]:
    """Every way of one field to another path, and the schema afterwards."""
    paths = [path for path, _, one in places(tree()) if not one["name"].startswith("stays")]
    for path in paths:
        for holder in holders(tree()):
            for name in (path.rpartition(".")[2], "new"):
                fields = tree()
                _, siblings, one = next(p for p in places(fields) if p[0] == path)
                target = holders(fields).get(holder)
                is_inside_itself = holder.startswith(path + ".")
                if target is None or is_inside_itself or (name != "new" and holder + name == path):
                    continue
                if any(other["name"] == name for other in target):
                    continue
                siblings.remove(one)
                one |= {"name": name, "extra": {"schemac.dev/renamedFrom": path}}
                if target is siblings:
                    one["extra"] = {"schemac.dev/renamedFrom": path.rpartition(".")[2]}
                target.append(one)
                yield path, holder + name, fields


WAYS = list(moves())


def test_enumerate_moves_at_every_depth() -> None:
    assert len(WAYS) > 50
    assert len({path.count(".") for path, _, _ in WAYS}) > 3


@pytest.mark.parametrize("stride", [3, pytest.param(1, marks=pytest.mark.long)])
def test_say_where_a_field_moved(stride: int, tmp_path: Path) -> None:
    path = str(tmp_path / "t.lance")
    schema = locked_schema_version(locked([{"fields": tree()}]), 1).lowered.to_arrow()
    lance.write_dataset(schema.empty_table(), path)
    for old, new, fields in WAYS[::stride]:
        lock = locked([{"fields": tree()}, {"fields": fields}])
        is_renamed = old.rpartition(".")[0] == new.rpartition(".")[0]
        moved = f"a field moved from `{old}` in the table to `{new}` in the schema"
        wanted = f"`{new}` has the name `{old}` in the table" if is_renamed else moved
        # Lists that are to be written anew get other ids.
        told = [line for line in drift(path, lock, 2) if " has the id " not in line]
        assert told == [wanted], (old, new)
        assert drift(path, lock, 1) == []


def test_say_it_of_a_table_that_is_ahead(tmp_path: Path) -> None:
    """A real move, carried out, looked at from the version before."""
    path = str(tmp_path / "t.lance")
    members_after = [field("Int8", "k"), field("Int32", "b", **{"schemac.dev/renamedFrom": "a"})]
    lock = locked(
        [
            {"fields": [field("Int8", "k"), field("Int32", "a"), field(struct(field("Int8", "k")), "s")]},
            {"fields": [field("Int8", "k"), field(struct(*members_after), "s")]},
        ]
    )
    schema = locked_schema_version(lock, 1).lowered.to_arrow()
    rows = [{"k": 1, "a": 2, "s": {"k": 3}}]
    lance.write_dataset(schema.empty_table().from_pylist(rows, schema=schema), path)
    made = plan(opened(path, lock), locked_schema_version(lock, 2), Report())
    assert made is not None
    assert apply_plan(made, Report(), QUIET)
    assert drift(path, lock, 2) == []
    assert drift(path, lock, 1) == ["a field moved from `s.b` in the table to `a` in the schema"]


@pytest.mark.parametrize("name", ["a", "z"])
def test_know_a_field_by_its_id_where_another_has_its_name(name: str, tmp_path: Path) -> None:
    path = str(tmp_path / "t.lance")
    lock = locked(
        [
            {"fields": [field("Int8", "k"), field("Int32", "a")]},
            {
                "fields": [
                    field("Int8", "k"),
                    field("Int32", "b", **{"schemac.dev/renamedFrom": "a"}),
                    field(optional("Int32"), name),
                ]
            },
        ]
    )
    lance.write_dataset(locked_schema_version(lock, 1).lowered.to_arrow().empty_table(), path)
    assert drift(path, lock, 2) == [f"`{name}` is missing", "`b` has the name `a` in the table"]
