"""`schemac run`, whose processes stand still at a point until somebody has killed one of them.

Shape: `python -m tests.pipeline.stopping run p.yaml` is the program, with all its arguments and what `environment` says; its Python
       processes get here by `stopping_site`. The points are before and after each method of every sink that the registry
       has, by the dataset that it is called for, and of what commits files to a folder, and each batch that a task reads; what a process
       passes again has a number.
       In the folder: without a `stop_at`, each process notes the points that it passes in `passed`. With one, the first
       process that comes there writes its number to `reached`, and goes on when `go_on` is there.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from schemac.pipeline.reports.progress import TaskCount
from schemac.pipeline.writing.file_runs import FileRuns
from schemac.registry.engine import engines
from schemac.rows.runs.columns import COLUMN_SINK, ColumnSink
from schemac.rows.runs.file_systems import LocalFiles
from schemac.rows.runs.tables import SINK, Sink

FOLDER = "STOPPING_FOLDER"
"""Also tells the processes of such a program from all others."""
STOP_AT, PASSED, REACHED, GO_ON = "stop_at", "passed", "reached", "go_on"
DATASETS = {"t.lance": "table", "t": "table", "t.quarantine.lance": "quarantine"}
DRIVER, WORKER = "driver", "worker"
OF_FILES = ((FileRuns, "claimed"), (FileRuns, "commit"), (LocalFiles, "rename"))
BATCH = "add"
"""What a task does with each batch that it reads."""
LOOKED_EVERY_SECONDS = 0.005


class Stops:
    """Where the processes of one program stop."""

    def __init__(self, folder: Path, role: str) -> None:
        self.folder = folder
        self.role = role
        self.times: Counter[str] = Counter()
        self.stop_at = (folder / STOP_AT).read_text() if (folder / STOP_AT).exists() else ""

    def watch(self) -> None:
        """Put a stop before and after every method of every sink."""
        for owner, name in steps():
            setattr(owner, name, self._stopping(getattr(owner, name), name))

    def _stopping(self, step: Callable[..., Any], name: str) -> Callable[..., Any]:
        def stopping(*arguments: Any, **named: Any) -> Any:
            point = " ".join([name, *dataset_of([*arguments, *named.values()])])
            self.at(f"before {point}")
            done = step(*arguments, **named)
            self.at(f"after {point}")
            return done

        return stopping

    def at(self, point: str) -> None:
        """Note a point; or stand still where it is the one."""
        self.times[point] += 1
        times = f" ({self.times[point]})" if self.times[point] > 1 else ""
        point = f"{self.role}: {point}{times}"
        if not self.stop_at:
            with (self.folder / PASSED).open("a") as file:
                file.write(f"{point}\n")
        if point != self.stop_at:
            return
        try:
            with (self.folder / REACHED).open("x") as file:
                file.write(str(os.getpid()))
        except FileExistsError:
            return
        while not (self.folder / GO_ON).exists():
            time.sleep(LOOKED_EVERY_SECONDS)


def steps() -> Iterator[tuple[Any, str]]:
    """Yield the methods that engines have for runs, those that commit files, and what a task does with each batch."""
    for engine in engines():
        for capability, base in ((SINK, Sink), (COLUMN_SINK, ColumnSink)):
            if capability.is_of(engine):
                owner = type(capability.of(engine))
                yield from ((owner, name) for name in sorted(base.__abstractmethods__))
    yield from OF_FILES
    yield TaskCount, BATCH


def dataset_of(arguments: list[Any]) -> list[str]:
    """Name the dataset that a method is called for, where it is called for one."""
    for argument in arguments:
        path = argument if isinstance(argument, str) else getattr(argument, "path", None)
        if isinstance(path, str) and Path(path).name in DATASETS:
            return [DATASETS[Path(path).name]]
    return []


def watch(role: str) -> None:
    """Let this process stop, and those that it forks."""
    Stops(Path(os.environ[FOLDER]), role).watch()


def environment(folder: Path) -> dict[str, str]:
    """Give what such a program, and each process that it starts, has to have in its environment."""
    paths = (Path(__file__).parents[2], Path(__file__).parent / "stopping_site")
    return {FOLDER: str(folder), "PYTHONPATH": os.pathsep.join(map(str, paths))}


if __name__ == "__main__":
    from schemac.cli.main import entry

    watch(DRIVER)
    entry()
