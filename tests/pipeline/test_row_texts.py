"""The text of a quarantined row of typed columns keeps every value: a replay writes what a run over the source writes."""

import json
import math
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import schemac
from schemac.pipeline import write
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading import row_texts
from schemac.pipeline.runner import run
from schemac.rows.judging.reasons import QUARANTINE_SCHEMA
from schemac.rows.runs.identity import Replay, RunRequest
from schemac.rows.runs.tables import runs_of
from schemac.text.source.catalogue import REPLAY
from tests.effort import every_nth

pytestmark = pytest.mark.spark

I64 = [0, -1, 2**63 - 1, -(2**63)]
MICROS = [
    0,
    -1,
    1_700_000_000_123_456,
    1_700_000_000_000_001,
    -62_135_596_800_000_000,
    253_402_300_799_999_999,
]
VALUES: dict[pa.DataType, list[Any]] = {
    pa.bool_(): [True, False],
    pa.int8(): [0, -128, 127],
    pa.int16(): [0, -(2**15), 2**15 - 1],
    pa.int32(): [0, -(2**31), 2**31 - 1],
    pa.int64(): I64,
    pa.float32(): [0.0, -0.0, 0.1, 1e-45, 3.4028234663852886e38, 16777217.0, math.nan, math.inf, -math.inf],
    pa.float64(): [0.0, -0.0, 0.1, 5e-324, 1.7976931348623157e308, 2.0**53 + 2, 1e23, math.nan, math.inf, -math.inf],
    pa.string(): ["", "null", "NaN", 'a"\\\n\t\u0001', "\0", "\0é", "é\U0001f600", "2024-01-01", "1.10"],
    pa.binary(): [b"", b"\0\xff", b"plain"],
    pa.date32(): [0, -1, -719162, 2932896],
    pa.timestamp("us"): MICROS,
    pa.timestamp("us", "UTC"): MICROS,
    pa.decimal128(5, 0): [Decimal(0), Decimal(-99999)],
    pa.decimal128(18, 18): [Decimal("0.000000000000000001"), Decimal("-0.1")],
    pa.decimal128(38, 10): [Decimal("1234567890123456789012345678.0123456789"), Decimal("1.10")],
}  # fmt: skip
OF_PARQUET: dict[pa.DataType, list[Any]] = {
    pa.timestamp("ns"): [0, -1, 1_700_000_000_123_456_789, -(2**63), 2**63 - 1],
    pa.timestamp("ns", "UTC"): [0, -1, 1_700_000_000_123_456_789],
    pa.time32("ms"): [0, 1, 86_399_999],
    pa.time64("us"): [0, 1, 86_399_999_999],
    pa.time64("ns"): [0, 1, 86_399_999_999_999],
}


def nested(leaf: pa.DataType, values: list[Any]) -> list[tuple[pa.DataType, list[Any]]]:
    """Types with parts around one, and their values: with nulls at every level."""
    inner = pa.struct([("a b", leaf), ("l", pa.list_(leaf))])
    members = [{"a b": value, "l": [value, None]} for value in values]
    return [
        (pa.list_(leaf), [[], values, [None]]),
        (pa.list_(pa.list_(leaf)), [[None, [], values]]),
        (inner, [*members, {"a b": None, "l": None}]),
        (pa.map_(pa.string(), leaf), [[], [("", None)], [(str(i), value) for i, value in enumerate(values)]]),
        (pa.map_(pa.string(), inner), [[("k", None), ("m", members[-1])]]),
    ]


def with_keys(leaf: pa.DataType, values: list[Any]) -> tuple[pa.DataType, list[Any]]:
    keys = [value for i, value in enumerate(values) if value not in values[:i]]
    return pa.map_(leaf, pa.int32()), [[(key, i)] for i, key in enumerate(keys)]


def columns_of(*leaves: dict[pa.DataType, list[Any]]) -> list[tuple[pa.DataType, list[Any]]]:
    found: list[tuple[pa.DataType, list[Any]]] = []
    for leaf, values in [pair for some in leaves for pair in some.items()]:
        found += [(leaf, values), *nested(leaf, values)]
        if not pa.types.is_floating(leaf):
            found.append(with_keys(leaf, values))
    return found


NAMES = ("types", "row", "a b", "é", "_note", "it's")


def table_of(columns: list[tuple[pa.DataType, list[Any]]]) -> pa.Table:
    """One column of each type; the first row fits, and no other does."""
    length = max(len(values) for _, values in columns) + 2
    found = {"bad": pa.array(["1", *["x"] * (length - 1)])}
    for i, (data_type, values) in enumerate(columns):
        label = NAMES[i] if i < len(NAMES) else f"c{i}"
        found[label] = pa.array([None, *values, *[None] * (length - 1 - len(values))], data_type)
    return pa.table(found)


def schema_of(table: pa.Table) -> pa.Schema:
    """Of a table that takes its columns, but for those that no reader takes."""
    taken = [field for field in table.schema if field.name != "odd"]
    return pa.schema(taken).set(0, pa.field("bad", pa.int64()))


def stored(spark: SparkSession, folder: Path, table: pa.Table, format: str) -> dict[str, Any]:
    path = str(folder / f"in.{format}")
    if format == "lance":
        lance.write_dataset(table, path, data_storage_version="2.2")
    else:
        pq.write_table(table, folder / "in.parquet")
    if format == "orc":
        spark.read.parquet(str(folder / "in.parquet")).write.orc(path)
    return {"path": path, "format": format}


def comparable(value: Any) -> Any:
    """A value in which floats are told apart by their bits."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("<d", value)
    if isinstance(value, dict):
        return {key: comparable(part) for key, part in value.items()}
    return [comparable(part) for part in value] if isinstance(value, list | tuple) else value


def counted(data_type: pa.DataType) -> pa.DataType:
    """The type with counts in the place of what Python rounds."""
    if pa.types.is_nested(data_type):
        parts = [counted(data_type.field(i).type) for i in range(data_type.num_fields)]
        if pa.types.is_struct(data_type):
            return pa.struct([pa.field(part.name, held) for part, held in zip(data_type, parts, strict=True)])
        if pa.types.is_map(data_type):
            return pa.map_(counted(data_type.key_type), counted(data_type.item_type))
        return pa.list_(parts[0])
    if pa.types.is_temporal(data_type):
        return pa.int32() if data_type.bit_width == 32 else pa.int64()
    return data_type


def rows_of(path: Path) -> list[str]:
    found = lance.dataset(str(path)).to_table().combine_chunks()
    columns = []
    for column in found.columns:
        held = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        plain = pa.concat_arrays([held, held[:0]])
        columns.append(comparable(plain.view(counted(plain.type)).to_pylist()))
    return sorted(repr(row) for row in zip(*columns, strict=True))


def raws_of(path: str | None) -> list[str]:
    return sorted(row["raw"] for row in lance.dataset(path).to_table().to_pylist()) if path else []


def check(
    spark: SparkSession, folder: Path, table: pa.Table, source: dict[str, Any], *, is_frame: bool = False
) -> list[str]:
    """Quarantine all rows but the first, replay them, and return their texts."""
    schema = schema_of(table)
    here, there = folder / "replayed.lance", folder / "written.lance"
    first = {"source": source, "target": {"path": str(here), "mode": "append"}}
    if is_frame:
        frame = spark.read.parquet(source["path"])
        report = write(frame, schemac.from_arrow(schema, name="rows"), here)
    else:
        report = run(Job.model_validate(first), schema, spark=spark)
    assert (report.rows_written, report.rows_quarantined) == (1, table.num_rows - 1)
    before = raws_of(report.quarantine_path)
    assert all(len(json.loads(raw)["row"]) == table.num_columns for raw in before)
    mended = {"nullValues": ["x"]}
    again = run(
        Job.model_validate({**first, **mended}), schema, request=RunRequest(replay=Replay()), spark=spark
    )
    whole = {"source": source, "target": {"path": str(there)}, **mended}
    direct = run(Job.model_validate(whole), schema, spark=spark)
    assert rows_of(here) == rows_of(there)
    assert again.rows_quarantined == direct.rows_quarantined
    assert set(raws_of(direct.quarantine_path)) <= set(before)
    return before


def test_a_replay_writes_what_a_frame_has(spark: SparkSession, tmp_path: Path) -> None:
    table = table_of(columns_of(VALUES))
    check(spark, tmp_path, table, stored(spark, tmp_path, table, "parquet"), is_frame=True)


@pytest.mark.parametrize("way", every_nth(["parquet", "parquet by spark", "orc", "lance"], 3))
def test_a_replay_writes_what_the_source_has(spark: SparkSession, tmp_path: Path, way: str) -> None:
    table = table_of(columns_of(VALUES))
    format, _, by_spark = way.partition(" ")
    source = stored(spark, tmp_path, table, format)
    if by_spark:
        source["options"] = {"mergeSchema": "true"}
    check(spark, tmp_path, table, source)


def test_counts_and_odd_texts(spark: SparkSession, tmp_path: Path) -> None:
    """What Spark has no type for, texts that are not UTF-8, and a key that stands twice."""
    table = table_of(columns_of(OF_PARQUET))
    length = table.num_rows
    texts = [b"\xff\xfe", b"\0\xff", b"plain", *[None] * (length - 3)]
    table = table.append_column("odd", pa.array(texts).view(pa.string()))
    twice = pa.array([None, [("k", 1), ("k", 2)], *[None] * (length - 2)], pa.map_(pa.string(), pa.int64()))
    table = table.append_column("twice", twice)
    raws = check(spark, tmp_path, table, stored(spark, tmp_path, table, "parquet"))
    assert {json.loads(raw)["row"]["odd"] for raw in raws} == {"\0\0ÿ", "plain", None}


@pytest.mark.parametrize("text", ["", "NaT", "today", "now", "2024", "2024-01", "2024-01-01T00:00+02:00"])
def test_read_no_text_as_a_moment_that_rows_never_have(text: str) -> None:
    """Whoever edits a quarantine by hand gets no other value for it, least of all that of this day."""
    with pytest.raises(AssertionError):
        row_texts._since_epoch("us", text)


def test_rows_of_several_schemas_and_of_folders(spark: SparkSession, tmp_path: Path) -> None:
    """And those of an earlier version, whose text tells no types."""
    schema = pa.schema({"id": pa.int64(), "n": pa.int8(), "day": pa.date32()})
    folder = tmp_path / "in" / "day=2024-01-31"
    folder.mkdir(parents=True)
    job = {
        "source": {"path": str(tmp_path / "in"), "format": "parquet"},
        "target": {"path": str(tmp_path / "t.lance"), "mode": "append"},
    }
    for ids in (pa.array(["1", "x"]), pa.array([2, 3])):
        n = pa.array([1, 1000], pa.int32())
        pq.write_table(pa.table({"id": ids, "n": n}), folder / "one.parquet")
        assert run(Job.model_validate(job), schema, spark=spark).rows_quarantined == 1
    mended = Job.model_validate({**job, "fields": {"n": None}, "nullValues": ["x"]})
    assert run(mended, schema, request=RunRequest(replay=Replay()), spark=spark).rows_written == 2
    ids = lance.dataset(str(tmp_path / "t.lance")).to_table()["id"].to_pylist()
    assert sorted(ids, key=repr) == [1, 2, 3, None]
    quarantine = str(tmp_path / "t.quarantine.lance")
    assert lance.dataset(quarantine).count_rows() == 0
    first = runs_of(str(tmp_path / "t.lance"))[-1].id
    old: dict[str, Any] = {"run": first, "source": None, "raw": '{"_note": "", "types": 1}', "errors": []}
    lance.write_dataset(pa.Table.from_pylist([old], QUARANTINE_SCHEMA), quarantine, mode="append")
    with pytest.raises(PipelineError) as caught:
        run(mended, schema, request=RunRequest(replay=Replay()), spark=spark)
    assert caught.value.code is REPLAY
