"""What a shell passes where a variable is not set stands for nothing, not for a default and not for everything."""

import argparse
from pathlib import Path

import pytest

from schemac.cli.main import COMMANDS, function_of, main

MAY_BE_EMPTY = {"--skip", "old", "new", "against"}


def words(command: str) -> list[list[str]]:
    """For every argument of a command that takes a word: a command line with an empty one."""
    parser = argparse.ArgumentParser()
    function_of(command, "add_{}_arguments")(parser)
    takers = [a for a in parser._actions if a.nargs != 0 and not a.choices]
    plain = [a for a in takers if not a.option_strings and a.nargs is None]
    positional = ["x" for _ in plain]
    needed = [f"{a.option_strings[0]}=x" for a in takers if a.option_strings and a.required]
    found: list[list[str]] = []
    for action in takers:
        if MAY_BE_EMPTY & {*action.option_strings, action.dest} or isinstance(action.nargs, int):
            continue
        if action.option_strings:
            name = action.option_strings[-1]
            others = [word for word in needed if not word.startswith(f"{name}=")]
            found.append([command, *positional, *others, f"{name}="])
        else:
            given = [
                "" if a is action else "x" for a in takers if not a.option_strings and a in (action, *plain)
            ]
            found.append([command, *given, *needed])
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_refuse_a_word_that_is_empty(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.yaml").write_text("fields: [{name: a, type: Int8}]\n")
    for line in words(command):
        with pytest.raises(SystemExit) as left:
            main(line)
        assert left.value.code == 2, line
        assert capsys.readouterr().err, line
    assert [path.name for path in tmp_path.iterdir()] == ["t.yaml"]
