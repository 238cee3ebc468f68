"""How this package gets to executors, and how tasks and data sources of ours run in a session.

Layer: pipeline.
Shape: the package as it is installed, as an archive whose name has a digest of its content, so that two versions do not meet in one
       session; Spark hands it to every Python worker. `mapped` runs a task over batches of Arrow, `collected` one whose results come
       back to the driver, `register` adds a data source.
"""

import hashlib
import io
import os
import pickle
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BinaryType, StructField, StructType

if TYPE_CHECKING:
    # Spark has them in Python since 4.0, and connectors may be for an older one.
    from pyspark.sql.datasource import DataSource

PACKAGE = Path(__file__).resolve().parents[2]
PYTHON_SETTING = "spark.pyspark.python"
LONG_AGO = (1980, 1, 1, 0, 0, 0)


def is_local_master(master: str) -> bool:
    """Whether the tasks are threads of the driver's own process, and their Python the one of this machine.

    >>> is_local_master("local[4]"), is_local_master("local-cluster[2,1,1024]"), is_local_master("spark://m:7077")
    (True, False, False)
    """
    return master == "local" or master.startswith("local[")


def python_of_executors(master: str, settings: Mapping[str, str]) -> str:
    """Return the Python that tasks run in: that of the setting, of PYSPARK_PYTHON on a cluster, or this one."""
    configured = settings.get(PYTHON_SETTING)
    if configured:
        return configured
    # For tasks on this machine a variable of the shell may mean another project's environment.
    return sys.executable if is_local_master(master) else os.environ.get("PYSPARK_PYTHON", sys.executable)


def is_connect(spark: SparkSession) -> bool:
    """Whether a session is one of a Spark Connect server, which has no Java process of its own here."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def ship(spark: SparkSession) -> None:
    """Send the package to the Python workers of a session whose executors are processes of their own."""
    is_remote = is_connect(spark)
    if not is_remote and is_local_master(spark.sparkContext.master):
        return
    content = archive()
    name = f"schemac-{hashlib.sha256(content).hexdigest()[:16]}.zip"
    if is_remote:
        # A server that has a file of the name, which contains a digest, takes it for the same.
        with TemporaryDirectory(prefix="schemac-") as folder:
            path = Path(folder, name)
            path.write_bytes(content)
            spark.addArtifacts(str(path), pyfile=True)
        return
    context = spark.sparkContext
    if name in context._python_includes:
        return
    path = Path(context._temp_dir, name)
    path.write_bytes(content)
    searched = list(sys.path)
    try:
        context.addPyFile(str(path))
    finally:
        # This process has the package.
        sys.path[:] = searched


def archive() -> bytes:
    """Return a zip of the package; the same bytes for the same files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(PACKAGE.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                name = path.relative_to(PACKAGE.parent).as_posix()
                info = zipfile.ZipInfo(name, LONG_AGO)
                info.compress_type = zipfile.ZIP_DEFLATED
                file.writestr(info, path.read_bytes())
    return packed.getvalue()


Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def mapped(frame: DataFrame, task: Task, schema: StructType) -> DataFrame:
    """Return the rows that a task makes of each partition: `DataFrame.mapInArrow` without pandas, which PySpark requires but does not use here."""
    spark = frame.sparkSession
    if is_connect(spark):
        return frame.mapInArrow(task, schema)
    from pyspark.sql.udf import UserDefinedFunction  # the class that runs in this process
    from pyspark.util import PythonEvalType  # elsewhere before Spark 4.0, for which connectors may be

    function = UserDefinedFunction(task, schema, evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF)
    # A name may have dots in it.
    column = function(*(frame["`" + label.replace("`", "``") + "`"] for label in frame.columns))
    return DataFrame(frame._jdf.mapInArrow(column._jc, False, None), spark)


def collected(frame: DataFrame, task: Callable[[Iterator[pa.RecordBatch]], Iterator[Any]]) -> list[Any]:
    """Return all that a task yields for the partitions of a frame."""
    results = mapped(frame, partial(_pickled, task), StructType([StructField("result", BinaryType())]))
    return [pickle.loads(row[0]) for row in results.collect()]  # noqa: S301  our own tasks have written it


def _pickled(
    task: Callable[[Iterator[pa.RecordBatch]], Iterator[Any]], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield a batch with one row for each result of a task."""
    for result in task(batches):
        yield pa.record_batch([pa.array([pickle.dumps(result)], pa.binary())], ["result"])


def register(spark: SparkSession, source: "type[DataSource]") -> None:
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


@contextmanager
def settings_in_place(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Set settings of a session for as long as the context lasts."""
    before = {key: spark.conf.get(key, None) for key in settings}
    before = {key: text for key, text in before.items() if text != settings[key]}
    try:
        for key in before:
            spark.conf.set(key, settings[key])
        yield
    finally:
        for key, text in before.items():
            if text is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, text)
