"""Targets in formats of Spark: the rows as the format has them, the same quarantine, and nothing half written."""

import json
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.codes import DISK_FULL
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.runner import RunReport, run
from schemac.pipeline.writing.file_runs import ROWS, STAGING, FileRuns
from schemac.rows.runs.file_systems import LocalFiles
from schemac.rows.runs.identity import RunRequest
from schemac.rows.runs.staging import StagingFolder
from schemac.rows.runs.tables import runs_of
from schemac.text.source.catalogue import (
    CONCURRENT_RUN,
    EMPTIED_TABLE,
    INVALID_RUN,
    SCHEMA_MISMATCH,
    TABLE_EXISTS,
    TOO_MANY_QUARANTINED,
    UNWRITABLE_TARGET,
)

pytestmark = pytest.mark.spark
SCHEMA = pa.schema(
    [
        pa.field("id", pa.uint32(), False),
        pa.field("at", pa.timestamp("us", "UTC")),
        pa.field("tags", pa.list_(pa.string())),
        pa.field("price", pa.decimal128(10, 2)),
    ]
)
GOOD = '{"id": 1, "at": "2024-01-01T00:00:00Z", "tags": ["a"], "price": 1.50}'


def go(
    spark: SparkSession,
    folder: Path,
    records: list[str],
    form: str,
    schema: pa.Schema = SCHEMA,
    request: RunRequest | None = None,
    **settings: Any,
) -> RunReport:
    (folder / "in.json").write_text("\n".join(records) + "\n")
    limit = settings.pop("limit", None)
    target = {"path": str(folder / "out"), "format": form, **settings}
    job = {"source": {"path": str(folder / "in.json")}, "target": target, "maxQuarantined": limit}
    report = run(Job.model_validate(job), schema, request=request, spark=spark)
    assert report.rows_in == report.rows_written + report.rows_quarantined
    assert report.differences == ()
    return report


def left(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if "staging" in path.name]


@pytest.mark.parametrize(
    "form", ["parquet", *(pytest.param(form, marks=pytest.mark.long) for form in ("orc", "json"))]
)
def test_write_files_in_every_mode(spark: SparkSession, tmp_path: Path, form: str) -> None:
    def rows() -> int:
        return int(spark.read.format(form).load(str(tmp_path / "out")).count())

    report = go(spark, tmp_path, [GOOD, '{"id": -1}', "{"], form)
    assert (report.rows_written, report.rows_quarantined, rows()) == (1, 2, 1)
    assert [(reason.path, reason.rule, reason.count) for reason in report.reasons] == [
        ("", "malformed", 1),
        ("id", "range", 1),
    ]
    assert report.quarantine_path is not None
    bad = lance.dataset(report.quarantine_path).to_table().to_pylist()
    assert {row["raw"] for row in bad} == {'{"id": -1}', "{"}
    assert {row["run"] for row in bad} == {report.run}
    with pytest.raises(PipelineError) as caught:
        go(spark, tmp_path, [GOOD], form)
    assert caught.value.code is TABLE_EXISTS
    go(spark, tmp_path, [GOOD, GOOD], form, mode="append")
    assert rows() == 3
    go(spark, tmp_path, [GOOD], form, mode="overwrite")
    assert rows() == 1
    with pytest.raises(PipelineError) as caught:
        go(spark, tmp_path, ["{"], form, mode="overwrite")
    assert caught.value.code is EMPTIED_TABLE
    with pytest.raises(PipelineError, match=r"`id` range 1") as caught:
        go(spark, tmp_path, [GOOD, '{"id": -1}'], form, mode="append", limit=0)
    assert caught.value.code is TOO_MANY_QUARANTINED
    assert rows() == 1
    assert lance.dataset(report.quarantine_path).count_rows() == 2
    assert left(tmp_path) == left(Path(report.quarantine_path)) == []


def test_parquet_has_the_compiled_types_and_options(spark: SparkSession, tmp_path: Path) -> None:
    go(spark, tmp_path, [GOOD], "parquet", options={"compression": "zstd"})
    (path,) = (tmp_path / "out").glob("*.parquet")
    file = pq.ParquetFile(path)
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"
    schema = file.schema_arrow
    assert [field.nullable for field in schema] == [field.nullable for field in SCHEMA]
    assert (schema.field("price").type, schema.field("id").type) == (pa.decimal128(10, 2), pa.int64())
    assert file.read().column("price").to_pylist()[0].as_tuple().digits == (1, 5, 0)
    with pytest.raises(PipelineError, match="`tags` is in the table only") as caught:
        go(spark, tmp_path, [GOOD], "parquet", SCHEMA.remove(2), mode="append")
    assert caught.value.code is SCHEMA_MISMATCH


def test_rows_of_the_quarantine_leave_with_those_of_the_table(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go(spark, tmp_path, [GOOD, "{"], "parquet")
    quarantine = str(tmp_path / "out.quarantine.lance")

    rename = LocalFiles.rename

    def fail(files: LocalFiles, source: str, to: str) -> None:
        if STAGING in source and f"/{ROWS}" in source:
            raise RuntimeError("no space")
        rename(files, source, to)

    monkeypatch.setattr(LocalFiles, "rename", fail)
    for mode in ("append", "overwrite"):
        with pytest.raises(RuntimeError, match="no space"):
            go(spark, tmp_path, [GOOD, "{", "["], "parquet", mode=mode)
        assert spark.read.parquet(str(tmp_path / "out")).count() == 1
        assert lance.dataset(quarantine).count_rows() == 1
        assert left(tmp_path) == []


def test_a_disk_that_is_full_when_the_quarantine_is_committed_is_told(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> int:
        raise OSError("LanceError(IO): Generic LocalFileSystem error: No space left on device (os error 28)")

    monkeypatch.setattr("schemac.engines.lance.runs.sink.LanceSink.commit", full)
    with pytest.raises(PipelineError) as caught:
        go(spark, tmp_path, [GOOD, "{"], "parquet")
    assert caught.value.code is DISK_FULL
    assert not (tmp_path / "out").exists()
    assert left(tmp_path) == []


def test_a_connector_that_is_not_there_is_named(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match=r"spark\.jars") as caught:
        go(spark, tmp_path, [GOOD, "{"], "paimon")
    assert caught.value.code is UNWRITABLE_TARGET
    assert not (tmp_path / "out").exists()
    assert json.loads(GOOD)["id"] == 1


def rows_in(spark: SparkSession, folder: Path) -> int:
    return int(spark.read.parquet(str(folder / "out")).count())


def quarantined(folder: Path) -> int:
    path = folder / "out.quarantine.lance"
    return int(lance.dataset(path).count_rows()) if path.exists() else 0


@pytest.mark.parametrize(
    "form", ["parquet", *(pytest.param(form, marks=pytest.mark.long) for form in ("orc", "json", "csv"))]
)
def test_a_run_into_files_is_counted_once(spark: SparkSession, tmp_path: Path, form: str) -> None:
    """By its id, by an interval, and by what it reads; `schemac runs` and pages find the runs where the rows are."""

    def write(records: list[str], *, asked: RunRequest | None = None, mode: str = "append") -> RunReport:
        return go(spark, tmp_path, records, form, SCHEMA.remove(2), asked, mode=mode)

    def rows() -> int:
        return int(spark.read.format(form).load(str(tmp_path / "out")).count())

    first = write([GOOD, "{"], asked=RunRequest("batch-1"))
    again = write([GOOD, GOOD], asked=RunRequest("batch-1"))
    assert (again.is_repeat, again.rows_in, again.table_version) == (True, 2, first.table_version)
    for is_repeat in (False, True):
        told = write([GOOD, GOOD, "["], asked=RunRequest(interval="2026-01-01..2026-01-02"))
        assert told.is_repeat is is_repeat
    for is_repeat in (False, True):
        assert write([GOOD] * 3).is_repeat is is_repeat
    assert not write([GOOD] * 3, asked=RunRequest(again=True)).is_repeat
    assert (rows(), quarantined(tmp_path)) == (1 + 2 + 3 + 3, 2)
    found = runs_of(str(tmp_path / "out"))
    counts = [(one.version, one.rows, one.rows_quarantined) for one in found]
    assert counts == [(4, 3, 0), (3, 3, 0), (2, 2, 1), (1, 1, 1)]
    for _ in range(2):
        assert write([GOOD] * 2, mode="overwrite").table_version == 5
    assert write([GOOD], asked=RunRequest("batch-1")).is_repeat
    (file, *_) = (tmp_path / "out").glob("part-*")
    file.with_name(f"of-others{file.suffix}").write_bytes(file.read_bytes())
    assert not write([GOOD] * 2, mode="overwrite").is_repeat
    assert rows() == 2
    assert len(runs_of(str(tmp_path / "out"), current=True)) == 1


class Killed(BaseException):
    """The process ends; nothing is cleaned up."""


MOMENTS = {
    "append": ["staged", "quarantined", "moved.json", "file 1", "file 2", "committed"],
    "create": ["staged", "quarantined", "committed"],
    "overwrite": ["staged", "quarantined", "former", "committed"],
}


@pytest.mark.parametrize(
    ("mode", "moment"),
    [
        moment if moment == ("append", "file 1") else pytest.param(*moment, marks=pytest.mark.long)
        for moment in ((mode, one) for mode in MOMENTS for one in MOMENTS[mode])
    ],
)  # fmt: skip
def test_what_a_killed_run_left_is_taken_back(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, moment: str
) -> None:
    """Killed at each step: the same run once more leaves the rows, and the quarantined records, once."""
    if mode != "create":
        go(spark, tmp_path, [GOOD, "{"], "parquet")
    before = [path.name for path in tmp_path.iterdir() if path.name != "in.json"]
    records = [GOOD, GOOD, "{", "["]
    with monkeypatch.context() as patch:
        kill_at(patch, moment)
        with pytest.raises(Killed):
            go(
                spark,
                tmp_path,
                records,
                "parquet",
                request=RunRequest("b"),
                mode=mode,
                options={"maxRecordsPerFile": 1},
            )
    assert left(tmp_path), "what it left lies there until the next run"
    monkeypatch.setattr("schemac.rows.runs.staging.COMMITTED_WITHIN_SECONDS", 1.0)
    if moment != "committed":
        with pytest.raises(PipelineError) as caught:
            go(spark, tmp_path, records, "parquet", request=RunRequest("b"), mode=mode)
        assert caught.value.code is CONCURRENT_RUN, "its process is alive: it is this one"
    monkeypatch.setattr("schemac.rows.runs.staging.is_gone", lambda process: True)
    for sweep in ("pipeline.runner.remove_orphaned_folders", "rows.runs.staging.remove_orphaned_folders"):
        monkeypatch.setattr(f"schemac.{sweep}", lambda: None)  # the folders of live sessions stay
    told = go(spark, tmp_path, records, "parquet", request=RunRequest("b"), mode=mode)
    assert told.is_repeat is (moment == "committed")
    kept = (1, 1) if mode == "append" else (0, 1) if mode == "overwrite" else (0, 0)
    assert (rows_in(spark, tmp_path), quarantined(tmp_path)) == (kept[0] + 2, kept[1] + 2)
    assert {path.name for path in tmp_path.iterdir()} == {"in.json", "out", "out.quarantine.lance", *before}
    assert left(tmp_path / "out.quarantine.lance") == []
    assert len(runs_of(str(tmp_path / "out"))) == (1 if mode == "create" else 2)


def kill_at(patch: pytest.MonkeyPatch, moment: str) -> None:
    """End the run right after a step, with nothing cleaned up."""
    patch.setattr(StagingFolder, "remove", lambda *_: None)
    patch.setattr(FileRuns, "take_back", lambda *_: None)
    patch.setattr("schemac.engines.lance.runs.sink.LanceSink.close_staging", lambda *_: None)
    patch.setattr("schemac.engines.lance.runs.sink.LanceSink.take_back", lambda *_: None)
    rename, write, commit = LocalFiles.rename, LocalFiles.write, FileRuns.commit
    moved = []

    def renamed(files: LocalFiles, source: str, to: str) -> None:
        rename(files, source, to)
        if to.endswith(".parquet"):
            moved.append(to)
            if moment == f"file {len(moved)}":
                raise Killed
        if to.endswith("/former") and moment == "former":
            raise Killed

    def written(files: LocalFiles, path: str, text: str) -> None:
        write(files, path, text)
        if STAGING in path and path.endswith(f"/{moment}"):
            raise Killed

    def committed(runs: FileRuns, *told: Any) -> int:
        if moment == "quarantined":
            raise Killed
        number = commit(runs, *told)
        if moment == "committed":
            raise Killed
        return number

    def seen(*_: Any) -> None:
        if moment == "staged":
            raise Killed

    patch.setattr(LocalFiles, "rename", renamed)
    patch.setattr(LocalFiles, "write", written)
    patch.setattr(FileRuns, "commit", committed)
    patch.setattr("schemac.pipeline.writing.format_sink.check_files_unchanged", seen)


@pytest.mark.parametrize(
    "asked", [RunRequest("a"), RunRequest(interval="2026-01-01..2026-01-02"), RunRequest(again=True)]
)
def test_a_table_that_keeps_no_runs_refuses_ids(
    spark: SparkSession, tmp_path: Path, asked: RunRequest
) -> None:
    with pytest.raises(PipelineError, match="a paimon table does not record its runs") as caught:
        go(spark, tmp_path, [GOOD], "paimon", request=asked)
    assert caught.value.code is INVALID_RUN
