"""Every source and what is built of it again: the same artifact, byte for byte."""

import json
import re
import shutil
from pathlib import Path

import lance
import pytest

import schemac
from schemac.cli.main import main
from schemac.engines.paimon.reader import read_table_schema
from tests.compiling import table_record

ROOT = Path(__file__).parents[2]
ARTIFACTS = (
    "arrow/schema.arrow",
    "lance/schema.binpb",
    "lance/schema.txtpb",
    "spark/schema.json",
    "spark/create_table.sql",
    "paimon/schema-0",
    "odf/schema.yaml",
    "odf/schema.bin",
)
MANIFESTS = {
    "rides": (ROOT / "examples/demo/rides.yaml").read_text(encoding="utf-8"),
    "orders": """\
name: orders
description: What was ordered
extra:
  paimon.apache.org/primaryKeys: [dt, id]
  paimon.apache.org/partitionKeys: [dt]
  paimon.apache.org/options: {bucket: "2"}
fields:
  - {name: dt, type: String}
  - {name: id, type: Int64, description: "Given by the shop"}
  - {name: total, type: {kind: Option, inner: {kind: Decimal, precision: 12, scale: 2}}}
  - {name: at, type: {kind: Option, inner: {kind: Timestamp, unit: Microsecond}}}
  - name: lines
    type: {kind: List, itemType: {kind: Struct, fields: [{name: sku, type: String}, {name: n, type: Int32}]}}
  - {name: labels, type: {kind: Map, keyType: String, valueType: {kind: Option, inner: Float64}}}
  - {name: vector, type: {kind: List, itemType: Float32, fixedLength: 4}}
""",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", MANIFESTS)
@pytest.mark.parametrize("artifact", ARTIFACTS)
def test_build_again_what_was_imported(folder: Path, name: str, artifact: str) -> None:
    (folder / f"{name}.yaml").write_text(MANIFESTS[name], encoding="utf-8")
    Path("schemac.toml").write_text('files = ["lance/schema.txtpb"]\n')
    assert main(["build", f"{name}.yaml"]) == 0
    source = folder / "build" / name / artifact
    (folder / "second").mkdir()
    assert main(["import", str(source), "--name", name, "--out", "second/again.yaml"]) == 0
    assert main(["build", "second/again.yaml", "--out", "second/build"]) == 0
    again = folder / "second/build" / name / artifact
    expected = source.read_bytes()
    if artifact.startswith("paimon/"):
        # Its ids come into a lock, and what is locked says so.
        expected = (
            read_table_schema(json.loads(expected))
            .of_version(table_record(folder / "second/again.lock"))
            .to_text()
            .encode()
        )
    assert again.read_bytes() == expected


def test_build_again_a_lance_table_that_has_evolved(folder: Path) -> None:
    """Its real ids, of which some are gone, come into the lock and out of it."""
    (folder / "rides.yaml").write_text(MANIFESTS["rides"], encoding="utf-8")
    (dataset,) = schemac.compile_file("rides.yaml")
    table = lance.write_dataset(dataset.to_arrow().empty_table(), "rides.lance")
    table.drop_columns(["fare"])
    lance.dataset("rides.lance").alter_columns({"path": "rating", "name": "stars"})
    lance.dataset("rides.lance").alter_columns(
        {"path": "passengers", "data_type": dataset.to_arrow().field("distance").type}
    )
    assert main(["import", "rides.lance", "--out", "again.yaml"]) == 0
    assert main(["build", "again.yaml", "--locked"]) == 0
    assert main(["verify", "again.yaml", "--table", "rides.lance"]) == 0
    (again,) = schemac.compile_file("again.yaml")
    ids = {field.name: field.id for field in again.to_lance().fields if field.parent_id == -1}
    assert ids == {field.name(): field.id() for field in lance.dataset("rides.lance").lance_schema.fields()}
    assert ids["distance"] == 3
    assert ids["passengers"] > 19


def test_build_again_a_paimon_table_with_all_its_versions(folder: Path) -> None:
    """Rename, drop and re-add, cast, reorder: every schema file comes out as it went in."""
    (folder / "orders.yaml").write_text(MANIFESTS["orders"], encoding="utf-8")
    text = MANIFESTS["orders"]
    steps = (
        ("name: total,", "name: amount, extra: {schemac.dev/renamedFrom: total},"),
        ("  - {name: labels,", "  - {name: note, type: {kind: Option, inner: String}}\n  - {name: labels,"),
        (
            "{name: n, type: Int32}",
            "{name: n, type: Int64}, {name: unit, type: {kind: Option, inner: String}}",
        ),
        ("  - {name: note, type: {kind: Option, inner: String}}\n", ""),
        ("  - {name: vector,", "  - {name: note, type: {kind: Option, inner: Int32}}\n  - {name: vector,"),
    )
    assert main(["lock", "orders.yaml"]) == 0
    for old, new in steps:
        assert text.count(old) == 1
        text = text.replace(old, new)
        (folder / "orders.yaml").write_text(text, encoding="utf-8")
        assert main(["lock", "orders.yaml"]) == 0
    assert main(["build", "orders.yaml", "--locked"]) == 0
    files = sorted((folder / "build/orders/paimon").iterdir())
    assert [file.name for file in files] == [f"schema-{n}" for n in range(6)]
    table = folder / "warehouse/db.db/orders"
    shutil.copytree(folder / "build/orders/paimon", table / "schema")
    made = json.loads((table / "schema/schema-3").read_text())
    (table / "schema/schema-3").write_text(
        (table / "schema/schema-3").read_text().replace('"timeMillis" : 0', '"timeMillis" : 1700000000123')
    )
    assert made["highestFieldId"] == 10
    (folder / "second").mkdir()
    assert main(["import", str(table), "--out", "second/orders.yaml"]) == 0
    assert main(["build", "second/orders.yaml", "--out", "second/build", "--locked"]) == 0
    # Each lock gives its own digests to the same versions.
    records = re.compile('(?<="schemac.version" : "[0-9]-)[0-9a-f]{16}')
    for file in sorted((table / "schema").iterdir()):
        again = (folder / "second/build/orders/paimon" / file.name).read_text()
        assert records.sub("", again) == records.sub("", file.read_text())
