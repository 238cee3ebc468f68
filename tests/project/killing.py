"""Stops builds at a chosen one of their changes to the file system, and looks at what they leave.

Run as a program, so that children are forked off a small process: `python -m tests.project.killing FOLDER STEP MODE`
prints one line of JSON for each point. MODE is `exchange` or `plain`, where the process is killed and folders can or cannot
change places in one step, or `fail`, where the system refuses the change.
"""

import itertools
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from schemac.artifacts import swap
from schemac.cli.main import main
from tests.project.trees import AFTER, BEFORE, FOREIGN, Tree, add_foreign, of_dataset, tree, write_manifests

EVENTS = frozenset({"open", "os.rename", "os.link", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree"})
"""Audit events that change files, apart from the exchange of folders, which is watched by itself."""


def quietly(*arguments: str) -> int:
    """A command without its output."""
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        return main(arguments)


def die_at(point: int, out: str, act: Callable[[], None]) -> None:
    """Call `act` before the n-th change below a folder."""
    seen = itertools.count()

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        is_change = event in EVENTS and (event != "open" or _is_writing(arguments))
        if is_change and out in str(arguments[0]) and next(seen) == point:
            act()

    exchange = swap.exchange

    def watched(one: str, other: str) -> bool:
        if next(seen) == point:
            act()
        return exchange(one, other)

    swap.exchange = watched
    sys.addaudithook(watch)


def _is_writing(arguments: tuple[Any, ...]) -> bool:
    flags = arguments[2]
    return bool(flags & (os.O_WRONLY | os.O_RDWR))


def stopped_build(point: int, out: str, mode: str) -> bool:
    """Whether a build in a process of its own was stopped before its n-th change; False where it has fewer."""
    child = os.fork()
    if not child:
        code = 70
        try:
            if mode == "plain":
                swap.exchange = lambda one, other: False
            reached: list[int] = []
            die_at(point, out, partial(_fail, reached) if mode == "fail" else _die)
            code = quietly("build") or (_UNNOTICED if reached else 0)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in ((0, 1, _UNNOTICED) if mode == "fail" else (0, -signal.SIGKILL)), code
    return code != 0


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


_UNNOTICED = 71
"""What did not work was not needed, such as the removal of an empty folder."""


def _fail(reached: list[int]) -> None:
    reached.append(1)
    raise OSError(28, "No space left on device")


def look(out: Path, before: Tree, after: Tree, mode: str) -> list[str]:
    """What is wrong with a folder after a build was stopped, and after the build that follows."""
    wrong: list[str] = []
    left = tree(out)
    is_exchanging = mode != "plain"
    if (
        mode == "fail"
        and left != before
        and {p: left.get(p) for p in after if p != "artifacts.json"}
        != {p: content for p, content in after.items() if p != "artifacts.json"}
    ):
        wrong.append("a part of the build was not taken back")
    names = sorted({*BEFORE, *AFTER})
    for name in names:
        files = of_dataset(left, name, names)
        allowed = [of_dataset(before, name, names), of_dataset(after, name, names)]
        if files not in allowed and (files or is_exchanging):
            wrong.append(f"{name} is neither the old one nor the new one: {sorted(files)}")
    if is_exchanging:
        wrong += [f"{path} is not in its place" for path in FOREIGN if path not in left]
    is_new = left == after
    if quietly("build", "--check") != (0 if is_new else 4):
        wrong.append("--check does not see it")
    if quietly("build") != 0:
        wrong.append("the next build fails")
    if tree(out) != after:
        wrong.append(f"the next build leaves {sorted(tree(out).items() ^ after.items())}")
    return wrong


def run(folder: Path, step: int, mode: str) -> None:
    """Every `step`-th point of one build."""
    os.chdir(folder)
    out = folder / "build"
    write_manifests(folder, BEFORE)
    assert quietly("build") == 0
    add_foreign(out)
    before = tree(out)
    shutil.copytree(out, folder / "kept")
    write_manifests(folder, AFTER)
    assert quietly("build") == 0
    after = tree(out)
    assert quietly("build", "--check") == 0
    point, is_stopped = 0, True
    while is_stopped:
        shutil.rmtree(out)
        shutil.copytree(folder / "kept", out)
        is_stopped = stopped_build(point, str(out), mode)
        wrong = look(out, before, after, mode)
        print(json.dumps({"point": point, "stopped": is_stopped, "wrong": wrong}), flush=True)
        point += step


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
