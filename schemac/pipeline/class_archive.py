"""Makes the archive of Spark's classes with which later sessions on this machine start sooner.

Layer: pipeline.
Shape: a small run; when its Java ends it writes the classes that it has loaded (see `spark.startup`). Another process, or
       a kill, finds a whole archive or none.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import SparkContext

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.runner import run
from schemac.pipeline.session import start_session
from schemac.pipeline.spark.startup import archive_path, dump_base, dump_options, publish_archive

LONGEST_DUMP_SECONDS = 600
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("at", pa.timestamp("us", "UTC"), nullable=False),
        pa.field("fare", pa.decimal128(10, 2), nullable=False),
        pa.field("stops", pa.list_(pa.struct([pa.field("name", pa.string())]))),
    ]
)
RECORDS = (
    {"id": "a", "at": "2026-01-01T00:00:00Z", "fare": 1.25, "stops": [{"name": "x"}]},
    {"id": "b", "at": "2026-01-01T00:00:01Z", "fare": "free", "stops": []},
)


def make_class_archive() -> Path:
    """Make the archive, unless there is one, and return where it is. Nothing else may use Spark in this process.

    Raises PipelineError if Spark cannot start, and OSError or SubprocessError where Java cannot write it.
    """
    path = archive_path()
    if path.is_file():
        return path
    if SparkContext._gateway is not None:
        raise RuntimeError("the archive has to be made in a process that has not used Spark yet")
    dump_base()
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder, path.name)
        spark = start_session(settings={"spark.driver.extraJavaOptions": dump_options(made)})
        gateway: Any = SparkContext._gateway
        # Java loads the classes that runs use.
        records = Path(folder, "records.json")
        records.write_text("".join(f"{json.dumps(record)}\n" for record in RECORDS), encoding="utf-8")
        target = {"path": str(Path(folder, "table")), "mode": "overwrite"}
        job = Job.model_validate({"source": {"path": str(records), "format": "json"}, "target": target})
        run(job, SCHEMA, spark=spark)
        spark.stop()
        # Java ends when nobody can write to it any more, and writes the archive before that.
        gateway.proc.stdin.close()
        gateway.proc.wait(LONGEST_DUMP_SECONDS)
        return publish_archive(made)
