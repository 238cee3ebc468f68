"""Runs into a folder of files that die, or whose store refuses, at each step of their commit: in full, or not at all.

The folder is one of this machine, or behaves as an object store does: a folder is renamed there file by file.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

import lance
import pyarrow as pa
import pytest

from schemac.pipeline.errors import PipelineError
from schemac.pipeline.writing.file_runs import ROWS, FileRuns
from schemac.rows.judging.reasons import QUARANTINE_SCHEMA
from schemac.rows.runs import staging
from schemac.rows.runs.file_systems import LocalFiles
from schemac.rows.runs.history import ROWS as ROWS_WRITTEN
from schemac.rows.runs.identity import RunIdentity, this_process
from schemac.rows.runs.staging import StagingFolder
from schemac.rows.runs.storage import NO_STORAGE, path_from_quarantine
from schemac.rows.runs.tables import TableForm, runs_of, sink_of
from schemac.text.source.catalogue import CONCURRENT_RUN, UNREADABLE_TABLE

MODES = ("create", "append", "overwrite")
FILES = ("part-1.parquet", "day=1/part-2.parquet")
DEAD = f"{this_process()}0"


class KilledError(BaseException):
    """Stands for a process that is killed: nothing of it does anything from then on."""


class RefusedError(PipelineError):
    """What a store says that is busy."""


class Stepping(LocalFiles):
    """A file system whose steps are counted, and that stops at one of them: before it is done, or after."""

    def __init__(self, *, is_store: bool = False) -> None:
        self.renames_folders = not is_store
        self.steps: list[str] = []
        self.stop_at: int | None = None
        self.is_done_first = False
        self.error: Callable[[], BaseException] = KilledError
        self.is_gone = False
        self.refusals = 0

    def _step(self, what: str, do: Callable[[], None]) -> None:
        if self.is_gone:
            raise self.error()
        self.steps.append(what)
        is_last = self.stop_at == len(self.steps)
        if not is_last or self.is_done_first:
            do()
        if is_last:
            self.is_gone = self.refusals == 0
            raise self.error()

    def write(self, path: str, text: str) -> None:
        self._step(f"write {path}", lambda: LocalFiles.write(self, path, text))

    def delete(self, path: str) -> None:
        self._step(f"delete {path}", lambda: LocalFiles.delete(self, path))

    def rename(self, source: str, to: str) -> None:
        if self.renames_folders or Path(source.removeprefix("file:")).is_file():
            self._step(f"rename {to}", lambda: LocalFiles.rename(self, source, to))
            return
        for name in self.files(source):
            self.rename(f"{source}/{name}", f"{to}/{name}")
        LocalFiles.delete(self, source)


def identity(id: str, mode: str, process: str | None = None) -> RunIdentity:
    return RunIdentity(id, datetime.now(UTC), "", mode, process or this_process())


def stage(folder: StagingFolder, name: str) -> None:
    for file in FILES:
        path = Path(folder.path.removeprefix("file:"), ROWS, file.replace("part", name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def attempt(runs: FileRuns, run: RunIdentity) -> str:
    """Run as the sink of files does; what came of it: done, undone, or left to the next run."""
    with runs.staged(run) as folder:
        stage(folder, run.id)
        commit = runs.claimed(folder, run)
        try:
            commit({ROWS_WRITTEN: "3"})
        except PipelineError:
            return {True: "undone", False: "done", None: "left"}[runs.has_failed(folder, run)]
    return "done"


def files_in(folder: Path) -> set[str]:
    return {
        path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and not {"_schemac"} & {*path.relative_to(folder).parts}
    }


def in_full(folder: Path) -> list[str]:
    """The runs whose files are there, each with all of them."""
    names = sorted(files_in(folder))
    for name in names:
        assert all((folder / file.replace("part", name)).exists() for file in FILES)
    return names


def recovered(folder: Path, *, is_store: bool) -> list[str]:
    """Have the next run look at the folder; the runs that it has taken back."""
    undone: list[str] = []
    FileRuns(Stepping(is_store=is_store), f"file:{folder}/t").recover(lambda run: undone.append(run.id))
    return undone


def before(tmp_path: Path, mode: str) -> list[str]:
    tmp_path.mkdir(exist_ok=True)
    if mode == "create":
        return []
    assert attempt(FileRuns(LocalFiles(), f"file:{tmp_path}/t"), identity("first", "append")) == "done"
    return ["first"]


def steps_of(tmp_path: Path, mode: str, *, is_store: bool) -> int:
    folder = tmp_path / "whole"
    before(folder, mode)
    system = Stepping(is_store=is_store)
    assert attempt(FileRuns(system, f"file:{folder}/t"), identity("second", mode)) == "done"
    assert in_full(folder / "t") == ["second"] if mode != "append" else ["first", "second"]
    return len(system.steps)


def assert_whole(folder: Path, mode: str, old: list[str], *, happened: bool) -> None:
    new = ["second"] * happened
    assert in_full(folder / "t") == (old + new if mode == "append" or not happened else new)
    found = FileRuns(LocalFiles(), f"file:{folder}/t").records()
    assert [record.run.id for record in found] == [*new, *old]
    assert [entry.name for entry in folder.iterdir()] in (["t"], [])


@pytest.mark.parametrize("is_store", [False, True], ids=["disk", "store"])
@pytest.mark.parametrize("mode", MODES)
def test_killed_at_every_step(tmp_path: Path, mode: str, is_store: bool) -> None:
    """The next run takes back what does not count, says so once, and keeps what does."""
    seen = set()
    for step in range(1, steps_of(tmp_path, mode, is_store=is_store) + 1):
        for is_done_first in (False, True):
            folder = tmp_path / f"{step}-{is_done_first}"
            old = before(folder, mode)
            system = Stepping(is_store=is_store)
            system.stop_at, system.is_done_first = step, is_done_first
            with pytest.raises(KilledError):
                attempt(FileRuns(system, f"file:{folder}/t"), identity("second", mode, DEAD))
            undone = recovered(folder, is_store=is_store)
            happened = undone == [] and "second" in in_full(folder / "t")
            assert undone in ([], ["second"])
            assert_whole(folder, mode, old, happened=happened)
            seen.add(happened)
    assert seen == {False, True}


@pytest.mark.parametrize("is_store", [False, True], ids=["disk", "store"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("is_busy_for_long", [False, True])
def test_refused_at_every_step(tmp_path: Path, mode: str, is_store: bool, is_busy_for_long: bool) -> None:
    """A store that refuses once is asked what came of it; where it refuses everything, the next run decides."""

    def busy() -> BaseException:
        return RefusedError(UNREADABLE_TABLE, "busy")

    for step in range(1, steps_of(tmp_path, mode, is_store=is_store) + 1):
        for is_done_first in (False, True):
            folder = tmp_path / f"{step}-{is_done_first}"
            old = before(folder, mode)
            system = Stepping(is_store=is_store)
            system.stop_at, system.is_done_first, system.error = step, is_done_first, busy
            system.refusals = 0 if is_busy_for_long else 1
            try:
                told = attempt(FileRuns(system, f"file:{folder}/t"), identity("second", mode))
            except RefusedError:
                told = "undone"
            recovered(folder, is_store=is_store)
            happened = "second" in in_full(folder / "t")
            assert_whole(folder, mode, old, happened=happened)
            assert told == "left" or (told == "done") is happened
            assert told != "left" or is_busy_for_long


def test_runs_at_the_same_time_come_one_after_the_other(tmp_path: Path) -> None:
    """All of them count, each has a number of its own, and an overwrite leaves no files of others in its place."""
    before(tmp_path, "append")
    for mode in ("append", "overwrite"):
        path = f"file:{tmp_path}/t"
        told: list[str] = []

        def go(id: str, mode: str = mode, path: str = path, told: list[str] = told) -> None:
            told.append(attempt(FileRuns(LocalFiles(), path), identity(id, mode)))

        threads = [Thread(target=go, args=(f"{mode}{number}",)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert told == ["done"] * 6
    found = runs_of(str(tmp_path / "t"))
    assert [run.version for run in found] == list(range(13, 0, -1))
    assert in_full(tmp_path / "t") == [found[0].id]
    assert [entry.name for entry in tmp_path.iterdir()] == ["t"]


def test_a_run_that_does_not_end_its_commit_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "COMMITTED_WITHIN_SECONDS", 0.1)
    runs = FileRuns(LocalFiles(), f"file:{tmp_path}/t")
    slow = identity("slow", "append")
    with runs.staged(slow) as folder:
        runs.claimed(folder, slow)
        with pytest.raises(PipelineError, match="another run is being committed") as caught:
            attempt(runs, identity("next", "append"))
        assert caught.value.code is CONCURRENT_RUN
    assert not list(tmp_path.iterdir())


def test_another_attempt_of_the_run_is_not_committed_again(tmp_path: Path) -> None:
    runs = FileRuns(LocalFiles(), f"file:{tmp_path}/t")
    assert attempt(runs, identity("one", "append")) == "done"
    with pytest.raises(PipelineError, match="another attempt of the run `one` was committed"):
        attempt(runs, identity("one", "append"))
    assert [run.id for run in runs_of(str(tmp_path / "t"))] == ["one"]


DAMAGED = [
    "",
    "{",
    "[]",
    "null",
    '{"committed": "x"}',
    '{"committed": "2026-01-01", "version": 1, "files": []}',
]


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_record_is_refused(tmp_path: Path, text: str) -> None:
    """A run that was left out would be written once more."""
    runs = FileRuns(LocalFiles(), f"file:{tmp_path}/t")
    assert attempt(runs, identity("one", "append")) == "done"
    (tmp_path / "t" / "_schemac" / "one.json").write_text(text)
    for look in (runs.records, lambda: runs_of(str(tmp_path / "t"))):
        with pytest.raises(
            PipelineError, match=r"t/_schemac/one\.json` is not the record of a run"
        ) as caught:
            look()
        assert caught.value.code is UNREADABLE_TABLE
        assert "the run `one`" in str(caught.value.help)


def test_what_hadoop_keeps_beside_a_file_goes_with_it(tmp_path: Path) -> None:
    files = LocalFiles()
    (tmp_path / "a").write_text("1")
    (tmp_path / ".a.crc").write_text("2")
    files.rename(f"file:{tmp_path}/a", f"file:{tmp_path}/b/c")
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == [".c.crc", "c"]
    files.delete(f"file:{tmp_path}/b/c")
    assert not list((tmp_path / "b").iterdir())


def test_a_run_of_this_process_that_has_ended_is_dead(tmp_path: Path) -> None:
    """Its driver lives on, and could not clear up after it."""
    runs = FileRuns(LocalFiles(), f"file:{tmp_path}/t")
    undone: list[str] = []
    with runs.staged(identity("ended", "append")) as folder:
        stage(folder, "ended")
        runs.recover(lambda run: undone.append(run.id))
        assert (undone, runs.system.exists(folder.path)) == ([], True)
        folder.give_up()
    assert json.loads(runs.system.read(folder.file(staging.RUN_FILE)) or "")
    runs.recover(lambda run: undone.append(run.id))
    assert (undone, list(tmp_path.iterdir())) == (["ended"], [])


@pytest.mark.parametrize("happened", [False, True])
def test_a_table_that_shares_the_quarantine_of_files_leaves_what_counts(
    tmp_path: Path, happened: bool
) -> None:
    """The folder decides about the rows of its runs, whichever target the next run has."""
    sink, quarantine = sink_of(None), str(tmp_path / "q.lance")
    run = identity("killed", "append", DEAD)
    place = sink.prepare(
        quarantine, "append", storage_options=NO_STORAGE, storage_version=None, max_rows_per_file=10, run=run
    )
    place = replace(place, table=path_from_quarantine(quarantine, str(tmp_path / "t")))
    sink.open_staging(place)
    rows = pa.RecordBatch.from_pylist([{"run": run.id, "errors": []}], QUARANTINE_SCHEMA)
    sink.commit(place, TableForm(QUARANTINE_SCHEMA), sink.write(place, QUARANTINE_SCHEMA, iter([rows])))
    if happened:
        assert attempt(FileRuns(LocalFiles(), f"file:{tmp_path}/t"), run) == "done"
    for mark in tmp_path.rglob(staging.COMMITTER):
        mark.write_text(DEAD)
    sink.recover(str(tmp_path / "other.lance"), quarantine, NO_STORAGE)
    assert (tmp_path / "q.lance").exists() is happened
    assert not happened or lance.dataset(quarantine).count_rows() == 1
    assert not list(tmp_path.rglob("_staging-*"))
