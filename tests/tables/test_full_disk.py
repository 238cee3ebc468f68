"""`apply` on a disk that is full at each step of it: the old table or the new one, and a next call that ends right."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.test_full_disk import can_mount

pytestmark = pytest.mark.skipif(not can_mount(), reason="this user may not mount a disk of its own")
SIZES = {
    "lance": [0, 4, 64, 140, 150, 160, 170, 180, 400],
    "iceberg": [0, 4, 8, 12, 16, 24, 64],
}
"""Room in KiB: none, for a part of the new files, for one commit of some, for all."""
EVERY_SIZE = {"lance": [*range(0, 240, 4), 600], "iceberg": [*range(0, 64, 4), 200]}


def assert_whole(engine: str, folder: Path, sizes: list[int]) -> None:
    program = [sys.executable, "-m", "tests.tables.full_disk", engine, str(folder), ",".join(map(str, sizes))]
    done = subprocess.run(
        ["unshare", "--mount", *program],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr[-2000:]
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) == len(sizes)
    assert {result["code"] for result in results} == {0, 1}, results
    for result in results:
        assert result["has_old_or_new"], result
        assert (result["again"], result["verified"], result["is_new"]) == (0, 0, True), result
        assert result["code"] == 0 or re.search("no space|disk is full", result["said"], re.IGNORECASE), (
            result
        )


@pytest.mark.slow
@pytest.mark.parametrize("engine", SIZES)
def test_apply_on_a_full_disk(engine: str, tmp_path: Path) -> None:
    assert_whole(engine, tmp_path, SIZES[engine])


@pytest.mark.long
@pytest.mark.parametrize("engine", EVERY_SIZE)
def test_apply_on_a_disk_that_is_full_at_every_step(engine: str, tmp_path: Path) -> None:
    assert_whole(engine, tmp_path, EVERY_SIZE[engine])
