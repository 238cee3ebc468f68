"""Work of an engine on many parts of a table, spread over Spark's tasks.

Layer: pipeline.
Shape: the engine says what a task does with the numbers of its parts; what the tasks made comes back, and the caller commits.
"""

from collections.abc import Sequence

from pyspark.errors import PySparkException

from schemac.evolution.tables import PartsTask, Progress
from schemac.pipeline.session import start_session


def spread_on_spark(task: PartsTask, parts: Sequence[int], title: str, progress: Progress) -> dict[int, str]:
    """Do the task for all parts, one Spark task for each; return what it made of each."""
    progress(f"{title} on Spark", 0, len(parts))
    session = start_session(app_name="schemac apply")
    try:
        results = session.sparkContext.parallelize(parts, len(parts)).mapPartitions(task).collect()
    except PySparkException as error:
        raise RuntimeError(str(error).strip().splitlines()[-1]) from error
    progress(f"{title} on Spark", len(parts), len(parts))
    return dict(results)
