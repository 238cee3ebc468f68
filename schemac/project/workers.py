"""Runs tasks of large inputs in processes, and shows the stage that a command is at.

Layer: project.
Shape: tasks without arguments; results are pickled, in the order of the tasks. Processes are forked, so nothing is
loaded or sent again. Where fork is not available, tasks run one after another with the same results.
"""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

_TASKS: list[Callable[[], Any]] = []
"""Those that are shared out: a process that is copied has them, so they need no pickle."""


def cores() -> int:
    """Return the number of cores that this process may use; 1 where processes cannot be forked."""
    # macOS can fork too, but its own libraries do not survive it.
    return 1 if sys.platform == "darwin" else len(os.sched_getaffinity(0))


def share(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Return the results of all tasks, the first one's made here and each of the others' in a process of its own.

    A task that raises does so here; a process that dies is an OSError.
    """
    if cores() == 1 or len(tasks) < 2:
        return [task() for task in tasks]
    # Imported here for start-up time: small runs have no workers.
    import multiprocessing
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor

    sys.stdout.flush()
    sys.stderr.flush()
    _TASKS[:] = tasks
    try:
        with ProcessPoolExecutor(len(tasks) - 1, multiprocessing.get_context("fork")) as pool:
            others = [pool.submit(_run, number) for number in range(1, len(tasks))]
            return [tasks[0](), *(other.result() for other in others)]
    except BrokenProcessPool as error:
        raise OSError("a worker process ended") from error


def _run(number: int) -> Any:
    """Return what a task returns, in a forked process: it gets a number, because functions cannot be pickled."""
    return _TASKS[number]()


_STEPS = ("parse", "emit")
"""The stages that take the longest; each is a step of a manifest."""


class Progress:
    """The stage that is under way, and how much there is of what it is about."""

    __slots__ = ("done", "manifest", "stage", "total")

    def __init__(self) -> None:
        self.stage = ""
        self.manifest = ""
        """The name of the one that is worked on."""
        self.done = 0
        """Steps that this process has begun."""
        self.total = 0
        """Steps that it will begin; 0 if nobody knows."""

    def expect(self, steps: int) -> None:
        """Add a number of expected steps."""
        self.total += steps

    def begin(self, stage: str, manifest: str) -> None:
        """Enter a stage of a manifest."""
        self.stage, self.manifest = stage, manifest
        self.done += stage in _STEPS


PROGRESS = Progress()
"""Of this process; a process that is forked from it has its own."""
