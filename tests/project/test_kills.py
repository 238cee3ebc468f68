"""A build that dies, fails or runs beside another: every dataset is the old one or the new one, and nothing is lost."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schemac.cli.main import main
from tests.project.killing import look, quietly
from tests.project.trees import AFTER, BEFORE, add_foreign, tree, write_manifests

ROOT = Path(__file__).parent.parent.parent
HANGS = 300
"""Seconds after which a child is taken to hang; nothing is measured by it."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill and no lock on a folder"),
]


def _stopped_builds(folder: Path, step: int, mode: str) -> list[dict[str, object]]:
    run = subprocess.run(
        [sys.executable, "-m", "tests.project.killing", str(folder), str(step), mode],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANGS * 4,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


@pytest.mark.parametrize(
    ("step", "mode"),
    [
        (13, "exchange"),
        (17, "plain"),
        (17, "fail"),
        *(pytest.param(1, mode, marks=pytest.mark.long) for mode in ("exchange", "plain", "fail")),
    ],
)
def test_leave_every_dataset_old_or_new_when_stopped(tmp_path: Path, step: int, mode: str) -> None:
    points = _stopped_builds(tmp_path, step, mode)
    assert sum(bool(point["stopped"]) for point in points) >= 100 // step
    assert [point for point in points if point["wrong"]] == []


def _build(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "schemac", "build", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.long
def test_leave_every_dataset_old_or_new_when_killed_at_any_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As above, with processes that know nothing of it and moments that nobody chose."""
    monkeypatch.chdir(tmp_path)
    out, moments = tmp_path / "build", random.Random(7)
    for _ in range(60):
        write_manifests(tmp_path, BEFORE)
        assert quietly("build") == 0
        add_foreign(out)
        before = tree(out)
        write_manifests(tmp_path, AFTER)
        assert quietly("build", "--out", "other") == 0
        add_foreign(tmp_path / "other")
        after = tree(tmp_path / "other")
        build = _build(tmp_path)
        time.sleep(moments.uniform(0.2, 1.2))
        build.send_signal(signal.SIGKILL)
        build.communicate(timeout=HANGS)
        assert look(out, before, after, "exchange") == []


def test_lose_nothing_when_builds_run_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _run_at_once(tmp_path, monkeypatch, builds=4, rounds=1)


@pytest.mark.long
def test_lose_nothing_when_many_builds_run_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _run_at_once(tmp_path, monkeypatch, builds=12, rounds=5)


def _run_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch, *, builds: int, rounds: int) -> None:
    """Each builds a manifest of its own, and one of them all."""
    monkeypatch.chdir(folder)
    kinds = ["Int32", "Int64", "Float32", "Float64", "String"]
    for number in range(rounds):
        names = [f"t{n}" for n in range(builds - 1)]
        write_manifests(folder, dict.fromkeys(names, kinds[number % len(kinds)]))
        running = [_build(folder), *(_build(folder, f"{name}.yaml") for name in names)]
        for build in running:
            out, error = build.communicate(timeout=HANGS)
            assert build.returncode == 0, out + error
        assert quietly("build", "--check") == 0
        assert not list(folder.rglob("*.schemac-new"))


def test_wait_for_a_build_that_is_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    monkeypatch.chdir(tmp_path)
    write_manifests(tmp_path, BEFORE)
    assert main(["build"]) == 0
    write_manifests(tmp_path, AFTER)
    before = tree(tmp_path / "build")
    handle = os.open(tmp_path / "build", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        build = _build(tmp_path)
        assert build.stderr is not None
        assert build.stderr.readline() == "another build is writing into build; waiting for it to finish\n"
        assert tree(tmp_path / "build") == before
    finally:
        os.close(handle)
    build.communicate(timeout=HANGS)
    assert build.returncode == 0
    assert quietly("build", "--check") == 0
