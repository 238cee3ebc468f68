"""The diagnostics of what Java and Spark can do to a run; each has a page in `pages/`.

Layer: pipeline.
"""

from schemac.source.code import Code, Severity

PIPELINE_FAILED = Code(
    "SC612", "pipeline-failed", Severity.ERROR, "a run that Spark stopped for a cause of its own"
)
HIDDEN_INPUT = Code("SC632", "hidden-input", Severity.ERROR, "a file whose name hides it from Spark")
JAVA_NOT_FOUND = Code("SC670", "java-not-found", Severity.ERROR, "no Java runtime for Spark")
SPARK_NOT_STARTED = Code("SC671", "spark-not-started", Severity.ERROR, "a Spark session that did not start")
UNREACHABLE_MASTER = Code(
    "SC672", "unreachable-master", Severity.ERROR, "a Spark master that does not answer"
)
UNKNOWN_HOST = Code("SC673", "unknown-host", Severity.ERROR, "a host name that cannot be resolved")
OUT_OF_MEMORY = Code("SC674", "out-of-memory", Severity.ERROR, "Spark ran out of memory")
DISK_FULL = Code("SC675", "disk-full", Severity.ERROR, "a disk without free space")
WORKER_KILLED = Code("SC676", "worker-killed", Severity.ERROR, "a Python worker of Spark that was killed")
EXECUTOR_LOST = Code("SC677", "executor-lost", Severity.ERROR, "an executor that Spark lost")
SESSION_STOPPED = Code(
    "SC678", "session-stopped", Severity.ERROR, "a Spark session that was stopped during the run"
)
JAVA_GONE = Code("SC679", "java-gone", Severity.ERROR, "a Java process of Spark that is gone")
RUN_CANCELLED = Code("SC680", "run-cancelled", Severity.ERROR, "a run that was cancelled in Spark")
MISSING_PACKAGE = Code(
    "SC681", "missing-package", Severity.ERROR, "a Python package of the pipeline that is not installed"
)
UNKNOWN_JAVA_ZONE = Code(
    "SC682", "unknown-zone", Severity.ERROR, "a time zone that the Java of Spark does not know"
)
EXECUTOR_PYTHON = Code(
    "SC683", "executor-python", Severity.ERROR, "a Python of the executors that cannot run the pipeline"
)
OBJECT_STORE = Code(
    "SC686", "object-store", Severity.ERROR, "an object store that refuses, or does not answer"
)
NO_FILE_SYSTEM = Code(
    "SC687", "no-file-system", Severity.ERROR, "an address that Spark has no file system for"
)
SESSION_SETTING = Code(
    "SC691", "session-setting", Severity.ERROR, "a setting of the Spark session that would change values"
)
NO_EXECUTOR = Code("SC696", "no-executor", Severity.ERROR, "a run that no executor takes up")
CODES = (
    PIPELINE_FAILED,
    HIDDEN_INPUT,
    JAVA_NOT_FOUND,
    SPARK_NOT_STARTED,
    UNREACHABLE_MASTER,
    UNKNOWN_HOST,
    OUT_OF_MEMORY,
    DISK_FULL,
    WORKER_KILLED,
    EXECUTOR_LOST,
    SESSION_STOPPED,
    JAVA_GONE,
    RUN_CANCELLED,
    MISSING_PACKAGE,
    UNKNOWN_JAVA_ZONE,
    EXECUTOR_PYTHON,
    OBJECT_STORE,
    NO_FILE_SYSTEM,
    SESSION_SETTING,
    NO_EXECUTOR,
)
"""By number."""
