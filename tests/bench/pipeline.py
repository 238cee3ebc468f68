"""Writing rows, beside Spark's own Parquet writer, and pylance in one process: `python -m tests.bench.pipeline`.

One session, one frame, rounds in turn; the first round warms up and does not count.
"""

import argparse
import base64
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import lance
import pyarrow.dataset as pd
from pyspark.sql import DataFrame, SparkSession

import schemac
from schemac.pipeline.session import start_session

MANIFEST = """
name: rows
fields:
  - {name: id, type: Int64}
  - {name: name, type: String}
  - {name: price, type: {kind: Decimal, precision: 12, scale: 2}}
  - {name: at, type: {kind: Timestamp, unit: Microsecond}}
  - {name: colour, type: String}
  - {name: words, type: {kind: List, itemType: String}}
  - {name: vector, type: {kind: List, itemType: Float32, fixedLength: 16}}
  - name: place
    type: {kind: Struct, fields: [{name: x, type: Float64}, {name: y, type: Float64}]}
"""


def make_frame(spark: SparkSession, rows: int, folder: Path) -> DataFrame:
    """Rows in two partitions of a Parquet file."""
    columns = [
        "id",
        "concat('name ', id) AS name",
        "CAST(id % 100000 AS DECIMAL(12,2)) / 4 AS wide",
        "timestamp_micros(1767225600000000 + id * 1000) AS at",
        "element_at(array('red', 'green', 'blue'), CAST(id % 3 + 1 AS INT)) AS colour",
        "array(concat('a', id % 7), concat('b', id % 11)) AS words",
        "transform(sequence(1, 16), i -> CAST(id % 1000 * i AS FLOAT)) AS vector",
        "named_struct('x', CAST(id AS DOUBLE), 'y', id * 0.5D) AS place",
    ]
    frame = spark.range(0, rows, 1, 2).selectExpr(*columns)
    frame = frame.selectExpr(
        "id", "name", "CAST(wide AS DECIMAL(12,2)) AS price", "at", "colour", "words", "vector", "place"
    )
    frame.write.parquet(str(folder / "rows.parquet"))
    return spark.read.parquet(str(folder / "rows.parquet"))


def main() -> None:
    """Measure, and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args()
    (dataset,) = schemac.compile_text(MANIFEST)
    schema = base64.b64encode(dataset.to_arrow().serialize().to_pybytes()).decode()
    spark = start_session(master="local[2]", settings={"spark.driver.memory": "4g"})
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        frame = make_frame(spark, options.rows, folder)
        cases: dict[str, Callable[[str], object]] = {
            "df.write.parquet": lambda path: frame.write.parquet(path),
            "Lance sink": lambda path: (
                frame.write.format("schemac-lance").mode("append").option("schema", schema).save(path)
            ),
        }
        files = pd.dataset(folder / "rows.parquet", format="parquet")
        cases["pylance"] = lambda path: lance.write_dataset(files.scanner().to_reader(), path)
        seconds: dict[str, list[float]] = {name: [] for name in cases}
        for number in range(options.rounds):
            for name, case in cases.items():
                target = folder / f"out-{number}"
                start = time.perf_counter()
                case(str(target))
                seconds[name].append(time.perf_counter() - start)
                shutil.rmtree(target)
    spark.stop()
    medians = {name: median(found[1:]) for name, found in seconds.items()}
    for name, found in medians.items():
        print(f"{name:<18}{found:>8.2f} s   {options.rows / found / 1000:>6.0f} thousand rows a second")
    for other in ("df.write.parquet", "pylance"):
        print(f"Lance sink / {other:<18}{medians['Lance sink'] / medians[other]:>8.2f}")


if __name__ == "__main__":
    main()
