"""What a source names: options, folders with columns in their names, literal paths, headers, types of Parquet."""

import datetime
import json
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.conforming.load import check
from schemac.pipeline.declaration.job import Job, Source
from schemac.pipeline.declaration.source_options import FORMS, option_mistakes
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.runner import RunReport, run
from schemac.rows.runs.identity import RunRequest
from schemac.text.source.catalogue import EMPTIED_TABLE, SOURCE_TYPE_MISMATCH
from tests.effort import every_nth
from tests.pipeline.conftest import rows_of

FIELD = pa.field
ONE = pa.schema([FIELD("id", pa.int32())])
CONTENT = {"csv": "id\n1\n", "json": '{"id": 1}\n', "geojson": '{"features": [{"id": 1}]}'}


def run_source(
    spark: SparkSession, folder: Path, schema: pa.Schema, source: dict[str, Any], **target: Any
) -> RunReport:
    told = {"path": str(folder / "out.lance"), "mode": "overwrite", **target}
    report = run(
        Job.model_validate({"source": source, "target": told}),
        schema,
        request=RunRequest(again=True),
        spark=spark,
    )
    assert report.rows_in == report.rows_written + report.rows_quarantined
    return report


def write(path: Path, form: str, id: int = 1) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if form == "parquet":
        pq.write_table(pa.table({"id": pa.array([id], pa.int32())}), path)
    else:
        path.write_text(CONTENT[form].replace("1", str(id)))


SPARKS_OPTIONS = {
    "json": "org.apache.spark.sql.catalyst.json.JSONOptions",
    "geojson": "org.apache.spark.sql.catalyst.json.JSONOptions",
    "csv": "org.apache.spark.sql.catalyst.csv.CSVOptions",
    "parquet": "org.apache.spark.sql.execution.datasources.parquet.ParquetOptions",
    "orc": "org.apache.spark.sql.execution.datasources.orc.OrcOptions",
}
OF_FILES = "org.apache.spark.sql.catalyst.FileSourceOptions"
OF_FILES_ALONE = {"pathGlobFilter", "recursiveFileLookup", "modifiedBefore", "modifiedAfter", "basePath"}


def sparks_options(spark: SparkSession, name: str) -> set[str]:
    """The texts of all constants in which Spark keeps the names of options."""
    module = getattr(getattr(spark.sparkContext._jvm, name + "$"), "MODULE$")
    found = set()
    for field in module.getClass().getDeclaredFields():
        field.setAccessible(True)
        value = field.get(module)
        if field.getName().isupper() and isinstance(value, str) and "(" not in value and not value.isdigit():
            found.add(value)
    return found


@pytest.mark.spark
@pytest.mark.parametrize("form", SPARKS_OPTIONS)
def test_every_option_of_spark_is_honoured_or_refused(spark: SparkSession, form: str) -> None:
    known = sparks_options(spark, SPARKS_OPTIONS[form]) | sparks_options(spark, OF_FILES) | OF_FILES_ALONE
    table = {*FORMS[form].honoured, *FORMS[form].refused}
    assert len(known) > 7
    assert known <= table, known - table
    assert not set(FORMS[form].honoured) & set(FORMS[form].refused)


@pytest.mark.parametrize("form", FORMS)
def test_an_option_that_is_not_honoured_is_named(form: str) -> None:
    for option in [*FORMS[form].refused, "pathGlobFiler", "unheardOf"]:
        source = Source.model_validate({"path": "x", "format": form, "options": {option: "x"}})
        (mistake,) = option_mistakes(source)
        assert mistake.place == ("source", "options", option)
        assert f"`{option}`" in mistake.message
        assert mistake.help
    for option in FORMS[form].honoured:
        source = Source.model_validate({"path": "x", "format": form, "options": {option.upper(): "x"}})
        assert list(option_mistakes(source)) == []


def test_an_option_is_told_once() -> None:
    source = Source.model_validate({"path": "x", "format": "csv", "options": {"sep": ";", "delimiter": ","}})
    assert "same" in next(option_mistakes(source)).message


@pytest.mark.spark
@pytest.mark.parametrize("form", every_nth(["csv", "json", "parquet", "geojson"], 2))
def test_folders_give_columns_and_options_choose_files(
    spark: SparkSession, tmp_path: Path, form: str
) -> None:
    write(tmp_path / "in" / "day=2024-01-01" / "code=007" / f"a.{form}", form, 1)
    write(tmp_path / "in" / "day=2024-01-02" / "code=a%2Fb" / f"b.{form}", form, 2)
    write(tmp_path / "in" / "day=2024-01-03" / "code=__HIVE_DEFAULT_PARTITION__" / f"c.{form}", form, 3)
    schema = pa.schema(
        [FIELD("id", pa.int32()), FIELD("day", pa.date32(), False), FIELD("code", pa.string())]
    )
    days = [datetime.date(2024, 1, day) for day in (1, 2, 3)]
    for path in ("in", "in/day=*", "in/*/*/*") if form == "json" else ("in/*/*/*",):
        report = run_source(spark, tmp_path, schema, {"path": str(tmp_path / path), "format": form})
        rows = sorted((row["id"], row["day"], row["code"]) for row in rows_of(report.table_path))
        assert rows == [(1, days[0], "007"), (2, days[1], "a/b"), (3, days[2], None)], path
    options = {"pathGlobFilter": f"[ab].{form}"}
    report = run_source(
        spark, tmp_path, schema, {"path": str(tmp_path / "in"), "format": form, "options": options}
    )
    assert sorted(row["id"] for row in rows_of(report.table_path)) == [1, 2]
    write(tmp_path / "deep" / "x" / "y" / f"d.{form}", form, 4)
    source = {"path": str(tmp_path / "deep"), "format": form, "options": {"recursiveFileLookup": True}}
    report = run_source(spark, tmp_path, ONE, source)
    assert [row["id"] for row in rows_of(report.table_path)] == [4]


@pytest.mark.spark
@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_record_that_contradicts_its_folder_is_set_aside(
    spark: SparkSession, tmp_path: Path, form: str
) -> None:
    folder = tmp_path / "in" / "day=2024-01-01"
    folder.mkdir(parents=True)
    lines = {
        "csv": "id,day\n1,2024-01-01\n2,2024-01-02\n",
        "json": '{"id": 1, "day": "2024-01-01"}\n{"id": 2, "day": "2024-01-02"}\n',
    }
    (folder / "a").write_text(lines[form])
    schema = pa.schema([FIELD("id", pa.int32()), FIELD("day", pa.string())])
    report = run_source(spark, tmp_path, schema, {"path": str(tmp_path / "in"), "format": form})
    assert [row["id"] for row in rows_of(report.table_path)] == [1]
    assert report.reasons[0].rule == "partition"


@pytest.mark.spark
def test_a_parquet_column_is_not_taken_from_a_folder_in_silence(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "in" / "id=2" / "a.parquet"
    write(path, "parquet")
    with pytest.raises(PipelineError, match="`id` is a column of"):
        run_source(spark, tmp_path, ONE, {"path": str(tmp_path / "in"), "format": "parquet"})
    report = run_source(spark, tmp_path, ONE, {"path": str(path), "format": "parquet"})
    assert rows_of(report.table_path) == [{"id": 1}]


@pytest.mark.spark
@pytest.mark.parametrize("form", every_nth(["json", "csv", "parquet", "geojson"], 2))
def test_a_path_that_is_there_is_literal(spark: SparkSession, tmp_path: Path, form: str) -> None:
    write(tmp_path / f"x[1].{form}", form, 1)
    write(tmp_path / f"x1.{form}", form, 2)
    write(tmp_path / "{a,b} *?" / f"é ü%20.{form}", form, 3)
    for path, ids in {
        f"x[1].{form}": [1], f"x[12].{form}": [2], f"x{{1,2}}.{form}": [2], "{a,b} *?": [3], f"{{a,b}} *?/é ü%20.{form}": [3],
    }.items():  # fmt: skip
        report = run_source(spark, tmp_path, ONE, {"path": str(tmp_path / path), "format": form})
        assert [row["id"] for row in rows_of(report.table_path)] == ids, path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("_a.json", "hidden"),
        ("a.zip", "compressed with zip"),
        ("a.json.xz", "compressed with xz"),
        ("b{1,2}.json", "no file"),
    ],
)
def test_files_that_would_be_read_wrong_are_refused(tmp_path: Path, name: str, said: str) -> None:
    if said != "no file":
        (tmp_path / name).write_text("{}")
    job = {"source": {"path": str(tmp_path / name)}, "target": {"path": str(tmp_path / "t")}}
    with pytest.raises(PipelineError, match=said):
        check(Job.model_validate(job))


@pytest.mark.spark
def test_columns_are_found_by_the_header_of_each_file(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(",id,s\n0,1,a\n,id,s\n")
    (tmp_path / "b.csv").write_bytes(b"\xef\xbb\xbfs,id,\r\nb,2,0\r\n")
    (tmp_path / "c.csv").write_text('"id","s",more\n3,c,x\n')
    schema = pa.schema([FIELD("id", pa.string()), FIELD("s", pa.string())])
    source = {"path": str(tmp_path / "*.csv"), "format": "csv"}
    report = run_source(spark, tmp_path, schema, source)
    rows = sorted((row["id"], row["s"]) for row in rows_of(report.table_path))
    assert rows == [("1", "a"), ("2", "b"), ("3", "c"), ("id", "s")]
    with pytest.raises(PipelineError, match=r"csv` has no column `more`"):
        run_source(spark, tmp_path, pa.schema([FIELD("more", pa.string())]), source)
    (tmp_path / "d.csv").write_text("id,s,id\n")
    with pytest.raises(PipelineError, match=r"d\.csv` are called `id`"):
        run_source(spark, tmp_path, schema, source)


@pytest.mark.spark
def test_expressions_see_cells_by_the_header_of_each_file(spark: SparkSession, tmp_path: Path) -> None:
    for day, text in (("1", "id,s\n1,a\n2,\n3\n"), ("2", 's,more,id\n"b,""c""",x,4\n,y,x\n')):
        (tmp_path / f"day={day}").mkdir()
        (tmp_path / f"day={day}" / "in.csv").write_text(text)
    schema = pa.schema([FIELD("id", pa.int32()), FIELD("t", pa.string())])
    job = {
        "source": {"path": str(tmp_path / "day=*"), "format": "csv"},
        "fields": {"t": {"expr": "concat(s, '|', day)"}},
        "target": {"path": str(tmp_path / "out.lance")},
        "unexpected": "ignore",
    }
    report = run(Job.model_validate(job), schema, spark=spark)
    rows = sorted((row["id"], row["t"]) for row in rows_of(report.table_path))
    assert rows == [(1, "a|1"), (2, None), (4, 'b,"c"|2')]
    bad = lance.dataset(str(report.quarantine_path)).to_table().to_pylist()
    assert sorted((row["raw"], row["errors"][0]["rule"]) for row in bad) == [
        (",y,x", "cast"),
        ("3", "malformed"),
    ]


@pytest.mark.spark
@pytest.mark.parametrize("expr", ["s", "concat(s, '')"])
def test_cells_that_mean_null_or_empty_text(spark: SparkSession, tmp_path: Path, expr: str) -> None:
    """As Spark's own reader takes these options, in tasks of ours and in expressions."""
    (tmp_path / "in.csv").write_text('id,s\n1,NA\n2,""\n3,\n4,"NA"\n5,x\n6," NA"\n7,"a""b"\n')
    schema = pa.schema([FIELD("id", pa.int32()), FIELD("s", pa.string())])
    for options in (
        {"nullValue": "NA"},
        {"emptyValue": "-"},
        {"nullValue": "-", "emptyValue": "-"},
        {"nullValue": ""},
    ):
        path = str(tmp_path / "in.csv")
        job = {
            "source": {"path": path, "format": "csv", "options": options},
            "fields": {} if expr == "s" else {"s": {"expr": expr}},
            "target": {"path": str(tmp_path / "out.lance"), "mode": "overwrite"},
        }
        report = run(Job.model_validate(job), schema, request=RunRequest(again=True), spark=spark)
        theirs = spark.read.options(header="true", escape='"', **options).csv(path).collect()
        mine = sorted((str(row["id"]), row["s"]) for row in rows_of(report.table_path))
        assert mine == sorted((row[0], row[1]) for row in theirs), options


MOMENT = 1704067200_123456789
TIMES = {
    "ns": (pa.timestamp("ns"), MOMENT), "utc": (pa.timestamp("ns", "UTC"), -1), "t3": (pa.time32("ms"), 45_296_789),
    "t6": (pa.time64("us"), 45_296_789_012), "t9": (pa.time64("ns"), 45_296_789_012_345),
}  # fmt: skip


@pytest.mark.spark
@pytest.mark.usefixtures("generated_code")
def test_parquet_of_nanoseconds_and_times(spark: SparkSession, tmp_path: Path) -> None:
    inner = pa.list_(pa.struct([("at", pa.timestamp("ns")), ("t", pa.time64("us"))]))
    columns = {label: pa.array([value, None], held) for label, (held, value) in TIMES.items()}
    nested = pa.array([[{"at": MOMENT, "t": 1_000_000}], None], inner)
    table = pa.table(
        {
            "id": pa.array([1, 2], pa.int32()),
            **columns,
            "half": pa.array([1, 2], pa.float16()),
            "nested": nested,
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    source = {"path": str(tmp_path / "in.parquet"), "format": "parquet"}
    assert run_source(spark, tmp_path, ONE, source).rows_written == 2
    schema = table.drop(["half"]).schema
    report = run_source(spark, tmp_path / "all", schema, source)
    written = lance.dataset(report.table_path).to_table()
    for label in schema.names:
        assert written.column(label).combine_chunks().equals(table.column(label).combine_chunks()), label
    coarse = pa.schema(
        [FIELD("ns", pa.timestamp("us")), FIELD("t9", pa.time64("us")), FIELD("utc", pa.string())]
    )
    report = run_source(spark, tmp_path / "coarse", coarse, source)
    assert sorted((reason.path, reason.rule) for reason in report.reasons) == [
        ("ns", "precision"),
        ("t9", "precision"),
    ]
    texts = run_source(
        spark, tmp_path / "texts", pa.schema([FIELD("utc", pa.string()), FIELD("t3", pa.string())]), source
    )
    assert rows_of(texts.table_path)[0] == {"utc": "1969-12-31T23:59:59.999999999Z", "t3": "12:34:56.789"}


@pytest.mark.spark
@pytest.mark.parametrize(("unit", "count"), [("ms", 2**62), ("s", 2**53)])
def test_a_table_with_timestamps_beyond_sparks_is_refused(
    spark: SparkSession, tmp_path: Path, unit: str, count: int
) -> None:
    table = pa.table({"id": pa.array([1], pa.int32()), "at": pa.array([count], pa.timestamp(unit))})
    lance.write_dataset(table, tmp_path / "in.lance")
    source = {"path": str(tmp_path / "in.lance"), "format": "lance"}
    with pytest.raises(
        PipelineError, match=r"`at` of .* that Spark cannot hold as timestamp\[us\]"
    ) as caught:
        run_source(spark, tmp_path, ONE, source)
    assert caught.value.code is SOURCE_TYPE_MISMATCH
    assert not (tmp_path / "out.lance").exists()


@pytest.mark.spark
def test_a_row_without_raw_text_tells_its_types(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["x"]}), tmp_path / "in.parquet")
    report = run_source(
        spark, tmp_path, ONE, {"path": str(tmp_path / "in.parquet"), "format": "parquet"}, allowEmpty=True
    )
    (row,) = lance.dataset(report.quarantine_path).to_table().to_pylist()
    assert json.loads(row["raw"]) == {"types": {"id": "string"}, "row": {"id": "x"}}


@pytest.mark.spark
@pytest.mark.parametrize("text", ["", '{"id": "x"}\n'])
def test_a_table_is_not_emptied_unless_that_is_declared(
    spark: SparkSession, tmp_path: Path, text: str
) -> None:
    write(tmp_path / "in", "json")
    source = {"path": str(tmp_path / "in")}
    run_source(spark, tmp_path, ONE, source)
    (tmp_path / "in").write_text(text)
    with pytest.raises(PipelineError, match="allowEmpty: true"):
        run_source(spark, tmp_path, ONE, source)
    assert len(rows_of(str(tmp_path / "out.lance"))) == 1
    assert run_source(spark, tmp_path, ONE, source, allowEmpty=True).rows_written == 0


@pytest.mark.spark
@pytest.mark.parametrize("target", every_nth([{"format": "lance"}, {"format": "parquet"}], 2))
def test_a_first_run_of_which_nothing_fits_is_refused(
    spark: SparkSession, tmp_path: Path, target: dict[str, Any]
) -> None:
    """Neither table nor quarantine is made; a table that is there takes a run of which nothing fits."""
    (tmp_path / "in.json").write_text('{"id": "x"}\n{"id": 2.5}\n')
    source = {"path": str(tmp_path / "in.json")}
    for mode in ("create", "append", "overwrite"):
        with pytest.raises(PipelineError, match=r"none of the 2 records fits.*`id` type") as caught:
            run_source(spark, tmp_path, ONE, source, mode=mode, **target)
        assert caught.value.code is EMPTIED_TABLE
        assert sorted(path.name for path in tmp_path.glob("out*")) == []
    job = {"source": source, "target": {"path": str(tmp_path / "out"), **target}, "fields": {"id": "trip.id"}}
    with pytest.raises(PipelineError, match=r"no record that was read has `trip\.id`") as caught:
        run(Job.model_validate(job), pa.schema([FIELD("id", pa.int32(), False)]), spark=spark)
    assert (caught.value.code, caught.value.place[:2]) == (EMPTIED_TABLE, ("fields", "id"))
    assert (
        run_source(spark, tmp_path, ONE, source, mode="append", allowEmpty=True, **target).rows_quarantined
        == 2
    )
    assert run_source(spark, tmp_path, ONE, source, mode="append", **target).rows_quarantined == 2
