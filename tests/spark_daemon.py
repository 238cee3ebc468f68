"""The daemon that forks the Python workers of the tests' session, with what each of them would import loaded before.

Shape: `spark.python.daemon.module`. A worker imports PySpark, Arrow and the pipeline for half a second, and most of the tests' workers
live for less than that. `make test-long` forks from Spark's own daemon.
"""

from pyspark.daemon import manager

import schemac.pipeline.record_tasks
import schemac.pipeline.writing.table_sink  # noqa: F401

if __name__ == "__main__":
    manager()
