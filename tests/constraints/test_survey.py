"""Stored rows beside the constraints of their schema: `verify --data`, and the checks before a change."""

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import schemac
from schemac.arrow.constraints import constraints_of
from schemac.cli.main import main
from schemac.language.constraints.evaluation import ReferenceValues, survey, target_keys
from schemac.language.constraints.expressions import FieldNode

MANIFEST = """
name: rides
extra:
  schemac.dev/unique: [[ride], [trip.car, seat]]
  schemac.dev/references: [{fields: [trip.car, kind], dataset: cars, to: [id, kind]}]
  schemac.dev/check: ["seat < 4 or kind = 'bus'", "price is null or price > 0"]
fields:
  - {name: ride, type: Int64}
  - {name: trip, type: {kind: Option, inner: {kind: Struct, fields: [{name: car, type: Int32}]}}}
  - {name: seat, type: {kind: Option, inner: UInt8}}
  - {name: kind, type: {kind: Option, inner: String}, extra: {schemac.dev/enum: [bus, taxi]}}
  - {name: price, type: {kind: Option, inner: {kind: Decimal, precision: 38, scale: 2}}, extra: {schemac.dev/multipleOf: 0.05}}
  - name: tags
    type:
      kind: Option
      inner:
        kind: Map
        keyType: {kind: String, extra: {schemac.dev/maxLength: 2}}
        valueType: {kind: Option, inner: {kind: List, itemType: {kind: Int16, extra: {schemac.dev/minimum: 0}}}}
    extra: {}
"""


def rows_of(count: int) -> list[dict[str, Any]]:
    chance = random.Random(3)

    def maybe(value: Any) -> Any:
        return None if chance.random() < 0.1 else value

    return [
        {
            "ride": chance.randrange(count * 3),
            "trip": maybe({"car": chance.randrange(200)}),
            "seat": maybe(chance.randrange(6)),
            "kind": maybe(chance.choice(("bus", "taxi", "tram"))),
            "price": maybe(chance.randrange(-3, 40)),
            "tags": maybe({chance.choice(("a", "bb", "ccc")): maybe([chance.randrange(-1, 9)] * chance.randrange(3))}),
        }
        for _ in range(count)
    ]  # fmt: skip


def table_of(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    columns = {name: [row[name] for row in rows] for name in schema.names}
    columns["price"] = pa.array([None if v is None else f"{v / 100:.2f}" for v in columns["price"]]).cast(
        schema.field("price").type
    )
    columns["tags"] = [None if v is None else list(v.items()) for v in columns["tags"]]
    return pa.table({name: pa.array(columns[name], schema.field(name).type) for name in schema.names}, schema)


def expected_of(rows: list[dict[str, Any]], cars: set[tuple[int, str]]) -> dict[tuple[str, str], int]:
    """The same, one row at a time."""
    found: Counter[tuple[str, str]] = Counter()
    keys: list[tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]] = [
        (("ride",), lambda r: (r["ride"],)),
        (("trip.car", "seat"), lambda r: (r["trip"] and r["trip"]["car"], r["seat"])),
    ]
    for names, key in keys:
        counted = Counter(key(row) for row in rows if None not in key(row))
        found[",".join(names), "unique"] = sum(n for n in counted.values() if n > 1)
    for row in rows:
        car, seat, kind, price = row["trip"] and row["trip"]["car"], row["seat"], row["kind"], row["price"]
        found["trip.car,kind", "references"] += None not in (car, kind) and (car, kind) not in cars
        found["seat,kind", "check: seat < 4 or kind = 'bus'"] += (
            seat is not None and seat >= 4 and kind not in (None, "bus")
        )
        found["price", "check: price is null or price > 0"] += price is not None and price <= 0
        found["kind", "enum"] += kind == "tram"
        found["price", "multipleOf"] += price is not None and price % 5 != 0
        for name, values in (row["tags"] or {}).items():
            found["tags.key", "maxLength"] += len(name) > 2
            found["tags.value.item", "minimum"] += sum(value < 0 for value in values or ())
    return {key: count for key, count in found.items() if count}


def test_count_what_rows_break() -> None:
    """In batches of any size, and out of slices."""
    (dataset,) = schemac.compile_text(MANIFEST)
    schema = dataset.to_arrow()
    rows = rows_of(3000)
    table = table_of(rows, schema)
    found = constraints_of(schema).rows
    (reference,) = found.references
    cars = {(number, kind) for number in range(0, 200, 3) for kind in ("bus", "taxi")}
    other = pa.table({"id": pa.array([c for c, _ in cars], pa.int64()), "kind": [k for _, k in cars]})
    nodes = [FieldNode(node.type, (name,)) for node, name in zip(reference.fields, reference.to, strict=True)]
    targets = [ReferenceValues(reference, target_keys(reference, other, nodes))]
    for size in (7, 500, 3000):

        def scan(names: Any, size: int = size) -> Any:
            at = 0
            for batch in table.select(list(names)).to_batches(max_chunksize=size):
                yield batch, pa.array(range(at, at + len(batch)), pa.uint64())
                at += len(batch)

        offences = survey(dataset._logical.columns, found, scan, targets)
        assert {(one.path, one.rule): one.count for one in offences} == expected_of(rows, cars), size
        assert all(one.values and len(one.rows) <= 20 and not one.is_least for one in offences)
    assert survey(dataset._logical.columns, found, lambda _: iter(()), targets) == ()


def test_verify_the_rows_of_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rides.yaml").write_text(MANIFEST)
    (dataset,) = schemac.compile_file("rides.yaml")
    rows = rows_of(400)
    lance.write_dataset(table_of(rows, dataset.to_arrow()), "rides.lance", max_rows_per_file=90)
    lance.write_dataset(pa.table({"id": pa.array([1], pa.int32()), "kind": ["bus"]}), "cars.lance")
    words = ["verify", "rides", "--table", "rides.lance", "--data", "--reference", "cars=cars.lance"]
    assert main([*words, "--format", "json"]) == 1
    told = json.loads(capsys.readouterr().out)["diagnostics"]
    expected = expected_of(rows, {(1, "bus")})
    assert {one["code"] for one in told} == {"SC425"}
    assert len(told) == len(expected)
    for one in told:
        query = one["help"].partition("filter=")[2].rpartition(") shows")[0]
        found = lance.dataset("rides.lance").to_table(filter=json.loads(query))
        assert 0 < len(found) <= 20
    enum = next(one for one in told if "(enum)" in one["message"])
    assert f"{expected['kind', 'enum']} are not one of bus, taxi, among them" in enum["message"]
    assert main(words[:-3]) == 0
    assert main([*words[:-1], "cars=nowhere.lance"]) == 1
    assert "SC426" in capsys.readouterr().out


def test_check_values_before_a_constraint_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    plain = "fields:\n  - {name: fare, type: Int64}\n  - {name: tags, type: {kind: List, itemType: String}}\n"
    Path("rides.yaml").write_text(plain)
    assert main(["lock", "rides.yaml"]) == 0
    (dataset,) = schemac.compile_file("rides.yaml")
    rows = {"fare": [1, -1, 5], "tags": [["a"], [], ["bb", "c"]]}
    lance.write_dataset(pa.table(rows, dataset.to_arrow()), "rides.lance")
    with_both = plain.replace("Int64}", "Int64, extra: {schemac.dev/minimum: 0}}").replace(
        "itemType: String", "itemType: {kind: String, extra: {schemac.dev/maxLength: 1}}"
    )
    Path("rides.yaml").write_text(with_both)
    assert main(["lock", "rides.yaml"]) == 0
    capsys.readouterr()
    assert main(["plan", "rides", "--table", "rides.lance"]) == 0
    shown = capsys.readouterr().out
    assert "every value has to be at least 0: rows where NOT (fare >= arrow_cast(0, 'Int64'))" in " ".join(
        shown.split()
    )
    assert main(["apply", "rides", "--table", "rides.lance", "--yes"]) == 1
    told = capsys.readouterr().out
    assert "fare: every value has to be at least 0, but 1 does not satisfy it: -1" in told
    assert (
        'tags.item: every value has to be at most 1 character long, but 1 does not satisfy it: "bb"' in told
    )
    lance.dataset("rides.lance").delete("fare < 0 or fare = 5")
    assert main(["apply", "rides", "--table", "rides.lance", "--yes"]) == 0
    assert main(["verify", "rides", "--table", "rides.lance", "--data"]) == 0
