"""Data sources of ours in a session.

Layer: pipeline.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource

from schemac.pipeline.spark.executors import is_connect


def register(spark: SparkSession, source: type[DataSource]) -> None:
    """Make a data source known to a session; it replaces the one of this name that the session has."""
    # Spark looks for the name in the active session: if it is another one that has it, nothing would be registered.
    with active(spark):
        spark.dataSource.register(source)


@contextmanager
def active(spark: SparkSession) -> Iterator[None]:
    """Make a session the one in which Spark looks data sources up, which it does by the thread, not by the frame."""
    if is_connect(spark):
        yield
        return
    sessions = SparkSession._get_j_spark_session_class(spark._jvm)
    before = sessions.getActiveSession()
    sessions.setActiveSession(spark._jsparkSession)
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()
