"""Inputs at the edge: nothing at all, nothing good, timestamps of every kind, blobs, old file versions, second attempts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.runner import RunReport, run
from schemac.pipeline.writing.sink_options import encode_schema
from schemac.rows.runs.tables import TableForm
from schemac.text.source.catalogue import INVALID_PATTERN
from tests.pipeline.conftest import reasons_of, rows_of

pytestmark = pytest.mark.spark

FIELD = pa.field
SMALL = pa.schema([FIELD("id", pa.int64(), False), FIELD("s", pa.string())])


def run_text(
    spark: SparkSession,
    folder: Path,
    schema: pa.Schema,
    text: str,
    *,
    storage_version: str | None = None,
    **settings: Any,
) -> RunReport:
    (folder / "in").write_text(text)
    source = {"path": str(folder / "in"), **settings.pop("source", {})}
    job = {"source": source, "target": {"path": str(folder / "t.lance")}, **settings}
    report = run(Job.model_validate(job), schema, TableForm(schema, "", storage_version), spark=spark)
    assert report.rows_in == report.rows_written + report.rows_quarantined
    assert report.differences == ()
    return report


@pytest.mark.parametrize(
    ("text", "source"),
    [("", {}), ("\n \n", {}), ("[]", {}), ("id,s\n", {"format": "csv"}), ("", {"format": "geojson"})],
)
def test_empty_input_makes_an_empty_table(
    spark: SparkSession, tmp_path: Path, text: str, source: Any
) -> None:
    report = run_text(spark, tmp_path, SMALL, text, source=source)
    assert (report.rows_in, report.rows_written) == (0, 0)
    assert lance.dataset(report.table_path).schema == SMALL
    assert report.quarantine_path is None


def test_no_good_row_makes_an_empty_table_and_a_quarantine_where_that_is_meant(
    spark: SparkSession, tmp_path: Path
) -> None:
    target = {"path": str(tmp_path / "t.lance"), "allowEmpty": True}
    report = run_text(spark, tmp_path, SMALL, '{"id": "x"}\n{"id": null}\n', target=target)
    assert (report.rows_written, report.rows_quarantined) == (0, 2)
    assert rows_of(report.table_path) == []
    assert len(reasons_of(report)) == 2
    again = run_text(
        spark, tmp_path, SMALL, '{"id": "y"}\n', target={"path": str(tmp_path / "t.lance"), "mode": "append"}
    )
    assert (again.rows_written, again.rows_quarantined) == (0, 1)


def test_empty_text_is_not_an_empty_cell(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([FIELD("s", pa.string()), FIELD("n", pa.int32())])
    report = run_text(spark, tmp_path, schema, 's,n\n"",1\n,2\n" ",3\nx,""\n', source={"format": "csv"})
    assert [tuple(row.values()) for row in rows_of(report.table_path)] == [
        ("", 1),
        (None, 2),
        (" ", 3),
        ("x", None),
    ]


def test_a_cell_of_any_letter_is_a_value(spark: SparkSession, tmp_path: Path) -> None:
    """Also one that no text has by custom; read in batches, and item by item."""
    rows = ["\ue000", "\uf8ff", "\uffff", "\ufdd0"]
    text = "id,s\n" + "".join(f'{i},{cell}\n{i},"{cell}"\n' for i, cell in enumerate(rows))
    report = run_text(spark, tmp_path, SMALL, text, source={"format": "csv"})
    found = rows_of(report.table_path)
    assert sorted(str(row["s"]) for row in found) == sorted(rows * 2)


def test_a_path_with_an_apostrophe_may_have_unexpected_keys(spark: SparkSession, tmp_path: Path) -> None:
    text = '{"it\'s": {"id": 1}}\n{"it\'s": {"id": 2, "x": 0}}\n'
    fields = {"id": "it's.id", "s": {"value": "constant"}}
    report = run_text(spark, tmp_path, SMALL, text, fields=fields, unexpected="reject")
    assert (report.rows_written, reasons_of(report)) == (
        1,
        {'{"it\'s": {"id": 2, "x": 0}}': [("it's.x", "unexpected", "x")]},
    )


LOWEST = pa.schema(
    [
        FIELD("thousands", pa.decimal128(5, -3)),
        FIELD("clock", pa.timestamp("ns")),
        FIELD("instant", pa.timestamp("ns", "UTC")),
        FIELD("shown", pa.timestamp("ns", "America/New_York")),
    ]
)


def test_the_first_and_the_least_values_of_a_type_are_values(spark: SparkSession, tmp_path: Path) -> None:
    first, last = "1677-09-21T00:12:43.145224192", "2262-04-11T23:47:16.854775807"
    good = [
        *({"thousands": number} for number in (0, -0.0, 1000, -99999000)),
        *({"clock": text} for text in (first, last, "1677-09-21T00:12:43.145225")),
        *({label: f"{text}Z"} for text in (first, last) for label in ("instant", "shown")),
    ]
    bad = [{"thousands": 1}, {"clock": "1677-09-21T00:12:43.145224191"}, {"instant": f"{last[:-1]}8Z"}]
    records = [json.dumps(record) for record in (*good, *bad)]
    report = run_text(spark, tmp_path, LOWEST, "\n".join(records))
    assert set(reasons_of(report)) == {json.dumps(record) for record in bad}
    found = rows_of(report.table_path)
    counts = [
        row[label] for row in found for label in ("clock", "instant", "shown") if row[label] is not None
    ]
    assert sorted(counts) == [*[-(2**63)] * 3, -(2**63) + 808, *[2**63 - 1] * 3]
    assert sorted(int(row["thousands"]) for row in found if row["thousands"] is not None) == [
        -99999000,
        0,
        0,
        1000,
    ]


def test_required_text_may_be_empty(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([FIELD("s", pa.string(), False), FIELD("n", pa.int32())])
    report = run_text(spark, tmp_path, schema, 's,n\n"",1\n,2\n', source={"format": "csv"})
    assert [row["s"] for row in rows_of(report.table_path)] == [""]
    assert [reasons[0][:2] for reasons in reasons_of(report).values()] == [("s", "required")]


def test_texts_that_mean_null_are_values_not_keys(spark: SparkSession, tmp_path: Path) -> None:
    required = FIELD("value", pa.string(), False)
    schema = pa.schema([FIELD("m", pa.map_(pa.string(), pa.string())), FIELD("l", pa.list_(required))])
    text = '{"m": {"NA": "NA", "": ""}, "l": [""]}\n{"l": ["NA"]}\n{"m": "NA", "l": "NA"}\n'
    report = run_text(spark, tmp_path, schema, text, nullValues=["NA"])
    assert rows_of(report.table_path)[0] == {"m": [("NA", None), ("", "")], "l": [""]}
    assert reasons_of(report)['{"l": ["NA"]}'] == [("l[0]", "required", None)]


def test_keys_that_become_one_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([FIELD("m", pa.map_(pa.int8(), pa.int8()))])
    report = run_text(spark, tmp_path, schema, '{"m": {"7": 1, "+7": 2}}\n{"m": {"7": 1, "8": 2}}\n')
    assert rows_of(report.table_path) == [{"m": [(7, 1), (8, 2)]}]
    assert [reasons[0][:2] for reasons in reasons_of(report).values()] == [("m", "key")]


UNITS = {
    "Day": 1,
    "Second": 86_400,
    "Millisecond": 86_400_000,
    "Microsecond": 86_400 * 10**6,
    "Nanosecond": 86_400 * 10**9,
}


def test_epochs_of_every_unit(spark: SparkSession, tmp_path: Path) -> None:
    types = {
        "s": pa.timestamp("s"),
        "ms": pa.timestamp("ms", "UTC"),
        "us": pa.timestamp("us"),
        "ns": pa.timestamp("ns"),
        "d": pa.date32(),
    }
    schema = pa.schema([FIELD(f"{unit}_{label}", held) for unit in UNITS for label, held in types.items()])
    fields = {f"{unit}_{label}": {"from": unit, "epoch": unit} for unit in UNITS for label in types}
    days = [0, 19_000, -1]
    lines = [json.dumps({unit: day * count for unit, count in UNITS.items()}) for day in days]
    wrong = '{"Nanosecond": 1, "Second": "5", "Millisecond": 1.5}'
    report = run_text(spark, tmp_path, schema, "\n".join([*lines, wrong]), fields=fields)
    table = lance.dataset(report.table_path).to_table()
    for unit in UNITS:
        for label in types:
            found = (
                table.column(f"{unit}_{label}").cast(pa.int32() if label == "d" else pa.int64()).to_pylist()
            )
            per_day = 1 if label == "d" else 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[label]
            assert found == [day * per_day for day in days]
    ((_, reasons),) = reasons_of(report).items()
    rules = {path: rule for path, rule, _ in reasons}
    assert {rules[f"Nanosecond_{label}"] for label in ("s", "ms", "us", "d")} == {"precision"}
    assert {rules[f"Second_{label}"] for label in types} == {"type"}
    assert (rules["Millisecond_s"], rules["Millisecond_ms"]) == ("precision", "precision")
    assert not {"Nanosecond_ns", "Millisecond_us", "Millisecond_ns"} & rules.keys()


def test_formats_of_dates_and_times(spark: SparkSession, tmp_path: Path) -> None:
    formats = {
        "a": "MMM dd yyyy",
        "b": "dd/MM/yy",
        "c": "yyyy-MM-dd'T'HH:mm:ssXXX",
        "d": "yyyy-MM-dd HH:mm:ss[.SSS]",
    }
    types = {"a": pa.date32(), "b": pa.date32(), "c": pa.timestamp("s", "UTC"), "d": pa.timestamp("ms")}
    schema = pa.schema([FIELD(label, held) for label, held in types.items()])
    good = {
        "a": "Jun 12 1998",
        "b": "12/06/98",
        "c": "1998-06-12T02:00:00+02:00",
        "d": "1998-06-12 00:00:00.500",
    }
    bad = {"a": "June 12 1998", "b": "31/02/98", "c": "1998-06-12", "d": " "}
    fields = {label: {"format": pattern} for label, pattern in formats.items()}
    report = run_text(spark, tmp_path, schema, "\n".join(map(json.dumps, [good, bad, {}])), fields=fields)
    row, blank = rows_of(report.table_path)
    assert set(blank.values()) == {None}
    assert [str(row[label]) for label in "abcd"] == [
        "1998-06-12", "2098-06-12", "1998-06-12 00:00:00+00:00", "1998-06-12 00:00:00.500000",
    ]  # fmt: skip
    ((_, reasons),) = reasons_of(report).items()
    assert [(path, rule) for path, rule, _ in reasons] == [(label, "cast") for label in "abcd"]


BLOB_V1 = FIELD("b", pa.large_binary(), metadata={b"lance-encoding:blob": b"true"})


@pytest.mark.parametrize(
    ("version", "blob"),
    [("2.0", BLOB_V1), ("2.1", BLOB_V1), ("2.2", lance.blob_field("b"))],
    ids=["2.0", "2.1", "2.2"],
)
def test_blobs_are_written_and_read(
    spark: SparkSession, tmp_path: Path, version: str, blob: pa.Field
) -> None:
    schema = pa.schema([FIELD("id", pa.int32(), False), blob])
    text = '{"id": 1, "b": "AAEC"}\n{"id": 2, "b": ""}\n{"id": 3}\n{"id": 4, "b": "!"}\n'
    report = run_text(spark, tmp_path, schema, text, storage_version=version)
    table = lance.dataset(report.table_path)
    assert table.data_storage_version == version
    assert table.to_table(columns=["id"]).column("id").to_pylist() == [1, 2, 3]
    assert [blob.read() for blob in table.take_blobs("b", indices=[0, 1])] == [b"\0\1\2", b""]
    assert [found[0][:2] for found in reasons_of(report).values()] == [("b", "cast")]


@pytest.mark.parametrize("version", ["2.0", "2.1"])
def test_older_file_versions_are_appended_to(spark: SparkSession, tmp_path: Path, version: str) -> None:
    inner = pa.struct([FIELD("x", pa.float32()), FIELD("l", pa.list_(pa.string()))])
    schema = pa.schema([FIELD("id", pa.int64(), False), FIELD("st", pa.list_(inner))])
    text = '{"id": 1, "st": [{"x": 1.5, "l": ["a"]}]}\n'
    run_text(spark, tmp_path, schema, text, storage_version=version)
    target = {"path": str(tmp_path / "t.lance"), "mode": "append"}
    report = run_text(spark, tmp_path, schema, text.replace("1,", "2,"), target=target)
    assert lance.dataset(report.table_path).data_storage_version == version
    assert [row["id"] for row in rows_of(report.table_path)] == [1, 2]


def source_that_fails_once(flag: str) -> type:
    """Two parts of 10,000 rows; the second one, at its first reading, ends after it has handed on its rows."""
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

    class Reader(DataSourceReader):  # type: ignore[misc]  # PySpark is not followed
        def partitions(self) -> list[InputPartition]:
            return [InputPartition(0), InputPartition(10_000)]

        def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
            import os

            numbers = range(partition.value, partition.value + 10_000)
            yield pa.record_batch(
                [pa.array(numbers, pa.int64()), pa.array(map(str, numbers))], names=["id", "s"]
            )
            if partition.value and not os.path.exists(flag):
                open(flag, "w").close()
                raise RuntimeError("asked to fail once")

    class FailsOnce(DataSource):  # type: ignore[misc]
        @classmethod
        def name(cls) -> str:
            return "fails-once"

        def schema(self) -> str:
            return "id long, s string"

        def reader(self, schema: Any) -> Reader:
            return Reader()

    return FailsOnce


def test_second_attempt_of_a_task_writes_its_rows_once(spark: SparkSession, tmp_path: Path) -> None:
    """The session allows a task two attempts."""
    flag = str(tmp_path / "failed before")
    spark.dataSource.register(source_that_fails_once(flag))
    path = tmp_path / "t.lance"
    writer = spark.read.format("fails-once").load().write.format("schemac-lance").mode("append")
    writer.options(path=str(path), schema=encode_schema(SMALL)).save()
    assert Path(flag).exists()
    table = lance.dataset(str(path))
    assert sorted(table.to_table().column("id").to_pylist()) == list(range(20_000))
    named = {file.path for fragment in table.get_fragments() for file in fragment.data_files()}
    assert {entry.name for entry in (path / "data").iterdir()} == named
    assert sorted(entry.name for entry in path.iterdir()) == ["_transactions", "_versions", "data"]


def test_pattern_that_spark_would_refuse_is_refused_before(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([FIELD("d", pa.date32())])
    for pattern in ("YYYY-MM-dd", "yyyy-MM-dd'T", "EEE dd", "dd.MM.yyyyyyy", "{yyyy}", ""):
        with pytest.raises(PipelineError, match="cannot be used") as caught:
            run_text(spark, tmp_path, schema, "{}", fields={"d": {"format": pattern}})
        assert caught.value.code is INVALID_PATTERN
    assert not (tmp_path / "t.lance").exists()


def test_report_of_spark_is_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in.parquet").write_bytes(b"PAR1" + b"\0" * 100 + b"PAR1")
    job = {
        "source": {"path": str(tmp_path / "in.parquet"), "format": "parquet"},
        "target": {"path": str(tmp_path / "t")},
    }
    with pytest.raises(PipelineError) as caught:
        run(Job.model_validate(job), SMALL, spark=spark)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "t").exists()
