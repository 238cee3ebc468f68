"""Constraints that come together with another change of an Iceberg table: what `apply` says is held against `verify --data`.

Shape: every constraint that fits the new type × promotions × positions, each with a row that keeps it and one that breaks it.
"""

import json
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import lance
import pyarrow as pa
import pytest

import schemac
from schemac.cli.main import main
from schemac.engines.iceberg import tables
from schemac.engines.iceberg.tables import check_rows
from tests.engines.iceberg.conftest import CATALOG

TABLE, OWN = f"iceberg://{CATALOG}/n.t", "schemac.dev"
Tree = dict[str, Any]
DECIMAL, WIDE = ({"kind": "Decimal", "precision": n, "scale": 2} for n in (9, 20))
NARROW = {
    "minimum": 5,
    "maximum": 5,
    "exclusiveMinimum": 4,
    "exclusiveMaximum": 70,
    "multipleOf": 4,
    "enum": [4],
}
REAL = {name: value for name, value in NARROW.items() if name != "multipleOf"}
TEXTS = {"minLength": 3, "maxLength": 3, "pattern": "^ab$", "enum": ["ab"]}
LISTS = {"minItems": 2, "maxItems": 2, "uniqueItems": True}


class Promotion(NamedTuple):
    """A change of a type that Iceberg makes, or one that it does not see."""

    old: Any
    new: Any
    values: tuple[Any, Any]
    rules: dict[str, Any]


PROMOTIONS = (
    Promotion("Int32", "Int32", (4, 70), NARROW),
    Promotion("Int32", "Int64", (4, 70), NARROW),
    Promotion("Int8", "Int64", (4, 70), NARROW),
    Promotion("Float32", "Float64", (4.0, 70.0), REAL),
    Promotion(DECIMAL, WIDE, (4, 70), NARROW),
    Promotion("String", "String", ("ab", "abcd"), TEXTS),
    Promotion(
        {"kind": "List", "itemType": "Int32"}, {"kind": "List", "itemType": "Int64"}, ([1], [1, 2, 1]), LISTS
    ),
)
COLUMNS = [(one, rule) for one in PROMOTIONS for rule in one.rules]
POSITIONS = ("in place", "renamed", "in a renamed struct", "in a list")


def _manifest(position: str, *, is_new: bool, is_ruled: bool) -> Tree:
    fields = []
    for number, (promotion, rule) in enumerate(COLUMNS):
        extra = {f"{OWN}/{rule}": promotion.rules[rule]} if is_ruled else {}
        type_ = promotion.new if is_new else promotion.old
        name = f"c{number}"
        if position == "in a list":
            inner = {**(type_ if isinstance(type_, dict) else {"kind": type_}), "extra": extra}
            fields.append({"name": name, "type": {"kind": "List", "itemType": inner}})
            continue
        if position == "renamed" and is_new:
            extra, name = {**extra, f"{OWN}/renamedFrom": name}, f"n{number}"
        fields.append({"name": name, "type": type_, "extra": extra})
    if position == "in a renamed struct":
        renamed = {f"{OWN}/renamedFrom": "s"} if is_new else {}
        fields = [
            {"name": "r" if is_new else "s", "type": {"kind": "Struct", "fields": fields}, "extra": renamed}
        ]
    added = [{"name": "more", "type": {"kind": "Option", "inner": "String"}}] if is_new else []
    return {"name": "t", "fields": [{"name": "id", "type": "Int64"}, *added, *fields]}


def _lock(manifest: Tree) -> None:
    Path("t.yaml").write_text(json.dumps(manifest))
    assert main(["lock", "t.yaml", "-q"]) == 0


def _create(catalog: Any, rows: list[Tree]) -> Any:
    from pyiceberg.schema import Schema

    assert main(["build", "t.yaml", "--target", "iceberg", "--out", "built", "-q"]) == 0
    schema = Schema.model_validate(json.loads(Path("built/t/iceberg/schema.json").read_text()))
    if catalog.table_exists("n.t"):
        catalog.drop_table("n.t")
    table = catalog.create_table("n.t", schema, properties={"schemac.version": "1"})
    (dataset,) = schemac.compile_file("t.yaml")
    arrow = pa.Table.from_pylist(rows, schema=dataset.to_arrow())
    table.append(arrow.cast(table.schema().as_arrow()))
    return table


def _row(number: int, position: str, *, is_broken: bool) -> Tree:
    values: Tree = {}
    for n, (promotion, rule) in enumerate(COLUMNS):
        is_low = rule in ("minimum", "exclusiveMinimum", "minLength", "minItems")
        value: Any = promotion.values[is_broken != is_low]
        if isinstance(promotion.old, dict) and promotion.old["kind"] == "Decimal":
            value = Decimal(value)
        values[f"c{n}"] = [value] if position == "in a list" else value
    return {"id": number, **({"s": values} if position == "in a renamed struct" else values)}


def _paths(position: str) -> set[str]:
    form = {"renamed": "n{}", "in a renamed struct": "r.c{}", "in a list": "c{}.item"}.get(position, "c{}")
    return {form.format(number) for number in range(len(COLUMNS))}


def _told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[Tree]]:
    capsys.readouterr()
    code = main([*words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)["diagnostics"]


@pytest.mark.parametrize("position", POSITIONS)
def test_look_at_every_constraint_beside_every_promotion(
    position: str,
    catalog: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    _lock(_manifest(position, is_new=False, is_ruled=False))
    table = _create(catalog, [_row(1, position, is_broken=False), _row(2, position, is_broken=True)])
    before = table.metadata_location
    _lock(_manifest(position, is_new=True, is_ruled=True))
    code, found = _told(capsys, "verify", "t", "--table", TABLE, "--data")
    assert code == 1
    assert {one["path"] for one in found if one["code"] == "SC425"} == _paths(position)
    code, found = _told(capsys, "apply", "t", "--table", TABLE)
    assert code == 1
    assert {(one["code"], one["path"]) for one in found} == set(product(["SC422"], _paths(position)))
    shown = eval(found[0]["help"].partition(" shows")[0], {"pyiceberg": __import__("pyiceberg.catalog")})
    assert shown.column("id").to_pylist() == [2]
    assert catalog.load_table("n.t").metadata_location == before
    table.delete("id = 2")
    capsys.readouterr()
    assert main(["apply", "t", "--table", TABLE]) == 0
    assert "and verified" in capsys.readouterr().err
    assert main(["verify", "t", "--table", TABLE, "--data"]) == 0


RULES = {
    "unique": ([["a"]], [["b"]]),
    "check": (["a > b"], ["a < b"]),
    "references": (
        [{"fields": ["b"], "dataset": "o", "to": ["x"]}],
        [{"fields": ["a"], "dataset": "o", "to": ["x"]}],
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_look_at_constraints_of_rows(
    rule: str,
    catalog: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    lance.write_dataset(pa.table({"x": pa.array([1, 1], pa.int32())}), "o.lance")
    old = {"name": "t", "fields": [{"name": name, "type": "Int32"} for name in "ab"]}
    new = {"name": "t", "fields": [{"name": "a", "type": "Int64"}, {"name": "b", "type": "Int32"}]}
    broken, kept = RULES[rule]
    for value, is_kept in ((broken, False), (kept, True)):
        Path("t.lock").unlink(missing_ok=True)
        _lock(old)
        _create(catalog, [{"a": 1, "b": 2}, {"a": 1, "b": 3}])
        _lock({**new, "extra": {f"{OWN}/{rule}": value}})
        options = ("--reference", "o=o.lance") if rule == "references" else ()
        code, found = _told(capsys, "apply", "t", "--table", TABLE, *options)
        assert (code, [one["code"] for one in found]) == ((0, []) if is_kept else (1, ["SC422"]))
        assert (main(["verify", "t", "--table", TABLE, "--data", *options]) == 0) is is_kept


def test_say_that_nobody_looked(
    catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    fields = [{"name": "a", "type": "Int32"}]
    _lock({"name": "t", "fields": fields})
    _create(catalog, [{"a": 6}])
    reference = {"fields": ["a"], "dataset": "o", "to": ["x"]}
    _lock({"name": "t", "fields": fields, "extra": {f"{OWN}/references": [reference]}})
    assert main(["plan", "t", "--table", TABLE]) == 0
    assert "this is not checked" in " ".join(capsys.readouterr().out.split())
    assert main(["apply", "t", "--table", TABLE]) == 0
    assert "the rows were not checked" in " ".join(capsys.readouterr().err.split())
    _lock({"name": "t", "fields": [{**fields[0], "extra": {f"{OWN}/maximum": 5}}]})
    assert main(["apply", "t", "--table", TABLE, "--unchecked"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "the rows were not checked for: a: a has to be at most 5" in said
    assert "and verified" not in said


def test_look_at_values_that_the_type_of_iceberg_does_not_bound(
    catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Int8 is an `int` there, as Int32 is."""
    monkeypatch.chdir(tmp_path)
    _lock({"name": "t", "fields": [{"name": "a", "type": "Int32"}]})
    table = _create(catalog, [{"a": 3}, {"a": 300}])
    _lock({"name": "t", "fields": [{"name": "a", "type": "Int8"}]})
    code, found = _told(capsys, "apply", "t", "--table", TABLE)
    assert (code, [one["code"] for one in found]) == (1, ["SC422"])
    assert "300" in found[0]["message"]
    table.delete("a = 300")
    assert main(["apply", "t", "--table", TABLE]) == 0


def test_ask_the_user_where_rows_cannot_be_read(
    catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _lock({"name": "t", "fields": [{"name": "a", "type": "Int32"}]})
    table = _create(catalog, [{"a": 3}])
    (file,) = [task.file.file_path for task in table.scan().plan_files()]
    Path(file.removeprefix("file://")).unlink()
    _lock({"name": "t", "fields": [{"name": "a", "type": "Int64", "extra": {f"{OWN}/maximum": 5}}]})
    code, found = _told(capsys, "apply", "t", "--table", TABLE)
    assert (code, [one["code"] for one in found]) == (1, ["SC422"])
    assert "cannot be read here" in found[0]["message"]
    assert "--unchecked" in found[0]["help"]
    assert main(["apply", "t", "--table", TABLE, "--unchecked"]) == 0


def test_commit_nothing_where_rows_come_after_the_look(
    catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _lock({"name": "t", "fields": [{"name": "a", "type": "Int32"}]})
    _create(catalog, [{"a": 3}])
    _lock({"name": "t", "fields": [{"name": "a", "type": "Int32", "extra": {f"{OWN}/maximum": 5}}]})

    def look(*args: Any) -> bool:
        is_read = check_rows(*args)
        other = catalog.load_table("n.t")
        other.append(pa.table({"a": pa.array([6], pa.int32())}).cast(other.schema().as_arrow()))
        return is_read

    monkeypatch.setattr(tables, "check_rows", look)
    code, found = _told(capsys, "apply", "t", "--table", TABLE)
    assert (code, [one["code"] for one in found]) == (1, ["SC423"])
    monkeypatch.setattr(tables, "check_rows", check_rows)
    assert "6" in _told(capsys, "apply", "t", "--table", TABLE)[1][0]["message"]
