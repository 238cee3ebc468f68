"""Starts the one Spark session of a run, quietly.

Shape: a `SparkSession` with our sink registered; an active session is used as it is, with the settings that decide
       about values (time zone, ANSI, parsing) put in place.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from .java import java_home

STATIC_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "8",
}

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

LOG_SETTINGS = """rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
# A failed task or write is raised in Python with its cause; its Java stack traces would only bury the message.
logger.spark.name = org.apache.spark
logger.spark.level = off
"""


def start_session(
    *, master: str = "local[*]", settings: Mapping[str, str] | None = None, app_name: str = "schemac"
) -> SparkSession:
    """A session fit for a run: loopback only, UTC, ANSI, no console noise."""
    active = SparkSession.getActiveSession()
    if active is None:
        active = _create(master, dict(settings or {}), app_name)
    for name, text in RUN_SETTINGS.items():
        active.conf.set(name, text)
    from .lance_sink import LanceSink

    active.dataSource.register(LanceSink)
    return active


def _create(master: str, settings: dict[str, str], app_name: str) -> SparkSession:
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    _make_importable_on_workers()
    builder = SparkSession.builder.master(master).appName(app_name)
    logging = f"-Dlog4j2.configurationFile={_log_settings_file().as_uri()} -Dlog4j2.disable.jmx=true"
    own = settings.pop("spark.driver.extraJavaOptions", "")
    options = {
        **STATIC_SETTINGS,
        **RUN_SETTINGS,
        **settings,
        "spark.driver.extraJavaOptions": f"{logging} {own}".strip(),
    }
    for name, text in options.items():
        builder = builder.config(name, text)
    return builder.getOrCreate()


def _log_settings_file() -> Path:
    import tempfile

    path = Path(tempfile.gettempdir()) / f"schemac-log4j2-{os.getuid()}-{os.getpid()}.properties"
    path.write_text(LOG_SETTINGS)
    import atexit

    atexit.register(path.unlink, missing_ok=True)
    return path


def _make_importable_on_workers() -> None:
    root = str(Path(__file__).resolve().parents[2])
    known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if root not in known:
        os.environ["PYTHONPATH"] = os.pathsep.join([root, *filter(None, known)])
