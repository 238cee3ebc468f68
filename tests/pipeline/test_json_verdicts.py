"""The corpus of odd records that other judges are held against has the verdicts of the pipeline."""

import json
from fnmatch import fnmatch
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import schemac
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.runner import run
from tests.engines.json_records import COLUMNS, FILE, FITS, manifest, records, verdicts
from tests.pipeline.conftest import reasons_of

pytestmark = pytest.mark.spark

FEW = ["i8", "exact", "f32", "d5_2", "day", "utc_ms", "bin2", "vec", "nums", "st"]
"""One column of each sort: a plan of Spark with all of them takes a minute."""


def said(spark: SparkSession, folder: Path, columns: list[str], texts: list[str]) -> dict[str, str]:
    """The verdict of the pipeline on each record."""
    (dataset,) = schemac.compile_text(manifest(columns))
    (folder / "in.json").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    source = {"path": str(folder / "in.json"), "format": "json", "options": {"multiLine": False}}
    target = {"path": str(folder / "out.lance")}
    report = run(Job.model_validate({"source": source, "target": target}), dataset.to_arrow(), spark=spark)
    assert report.rows_in == len(texts)
    reasons = reasons_of(report)
    assert reasons.keys() <= set(texts)
    broken = {raw: {rule.split(":")[0] for _, rule, _ in found} for raw, found in reasons.items()}
    return {text: " ".join(sorted(broken.get(text, {FITS}))) for text in texts}


def test_have_the_verdicts_of_the_pipeline(spark: SparkSession, tmp_path: Path) -> None:
    texts = [text for name in FEW for text in records([name])]
    assert said(spark, tmp_path, FEW, texts) == {text: verdicts()[text] for text in texts}


@pytest.mark.long
def test_have_all_verdicts_of_the_pipeline(
    spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    texts = records()
    found = said(spark, tmp_path, list(COLUMNS), texts)
    pattern = request.config.getoption("--refresh")
    if pattern is not None and fnmatch("json_verdicts", pattern):
        FILE.write_text(json.dumps(found, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    assert found == verdicts()
