"""The same manifest gives the same bytes, however often and wherever it is compiled."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given

from schemac.cli.main import main
from tests.conformance.manifest_types import POSITIONS, TYPES
from tests.laws.strategies import Tree, manifests, text
from tests.laws.test_totality import QUICK, emitted, only

ROOT = Path(__file__).parents[2]


@QUICK
@given(manifests())
def test_emit_the_same_bytes_twice(manifest: Tree) -> None:
    source = text(manifest)
    first, again = emitted(only(source)), emitted(only(source))
    assert first[0] == again[0]
    assert first[1].diagnostics == again[1].diagnostics


@QUICK
@given(manifests())
def test_emit_the_same_bytes_from_json_and_yaml(manifest: Tree) -> None:
    from_json, from_yaml = (emitted(only(text(manifest, as_yaml=as_yaml)))[0] for as_yaml in (False, True))
    assert from_json == from_yaml


@QUICK
@given(manifests())
def test_keep_the_bytes_when_keys_change_their_order(manifest: Tree) -> None:
    assert emitted(only(text(manifest)))[0] == emitted(only(text(_turned(manifest))))[0]


def test_name_losses_in_one_order() -> None:
    """Attributes that `create_table.sql` loses, in whatever order a manifest has them."""
    extra = {
        "schemac.dev/unit": "m/s",
        "lance.org/primaryKey": {"position": 1},
        "acme.com/b": 1,
        "acme.com/a": 2,
    }
    manifest: Tree = {"fields": [{"name": "a", "type": {"kind": "Int16"}, "extra": extra}]}
    assert emitted(only(text(manifest)))[0] == emitted(only(text(_turned(manifest))))[0]


def _turned(tree: Tree) -> Tree:
    """The same mappings with their keys the other way round; lists keep their order."""
    return {
        key: _turned(value)
        if isinstance(value, dict)
        else [_turned(item) if isinstance(item, dict) else item for item in value]
        if isinstance(value, list)
        else value
        for key, value in reversed(tree.items())
    }


@pytest.mark.parametrize("seed", ["0", "1", "12345"])
def test_build_the_same_bytes_in_every_process(
    seed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python's hashes differ from process to process; no output may show it."""
    manifest = tmp_path / "all.yaml"
    fields = [
        {**POSITIONS[place](type_), "name": f"{place} {name}".replace(".", "")}
        for place in ("column", "member", "item")
        for name, type_ in TYPES.items()
        if name != "Null" and "Decimal with" not in name
    ]
    extra = {"schemac.dev/targets": ["arrow", "spark"], "x.org/b": {"z": 1, "a": 2}, "x.org/a": [1]}
    manifest.write_text(json.dumps({"extra": extra, "fields": fields}))
    here, there = tmp_path / "here", tmp_path / "elsewhere" / "there"
    # Outputs name the manifest by its path from where the build runs.
    monkeypatch.chdir(tmp_path)
    assert main(["build", "all.yaml", "--out", str(here)]) == 0
    command = [sys.executable, "-m", "schemac", "build", "all.yaml", "--out", str(there)]
    environment = {
        **os.environ,
        "PYTHONHASHSEED": seed,
        "PYTHONPATH": str(ROOT),
        "TZ": "Asia/Tokyo",
        "LC_ALL": "C",
    }
    subprocess.run(command, check=True, cwd=tmp_path, env=environment, capture_output=True)
    assert _files(here) == _files(there)


def _files(folder: Path) -> dict[str, bytes]:
    found = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert len(found) > 3
    return found
