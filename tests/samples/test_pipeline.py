"""A pipeline takes every sampled record, and quarantines each wrong one with the rule that it is said to break."""

import json
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

import lance
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import schemac
from schemac.cli.main import main
from schemac.pipeline import conform
from schemac.rows.samples.sampler import Sampler
from schemac.rows.samples.written import json_lines
from schemac.rows.samples.wrong_records import wrong_rows
from tests.engines import crossing
from tests.samples.test_samples import DRIVERS, ROOT, datasets, drivers_of
from tests.spark_session import session_of_tests

pytestmark = pytest.mark.spark
NAMES = ["constraints/rides", pytest.param("constraints/trips", marks=pytest.mark.long)]


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    session = session_of_tests()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return session


@pytest.mark.parametrize("name", NAMES)
def test_judge_good_and_wrong_records(spark: SparkSession, tmp_path: Path, name: str) -> None:
    dataset, others = datasets()[name]
    sampler, found = Sampler(dataset, 60, 7, others), wrong_rows(dataset, 7, others)
    good = [
        line for batch in sampler.batches() for line in json_lines(dataset.to_arrow(metadata=True), batch)
    ]
    pq.write_table(drivers_of(dataset).sample(60, seed=7), tmp_path / "drivers.parquet")
    # Wrong records are made of good ones, so that both together would break what is unique.
    for texts, expected in ((good, [None] * len(good)), ([one.text for one in found.rows], found.rows)):
        frame = spark.createDataFrame(list(enumerate(texts)), "number int, text string")
        references = {"drivers": {"path": str(tmp_path / "drivers.parquet"), "format": "parquet"}}
        conformed = conform(frame, dataset, json_column="text", keys="check", references=references)
        said = {row["_raw"]: row["_errors"] for row in conformed.rejected.toArrow().to_pylist()}
        assert said.keys() == {one.text for one in expected if one is not None}
        for one in expected:
            if one is not None:
                assert [(e["path"], e["rule"]) for e in said[one.text]] == [(one.path, one.rule)]
        assert conformed.good.count() == len(texts) - len(said)


PIPELINE = """
source: {path: wrong.<form>, format: <form>}
schema: rides.yaml
references: {drivers: {path: drivers.parquet, format: parquet}}
target: {path: rides.lance, allowEmpty: true}
keys: check
"""


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_quarantine_wrong_rows_of_files(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """As a file that a pipeline reads: each row with the one reason that the file beside it says."""
    monkeypatch.chdir(tmp_path)
    Path("rides.yaml").write_bytes((ROOT / "examples/constraints/rides.yaml").read_bytes())
    Path("drivers.yaml").write_text(DRIVERS)
    assert main(["sample", "rides", "--wrong", "--seed", "7", "--output", f"wrong.{form}"]) == 0
    (drivers,) = schemac.compile_file("drivers.yaml")
    pq.write_table(drivers.sample(60, seed=7), "drivers.parquet")
    Path("pipeline.yaml").write_text(PIPELINE.replace("<form>", form))
    assert main(["run", "pipeline.yaml"]) == 0
    found = lance.dataset("rides.quarantine.lance").to_table().to_pylist()
    rules = [json.loads(line) for line in Path("wrong.rules.ndjson").read_text().splitlines()]
    said = sorted((one["path"], one["rule"]) for row in found for one in row["errors"])
    assert said == sorted((one["_path"], one["_rule"]) for one in rules)
    assert len(found) == len(rules)


@pytest.mark.long
def test_take_records_of_every_type(spark: SparkSession) -> None:
    dataset = crossing.dataset("column", frozenset({"f98", "f99", "f79"}))
    sampler = Sampler(dataset, 100, 7)
    texts = [
        line for batch in sampler.batches() for line in json_lines(dataset.to_arrow(metadata=True), batch)
    ]
    frame = spark.createDataFrame([(text,) for text in texts], "text string")
    conformed = conform(frame, dataset, json_column="text")
    assert [json.loads(row["_raw"]) for row in conformed.rejected.limit(3).toArrow().to_pylist()] == []
