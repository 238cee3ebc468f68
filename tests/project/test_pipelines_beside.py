"""Pipelines beside manifests are passed over, whichever source they have; those that are named are checked."""

import io
import json
import sys
from pathlib import Path

import pytest

from schemac.cli.main import main

PIPELINES = {
    "one.yaml": "source: {path: a.json}\nschema: rides.yaml\nfields: {fare: cost}\ntarget: {path: a.lance}\n",
    "several.yaml": "sources: [{path: a.json}]\nschema: rides.yaml\nfields: {fare: cost}\ntarget: {path: a.lance}\n",
    "backfill.yaml": "schema: rides.yaml\nfields: {fare: {value: 1}}\ntarget: {path: a.lance, mode: backfill}\n",
}
WRONG = "# ours\r\nsource: {path: a.json, mdoe: all} # daily\r\nschema: rides.yaml\r\ndataset: ridez\r\ntarget: {path: a.lance}\r\n"
RIGHT = WRONG.replace("mdoe", "mode").replace("ridez", "rides")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rides.yaml").write_text("name: rides\nfields:\n  - {name: fare, type: Int64}\n")
    return tmp_path


@pytest.mark.parametrize("name", PIPELINES)
def test_pass_over_a_pipeline(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / name).write_text(PIPELINES[name])
    assert main(["check", "--fail-on", "warning"]) == 0, capsys.readouterr().out
    assert main(["build", name]) == 1
    assert "this is a pipeline, not a manifest" in capsys.readouterr().out


@pytest.mark.parametrize("name", PIPELINES)
def test_check_a_pipeline_that_is_named(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says what a dry run says, at the same places."""
    (folder / name).write_text(PIPELINES[name])
    said = []
    for command in (["check", name], ["run", "--dry-run", name]):
        assert main([*command, "--format", "json"]) == 1
        said.append(json.loads(capsys.readouterr().out)["diagnostics"])
    assert said[0] == said[1] != []
    assert main(["check", name, "rides.yaml"]) == 1
    assert "checked 1 dataset, 1 pipeline: 1 error" in capsys.readouterr().err


def test_fix_a_pipeline(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.json").write_text("")
    path = folder / "pipeline.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + WRONG.encode())
    assert main(["check", "pipeline.yaml", "--diff", "--unsafe-fixes"]) == 1
    assert "+dataset: rides" in capsys.readouterr().out
    assert main(["check", "pipeline.yaml", "--fix", "--unsafe-fixes"]) == 0
    assert capsys.readouterr().err == "checked 1 pipeline: no findings\nfixed 2\n"
    assert path.read_bytes() == b"\xef\xbb\xbf" + RIGHT.encode()


def test_fix_what_is_a_pipeline_only_afterwards(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.json").write_text("")
    path = folder / "pipeline.yaml"
    path.write_text("source: {path: a.json}\nschema: rides.yaml\ntarget:\n\tpaht: a.lance\n")
    assert main(["check", "pipeline.yaml", "--fix", "--unsafe-fixes"]) == 0, capsys.readouterr().out
    assert path.read_text().endswith("target:\n  path: a.lance\n")


def test_fix_a_pipeline_of_standard_input(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.json").write_text("")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WRONG.encode())))
    assert main(["check", "-", "--fix", "--unsafe-fixes"]) == 0
    assert capsys.readouterr().out == RIGHT


def test_tell_programs_of_the_fixes_of_a_pipeline(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pipeline.yaml").write_text(WRONG)
    for command in (["check", "pipeline.yaml"], ["run", "--dry-run", "pipeline.yaml"]):
        assert main([*command, "--format", "sarif"]) == 1
        (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
        (fix,) = result["fixes"]
        (change,) = fix["artifactChanges"]
        assert change["artifactLocation"]["uri"] == "pipeline.yaml"
        assert change["replacements"][0]["insertedContent"]["text"] == "mode"
