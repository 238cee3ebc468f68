"""Says in one sentence why Spark stopped; its own pages stay behind as the cause.

Shape: Spark's exceptions in, a `PipelineError` out: ours as it was raised in a task or at the commit, or else the deepest
       error that was raised, without its stack.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from .errors import PipelineError

OURS = re.compile(r"PipelineError: (?P<message>.+?)(?: \(help: (?P<help>.+)\))?$", re.MULTILINE)
RAISED = re.compile(r"^(?:: )?(?:\w+\.)*\w*(?:Error|Invalid|Exception): (?P<message>\S.*)$", re.MULTILINE)
CAUSED = re.compile(r"^Caused by: (?:[\w.$]+: )*(?P<message>\S.*)$", re.MULTILINE)
NOTHING = "nothing of this run was written"


@contextmanager
def sparks_errors_told() -> Iterator[None]:
    """Spark's errors as ours."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise told(str(error)) from error


def told(text: str) -> PipelineError:
    """The error behind the text of one of Spark's.

    >>> str(told("Job aborted\\n  at x.y(Z.java:1)\\nCaused by: java.io.IOException: disk is full\\n  at a.b"))
    'Spark stopped: disk is full (help: nothing of this run was written)'
    """
    ours = OURS.search(text)
    if ours is not None:
        return PipelineError("write-failed", ours["message"], ours["help"] or NOTHING)
    found = [match["message"] for pattern in (RAISED, CAUSED) for match in pattern.finditer(text)]
    first = next((line.strip() for line in text.splitlines() if line.strip()), "it gave no reason")
    return PipelineError("spark-failed", f"Spark stopped: {(found[-1] if found else first)[:500]}", NOTHING)
