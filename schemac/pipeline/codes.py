"""The diagnostics of what Java and Spark can do to a run; each has a page in `pages/`.

Layer: pipeline.
"""

from schemac.text.source.catalogue import codes_in, error

PIPELINE_FAILED = error("SC612", "pipeline-failed", "a run that Spark stopped for a cause of its own")
HIDDEN_INPUT = error("SC632", "hidden-input", "a file whose name hides it from Spark")
JAVA_NOT_FOUND = error("SC670", "java-not-found", "no Java runtime for Spark")
SPARK_NOT_STARTED = error("SC671", "spark-not-started", "a Spark session that did not start")
UNREACHABLE_MASTER = error("SC672", "unreachable-master", "a Spark master that does not answer")
UNKNOWN_HOST = error("SC673", "unknown-host", "a host name that cannot be resolved")
OUT_OF_MEMORY = error("SC674", "out-of-memory", "Spark ran out of memory")
DISK_FULL = error("SC675", "disk-full", "a disk without free space")
WORKER_KILLED = error("SC676", "worker-killed", "a Python worker of Spark that was killed")
EXECUTOR_LOST = error("SC677", "executor-lost", "an executor that Spark lost")
SESSION_STOPPED = error("SC678", "session-stopped", "a Spark session that was stopped during the run")
JAVA_GONE = error("SC679", "java-gone", "a Java process of Spark that is gone")
RUN_CANCELLED = error("SC680", "run-cancelled", "a run that was cancelled in Spark")
MISSING_PACKAGE = error("SC681", "missing-package", "a Python package of the pipeline that is not installed")
UNKNOWN_JAVA_ZONE = error("SC682", "unknown-zone", "a time zone that the Java of Spark does not know")
EXECUTOR_PYTHON = error("SC683", "executor-python", "a Python of the executors that cannot run the pipeline")
OBJECT_STORE = error("SC686", "object-store", "an object store that refuses, or does not answer")
NO_FILE_SYSTEM = error("SC687", "no-file-system", "an address that Spark has no file system for")
SESSION_SETTING = error("SC691", "session-setting", "a setting of the Spark session that would change values")
NO_EXECUTOR = error("SC696", "no-executor", "a run that no executor starts")
CODES = codes_in(globals())
"""By number."""
