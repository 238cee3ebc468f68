"""The pipelines of `examples/`, from their files: every record of the real data is accounted for."""

import csv
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import lance
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.conforming.load import load_job
from schemac.pipeline.runner import RunReport, run
from schemac.text.source.diagnostics import Report
from tests.pipeline.conftest import reasons_of

pytestmark = pytest.mark.spark

EXAMPLES = Path(__file__).parents[2] / "examples"


def run_example(name: str, folder: Path, spark: SparkSession) -> tuple[RunReport, pa.Schema]:
    """Run a copy of an example; its table carries exactly the compiled schema."""
    report = Report()
    loaded = load_job(folder / "pipeline.yaml", report)
    assert loaded is not None, report.diagnostics
    result = run(loaded.job, loaded.arrow_schema, loaded.form, spark=spark)
    assert result.differences == ()
    assert result.rows_in == result.rows_written + result.rows_quarantined
    assert lance.dataset(result.table_path).count_rows() == result.rows_written
    return result, loaded.arrow_schema


def copy_example(name: str, tmp_path: Path, data: Path | None, *files: str) -> Path:
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder)
    for file in files:
        assert data is not None
        shutil.copy(data / file, folder / file)
    return folder


def test_run_the_constraints(spark: SparkSession, tmp_path: Path) -> None:
    result, _ = run_example("constraints", copy_example("constraints", tmp_path, None), spark)
    assert (result.rows_in, result.rows_written) == (5, 2)
    assert {(one.path, one.rule, one.count) for one in result.reasons} == {
        ("driver", "references", 1),
        ("tip,fare", "check: tip <= fare", 1),
        ("passengers", "maximum", 1),
        ("status", "enum", 1),
        ("stops[].name", "minLength", 1),
    }
    assert result.warnings == ()


def test_run_the_weather(spark: SparkSession, data: Path, tmp_path: Path) -> None:
    result, schema = run_example(
        "weather", copy_example("weather", tmp_path, data, "seattle-weather.csv"), spark
    )
    with (data / "seattle-weather.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert (result.rows_in, result.rows_quarantined) == (len(rows), 0)
    table = lance.dataset(result.table_path).to_table()
    assert table.schema.field("weather").type == schema.field("weather").type
    assert table.column("weather").to_pylist() == [row["weather"] for row in rows]
    assert [str(day) for day in table.column("date").to_pylist()] == [row["date"] for row in rows]


def test_run_the_earthquakes(spark: SparkSession, data: Path, tmp_path: Path) -> None:
    result, _ = run_example(
        "earthquakes", copy_example("earthquakes", tmp_path, data, "earthquakes.json"), spark
    )
    features = json.loads((data / "earthquakes.json").read_text())["features"]
    assert result.rows_in == len(features)
    written = lance.dataset(result.table_path).to_table(columns=["id", "position", "time"]).to_pylist()
    by_id = {feature["id"]: feature for feature in features}
    assert all(row["position"] == by_id[row["id"]]["geometry"]["coordinates"] for row in written)
    assert all(
        int(row["time"].timestamp() * 1000) == by_id[row["id"]]["properties"]["time"] for row in written
    )
    assert len(written) + result.rows_quarantined == len(by_id)


def test_run_the_birdstrikes(spark: SparkSession, data: Path, tmp_path: Path) -> None:
    result, _ = run_example(
        "birdstrikes", copy_example("birdstrikes", tmp_path, data, "birdstrikes.csv"), spark
    )
    with (data / "birdstrikes.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert result.rows_in == len(rows) == 10_000
    table = lance.dataset(result.table_path).to_table()
    assert table.column_names == list(rows[0])
    good = [
        row for row in rows if all(row[f"Cost {name}"].isdigit() for name in ("Other", "Repair", "Total $"))
    ]
    assert table.num_rows == len(good)
    assert sum(table.column("Cost Total $").to_pylist()) == sum(int(row["Cost Total $"]) for row in good)


def test_run_the_movies(spark: SparkSession, data: Path, tmp_path: Path) -> None:
    result, _ = run_example("movies", copy_example("movies", tmp_path, data, "movies.json"), spark)
    films = json.loads((data / "movies.json").read_text())
    assert result.rows_in == len(films)
    reasons = reasons_of(result)
    titles = [
        json.loads(raw)["Title"]
        for raw, found in reasons.items()
        if any(r[:2] == ("Title", "type") for r in found)
    ]
    assert sorted(titles) == sorted(film["Title"] for film in films if isinstance(film["Title"], int))
    assert [found for raw, found in reasons.items() if json.loads(raw)["Title"] is None]
    written = lance.dataset(result.table_path).to_table(columns=["Title", "Release Date"]).to_pylist()
    assert len(written) + sum(len(v) > 0 for v in reasons.values()) == len(films)
    first = next(row for row in written if row["Title"] == "The Land Girls")
    assert str(first["Release Date"]) == "1998-06-12"


def test_run_the_demo_on_fewer_records(spark: SparkSession, tmp_path: Path) -> None:
    folder = copy_example("demo", tmp_path, None)
    subprocess.run(
        [sys.executable, "generate.py", "rides.ndjson", "6000"], cwd=folder, check=True, capture_output=True
    )
    result, _ = run_example("demo", folder, spark)
    assert (result.rows_in, result.rows_quarantined) == (6000, 120)
    counted = Counter({(reason.path, reason.rule): reason.count for reason in result.reasons})
    assert len(counted) == 12
    assert set(counted.values()) == {10}


def test_generate_the_same_records_each_time(tmp_path: Path) -> None:
    made = []
    for name in ("a", "b"):
        command = [sys.executable, str(EXAMPLES / "demo/generate.py"), str(tmp_path / name), "200"]
        subprocess.run(command, check=True, capture_output=True)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]
    assert len(made[0].splitlines()) == 200
