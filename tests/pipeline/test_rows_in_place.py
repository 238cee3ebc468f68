"""Rows of Parquet files that tasks of ours settle: the same table and the same quarantine as through Spark's own reader."""

import random
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_type

from schemac.pipeline.conforming.validation import ValidationPlan
from schemac.pipeline.declaration.job import Job, Source
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.parquet import RowGroups, files_for_arrow, type_in_spark
from schemac.pipeline.runner import run

pytestmark = pytest.mark.spark

PLAIN = [
    pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float16(),
    pa.float32(), pa.float64(), pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary(4),
    pa.binary_view(), pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.timestamp("s"),
    pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("ms", "UTC"), pa.timestamp("us", "UTC"),
    pa.timestamp("us", "Asia/Tokyo"), pa.duration("us"), pa.decimal32(5, 2), pa.decimal64(12, 2), pa.decimal128(5, 0),
    pa.decimal128(18, 18), pa.decimal128(38, 10), pa.decimal256(50, 2), pa.null(), pa.uuid(), pa.json_(),
    pa.dictionary(pa.int32(), pa.string()),
]  # fmt: skip


def nested(data_type: pa.DataType) -> list[pa.DataType]:
    """Around a type, each type with parts."""
    return [
        pa.list_(data_type), pa.large_list(data_type), pa.list_(data_type, 2), pa.struct([("a b", data_type)]),
        pa.map_(pa.string(), data_type), pa.list_(pa.struct([("m", pa.map_(pa.int32(), data_type))])),
    ]  # fmt: skip


@pytest.mark.parametrize("store_schema", [True, False])
def test_see_the_types_that_spark_sees(spark: SparkSession, tmp_path: Path, store_schema: bool) -> None:
    types = [*PLAIN, *(outer for inner in PLAIN for outer in nested(inner))]
    fields: list[pa.Field] = []
    for data_type in types:
        field = pa.field(f"c{len(fields)}", data_type)
        try:
            pq.write_table(
                pa.schema([field]).empty_table(), tmp_path / "one.parquet", store_schema=store_schema
            )
        except (pa.ArrowException, OSError):
            continue
        found = type_in_spark(pq.read_schema(tmp_path / "one.parquet").field(0).type)
        if found is not None:
            fields.append(field)
    assert len(fields) > 100
    path = tmp_path / "all.parquet"
    pq.write_table(pa.schema(fields).empty_table(), path, store_schema=store_schema)
    place = files_for_arrow(spark, Source(path=(str(path),), format="parquet"))
    assert place is not None
    assert isinstance(place.reader, RowGroups)
    seen = spark.read.option("mergeSchema", "false").parquet(str(path)).schema
    assert [(field.name, field.dataType.simpleString()) for field in seen] == [
        (field.name, from_arrow_type(field.type, prefer_timestamp_ntz=True).simpleString())
        for field in place.reader.schema
    ]


DAY, LAST_DAY = 1, 2932896
MICROS = 253402300799999999
INTEGERS = [
    -(2**63),
    -(2**31),
    -129,
    -128,
    -1,
    0,
    1,
    127,
    128,
    255,
    256,
    65535,
    65536,
    2**31 - 1,
    2**32,
    2**63 - 1,
]
FIELDS = {
    "i8": (pa.int8(), pa.int64()), "u8": (pa.uint8(), pa.int16()), "u16": (pa.uint16(), pa.int32()), "u32": (pa.uint32(), pa.uint32()),
    "i64": (pa.int64(), pa.int8()), "u64": (pa.uint64(), pa.int64()), "b": (pa.bool_(), pa.bool_()), "f": (pa.float32(), pa.float32()),
    "x": (pa.float64(), pa.float64()), "s": (pa.string(), pa.large_string()), "z": (pa.large_binary(), pa.binary()),
    "p": (pa.decimal128(12, 2), pa.decimal128(12, 2)), "d": (pa.date32(), pa.date32()), "c": (pa.timestamp("us"), pa.timestamp("ms")),
    "t": (pa.timestamp("us", "UTC"), pa.timestamp("us", "UTC")), "ny": (pa.timestamp("us", "America/New_York"), pa.timestamp("us", "UTC")),
    "l": (pa.list_(pa.field("item", pa.int32(), False)), pa.list_(pa.int64())),
    "v": (pa.list_(pa.float32(), 2), pa.list_(pa.float32())),
    "vv": (pa.list_(pa.list_(pa.int16(), 2)), pa.large_list(pa.list_(pa.int32()))),
    "m": (pa.map_(pa.string(), pa.field("value", pa.uint8(), False)), pa.map_(pa.string(), pa.int32())),
    "o": (pa.struct([pa.field("a", pa.int8(), False), ("d", pa.date32()), ("l", pa.list_(pa.string()))]),
          pa.struct([("a", pa.int32()), ("d", pa.date32()), ("l", pa.list_(pa.string()))])),
}  # fmt: skip


def value_of(rng: random.Random, data_type: pa.DataType, nulls: float) -> Any:
    """A value: counts for dates and timestamps."""
    is_ = pa.types
    if rng.random() < nulls:
        return None
    if is_.is_boolean(data_type):
        return rng.random() < 0.5
    if is_.is_unsigned_integer(data_type) or is_.is_integer(data_type):
        bits = data_type.bit_width
        least, most = (
            (0, 2**bits - 1)
            if is_.is_unsigned_integer(data_type)
            else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        )
        return rng.choice([one for one in INTEGERS if least <= one <= most]) if nulls else rng.randrange(100)
    if is_.is_floating(data_type):
        return rng.choice([0.5, -0.0, 1e30, 2.5, 1e-5, float("nan"), float("inf")])
    if is_.is_decimal(data_type):
        return rng.choice(["1.25", "-9999999999.99", "0.00"])
    if is_.is_date(data_type):
        return rng.choice(
            [0, -719162, LAST_DAY, -141428, *([-719163, LAST_DAY + 1, 10_000_000] if nulls else [])]
        )
    if is_.is_timestamp(data_type):
        micros = [
            0,
            -62135510400000000,
            MICROS - 10**12,
            *([MICROS + 1, -62135596800000001] if nulls else []),
        ]
        return rng.choice(micros) // (1 if data_type.unit == "us" else 1000)
    if is_.is_binary(data_type):
        return rng.choice([b"", b"\xff\x00", b"abc"])
    if is_.is_map(data_type):
        keys = rng.choice([[], ["a"], ["a", "é"], *([["a", "a"]] if nulls else [])])
        return [(key, value_of(rng, data_type.item_type, nulls)) for key in keys]
    if is_.is_struct(data_type):
        return {part.name: value_of(rng, part.type, nulls) for part in data_type}
    if data_type.num_fields:
        sizes = [2, 2, 3, 0] if nulls else [2]
        return [value_of(rng, data_type.value_type, nulls) for _ in range(rng.choice(sizes))]
    return rng.choice(["", "text", 'a "quoted" é', "\x01"])


def column_of(rng: random.Random, data_type: pa.DataType, rows: int) -> pa.Array:
    """Values of which about one in three rows has an odd one somewhere."""
    values = [value_of(rng, data_type, 0.3 if rng.random() < 0.03 else 0.0) for _ in range(rows)]
    return pa.array(
        [text_to_decimal(value) for value in values] if pa.types.is_decimal(data_type) else values, data_type
    )


def text_to_decimal(text: str | None) -> Any:
    return None if text is None else pa.scalar(text).cast(pa.decimal128(12, 2)).as_py()


def two_ways(spark: SparkSession, job: Any, schema: pa.Schema, folder: Path) -> tuple[list[Any], list[Any]]:
    """The table, the quarantine and the counts of a run that settles rows in place, and of one that does not."""
    found = []
    for way in ("place", "spark"):
        target, bad = str(folder / way / "t.lance"), str(folder / way / "q.lance")
        told = Job.model_validate(job | {"target": {"path": target}, "quarantine": {"path": bad}})
        with mock.patch.object(ValidationPlan, "in_tasks", None) if way == "spark" else nullcontext():
            report = run(told, schema, spark=spark)
        good = lance.dataset(str(folder / way / "t.lance")).to_table()
        bad = lance.dataset(str(folder / way / "q.lance")).to_table(columns=["source", "raw", "errors"])
        rows = sorted(map(repr, good.to_pylist())), sorted(map(repr, bad.to_pylist()))
        found.append([*rows, good.schema, report.rows_in, report.rows_written, report.rows_quarantined])
    return found[0], found[1]


def test_settle_the_same_rows_for_the_same_reasons(spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(7)
    data = tmp_path / "data"
    data.mkdir()
    others = {"other": pa.list_(pa.float64()), "more.of it": pa.timestamp("us", "UTC")}
    sources = {label: source for label, (_, source) in FIELDS.items()} | others
    for number in range(2):
        # A key that stands twice is as rare as no other fault.
        twin = pa.array([[("a", 1), ("a", 2)]], sources["m"])
        table = pa.table({label: column_of(rng, source, 150) for label, source in sources.items()})
        maps = pa.concat_arrays([twin, table["m"].chunk(0)[1:]])
        table = table.set_column(table.schema.names.index("m"), "m", maps)
        pq.write_table(table, data / f"{number}.parquet", row_group_size=40)
    schema = pa.schema([pa.field(label, kind, rng.random() < 0.5) for label, (kind, _) in FIELDS.items()])
    job = {"source": {"path": str(data), "format": "parquet"}, "unexpected": "ignore"}
    mine, theirs = two_ways(spark, job, schema, tmp_path)
    assert mine == theirs
    assert mine[3] == 300
    assert min(mine[4], mine[5]) > 50
    rules = {rule.rpartition(":")[2] for rule in re.findall(r"'rule': '([^']+)'", " ".join(mine[1]))}
    assert rules == {"required", "range", "length", "key"}


def test_leave_to_spark_what_is_not_known_to_be_read_alike(spark: SparkSession, tmp_path: Path) -> None:
    one, two = pa.table({"n": [1]}), pa.table({"n": [2], "m": [1]})
    pq.write_table(one, tmp_path / "one.parquet")
    pq.write_table(two, tmp_path / "two.parquet")
    pq.write_table(
        one.replace_schema_metadata({"org.apache.spark.version": "2.4.0"}), tmp_path / "old.parquet"
    )
    spark.range(1).selectExpr("timestamp'1700-01-01' as t").coalesce(1).write.parquet(str(tmp_path / "spark"))

    def found(*paths: str, **options: str) -> Any:
        source = Source(path=tuple(str(tmp_path / path) for path in paths), format="parquet", options=options)
        return files_for_arrow(spark, source)

    assert found("one.parquet") is not None
    assert found("spark") is not None
    assert found("one.parquet", "two.parquet") is None
    assert found("old.parquet") is None
    assert found("one.parquet", mergeSchema="true") is None
    spark.conf.set("spark.sql.parquet.int96RebaseModeInRead", "LEGACY")
    try:
        assert found("spark") is None
    finally:
        spark.conf.unset("spark.sql.parquet.int96RebaseModeInRead")


def test_say_that_a_file_is_not_whole(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(
        pa.table({"s": [f"text {i}" for i in range(10_000)]}), path, compression="none", use_dictionary=False
    )
    text = bytearray(path.read_bytes())
    text[8:4000] = bytes(3992)
    path.write_bytes(text)
    job = Job.model_validate(
        {"source": {"path": str(path), "format": "parquet"}, "target": {"path": str(tmp_path / "t.lance")}}
    )
    with pytest.raises(PipelineError, match="cannot be read"):
        run(job, pa.schema([("s", pa.string())]), spark=spark)
    assert not (tmp_path / "t.lance").exists()
