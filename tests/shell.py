"""Scripts of documentation, run as a reader would, with `schemac` in this process.

Shape: a script is cut at the lines that start a plain `schemac` command. Those are run by `main`; what stands between
them goes to the shell in one piece, where `schemac` and `python` are on the path as well.
"""

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from schemac.cli.main import main

ROOT = Path(__file__).parent.parent
_PLAIN = re.compile(r"schemac [^|&;<>$`*\\]*")
"""A command that needs nothing of a shell but its quotes."""


class Ran(NamedTuple):
    """What a script came to."""

    code: int
    """Exit code of the last command."""
    output: str
    """All that was printed, on both streams, in the order in which a terminal shows it."""


class Shell:
    """Runs scripts in a folder, as somebody whose home is new and whose clock stands still."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        environment = {
            "NO_COLOR": "1",
            "PATH": f"{_programs(folder.with_name(f'{folder.name}.bin'))}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "HOME": str(folder.with_name(f"{folder.name}.home")),
            "SOURCE_DATE_EPOCH": "1767225600",
            "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": "user.name",
            "GIT_CONFIG_VALUE_0": "Reader",
            "GIT_CONFIG_KEY_1": "user.email",
            "GIT_CONFIG_VALUE_1": "reader@example.org",
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        Path(environment["HOME"]).mkdir()

    def run(self, script: str) -> Ran:
        """Run all commands of a script, whatever they return."""
        if re.search(r"^cd ", script, re.MULTILINE):
            # Where a script goes, only its own shell knows.
            return self._in_shell(script)
        code, output = 0, []
        for piece in _pieces(script):
            ran = self._in_process(piece) if _PLAIN.fullmatch(piece) else self._in_shell(piece)
            code = ran.code
            output.append(ran.output)
        return Ran(code, "".join(output))

    def _in_process(self, command: str) -> Ran:
        printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with chdir(self._folder), redirect_stdout(printed), redirect_stderr(printed):
            try:
                code = main(shlex.split(command)[1:])
            except SystemExit as exit_:
                code = int(exit_.code or 0)
        return Ran(code, printed.buffer.getvalue().decode())

    def _in_shell(self, script: str) -> Ran:
        run = subprocess.run(
            ["sh", "-c", script],
            cwd=self._folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        return Ran(run.returncode, run.stdout)


def _pieces(script: str) -> Iterator[str]:
    """Plain commands one by one, and what stands between them."""
    between: list[str] = []
    for line in script.splitlines():
        if _PLAIN.fullmatch(line):
            if between:
                yield "\n".join(between)
                between = []
            yield line
        else:
            between.append(line)
    if between:
        yield "\n".join(between)


def _programs(folder: Path) -> Path:
    """Make a folder for the path, with the commands that scripts call."""
    folder.mkdir()
    for name, words in (("schemac", " -m schemac"), ("python", "")):
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
        (folder / name).chmod(0o755)
    return folder
