"""Scripts that complete words in shells, in the shells that are here."""

import shutil
import subprocess
from pathlib import Path

import pytest

from schemac.cli.help_commands import SHELLS
from schemac.cli.main import COMMANDS, main
from schemac.registry.codes import codes

ASK = 'source "$1"; COMP_WORDS=(schemac {words}); COMP_CWORD={n}; _shtab_schemac; echo "${{COMPREPLY[@]}}"'


@pytest.mark.parametrize("shell", SHELLS)
def test_print_script_that_knows_every_command(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(command in script for command in COMMANDS)
    program = shutil.which(shell)
    if program is None:
        return
    (tmp_path / "script").write_text(script)
    check = subprocess.run([program, "-n", str(tmp_path / "script")], capture_output=True, check=False)
    assert (check.returncode, check.stderr) == (0, b"")


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not here")
@pytest.mark.parametrize(
    ("line", "expected"),
    [("schemac br", "breaking"), ("schemac completion z", "zsh"), ("schemac check --unsa", "--unsafe-fixes")],
)
def test_complete_in_fish(
    line: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["completion", "fish"])
    (tmp_path / "script").write_text(capsys.readouterr().out)
    ask = [
        "fish",
        "--no-config",
        "-c",
        "source $argv[1]; complete -C $argv[2]",
        str(tmp_path / "script"),
        line,
    ]
    said = subprocess.run(ask, capture_output=True, text=True, check=True)
    assert [one.split("\t")[0] for one in said.stdout.splitlines()] == [expected]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("br", "breaking"),
        ("check --fo", "--format"),
        ("check --format gi", "github gitlab"),
        ("build --over", "--overlay"),
        ("completion z", "zsh"),
        ("explain SC20", " ".join(code for code in codes() if code.startswith("SC20"))),
        ("explain unknown-ki", "unknown-kind"),
        ("explain losses/la", "losses/lance"),
    ],
)
def test_complete_in_bash(
    words: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["completion", "bash"])
    (tmp_path / "script").write_text(capsys.readouterr().out)
    ask = ASK.format(words=words, n=len(words.split()))
    said = subprocess.run(
        ["bash", "-c", ask, "_", str(tmp_path / "script")], capture_output=True, text=True, check=True
    )
    assert sorted(said.stdout.split()) == expected.split()
