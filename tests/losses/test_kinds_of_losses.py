"""`schemac build --losses` shows each kind of loss once; programs, and `losses.json`, get each loss."""

import json
from pathlib import Path

import pytest

from schemac.cli.main import main

MANIFEST = """
name: {name}
description: Rides
fields:
  - {{name: a, type: UInt32}}
  - {{name: b, type: UInt32}}
  - {{name: c, type: UInt8, extra: {{schemac.dev/unit: m}}}}
"""
MANIFESTS = 12


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for number in range(MANIFESTS):
        (tmp_path / f"d{number:02}.yaml").write_text(MANIFEST.format(name=f"d{number:02}"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_show_each_kind_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--target", "spark", "--losses"]) == 0
    printed = capsys.readouterr()
    notes = [line for line in printed.out.splitlines() if line.startswith("note[")]
    assert notes == [
        "note[SC522]: the description of the table becomes nothing (12 manifests)",
        "note[SC522]: uint32 becomes long (24 fields in 12 manifests, such as a)",
        "note[SC522]: uint8 becomes short (12 fields in 12 manifests, such as c)",
        "note[SC522]: the attribute schemac.dev/unit becomes nothing in spark/create_table.sql (12 fields in 12 manifests, such as c)",
    ]
    assert "60 losses are listed in build/*/losses.json; 4 notes" in printed.err
    for number in range(MANIFESTS):
        assert len(json.loads((folder / f"build/d{number:02}/losses.json").read_text())["losses"]) == 5


def test_show_a_loss_that_is_alone_at_its_field(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "d00.yaml", "--target", "spark", "--losses"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("note[")] == [
        "note[SC522]: the description of the table becomes nothing",
        "note[SC522]: uint32 becomes long (2 fields, such as a)",
        "note[SC522]: c: uint8 becomes short",
        "note[SC522]: c: the attribute schemac.dev/unit becomes nothing in spark/create_table.sql",
    ]


def test_give_programs_and_gates_each_loss(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--target", "spark", "--losses", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["diagnostics"]) == 60
    assert main(["build", "--target", "spark", "--deny", "losses"]) == 1
    assert capsys.readouterr().out.count("error[SC522]") == 60
