"""The command line in a folder of its own."""

import io
import os
import subprocess
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

from schemac.cli.main import main

TRIPS = """\
# Rides of the city.
name: trips
fields:
  - name: id        # from the meter
    type: Int64
  - name: fare
    type: Float64
"""


def schemac(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """The command in this process: starting one takes longer than what it does."""
    out, err = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def environment() -> dict[str, str]:
    """Nothing of the machine's own settings."""
    return {
        **os.environ,
        "NO_COLOR": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        **{
            f"GIT_{who}_{what}": "a@example.com"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }


def locked_folder(folder: Path, text: str = TRIPS, name: str = "trips.yaml") -> Path:
    """The folder with a manifest and its lock."""
    (folder / name).write_text(text)
    done = schemac(folder, "lock", name)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
