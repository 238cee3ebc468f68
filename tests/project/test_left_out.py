"""A dataset that an optional target cannot hold: built without it, unless somebody asked for it."""

import json
from pathlib import Path

import pytest

from schemac.cli.main import main

FIELDS = "fields:\n  - {name: took, type: Duration}\n"
ATTRIBUTE = FIELDS.replace("type: Duration", "type: Duration, extra: {paimon.apache.org/defaultValue: '1'}")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def built(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, set[tuple[str, str]]]:
    """Exit code, and codes with their severity."""
    code = main(["build", "trips.yaml", "--format", "json", *arguments])
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    return code, {(d["code"], d["severity"]) for d in found}


def test_build_without_what_nobody_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "trips.yaml").write_text(FIELDS)
    assert built(capsys) == (0, {("SC569", "warning")})
    assert {path.name for path in (folder / "build/trips").iterdir()} == {
        "arrow",
        "lance",
        "spark",
        "odf",
        "losses.json",
    }
    (loss,) = [
        loss
        for loss in json.loads((folder / "build/trips/losses.json").read_text())["losses"]
        if loss["target"] == "paimon"
    ]
    assert loss["lost"] == "the dataset as a whole"
    assert loss["becomes"] == "nothing: Paimon has no type for Duration(Millisecond)"


def test_remove_the_artifact_of_a_dataset_that_is_left_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "trips.yaml").write_text("fields:\n  - {name: took, type: Int64}\n")
    assert built(capsys) == (0, set())
    assert (folder / "build/trips/paimon/schema-0").exists()
    (folder / "trips.yaml").write_text(FIELDS)
    assert built(capsys) == (0, {("SC569", "warning")})
    assert not (folder / "build/trips/paimon").exists()


def test_refuse_what_the_command_line_asks_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "trips.yaml").write_text(FIELDS)
    assert built(capsys, "--target", "paimon", "--target", "arrow") == (1, {("SC561", "error")})
    assert not (folder / "build").exists()


def test_refuse_what_the_configuration_asks_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "trips.yaml").write_text(FIELDS)
    (folder / "schemac.toml").write_text('targets = ["arrow", "paimon"]\n')
    assert built(capsys) == (1, {("SC561", "error")})
    assert built(capsys, "--target", "arrow") == (0, set())


def test_refuse_what_the_schema_asks_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "trips.yaml").write_text(f"extra: {{schemac.dev/targets: [arrow, paimon]}}\n{FIELDS}")
    assert built(capsys) == (1, {("SC561", "error")})
    (folder / "trips.yaml").write_text(f"extra: {{schemac.dev/targets: [arrow]}}\n{FIELDS}")
    assert built(capsys) == (0, set())


@pytest.mark.parametrize(
    "manifest",
    [ATTRIBUTE, f"extra: {{paimon.apache.org/comment: Trips}}\n{FIELDS}"],
    ids=["of a field", "of the schema"],
)
def test_refuse_what_an_attribute_asks_for(
    folder: Path, capsys: pytest.CaptureFixture[str], manifest: str
) -> None:
    (folder / "trips.yaml").write_text(manifest)
    code, found = built(capsys)
    assert code == 1
    assert ("SC561", "error") in found


def test_say_nothing_of_it_where_nothing_is_built(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "trips.yaml").write_text(FIELDS + "  - {name: a.b, type: Int8}\n")
    assert built(capsys) == (1, {("SC502", "error")})
