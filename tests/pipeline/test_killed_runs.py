"""Runs that are killed with SIGKILL before each of their steps: the table and its quarantine as if they had never been,
or had come to their end; and the next run, in whichever mode, goes on as usual."""

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import lance
import pytest

from schemac.engines.lance.runs.recovery import recover
from schemac.pipeline.conforming.load import check
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.writing.sink_options import SinkOptions, encode_schema
from schemac.pipeline.writing.table_sink import TableWriter
from schemac.rows.runs import staging
from schemac.rows.runs.identity import RunIdentity, this_process
from schemac.rows.runs.storage import NO_STORAGE
from schemac.rows.runs.tables import runs_of
from schemac.text.source.catalogue import ABANDONED_RUN
from tests.pipeline.killing import SCHEMA, batch, write

Killer = Callable[..., int]
CASES = [
    (mode, is_there, has_ids)
    for mode in ("create", "append", "overwrite")
    for is_there in (False, True)
    for has_ids in (False, True)
    if not (mode == "create" and is_there)
]
STEPS_OF_A_QUICK_RUN = 3


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
    killer: Killer,
    folder: Path,
    step: int | None,
    case: tuple[str, bool, bool],
    then: str,
    *,
    is_by_stage: bool = False,
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
        folder=str(folder),
        run="killed",
        good=[3, 4, 5],
        bad=3,
        mode=mode,
        has_ids=has_ids,
        kill_before=step,
        is_by_stage=is_by_stage,
    )
    # What the next run looks at first is right at once, or is made right by it.
    table, quarantine = str(folder / "t.lance"), str(folder / "q.lance")
    recover(table, quarantine, NO_STORAGE)
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


STAGES = (
    "table CLAIMED",
    "CLAIMED",
    "MOVED",
    "COMMITTED",
    "table MOVED",
    "table COMMITTED",
    "CLOSED",
    "CLOSED",
)
"""Those of a run: its table is claimed before its quarantine is committed."""


@pytest.mark.parametrize("stage", [None, *range(1, len(STAGES) + 1)])
def test_runs_killed_before_every_stage_of_their_commits(
    killer: Killer, tmp_path: Path, stage: int | None
) -> None:
    """A run has happened from the moment on in which its table has the version, and not before."""
    case = ("append", True, False)
    count = kill_and_go_on(killer, tmp_path / "t", stage, case, "append", is_by_stage=True)
    assert count == (len(STAGES) if stage is None else 0)
    is_done = stage is None or stage > STAGES.index("table COMMITTED") + 1
    assert ("killed" in happened(tmp_path / "t")) == is_done


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


def leave(path: Path, state: str, process: str) -> None:
    """A folder in which a dead run has left its staging folder, and nothing else is."""
    path.mkdir()
    run = RunIdentity("dead", datetime.now(UTC), "", "create", process)
    area = staging.table_area(str(path))
    staged = area.new_folder(run)
    folder = Path(staged.path)
    if state == "being made":
        folder.mkdir()
        return
    staged.open(run)
    (folder / "data").mkdir()
    (folder / "data" / "a.lance").touch()
    if state == "being removed":
        (folder / staging.StagingState.OPEN).unlink()
        (folder / "data" / "a.lance").unlink()
    elif state == "without identity":
        (folder / staging.RUN_FILE).unlink()
    elif state == "swept":
        assert staged.advance(staging.StagingState.OPEN, staging.StagingState.SWEPT)
    elif state == "written after the sweep":
        for entry in folder.iterdir():
            if entry.is_file():
                entry.unlink()
    elif state == "being committed":
        area.start_commit(staged, run)
        staged.note_moved(["a.lance"])
        (folder / staging.COMMITTER).write_text(process)
        (path / "data").mkdir()
        (folder / "data" / "a.lance").rename(path / "data" / "a.lance")
        (path / "_versions").mkdir()


LEFT = (
    "open",
    "being made",
    "being removed",
    "without identity",
    "swept",
    "written after the sweep",
    "being committed",
)


@pytest.mark.parametrize("mode", ["create", "append", "overwrite"])
@pytest.mark.parametrize("name", ["t.lance", "q.lance"])
def test_folder_with_nothing_but_staging_is_no_obstacle(tmp_path: Path, name: str, mode: str) -> None:
    """Whether the run that left it can be told to be dead or not, in a dry run and in a run."""
    (tmp_path / "in.json").write_text("")
    for i, (state, process) in enumerate(itertools.product(LEFT, (this_process() + "0", ELSEWHERE))):
        folder = tmp_path / f"{i}"
        folder.mkdir()
        if name == "q.lance" and mode != "create":
            write(folder, "first", [1], 0, "create", has_ids=False)
        leave(folder / name, state, process)
        target = {"path": str(folder / "t.lance"), "mode": mode}
        job = {"source": {"path": str(tmp_path / "in.json")}, "target": target,
               "quarantine": {"path": str(folder / "q.lance")}}  # fmt: skip
        check(Job.model_validate(job), SCHEMA)
        recover(str(folder / "t.lance"), str(folder / "q.lance"), NO_STORAGE)
        check(Job.model_validate(job), SCHEMA)
        write(folder, "next", [9], 1, mode, has_ids=False)
        assert table_of(folder)[-1] == 9
        assert bad_runs(folder) == ["next"]
        if process != ELSEWHERE:
            assert not list((folder / name).glob("_staging-*")), state


def test_runs_that_share_a_quarantine_leave_each_others_rows(killer: Killer, tmp_path: Path) -> None:
    """The table of a run decides about its rows, whichever table the next run is of."""
    told = {"good": [1], "bad": 1, "mode": "create", "has_ids": False, "name": "other.lance"}
    (tmp_path / "0").mkdir()
    count = killer(folder=str(tmp_path / "0"), run="killed", kill_before=None, **told)
    seen = set()
    for step in range(count // 2, count + 1, 3):
        folder = tmp_path / f"{step}"
        folder.mkdir()
        killer(folder=str(folder), run="killed", kill_before=step, **told)
        happened = exists(folder / "other.lance")
        write(folder, "next", [9], 1, "create", has_ids=False)
        assert bad_runs(folder) == (["killed", "next"] if happened else ["next"])
        assert not list((folder / "q.lance").glob("_staging-*"))
        seen.add(happened)
    assert seen == {True, False}


def writer(folder: Path, process: str | None) -> TableWriter:
    identity = RunIdentity("slow", datetime.now(UTC), "", "append", process)
    options = SinkOptions(
        path=str(folder / "t.lance"), quarantine=str(folder / "q.lance"), schema=encode_schema(SCHEMA)
    )
    return TableWriter(replace(options, run=identity.to_json()), overwrite=False, is_split=True)


ELSEWHERE = "elsewhere-1-1"


@pytest.mark.parametrize("process", [this_process(), ELSEWHERE, None], ids=["here", "elsewhere", "unknown"])
def test_run_that_is_alive_is_left_alone(tmp_path: Path, process: str | None) -> None:
    write(tmp_path, "first", [1], 1, "create", has_ids=False)
    slow = writer(tmp_path, process)
    messages = [slow.write(batch([2], 1))]
    write(tmp_path, "next", [3], 1, "append", has_ids=False)
    slow.commit(messages)
    assert table_of(tmp_path) == [1, 2, 3]
    assert bad_runs(tmp_path) == ["first", "next", "slow"]
    assert happened(tmp_path) == {"first", "next", "slow"}
    assert not list(tmp_path.rglob("_staging-*"))


@pytest.mark.parametrize("process", [ELSEWHERE, None], ids=["elsewhere", "unknown"])
def test_run_that_was_taken_for_dead_fails_before_its_commit(tmp_path: Path, process: str | None) -> None:
    slow = writer(tmp_path, process)
    messages = [slow.write(batch([2], 1))]
    for mark in tmp_path.rglob(staging.RUN_FILE):
        os.utime(mark, (0, 0))
    write(tmp_path, "next", [3], 1, "create", has_ids=False)
    with pytest.raises(PipelineError, match="considered this run dead") as caught:
        slow.commit(messages)
    slow.abort(messages)
    assert caught.value.code is ABANDONED_RUN
    assert "run it again" in str(caught.value)
    assert table_of(tmp_path) == [3]
    assert bad_runs(tmp_path) == ["next"]
    for name in ("t.lance", "q.lance"):
        assert files_of(tmp_path / name) == named(tmp_path / name)


def test_heartbeat_keeps_a_run_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "RENEWED_SECONDS", 0.01)
    slow = writer(tmp_path, ELSEWHERE)
    marks = list(tmp_path.rglob(staging.RUN_FILE))
    assert len(marks) == 2
    for mark in marks:
        os.utime(mark, (0, 0))
    with staging.keep_alive([str(tmp_path / "t.lance"), str(tmp_path / "q.lance")], slow.run):
        while any(mark.stat().st_mtime < 1 for mark in marks):
            time.sleep(0.01)


def test_temporary_folders_of_dead_processes_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead = tmp_path / f"{staging.FOLDER_PREFIX}dead"
    dead.mkdir()
    (dead / staging.OWNER_FILE).write_text(this_process() + "0")
    with staging.temporary_folder() as folder:
        assert sorted(tmp_path.iterdir()) == [folder]
        with staging.temporary_folder():
            assert len(list(tmp_path.iterdir())) == 2
    assert list(tmp_path.iterdir()) == []
