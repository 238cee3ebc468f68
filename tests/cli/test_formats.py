"""Findings for CI servers, read back by what others wrote, and the files and streams that they go to."""

import io
import json
import os
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import jsonschema
import pytest

from schemac.cli.main import main
from schemac.text.source.ci_reports import render_gitlab, render_junit
from schemac.text.source.diagnostics import Diagnostic, Severity

ODD = "fields:\n  - {name: id, type: Int8}\n  - {name: ID, type: Int8}\n  - {name: x, type: Int9}\n"
CORPUS = Path(__file__).parents[1] / "corpus"
HOSTILE = "]]>\x00\x1b[31m<&\"'\ud800\ufffe\u202e\n</failure>"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "trips.yaml").write_text(ODD)
    monkeypatch.setenv("FORCE_COLOR", "1")
    return tmp_path


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["check", *arguments]) == 1
    return capsys.readouterr().out


def test_write_junit_with_failures_for_what_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = Xml.fromstring(_printed(capsys, "--format", "junit"))
    assert (root.tag, root.get("tests"), root.get("failures")) == ("testsuites", "2", "1")
    cases = root.findall("testsuite/testcase")
    assert [[child.tag for child in case] for case in cases] == [["system-out"], ["failure"]]
    assert [":3:" in case[0].text for case in cases if case[0].text] == [True, False]
    # Jenkins' XML Schema has no other attributes, and its plugin xUnit refuses a report with one.
    assert {name for case in cases for name in case.attrib} == {"name", "classname"}
    assert set(root[0].attrib) == {"name", "file", "tests", "failures", "errors"}
    assert set(root.attrib) == {"name", "tests", "failures", "errors"}
    strict = Xml.fromstring(_printed(capsys, "--format", "junit", "--fail-on", "warning"))
    assert strict.get("failures") == "2"


def test_write_junit_with_one_sound_test_where_nothing_was_found() -> None:
    root = Xml.fromstring(render_junit([]))
    assert (root.get("tests"), root.get("failures")) == ("1", "0")
    assert len(root.findall("testsuite/testcase")) == 1


@pytest.mark.parametrize("render", [render_junit, render_gitlab])
def test_keep_hostile_texts_from_ending_the_document(render: object) -> None:
    hostile = Diagnostic(
        "SC201", "unknown-kind", Severity.ERROR, HOSTILE, HOSTILE, 1, 1, 1, 2, HOSTILE, HOSTILE
    )
    assert callable(render)
    text = render([hostile])
    text.encode()
    if render is render_gitlab:
        (found,) = json.loads(text)
        assert "\x1b" not in found["description"]
    else:
        (case,) = Xml.fromstring(text).iter("testcase")
        assert [child.tag for child in case] == ["failure"]


def test_write_code_quality_for_gitlab(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(_printed(capsys, "--format", "gitlab"))
    assert [(one["check_name"], one["severity"], one["location"]["path"]) for one in found] == [
        ("case-collision", "minor", "trips.yaml"),
        ("unknown-kind", "major", "trips.yaml"),
    ]
    assert len({one["fingerprint"] for one in found}) == 2
    # GitLab takes a finding for the same one by its fingerprint; lines above it do not make another one of it.
    (folder / "trips.yaml").write_text("# rides\n" + ODD)
    again = json.loads(_printed(capsys, "--format", "gitlab"))
    assert [one["fingerprint"] for one in again] == [one["fingerprint"] for one in found]
    assert [one["location"]["lines"]["begin"] for one in again] == [4, 5]


CODE_QUALITY = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "pattern": "^[a-z0-9-]+$"},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32,64}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    # GitLab compares it with the paths of the diff, which are relative to the repository.
                    "path": {
                        "type": "string",
                        "pattern": r"^[^/\\]",
                        "not": {"pattern": r"^\.\.?/|/\.\.?/|\\|//"},
                    },
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {
                            "begin": {"type": "integer", "minimum": 1},
                            "end": {"type": "integer"},
                        },
                    },
                },
            },
        },
        "additionalProperties": False,
    },
}
"""What GitLab's documentation of the report says, and its own `codeclimate.json`, which asks for types of the same members."""


@pytest.mark.parametrize("where", [".", "rejected", "rejected/SC201-unknown-kind", "elsewhere"])
def test_write_code_quality_that_gitlab_takes_for_all_that_can_be_found(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "elsewhere").mkdir()
    shutil.copytree(CORPUS / "rejected", tmp_path / "rejected")
    monkeypatch.chdir(tmp_path / where)
    found = json.loads(
        _printed(capsys, "--format", "gitlab", "--max-findings", "0", str(tmp_path / "rejected"))
    )
    jsonschema.Draft202012Validator(CODE_QUALITY).validate(found)
    assert len(found) > 200
    # Of two findings with one fingerprint GitLab shows the first one alone.
    assert len({one["fingerprint"] for one in found}) == len(found)
    for one in found:
        lines = one["location"]["lines"]
        assert lines["begin"] <= lines["end"]
        assert (tmp_path / one["location"]["path"]).exists()


@pytest.mark.skipif(
    "SARIF_SCHEMA" not in os.environ, reason="SARIF_SCHEMA names no copy of OASIS's JSON Schema of SARIF"
)
def test_write_sarif_that_its_schema_takes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = json.loads(Path(os.environ["SARIF_SCHEMA"]).read_text())
    validator = jsonschema.validators.validator_for(schema)(schema)
    validator.validate(json.loads(_printed(capsys, "--format", "sarif")))


def test_write_output_to_file_whole_and_without_colours(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "\x1b[" in _printed(capsys)
    assert _printed(capsys, "--output-file", "findings.txt") == ""
    text = (folder / "findings.txt").read_text()
    assert text.startswith("warning[SC303]")
    assert "\x1b" not in text
    assert main(["check", "--format", "json", "--output-file", "f.json"]) == 1
    assert len(json.loads((folder / "f.json").read_text())["diagnostics"]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("path", ["nowhere/findings.txt", "."])
def test_refuse_output_file_before_anything_is_done(path: str, folder: Path) -> None:
    (folder / "trips.yaml").write_text("fields: [{name: a, type: Int8}]\n")
    assert main(["build", "--output-file", path]) == 2
    assert not (folder / "build").exists()


def test_keep_the_former_output_of_a_command_that_broke_off(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "f.txt").write_text("former")

    def broken(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("schemac.cli.compile_commands.show", broken)
    assert main(["check", "--output-file", "f.txt"]) == 3
    assert (folder / "f.txt").read_text() == "former"


def test_say_less_and_more(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "-q"]) == 1
    assert capsys.readouterr().err == ""
    (folder / "service.yaml").write_text("apiVersion: v1\nkind: Service\n")
    assert main(["check", "-v"]) == 1
    err = capsys.readouterr().err.splitlines()
    assert err[1:] == [
        "service.yaml: no dataset",
        "trips.yaml: trips",
        "checked 1 dataset: 1 error, 1 warning; can be fixed: 1 with --fix --unsafe-fixes",
    ]


def test_read_manifest_from_standard_input(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "tables").mkdir()
    (folder / "tables/common.yaml").write_text("groups: {audit: {fields: [{name: at, type: Timestamp}]}}\n")
    text = "imports: [common.yaml]\nfields: [{use: audit}, {name: x, type: Int9}]\n"

    def given(content: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))

    given(text)
    out = _printed(capsys, "-", "--stdin-filename", "tables/rides.yaml", "--format", "json")
    assert [(d["code"], d["file"]) for d in json.loads(out)["diagnostics"]] == [
        ("SC201", "tables/rides.yaml")
    ]
    given("fields: [{name: x, type: Int8}]")
    assert main(["check", "-", "-v"]) == 0
    assert "<stdin>: stdin" in capsys.readouterr().err
    given("")
    assert main(["check", "-"]) == 1
