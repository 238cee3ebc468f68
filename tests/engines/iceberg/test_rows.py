"""`verify --data` on tables of a catalog, read by pyiceberg."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("pyiceberg", reason="pyiceberg is not installed: pip install 'schemac[iceberg]'")

import pyiceberg.catalog
import pyiceberg.table
from pyiceberg.schema import Schema

import schemac
from schemac.cli.main import main

MANIFEST = """
name: rides
extra:
  schemac.dev/targets: [iceberg]
  schemac.dev/unique: [[id]]
  schemac.dev/references: [{fields: [driver], dataset: drivers, to: [id]}]
  schemac.dev/check: [tip <= fare]
fields:
  - {name: id, type: Int64, extra: {schemac.dev/minimum: 1}}
  - {name: driver, type: String}
  - {name: at, type: {kind: Timestamp, unit: Microsecond}, extra: {schemac.dev/minimum: '2020-01-01T00:00:00Z'}}
  - {name: fare, type: {kind: Decimal, precision: 8, scale: 2}, extra: {schemac.dev/multipleOf: 0.05}}
  - {name: tip, type: {kind: Option, inner: {kind: Decimal, precision: 8, scale: 2}}}
  - {name: tags, type: {kind: List, itemType: {kind: String, extra: {schemac.dev/maxLength: 3}}}}
"""
DRIVERS = "name: drivers\nextra: {schemac.dev/targets: [iceberg]}\nfields:\n  - {name: id, type: String}\n"
BROKEN = {
    ("id", "unique"): 2, ("id", "minimum"): 1, ("driver", "references"): 1, ("at", "minimum"): 1, ("fare", "multipleOf"): 1, ("tip,fare", "check"): 1, ("tags.item", "maxLength"): 2,
}  # fmt: skip


@pytest.fixture
def rides(catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": i, "driver": "d", "at": 1_600_000_000_000_000, "fare": "1.50", "tip": None, "tags": ["a"]} for i in range(1, 20)
    ]  # fmt: skip
    rows[3] |= {"id": 5}
    rows[5] |= {"id": 0, "driver": "x"}
    rows[7] |= {"at": 0, "tags": ["long", "longer"]}
    rows[9] |= {"fare": "1.51", "tip": "2.00"}
    for name, text, columns in (("rides", MANIFEST, rows), ("drivers", DRIVERS, [{"id": "d"}])):
        Path(f"{name}.yaml").write_text(text)
        (dataset,) = schemac.compile_file(f"{name}.yaml")
        table = catalog.create_table(f"n.{name}", Schema.model_validate(dataset.to_iceberg()))
        held = pa.table({key: pa.array([row[key] for row in columns]) for key in columns[0]})
        for start in (0, 8):
            part = held.slice(start, 8 if start == 0 else None).cast(_open(table.schema().as_arrow(), held))
            table.append(part.cast(table.schema().as_arrow()))
    return catalog.load_table("n.rides")


def _open(wanted: pa.Schema, held: pa.Table) -> pa.Schema:
    """Texts and numbers are cast in the one step, lists and nullability in the next."""
    return pa.schema(
        [
            pa.field(
                one.name,
                held.schema.field(one.name).type
                if pa.types.is_list(held.schema.field(one.name).type)
                else one.type,
            )
            for one in wanted
        ]
    )


@pytest.mark.parametrize("in_catalog", [True, False])
def test_count_what_rows_break(rides: Any, capsys: pytest.CaptureFixture[str], in_catalog: bool) -> None:
    name = "iceberg://local/n.rides" if in_catalog else rides.metadata_location.removeprefix("file://")
    words = ["verify", "rides", "--table", name, "--data", "--reference", "drivers=iceberg://local/n.drivers"]
    assert main([*words, "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    told = {
        (one["path"], one["message"].rpartition("(")[2][:-1]): int(one["message"].split(": ")[2].split()[0])
        for one in found
    }
    assert {one["code"] for one in found} == {"SC425"}
    assert {key: count for key, count in told.items() if key[1] != "check"} == {
        key: count for key, count in BROKEN.items() if key[1] != "check"
    }
    assert sum(rule == "check" for _, rule in told) == 1
    for one in found:
        shown = eval(one["help"].partition(" shows")[0], {"pyiceberg": pyiceberg})
        rule = one["message"].rpartition("(")[2][:-1]
        if rule == "multipleOf":
            assert [str(value) for value in shown.column("fare").to_pylist()] == ["1.51"]
        if rule == "unique":
            assert shown.column("id").to_pylist() == [5, 5]


def test_say_that_rows_keep_their_schema(rides: Any, capsys: pytest.CaptureFixture[str]) -> None:
    rides.delete("id in (0, 5, 8, 10)")
    words = ["verify", "rides", "--table", "iceberg://local/n.rides", "--data"]
    assert main([*words, "--reference", "drivers=iceberg://local/n.drivers"]) == 0
    assert "and its rows satisfy the constraints" in capsys.readouterr().err
    assert main([*words, "--reference", "drivers=iceberg://local/n.gone"]) == 1
    assert "SC426" in capsys.readouterr().out
