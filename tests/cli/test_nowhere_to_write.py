"""A run that has no output, no folder or no settings that can be read says so, and is no mistake of the compiler."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from schemac.cli.main import main

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here"),
]

COMMAND = f"{sys.executable} -m schemac check t.yaml"
RUNS = {
    "a full disk": (f"{COMMAND} > /dev/full", 2, "no space left"),
    "a full disk, for a program": (f"{COMMAND} --format json > /dev/full", 2, "no space left"),
    "closed output": (f"{COMMAND} >&-", 1, "1 error"),
    "nothing open": (f"{COMMAND} >&- 2>&-", 1, ""),
    "no folder": (f"mkdir gone; cd gone; rmdir ../gone; {COMMAND}", 2, "working folder no longer exists"),
}


@pytest.mark.parametrize("run", RUNS)
def test_say_what_is_missing(run: str, tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("fields: [{name: a, type: bad}]\n")
    command, code, said = RUNS[run]
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (code, True, False), (
        done.stderr
    )


WAYS: dict[str, Callable[[Path], object]] = {
    "a folder": lambda file: file.mkdir(),
    "a link to itself": lambda file: file.symlink_to(file.name),
    "a link to nothing": lambda file: file.symlink_to("nothing"),
    "a pipe": lambda file: os.mkfifo(file),
}


@pytest.mark.parametrize("name", ["schemac.toml", "pyproject.toml"])
@pytest.mark.parametrize("way", WAYS)
def test_never_build_without_the_settings(
    way: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.yaml").write_text("fields: [{name: a, type: Int8}]\n")
    WAYS[way](Path(name))
    assert main(["build"]) == 2
    assert not Path("build").exists()
