"""The pipeline as a library: any frame conforms to what a run gives, in any session; and nothing is loaded before it is used."""

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Context, Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import lance
import pytest
from pyspark.sql import DataFrame, SparkSession

import schemac
import schemac.pipeline
from schemac.pipeline import Conformed, Job, PipelineError, Replay, RunReport, conform, run, runs_of, write
from schemac.pipeline.codes import SESSION_SETTING
from schemac.pipeline.conformed import LATE_SETTINGS
from schemac.text.source.catalogue import (
    DUPLICATE_COLUMN,
    PIPELINE_FILE,
    STREAMING_FRAME,
    UNEXPECTED_COLUMN,
    UNKNOWN_FIELD,
    UNKNOWN_SOURCE_COLUMN,
)
from tests.pipeline.conftest import another_session
from tests.pipeline.test_any_session import ODD, RECORDS, SCHEMA
from tests.spark_session import GENERATED_CODE

ODD_ROWS = schemac.from_arrow(SCHEMA, name="odd")
(TRIPS,) = schemac.compile_text(
    """
name: trips
fields:
  - {name: id, type: Int64, extra: {lance.org/primaryKey: {position: 1}}}
  - {name: fare, type: {kind: Decimal, precision: 8, scale: 2}}
  - {name: at, type: {kind: Option, inner: Timestamp}}
"""
)
ROWS = "values (1, '1.50', timestamp'2024-01-01T00:00:00Z'), (2, 'x', null), (null, '1.505', null) as t(id, fare, at)"


def test_importing_the_package_loads_neither_spark_nor_lance() -> None:
    script = (
        "import sys, schemac, schemac.pipeline; dir(schemac.pipeline);"
        "assert not {'pyspark', 'lance', 'pyarrow', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_every_public_name_is_there() -> None:
    for name in schemac.pipeline.__all__:
        assert getattr(schemac.pipeline, name).__doc__
    with pytest.raises(AttributeError, match="nothing"):
        schemac.pipeline.nothing  # noqa: B018


def outcome(found: Conformed) -> tuple[list[str], list[tuple[str, str]]]:
    good = sorted(str([shown(value) for value in row.values()]) for row in found.good.toArrow().to_pylist())
    rejected = found.rejected.toArrow().to_pylist()
    return good, sorted((row["_raw"], json.dumps(row["_errors"])) for row in rejected)


def shown(value: Any) -> Any:
    """An instant is the same in every zone of a session."""
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo is not None else value


def texts(spark: SparkSession) -> DataFrame:
    lines: list[tuple[str | None]] = [(json.dumps(record),) for record in RECORDS]
    lines += [('{"id": 8, "m": {"k": 1, "k": 2}}',), ("{",), (None,)]
    return spark.createDataFrame(lines, "value string")


@pytest.mark.spark
def test_a_frame_of_json_gives_what_a_run_of_the_file_gives(spark: SparkSession, tmp_path: Path) -> None:
    """The same records, once as a file that is run, once as a column that is conformed, and that frame written."""
    frame = texts(spark).where("value is not null")
    (tmp_path / "in.json").write_text("".join(row.value + "\n" for row in frame.collect()))
    source = {"path": str(tmp_path / "in.json")}
    ran = run(Job.model_validate({"source": source, "target": {"path": str(tmp_path / "a.lance")}}), ODD_ROWS)
    conformed = conform(frame, ODD_ROWS, json_column="value")
    written = write(conformed, ODD_ROWS, tmp_path / "b.lance")
    assert stored(ran) == stored(written)
    assert (ran.rows_in, ran.reasons) == (written.rows_in, written.reasons)
    counted = conformed.report()
    assert (counted.rows_in, counted.rows_fit) == (ran.rows_in, ran.rows_written)
    assert counted.reasons == ran.reasons
    assert ran.rows_written > 2
    assert ran.rows_quarantined > 2


def stored(report: RunReport) -> tuple[list[str], list[tuple[str, str]]]:
    assert report.quarantine_path is not None
    good = lance.dataset(report.table_path).to_table().to_pylist()
    bad = lance.dataset(report.quarantine_path).to_table().to_pylist()
    return sorted(map(str, good)), sorted((row["raw"], json.dumps(row["errors"])) for row in bad)


@pytest.fixture
def sessions(spark: SparkSession) -> Iterator[tuple[SparkSession, SparkSession]]:
    """The session, and one with settings that would change values; the former is the active one again afterwards."""
    with another_session(spark) as other:
        yield spark, other


@pytest.mark.spark
def test_no_setting_of_a_session_changes_values(sessions: tuple[SparkSession, SparkSession]) -> None:
    """Nor one that is set when the rows are computed: it is refused if it could."""
    spark, odd = sessions
    expected = outcome(conform(texts(spark), ODD_ROWS, json_column="value"))
    for name, text in ODD.items():
        if name not in LATE_SETTINGS:
            odd.conf.set(name, text)
    found = conform(texts(odd), ODD_ROWS, json_column="value")
    assert outcome(found) == expected
    for name in LATE_SETTINGS:
        odd.conf.set(name, ODD[name])
        with pytest.raises(PipelineError) as caught:
            conform(texts(odd), ODD_ROWS, json_column="value")
        assert caught.value.code is SESSION_SETTING
        assert caught.value.help is not None
        way_out = caught.value.help.partition("`")[2].partition("`")[0]
        exec(way_out, {"spark": odd})
    for name in GENERATED_CODE:
        odd.conf.set(name, spark.conf.get(name))
    assert outcome(conform(texts(odd), ODD_ROWS, json_column="value")) == expected


@pytest.mark.spark
def test_write_conforms_what_is_not_conformed_yet(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql(f"select *, 'c' as other from {ROWS}")
    table = tmp_path / "t.lance"
    first = write(frame, TRIPS, table, max_quarantined=0.7)
    assert (first.rows_in, first.rows_written, first.rows_quarantined) == (3, 1, 2)
    again = write(frame, TRIPS, table, mode="append", quarantine=tmp_path / "bad.lance", keys="check")
    assert again.quarantine_path == str(tmp_path / "bad.lance")
    assert [one.rows for one in runs_of(str(table))] == [1, 1]
    assert lance.dataset(table).count_rows() == 2
    with pytest.raises(PipelineError, match="the limit is 0"):
        write(frame, TRIPS, table, mode="append", max_quarantined=0)
    assert lance.dataset(table).count_rows() == 2
    twice = spark.sql("select 1 as id, 1.5 as fare, null as at from range(2)")
    checked = conform(twice, TRIPS, keys="check").report()
    assert [(one.path, one.rule, one.count) for one in checked.reasons] == [("id", "duplicate", 2)]


@pytest.mark.spark
def test_results_show_themselves(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql("select 1 as id, '<b>' as fare, null as at union all select 2, '1', null")
    conformed = conform(frame, TRIPS)
    report = conformed.report()
    written = write(conformed, TRIPS, tmp_path / "t.lance")
    for shown in (conformed, report, written):
        html: str = shown._repr_html_()
        assert html.startswith("<div>")
        assert "fare" in html
        assert "fare" in str(shown)
    assert report.to_json() == {
        "records": {"in": 2, "fit": 1, "rejected": 1},
        "reasons": [{"path": "fare", "rule": "cast", "count": 1}],
    }
    page = written.to_html(title="trips <1>")
    assert "trips &lt;1&gt;" in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


@pytest.mark.spark
def test_mistakes_name_their_code(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql(f"select * from {ROWS}")
    table = tmp_path / "t.lance"

    def refused(code: Any, *words: str, call: Any) -> None:
        with pytest.raises(PipelineError) as caught:
            call()
        assert caught.value.code is code
        for word in words:
            assert word in str(caught.value)

    refused(UNKNOWN_FIELD, "far", "`fare`", call=lambda: conform(frame, TRIPS, fields={"far": "fare"}))
    refused(PIPELINE_FILE, "coerce", call=lambda: conform(frame, TRIPS, coerce="yes"))  # type: ignore[arg-type]
    refused(PIPELINE_FILE, "keis", call=lambda: conform(frame, TRIPS, keis="check"))  # type: ignore[call-arg]
    refused(UNKNOWN_SOURCE_COLUMN, "id", call=lambda: conform(frame.drop("id"), TRIPS))
    refused(UNKNOWN_SOURCE_COLUMN, "`v`", "`fare`", call=lambda: conform(frame, TRIPS, json_column="v"))
    twins = frame.select("*", frame["fare"])
    refused(DUPLICATE_COLUMN, "fare", call=lambda: conform(twins, TRIPS))
    more = frame.selectExpr("*", "1 as tip")
    refused(UNEXPECTED_COLUMN, "tip", call=lambda: conform(more, TRIPS, unexpected="reject"))
    stream = spark.readStream.format("rate").load()
    refused(STREAMING_FRAME, "foreachBatch", call=lambda: write(stream, TRIPS, table))
    conformed = conform(frame, TRIPS)
    refused(PIPELINE_FILE, "coerce", call=lambda: write(conformed, TRIPS, table, coerce="text"))
    assert not table.exists()


@pytest.mark.spark
def test_run_takes_a_file_or_a_job(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "trips.yaml").write_text("fields:\n  - {name: fare, type: Float64}\n")
    (tmp_path / "in.json").write_text('{"fare": 1.5}\n')
    file = tmp_path / "p.yaml"
    file.write_text("source: {path: in.json}\nschema: trips.yaml\ntarget: {path: t.lance, mode: append}\n")
    steps: list[str] = []
    assert run(file, progress=lambda state: steps.append(state.step.name)).rows_written == 1
    assert steps[0] == "LOOKING"
    job = {
        "source": {"path": str(tmp_path / "in.json")},
        "target": {"path": str(tmp_path / "t.lance"), "mode": "append"},
    }
    (tmp_path / "in.json").write_text('{"fare": 2.5}\n')
    named = Job.model_validate({**job, "schema": str(tmp_path / "trips.yaml")})
    assert run(named, spark=spark).table_version == 2
    with pytest.raises(PipelineError, match="no dataset was given"):
        run(Job.model_validate(job))
    file.write_text("source: {path: in.json}\nschema: trips.yaml\ntarget: {pth: t.lance}\n")
    with pytest.raises(schemac.SchemaError) as caught:
        run(file)
    assert [(one.code, one.line) for one in caught.value.diagnostics] == [("SC611", 3)]


DIGITS = """
name: digits
fields:
  - {name: key, type: String}
  - {name: n, type: {kind: Option, inner: Int64}}
  - {name: t, type: {kind: Option, inner: {kind: Timestamp, unit: Microsecond, timezone: UTC}}}
  - {name: d, type: {kind: Option, inner: {kind: Decimal, precision: 38, scale: 18}}}
  - {name: f, type: {kind: Option, inner: Float64}}
"""


def test_records_of_a_frame_come_back_with_every_digit(spark: SparkSession, tmp_path: Path) -> None:
    """A wrong mapping quarantines two rows; the right one moves them into the table as they were in the frame."""
    (digits,) = schemac.compile_text(DIGITS)
    rows = [
        ("a", 3, None, None, 1.5),
        ("b", 2**53 + 1, datetime(2024, 1, 2, 3, 4, 5, 678901, tzinfo=UTC), Decimal(f"{10**19 + 1}.{10**17 + 1:018}"), math.nan),
        ("c", None, None, Decimal("0.1"), -0.0),
    ]  # fmt: skip
    frame = spark.createDataFrame(rows, "key string, n long, t timestamp, d decimal(38, 18), f double")
    wrong: Any = {"f": {"expr": "if(key = 'a', '1.5', key)"}}
    report = write(frame, digits, tmp_path / "t.lance", fields=wrong)
    assert (report.rows_written, report.rows_quarantined) == (1, 2)
    by_path = schemac.pipeline.replay(digits, tmp_path / "t.lance", Replay(path="n"), spark=spark)
    assert by_path.rows_in == 0
    moved = schemac.pipeline.replay(digits, tmp_path / "t.lance", Replay(path="f"), spark=spark)
    assert (moved.rows_in, moved.rows_written) == (2, 2)
    got = {row["key"]: tuple(row.values()) for row in lance.dataset(moved.table_path).to_table().to_pylist()}
    assert str(sorted(got.values())) == str(sorted(lance_rows(rows)))
    assert lance.dataset(tmp_path / "t.quarantine.lance").count_rows() == 0


def lance_rows(rows: list[Any]) -> list[Any]:
    """The rows as Lance's table gives them: decimals with their scale, instants in UTC by name."""
    zone = ZoneInfo("UTC")
    scale = Decimal(1).scaleb(-18)
    exact = Context(prec=38)
    return [
        (
            key,
            n,
            t and t.replace(tzinfo=zone),
            d if d is None else d.quantize(scale, context=exact),
            f,
        )
        for key, n, t, d, f in rows
    ]


def test_texts_of_a_frame_come_back(spark: SparkSession, tmp_path: Path) -> None:
    (digits,) = schemac.compile_text(DIGITS)
    frame = spark.createDataFrame([('{"key": "x", "m": 12}',), ('{"key": "y", "m": 2}',)], "value string")
    wrong: Any = {"n": {"expr": "if(m::int > 5, 'z', m::string)"}}
    report = write(frame, digits, tmp_path / "t.lance", json_column="value", fields=wrong)
    assert (report.rows_written, report.rows_quarantined) == (1, 1)
    moved = schemac.pipeline.replay(
        digits, tmp_path / "t.lance", spark=spark, json_column="value", fields={"n": "m"}
    )
    assert moved.rows_written == 1
    table = lance.dataset(moved.table_path).to_table(columns=["key", "n"]).to_pylist()
    assert sorted(row["key"] for row in table) == ["x", "y"]
    assert {row["key"]: row["n"] for row in table}["x"] == 12


def test_a_replay_of_no_table_names_it(spark: SparkSession, tmp_path: Path) -> None:
    (digits,) = schemac.compile_text(DIGITS)
    with pytest.raises(PipelineError, match=r"there is no table `.*nowhere\.lance`") as raised:
        schemac.pipeline.replay(digits, tmp_path / "nowhere.lance", spark=spark)
    assert raised.value.code.id == "SC666"
    assert [*tmp_path.iterdir()] == []
