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

from schemac.cli.main import COMMANDS
from schemac.cli.terminal import NEXT_SECONDS, _Bar
from schemac.project.workers import Progress
from tests.bench.workload import write_manifests

SCRIPT = (
    "import sys\n"
    "from schemac.cli import terminal\n"
    "terminal.FIRST_SECONDS = terminal.NEXT_SECONDS = 0.001\n"  # so that every command takes long
    "from schemac.cli.main import main\n"
    "sys.exit(main(sys.argv[1:]))"
)
BAR = re.compile(r"(check|build|fmt|list|expand): [\w ]+ table_\d+\.yaml")
WITH_OWN_BAR = {"run", "lsp"}
"""`run` counts records, and `lsp` talks to a program."""
EACH = """
import argparse, sys, time
from importlib import import_module
from schemac.cli import main, terminal

terminal.FIRST_SECONDS = terminal.NEXT_SECONDS = 0.01


def busy(options):
    latest = time.monotonic() + 10
    while terminal._BARS and terminal._BARS[0]._progress_bar is None and time.monotonic() < latest:
        time.sleep(0.001)
    is_shown = bool(terminal._BARS) and terminal._BARS[0]._progress_bar is not None
    print(options.command, is_shown, flush=True)
    return 0


def least(action):
    word = str(next(iter(action.choices))) if action.choices else "x"
    if not action.option_strings:
        return [] if action.nargs in ("?", "*", argparse.SUPPRESS) else [word]
    return [action.option_strings[0], word] if action.required else []


for name in sys.argv[1:]:
    module = sys.modules[main.function_of(name, "run_{}").__module__]
    setattr(module, f"run_{name}", busy)
    actions = main.parser_with((name,), ()).chosen._actions
    main._run_command([name, *(word for action in actions for word in least(action))])
"""
"""Each command with no more words than it needs; in the place of its work is a wait for the bar."""
WATCHED = """
import argparse, time
from schemac.cli import project, terminal

terminal.FIRST_SECONDS = terminal.NEXT_SECONDS = 0.01


def once():
    latest = time.monotonic() + 10
    while terminal._BARS and terminal._BARS[0]._progress_bar is None and time.monotonic() < latest:
        time.sleep(0.001)
    print(bool(terminal._BARS) and terminal._BARS[0]._progress_bar is not None, flush=True)
    raise KeyboardInterrupt


options = argparse.Namespace(command="check", format="text", output_file=None, paths=[])
with terminal.bar_when_long("check", "text"):
    project.watch(options, once)
"""
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


def seen(folder: Path, *words: str, script: str = SCRIPT, **environment: str) -> str:
    """What the terminal gets that a command has for its standard error; its output goes into a file."""
    ours, theirs = pty.openpty()
    known = {key: value for key, value in os.environ.items() if key not in ("CI", "TERM", "COLUMNS")}
    with (folder / "stdout.txt").open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", script, *words],
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


SUMMARIES = {
    "check": "checked 12 datasets",
    "build": "12 datasets: ",
    "list": "480 fields of 12 datasets",
    "fmt": "formatted",
}
"""What the command says in the end; `expand` says nothing beside what it prints."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_manifests(tmp_path_factory.mktemp("waiting") / "tables", 12, 40)


def test_show_a_bar_for_every_command(tmp_path: Path) -> None:
    """Also for one that is new: the commands are those of the command line."""
    seen(tmp_path, *COMMANDS, script=EACH)
    lines = (tmp_path / "stdout.txt").read_text().splitlines()
    shown = dict(line.split() for line in lines)
    assert shown == {name: str(name not in WITH_OWN_BAR) for name in COMMANDS}


def test_show_a_bar_each_time_that_something_changed(tmp_path: Path) -> None:
    """The screen is cleared before, and every bar with it."""
    seen(tmp_path, script=WATCHED)
    assert (tmp_path / "stdout.txt").read_text().split() == ["True"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [("check",), ("build", "--target", "arrow", "--no-cache"), ("list",), ("expand",), ("fmt",)],
    ids=lambda w: w[0],
)
def test_show_a_bar_while_somebody_waits(folder: Path, words: tuple[str, ...]) -> None:
    text = seen(folder, *words)
    assert BAR.search(text)
    # It is gone before the last line, and the cursor is back.
    bar, _, rest = text.rpartition(SHOW)
    assert HIDE in bar
    assert not BAR.search(rest)
    assert words[0] not in SUMMARIES or SUMMARIES[words[0]] in rest


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
    assert bar._progress_bar is None
    assert rung == [(signal.ITIMER_REAL, NEXT_SECONDS)]


def test_never_ring_again_once_it_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python handles a signal a little after it comes: it may be when the timer is stopped already."""
    rung: list[object] = []
    monkeypatch.setattr(signal, "setitimer", lambda *given: rung.append(given))
    bar = _Bar("check")
    bar.clear()
    bar.ring(signal.SIGALRM, None)
    assert rung == [(signal.ITIMER_REAL, 0)]
    assert bar._progress_bar is None


def test_count_the_steps() -> None:
    work = Progress()
    work.expect(4)
    for name in ("a", "b"):
        for stage in ("parse", "bind", "check", "lower", "emit"):
            work.begin(stage, name)
    assert (work.done, work.total, work.stage, work.manifest) == (4, 4, "emit", "b")
