"""Paths that a pipeline names and no JSON record has: what is told, and when nothing is written."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from ruamel.yaml import YAML

from schemac.cli.main import main
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.absent_paths import FIRST_RECORDS, absent_paths
from schemac.pipeline.reading.source import open_records
from schemac.pipeline.runner import RunReport, run
from schemac.pipeline.stream import run_stream, summary
from schemac.text.source.catalogue import ABSENT_LIST

pytestmark = pytest.mark.spark
SCHEMA = pa.schema([pa.field("sku", pa.string()), pa.field("by", pa.string())])
ORDERS = [{"by": "a", "lines": [{"sku": "x"}]}, {"by": "b", "lines": []}, {"by": "c"}]
ITEM = {"sku": "lines.sku"}


def lines(records: list[Any]) -> str:
    return "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in records)


def job_of(folder: Path, text: str, explode: Any, fields: dict[str, Any], *, form: str = "json") -> Job:
    (folder / "in.json").write_text(text)
    told = {"path": str(folder / "in.json"), "format": form}
    target = {"path": str(folder / "out.lance"), "mode": "overwrite", "allowEmpty": True}
    return Job.model_validate(
        {"source": told | ({"explode": explode} if explode else {}), "target": target, "fields": fields}
    )


def looked_up(
    spark: SparkSession, folder: Path, records: list[Any], explode: Any, fields: dict[str, Any]
) -> list[str]:
    """What a run finds before it writes."""
    job = job_of(folder, lines(records), explode, fields)
    return [one.path for one in absent_paths(open_records(spark, job), job.source, job.fields)]


def absent_of(report: RunReport) -> list[str]:
    return [one.path for one in report.absent]


@pytest.mark.parametrize(
    ("form", "text", "path", "near"),
    [
        ("json", lines(ORDERS), "line", "lines"),
        ("json", json.dumps(ORDERS, indent=1), "Lines", "lines"),
        ("json", lines([{"order": one} for one in ORDERS]), "order.linse", "order.lines"),
        ("json", lines([{"or.der": one} for one in ORDERS]), "`or.der`.linse", "`or.der`.lines"),
        (
            "geojson",
            json.dumps({"features": [{"properties": one} for one in ORDERS]}),
            "propertys.lines",
            "properties",
        ),
    ],
)
def test_refuse_a_list_that_no_record_has(
    spark: SparkSession, tmp_path: Path, form: str, text: str, path: str, near: str
) -> None:
    with pytest.raises(PipelineError) as caught:
        run(job_of(tmp_path, text, path, {"sku": f"{path}.sku"}, form=form), SCHEMA, spark=spark)
    assert (caught.value.code, caught.value.place) == (ABSENT_LIST, ("source", "explode"))
    assert f"did you mean `{near}`?" in str(caught.value.help)
    assert not (tmp_path / "out.lance").exists()
    # What the help says to write works.
    (told,) = re.findall(r"write `(explode: .*)`$", str(caught.value.help))
    explode = YAML(typ="safe").load(told)["explode"]
    assert explode == {"path": path, "allowMissing": True}
    job = job_of(tmp_path, text, explode, {"sku": f"{path}.sku"}, form=form)
    assert absent_paths(open_records(spark, job), job.source, job.fields) == []


def test_tell_a_list_that_is_missing_from_one_that_is_there(spark: SparkSession, tmp_path: Path) -> None:
    """Empty and null lists are there, broken records have no paths, and the last record counts as the first."""
    many = [{"by": "a"}] * (FIRST_RECORDS + 1)
    last = [*many, {"by": "z", "lines": [{"sku": "x"}]}]
    records: list[Any]
    for records in (
        [{"lines": []}],
        [{"by": "a"}, {"lines": None}],
        [{"lines": "none"}],
        ["{", "7"],
        [],
        last,
    ):
        assert looked_up(spark, tmp_path, records, "lines", {}) == [], records[:3]
    for records in ([{"by": "a"}], [{"by": "a"}, "{"], many, ["{"] * FIRST_RECORDS + [{"by": "a"}]):
        assert looked_up(spark, tmp_path, records, "lines", {}) == ["lines"]


def test_warn_where_no_record_is_lost(spark: SparkSession, tmp_path: Path) -> None:
    explode = {"path": "line", "keepEmpty": True}
    report = run(job_of(tmp_path, lines(ORDERS), explode, {"by": "by"}), SCHEMA, spark=spark)
    assert (report.rows_written, absent_of(report)) == (3, ["line"])
    explode["path"] = "lines"
    assert run(job_of(tmp_path, lines(ORDERS), explode, {"by": "by"}), SCHEMA, spark=spark).absent == ()
    records = [{"by": None, "list": [1, 2], "in": {"sku": "s"}}] * (FIRST_RECORDS + 1) + [{"late": "x"}]
    fields: dict[str, Any]
    for fields, absent in (
        ({"sku": "in.sku", "by": "by"}, []),
        ({"sku": "in.skus", "by": "list[1]"}, ["in.skus"]),
        ({"sku": "in.skus", "by": "list[2]"}, ["in.skus", "list[2]"]),
        ({"sku": "late", "by": "nowhere"}, ["nowhere"]),
        ({"sku": {"value": "x"}, "by": "_metadata.file_name"}, []),
        # A field that is read by its own name may be missing: records are free to leave it out.
        ({}, []),
    ):
        assert looked_up(spark, tmp_path, records, None, fields) == absent, fields


def test_search_the_first_part_for_fields(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that is rarely there costs no second reading of the source; what was searched is what the warning claims."""
    records = [{"by": "a"}] * (FIRST_RECORDS + 50)
    job = job_of(tmp_path, lines([*records, {"late": "x"}]), None, {"sku": "late"})
    for most, message in (
        (len(records), "none of the first 250 records has `late`, from which `sku` is read"),
        (len(records) + 1, None),
    ):
        monkeypatch.setattr("schemac.pipeline.reading.absent_paths.MOST_RECORDS", most)
        found = absent_paths(open_records(spark, job), job.source, job.fields)
        assert [one.message for one in found] == ([] if message is None else [message])
    job = job_of(tmp_path, lines(records), None, {"sku": "late"})
    (found_in_all,) = absent_paths(open_records(spark, job), job.source, job.fields)
    assert found_in_all.message.startswith("no record that was read has")


def test_name_the_source_of_several(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(lines(ORDERS))
    sources = [{"path": str(tmp_path / "a.json"), "explode": name} for name in ("lines", "line")]
    job = Job.model_validate({"sources": sources, "target": {"path": str(tmp_path / "out.lance")}})
    with pytest.raises(PipelineError) as caught:
        run(job, SCHEMA, spark=spark)
    assert caught.value.place == ("sources", 1, "explode")


def test_refuse_the_first_run_of_an_incremental_source_and_warn_in_later_ones(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    target = {"path": str(tmp_path / "out.lance"), "mode": "append"}
    source = {"path": str(tmp_path / "in"), "mode": "incremental", "explode": "lines"}
    job = Job.model_validate({"source": source, "target": target, "fields": ITEM})
    (tmp_path / "in" / "a.json").write_text(lines(ORDERS[2:]))
    with pytest.raises(PipelineError) as caught:
        run(job, SCHEMA, spark=spark)
    assert (caught.value.code, caught.value.place) == (ABSENT_LIST, ("source", "explode"))
    (tmp_path / "in" / "b.json").write_text(lines(ORDERS))
    assert run(job, SCHEMA, spark=spark).absent == ()
    (tmp_path / "in" / "c.json").write_text(lines(ORDERS[2:]))
    report = run(job, SCHEMA, spark=spark)
    assert (absent_of(report), report.absent[0].place) == (["lines"], ("source", "explode"))


@pytest.mark.long
def test_warn_of_a_stream_where_no_batch_has_the_list(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name, records in (("a", ORDERS[:1]), ("b", ORDERS[2:])):
        (tmp_path / "in" / f"{name}.json").write_text(lines(records))
    for path, absent in (("lines", []), ("line", ["line"])):
        source = {"path": str(tmp_path / "in"), "explode": path, "options": {"maxFilesPerTrigger": "1"}}
        target = {"path": str(tmp_path / f"{path}.lance"), "mode": "append"}
        job = Job.model_validate({"source": source, "target": target, "trigger": "available-now"})
        reports = run_stream(job, SCHEMA, spark=spark)
        assert len(reports) == 2
        assert absent_of(summary(reports, job)) == absent
        assert any(report.absent for report in reports)


def test_tell_it_in_every_form_of_the_report(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.yaml").write_text(
        "fields: [{name: id, type: Int64, extra: {lance.org/primaryKey: {position: 1}}}]"
    )
    Path("in.json").write_text('{"id": 1, "meta": {"op": "D"}}\n')
    Path("p.yaml").write_text(
        "source: {path: in.json}\nschema: t.yaml\n"
        "target: {path: t.lance, mode: upsert, delete: {from: meta.opp, value: D}}\n"
    )
    assert main(["run", "--format", "json", "--report", "r.html", "p.yaml"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["run"]["absent"] == [{"path": "meta.opp", "setting": "target.delete.from"}]
    (found,) = told["diagnostics"]
    assert (found["code"], found["severity"], found["line"]) == ("SC689", "warning", 3)
    assert found["help"] == "did you mean `meta.op`?"
    assert "no record that was read has `meta.opp`" in Path("r.html").read_text()
    assert main(["run", "--again", "p.yaml"]) == 0
    assert "1 path that no record has: `meta.opp`" in capsys.readouterr().out
