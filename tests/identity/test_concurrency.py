"""Two processes at one lock, and processes that die."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.identity.commands import TRIPS, environment, locked_folder, schemac

MORE = TRIPS + "  - {name: tip, type: Float64}\n"
LESS = TRIPS.replace("Float64", "Float32")

# The command, which waits once it has read the lock until the test has looked away.
WAITING = """
import sys
from pathlib import Path
import schemac.cli.lock_commands as command
from schemac.cli.main import main
save = command.save_locks
def waiting(*arguments):
    print("ready", flush=True)
    sys.stdin.readline()
    return save(*arguments)
command.save_locks = waiting
sys.exit(main(["lock", *sys.argv[1:]]))
"""
# The command, whose machine loses power at the last moment.
DYING = """
import os, signal, sys
from pathlib import Path
from schemac.cli.main import main
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
sys.exit(main(sys.argv[1:]))
"""


def start(folder: Path, program: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def test_let_one_of_two_processes_win(tmp_path: Path) -> None:
    locked_folder(tmp_path)
    (tmp_path / "trips.yaml").write_text(MORE)
    slow = start(tmp_path, WAITING, "trips.yaml")
    assert slow.stdout is not None
    assert slow.stdout.readline() == "ready\n"
    (tmp_path / "trips.yaml").write_text(LESS)
    assert schemac(tmp_path, "lock").returncode == 0
    won = (tmp_path / "trips.lock").read_bytes()
    said, _ = slow.communicate("go\n", timeout=60)
    assert slow.returncode == 1
    assert "error[SC406]: another process is writing trips.lock, or has just written it" in said
    assert "run the command again" in said
    assert (tmp_path / "trips.lock").read_bytes() == won
    assert b"tip" not in won


def test_let_one_of_two_first_locks_win(tmp_path: Path) -> None:
    (tmp_path / "trips.yaml").write_text(MORE)
    slow = start(tmp_path, WAITING)
    assert slow.stdout is not None
    assert slow.stdout.readline() == "ready\n"
    locked_folder(tmp_path)
    won = (tmp_path / "trips.lock").read_bytes()
    said, _ = slow.communicate("go\n", timeout=60)
    assert (slow.returncode, "SC406" in said) == (1, True)
    assert (tmp_path / "trips.lock").read_bytes() == won


@pytest.mark.parametrize("command", [("lock",), ("rename", "trips", "fare", "price")])
def test_give_way_to_a_process_that_writes(tmp_path: Path, command: tuple[str, ...]) -> None:
    locked_folder(tmp_path)
    text = MORE if command == ("lock",) else TRIPS
    (tmp_path / "trips.yaml").write_text(text)
    before = (tmp_path / "trips.lock").read_bytes()
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        refused = schemac(tmp_path, *command)
    finally:
        os.close(folder)
    assert refused.returncode == 1
    assert "SC406" in refused.stdout
    assert (tmp_path / "trips.lock").read_bytes() == before
    assert (tmp_path / "trips.yaml").read_text() == text
    assert schemac(tmp_path, *command).returncode == 0


@pytest.mark.parametrize("command", [("lock",), ("rename", "trips", "fare", "price")])
def test_leave_the_old_lock_whole_when_killed(tmp_path: Path, command: tuple[str, ...]) -> None:
    locked_folder(tmp_path)
    text = MORE if command == ("lock",) else TRIPS
    (tmp_path / "trips.yaml").write_text(text)
    before = (tmp_path / "trips.lock").read_bytes()
    killed = start(tmp_path, DYING, *command)
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "trips.lock").read_bytes() == before
    assert (tmp_path / "trips.yaml").read_text() == text
    # Its hold went with it, and what it left is no hindrance.
    assert schemac(tmp_path, *command).returncode == 0
    assert (tmp_path / "trips.lock").read_bytes() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trips.lock", "trips.yaml"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_say_that_a_folder_cannot_be_written(tmp_path: Path) -> None:
    locked_folder(tmp_path)
    (tmp_path / "trips.yaml").write_text(MORE)
    tmp_path.chmod(0o555)
    try:
        refused = schemac(tmp_path, "lock")
    finally:
        tmp_path.chmod(0o755)
    assert (refused.returncode, "SC542" in refused.stdout) == (1, True)


def test_keep_the_mode_of_a_file_and_a_link(tmp_path: Path) -> None:
    locked_folder(tmp_path)
    (tmp_path / "trips.yaml").chmod(0o640)
    (tmp_path / "kept").mkdir()
    (tmp_path / "trips.lock").rename(tmp_path / "kept/trips.lock")
    (tmp_path / "trips.lock").symlink_to("kept/trips.lock")
    assert schemac(tmp_path, "rename", "trips", "fare", "price").returncode == 0
    assert (tmp_path / "trips.yaml").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "trips.lock").is_symlink()
    assert " price Float64 " in (tmp_path / "kept/trips.lock").read_text()
