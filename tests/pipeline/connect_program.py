"""Pipelines in a session of Spark Connect, whose server is started on loopback; for a Python that has what Connect needs.

Shape: the argument is an empty folder; prints a JSON object: for each form of source its counts, or the code of its error.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.runner import run
from schemac.pipeline.spark.startup import java_home
from schemac.rows.runs.errors import PipelineError

SCHEMA = pa.schema([pa.field("id", pa.int64(), False)])
FORMS = ("json", "csv", "geojson", "parquet", "lance")
RECORDS = 30


def write_source(path: Path, form: str) -> None:
    """Write records of which each third does not fit, where the form can hold such."""
    ids: list[Any] = [i if i % 3 else "x" for i in range(RECORDS)]
    if form == "json":
        path.write_text("".join(json.dumps({"id": id}) + "\n" for id in ids))
    elif form == "csv":
        path.write_text("id\n" + "".join(f"{id}\n" for id in ids))
    elif form == "geojson":
        features = [{"type": "Feature", "id": id, "properties": {}} for id in ids]
        path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    elif form == "parquet":
        pq.write_table(pa.table({"id": [str(id) for id in ids]}), path)
    else:
        lance.write_dataset(pa.table({"id": [str(id) for id in ids]}), str(path))


def outcome(spark: SparkSession, folder: Path, form: str) -> Any:
    """Run one pipeline; its counts, or the code of its error."""
    path, target = folder / f"in.{form}", folder / f"{form}.lance"
    write_source(path, form)
    told = {"source": {"path": str(path), "format": form}, "target": {"path": str(target)}}
    try:
        report = run(Job.model_validate(told), SCHEMA, spark=spark)
    except PipelineError as error:
        return {"code": error.code.id, "message": error.message}
    rows = lance.dataset(str(target)).count_rows()
    return [report.rows_in, report.rows_written, report.rows_quarantined, rows, list(report.differences)]


def main(place: str) -> None:
    """Run all of them in one session, which has its settings again afterwards."""
    os.environ.update(JAVA_HOME=str(java_home()), PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    spark = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    found = {form: outcome(spark, Path(place), form) for form in FORMS}
    print(
        json.dumps(
            {**found, "zone": spark.conf.get("spark.sql.session.timeZone"), "class": type(spark).__module__}
        )
    )
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
