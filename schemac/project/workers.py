"""Both cores for large inputs.

Layer: project.
Shape: tasks without arguments; each result comes back by pickle, in the order of the tasks.
A process is copied as it is (fork), so nothing has to be loaded or sent again. Where that cannot be, the tasks run
one after another with the same results.
"""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, cast

T = TypeVar("T")


class Outcome(NamedTuple, Generic[T]):
    """What came of a task: its result, or what it raised."""

    result: T | None = None
    error: Exception | None = None

    def value(self) -> T:
        """Return the result; raises what the task raised."""
        if self.error is not None:
            raise self.error
        return cast("T", self.result)


def cores() -> int:
    """Cores that this process may use; 1 where processes cannot be copied."""
    # macOS can fork too, but its own libraries do not survive it.
    if not hasattr(os, "fork") or sys.platform == "darwin":
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Return the results of all tasks, the first one's made here and each of the others' in a process of its own.

    A task that raises does so here; a process that dies is an OSError.
    """
    if cores() == 1 or len(tasks) < 2:
        return [task() for task in tasks]
    sys.stdout.flush()
    sys.stderr.flush()
    children = [_start(task) for task in tasks[1:]]
    try:
        first = tasks[0]()
    finally:
        outcomes = [_finish(child, pipe) for child, pipe in children]
    return [first, *(outcome.value() for outcome in outcomes)]


def _start(task: Callable[[], T]) -> tuple[int, int]:
    """Return a child at work on a task, and the end of the pipe that its result comes out of."""
    # Imported here for start-up time: small runs have no workers.
    import pickle

    read_end, write_end = os.pipe()
    child = os.fork()
    if child:
        os.close(write_end)
        return child, read_end
    # From here on this is the child; it leaves without the parent's clean-up.
    status = 1
    try:
        os.close(read_end)
        with os.fdopen(write_end, "wb") as pipe:
            pickle.dump(_outcome(task), pipe, protocol=pickle.HIGHEST_PROTOCOL)
        status = 0
    finally:
        os._exit(status)


def _outcome(task: Callable[[], T]) -> Outcome[T]:
    try:
        return Outcome(result=task())
    except Exception as error:  # noqa: BLE001 — it is raised again where the result is wanted
        return Outcome(error=error)


def _finish(child: int, read_end: int) -> Outcome[Any]:
    import pickle  # for start-up time, as above

    with os.fdopen(read_end, "rb") as pipe:
        content = pipe.read()
    _, status = os.waitpid(child, 0)
    if status != 0:
        return Outcome(error=OSError(f"a worker process ended with status {status}"))
    outcome: Outcome[Any] = pickle.loads(content)  # noqa: S301 — our own child wrote it
    return outcome
