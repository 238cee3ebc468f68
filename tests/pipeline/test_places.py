"""What a run tells stands at the setting of the pipeline file that it is about."""

import json
from pathlib import Path

import lance
import pyarrow as pa
import pytest

from schemac.cli.main import main
from schemac.pipeline.codes import PIPELINE_FAILED
from schemac.rows.runs.errors import PipelineError
from schemac.text.source.catalogue import EMPTIED_TABLE, TABLE_EXISTS

MANIFEST = "name: t\nfields:\n  - {name: id, type: Int64}\n"
SETTINGS = {
    "source": "{path: in.json}",
    "schema": "t.yaml",
    "target": "{path: out.lance}",
}
CASES = {
    "a table is there": ({"target": "{path: taken.lance}"}, "SC651", "taken.lance"),
    "a mode that creates": ({"target": "{path: taken.lance, mode: create}"}, "SC651", "create"),
    "another schema": ({"target": "{path: taken.lance, mode: append}"}, "SC653", "taken.lance"),
    "no table": ({"target": "{path: folder}"}, "SC654", "folder"),
    "a file above": ({"target": "{path: in.json/out.lance}"}, "SC656", "in.json/out.lance"),
    "one path": ({"quarantine": "{path: out.lance}"}, "SC650", "out.lance"),
    "no quarantine": ({"quarantine": "{path: taken.lance}"}, "SC655", "taken.lance"),
    "no input": ({"source": "{path: nothing.json}"}, "SC631", "nothing.json"),
}


@pytest.mark.parametrize("case", CASES)
def test_tell_the_setting(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    changed, code, wrong = CASES[case]
    Path("t.yaml").write_text(MANIFEST)
    Path("in.json").write_text('{"id": 1}\n')
    Path("folder").mkdir()
    Path("folder", "own.txt").write_text("mine")
    lance.write_dataset(pa.table({"other": [1]}), "taken.lance")
    text = "".join(f"{key}: {value}\n" for key, value in (SETTINGS | changed).items())
    Path("pipeline.yaml").write_text(text)
    assert main(["run", "--dry-run", "--format", "json", "pipeline.yaml"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert found["code"] == code
    line = text.splitlines()[found["line"] - 1]
    assert line[found["column"] - 1 :].startswith(wrong), found


@pytest.mark.parametrize("code", [EMPTIED_TABLE, PIPELINE_FAILED, TABLE_EXISTS], ids=lambda code: code.id)
@pytest.mark.parametrize("place", [(), ("target", "path"), ("source", "options", "sep")])
@pytest.mark.parametrize("help", [None, "set `mode: append` (or another)"])
def test_keep_the_setting_in_what_spark_tells(code: object, place: tuple[str, ...], help: str | None) -> None:
    error = PipelineError(code, "a message (with brackets)", help, place=place)  # type: ignore[arg-type]
    found = PipelineError.from_text(f"java.lang.X: PipelineError: {error}\n\tat y.z(W.java:1)")
    assert found is not None
    assert (found.code, found.message, found.help, found.place) == (code, error.message, help, place)


@pytest.mark.parametrize("help", [None, "run it again"])
def test_keep_the_commit_state_in_what_spark_tells(help: str | None) -> None:
    error = PipelineError.uncommitted(PIPELINE_FAILED, "a message", help)
    found = PipelineError.from_text(f"java.lang.X: PipelineError: {error}\n\tat y.z(W.java:1)")
    assert found is not None
    assert (found.commit_state, found.way_out) == (error.commit_state, help)
