"""`mode: upsert` and `keys: refuse` from the pipeline file on."""

import json
from pathlib import Path
from typing import Any

import lance
import pytest
from pyspark.sql import SparkSession

from schemac.cli.main import main

pytestmark = pytest.mark.spark

MANIFEST = """
fields:
  - name: id
    type: Int64
    extra:
      lance.org/primaryKey: {position: 1}
  - {name: at, type: Timestamp}
  - {name: s, type: String}
"""
PIPELINE = """
source: {path: in.json}
schema: t.yaml
target:
  path: t.lance
  mode: upsert
  latest: at
  delete: {from: meta.op, value: D}
spark: {master: 'local[2]'}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.yaml").write_text(MANIFEST)
    return tmp_path


def record(id: int, day: int, s: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": id, "at": f"2026-01-{day:02}T00:00:00Z", "s": s, **more}


DELETE = {"meta": {"op": "D"}}


def go(
    capsys: pytest.CaptureFixture[str], records: list[dict[str, Any]], text: str = PIPELINE
) -> dict[str, Any]:
    Path("in.json").write_text("".join(json.dumps(one) + "\n" for one in records))
    Path("p.yaml").write_text(text)
    main(["run", "--format", "json", "p.yaml"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def rows() -> dict[int, str]:
    found = lance.dataset("t.lance").to_table().to_pylist()
    assert len({row["id"] for row in found}) == len(found)
    return {row["id"]: row["s"] for row in found}


def test_upsert(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = [
        record(1, 5, "a"),
        record(2, 5, "b"),
        record(3, 5, "c"),
        record(1, 4, "old"),
        record(9, 1) | DELETE,
    ]
    told = go(capsys, first)["run"]
    assert told["records"] == {"in": 5, "written": 3, "quarantined": 0, "superseded": 1, "deleted": 1}
    assert rows() == {1: "a", 2: "b", 3: "c"}
    second = [
        record(1, 6, "newer"),
        record(2, 4, "stale"),
        {"id": 3, "at": "2026-01-06T00:00:00Z", **DELETE},
        record(4, 6, "twin"),
        record(4, 6, "other twin"),
        record(5, 6),
        {**DELETE, "at": "2026-01-06T00:00:00Z"},
    ]
    told = go(capsys, second)["run"]
    assert told["records"] == {"in": 7, "written": 1, "quarantined": 4, "superseded": 1, "deleted": 1}
    assert rows() == {1: "newer", 2: "b"}
    assert {(one["path"], one["rule"]) for one in told["reasons"]} == {
        ("id,at", "duplicate"),
        ("s", "required"),
        ("id", "required"),
    }
    wrong = go(capsys, [record(6, 6, "f", meta={"op": {"is": "D"}})])["run"]
    assert [(one["path"], one["rule"]) for one in wrong["reasons"]] == [("meta.op", "type")]
    again = go(capsys, second)["run"]
    assert (again["repeat"], again["records"]) == (True, told["records"])


def test_compare_rows_that_are_unique(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Several records of one row are no twins, nor is one that deletes; rows of two keys are."""
    Path("t.yaml").write_text(
        f"extra: {{schema.dev/unique: [[s]]}}{MANIFEST}".replace("schema.dev", "schemac.dev")
    )
    first = [
        record(1, 4, "a"),
        record(1, 5, "a"),
        record(2, 5, "b"),
        record(3, 5, "b"),
        record(4, 5, "c"),
        record(5, 5, "c") | DELETE,
    ]
    told = go(capsys, first)["run"]
    assert told["records"] == {"in": 6, "written": 2, "quarantined": 2, "superseded": 1, "deleted": 1}
    assert [(one["path"], one["rule"]) for one in told["reasons"]] == [("s", "unique")]
    assert rows() == {1: "a", 4: "c"}
    go(capsys, [record(1, 6, "moved"), record(6, 6, "a")])
    assert rows() == {1: "moved", 4: "c", 6: "a"}
    # Only the last record of a row counts, against other records and against the table.
    told = go(capsys, [record(1, 7, "c"), record(1, 8, "d"), record(7, 7, "c"), record(4, 8, "e")])["run"]
    assert (told["records"]["written"], told["records"]["superseded"]) == (3, 1)
    assert rows() == {1: "d", 4: "e", 6: "a", 7: "c"}
    (found,) = go(capsys, [record(8, 9, "a"), record(1, 9, "f")])["diagnostics"]
    assert (found["code"], found["line"]) == ("SC664", 6)
    assert '{"s": "a"}' in found["message"]
    assert rows() == {1: "d", 4: "e", 6: "a", 7: "c"}
    go(capsys, [record(8, 9, "a")], f"{PIPELINE}rules: {{unique: warn}}\n")
    assert rows() == {1: "d", 4: "e", 6: "a", 7: "c", 8: "a"}


def test_refuse_keys(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "source: {path: in.json}\nschema: t.yaml\nkeys: refuse\ntarget: {path: t.lance, mode: append}\n"
    go(capsys, [record(1, 1, "a")], text)
    (found,) = go(capsys, [record(2, 1, "b"), record(1, 1, "c")], text)["diagnostics"]
    assert (found["code"], found["line"]) == ("SC664", 3)
    assert rows() == {1: "a"}
