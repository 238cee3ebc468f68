"""Settings, vocabularies, and which files a run is about."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from schemac.cli.main import main

MANIFEST = """name: trips
fields:
  - name: fare
    type: String
    extra:
      acme.com/owner: team-a
      acme.com/tier: 3
"""
VOCABULARY = {
    "type": "object",
    "properties": {"owner": {"type": "string"}, "tier": {"type": "integer", "maximum": 2}},
    "additionalProperties": False,
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/trips.yaml").write_text(MANIFEST)
    (tmp_path / "acme.json").write_text(json.dumps(VOCABULARY))
    return tmp_path


def findings(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[tuple[str, str, int, int, str]]:
    capsys.readouterr()
    main([*arguments, "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    return [(d["code"], d["file"], d["line"], d["column"], d["message"]) for d in document["diagnostics"]]


def test_validate_a_vocabulary_at_the_offending_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "schemac.toml").write_text('[vocabularies]\n"acme.com" = "acme.json"\n')
    (found,) = findings(capsys, "check")
    assert found == (
        "SC315",
        "tables/trips.yaml",
        7,
        22,
        "`acme.com/tier`: 3 is greater than the maximum of 2",
    )
    (project / "tables/trips.yaml").write_text(MANIFEST.replace("tier: 3", "teir: 1"))
    (found,) = findings(capsys, "check")
    assert found == ("SC315", "tables/trips.yaml", 7, 7, "the vocabulary of acme.com has no `teir`")
    (project / "tables/trips.yaml").write_text(MANIFEST.replace("tier: 3", "tier: 1"))
    assert findings(capsys, "check") == []


def test_read_settings_from_pyproject_above(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "pyproject.toml").write_text(
        '[tool.schemac]\nmanifests = ["tables"]\nout = "made"\ntargets = ["arrow"]\n[tool.schemac.encodings]\nstring = "large_string"\n'
    )
    monkeypatch.chdir(project / "tables")
    assert main(["build"]) == 0
    made = {p.relative_to(project / "made").as_posix() for p in (project / "made").rglob("*") if p.is_file()}
    assert made == {"artifacts.json", "trips/arrow/schema.arrow", "trips/losses.json"}
    schema = pa.ipc.read_schema(pa.py_buffer((project / "made/trips/arrow/schema.arrow").read_bytes()))
    assert schema.field("fare").type == pa.large_string()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('ouut = "x"\n', 1, "the key `ouut` does not belong here"),
        ("strict = 1\n", 1, "`strict` has to be true or false, not the number 1"),
        ('\ntargets = ["lanse"]\n', 2, "this has to be"),
        ("out = \n", 1, "schemac.toml is not TOML: invalid value"),
        ('[vocabularies]\n"acme.com" = "nothing.json"\n', 2, "the vocabulary nothing.json cannot be read"),
        ('[vocabularies]\n"lance.org" = "acme.json"\n', 2, "the domain lance.org is closed"),
    ],
)
def test_refuse_a_bad_configuration(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, line: int, message: str
) -> None:
    (project / "schemac.toml").write_text(text)
    (found,) = findings(capsys, "check")
    assert found[:3] == ("SC601", "schemac.toml", line)
    assert found[4].startswith(message)
    assert main(["check"]) == 2


def test_pass_over_files_of_a_folder_that_are_no_manifests(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "compose.yaml").write_text("services: {web: {image: nginx}}\n")
    (project / "pipeline.yaml").write_text("source: {path: x.csv}\ntarget: {path: x.lance}\n")
    (project / ".hidden").mkdir()
    (project / ".hidden/broken.yaml").write_text("fields: [")
    assert findings(capsys, "check") == []
    assert main(["check"]) == 0
    assert main(["check", "compose.yaml"]) == 1


def test_refuse_two_datasets_of_one_name(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "more.yaml").write_text(MANIFEST)
    assert [f[0] for f in findings(capsys, "build")] == ["SC216"]
    assert not (project / "build").exists()


def test_say_that_there_is_nothing_to_compile(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "empty").mkdir()
    assert [f[0] for f in findings(capsys, "check", "empty")] == ["SC602"]
    assert main(["check", "empty"]) == 2
    assert [f[0] for f in findings(capsys, "check", "nowhere")] == ["SC101"]
    assert main(["check", "nowhere"]) == 1


def test_say_that_everything_is_excluded(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "schemac.toml").write_text('extendExclude = ["*.yaml"]\n')
    ((code, *_, message),) = findings(capsys, "check")
    assert (code, message) == ("SC602", "all YAML files in . are excluded")
    (project / "empty").mkdir()
    ((code, *_, message),) = findings(capsys, "check", "empty")
    assert (code, message) == ("SC602", "there is no YAML file in empty")


def test_build_for_the_targets_that_a_manifest_asks_for(project: Path) -> None:
    (project / "tables/trips.yaml").write_text(MANIFEST + "extra:\n  schemac.dev/targets: [lance]\n")
    assert main(["build"]) == 0
    assert sorted(p.name for p in (project / "build/trips").iterdir()) == ["lance", "losses.json"]
