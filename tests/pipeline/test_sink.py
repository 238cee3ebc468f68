"""The sink: exact values, all or nothing, and what happens to a table that already exists."""

import datetime as dt
import decimal
import json
import os
import time
import uuid
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.runner import run
from schemac.pipeline.writing.sink_options import encode_schema
from schemac.rows.runs.identity import RunRequest
from schemac.text.source.catalogue import TABLE_EXISTS
from tests.pipeline.conftest import rows_of

pytestmark = pytest.mark.spark

FIELD = pa.field
SMALL = pa.schema([FIELD("id", pa.int64(), False), FIELD("s", pa.string())])


def files_of(path: Path) -> list[str]:
    return sorted(str(Path(folder) / name) for folder, _, names in os.walk(path) for name in names)


def write(spark: SparkSession, path: Path, frame: Any, mode: str = "append", **options: str) -> None:
    writer = frame.write.format("schemac-lance").mode(mode).option("path", str(path))
    writer.options(**{"schema": encode_schema(SMALL), **options}).save()


def test_every_type_survives(ingest: Any) -> None:
    nested = pa.struct(
        [FIELD("d", pa.decimal128(20, 3)), FIELD("l", pa.large_list(FIELD("item", pa.uint64())))]
    )
    schema = pa.schema(
        [
            FIELD("d128", pa.decimal128(38, 10)),
            FIELD("d256", pa.decimal256(60, 5)),
            FIELD("u64", pa.uint64()),
            FIELD("f16", pa.float16()),
            FIELD("emb", pa.list_(FIELD("item", pa.float16()), 2)),
            FIELD("m", pa.map_(pa.string(), FIELD("value", pa.decimal128(5, 1)))),
            FIELD("st", nested),
            FIELD("ls", pa.list_(FIELD("element", nested))),
            FIELD("dict", pa.dictionary(pa.int16(), pa.string())),
            FIELD("j", pa.json_()),
            FIELD("u", pa.uuid()),
            lance.blob_field("b"),
            FIELD("big", pa.large_string()),
            FIELD("fsb", pa.binary(2)),
            FIELD("d64", pa.date64()),
            FIELD("t", pa.time64("ns")),
            FIELD("dur", pa.duration("s")),
            FIELD("n", pa.null()),
        ]
    )
    first = {
        "d128": 12345678901234567890.0123, "d256": "x", "u64": 2**64 - 1, "f16": 0.5, "emb": [1, 2],
        "m": {"a": 1.5}, "st": {"d": 1.5, "l": [2**64 - 1, None]}, "ls": [{"d": 2.5}, None], "dict": "x",
        "j": {"a": [1]}, "u": "00112233-4455-6677-8899-aabbccddeeff", "b": "AAE=", "big": "x", "fsb": "AAE=",
        "d64": "2024-01-02", "t": "01:00:00.000000001", "dur": 5,
    }  # fmt: skip
    text = json.dumps(first)
    text = text.replace("1.2345678901234567e+19", "12345678901234567890.0123").replace(
        '"d256": "x"', '"d256": 123456789012345678901234567890.125'
    )
    report, _, reasons = ingest(schema, [text, {}])
    assert reasons == {}
    assert report.differences == ()
    table = lance.dataset(report.table_path)
    columns = [name for name in schema.names if name not in ("b", "t")]
    row, blank = table.to_table(columns=columns).to_pylist()
    assert set(blank.values()) == {None}
    day = decimal.Decimal
    assert row == {
        "d128": day("12345678901234567890.0123000000"), "d256": day("123456789012345678901234567890.12500"),
        "u64": 2**64 - 1, "f16": 0.5, "emb": [1.0, 2.0], "m": [("a", day("1.5"))],
        "st": {"d": day("1.500"), "l": [2**64 - 1, None]}, "ls": [{"d": day("2.500"), "l": None}, None],
        "dict": "x", "j": '{"a":[1]}', "u": uuid.UUID(str(first["u"])), "big": "x", "fsb": b"\0\1",
        "d64": dt.date(2024, 1, 2), "dur": dt.timedelta(seconds=5), "n": None,
    }  # fmt: skip
    assert table.to_table(columns=["t"]).column("t").cast(pa.int64()).to_pylist() == [3600 * 10**9 + 1, None]
    assert table.take_blobs("b", indices=[0])[0].read() == b"\0\1"
    assert table.schema.field("emb").type.list_size == 2


def test_bfloat16_lists_are_rounded_to_nearest(ingest: Any) -> None:
    item = FIELD("item", pa.binary(2), metadata={b"ARROW:extension:name": b"lance.bfloat16"})
    schema = pa.schema([FIELD("v", pa.list_(item, 2))])
    report, _, reasons = ingest(schema, [{"v": [1, 3.140625]}, {"v": None}])
    assert reasons == {}
    column = lance.dataset(report.table_path).to_table().column("v").combine_chunks()
    values = column.values.storage if hasattr(column.values, "storage") else column.values
    assert values.to_pylist()[:2] == [b"\x80\x3f", b"\x49\x40"]


def test_modes(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "in.json"
    source.write_text('{"id": 1}\n{"id": "x"}\n')
    job: dict[str, Any] = {"source": {"path": str(source)}, "target": {"path": str(tmp_path / "t.lance")}}

    def go(mode: str, *, again: bool = True) -> Any:
        told = Job.model_validate({**job, "target": {**job["target"], "mode": mode}})
        return run(told, SMALL, request=RunRequest(again=again), spark=spark)

    assert go("create").table_version == 1
    with pytest.raises(PipelineError) as caught:
        go("create")
    assert caught.value.code is TABLE_EXISTS
    for mode in ("create", "append"):
        repeat = go(mode, again=False)
        assert (repeat.is_repeat, repeat.table_version, repeat.rows_in) == (True, 1, 2)
    assert go("append").table_version == 2
    report = go("overwrite")
    assert (report.table_version, report.quarantine_version) == (3, 3)
    assert go("overwrite", again=False).table_version == 3
    assert lance.dataset(report.table_path).count_rows() == 1
    assert lance.dataset(report.table_path, version=2).count_rows() == 2
    assert lance.dataset(str(report.quarantine_path)).count_rows() == 3
    assert not [name for name in files_of(tmp_path) if "_staging-" in name]


def test_append_keeps_the_ids_of_a_table_that_has_evolved(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    table = lance.write_dataset(pa.table({"x": [1], "id": pa.array([1])}), str(path))
    table.drop_columns(["x"])
    table.add_columns(pa.schema([FIELD("s", pa.string())]))
    table.alter_columns({"path": "id", "nullable": False})
    write(spark, path, spark.sql("select 2L as id, 'b' as s"))
    assert rows_of(str(path)) == [{"id": 1, "s": None}, {"id": 2, "s": "b"}]


def test_append_refuses_another_schema(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(pa.table({"id": pa.array([1], pa.int32())}), str(path))
    before = files_of(path)
    with pytest.raises(PySparkException, match="a different schema"):
        write(spark, path, spark.sql("select 2L as id, 'b' as s"))
    assert files_of(path) == before


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_failing_task_leaves_the_table_as_it_was(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    path = tmp_path / "t.lance"
    write(spark, path, spark.range(10).selectExpr("id", "cast(id as string) as s"))
    before, version = files_of(path), lance.dataset(str(path)).version
    failing = spark.range(0, 200000, 1, 4).selectExpr(
        "id", "if(id = 199999, raise_error('asked to fail'), cast(id as string)) as s"
    )
    with pytest.raises(PySparkException, match="asked to fail"):
        write(spark, path, failing, mode)
    # Tasks that Spark has not stopped yet end by themselves, and sweep up behind them.
    deadline = time.monotonic() + 30
    while files_of(path) != before and time.monotonic() < deadline:
        time.sleep(0.2)
    assert files_of(path) == before
    assert lance.dataset(str(path)).version == version


def test_failing_first_write_leaves_nothing(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PySparkException, match="required"):
        write(spark, tmp_path / "t.lance", spark.sql("select cast(null as bigint) as id, 'x' as s"))
    assert list(tmp_path.iterdir()) == []


def test_too_many_bad_rows_commit_nothing(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "in.json"
    source.write_text('{"id": 1}\n{"id": "x"}\n')
    target = {"path": str(tmp_path / "t.lance")}
    job = {"source": {"path": str(source)}, "target": target}
    with pytest.raises(PipelineError, match="1 of 2 records do not fit"):
        run(Job.model_validate({**job, "maxQuarantined": 0.2}), SMALL, spark=spark)
    assert [entry.name for entry in tmp_path.iterdir()] == ["in.json"]
    assert run(Job.model_validate({**job, "maxQuarantined": 1}), SMALL, spark=spark).rows_quarantined == 1


def test_frame_without_rows_makes_an_empty_table(spark: SparkSession, tmp_path: Path) -> None:
    write(spark, tmp_path / "t.lance", spark.sql("select 1L as id, 'b' as s where false"))
    table = lance.dataset(str(tmp_path / "t.lance"))
    assert (table.count_rows(), table.schema) == (0, SMALL)


def test_schema_is_read_from_an_artifact(spark: SparkSession, tmp_path: Path) -> None:
    artifact = tmp_path / "schema.arrow"
    artifact.write_bytes(SMALL.serialize().to_pybytes())
    write(spark, tmp_path / "t.lance", spark.sql("select 1L as id, 'b' as s"), schema=str(artifact))
    assert rows_of(str(tmp_path / "t.lance")) == [{"id": 1, "s": "b"}]


def test_storage_version_is_kept(spark: SparkSession, tmp_path: Path) -> None:
    write(spark, tmp_path / "t.lance", spark.sql("select 1L as id, 'b' as s"), storageVersion="2.1")
    assert lance.dataset(str(tmp_path / "t.lance")).data_storage_version == "2.1"


def test_typed_sources_are_checked_too(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql(
        "select 1L as n, 1.5D as f, array(1, 300) as l, date'2024-01-01' as d, named_struct('a', 1) as st"
        " union all select 5000000000L, 1e39D, array(), null, null"
    )
    frame.write.parquet(str(tmp_path / "in"))
    schema = pa.schema(
        [FIELD("n", pa.uint32()), FIELD("f", pa.float32()), FIELD("l", pa.list_(pa.int8())), FIELD("d", pa.date32()),
         FIELD("st", pa.struct([FIELD("a", pa.int64())]))]
    )  # fmt: skip
    job = {
        "source": {"path": str(tmp_path / "in"), "format": "parquet"},
        "target": {"path": str(tmp_path / "t.lance"), "allowEmpty": True},
    }
    report = run(Job.model_validate(job), schema, spark=spark)
    found = {(reason.path, reason.rule) for reason in report.reasons}
    assert found == {("n", "range"), ("f", "range"), ("l[]", "range")}
    assert report.rows_in == report.rows_quarantined == 2


def test_lance_table_is_a_source(spark: SparkSession, tmp_path: Path) -> None:
    vector = pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float32(), 2))
    table = pa.table(
        {"id": pa.array([1, 300], pa.uint64()), "v": vector, "u": pa.array(["a", "b"]).dictionary_encode()}
    )
    lance.write_dataset(table, str(tmp_path / "in.lance"))
    schema = pa.schema(
        [FIELD("id", pa.uint8()), FIELD("v", pa.list_(pa.float32(), 2)), FIELD("u", pa.string())]
    )
    job = {
        "source": {"path": str(tmp_path / "in.lance"), "format": "lance"},
        "target": {"path": str(tmp_path / "t")},
    }
    report = run(Job.model_validate(job), schema, spark=spark)
    assert rows_of(report.table_path) == [{"id": 1, "v": [1.0, 2.0], "u": "a"}]
    assert [(r.path, r.rule) for r in report.reasons] == [("id", "range")]
