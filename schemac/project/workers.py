"""Runs tasks of large inputs in processes, and shows the stage that a command is at.

Layer: project.
Shape: tasks without arguments; results are pickled, in the order of the tasks. Processes are forked, so nothing is
loaded or sent again. Where fork is not available, tasks run one after another with the same results.
"""

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

P = TypeVar("P")
T = TypeVar("T")


def cores() -> int:
    """Return the number of cores that this process may use; 1 where processes cannot be forked."""
    # macOS can fork too, but its own libraries do not survive it.
    return 1 if sys.platform == "darwin" else len(os.sched_getaffinity(0))


def share(tasks: Sequence[Callable[[], T]], meanwhile: Callable[[], object] | None = None) -> list[T]:
    """Return the results of all tasks, each made in a process of its own, but for what is done here: `meanwhile`, or else the first task.

    A task that raises does so here; a process that dies is an OSError. It is no pool, whose processes would wait for further
    tasks for ever if this one were killed.
    """
    here, others = ([], tasks) if meanwhile is not None else (tasks[:1], tasks[1:])
    if cores() == 1 or not others:
        if meanwhile is not None:
            meanwhile()
        return [task() for task in tasks]
    # Imported here for start-up time: small runs have no workers.
    import multiprocessing

    sys.stdout.flush()
    sys.stderr.flush()
    context = multiprocessing.get_context("fork")
    processes: list[tuple[ForkProcess, Connection]] = []
    try:
        for task in others:
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=_send_result, args=(task, receiver, sender))
            process.start()
            sender.close()
            processes.append((process, receiver))
        if meanwhile is not None:
            meanwhile()
        return [*(task() for task in here), *(_received(receiver) for _, receiver in processes)]
    finally:
        for process, receiver in processes:
            receiver.close()
            process.join()


def share_items(act: Callable[[Sequence[P]], list[T]], items: Sequence[P]) -> list[T]:
    """Return the results of an action for all items, in their order; each core works on a part of them."""
    size = max(1, -(-len(items) // cores()))
    parts = [items[start : start + size] for start in range(0, len(items), size)]
    return [result for results in share([partial(act, part) for part in parts]) for result in results]


def _send_result(task: Callable[[], object], receiver: "Connection", sender: "Connection") -> None:
    """Send what a task returns or raises."""
    # With this end open here, nobody would notice that the process at the other end is gone.
    receiver.close()
    try:
        sender.send((task(), None, ""))
    except BrokenPipeError:
        return
    except BaseException as error:  # noqa: BLE001 — it is raised in the other process
        with suppress(BrokenPipeError):
            sender.send((None, error, traceback.format_exc()))


def _received(receiver: "Connection") -> Any:
    """Return the result that a process sends, or raise what its task raised. Raises OSError if it dies."""
    try:
        result, error, trace = receiver.recv()
    except EOFError:
        raise OSError("a worker process ended") from None
    if error is not None:
        raise error from RuntimeError(f"in a worker process:\n{trace}")
    return result


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
