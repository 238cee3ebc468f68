"""Read by every Python that starts with this folder on its path: those of Spark that write or commit stop as `stopping` says."""

import sys

if sys.orig_argv[-1] in (
    "pyspark.worker",
    "pyspark.sql.worker.write_into_data_source",
    "pyspark.sql.worker.commit_data_source_write",
):
    from tests.pipeline.stopping import WORKER, watch

    watch(WORKER)
