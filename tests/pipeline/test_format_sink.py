"""Targets in formats of Spark: the rows as the format has them, the same quarantine, and nothing half written."""

import json
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.runner import RunReport, run
from schemac.pipeline.writing.format_sink import STAGING, FormatTarget
from schemac.source.catalogue import (
    EMPTIED_TABLE,
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
    **settings: Any,
) -> RunReport:
    (folder / "in.json").write_text("\n".join(records) + "\n")
    limit = settings.pop("limit", None)
    target = {"path": str(folder / "out"), "format": form, **settings}
    job = {"source": {"path": str(folder / "in.json")}, "target": target, "maxQuarantined": limit}
    report = run(Job.model_validate(job), schema, spark=spark)
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

    rename = FormatTarget._rename

    def fail(target: FormatTarget, source: Any, to: Any) -> None:
        if STAGING in source.toString():
            raise RuntimeError("no space")
        rename(target, source, to)

    monkeypatch.setattr(FormatTarget, "_rename", fail)
    for mode in ("append", "overwrite"):
        with pytest.raises(RuntimeError, match="no space"):
            go(spark, tmp_path, [GOOD, "{", "["], "parquet", mode=mode)
        assert spark.read.parquet(str(tmp_path / "out")).count() == 1
        assert lance.dataset(quarantine).count_rows() == 1
        assert left(tmp_path) == []


def test_a_connector_that_is_not_there_is_named(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match=r"spark\.jars") as caught:
        go(spark, tmp_path, [GOOD, "{"], "paimon")
    assert caught.value.code is UNWRITABLE_TARGET
    assert not (tmp_path / "out").exists()
    assert json.loads(GOOD)["id"] == 1
