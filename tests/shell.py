"""Scripts of documentation, run as a reader would, with `schemac` in this process.

Shape: a script is cut at the lines that start a plain `schemac` command. Those are run by `main`; what stands between
them goes to the shell in one piece, where `schemac` and `python` are on the path as well.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
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
    said: str
    """All that was printed, on both streams."""


class Shell:
    """Runs scripts in a folder."""

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._folder = folder
        self._capsys = capsys
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("PATH", f"{_programs(folder)}:{os.environ['PATH']}")
        monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run(self, script: str) -> Ran:
        """Run all commands of a script, whatever they return."""
        if re.search(r"^cd ", script, re.MULTILINE):
            # Where a script goes, only its own shell knows.
            return self._in_shell(script)
        code, said = 0, []
        for piece in _pieces(script):
            ran = self._in_process(piece) if _PLAIN.fullmatch(piece) else self._in_shell(piece)
            code = ran.code
            said.append(ran.said)
        return Ran(code, "".join(said))

    def _in_process(self, command: str) -> Ran:
        self._capsys.readouterr()
        with chdir(self._folder):
            try:
                code = main(shlex.split(command)[1:])
            except SystemExit as exit_:
                code = int(exit_.code or 0)
        printed = self._capsys.readouterr()
        return Ran(code, printed.out + printed.err)

    def _in_shell(self, script: str) -> Ran:
        run = subprocess.run(
            ["sh", "-c", script],
            cwd=self._folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Ran(run.returncode, run.stdout + run.stderr)


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
    """A folder for the path, with the commands that scripts call."""
    programs = folder / ".bin"
    programs.mkdir()
    for name, words in (("schemac", " -m schemac"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
        (programs / name).chmod(0o755)
    return programs
