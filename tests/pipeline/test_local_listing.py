"""Files that are listed without a job of Spark: what is listed is what such a job lists, and the rest is left to it."""

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Source
from schemac.pipeline.reading import texts

PLAIN = {
    "a file": (["a.json"], "a.json"),
    "a folder": (["b.json", "a.json.gz", "c-1_2.csv", "empty"], "."),
    "hidden names": (["a.json", "_SUCCESS", ".a.json.crc", "_schemac/runs", "x._COPYING_", ".x/a"], "."),
    "no ending": (["part-00000"], "."),
    "only a file without content": (["empty.json"], "."),
    "a glob": (["a.json", "b.json", "c.csv"], "*.json"),
    "a file in a folder of a partition": (["day=1/a.json"], "day=1/a.json"),
    "a folder in the folder": (["a.json", "more/b.json"], "."),
    "a name with a blank": (["a b.json"], "."),
    "a name of other letters": (["ä.json", "x%20y.json", "a+b.json", "#q?.json"], "."),
    "a name of a summary": (["_metadata", "a.json"], "."),
}
FOR_SPARK = {
    "nothing": ([], "."),
    "only hidden names": (["_a"], "."),
    "columns in names of folders": (["day=1/a.json"], "."),
    "a hidden name with a column": (["_day=1/a.json", "b.json"], "."),
    "a file twice": (["d/a.json", "d/b.json"], "{d,d/a.json}"),
}


def lay_out(folder: Path, names: list[str]) -> None:
    for i, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("" if "empty" in name else "{}\n" * (i + 1))
        os.utime(folder / name, ns=(0, 1_700_000_000_123_456_789 + i))


@pytest.mark.spark
@pytest.mark.parametrize("case", [*PLAIN, *FOR_SPARK])
def test_list_what_spark_lists(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    names, path = (PLAIN | FOR_SPARK)[case]
    lay_out(tmp_path, names)
    source = Source.model_validate({"path": f"{tmp_path / path}", "format": "json"})
    spark.sparkContext.setJobGroup(case, case)
    found = texts.files_of(spark, source)
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()  # the tracker hears of jobs later than this thread
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(case)
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert bool(jobs) is (case in FOR_SPARK)
    monkeypatch.setattr(texts, "_names_files_once", lambda _: False)
    assert texts.files_of(spark, source) == found


def test_leave_other_places_to_spark(tmp_path: Path) -> None:
    lay_out(tmp_path, ["a.json", "b.json"])
    both = [str(tmp_path / name) for name in ("a.json", "b.json")]
    assert texts._names_files_once(both)
    same = f"{tmp_path}/../{tmp_path.name}/a.json"
    for paths in (
        ["s3://bucket/a.json"],
        ["hdfs:/a"],
        [both[0]] * 2,
        [both[0], same],
        [both[0], str(tmp_path)],
    ):
        assert not texts._names_files_once(paths)
