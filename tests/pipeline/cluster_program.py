"""A program on a cluster that writes a table with the sink while something goes wrong in its second task.

Shape: arguments are the master, the Python of the executors, the folder, and what goes wrong; prints the counts as JSON.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Row, functions

from schemac.pipeline.session import start_session
from schemac.pipeline.spark.executors import register, ship
from schemac.pipeline.writing.sink_options import encode_schema
from schemac.pipeline.writing.table_sink import spark_sink

SCHEMA = pa.schema([pa.field("id", pa.int64(), False)])
ROWS, TASKS = 4000, 4
SETTINGS = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
}
SLOW_SECONDS = 30.0


def disturbed(kind: str) -> Any:
    """What the tasks do with their rows; the second task, at its first attempt, does not come to its end."""

    def rows(records: Iterator[Row]) -> Iterator[Row]:
        context = TaskContext.get()
        assert context is not None
        is_hit = context.partitionId() == 1 and context.attemptNumber() == 0
        yield from records
        if is_hit and kind == "slow":
            time.sleep(SLOW_SECONDS)
        elif is_hit and kind == "worker":
            os.kill(os.getpid(), signal.SIGKILL)
        elif is_hit and kind == "executor":
            daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
            os.kill(int(daemon.rpartition(")")[2].split()[1]), signal.SIGKILL)

    return rows


def main(master: str, python: str, folder: str, kind: str) -> None:
    """Write one table."""
    spark = start_session(master=master, settings={**SETTINGS, "spark.pyspark.python": python})
    ship(spark)
    register(spark, spark_sink("lance"))
    reasons = "array<struct<path string, rule string, value string>>"
    errors = functions.expr(
        f"if(id % 10 = 0, array(named_struct('path','id','rule','cast','value','x')), cast(null as {reasons}))"
    )
    rows = spark.range(0, ROWS, 1, TASKS).rdd.mapPartitions(disturbed(kind))
    frame = spark.createDataFrame(rows, "id long")
    frame = frame.withColumn("_errors", errors).withColumn("_raw", functions.lit("raw"))
    options = {
        "path": f"{folder}/t.lance",
        "quarantine": f"{folder}/t.quarantine.lance",
        "schema": encode_schema(SCHEMA),
    }
    frame.write.format("schemac-lance").mode("append").options(
        **options, report=f"{folder}/report.json"
    ).save()
    print(json.dumps(json.loads(Path(folder, "report.json").read_text())))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
