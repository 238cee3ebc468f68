"""Real files, as they are found: every record is in the table or in the quarantine."""

import csv
import json
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.runner import RunReport, run
from tests.pipeline.conftest import reasons_of, rows_of

pytestmark = pytest.mark.spark

FIELD = pa.field


def run_file(spark: SparkSession, tmp_path: Path, schema: pa.Schema, **settings: Any) -> RunReport:
    job = Job.model_validate({"target": {"path": str(tmp_path / "out.lance")}, **settings})
    report = run(job, schema, spark=spark)
    assert report.rows_in == report.rows_written + report.rows_quarantined
    assert report.differences == ()
    return report


def test_earthquakes(spark: SparkSession, data: Path, tmp_path: Path) -> None:
    point = pa.struct(
        [FIELD("type", pa.string(), False), FIELD("coordinates", pa.list_(pa.float64()), False)]
    )
    schema = pa.schema(
        [
            FIELD("id", pa.string(), False),
            FIELD("magnitude", pa.float64(), False),
            FIELD("time", pa.timestamp("ms", "UTC"), False),
            FIELD("gap", pa.decimal128(5, 2)),
            FIELD("xyz", pa.list_(FIELD("item", pa.float64(), False), 3), False),
            FIELD("depth", pa.float32()),
            FIELD("geometry", point),
        ]
    )
    fields = {
        "magnitude": "properties.mag",
        "time": {"from": "properties.time", "epoch": "Millisecond"},
        "xyz": "geometry.coordinates",
        "depth": "geometry.coordinates[2]",
    }
    source = data / "earthquakes.json"
    report = run_file(
        spark, tmp_path, schema, source={"path": str(source), "format": "geojson"}, fields=fields
    )
    features = json.loads(source.read_text())["features"]
    bad = reasons_of(report)
    assert report.rows_in == len(features)
    assert [json.loads(raw) for raw in bad] == [
        f for f in features if f["properties"]["mag"] is None or _long_gap(f)
    ]
    rows = rows_of(report.table_path)
    good = [f for f in features if f not in [json.loads(raw) for raw in bad]]
    assert [row["xyz"] for row in rows] == [f["geometry"]["coordinates"] for f in good]
    assert [row["geometry"] for row in rows] == [f["geometry"] for f in good]
    assert [round(row["time"].timestamp() * 1000) for row in rows] == [f["properties"]["time"] for f in good]


def _long_gap(feature: dict[str, Any]) -> bool:
    gap = feature["properties"]["gap"]
    return gap is not None and round(gap, 2) != gap


def test_movies(spark: SparkSession, data: Path, tmp_path: Path) -> None:
    schema = pa.schema(
        [
            FIELD("Title", pa.string(), False),
            FIELD("US Gross", pa.int64()),
            FIELD("released", pa.date32()),
            FIELD("IMDB Rating", pa.decimal128(3, 1)),
            FIELD("MPAA Rating", pa.dictionary(pa.int8(), pa.string())),
        ]
    )
    source = data / "movies.json"
    fields = {"released": {"from": "Release Date", "format": "MMM dd yyyy"}}
    report = run_file(spark, tmp_path, schema, source={"path": str(source)}, fields=fields)
    movies = json.loads(source.read_text())
    odd = [movie for movie in movies if not isinstance(movie["Title"], str)]
    assert (report.rows_in, report.rows_quarantined) == (len(movies), len(odd))
    for raw, reasons in reasons_of(report).items():
        title = json.loads(raw)["Title"]
        assert raw in source.read_text()
        assert reasons == [("Title", "required", None) if title is None else ("Title", "type", str(title))]
    rows = rows_of(report.table_path)
    assert rows[0]["released"].isoformat() == "1998-06-12"
    assert [row["MPAA Rating"] for row in rows] == [m["MPAA Rating"] for m in movies if m not in odd]


def test_birdstrikes(spark: SparkSession, data: Path, tmp_path: Path) -> None:
    schema = pa.schema(
        [
            FIELD("Airport Name", pa.string(), False),
            FIELD("date", pa.date32(), False),
            FIELD("Cost Total $", pa.int32(), False),
            FIELD("speed", pa.uint8()),
        ]
    )
    fields = {"date": "Flight Date", "speed": "Speed IAS in knots"}
    source = data / "birdstrikes.csv"
    report = run_file(spark, tmp_path, schema, source={"path": str(source), "format": "csv"}, fields=fields)
    with source.open(newline="") as file:
        records = list(csv.DictReader(file))
    fast = [r for r in records if r["Speed IAS in knots"] and int(r["Speed IAS in knots"]) > 255]
    assert (report.rows_in, report.rows_quarantined) == (len(records), len(fast))
    assert [(r.path, r.rule) for r in report.reasons] == [("speed", "range")]
    kept = [r for r in records if r not in fast]
    assert [row["Cost Total $"] for row in rows_of(report.table_path)] == [
        int(r["Cost Total $"]) for r in kept
    ]
    lines = source.read_text().splitlines()
    assert all(raw in lines for raw in reasons_of(report))


def test_seattle_weather(spark: SparkSession, data: Path, tmp_path: Path) -> None:
    schema = pa.schema(
        [
            FIELD("date", pa.date32(), False),
            FIELD("temp_max", pa.float16()),
            FIELD("weather", pa.string(), False),
        ]
    )
    source = {"path": str(data / "seattle-weather.csv"), "format": "csv"}
    report = run_file(spark, tmp_path, schema, source=source)
    assert (report.rows_in, report.rows_quarantined) == (1461, 0)
    assert lance.dataset(report.table_path).schema == schema
