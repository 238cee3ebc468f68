"""A Lance table that a run has written can be read by runs, in each of four ways: with null above required values too."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import schemac
from schemac.pipeline import register_formats
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.record_tasks import spark_column
from schemac.pipeline.reports.run_report import RunReport
from schemac.pipeline.runner import run
from schemac.pipeline.stream import run_or_stream
from schemac.rows.judging.arrays import to_field
from tests.conformance.manifest_types import TYPES, member, option
from tests.engines import crossing

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


COUNTS: dict[str, tuple[str, Any]] = {
    "second": ("{kind: Time, unit: Second}", "01:02:03"),
    "milli": ("{kind: Time, unit: Millisecond}", "01:02:03.004"),
    "micro": ("{kind: Time, unit: Microsecond}", "01:02:03.000004"),
    "nano": ("{kind: Time, unit: Nanosecond}", "01:02:03.000000004"),
    "at": ("{kind: Timestamp, unit: Nanosecond}", "2024-01-01T00:00:00.000000001Z"),
    "local": ("{kind: Timestamp, unit: Nanosecond, timezone: null}", "2021-01-01T00:00:00.000000001"),
    "days": ("{kind: Duration, unit: Second}", 2**62),
    "wait": ("{kind: Duration, unit: Millisecond}", 2**62),
    "pause": ("{kind: Duration, unit: Microsecond}", 5),
    "blink": ("{kind: Duration, unit: Nanosecond}", -1),
    "digits": ("{kind: Decimal, precision: 76, scale: 2}", 10**74 - 1_000_000),
    "whole": ("{kind: Decimal, precision: 5, scale: -3}", 12000),
    "small": ("{kind: Decimal, precision: 3, scale: 9}", 1e-9),
}
"""Types that Spark lacks, with a value that it could not hold in a type of its own."""
PLACES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "c": ("{{kind: Option, inner: {0}}}", lambda value: value),
    "s": ("{{kind: Option, inner: {{kind: Struct, fields: [{{name: m, type: {0}}}]}}}}", lambda value: {"m": value}),
    "l": (
        "{{kind: Option, inner: {{kind: List, itemType: {{kind: Option, inner: {{kind: Struct, fields: [{{name: m, type: {0}}}]}}}}}}}}",
        lambda value: [{"m": value}, None],
    ),
    "m": ("{{kind: Option, inner: {{kind: Map, keyType: String, valueType: {0}}}}}", lambda value: {"k": value}),
}  # fmt: skip


def sorted_table(path: Path, key: str = "id") -> pa.Table:
    return lance.dataset(str(path)).to_table().sort_by(key).combine_chunks()


def test_types_that_spark_lacks_are_read_exactly(spark: SparkSession, tmp_path: Path) -> None:
    """Times of day, durations, nanoseconds and decimals, in every place, and a decimal of 256 bits: by a run, a stream, a reference; a backfill of other columns."""
    columns = {
        f"{place}_{label}": (form.format(type_), value_in(value))
        for label, (type_, value) in COUNTS.items()
        for place, (form, value_in) in PLACES.items()
    }
    wide = (
        "{kind: Decimal, precision: 9, scale: 2}, extra: {arrow.apache.org/decimalEncoding: {bitWidth: 256}}"
    )
    columns["wide"] = (f"{{kind: Option, inner: {wide.replace('},', '}},', 1)}", 12)
    text = "extra: {lance.org/storageVersion: '2.2'}\nfields:\n  - {name: id, type: Int64}\n"
    text += "".join(f"  - {{name: {name}, type: {type_}}}\n" for name, (type_, _) in columns.items())
    (dataset,) = schemac.compile_text(text)
    schema = dataset.to_arrow(metadata=True)
    records = [{"id": 0, **{name: value for name, (_, value) in columns.items()}}, {"id": 1}]
    (tmp_path / "in.json").write_text("".join(json.dumps(record) + "\n" for record in records))
    table = tmp_path / "t.lance"
    report = go(
        spark, schema, {"source": {"path": str(tmp_path / "in.json")}, "target": {"path": str(table)}}
    )
    assert (report.rows_written, report.rows_quarantined) == (2, 0)
    source = {"path": str(table), "format": "lance"}

    go(spark, schema, {"source": source, "target": {"path": str(tmp_path / "copy.lance")}})
    assert sorted_table(tmp_path / "copy.lance").equals(sorted_table(table))
    stream = {"trigger": "available-now", "checkpoint": str(tmp_path / "checkpoint")}
    told = {
        "source": source,
        "target": {"path": str(tmp_path / "stream.lance"), "mode": "append"},
        **stream,
    }
    run_or_stream(Job.model_validate(told), schema, spark=spark)
    assert sorted_table(tmp_path / "stream.lance").equals(sorted_table(table))

    references = ", ".join(f"{{fields: [{label}], dataset: owns, to: [c_{label}]}}" for label in COUNTS)
    fields = "".join(f"  - {{name: {label}, type: {type_}}}\n" for label, (type_, _) in COUNTS.items())
    (one,) = schemac.compile_text(f"extra: {{schemac.dev/references: [{references}]}}\nfields:\n{fields}")
    values = {label: value for label, (_, value) in COUNTS.items()}
    others = {
        label: value.replace("1", "2", 1)
        if isinstance(value, str)
        else value + 1000
        if isinstance(value, int)
        else 2 * value
        for label, value in values.items()
    }
    (tmp_path / "x.json").write_text(json.dumps(values) + "\n" + json.dumps(others) + "\n")
    told = {
        "source": {"path": str(tmp_path / "x.json")},
        "target": {"path": str(tmp_path / "x.lance")},
        "references": {"owns": {"path": str(table)}},
    }
    report = go(spark, one.to_arrow(metadata=True), told)
    assert report.rows_written == 1
    assert {(reason.path, reason.rule, reason.count) for reason in report.reasons} == {
        (label, "references", 1) for label in COUNTS
    }

    filled = schema.append(pa.field("twice", pa.int64()))
    told = {"target": {"path": str(table), "mode": "backfill"}, "fields": {"twice": {"expr": "2 * id"}}}
    run_or_stream(Job.model_validate(told), filled, spark=spark)
    assert sorted_table(table)["twice"].to_pylist() == [0, 2]


def test_references_of_another_unit_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Both are counts for Spark, which would compare seconds with milliseconds."""
    lance.write_dataset(pa.table({"t": pa.array([1], pa.time32("s"))}), str(tmp_path / "o.lance"))
    (one,) = schemac.compile_text(
        "extra: {schemac.dev/references: [{fields: [x], dataset: o, to: [t]}]}\n"
        "fields:\n  - {name: x, type: {kind: Time, unit: Millisecond}}\n"
    )
    (tmp_path / "x.json").write_text('{"x": "00:00:01"}\n')
    told = {
        "source": {"path": str(tmp_path / "x.json")},
        "target": {"path": str(tmp_path / "x.lance")},
        "references": {"o": {"path": str(tmp_path / "o.lance")}},
    }
    with pytest.raises(PipelineError, match=r"`x` is time32\[ms\], and `t` of `o` is time32\[s\]"):
        go(spark, one.to_arrow(metadata=True), told)


def test_tables_of_different_units_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Both are counts for Spark, which would take the seconds of one for milliseconds of the other."""
    paths = [str(tmp_path / f"{unit}.lance") for unit in ("s", "ms")]
    for path, unit in zip(paths, ("s", "ms"), strict=True):
        lance.write_dataset(pa.table({"t": pa.array([1], pa.time32(unit))}), path)
    (one,) = schemac.compile_text("fields:\n  - {name: t, type: {kind: Time, unit: Millisecond}}\n")
    told = {"source": {"path": paths, "format": "lance"}, "target": {"path": str(tmp_path / "x.lance")}}
    with pytest.raises(PipelineError, match="have timestamps, times or durations of other units"):
        go(spark, one.to_arrow(metadata=True), told)


@pytest.mark.parametrize("name", [name for name, one in TYPES.items() if one["kind"] == "Decimal"])
def test_a_required_decimal_below_null_comes_back_from_rows_of_spark(name: str) -> None:
    """Spark has text in place of some decimals; below null it is empty, which is no decimal."""
    fields = [{"name": "s", "type": option({"kind": "Struct", "fields": [member("m", TYPES[name])]})}]
    (dataset,) = schemac.compile_text(json.dumps({"fields": fields}))
    table = dataset.to_table([{}, *crossing.records(dataset)[:3]])
    field, values = table.schema.field("s"), table["s"].combine_chunks()
    assert values.null_count < len(values)
    assert to_field(spark_column(values, field), field).equals(values)
