"""A dataset without fields: a warning, and nothing ends in an exception of Python's."""

from pathlib import Path

import pyarrow as pa
import pytest

import schemac
from schemac.artifacts.targets import target_names
from schemac.cli.main import main

NOTHING = "name: nothing\nfields: []\n"


def test_compile_to_every_target() -> None:
    (dataset,) = schemac.compile_text(NOTHING)
    assert all(dataset.artifacts(target) for target in target_names())


def test_judge_rows() -> None:
    (dataset,) = schemac.compile_text(NOTHING)
    assert [one.rule for one in dataset.validate(["{}", "[1]", "{}"]).reasons] == ["malformed"]
    assert dataset.validate([{}, {"a": 1}]).is_good
    assert dataset.validate(pa.table({"a": [1]})).is_good
    with pytest.raises(schemac.SchemaError, match="it has no fields"):
        dataset.sample(1)


@pytest.mark.parametrize("command", ["check", "build", "lock", "fmt", "diff", "docs", "plan"])
def test_run_every_command(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nothing.yaml").write_text(NOTHING)
    assert main(["lock", "nothing.yaml"]) == 0
    files = {"diff": ["nothing.yaml", "nothing.yaml"], "docs": []}.get(command, ["nothing.yaml"])
    assert main([command, *files]) == 0
    assert ("SC860" in capsys.readouterr().out) == (command in ("check", "build"))
