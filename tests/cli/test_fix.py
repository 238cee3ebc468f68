"""`schemac check --fix`, `--unsafe-fixes` and `--diff`, from the command line to the files."""

import io
import json
import os
import sys
from pathlib import Path

import pytest

from schemac.cli.main import main

WRONG = "fields:\n  - name: fare  # paid\n    type: bigint\n\n  - {name: id, type: Strng, id: 4}\n"
SAFE = WRONG.replace("bigint", "Int64")
UNSAFE = SAFE.replace("Strng, id: 4", "String")


@pytest.fixture
def rides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rides.yaml"
    path.write_text(WRONG)
    return path


def test_fix_what_is_safe(rides: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rides.chmod(0o640)
    assert main(["check", "--fix"]) == 1
    assert rides.read_text() == SAFE
    assert rides.stat().st_mode & 0o777 == 0o640
    assert capsys.readouterr().err.endswith("fixed 1, 2 more with --unsafe-fixes\n")


def test_fix_the_rest_too(rides: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--fix", "--unsafe-fixes"]) == 0
    assert rides.read_text() == UNSAFE
    assert capsys.readouterr().err == "checked 1 dataset: no findings\nfixed 3\n"


def test_show_what_would_change(rides: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--diff"]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[:2] == ["--- rides.yaml", "+++ rides.yaml"]
    assert [line for line in out.splitlines()[2:] if line[0] in "+-"] == [
        "-    type: bigint",
        "+    type: Int64",
    ]
    assert err == "would fix 1, 2 more with --unsafe-fixes; left: 2 errors\n"
    assert rides.read_text() == WRONG


def test_show_fixes_to_programs_in_findings(rides: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--fix", "--diff", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    assert sum("fix" in one and one["fix"] is not None for one in found) == 3
    assert rides.read_text() == WRONG


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_keep_line_ends_and_byte_order_mark(rides: Path, mark: bytes) -> None:
    rides.write_bytes(mark + WRONG.replace("\n", "\r\n").encode())
    main(["check", "--fix", "--unsafe-fixes"])
    assert rides.read_bytes() == mark + UNSAFE.replace("\n", "\r\n").encode()


def test_fix_standard_input(
    rides: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WRONG.encode())))
    assert main(["check", "--fix", "-"]) == 1
    out, err = capsys.readouterr()
    assert out == SAFE
    assert "there is no kind 'Strng'" in err
    assert rides.read_text() == WRONG


def test_fix_a_group_where_it_is_written(rides: Path) -> None:
    (rides.parent / "groups").mkdir()
    group = rides.parent / "groups/audit.yaml"
    text = "groups:\n  audit:\n    fields:\n      - {name: at, type: timestamptz}\n"
    group.write_text(text)
    rides.write_text("imports: [groups/audit.yaml]\nfields:\n  - use: audit\n")
    assert main(["check", "--fix"]) == 0
    assert group.read_text() == text.replace("timestamptz", "{kind: Timestamp, unit: Microsecond}")


def test_leave_a_file_that_cannot_be_written(rides: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if os.geteuid() == 0:
        pytest.skip("nothing is refused to root")
    rides.parent.chmod(0o500)
    try:
        assert main(["check", "--fix", "--no-cache"]) == 1
    finally:
        rides.parent.chmod(0o700)
    assert "cannot write rides.yaml" in capsys.readouterr().out
    assert rides.read_text() == WRONG


def test_tell_programs_of_fixes(rides: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--format", "json"])
    found = json.loads(capsys.readouterr().out)["diagnostics"][0]
    place = {"file": "rides.yaml", "line": 3, "column": 11, "end_line": 3, "end_column": 17}
    assert found["fix"] == {
        "title": "did you mean `Int64`?",
        "safe": True,
        "edits": [{**place, "text": "Int64"}],
    }
    main(["check", "--format", "sarif"])
    run = json.loads(capsys.readouterr().out)["runs"][0]
    assert run["results"][0]["fixes"] == [
        {
            "description": {"text": "did you mean `Int64`?"},
            "artifactChanges": [
                {
                    "artifactLocation": {"uri": "rides.yaml", "uriBaseId": "%SRCROOT%"},
                    "replacements": [
                        {
                            "deletedRegion": {
                                "startLine": 3,
                                "startColumn": 11,
                                "endLine": 3,
                                "endColumn": 17,
                            },
                            "insertedContent": {"text": "Int64"},
                        }
                    ],
                }
            ],
        }
    ]


def test_fix_the_configuration(
    rides: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = rides.parent / "schemac.toml"
    text = '# ours\ntargts = ["arrow"]  # one\r\n[lint]\nselct = ["SC801"]\n'
    settings.write_bytes(text.encode())
    assert main(["check", "--diff", "--unsafe-fixes"]) == 2
    assert "+targets" in capsys.readouterr().out
    assert settings.read_bytes() == text.encode()
    assert main(["check", "--fix", "--unsafe-fixes"]) == 0
    fixed = text.replace("targts", "targets").replace("selct", "select")
    assert settings.read_bytes() == fixed.encode()
    # It is fixed from a folder below it, too; a file of the same name there is another one.
    settings.write_bytes(text.encode())
    (rides.parent / "inside").mkdir()
    other = rides.parent / "inside/schemac.toml"
    other.mkdir()
    monkeypatch.chdir(rides.parent / "inside")
    assert main(["check", "..", "--fix", "--unsafe-fixes"]) == 2
    assert settings.read_bytes() == text.encode()
    other.rmdir()
    (rides.parent / "inside/pyproject.toml").write_text('[tool.other]\ntargts = ["arrow"]  # one\n')
    assert main(["check", "..", "--fix", "--unsafe-fixes"]) == 0
    assert settings.read_bytes() == fixed.encode()
    assert "targts" in (rides.parent / "inside/pyproject.toml").read_text()


def test_fix_an_overlay(rides: Path) -> None:
    rides.write_text("name: rides\nfields: [{name: fare, type: Int64}]\n")
    overlay = rides.parent / "prod.overlay.yaml"
    overlay.write_text(
        "datasets:\n  rides:\n    feilds: {fare: {extra: {lance.org/encoding: {compression: zstd}}}}\n"
    )
    assert main(["check", "--overlay", str(overlay), "--fix", "--unsafe-fixes"]) == 0
    assert "fields:" in overlay.read_text()
    overlay.write_text(overlay.read_text().replace("fare:", "fair:"))
    assert main(["check", "--overlay", str(overlay), "--fix", "--unsafe-fixes"]) == 0
    assert "fare:" in overlay.read_text()
    # One mistake hides the next one.
    text = "datasets:\n  ridez:\n    extra: {lance.org/storageVersion: 2.1}  # new\n    fields: {fair: {extra: {lance.org/encodng: {compresion: zstd}}}}\n"
    overlay.write_text(text)
    assert main(["check", "--overlay", str(overlay), "--fix", "--unsafe-fixes"]) == 0
    for wrong, right in (
        ("ridez", "rides"),
        ("2.1", '"2.1"'),
        ("fair", "fare"),
        ("odng", "oding"),
        ("esion", "ession"),
    ):
        text = text.replace(wrong, right)
    assert overlay.read_text() == text
