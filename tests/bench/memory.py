"""The memory that Java and the Python workers below this process hold, and the processor time that they have taken."""

import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

SECONDS_BETWEEN = 0.2


def children_of(root: int) -> list[int]:
    """All processes below one."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue
            parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(folder.name))
    found, todo = [], [root]
    while todo:
        inner = parents.get(todo.pop(), [])
        found += inner
        todo += inner
    return found


def resident(process: int) -> tuple[str, float]:
    """Name of a process, and MB of it in memory."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return "", 0.0
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    return facts["Name"].strip(), int(facts.get("VmRSS", "0 kB").split()[0]) / 1024


def processor_seconds() -> float:
    """Seconds of the processor that this process and all below it have taken, those that have ended included."""
    ticks = 0
    for process in [os.getpid(), *children_of(os.getpid())]:
        try:
            stat = Path(f"/proc/{process}/stat").read_text()
        except OSError:
            continue
        ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


class Watcher:
    """Looks at the processes below this one while it is open; `java` and `worker` are the most MB of one of a kind."""

    def __init__(self) -> None:
        self.java = self.worker = 0.0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._end.wait(SECONDS_BETWEEN):
            for process in children_of(os.getpid()):
                name, size = resident(process)
                if name == "java":
                    self.java = max(self.java, size)
                elif name.startswith("python"):
                    self.worker = max(self.worker, size)
