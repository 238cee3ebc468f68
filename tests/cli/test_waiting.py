"""A bar where somebody waits at a terminal, and nowhere else."""

import os
import pty
import re
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from schemac.cli.waiting import NEXT_SECONDS, _Bar
from schemac.project.under_way import UnderWay
from tests.bench.workload import write_manifests

SCRIPT = (
    "import sys\n"
    "from schemac.cli import waiting\n"
    "waiting.FIRST_SECONDS = waiting.NEXT_SECONDS = 0.001\n"  # so that every command takes long
    "from schemac.cli.main import main\n"
    "sys.exit(main(sys.argv[1:]))"
)
BAR = re.compile(r"(check|build): \w+ table_\d+\.yaml")
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


def seen(folder: Path, *words: str, **environment: str) -> str:
    """What the terminal gets that a command has for its standard error; its output goes into a file."""
    ours, theirs = pty.openpty()
    known = {key: value for key, value in os.environ.items() if key not in ("CI", "TERM", "COLUMNS")}
    with (folder / "stdout.txt").open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *words],
            cwd=folder,
            stdout=out,
            stderr=theirs,
            env={**known, "TERM": "xterm", "COLUMNS": "120", **environment},
        )
    os.close(theirs)
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    assert process.wait() == 0, b"".join(parts).decode()
    return b"".join(parts).decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_manifests(tmp_path_factory.mktemp("waiting") / "tables", 12, 40)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [("check",), ("build", "--target", "arrow", "--no-cache")], ids=lambda w: w[0]
)
def test_show_a_bar_while_somebody_waits(folder: Path, words: tuple[str, ...]) -> None:
    text = seen(folder, *words)
    assert BAR.search(text)
    # It is gone before the last line, and the cursor is back.
    bar, _, rest = text.rpartition(SHOW)
    assert HIDE in bar
    assert not BAR.search(rest)
    assert re.search(r"(checked 12 datasets|12 datasets: )", rest)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "environment"),
    [
        (("check", "--format", "json"), {}),
        (("check", "--format", "github"), {}),
        (("check",), {"CI": "true"}),
        (("check",), {"TERM": "dumb"}),
    ],
)
def test_show_none_for_a_program(folder: Path, words: tuple[str, ...], environment: dict[str, str]) -> None:
    text = seen(folder, *words, **environment)
    assert not BAR.search(text)
    assert "\x1b" not in text


def test_show_none_in_a_pipe(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "check"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert "\x1b" not in done.stderr + done.stdout
    assert done.stderr == "checked 12 datasets: no findings\n"


def test_show_nothing_in_the_middle_of_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bar = _Bar("check")
    monkeypatch.setitem(sys.modules, "bar_that_rings", bar)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "interrupted.py").write_text(
        "import bar_that_rings, sys\nbar_that_rings.ring(0, sys._getframe())\n"
    )
    with monkeypatch.context() as patch:
        patch.setattr(signal, "setitimer", lambda *given: rung.append(given))
        rung: list[object] = []
        import_module("interrupted")
    assert bar._shown is None
    assert rung == [(signal.ITIMER_REAL, NEXT_SECONDS)]


def test_count_the_steps() -> None:
    work = UnderWay()
    work.expect(4)
    for name in ("a", "b"):
        for stage in ("parse", "bind", "check", "lower", "emit"):
            work.begin(stage, name)
    assert (work.done, work.total, work.stage, work.manifest) == (4, 4, "emit", "b")
