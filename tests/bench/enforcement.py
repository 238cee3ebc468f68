"""Enforcing a schema, beside Spark's own readers and its Parquet writer: `make bench-pipeline`.

For each form a session of its own, whose first round is the cold one. The cases take turns, so that other programs on the machine
disturb all alike; the second round warms up, and the medians are of the others. Two in a hundred records of JSON and CSV
have an amount that is text. Memory is the most that was resident: of Java (driver and executor are one process here) and
of the largest Python worker.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import schemac
from schemac.pipeline.conforming.projection import conform
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.reading.source import open_records
from schemac.pipeline.runner import run
from schemac.pipeline.session import settings_of_a_run, start_session
from tests.bench.memory import Watcher

FLAT = """
name: rows
fields:
  - {name: id, type: Int64}
  - {name: name, type: String}
  - {name: price, type: {kind: Decimal, precision: 12, scale: 2}}
  - {name: at, type: {kind: Timestamp, unit: Microsecond}}
  - {name: colour, type: {kind: Option, inner: String}}
  - {name: day, type: Date}
  - {name: x, type: {kind: Option, inner: Float64}}
"""
NESTED = f"""{FLAT}
  - {{name: words, type: {{kind: List, itemType: String}}}}
  - {{name: vector, type: {{kind: List, itemType: Float32, fixedLength: 16}}}}
  - {{name: tags, type: {{kind: Map, keyType: String, valueType: String}}}}
  - name: place
    type: {{kind: Struct, fields: [{{name: x, type: Float64}}, {{name: y, type: Float64}}]}}
"""
FLAT_DDL = "id bigint, name string, price decimal(12,2), at timestamp, colour string, day date, x double"
NESTED_DDL = (
    f"{FLAT_DDL}, words array<string>, vector array<float>, tags map<string,string>, "
    "place struct<x:double,y:double>"
)
PRICE = "CAST(CAST(id % 100000 AS DECIMAL(12,2)) / 4 AS DECIMAL(12,2))"
FLAT_COLUMNS = (
    "id",
    "concat('name ', id) AS name",
    f"{PRICE} AS price",
    "timestamp_micros(1767225600000000 + id * 1000) AS at",
    "element_at(array('red', 'green', 'blue'), CAST(id % 3 + 1 AS INT)) AS colour",
    "date_add(DATE'2020-01-01', CAST(id % 3000 AS INT)) AS day",
    "id * 0.37D AS x",
)
NESTED_COLUMNS = (
    *FLAT_COLUMNS,
    "array(concat('a', id % 7), concat('b', id % 11)) AS words",
    "transform(sequence(1, 16), i -> CAST(sin(id * i) AS FLOAT)) AS vector",
    "map('channel', if(id % 2 = 0, 'app', 'street'), 'payment', 'card') AS tags",
    "named_struct('x', CAST(id AS DOUBLE), 'y', id * 0.5D) AS place",
)
TIMESTAMPS = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
FORMATS = {"json": TIMESTAMPS, "csv": {**TIMESTAMPS, "header": "true"}, "parquet": {}}
PAIRS = (("enforcement", "native read"), ("whole run", "read, write.parquet"))


@dataclass(frozen=True)
class Measured:
    """Seconds of each case by round; bytes that the whole run and Parquet wrote; most memory in MB."""

    seconds: dict[str, list[float]]
    lance_bytes: int
    parquet_bytes: int
    java: float
    worker: float


def make_input(spark: SparkSession, form: str, rows: int, folder: Path) -> None:
    """Records in two files; a price that is text would not be Parquet's."""
    columns = list(FLAT_COLUMNS if form == "csv" else NESTED_COLUMNS)
    if form != "parquet":
        columns[2] = f"if(id % 50 = 49, 'free', CAST({PRICE} AS STRING)) AS price"
    frame = spark.range(0, rows, 1, 2).selectExpr(*columns)
    if form != "json":
        frame.write.format(form).options(**FORMATS[form]).save(str(folder / form))
        return
    text = f"to_json(struct(*), map('timestampFormat', \"{TIMESTAMPS['timestampFormat']}\"))"
    bare = 'regexp_replace(value, \'"price":"([0-9.]+)"\', \'"price":$1\') AS value'
    frame.selectExpr(f"{text} AS value").selectExpr(bare).write.text(str(folder / form))


def schema_of(form: str) -> pa.Schema:
    """The schema that is enforced."""
    (dataset,) = schemac.compile_text(FLAT if form == "csv" else NESTED)
    return dataset.to_arrow()


def native(spark: SparkSession, form: str, folder: Path) -> DataFrame:
    """Spark's own reader."""
    reader = spark.read.schema(FLAT_DDL if form == "csv" else NESTED_DDL)
    return reader.option("header", "true").format(form).load(str(folder / form))


def to_nothing(frame: DataFrame) -> None:
    """Every value is computed, and none is written."""
    frame.write.format("noop").mode("overwrite").save()


def size_of(path: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def cases_of(spark: SparkSession, form: str, folder: Path) -> dict[str, Callable[[Path], object]]:
    """What is measured, in turn; each gets a folder of its own."""
    schema = schema_of(form)

    def job(out: Path) -> Job:
        source = {"path": str(folder / form), "format": form}
        return Job.model_validate({"source": source, "target": {"path": str(out / "rows.lance")}})

    def enforced(out: Path) -> None:
        with settings_of_a_run(spark, job(out)):
            to_nothing(conform(open_records(spark, job(out)), schema, job(out)))

    return {
        "native read": lambda _: to_nothing(native(spark, form, folder)),
        "enforcement": enforced,
        "read, write.parquet": lambda out: native(spark, form, folder).write.parquet(str(out / "rows")),
        "whole run": lambda out: run(job(out), schema, spark=spark),
    }


def measure(form: str, rows: int, rounds: int) -> Measured:
    """Measure one form in a session of its own."""
    spark = start_session(master="local[2]", settings={"spark.driver.memory": "4g"})
    seconds: dict[str, list[float]] = {}
    written: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as scratch, Watcher() as watcher:
        folder = Path(scratch)
        make_input(spark, form, rows, folder)
        for _ in range(rounds):
            for label, case in cases_of(spark, form, folder).items():
                out = folder / "out"
                out.mkdir()
                before = time.perf_counter()
                case(out)
                seconds.setdefault(label, []).append(time.perf_counter() - before)
                written[label] = size_of(out / ("rows.lance" if label == "whole run" else "rows"))
                shutil.rmtree(out)
    spark.stop()
    return Measured(
        seconds, written["whole run"], written["read, write.parquet"], watcher.java, watcher.worker
    )


def show(form: str, rows: int, found: Measured) -> None:
    """Print a line for each pair."""
    for own, other in PAIRS:
        cold = [found.seconds[label][0] for label in (own, other)]
        warm = [median(found.seconds[label][2:]) for label in (own, other)]
        told = [f"{a:.2f} / {b:.2f} s = {a / b:.2f}" for a, b in (cold, warm)]
        print(f"{form:<9}{rows:>11,}  {f'{own} / {other}':<34}{told[0]:>24}{told[1]:>24}", flush=True)
    ratio = found.lance_bytes / found.parquet_bytes
    print(f"{form:<9}{rows:>11,}  bytes of the table / of Parquet: {ratio:.2f};", end=" ")
    print(f"most memory: Java {found.java:,.0f} MB, a Python worker {found.worker:,.0f} MB", flush=True)


def main() -> None:
    """Measure, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[200_000, 2_000_000])
    parser.add_argument("--large", action="store_true", help="also 10 million rows")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--formats", nargs="*", choices=[*FORMATS], default=[*FORMATS])
    options = parser.parse_args()
    print(f"{'':<9}{'rows':>11}  {'':<34}{'cold':>24}{'warm, median':>24}")
    for rows in [*options.rows, *([10_000_000] if options.large else [])]:
        for form in options.formats:
            show(form, rows, measure(form, rows, max(3, options.rounds)))


if __name__ == "__main__":
    main()
