"""References between manifests of a project: what they name has to be there, with places on both ends."""

import json
from pathlib import Path
from typing import Any

import pytest

from schemac.cli.main import main

RIDES = """\
name: rides
extra:
  schemac.dev/references: [{{fields: [driver], dataset: {0}, to: [{1}]}}]
fields:
  - {{name: driver, type: {2}}}
"""
DRIVERS = """\
name: drivers
extra: {schemac.dev/unique: [[id]]}
fields:
  - {name: id, type: Int64}
  - {name: code, type: {kind: Decimal, precision: 5, scale: 2}}
  - {name: at, type: {kind: Timestamp, unit: Nanosecond}}
  - {name: home, type: {kind: Struct, fields: [{name: street, type: String}]}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemac.toml").write_text("")
    (tmp_path / "drivers.yaml").write_text(DRIVERS)
    return tmp_path


def found(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    main([*words, "--format", "json"])
    diagnostics: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["diagnostics"]
    return diagnostics


CASES = [
    ("drivers", "id", "Int64", ""),
    ("drivers", "id", "UInt8", ""),
    ("drivers", "id", "{kind: Option, inner: Int32}", ""),
    ("people", "id", "Int64", ""),
    ("driver", "id", "Int64", "SC342"),
    ("drivers", "ids", "Int64", "SC343"),
    ("drivers", "home", "String", "SC343"),
    ("drivers", "id", "UInt64", "SC343"),
    ("drivers", "id", "String", "SC343"),
    ("drivers", "code", "{kind: Decimal, precision: 6, scale: 2}", "SC343"),
    ("drivers", "at", "Timestamp", "SC343"),
    ("drivers", "code", "{kind: Decimal, precision: 5, scale: 2}", "SC344"),
    ("drivers", "home.street", "String", "SC344"),
]


@pytest.mark.parametrize(("dataset", "to", "type_", "code"), CASES)
def test_check_what_is_referred_to(
    dataset: str, to: str, type_: str, code: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "rides.yaml").write_text(RIDES.format(dataset, to, type_))
    diagnostics = found(capsys, "check")
    assert [d["code"] for d in diagnostics] == ([code] if code else [])
    for one in diagnostics:
        assert one["file"] == "rides.yaml"
        assert one["line"] == 3
        assert one["help"]
        assert code == "SC342" or any(label["file"] == "drivers.yaml" for label in one["labels"])
    assert found(capsys, "check", "rides.yaml") == [], "of a manifest alone nobody knows"


def test_find_a_field_that_is_dropped_or_renamed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "rides.yaml").write_text(RIDES.format("drivers", "id", "Int64"))
    assert main(["lock"]) == 0
    assert main(["rename", "drivers", "id", "ident"]) == 0
    said = "".join(capsys.readouterr())
    assert "rides.yaml: id is now ident here too" in said
    (folder / "rides.yaml").write_text(RIDES.format("drivers", "id", "Int64"))
    assert [d["code"] for d in found(capsys, "breaking", "--against", "lock")] == ["SC343"]
    (folder / "rides.yaml").write_text(RIDES.format("drivers", "ident", "Int64"))
    assert [d["code"] for d in found(capsys, "check")] == ["SC401"], (
        "rides refers to another name than its lock"
    )
    assert main(["lock", "-q"]) == 0
    assert found(capsys, "check") == []
