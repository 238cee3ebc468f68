"""What a hurried user gives to `schemac run`: a message with a place and a way out, and nothing written."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from schemac.cli.main import main

MANIFEST = """\
name: rides
fields:
  - {name: fare, type: Float64}
  - {name: at, type: {kind: Option, inner: {kind: Timestamp, unit: Microsecond}}}
"""
PIPELINE = """\
source: {path: rides.json}
schema: rides.yaml
target: {path: rides.lance}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rides.yaml").write_text(MANIFEST)
    (tmp_path / "rides.json").write_text('{"fare": 1.5}\n')
    return tmp_path


@pytest.fixture
def go(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Runs a pipeline that cannot run: what is said about it."""

    def runner(text: str) -> str:
        (folder / "pipeline.yaml").write_text(text)
        before = sorted(str(path) for path in folder.rglob("*"))
        status = main(["run", "pipeline.yaml"])
        captured = capsys.readouterr()
        said = captured.out + captured.err
        assert status == 1, said
        assert "Traceback" not in said
        assert "Py4J" not in said
        assert "\tat " not in said
        assert sorted(str(path) for path in folder.rglob("*")) == before
        return " ".join(said.split())

    return runner


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark must not be asked for."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr("schemac.pipeline.session.start_session", refuse)


SEVERAL = """sources:
  - {path: rides.json}
  - {path: b.csv, format: csv}
schema: rides.yaml
target: {path: rides.lance}
"""

BEFORE_SPARK: dict[str, tuple[str, list[str]]] = {
    "an empty file": ("", ["not a pipeline", "source"]),
    "a list": ("- source\n", ["not a pipeline"]),
    "broken YAML": ("source: {path: rides.json\ntarget: {\n", ["pipeline.yaml:"]),
    "two documents": (PIPELINE + "---\n" + PIPELINE, ["not a pipeline"]),
    "a key with a slip": (PIPELINE.replace("target", "targt"), ["pipeline.yaml:3", "targt", "target"]),
    "no target": (PIPELINE.replace("target: {path: rides.lance}\n", ""), ["target"]),
    "no source": (PIPELINE.replace("source: {path: rides.json}\n", ""), ["source"]),
    "no schema": (PIPELINE.replace("schema: rides.yaml\n", ""), ["needs `schema`", "manifest"]),
    "no such manifest": (PIPELINE.replace("rides.yaml", "ride.yaml"), ["ride.yaml"]),
    "a folder as manifest": (PIPELINE.replace("rides.yaml", "."), ["directory"]),
    "no such dataset": (PIPELINE + "dataset: ridse\n", ["pipeline.yaml:4", "ridse", "rides"]),
    "no such input": (PIPELINE.replace("rides.json", "ride.json"), ["no file", "`rides.json`"]),
    "a source without a path": (PIPELINE.replace("{path: rides.json}", "{format: csv}"), ["`path`"]),
    "an unknown mode": (PIPELINE.replace("rides.lance}", "rides.lance, mode: upsrt}"), ["upsrt", "append"]),
    "a share above one": (PIPELINE + "maxQuarantined: 1.5\n", ["pipeline.yaml:4", "share between"]),
    "a limit in words": (PIPELINE + "maxQuarantined: few\n", ["pipeline.yaml:4"]),
    "a version to come": (PIPELINE + "version: 2\n", ["pipeline.yaml:4"]),
    "an unknown field": (PIPELINE + "fields: {fair: x}\n", ["pipeline.yaml:4:10", "fair", "did you mean `fare`"]),
    "an unreadable path": (PIPELINE + "fields: {fare: a..b}\n", ["pipeline.yaml:4", "a..b", "character 3"]),
    "a format on a number": (PIPELINE + "fields: {fare: {format: yyyy}}\n", ["pipeline.yaml:4", "`format` is for"]),
    "a wrong pattern": (PIPELINE + "fields: {at: {format: YYYY-MM-dd}}\n", ["pipeline.yaml:4", "`yyyy` is the year"]),
    "format and epoch": (
        PIPELINE + "fields: {at: {format: yyyy, epoch: Second}}\n", ["pipeline.yaml:4", "both"]),
    "an unknown zone": (
        PIPELINE.replace("rides.json}", "rides.json, timezone: New York}"), ["pipeline.yaml:1", "America/New_York"]),
    "a zone on a number": (PIPELINE + "fields: {fare: {zone: UTC}}\n", ["pipeline.yaml:4", "`zone` is for timestamps"]),
    "a zone that is read only sometimes": (
        PIPELINE + "fields: {at: {zone: Europe/Berlin, format: 'yyyy-MM-dd HH:mm[XXX]'}}\n",
        ["pipeline.yaml:4", "only sometimes", "brackets"]),
    "an unknown unit": (PIPELINE + "fields: {at: {epoch: Minute}}\n", ["pipeline.yaml:4", "Minute", "Second"]),
    "source and sources": (
        PIPELINE + "sources: [{path: rides.json}]\n", ["pipeline.yaml:", "either `source` or `sources`", "into the list"]),
    "an option of one of the sources": (
        SEVERAL.replace("b.csv,", "b.csv, options: {sepp: x},"), ["pipeline.yaml:3", "`sepp`", "did you mean `sep`"]),
    "a field of one of the sources": (
        SEVERAL.replace("b.csv,", "b.csv, fields: {fair: x},"), ["pipeline.yaml:3:", "fair", "did you mean `fare`"]),
    "a mapping of all sources": (SEVERAL + "fields: {fare: a..b}\n", ["pipeline.yaml:6:", "a..b", "character 3"]),
    "a missing file of one of the sources": (SEVERAL, ["no file", "b.csv"]),
    "an incremental source that replaces": (
        PIPELINE.replace("rides.json}", "rides.json, mode: incremental}"), ["pipeline.yaml:3:", "`mode: append`"]),
    "an incremental source without files": (
        PIPELINE.replace("rides.json}", "rides.json, mode: incremental, format: jdbc}").replace("e}", "e, mode: append}"),
        ["pipeline.yaml:1:", "no files"]),
    "an unknown trigger": (PIPELINE + "trigger: soon\n", ["pipeline.yaml:4:", "available-now", "10 seconds"]),
    "a stream of several": (
        SEVERAL.replace("e}\n", "e, mode: append}\n") + "trigger: 1 minute\n", ["SC649", "one source"]),
    "a stream of an incremental source": (
        PIPELINE.replace("rides.json}", "rides.json, mode: incremental}").replace("e}", "e, mode: append}")
        + "trigger: 1 minute\n",
        ["pipeline.yaml:4:", "leave `trigger` or `mode` out"]),
    "options of a table": (
        PIPELINE.replace("rides.lance}", "rides.lance, options: {a: b}}"), ["pipeline.yaml:3:", "formats of Spark"]),
    "a stream into files": (
        PIPELINE.replace("rides.lance}", "rides, format: parquet, mode: append}") + "trigger: available-now\n",
        ["pipeline.yaml:3:", "what was read before, which a parquet target does not record"]),
    "two origins": (PIPELINE + "fields: {fare: {from: x, expr: y}}\n", ["pipeline.yaml:4:32", "`from` and `expr`"]),
    "an empty expression": (PIPELINE + "fields: {fare: {expr: ''}}\n", ["pipeline.yaml:4", "expr"]),
    "items of CSV": (
        PIPELINE.replace("{path: rides.json}", "{path: rides.json, format: csv, explode: x}"),
        ["pipeline.yaml:1:", "no lists", "leave `explode` out"]),
    "one item of a list": (
        PIPELINE.replace("rides.json}", "rides.json, explode: 'a[0]'}"), ["pipeline.yaml:1:", "one item", "position"]),
    "a path of items with a slip": (
        PIPELINE.replace("rides.json}", "rides.json, explode: a..b}"), ["pipeline.yaml:1:", "character 3"]),
    "one path twice": (PIPELINE + "quarantine: {path: rides.lance}\n", ["the same path"]),
    "one path twice, in two spellings": (PIPELINE + "quarantine: {path: ./rides.lance/}\n", ["the same path"]),
    "a target inside a file": (PIPELINE.replace("rides.lance", "rides.json/t.lance"), ["is a file"]),
    "a target that is a file": (PIPELINE.replace("rides.lance", "rides.yaml"), ["is a file"]),
    "a target that is a folder of others": (PIPELINE.replace("rides.lance", "."), ["is not a Lance table"]),
    "a quarantine that is a file": (PIPELINE + "quarantine: {path: rides.yaml}\n", ["is a file"]),
}  # fmt: skip


@pytest.mark.usefixtures("no_spark")
@pytest.mark.parametrize(("text", "expected"), BEFORE_SPARK.values(), ids=BEFORE_SPARK.keys())
def test_mistakes_are_told_before_spark_starts(
    go: Callable[[str], str], text: str, expected: list[str]
) -> None:
    said = go(text)
    assert [part for part in expected if part not in said] == [], said


@pytest.mark.usefixtures("no_spark")
def test_table_that_is_there_is_told(folder: Path, go: Callable[[str], str]) -> None:
    lance.write_dataset(pa.table({"fare": [1.0]}), "rides.lance")
    said = go(PIPELINE)
    assert "already" in said
    assert "mode: append" in said


@pytest.mark.usefixtures("no_spark")
def test_table_with_another_schema_is_told(folder: Path, go: Callable[[str], str]) -> None:
    lance.write_dataset(pa.table({"fare": ["x"]}), "rides.lance")
    said = go(PIPELINE.replace("rides.lance}", "rides.lance, mode: append}"))
    assert "a different schema" in said
    assert "`at` is missing" in said


@pytest.mark.usefixtures("no_spark")
def test_quarantine_that_is_another_table_is_told(folder: Path, go: Callable[[str], str]) -> None:
    lance.write_dataset(pa.table({"fare": ["x"]}), "rides.quarantine.lance")
    assert "is not a quarantine" in go(PIPELINE)


@pytest.mark.usefixtures("no_spark")
@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_folder_without_permission_is_told(folder: Path, go: Callable[[str], str]) -> None:
    (folder / "locked").mkdir(mode=0o500)
    assert "no permission" in go(PIPELINE.replace("rides.lance", "locked/rides.lance"))


@pytest.mark.usefixtures("no_spark")
def test_missing_pipeline_file_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "pipelin.yaml"]) != 0
    captured = capsys.readouterr()
    assert "pipelin.yaml" in captured.out + captured.err


WITH_SPARK: dict[str, tuple[str, str, list[str]]] = {
    "an unknown format": ("", PIPELINE.replace("rides.json}", "rides.json, format: jsn}"), ["jsn"]),
    "a column with a slip": (
        "fair,at\n1,\n", PIPELINE.replace("rides.json}", "rides.json, format: csv}"), ["`fare`", "did you mean `fair`"]),
    "two columns of one name": (
        "fare,fare\n1,2\n", PIPELINE.replace("rides.json}", "rides.json, format: csv}"), ["are called `fare`"]),
    "an empty CSV file": ("", PIPELINE.replace("rides.json}", "rides.json, format: csv}"), ["header"]),
    "text as Parquet": (
        "fare\n1\n", PIPELINE.replace("rides.json}", "rides.json, format: parquet}"), ["Parquet", "rides.json"]),
    "no Lance table": (
        "x", PIPELINE.replace("rides.json}", "rides.json, format: lance}"), ["no Lance table"]),
    "an unknown file system": ("", PIPELINE.replace("rides.json", "s4://bucket/rides.json"), ["s4"]),
    "an unknown encoding": (
        "fare,at\n1,\n", PIPELINE.replace("rides.json}", "rides.json, format: csv, options: {encoding: utf9}}"), ["utf9"]),
    "an option with a wrong value": (
        "fare,at\n1,\n", PIPELINE.replace("rides.json}", "rides.json, format: csv, options: {sep: ''}}"), ["elimiter"]),
}  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize(("content", "text", "expected"), WITH_SPARK.values(), ids=WITH_SPARK.keys())
def test_mistakes_that_spark_finds_are_told(
    spark: SparkSession, folder: Path, go: Callable[[str], str], content: str, text: str, expected: list[str]
) -> None:
    (folder / "rides.json").write_text(content)
    said = go(text)
    assert [part for part in expected if part not in said] == [], said
