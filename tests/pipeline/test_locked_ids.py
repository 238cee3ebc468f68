"""A pipeline into a table whose manifest has a lock: the table has the ids of the lock, in every mode."""

import json
from pathlib import Path

import lance
import pytest
from pyspark.sql import SparkSession

from schemac.cli.main import main

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

FIRST = "name: rides\nfields:\n  - {name: old, type: String}\n  - {name: id, type: Int64}\n"
THEN = """name: rides
fields:
  - {name: at, type: {kind: Struct, fields: [{name: x, type: Float64}, {name: y, type: Float64}]}}
  - {name: id, type: Int64}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    manifest = tmp_path / "rides.yaml"
    for text in (FIRST, THEN):
        manifest.write_text(text)
        assert main(["lock", "rides.yaml"]) == 0
    records = [{"id": i, "at": {"x": i / 2, "y": 1.0}} for i in range(50)]
    (tmp_path / "rides.ndjson").write_text("".join(json.dumps(r) + "\n" for r in records))
    return tmp_path


def ids() -> list[tuple[str, int]]:
    return [(field.name(), field.id()) for field in lance.dataset("rides.lance").lance_schema.fields()]


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_write_with_the_ids_of_the_lock(folder: Path, spark: SparkSession, version: str) -> None:
    if version != "2.2":
        (folder / "rides.yaml").write_text(f'{THEN}extra: {{lance.org/storageVersion: "{version}"}}\n')
        assert main(["lock", "rides.yaml"]) == 0
    for mode, rows in (("create", 50), ("append", 100), ("overwrite", 50)):
        (folder / "pipeline.yaml").write_text(
            f"source: {{path: rides.ndjson, format: json}}\nschema: rides.yaml\n"
            f"target: {{path: rides.lance, mode: {mode}}}\n"
        )
        assert main(["run", "--again", "pipeline.yaml"]) == 0
        assert ids() == [("at", 2), ("id", 1)]
        table = lance.dataset("rides.lance")
        assert table.data_storage_version == version
        assert table.count_rows() == rows
        assert table.to_table(filter="id = 7").to_pylist()[0] == {"at": {"x": 3.5, "y": 1.0}, "id": 7}
        assert main(["verify", "rides", "--table", "rides.lance"]) == 0


def test_refuse_a_schema_that_is_not_locked(
    folder: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "rides.yaml").write_text(FIRST)
    (folder / "pipeline.yaml").write_text(
        "source: {path: rides.ndjson, format: json}\nschema: rides.yaml\ntarget: {path: rides.lance}\n"
    )
    assert main(["run", "pipeline.yaml"]) == 4
    assert "SC401" in capsys.readouterr().out
    assert not (folder / "rides.lance").exists()
