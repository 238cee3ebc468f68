"""Pipelines beside manifests are passed over, whichever source they have."""

from pathlib import Path

import pytest

from schemac.cli.main import main

PIPELINES = {
    "one.yaml": "source: {path: a.json}\nschema: rides.yaml\nfields: {fare: cost}\ntarget: {path: a.lance}\n",
    "several.yaml": "sources: [{path: a.json}]\nschema: rides.yaml\nfields: {fare: cost}\ntarget: {path: a.lance}\n",
    "backfill.yaml": "schema: rides.yaml\nfields: {fare: {value: 1}}\ntarget: {path: a.lance, mode: backfill}\n",
}


@pytest.mark.parametrize("name", PIPELINES)
def test_pass_over_a_pipeline(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rides.yaml").write_text("fields:\n  - {name: fare, type: Int64}\n")
    (tmp_path / name).write_text(PIPELINES[name])
    assert main(["check", "--fail-on", "warning"]) == 0, capsys.readouterr().out
    assert main(["check", name]) == 1
    assert "this is a pipeline, not a manifest" in capsys.readouterr().out
