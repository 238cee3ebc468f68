"""`schemac run --replay` from the pipeline file on."""

import json
from pathlib import Path
from typing import Any

import lance
import pytest
from pyspark.sql import SparkSession

from schemac.cli.main import main

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
