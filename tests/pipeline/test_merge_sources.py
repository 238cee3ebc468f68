"""Upserts, `keys: refuse` and replays together with incremental sources, streams, `explode`, and targets of every kind."""

import json
from pathlib import Path
from typing import Any

import lance
import pytest
from pyspark.sql import SparkSession

from schemac.cli.main import main
from schemac.pipeline.reruns.incremental import FILES
from schemac.rows.runs.tables import runs_of

MANIFEST = """
fields:
  - name: id
    type: Int64
    extra:
      lance.org/primaryKey: {position: 1}
  - {name: n, type: Int64}
"""
NESTED_PART = """
  - name: ref
    type:
      kind: Struct
      fields:
        - {name: part, type: Int64, extra: {lance.org/primaryKey: {position: 2}}}
"""
SOURCE = "source: {path: in, mode: incremental}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.yaml").write_text(MANIFEST)
    Path("in").mkdir()
    return tmp_path


def go(capsys: pytest.CaptureFixture[str], text: str, *options: str) -> Any:
    Path("p.yaml").write_text(f"{text}schema: t.yaml\nspark: {{master: 'local[2]'}}\n")
    main(["run", "--format", "json", *options, "p.yaml"])
    return json.loads(capsys.readouterr().out)


def write(name: str, *records: dict[str, Any]) -> None:
    Path("in", name).write_text("".join(json.dumps(record) + "\n" for record in records))


def rows() -> dict[int, Any]:
    found = lance.dataset("t.lance").to_table().to_pylist()
    assert len({row["id"] for row in found}) == len(found)
    return {row["id"]: row["n"] for row in found}


@pytest.mark.spark
@pytest.mark.parametrize("is_stream", [False, True], ids=["incremental", "stream"])
def test_upsert_what_is_new(
    folder: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str], is_stream: bool
) -> None:
    text = "source: {path: in}\ntrigger: available-now\n" if is_stream else SOURCE
    text += "target: {path: t.lance, mode: upsert, latest: n, delete: {from: op, value: D}}\n"
    write("a.json", {"id": 1, "n": 1}, {"id": 2, "n": 1}, {"id": 2, "n": 0})
    told = go(capsys, text)["run"]["records"]
    assert told == {"in": 3, "written": 2, "quarantined": 0, "superseded": 1, "deleted": 0}
    write("b.json", {"id": 1, "n": 2}, {"id": 2, "n": 2, "op": "D"}, {"id": 3, "n": 1})
    told = go(capsys, text)["run"]["records"]
    assert told == {"in": 3, "written": 2, "quarantined": 0, "superseded": 0, "deleted": 1}
    assert rows() == {1: 2, 3: 1}
    assert all(FILES in one.properties for one in runs_of("t.lance")) is not is_stream


@pytest.mark.parametrize(
    ("text", "options", "code", "line"),
    [
        ("target: {path: t, format: parquet, mode: upsert}\n", ("--dry-run",), "SC665", 2),
        ("keys: refuse\ntarget: {path: t, format: parquet, mode: append}\n", ("--dry-run",), "SC665", 2),
        ("target: {path: t, format: parquet, mode: append}\n", ("--replay",), "SC666", 2),
    ],
)
def test_refuse_to_merge_into_formats_of_spark(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    options: tuple[str, ...],
    code: str,
    line: int,
) -> None:
    write("a.json", {"id": 1, "n": 1})
    (found,) = go(capsys, f"source: {{path: in}}\n{text}", *options)["diagnostics"]
    assert (found["code"], found["line"]) == (code, line)
    assert not Path("t").exists()


@pytest.mark.parametrize(
    ("text", "line", "way_out"),
    [
        ("target: {path: t.lance, mode: upsert}\n", 2, "`mode: append`"),
        ("keys: refuse\ntarget: {path: t.lance, mode: append}\n", 2, "`keys: check`"),
    ],
)
def test_merge_by_no_part_of_a_key(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, line: int, way_out: str
) -> None:
    """Lance finds rows by columns only; by those of the key alone, rows that differ would take each other's place."""
    Path("t.yaml").write_text(MANIFEST + NESTED_PART)
    write("a.json", {"id": 1, "n": 1, "ref": {"part": 1}})
    (found,) = go(capsys, f"source: {{path: in}}\n{text}", "--dry-run")["diagnostics"]
    assert (found["code"], found["line"]) == ("SC665", line)
    assert "`ref.part` of the key" in found["message"]
    assert way_out in found["help"]
    (found,) = go(capsys, f"source: {{path: in}}\n{text}")["diagnostics"]
    assert found["code"] == "SC665"
    assert not Path("t.lance").exists()


@pytest.mark.spark
def test_replay_items(folder: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    """Each item that did not fit is read as it was, with the name of its file; what had no list stays."""
    Path("t.yaml").write_text(MANIFEST + "  - {name: of, type: String}\n")
    fields = "fields: {id: item.id, n: item.n, of: _metadata.file_name}\n"
    text = "source: {path: in, explode: item}\ntarget: {path: t.lance, mode: append}\n"
    write("a+ b.json", {"item": [{"id": 1, "n": 1}, {"id": "2", "n": 2}]}, {"item": {"id": 3, "n": 3}})
    told = go(capsys, text + fields)["run"]["records"]
    assert (told["written"], told["quarantined"]) == (1, 2)
    told = go(capsys, text + fields + "coerce: text\n", "--replay")["run"]["records"]
    assert (told["in"], told["written"], told["quarantined"]) == (2, 1, 1)
    assert rows() == {1: 1, 2: 2}
    assert lance.dataset("t.lance").to_table()["of"].to_pylist() == ["a+ b.json"] * 2
    fields = "fields: {id: item.id, n: item.n, of: _metadata.file_modification_time}\n"
    (found,) = go(capsys, text + fields, "--replay")["diagnostics"]
    assert (found["code"], found["line"]) == ("SC666", 3)
