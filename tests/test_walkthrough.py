"""The complete example of a change in the guide, as a reader would do it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import lance
import pytest

from tests.guide.examples import edited

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"```(sh|diff)\n(.*?)```", re.DOTALL)


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    """The example in a folder of its own, with `schemac` and `python` on the path."""
    folder = tmp_path / "walk"
    shutil.copytree(ROOT / "examples/evolution", folder)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, words in (("schemac", " -m schemac"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
        (programs / name).chmod(0o755)
    return folder


def run(script: str, walk: Path) -> str:
    environment = {"PATH": f"{walk.parent / 'bin'}:/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(walk)}
    done = subprocess.run(
        ["sh", "-ec", script], cwd=walk, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def test_walk_through_a_change(walk: Path) -> None:
    page = (ROOT / "docs/how-to/change-a-table.md").read_text(encoding="utf-8")
    section = page.partition("## A complete example\n")[2].partition("\n## ")[0]
    (_, first), (_, diff), (_, second), *_ = BLOCK.findall(section)
    assert "trips.lance: 1,000,000 rows" in run(first, walk)
    manifest = walk / "trips.yaml"
    manifest.write_text(edited(manifest.read_text(), diff))
    said = run(second, walk)
    for words in (
        "integer-widened: Int32 → Int64",
        "depends on data  [SC413]  Lance allows it if no row has null in rating",
        "lock: version 3 of trips",
        "rewrite      distance",
        "trips.lance matches lock:3 of trips",
    ):
        assert words in said, said
    assert "# what the passenger paid" in manifest.read_text()
    table = lance.dataset(str(walk / "trips.lance"))
    assert table.count_rows() == 1_000_000
    assert [(f.name(), f.id()) for f in table.lance_schema.fields()] == [
        ("trip_id", 0), ("started_at", 1), ("fare_amount", 2), ("distance", 6), ("rating", 4), ("tip", 7), ("zone", 5),
    ]  # fmt: skip
    assert [i.field_names for i in table.describe_indices()] == [["distance"]]
    assert lance.dataset(str(walk / "trips.lance"), version=1).count_rows() == 1_000_000
