"""Starts the one Spark session of a run, quietly.

Shape: a `SparkSession` with our sink registered; an active session is used as it is, with the settings that decide
       about values (time zone, ANSI, parsing) put in place.
"""

import atexit
import logging
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from .errors import PipelineError
from .java import java_home

STATIC_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
}

# A wide schema becomes one long Java method, which Java would otherwise leave to its interpreter. A run wants to be done
# soon; short pauses are of no use to it.
JAVA_OPTIONS = "-XX:-DontCompileHugeMethods"
COLLECTOR = "-XX:+UseParallelGC"

# These decide what a value means, so that a run gives the same table under any session.
RUN_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.caseSensitive": "true",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
}


def start_session(
    *, master: str = "local[*]", settings: Mapping[str, str] | None = None, app_name: str = "schemac"
) -> SparkSession:
    """A session fit for a run: loopback only, UTC, ANSI, no console noise."""
    active = SparkSession.getActiveSession()
    if active is None:
        active = _create(master, dict(settings or {}), app_name)
    for name, text in RUN_SETTINGS.items():
        active.conf.set(name, text)
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    from .lance_sink import LanceSink

    active.dataSource.register(LanceSink)
    return active


def _create(master: str, settings: dict[str, str], app_name: str) -> SparkSession:
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    _make_importable_on_workers()
    own = settings.get("spark.driver.extraJavaOptions", "")
    collector = "" if re.search(r"-XX:\+Use\w*GC\b", own) else COLLECTOR
    settings = {**settings, "spark.driver.extraJavaOptions": f"{JAVA_OPTIONS} {collector} {own}".strip()}
    builder = SparkSession.builder.master(master).appName(app_name)
    for name, text in {**STATIC_SETTINGS, **RUN_SETTINGS, **settings}.items():
        builder = builder.config(name, text)
    with _console_kept_clean() as log:
        try:
            return builder.getOrCreate()
        except Exception as error:
            said = log.read_text(errors="replace").strip().splitlines()[-5:]
            raise PipelineError(
                "spark-not-started", f"Spark did not start: {error}", "; ".join(said)
            ) from error


@contextmanager
def _console_kept_clean() -> Iterator[Path]:
    """Sends what Java writes to the console, from here to its end, to a file: errors arrive as exceptions."""
    handle, name = tempfile.mkstemp(prefix="schemac-spark-", suffix=".log")
    atexit.register(Path(name).unlink, missing_ok=True)
    sys.stderr.flush()
    console = os.dup(2)
    os.dup2(handle, 2)
    os.close(handle)
    try:
        with warnings.catch_warnings():
            # Said at every fork once Lance is imported; the process that is started here is Java's.
            warnings.filterwarnings("ignore", message="lance is not fork-safe")
            yield Path(name)
    finally:
        os.dup2(console, 2)
        os.close(console)


def _make_importable_on_workers() -> None:
    root = str(Path(__file__).resolve().parents[2])
    known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if root not in known:
        os.environ["PYTHONPATH"] = os.pathsep.join([root, *filter(None, known)])
