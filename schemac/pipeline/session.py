"""The one Spark session of a run, and an engine's work spread over its tasks.

Layer: pipeline.
Shape: a `SparkSession` with our sinks registered; an active session is used as it is. The settings that decide about values (time zone,
       ANSI, parsing) are put in place for each run, and taken back after it. Of an engine's work each task gets numbers of parts; what
       the tasks made comes back, and the caller commits.
"""

import logging
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from schemac.pipeline.codes import MISSING_PACKAGE
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.reports.progress import RunStep, Watch, watched
from schemac.pipeline.spark.executors import (
    active,
    is_local_master,
    python_of_executors,
    settings_in_place,
    ship,
)
from schemac.pipeline.spark.failures import not_started, spark_errors_reported
from schemac.pipeline.spark.startup import (
    Master,
    archive_options,
    java_home,
    with_links_as_home,
    with_variable,
)
from schemac.pipeline.writing.table_sink import register_formats
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.identity import RunIdentity
from schemac.rows.runs.staging import folder_of_process
from schemac.rows.runs.storage import storage_in_use
from schemac.versions.evolution.tables import PartsTask, Progress

LOCAL, CONNECT = "local[*]", "sc://"
MASTER, REMOTE = "spark.master", "spark.remote"
REMOTE_VARIABLE, ARGUMENTS_VARIABLE = "SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS"
STATIC_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",
}
# Nobody else has to reach a session whose workers are threads of its own.
LOOPBACK = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}

MOST_OF_A_LOG = 1 << 20

# A wide schema becomes one long Java method, which Java would otherwise leave to its interpreter.
HUGE_METHODS = "-XX:-DontCompileHugeMethods"
# A short run ends before the compiler that optimizes has earned what it costs, a third of the processor time of a whole
# run. So it comes ten times later than Java's own thresholds have it; what a long run repeats passes these soon too.
LATE_OPTIMIZATION = (
    "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000"
    " -XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000"
)
# A run wants to be done soon; short pauses are of no use to it.
COLLECTOR = "-XX:+UseParallelGC"

# These decide what a value means, so that a run gives the same table in any session.
RUN_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    # A name or a text of the author that reads `${env:HOME}` means what it says.
    "spark.sql.variable.substitute": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.caseSensitive": "true",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    # Otherwise expressions that are used twice are copied at every level, and the optimizer does not come to an end.
    "spark.sql.optimizer.collapseProjectAlwaysInline": "false",
    "spark.sql.retainGroupColumns": "true",
}

# So do these, which are what Spark has by default: a session that somebody else made may have others. What the pipeline file
# itself says of them counts.
DEFAULT_SETTINGS = {
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.jsonGenerator.ignoreNullFields": "true",
    "spark.sql.json.enableExactStringParsing": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.variant.allowDuplicateKeys": "false",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
}

# Most records pass through few operators that are heavy in themselves: to compile Java for them takes longer than it
# saves, even on a million records.
WITHOUT_CODE = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}

# What two expressions of an author have in common would be computed before either, outside of what catches its errors.
UNSHARED = {"spark.sql.subexpressionElimination.enabled": "false"}


def start_session(
    *, master: str | None = None, settings: Mapping[str, str] | None = None, app_name: str = "schemac"
) -> SparkSession:
    """Return the session that exists, or a new one that listens on loopback only and writes nothing to the console.

    The default master is that of `spark-submit` or of SPARK_REMOTE, or else all cores of this machine.
    """
    active = SparkSession.getActiveSession()
    if active is None and SparkContext._active_spark_context is not None:
        # Another thread has made it.
        active = SparkSession.builder.getOrCreate()
    if active is None:
        active = _create_session(master_of(master, settings or {}), dict(settings or {}), app_name)
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    register_formats(active)
    return active


def settings_of_a_run(spark: SparkSession, job: Job) -> AbstractContextManager[None]:
    """Return a context in which the session has the settings that decide about values."""
    is_of_text = any(part.source.is_of_text for part in job.parts)
    job_settings = {key: text for key, text in job.spark.settings.items() if spark.conf.isModifiable(key)}
    has_expressions = any(origin.expr is not None for part in job.parts for origin in part.origins.values())
    job_settings |= UNSHARED if has_expressions else {}
    run_settings = DEFAULT_SETTINGS | (WITHOUT_CODE if is_of_text else {}) | job_settings | RUN_SETTINGS
    return settings_in_place(spark, run_settings)


@contextmanager
def on_spark(
    spark: SparkSession | None, job: Job, identity: RunIdentity, watch: Watch
) -> Iterator[SparkSession]:
    """Yield a session that is ready for a run: with its settings, its progress watched, and errors of Spark as ours."""
    watch.at(RunStep.STARTING)
    spark = session_of(spark, job)
    ship(spark)
    with (
        spark_errors_reported(),
        storage_in_use(job.storage_options),
        active(spark),
        settings_of_a_run(spark, job),
        watched(spark, identity.id, watch, job.spark.wait_for_executors),
    ):
        yield spark


def session_of(spark: SparkSession | None, job: Job) -> SparkSession:
    """Return the session to run in: the given one, or one that is started as the job says."""
    return spark or start_session(master=job.spark.master, settings=job.spark.settings)


def master_of(configured: str | None, settings: Mapping[str, str]) -> Master:
    """Return the master: a setting of Spark's own counts more than `configured`, and the environment least."""
    for key in (REMOTE, MASTER):
        if settings.get(key):
            return Master(settings[key], ("spark", "settings", key))
    if configured:
        return Master(configured, ("spark", "master"))
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()
        return Master(SparkConf().get(MASTER, None) or LOCAL, variable="spark-submit")
    if os.environ.get(REMOTE_VARIABLE):
        return Master(os.environ[REMOTE_VARIABLE], variable=REMOTE_VARIABLE)
    return Master(LOCAL)


def _create_session(named: Master, settings: dict[str, str], app_name: str) -> SparkSession:
    """Return a new session, or one on a Spark Connect server. Raises PipelineError if it cannot start."""
    master = named.address
    if master.startswith(CONNECT):
        try:
            return SparkSession.builder.remote(named.address).getOrCreate()
        except ImportError as error:
            message = "a session on a Spark Connect server needs packages that are not installed"
            raise PipelineError(MISSING_PACKAGE, message, "pip install 'pyspark[connect]'") from error
        except PySparkException as error:
            raise not_started(str(error), "", named) from error
    for key in (REMOTE, MASTER):
        settings.pop(key, None)
    os.environ["JAVA_HOME"] = str(java_home())
    python = os.environ["PYSPARK_PYTHON"] = python_of_executors(master, settings)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    is_local = is_local_master(master)
    if is_local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    else:
        named.check()
    _make_importable_on_workers()
    java_options = settings.get("spark.driver.extraJavaOptions", "")
    collector = "" if re.search(r"-XX:\+Use\w*GC\b", java_options) else COLLECTOR
    sooner = [LATE_OPTIMIZATION, archive_options(java_options)] if is_local else []
    # A Java that is killed leaves what it has there.
    place = f"-Djava.io.tmpdir={folder_of_process()}"
    options = " ".join(filter(None, [HUGE_METHODS, collector, place, *sooner, java_options]))
    settings = {**settings, "spark.driver.extraJavaOptions": options}
    builder = SparkSession.builder.master(master).appName(app_name)
    address = LOOPBACK if is_local else {}
    for name, text in {**STATIC_SETTINGS, **address, **RUN_SETTINGS, **settings}.items():
        builder = builder.config(name, text)
    # Another Python may have no other PySpark than the one that Spark brings.
    home = with_links_as_home() if is_local and python == sys.executable else nullcontext()
    # Beside SPARK_REMOTE PySpark takes no other master, though the pipeline names one.
    with _clean_console() as log, home, with_variable(REMOTE_VARIABLE, None):
        try:
            spark = builder.getOrCreate()
        except Exception as error:
            # What is submitted by a variable counts more than what this program says.
            submitted = re.search(r"--master[ =]+(\S+)", os.environ.get(ARGUMENTS_VARIABLE, ""))
            launched = named if submitted is None else Master(submitted[1], variable=ARGUMENTS_VARIABLE)
            raise not_started(str(error), log(), launched) from error
    _print_no_stacks(spark)
    return spark


def _print_no_stacks(spark: SparkSession) -> None:
    """Keep Py4J and PySpark from printing stacks after Java has ended: the error is reported in a sentence."""
    logging.getLogger().addFilter(lambda record: "py4j" not in Path(record.pathname).parts)
    server = spark.sparkContext._accumulatorServer
    original = server.handle_error

    def handle_error(*request: Any) -> None:
        if not isinstance(sys.exception(), (EOFError, ConnectionError)):
            original(*request)

    server.handle_error = handle_error


@contextmanager
def _clean_console() -> Iterator[Callable[[], str]]:
    """Send what Java writes to the console to a file without a name; yield a function that reads it.

    A virtual machine that cannot start prints why on standard output, where a report may be expected.
    """
    handle, name = tempfile.mkstemp(prefix="schemac-spark-", suffix=".log")
    Path(name).unlink()
    sys.stdout.flush()
    sys.stderr.flush()
    console = {stream: os.dup(stream) for stream in (1, 2)}
    for stream in console:
        os.dup2(handle, stream)
    try:
        with warnings.catch_warnings():
            # Said at every fork once such an engine is imported; the process that is started here is Java's.
            warnings.filterwarnings("ignore", message=r"\w+ is not fork-safe")
            yield lambda: os.pread(handle, MOST_OF_A_LOG, 0).decode(errors="replace")
    finally:
        for stream, original in console.items():
            os.dup2(original, stream)
            os.close(original)
        os.close(handle)


def _make_importable_on_workers() -> None:
    """Add the folder of this package to PYTHONPATH, which Spark's Python workers inherit."""
    root = str(Path(__file__).resolve().parents[2])
    known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if root not in known:
        os.environ["PYTHONPATH"] = os.pathsep.join([root, *filter(None, known)])


def spread_on_spark(task: PartsTask, parts: Sequence[int], title: str, progress: Progress) -> dict[int, str]:
    """Run a task for all parts, each in a Spark task of its own; return the result of each part."""
    progress(f"{title} on Spark", 0, len(parts))
    session = start_session(app_name="schemac apply")
    try:
        results = session.sparkContext.parallelize(parts, len(parts)).mapPartitions(task).collect()
    except PySparkException as error:
        raise RuntimeError(str(error).strip().splitlines()[-1]) from error
    progress(f"{title} on Spark", len(parts), len(parts))
    return dict(results)
