"""Commands that read the standard input, without one."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "command",
    [
        "check -",
        "build -",
        "fmt -",
        "fmt - --diff",
        "check - --fix",
        "lock -",
        "expand -",
        "check - --format json",
        "check - --stdin-filename a.yaml",
    ],
)
def test_say_that_the_standard_input_is_closed(command: str, tmp_path: Path) -> None:
    """As a shell closes it with `<&-`: that is a finding, not a fault of the program."""
    words = f"{sys.executable} -m schemac {command}"
    ran = subprocess.run(
        ["sh", "-c", f"{words} <&-"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode in (1, 2), ran.stderr
    assert "internal error" not in ran.stderr
    assert "the standard input cannot be read" in ran.stdout + ran.stderr
