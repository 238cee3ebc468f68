"""Files that are listed without Spark: what is listed is what Spark lists, and the rest is left to it."""

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Source
from schemac.pipeline.reading import texts
from schemac.pipeline.reading.texts import listed_here

PLAIN = {
    "a file": (["a.json"], "a.json"),
    "a folder": (["b.json", "a.json.gz", "c-1_2.csv", "empty"], "."),
    "hidden names": (["a.json", "_SUCCESS", ".a.json.crc", "_schemac/runs", "x._COPYING_", ".x/a"], "."),
    "no ending": (["part-00000"], "."),
}
FOR_SPARK = {
    "nothing": ([], "."),
    "only hidden names": (["_a"], "."),
    "only a file without content": (["empty.json"], "."),
    "a glob": (["a.json", "b.json"], "*.json"),
    "columns in names of folders": (["day=1/a.json"], "."),
    "a file in such a folder": (["day=1/a.json"], "day=1/a.json"),
    "a folder in the folder": (["a.json", "more/b.json"], "."),
    "a name with a blank": (["a b.json"], "."),
    "a name of other letters": (["ä.json"], "."),
    "a name of a summary": (["_metadata", "a.json"], "."),
    "a hidden name with a column": (["_day=1/a.json", "b.json"], "."),
}


def lay_out(folder: Path, names: list[str]) -> None:
    for i, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("" if "empty" in name else "{}\n" * (i + 1))
        os.utime(folder / name, ns=(0, 1_700_000_000_123_456_789 + i))


@pytest.mark.spark
@pytest.mark.parametrize("case", PLAIN)
def test_list_what_spark_lists(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    names, path = PLAIN[case]
    lay_out(tmp_path, names)
    source = Source.model_validate({"path": f"{tmp_path / path}", "format": "json"})
    found = listed_here(source.path)
    assert found
    assert texts.files_of(spark, source).files == found
    monkeypatch.setattr(texts, "listed_here", lambda _: None)
    assert texts.files_of(spark, source).files == found


@pytest.mark.parametrize("case", FOR_SPARK)
def test_leave_the_rest_to_spark(tmp_path: Path, case: str) -> None:
    names, path = FOR_SPARK[case]
    lay_out(tmp_path, names)
    assert listed_here([str(tmp_path / path)]) is None


def test_leave_other_places_to_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path, ["a.json", "b.json"])
    monkeypatch.chdir(tmp_path)
    both = [str(tmp_path / name) for name in ("a.json", "b.json")]
    assert [file.path for file in listed_here(both) or ()] == [f"file:{path}" for path in both]
    for paths in (["a.json"], ["s3://bucket/a.json"], ["hdfs:/a"], [both[0]] * 2, [both[0], str(tmp_path)]):
        assert listed_here(paths) is None
    assert listed_here([f"{tmp_path}/../{tmp_path.name}/a.json"]) is None
    assert listed_here([str(tmp_path / "none.json")]) is None
