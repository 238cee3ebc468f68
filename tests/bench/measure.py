"""Running a command and weighing it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

SCHEMAC = str(Path(sys.executable).with_name("schemac"))
"""The command as it is installed in this environment."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command: seconds of the wall clock, seconds of processor time, peak memory in MB."""

    wall: float
    cpu: float
    peak: float


def run(command: Sequence[str], folder: Path, expected: Collection[int] = (0,)) -> Run:
    """Run a command in a folder; its output goes nowhere, another exit code than the expected ones is an error."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=_installed()
    )
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) not in expected:
        raise RuntimeError(f"{' '.join(command)}: {errors.decode()[-2000:]}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def interleave(cases: dict[str, Callable[[], Run]], rounds: int) -> dict[str, Run]:
    """The median run of each case; rounds go through all cases in turn, so that noise hits all alike."""
    runs: dict[str, list[Run]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, case in cases.items():
            runs[name].append(case())
    return {
        name: Run(median(r.wall for r in found), median(r.cpu for r in found), max(r.peak for r in found))
        for name, found in runs.items()
    }


def _installed() -> dict[str, str]:
    """Return the environment in which a program starts as an installed one does: compiled, and with nobody watching."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
