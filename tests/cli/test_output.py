"""What a run prints, and what it tells its caller."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from schemac.cli.main import main
from schemac.registry.codes import builtin_codes
from schemac.text.source.diagnostics import Code

SOUND = "fields:\n  - name: fare\n    type: Float64\n"
FAULTY = "fields:\n  - name: fare\n    type: Flota64\n"
ODD = "fields:\n  - {name: id, type: Int8}\n  - {name: ID, type: Int8}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


def test_find_nothing_in_sound_manifest(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "trips.yaml").write_text(SOUND)
    assert main(["check", "trips.yaml"]) == 0
    assert capsys.readouterr() == ("", "checked 1 dataset: no findings\n")


def test_show_mistake_and_count_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "trips.yaml").write_text(FAULTY)
    assert main(["check", "trips.yaml"]) == 1
    out, err = capsys.readouterr()
    assert out == (
        "error[SC201]: there is no kind 'Flota64'\n"
        " --> trips.yaml:3:11 (fare)\n"
        "3 |     type: Flota64\n"
        "  |           ^^^^^^^\n"
        "  = help: did you mean `Float64`?\n"
        "\n"
    )
    assert err == "checked 1 dataset: 1 error; can be fixed: 1 with --fix --unsafe-fixes\n"


def test_fail_on_warnings_when_asked(folder: Path) -> None:
    (folder / "trips.yaml").write_text(ODD)
    assert main(["check", "trips.yaml"]) == 0
    assert main(["check", "trips.yaml", "--fail-on", "warning"]) == 1


@pytest.mark.parametrize("form", ["json", "github", "sarif"])
def test_print_nothing_but_the_form_that_was_asked_for(
    form: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "trips.yaml").write_text(FAULTY)
    assert main(["check", "trips.yaml", "--format", form]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    if form == "github":
        assert out.startswith("::error file=trips.yaml,line=3,")
    else:
        document = json.loads(out)
        found = document["diagnostics"] if form == "json" else document["runs"][0]["results"]
        assert len(found) == 1


def test_name_files_from_the_working_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "trips.yaml").write_text(FAULTY)
    assert main(["check", str(folder / "a")]) == 1
    assert " --> a/b/trips.yaml:3:11 (fare)" in capsys.readouterr().out


def test_show_the_gravest_findings_first_when_there_are_many(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "trips.yaml").write_text(ODD + "  - {name: c, type: Nothing}\n")
    assert main(["check", "trips.yaml", "--max-findings", "1"]) == 1
    out = capsys.readouterr().out
    assert "SC201" in out
    assert "SC303" not in out
    assert "… and 1 warning more; see them with --max-findings 2" in out


def test_pass_over_foreign_files_of_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "trips.yaml").write_text(SOUND)
    (folder / "service.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: x}\n")
    (folder / "compose.yml").write_text("services:\n  db: {image: postgres}\n")
    (folder / "playbook.yml").write_text("- hosts: all\n  tasks: []\n")
    (folder / "empty.yml").write_text("# nothing yet\n")
    (folder / "null.yml").write_text("null\n")
    assert main(["check", "."]) == 0
    out = capsys.readouterr().out
    assert "SC207" not in out
    assert out.count("note[SC105]") == 2
    assert main(["check", "service.yaml"]) == 1


def test_refuse_same_name_in_two_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.yaml").write_text("name: trips\n" + SOUND)
    (folder / "b.yaml").write_text("name: trips\n" + SOUND)
    assert main(["build", "."]) == 1
    out = capsys.readouterr().out
    assert out.count("SC216") == 1
    assert "the dataset name 'trips' is already used in a.yaml" in out
    assert "::: a.yaml:1:7" in out
    assert not (folder / "build").exists()


@pytest.mark.parametrize("name", ["...yaml", "..yaml", " .yaml", "a:b.yaml", "-.yaml"])
def test_write_nothing_outside_the_output_folder(name: str, folder: Path) -> None:
    inside = folder / "project"
    inside.mkdir()
    (inside / name).write_text(SOUND)
    before = set(folder.rglob("*"))
    assert main(["build", str(inside), "--out", str(inside / "build"), "--no-cache"]) == 1
    assert set(folder.rglob("*")) == before


def test_build_under_the_name_of_a_source(folder: Path) -> None:
    text = "- kind: AddPushSource\n  sourceName: ../up\n  read: {kind: Csv, schema: {fields: []}}\n"
    (folder / "trips.yaml").write_text(text + "- kind: SetDataSchema\n  schema: {fields: []}\n")
    assert main(["build", "trips.yaml"]) == 1
    assert not (folder / "up").exists()
    assert not (folder / "build").exists()


def test_refuse_friendly_forms_when_strict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "trips.yaml").write_text("name: trips\n" + SOUND)
    assert main(["check", "--strict", "trips.yaml"]) == 1
    assert "error[SC214]" in capsys.readouterr().out


@pytest.mark.parametrize("code", builtin_codes().values(), ids=lambda code: code.id)
def test_explain_code(code: Code, capsys: pytest.CaptureFixture[str]) -> None:
    id, slug = code.id, code.slug
    assert main(["explain", id.lower()]) == 0
    by_id = capsys.readouterr().out
    assert main(["explain", slug]) == 0
    assert capsys.readouterr().out == by_id
    assert by_id.startswith(f"# {id} {slug}\n")


def test_explain_unknown_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "unknown-knd"]) == 2
    assert "did you mean unknown-kind?" in capsys.readouterr().err


def test_list_all_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == sorted(builtin_codes())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such file names")
@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_print_names_that_the_terminal_cannot_show(form: str, encoding: str, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.yaml")).write_text(
        "fields:\n  - {name: größe, type: Strin}\n", encoding="utf-8"
    )
    run = subprocess.run(
        [sys.executable, "-m", "schemac", "check", str(tmp_path), "--format", form],
        cwd=Path(__file__).parent.parent.parent,
        env={**os.environ, "PYTHONIOENCODING": encoding, "NO_COLOR": "1"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b"internal error" not in run.stderr, run.stderr
    assert run.returncode == 1
    assert b"SC201" in run.stdout
    if form in ("json", "sarif"):
        json.loads(run.stdout.decode(encoding))
