"""Says in one sentence why Spark stopped; its own pages stay behind as the cause.

Layer: pipeline.
Shape: Spark's exceptions in, a `PipelineError` out: ours as it was raised in a task or at the commit; or a cause that is
       known, with its way out; or else the deepest error that was raised, without its stack.
"""

import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from schemac.pipeline.codes import (
    DISK_FULL,
    EXECUTOR_LOST,
    EXECUTOR_PYTHON,
    JAVA_GONE,
    NO_FILE_SYSTEM,
    OBJECT_STORE,
    OUT_OF_MEMORY,
    PIPELINE_FAILED,
    RUN_CANCELLED,
    SESSION_STOPPED,
    SPARK_NOT_STARTED,
    UNKNOWN_HOST,
    UNKNOWN_JAVA_ZONE,
    UNREACHABLE_MASTER,
    WORKER_KILLED,
)
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.spark.startup import Master
from schemac.text.source.catalogue import NOT_SHARED, SOURCE_TYPE_MISMATCH, UNREADABLE_INPUT
from schemac.text.source.diagnostics import Code

RAISED = re.compile(r"^(?:: )?(?:\w+\.)*\w*(?:Error|Invalid|Exception): (?P<message>\S.*)$", re.MULTILINE)
CAUSED = re.compile(r"^Caused by: (?:[\w.$]+: )*(?P<message>\S.*)$", re.MULTILINE)
TO_JAVA = "trying to connect to the Java server"
NO_KIND = re.compile(r"Master must either be |Could not parse Master URL: ")
LOGGED = re.compile(r"[0-9/]+ [0-9:]+ (?:WARN|INFO|DEBUG) |WARNING: |Using Spark's default log4j")


@dataclass(frozen=True)
class Cause:
    """A cause that Spark reports in words of its own, and what to do about it."""

    pattern: str
    """In any case of its letters."""
    code: Code
    message: str
    """May name groups of the pattern."""
    help: str


MEMORY = "give it more, as `spark: {settings: {spark.driver.memory: 4g}}`, or let fewer tasks run at once, as `spark: {master: 'local[2]'}`"
LOGS = "see the logs of the executors: on a standalone cluster `work/<application>/<executor>/stderr` of each worker"
PYTHON = (
    "name a Python that has schemac's libraries, as `spark: {settings: {spark.pyspark.python: /path/to/python}}`,"
    " or send one along with `spark.archives`"
)
UNSEEN = (
    "it was removed in the meantime, or the executors are on machines that do not have it: name a folder that all of them"
    " share, or an address such as s3://"
)
WHOLE = (
    "is the file complete, and in the format that its name suggests? If other bytes, such as zeros, follow the compressed data, compress it again:"
    " `gzip -dc a.gz | gzip > b.gz`"
)
CAUSES = (
    Cause(
        r"No module named '(?P<module>[\w.]+)'",
        EXECUTOR_PYTHON,
        "the Python of the executors has no module `{module}`",
        PYTHON,
    ),
    Cause(
        r"PYTHON_VERSION_MISMATCH\] (?P<what>[^\n]+?)[.,] (?:PySpark|Please)",
        EXECUTOR_PYTHON,
        "the executors have another Python than the program that runs the pipeline: {what}",
        PYTHON,
    ),
    Cause(
        r"Cannot run program \"(?P<program>[^\"]+)\": error=2",
        EXECUTOR_PYTHON,
        "there is no `{program}` where the executors run",
        PYTHON,
    ),
    Cause(
        r"(?:ClassNotFoundException: Class |UnsupportedFileSystemException: No FileSystem for scheme )(?P<what>\"?[\w.]*fs\.(?!http)[\w.]+|\"?\w+\"?)"
        r"(?= not found|\n|\Z)",
        NO_FILE_SYSTEM,
        "Spark has no file system for the address of the source ({what})",
        "add its jar, as `spark: {settings: {spark.jars.packages: org.apache.hadoop:hadoop-aws:<the version of Spark's"
        " hadoop-client jars>}}`; the tables of a run need none",
    ),
    Cause(
        r"FILE_NOT_EXIST\] Encountered error while reading file (?P<uri>\S+)\. File does not exist",
        NOT_SHARED,
        "the tasks cannot see a file of the source: {uri}",
        UNSEEN,
    ),
    Cause(
        r"FileNotFoundException: (?:File )?(?P<uri>(?:file:)?/[^\n]+?)(?: does not exist| \()",
        NOT_SHARED,
        "the tasks cannot see a file of the source: {uri}",
        UNSEEN,
    ),
    Cause(
        r"(?P<what>SlowDown|(?:Status Code: |status code: )(?:503|403|401)[^,\n]*|InvalidAccessKeyId|SignatureDoesNotMatch|AccessDenied"
        r"|NoSuchBucket)",
        OBJECT_STORE,
        "the object store refused the request: {what}",
        "check the section `storage` of the pipeline and its variables; if the store is busy, run it again later",
    ),
    Cause(
        r"OutOfMemoryError: (?P<what>[^\n]+)|GC overhead limit exceeded",
        OUT_OF_MEMORY,
        "Spark ran out of memory",
        MEMORY,
    ),
    Cause(
        r"System memory (?P<has>\d+) must be at least (?P<needed>\d+)",
        OUT_OF_MEMORY,
        "Spark needs {needed} bytes of memory for its driver, but may use only {has}",
        MEMORY,
    ),
    Cause(
        r"Could not reserve enough space for [^\n]*|There is insufficient memory for the Java Runtime|Too small maximum heap"
        r"|Too small initial heap|Invalid maximum heap size[^\n]*",
        OUT_OF_MEMORY,
        "Java cannot get the memory that is configured",
        "configure what this machine has, as `spark: {settings: {spark.driver.memory: 2g}}`",
    ),
    Cause(
        r"No space left on device",
        DISK_FULL,
        "the disk is full",
        "free some space; Spark's temporary files are in the folder `spark.local.dir`",
    ),
    Cause(
        r"Python worker exited unexpectedly|Python worker \S* ?(?:crashed|died)",
        WORKER_KILLED,
        "a Python worker of Spark was killed while it wrote; most often the system does that when memory runs out",
        "run it again; if it happens again, let fewer tasks run at once, as `spark: {master: 'local[2]'}` or, on a cluster,"
        " `spark: {settings: {spark.executor.cores: 1}}`",
    ),
    Cause(
        r"ExecutorLostFailure \(executor (?P<executor>\S+) exited[^)]*\)(?: Reason: (?P<why>[^\n]+))?",
        EXECUTOR_LOST,
        "Spark lost the executor {executor}: {why}",
        f"{LOGS}; where memory ran out, give them more, as `spark: {{settings: {{spark.executor.memory: 4g}}}}`, or let each run"
        " fewer tasks at once, as `spark: {settings: {spark.executor.cores: 1}}`",
    ),
    Cause(
        r"Master removed our application(?:: (?P<why>\w+))?|Application has been killed\. Reason: (?P<reason>[^\n]+)",
        EXECUTOR_LOST,
        "the Spark master ended the run, because all of its executors had died ({why})",
        LOGS,
    ),
    Cause(
        r"stopped SparkContext|SparkContext (?:was|has been) (?:shut ?down|stopped)|Spark ?Session (?:was|has been) stopped"
        r"|after SparkContext was shutdown",
        SESSION_STOPPED,
        "the Spark session was stopped while the run was going on",
        f"on a cluster, its executors may all have died: {LOGS}; otherwise let the session live until the run has returned",
    ),
    Cause(
        r"Answer from Java side is empty|Error while (?:sending or receiving|obtaining a new communication channel)"
        rf"|{TO_JAVA}|JavaServer is not running|Java gateway process exited"
        r"|Connection refused.{0,200}py4j|NoneType' object has no attribute 'sc'",
        JAVA_GONE,
        "the Java process of Spark is gone: it was killed, or it could not go on",
        "run it again; if it happens again, give Java more memory, as `spark: {settings: {spark.driver.memory: 4g}}`, or let"
        " fewer tasks run at once, as `spark: {master: 'local[2]'}`",
    ),
    Cause(
        r"Job \d+ cancelled(?: (?P<why>[^\n]+))?|cancelled as part of",
        RUN_CANCELLED,
        "the run was cancelled in Spark",
        "run it again",
    ),
    Cause(
        r"All masters are unresponsive|Failed to connect to master (?P<where>\S+)",
        UNREACHABLE_MASTER,
        "the Spark master cannot be reached",
        "start it, or name another one as `spark: {master: ...}`",
    ),
    Cause(
        r"UnknownHostException: (?P<host>[^\s:]+)",
        UNKNOWN_HOST,
        "this machine cannot resolve the host `{host}`",
        "check `spark: {master: ...}` and the paths of the pipeline",
    ),
    Cause(
        r"INVALID_TIMEZONE\] The timezone: (?P<zone>\S+) is invalid",
        UNKNOWN_JAVA_ZONE,
        "the Java that runs Spark does not know the time zone `{zone}`: its time zone data are older than Python's",
        "use a newer Java, or name a zone that it knows and whose clocks show the same",
    ),
    Cause(
        r"PARQUET_COLUMN_DATA_TYPE_MISMATCH\] Encountered error while reading file (?P<uri>\S+?)\.\s+Data type mismatches? when reading Parquet"
        r" column \[?(?P<column>[^\n]+?)\]?\. Expected Spark type (?P<wanted>\S+?), actual Parquet type (?P<has>[^\n]+?)\.(?=\s|\Z)",
        SOURCE_TYPE_MISMATCH,
        "the column {column} of `{uri}` is {has}, and {wanted} in other files of the source",
        "read the files of each type by a source of their own, as `sources: [{path: a/*.parquet}, {path: b/*.parquet}]`",
    ),
    # Last: what is known of the cause says more.
    Cause(
        r"FAILED_READ_FILE\.NO_HINT\] Encountered error while reading file (?P<uri>\S+?)\.\s(?s:.*)Caused by: [\w.$]+: (?P<why>[^\n]+)",
        UNREADABLE_INPUT,
        "`{uri}` cannot be read to its end: {why}",
        WHOLE,
    ),
)


@contextmanager
def spark_errors_reported() -> Iterator[None]:
    """Raise errors of Spark as PipelineError."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise error_of_text(str(error) or type(error).__name__) from error
    except ConnectionError as error:
        # Whether it was Py4J that could not connect, as it tries again and again once Java is gone.
        modules = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)]
        is_to_java = any(module.partition(".")[0] == "py4j" for module in modules)
        raise error_of_text(f"{TO_JAVA}: {error}" if is_to_java else str(error)) from error


def error_of_text(text: str) -> PipelineError:
    """Find the error behind the text of one of Spark's.

    >>> str(error_of_text("Job aborted\\n  at x.y(Z.java:1)\\nCaused by: java.io.IOException: disk is full\\n  at a.b"))
    '[SC612] Spark stopped: disk is full (help: nothing of this run was written)'
    """
    ours = PipelineError.from_text(text)
    if ours is not None:
        return ours if ours.help else PipelineError.uncommitted(ours.code, ours.message, place=ours.place)
    known = known_cause(text)
    if known is not None:
        return PipelineError.uncommitted(known.code, known.message, known.way_out)
    return PipelineError.uncommitted(PIPELINE_FAILED, f"Spark stopped: {deepest(text)}")


def not_started(text: str, log: str, master: Master) -> PipelineError:
    """Return the error of a session that did not start; Java's log often has the cause that the exception lacks."""
    if NO_KIND.search(log) or NO_KIND.search(text):
        return master.of_no_kind()
    known = known_cause(log) or known_cause(text)
    if known is not None and known.code is not JAVA_GONE:
        place = master.place if known.code in (UNREACHABLE_MASTER, UNKNOWN_HOST) else ()
        return PipelineError(known.code, f"Spark did not start: {known.message}", known.help, place=place)
    lines = [line.strip() for line in log.splitlines() if line.strip() and not line.startswith(("\t", " "))]
    # What Java only warns of is no cause, unless it says nothing else.
    messages = [line for line in lines if not LOGGED.match(line)] or lines
    message = f"Spark did not start: {deepest(text)}"
    return PipelineError(SPARK_NOT_STARTED, message, "; ".join(messages[-3:])[:500])


def known_cause(text: str) -> PipelineError | None:
    """Find the known cause that a text of Spark's speaks of."""
    for cause in CAUSES:
        match = re.search(cause.pattern, text, re.IGNORECASE)
        if match is not None:
            groups = match.groupdict("it gave no reason")
            message = cause.message.format(**{name: group.rstrip() for name, group in groups.items()})
            return PipelineError(cause.code, message, cause.help)
    return None


def deepest(text: str) -> str:
    """Find the message of the error behind all others, in one line."""
    messages = [match["message"] for pattern in (RAISED, CAUSED) for match in pattern.finditer(text)]
    first = next((line.strip() for line in text.splitlines() if line.strip()), "it gave no reason")
    return (messages[-1] if messages else first)[:500]
