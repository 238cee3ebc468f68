"""`run --explain FIELD` shows the plan that a run compiles: what it says is held against what runs do."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from schemac.cli.main import main
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.explain import FieldPlan, explain_field
from schemac.pipeline.runner import run
from schemac.text.source.catalogue import UNKNOWN_FIELD
from tests.pipeline.test_any_session import RECORDS, SCHEMA

pytestmark = pytest.mark.spark


def plan(spark: SparkSession, job: Job, field: str) -> FieldPlan:
    (found,) = explain_field(job, SCHEMA, field, spark=spark)
    return found


def test_every_reason_of_a_run_is_among_the_rules(spark: SparkSession, tmp_path: Path, ingest: Any) -> None:
    """The odd records are run, as JSON; each rule that a field broke is one that its plan names."""
    report, _, _ = ingest(SCHEMA, RECORDS)
    job = Job.model_validate(
        {"source": {"path": str(tmp_path / "in.json")}, "target": {"path": str(tmp_path / "x")}}
    )
    broken: dict[str, set[str]] = {}
    for reason in report.reasons:
        broken.setdefault(reason.path.partition(".")[0].partition("[")[0], set()).add(
            reason.rule.partition(":")[0]
        )
    assert len(broken) > 3
    for field, rules in broken.items():
        found = plan(spark, job, field)
        assert rules <= set(found.rules), field
        assert found.outcomes
        assert field in found.read_from


def test_report_the_reader_that_the_plan_names(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id\n1\n")
    schema = pa.schema([pa.field("id", pa.int64())])
    readers = []
    for name, mode in (("a", "trust"), ("a", "trust"), ("b", "check")):
        source = {"path": str(tmp_path / "in.csv"), "format": "csv"}
        target = {"path": str(tmp_path / f"{name}.lance")}
        job = Job.model_validate({"source": source, "target": target, "keys": mode})
        (found,) = explain_field(job, schema, "id", spark=spark)
        report = run(job, schema, spark=spark)
        readers.append(report.to_json()["reader"])
        assert report.reader == (None if report.is_repeat else found.reader)
    assert readers == ["in the tasks that read the files", None, "in batches that Spark brings to tasks"]


def test_places_and_settings_are_told(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trips.yaml").write_text(
        "fields:\n  - {name: at, type: Timestamp}\n  - {name: day, type: {kind: Option, inner: Date}}\n"
        "  - {name: gone, type: {kind: Option, inner: Int8}}\n"
    )
    (tmp_path / "in.csv").write_text("when,day\n2024-01-01 00:00,01.02.2024\n")
    (tmp_path / "p.yaml").write_text(
        "source: {path: in.csv, format: csv, timezone: America/New_York}\nschema: trips.yaml\ntarget: {path: t.lance}\n"
        "fields: {at: when, day: {from: day, format: dd.MM.yyyy}, gone: null}\nnullValues: [NA]\n"
    )
    said, short = {}, {}
    for field in ("at", "day", "gone"):
        assert main(["run", "p.yaml", "--explain", field, "--verbose"]) == 0
        said[field] = capsys.readouterr().out
        assert main(["run", "p.yaml", "--explain", field]) == 0
        short[field] = capsys.readouterr().out.splitlines()
    assert short["at"] == [
        "Read: `at` (timestamp[ms, tz=UTC] not null) from `when` of the source, text (zone America/New_York, nullValues 'NA')",
        "Valid for the type: 2024-01-31T10:00:00, 2024-01-31 10:00:00+02:00",
        (
            "Quarantined: text (cast), 2024-01-31T10:00:00.123456789Z (precision), 0000-01-01T00:00:00Z (range); also by the rules"
            " required, zone-gap, zone-overlap"
        ),
    ]
    assert short["day"] == [
        "Read: `day` (date32[day]) from `day` of the source, text (format dd.MM.yyyy, nullValues 'NA')",
        "Valid for the type: texts of the pattern `dd.MM.yyyy`",
        "Quarantined: by the rules cast, key, length, precision, range, type",
    ]
    assert short["gone"] == [
        "Read: `gone` (int8) from nowhere: it is null in the pipeline file (nullValues 'NA')",
        "Valid for the type: nothing but null",
        "Quarantined: nothing",
    ]
    assert said["at"].startswith(
        "at: timestamp[ms, tz=UTC] not null (timestamp in Spark)\nread from: `when` of the source, text\n"
    )
    assert "zone: America/New_York\n" in said["at"]
    assert "zone-gap" in said["at"]
    assert "format: dd.MM.yyyy\n" in said["day"]
    assert "nullValues: 'NA'\n" in said["day"]
    assert "taken: texts of the pattern `dd.MM.yyyy`" in said["day"]
    assert "cast (not of the form 2024-02-29T13:45:00Z): text, 12" in said["at"]
    assert "nowhere" in said["gone"]
    assert said["gone"].endswith("quarantined with one of the rules: none\n")
    assert main(["run", "p.yaml", "--explain", "day", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["run"] is None
    assert document["explained"][0]["field"] == "day"
    assert not (tmp_path / "t.lance").exists()
    assert main(["run", "p.yaml", "--explain", "dya"]) == 1
    assert "did you mean `day`?" in capsys.readouterr().out


def test_an_unknown_field_is_told_before_spark(tmp_path: Path) -> None:
    job = Job.model_validate({"source": {"path": "gone.json"}, "target": {"path": "t"}})
    with pytest.raises(PipelineError) as caught:
        explain_field(job, pa.schema([("a", pa.int8())]), "b")
    assert caught.value.code is UNKNOWN_FIELD
