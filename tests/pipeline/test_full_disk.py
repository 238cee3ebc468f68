"""A disk that is full at each step of a run: the old table or the new one, and a next run that ends right."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.full_disk import BIG


def can_mount() -> bool:
    command = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return (
        shutil.which("unshare") is not None
        and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )


SIZES = {"quick": [0, 4, 12, 64, 150, 176, 400], "long": [*range(0, 300, 4), 400, 1000]}
"""Room in KiB: none, for the mark of the run, for the shallow clone, for half of the rows, for all but their commit."""

pytestmark = pytest.mark.skipif(not can_mount(), reason="this user may not mount a disk of its own")


def assert_whole(folder: Path, sizes: list[int]) -> None:
    command = [
        "unshare",
        "--mount",
        sys.executable,
        "-m",
        "tests.pipeline.full_disk",
        str(folder),
        ",".join(map(str, sizes)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr[-2000:]
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) == len(sizes)
    assert {bool(result["failed"]) for result in results} == {True, False}
    for result in results:
        happened = ["second"] if not result["failed"] else []
        rows = 3 + len(BIG) * len(happened)
        assert result["then"]["rows"] == rows, result
        # Rows of the quarantine count if their run is in the table; the next run takes the others back.
        assert {*result["then"]["bad"]} >= {"first", *happened}, result
        assert result["next"] == {
            "rows": rows + 1,
            "bad": ["first", *happened, "third"],
            "staging": [],
            "unnamed": [],
        }, result
        assert not result["failed"] or "space" in result["failed"], result


@pytest.mark.slow
def test_full_disk(tmp_path: Path) -> None:
    assert_whole(tmp_path, SIZES["quick"])


@pytest.mark.long
def test_full_disk_at_every_step(tmp_path: Path) -> None:
    assert_whole(tmp_path, SIZES["long"])
