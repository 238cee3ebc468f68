"""Attributes that a rule asks for are written where the field has its attributes, however the field is written."""

from pathlib import Path

import pytest

from schemac.cli.main import main

WRITTEN = {
    "fields:\n  - name: distance_km\n    type: Float32\n": "fields:\n  - name: distance_km\n    type: Float32\n    extra: {schemac.dev/unit: km}\n",
    "fields:\n  - name: distance_km\n    type: Float32  # driven\n  - name: b\n    type: Int8\n": "fields:\n  - name: distance_km\n    type: Float32  # driven\n    extra: {schemac.dev/unit: km}\n  - name: b\n    type: Int8\n",
    "fields:\n  - {name: distance_km, type: Float32}\n": "fields:\n  - {name: distance_km, type: Float32, extra: {schemac.dev/unit: km}}\n",
    "fields:\n  - {name: distance_km, type: Float32, extra: {a.b/c: 1}}\n": "fields:\n  - {name: distance_km, type: Float32, extra: {a.b/c: 1, schemac.dev/unit: km}}\n",
    "fields:\n  - name: distance_km\n    extra:\n      a.b/c: 1\n    type: Float32": "fields:\n  - name: distance_km\n    extra:\n      a.b/c: 1\n      schemac.dev/unit: km\n    type: Float32",
    "fields:\n  - type:\n      kind: Option\n      inner: Float32\n    name: distance_km": "fields:\n  - type:\n      kind: Option\n      inner: Float32\n    name: distance_km\n    extra: {schemac.dev/unit: km}",
    "fields:\r\n  - name: distance_km\r\n    type: Float32\r\n": "fields:\r\n  - name: distance_km\r\n    type: Float32\r\n    extra: {schemac.dev/unit: km}\r\n",
    "fields:\n  - type: Float32\n    name: distance_km\n    description: |\n      How far\n": "fields:\n  - type: Float32\n    name: distance_km\n    description: |\n      How far\n    extra: {schemac.dev/unit: km}\n",
    "fields:\n  - &d {name: distance_km, type: Float32}\n": "fields:\n  - &d {name: distance_km, type: Float32}\n",
}


@pytest.mark.parametrize(("text", "expected"), WRITTEN.items())
def test_write_an_attribute(
    text: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemac.toml").write_text('[lint]\nselect = ["unit-in-name"]\n')
    path = tmp_path / "rides.yaml"
    path.write_bytes(text.encode())
    assert main(["check", "--fix", "--no-cache"]) == 0
    assert path.read_bytes() == text.encode()
    assert main(["check", "--fix", "--unsafe-fixes", "--no-cache"]) == 0
    assert path.read_bytes() == expected.encode()
