"""Enforcing a schema, beside Spark's own readers and its Parquet writer: `make bench-pipeline`.

For each form a session of its own, whose first round is the cold one. The cases take turns, so that other programs on the machine
disturb all alike; the second round warms up, and the medians are of the others. Each size and form has its share of the time,
by rows: where that is over, no further round begins, and after two rounds the second one counts. Beside seconds of the clock
stand those of the processor, which other programs disturb less. Two in a hundred records of JSON and CSV have an amount that
is text. Enforcing is what a run does before it writes: records that are proven are batches of Arrow then, not rows of Spark. Memory is the most that was resident: of Java (driver and executor are one process here) and
of the largest Python worker.
"""

import argparse
import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import schemac
from schemac.pipeline.conforming.gather import conform_sources
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.runner import run
from schemac.pipeline.session import settings_of_a_run, start_session
from tests.bench.memory import Watcher, processor_seconds

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
CONSTRAINTS = {
    "id": "{schemac.dev/minimum: 0}",
    "name": "{schemac.dev/maxLength: 40, schemac.dev/pattern: '^name [0-9]+$'}",
    "price": "{schemac.dev/minimum: 0, schemac.dev/exclusiveMaximum: 100000}",
    "colour": "{schemac.dev/enum: [red, green, blue]}",
}
CONDITIONS = "extra: {schemac.dev/check: [price >= 0 or colour is null]}"
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
SPELLINGS = {
    "plain": "value",
    "spaces": """regexp_replace(value, '":', '" : ')""",
    "other order": """regexp_replace(value, '^.(.*),("tags".*).$', '{$2,"more":5,$1}')""",
    "absent keys": """if(length(value) % 2 = 0, regexp_replace(value, '"colour":[^,]*,', ''), value)""",
    "points": """regexp_replace(value, '"id":([0-9]+)', '"id":$1.0')""",
    "no seconds": """regexp_replace(value, '(T[0-9]{2}:[0-9]{2}):[0-9.:]+Z', '$1Z')""",
    "20 % wrong": """if(value rlike '"id":[0-9]*[05],', regexp_replace(value, '"day":"[^"]*"', '"day":"soon"'), value)""",
    "all wrong": """regexp_replace(value, '"day":"[^"]*"', '"day":"soon"')""",
}
"""Ways to write the records of JSON, as SQL over the text of a record."""
OTHER_TYPES = ("CAST(id AS DECIMAL(20,0)) AS id", "name", "CAST(price AS DOUBLE) AS price", "CAST(CAST(at AS STRING) AS STRING) AS at", "colour",
               "CAST(day AS STRING) AS day", "CAST(x AS STRING) AS x")  # fmt: skip
WIDE = {"500 texts": 500, "2,000 texts": 2_000}
"""Columns of text in Parquet that become integers."""
WIDEST = 10_000
"""Columns of integers in JSON."""
VALUES_PER_ROW = 50
"""Of a plain record: wide ones are fewer by so much, and their files about as large."""
PAIRS = (("enforcement", "native read"), ("whole run", "read, write.parquet"))


@dataclass(frozen=True)
class Measured:
    """Seconds of each case by round, by the clock and of the processor; bytes that were written; most memory in MB."""

    seconds: dict[str, list[tuple[float, float]]]
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


def schema_of(form: str, *, is_constrained: bool = False) -> pa.Schema:
    """The schema that is enforced; all records that have its types keep its constraints."""
    text = FLAT if form == "csv" else NESTED
    for label, told in CONSTRAINTS.items() if is_constrained else ():
        text = re.sub(rf"(name: {label}, .*)}}$", rf"\1, extra: {told}}}", text, flags=re.MULTILINE)
    (dataset,) = schemac.compile_text(f"{text}\n{CONDITIONS}\n" if is_constrained else text)
    return dataset.to_arrow(metadata=True)


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


def cases_of(
    spark: SparkSession, form: str, folder: Path, *, is_constrained: bool = False
) -> dict[str, Callable[[Path], object]]:
    """What is measured, in turn; each gets a folder of its own."""
    schema = schema_of(form, is_constrained=is_constrained)

    def job(out: Path) -> Job:
        source = {"path": str(folder / form), "format": form}
        return Job.model_validate({"source": source, "target": {"path": str(out / "rows.lance")}})

    def enforced(out: Path) -> None:
        with settings_of_a_run(spark, job(out)):
            to_nothing(conform_sources(spark, job(out), schema, None, may_pack=True)[0])

    return {
        "native read": lambda _: to_nothing(native(spark, form, folder)),
        "enforcement": enforced,
        "read, write.parquet": lambda out: native(spark, form, folder).write.parquet(str(out / "rows")),
        "whole run": lambda out: run(job(out), schema, spark=spark),
    }


def timed(case: Callable[[Path], object], out: Path) -> tuple[float, float]:
    """Seconds of one case by the clock, and of the processor."""
    clock, processor = time.perf_counter(), processor_seconds()
    case(out)
    return time.perf_counter() - clock, processor_seconds() - processor


def measure(
    form: str, rows: int, rounds: int, most_seconds: float, heap: str, *, is_constrained: bool = False
) -> Measured:
    """Measure one form in a session of its own."""
    start = time.perf_counter()
    spark = start_session(master="local[2]", settings={"spark.driver.memory": heap})
    seconds: dict[str, list[tuple[float, float]]] = {}
    written: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as scratch, Watcher() as watcher:
        folder = Path(scratch)
        make_input(spark, form, rows, folder)
        for number in range(rounds):
            if number > 1 and time.perf_counter() - start > most_seconds:
                break
            for label, case in cases_of(spark, form, folder, is_constrained=is_constrained).items():
                out = folder / "out"
                out.mkdir()
                seconds.setdefault(label, []).append(timed(case, out))
                written[label] = size_of(out / ("rows.lance" if label == "whole run" else "rows"))
                shutil.rmtree(out)
    spark.stop()
    return Measured(
        seconds, written["whole run"], written["read, write.parquet"], watcher.java, watcher.worker
    )


def show(form: str, rows: int, found: Measured) -> None:
    """Print a line for each pair."""
    for own, other in PAIRS:
        told = []
        for one in (0, 1):
            a, b = found.seconds[own][0][one], found.seconds[other][0][one]
            told.append(f"{a:.1f} / {b:.1f} s = {a / b:.2f}")
            a, b = (median(both[one] for both in warm_rounds(found, label)) for label in (own, other))
            told.append(f"{a:.1f} / {b:.1f} s = {a / b:.2f}")
        print(
            f"{form:<8}{rows:>11,}  {own + ' / ' + other:<32}" + "".join(f"{text:>25}" for text in told),
            flush=True,
        )
    ratio = found.lance_bytes / found.parquet_bytes
    rate = rows / median(clock for clock, _ in warm_rounds(found, "whole run")) / 1000
    counted = len(warm_rounds(found, "whole run"))
    print(f"{form:<8}{rows:>11,}  whole run: {rate:,.0f} thousand rows a second;", end=" ")
    print(f"bytes of the table / of Parquet: {ratio:.2f}; warm rounds counted: {counted};", end=" ")
    print(f"most memory: Java {found.java:,.0f} MB, a Python worker {found.worker:,.0f} MB", flush=True)


def warm_rounds(found: Measured, label: str) -> list[tuple[float, float]]:
    """Take the rounds that count: not the cold one, and the second only where there are no others."""
    return found.seconds[label][2:] or found.seconds[label][1:]


def integers(width: int) -> pa.Schema:
    """A schema of so many integers."""
    return pa.schema([pa.field(f"c{i}", pa.int64()) for i in range(width)])


def spelled(spark: SparkSession, rows: int, rounds: int, chosen: Sequence[str]) -> None:
    """Print for each way to write records, for columns of other types and for many columns what a whole run costs beside reading and writing with Spark."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make_input(spark, "json", rows, folder)
        texts = spark.read.text(str(folder / "json")).where("not value like '%\"free\"%'")
        cases = {}
        for name, sql in SPELLINGS.items():
            texts.selectExpr(f"{sql} AS value").write.text(str(folder / name))
            cases[name] = ("json", schema_of("json"), spark.read.schema(NESTED_DDL).json(str(folder / name)))
        frame = spark.range(0, rows, 1, 2).selectExpr(*FLAT_COLUMNS)
        frame.selectExpr(*OTHER_TYPES).write.parquet(str(folder / "other types"))
        cases["other types"] = ("parquet", schema_of("csv"), spark.read.parquet(str(folder / "other types")))
        for name, width in WIDE.items():
            texts = [f"cast(id + {i} as string) as c{i}" for i in range(width)]
            wide_rows = max(1, rows * VALUES_PER_ROW // width)
            spark.range(0, wide_rows, 1, 2).selectExpr(*texts).write.parquet(str(folder / name))
            cases[name] = ("parquet", integers(width), spark.read.parquet(str(folder / name)))
        lines = [json.dumps({f"c{i}": row + i for i in range(WIDEST)}) for row in range(max(1, rows // 400))]
        name = f"{WIDEST:,} in JSON"
        (folder / name).mkdir()
        (folder / name / "rows.json").write_text("".join(f"{line}\n" for line in lines))
        ddl = ", ".join(f"c{i} bigint" for i in range(WIDEST))
        cases[name] = ("json", integers(WIDEST), spark.read.schema(ddl).json(str(folder / name)))
        for name, (form, schema, own) in cases.items():
            if chosen and name not in chosen:
                continue
            told = {
                "source": {"path": str(folder / name), "format": form, "timezone": "UTC"},
                "target": {"path": str(folder / "out"), "allowEmpty": True},
                "maxQuarantined": 1.0,
            }
            clocks: dict[str, list[float]] = {"run": [], "native": []}
            for _ in range(rounds):
                clocks["native"].append(timed(lambda out: own.write.parquet(str(out)), folder / "out")[1])  # noqa: B023  # called at once
                shutil.rmtree(folder / "out")
                job = Job.model_validate(told)
                clocks["run"].append(timed(lambda _: run(job, schema, spark=spark), folder)[1])  # noqa: B023  # likewise
                for path in folder.glob("out*"):
                    shutil.rmtree(path)
            seconds = {label: min(found[1:] or found) for label, found in clocks.items()}
            ratio = seconds["run"] / seconds["native"]
            print(
                f"{name:<14}{rows:>11,}  whole run / Spark's own, processor: {seconds['run']:.1f} / {seconds['native']:.1f} s = {ratio:.2f}",
                flush=True,
            )


def main() -> None:
    """Measure, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[200_000, 2_000_000])
    parser.add_argument("--large", action="store_true", help="also 10 million rows")
    parser.add_argument("--rounds", type=int, default=5, help="at most; two at least")
    parser.add_argument("--minutes", type=float, default=12, help="after which no further round begins")
    parser.add_argument("--formats", nargs="*", choices=[*FORMATS], default=[*FORMATS])
    parser.add_argument("--heap", default="4g", help="that Java may use (spark.driver.memory)")
    parser.add_argument("--constraints", action="store_true", help="with a schema that has constraints")
    parser.add_argument(
        "--spellings", type=int, default=200_000, help="rows of each way to write them; 0 for none"
    )
    parser.add_argument("--cases", nargs="*", default=[], help="of the spellings and wide tables, only these")
    options = parser.parse_args()
    if options.spellings:
        spark = start_session(master="local[2]", settings={"spark.driver.memory": options.heap})
        spelled(spark, options.spellings, max(2, options.rounds), options.cases)
        spark.stop()
    sizes = [*options.rows, *([10_000_000] if options.large else [])]
    heads = ("cold", "warm, median", "processor, cold", "processor, warm")
    print(f"{'':<8}{'rows':>11}  {'':<32}" + "".join(f"{head:>25}" for head in heads))
    for rows in sizes:
        share = options.minutes * 60 * rows / sum(sizes) / len(options.formats)
        for form in options.formats:
            rounds, is_constrained = max(2, options.rounds), options.constraints
            show(form, rows, measure(form, rows, rounds, share, options.heap, is_constrained=is_constrained))


if __name__ == "__main__":
    main()
