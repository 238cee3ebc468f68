"""A Lance table that a run has written can be read by runs, in each of four ways: with null above required values too."""

import json
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import schemac
from schemac.pipeline import register_formats
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.reports.run_report import RunReport
from schemac.pipeline.runner import run
from schemac.pipeline.stream import run_or_stream

pytestmark = pytest.mark.spark

TEXT = """
extra: {lance.org/storageVersion: '2.2'}
fields:
  - {name: id, type: Int64}
  - {name: s, type: {kind: Option, inner: {kind: Struct, fields: [{name: m, type: Int32}, {name: o, type: {kind: Option, inner: String}}]}}}
  - {name: n, type: {kind: Option, inner: {kind: Struct, fields: [{name: s, type: {kind: Struct, fields: [{name: m, type: String}]}}]}}}
  - name: l
    type: {kind: Option, inner: {kind: List, itemType: {kind: Option, inner: {kind: Struct, fields: [{name: m, type: Date}]}}}}
  - name: m
    type: {kind: Map, keyType: String, valueType: {kind: Option, inner: {kind: Struct, fields: [{name: m, type: Float64}]}}}
  - name: p
    extra: {lance.org/encoding: {packed: true}}
    type: {kind: Option, inner: {kind: Struct, fields: [{name: a, type: Int32}, {name: v, type: {kind: List, itemType: Float32, fixedLength: 2}}]}}
  - name: v
    type: {kind: Option, inner: {kind: List, fixedLength: 2, itemType: {kind: List, itemType: Float32, fixedLength: 2}}}
"""
FULL = {
    "s": {"m": 1, "o": "x"}, "n": {"s": {"m": "x"}}, "l": [{"m": "2024-01-31"}, None], "m": {"a": {"m": 0.5}, "b": None},
    "p": {"a": 1, "v": [1.0, 2.0]}, "v": [[1.0, 2.0], [3.0, 4.0]],
}  # fmt: skip
RECORDS = [
    {"id": 0, **FULL},
    *({"id": i, **FULL, label: {} if label == "m" else None} for i, label in enumerate(FULL, 1)),
]


def rows_of(path: Path) -> list[str]:
    return sorted(map(repr, lance.dataset(str(path)).to_table().to_pylist()))


def go(spark: SparkSession, schema: pa.Schema, told: dict[str, Any]) -> RunReport:
    return run(Job.model_validate(told), schema, spark=spark)


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Path:
    """Written by a run, with null at each place in one row."""
    (tmp_path / "in.json").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    told = {"source": {"path": str(tmp_path / "in.json")}, "target": {"path": str(tmp_path / "t.lance")}}
    (dataset,) = schemac.compile_text(TEXT)
    assert go(spark, dataset.to_arrow(), told).rows_written == len(RECORDS)
    return tmp_path / "t.lance"


def test_read_a_table_of_ours(spark: SparkSession, tmp_path: Path, table: Path) -> None:
    (dataset,) = schemac.compile_text(TEXT)
    schema = dataset.to_arrow()
    told: dict[str, Any] = {
        "source": {"path": str(table), "format": "lance"},
        "target": {"path": str(tmp_path / "copy.lance")},
    }
    assert go(spark, schema, told).rows_quarantined == 0
    assert rows_of(tmp_path / "copy.lance") == rows_of(table)

    register_formats(spark)
    frame = spark.read.format("schemac-lance").load(str(table))
    assert frame.where("s is null").select("id", "s.m").collect() == [(1, None)]
    assert len(frame.collect()) == len(RECORDS)

    (trips,) = schemac.compile_text(
        "extra: {schemac.dev/references: [{fields: [m], dataset: owns, to: [s.m]}]}\n"
        "fields:\n  - {name: m, type: {kind: Option, inner: Int32}}\n"
    )
    (tmp_path / "trips.json").write_text('{"m": 1}\n{"m": 2}\n{"m": null}\n')
    told = {
        "source": {"path": str(tmp_path / "trips.json")},
        "target": {"path": str(tmp_path / "trips.lance")},
        "references": {"owns": {"path": str(table)}},
    }
    report = go(spark, trips.to_arrow(metadata=True), told)
    assert (report.rows_written, [(one.path, one.rule) for one in report.reasons]) == (
        2,
        [("m", "references")],
    )

    filled = schema.append(pa.field("has", pa.bool_()))
    told = {
        "target": {"path": str(table), "mode": "backfill"},
        "fields": {
            "has": {
                "expr": "coalesce(s is not null and n.s.m = 'x' and l is not null and p.a = 1 and v is not null, false)"
            }
        },
    }
    report = run_or_stream(Job.model_validate(told), filled, spark=spark)
    has = lance.dataset(str(table)).to_table(columns=["id", "has"]).to_pylist()
    assert {row["id"]: row["has"] for row in has} == {i: i in (0, 4) for i in range(len(RECORDS))}
