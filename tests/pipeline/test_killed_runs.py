"""Runs that are killed with SIGKILL before each of their steps: the table and its quarantine as if they had never been,
or had come to their end; and the next run, in whichever mode, goes on as usual."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lance
import pytest

from schemac.pipeline.history import runs_of
from schemac.pipeline.job import Job
from schemac.pipeline.preflight import check
from schemac.pipeline.recover import recover
from tests.pipeline.killing import SCHEMA, write

Killer = Callable[..., int]
CASES = [
    (mode, is_there, has_ids)
    for mode in ("create", "append", "overwrite")
    for is_there in (False, True)
    for has_ids in (False, True)
    if not (mode == "create" and is_there)
]
STEPS_OF_A_QUICK_RUN = 5


@pytest.fixture(scope="module")
def killer() -> Iterator[Killer]:
    """Does jobs of `killing` in processes of their own."""
    command = [sys.executable, "-m", "tests.pipeline.killing"]
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        given, told = process.stdin, process.stdout

        def do(**job: Any) -> int:
            given.write(json.dumps(job) + "\n")
            given.flush()
            return int(told.readline())

        yield do
        given.close()


def files_of(path: Path) -> set[str]:
    data = path / "data"
    return {entry.name for entry in data.iterdir()} if data.exists() else set()


def named(path: Path) -> set[str]:
    """Data files that some version names."""
    table = lance.dataset(str(path))
    return {
        file.path
        for version in table.versions()
        for fragment in table.checkout_version(version["version"]).get_fragments()
        for file in fragment.data_files()
    }


def exists(path: Path) -> bool:
    return any(path.glob("_versions/*.manifest"))


def table_of(folder: Path) -> list[int]:
    path = folder / "t.lance"
    return sorted(lance.dataset(str(path)).to_table()["id"].to_pylist()) if exists(path) else []


def bad_runs(folder: Path) -> list[str]:
    path = folder / "q.lance"
    return sorted(lance.dataset(str(path)).to_table()["run"].to_pylist()) if exists(path) else []


def happened(folder: Path) -> set[str]:
    path = folder / "t.lance"
    return {run.id for run in runs_of(str(path))} if exists(path) else set()


def assert_whole(folder: Path, before: list[int], after: list[int]) -> bool:
    """The state is the one before or the one after; whether it is the latter."""
    is_done = "killed" in happened(folder)
    assert table_of(folder) == (after if is_done else before)
    assert bad_runs(folder) == sorted(["first"] * (2 * bool(before)) + ["killed"] * (3 * is_done))
    for name in ("t.lance", "q.lance"):
        path = folder / name
        assert not list(path.glob("_staging-*"))
        if exists(path):
            assert files_of(path) == named(path)
        else:
            assert not path.exists()
    return is_done


def kill_and_go_on(
    killer: Killer, folder: Path, step: int | None, case: tuple[str, bool, bool], then: str
) -> int:
    mode, is_there, has_ids = case
    folder.mkdir()
    before = [1, 2] if is_there else []
    if is_there:
        killer(
            folder=str(folder),
            run="first",
            good=before,
            bad=2,
            mode="create",
            has_ids=False,
            kill_before=None,
        )
    after = sorted([*([] if mode == "overwrite" else before), 3, 4, 5])
    taken = killer(
        folder=str(folder), run="killed", good=[3, 4, 5], bad=3, mode=mode, has_ids=has_ids, kill_before=step
    )
    # What the next run looks at first is right at once, or is made right by it.
    table, quarantine = str(folder / "t.lance"), str(folder / "q.lance")
    recover(table, quarantine, {})
    is_done = assert_whole(folder, before, after)
    if step is None:
        assert is_done
        return taken
    if then == "create" and (is_done or is_there):
        then = "append"
    write(folder, "next", [9], 1, then, has_ids=has_ids and then != "append")
    old = after if is_done else before
    assert table_of(folder) == sorted([*([] if then == "overwrite" else old), 9])
    assert bad_runs(folder).count("next") == 1
    current = [run.id for run in runs_of(table, current=True)]
    assert current[0] == "next"
    assert ("killed" in current) == (is_done and then != "overwrite")
    return taken


def steps_of(killer: Killer, folder: Path, case: tuple[str, bool, bool]) -> int:
    return kill_and_go_on(killer, folder / "whole", None, case, "append")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}-{case[2]}")
def test_killed_runs_are_undone_or_done(killer: Killer, tmp_path: Path, case: tuple[str, bool, bool]) -> None:
    count = steps_of(killer, tmp_path, case)
    # Another part of the steps in each case, so that together they are most of them.
    start = 1 + CASES.index(case)
    for step in range(start, count + 1, max(1, count // STEPS_OF_A_QUICK_RUN)):
        then = ("create", "append", "overwrite")[step % 3]
        kill_and_go_on(killer, tmp_path / f"{step}", step, case, then)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}-{case[2]}")
def test_runs_killed_before_every_step(killer: Killer, tmp_path: Path, case: tuple[str, bool, bool]) -> None:
    for step in range(1, steps_of(killer, tmp_path, case) + 1):
        for then in ("create", "append", "overwrite"):
            kill_and_go_on(killer, tmp_path / f"{step}-{then}", step, case, then)


def test_check_passes_over_what_a_dead_run_left(killer: Killer, tmp_path: Path) -> None:
    """`--dry-run` changes nothing, and says what a run would."""
    count = steps_of(killer, tmp_path, ("create", False, True))
    (tmp_path / "in.json").write_text("")
    for step in range(2, count, 4):
        folder = tmp_path / f"{step}"
        folder.mkdir()
        killer(
            folder=str(folder), run="killed", good=[1], bad=1, mode="create", has_ids=True, kill_before=step
        )
        if exists(folder / "t.lance"):
            continue
        job = {"source": {"path": str(tmp_path / "in.json")}, "target": {"path": str(folder / "t.lance")},
               "quarantine": {"path": str(folder / "q.lance")}}  # fmt: skip
        check(Job.model_validate(job), SCHEMA)
