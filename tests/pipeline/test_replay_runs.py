"""`schemac run --replay` from the pipeline file on."""

import json
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from schemac.cli.main import main
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.runner import run
from schemac.rows.runs.identity import Replay, RunRequest
from tests.effort import every_nth

pytestmark = pytest.mark.spark

MANIFEST = "fields:\n  - {name: id, type: Int64}\n  - {name: n, type: {kind: Option, inner: Int8}}\n"
PIPELINE = "source: {path: in.json}\nschema: t.yaml\ntarget: {path: t.lance, mode: append}\nspark: {master: 'local[2]'}\n"
FIRST = ['{"id": 1}', '{"id": "2"}', '{"id": "x"}', '{"id": 3, "n": 1000}', "{broken"]
SECOND = ['{"id": "4"}', '{"id": 5}']


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.yaml").write_text(MANIFEST)
    return tmp_path


def go(
    capsys: pytest.CaptureFixture[str], *options: str, records: list[str] | None = None, more: str = ""
) -> Any:
    if records is not None:
        Path("in.json").write_text("".join(one + "\n" for one in records))
    Path("p.yaml").write_text(PIPELINE + more)
    main(["run", "--format", "json", *options, "p.yaml"])
    return json.loads(capsys.readouterr().out)


def ids() -> list[int]:
    return sorted(lance.dataset("t.lance").to_table()["id"].to_pylist())


def bad() -> dict[str, str]:
    rows = lance.dataset("t.quarantine.lance").to_table().to_pylist()
    assert len({row["raw"] for row in rows}) == len(rows)
    return {row["raw"]: row["run"] for row in rows}


def test_replay(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    go(capsys, "--run-id", "one", records=FIRST)
    go(capsys, "--run-id", "two", records=SECOND)
    assert ids() == [1, 5]
    before = bad()
    assert before == {**dict.fromkeys(FIRST[1:], "one"), SECOND[0]: "two"}
    (folder / "in.json").unlink()

    told = go(capsys, "--replay")["run"]
    assert told["records"]["in"] == 5
    assert told["records"]["written"] == 0
    assert bad() == before

    told = go(capsys, "--replay", "--run", "two", more="coerce: text\n")["run"]
    assert (told["records"]["in"], told["records"]["written"]) == (1, 1)
    assert ids() == [1, 4, 5]
    for option, misspelt, near in (("--rule", "tpye", "type"), ("--path", "idd", "id")):
        (found,) = go(capsys, "--replay", option, misspelt, more="coerce: text\n")["diagnostics"]
        assert (found["code"], found["help"]) == ("SC666", f"did you mean `{near}`?")
    told = go(capsys, "--replay", "--rule", "type", "--path", "id", more="coerce: text\n")["run"]
    assert (told["records"]["in"], told["records"]["written"], told["records"]["quarantined"]) == (2, 1, 1)
    assert ids() == [1, 2, 4, 5]
    assert bad() == dict.fromkeys(FIRST[2:], "one")

    told = go(capsys, "--replay", more="nullValues: [x]\nfields: {n: {from: nothing}}\n")["run"]
    assert ids() == [1, 2, 3, 4, 5]
    assert bad() == {FIRST[2]: "one", FIRST[4]: "one"}

    (found,) = go(capsys, "--replay", "--run", "tow")["diagnostics"]
    assert found["code"] == "SC666"
    (found,) = go(capsys, "--rule", "type")["diagnostics"]
    assert found["code"] == "SC666"


MEMBERS = pa.struct([("a", pa.int32()), ("b", pa.string())])
COLUMNS = {
    "micros": pa.array([1704067200000001, -62135596799999999], pa.timestamp("us", "UTC")),
    "nanos": pa.array([1704067200000000001, -5], pa.timestamp("ns", "UTC")),
    "local": pa.array([1704067200000000001, -5], pa.timestamp("ns")),
    "double": pa.array([float("nan"), -0.0]),
    "single": pa.array([float("-inf"), -0.0], pa.float32()),
    "decimal": pa.array(["12345678901234567890123456.0010", "-0.0001"]).cast(pa.decimal128(30, 4)),
    "widest": pa.array(["-" + "9" * 38, "1"]).cast(pa.decimal128(38, 0)),
    "bytes": pa.array([b"\x00\xff\x80", b""]),
    "fixed": pa.array([b"\x00\xff", b"ab"], pa.binary(2)),
    "text": pa.array(["\0\uffff\U0001f600\u2028", ""]),
    "members": pa.array([{"a": None, "b": "x"}, None], MEMBERS),
    "list": pa.array([[{"a": 1, "b": None}, None], []], pa.list_(MEMBERS)),
    "map": pa.array([[("k", None), ("l", -0.0)], None], pa.map_(pa.string(), pa.float64())),
    "natural": pa.array([2**64 - 1, 0], pa.uint64()),
    "integer": pa.array([-(2**63), 2**63 - 1]),
    "day": pa.array([-719162, 2932896], pa.date32()),
    "time": pa.array([1, 86_399_999], pa.time32("ms")),
    "exact": pa.array([1, 86_399_999_999_999], pa.time64("ns")),
    "flag": pa.array([True, False]),
    "vector": pa.array([[1.5, -0.0], None], pa.list_(pa.float32(), 2)),
    "nothing": pa.array([None, None], pa.int32()),
}
COUNTED = {
    "wait": pa.array([-1, 2**62], pa.duration("ms")),
    "pause": pa.array([-1, 2**62], pa.duration("us")),
}


def exactly(column: pa.Array | pa.ChunkedArray) -> list[str]:
    """Return texts of values that differ where bytes do: all digits, the sign of zero, null beside absent."""
    is_count = pa.types.is_timestamp(column.type) or pa.types.is_time64(column.type)
    counts = column.cast(pa.int64()) if is_count or pa.types.is_duration(column.type) else column
    return [repr(value) for value in counts.to_pylist()]


@pytest.mark.parametrize("form", every_nth(["lance", "parquet"], 2))
def test_rows_of_typed_sources_come_back_with_every_digit(
    spark: SparkSession, tmp_path: Path, form: str
) -> None:
    columns = COLUMNS | (COUNTED if form == "lance" else {})
    rows = pa.table({**columns, "key": ["x", "y"]})
    path = tmp_path / f"in.{form}"
    if form == "lance":
        lance.write_dataset(rows, str(path), data_storage_version="2.2")
    else:
        pq.write_table(rows, path)
    schema = pa.schema([*(field for field in rows.schema if field.name != "key"), ("key", pa.int32())])
    target = {"path": str(tmp_path / "t.lance"), "mode": "append", "allowEmpty": True}
    told: dict[str, Any] = {"source": {"path": str(path), "format": form}, "target": target}
    report = run(Job.model_validate(told), schema, spark=spark)
    assert [(reason.path, reason.rule, reason.count) for reason in report.reasons] == [("key", "cast", 2)]

    told["fields"] = {"key": {"expr": "if(key = 'x', 1, 2)"}}
    report = run(Job.model_validate(told), schema, spark=spark, request=RunRequest(replay=Replay()))
    assert (report.rows_written, report.rows_quarantined) == (2, 0)
    table = lance.dataset(str(tmp_path / "t.lance")).to_table().sort_by("key")
    for name, column in columns.items():
        assert exactly(table[name]) == exactly(column), name


def test_a_record_from_before_there_were_items_stays(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not one item: its list would be gone."""
    record, item = '{"id": "1", "lines": [{"n": 1}]}', '{"id": "2", "lines": {"n": 1}}'
    options = "unexpected: ignore\nfields: {n: lines.n}\n"
    go(capsys, records=['{"id": 9}', record, item], more=options)
    assert bad().keys() == {record, item}
    text = PIPELINE.replace("{path: in.json}", "{path: in.json, explode: lines}")
    (folder / "p.yaml").write_text(text + options + "coerce: text\n")
    main(["run", "--format", "json", "--replay", "p.yaml"])
    told = json.loads(capsys.readouterr().out)["run"]
    assert (told["records"]["in"], told["records"]["written"]) == (2, 1)
    assert ids() == [2, 9]
    assert bad().keys() == {record}
