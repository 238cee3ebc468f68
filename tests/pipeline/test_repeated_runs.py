"""A run that was committed is not committed again, whatever died in between: every record counts once."""

import itertools
from pathlib import Path

import pytest

from schemac.rows.runs import staging
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.identity import this_process
from schemac.rows.runs.tables import runs_of
from tests.pipeline.killing import attempt
from tests.pipeline.test_killed_runs import (
    Killer,
    bad_runs,
    files_of,
    killer,
    named,
    table_of,
)

__all__ = ["killer"]

MODES = ("append", "overwrite")
BEFORE, NEW = [1, 2], [3, 4, 5]
STEPS_OF_A_QUICK_RUN = 5


def prepare(folder: Path, mode: str, *, is_there: bool) -> list[int]:
    """A folder with a table or without; the rows that the table has after the run."""
    folder.mkdir()
    if is_there:
        attempt(folder, "first", BEFORE, 2, "append", this_process())
    return sorted([*(BEFORE if is_there and mode == "append" else []), *NEW])


def again(folder: Path, mode: str) -> bool:
    return attempt(folder, "run", NEW, 3, mode, this_process())


def assert_once(folder: Path, mode: str, after: list[int], *, is_there: bool) -> None:
    """One more attempt finds everything as it is to be."""
    assert not again(folder, mode)
    assert table_of(folder) == after
    assert bad_runs(folder) == sorted(["first"] * (2 * is_there) + ["run"] * 3)
    runs = [run.id for run in runs_of(str(folder / "t.lance"))]
    assert runs == ["run", *["first"] * is_there]
    for name in ("t.lance", "q.lance"):
        assert not list((folder / name).glob("_staging-*"))
        assert files_of(folder / name) == named(folder / name)


def steps(count: int, *, all_of_them: bool) -> range:
    return range(1, count + 1, 1 if all_of_them else max(1, count // STEPS_OF_A_QUICK_RUN))


def kill_and_repeat(killer: Killer, folder: Path, mode: str, *, is_there: bool, all_steps: bool) -> None:
    def killed(where: Path, step: int | None) -> int:
        return killer(
            folder=str(where), run="run", good=NEW, bad=3, mode=mode, has_ids=False, kill_before=step
        )

    prepare(folder / "whole", mode, is_there=is_there)
    count = killed(folder / "whole", None)
    for step in steps(count, all_of_them=all_steps):
        after = prepare(folder / f"{step}", mode, is_there=is_there)
        killed(folder / f"{step}", step)
        again(folder / f"{step}", mode)
        assert_once(folder / f"{step}", mode, after, is_there=is_there)


def outcome(folder: Path, mode: str) -> str:
    """Who commits the run while another attempt stands still; one that has begun its commit is not overtaken."""
    try:
        return "retry" if again(folder, mode) else "orphan"
    except PipelineError as error:
        return "refused" if "another attempt" in error.message else str(error)


def freeze_and_repeat(
    killer: Killer, folder: Path, mode: str, *, is_there: bool, all_steps: bool
) -> set[str]:
    """What goes on without its driver, and is slow: the retry comes to its end first, or says that it cannot."""
    seen: set[str] = set()
    for step in itertools.count(1 if all_steps else 3, 1 if all_steps else STEPS_OF_A_QUICK_RUN):
        after = prepare(folder / f"{step}", mode, is_there=is_there)
        process = killer(
            folder=str(folder / f"{step}"), run="run", good=NEW, bad=3, mode=mode, freeze_before=step
        )
        if not process:
            return seen
        seen.add(outcome(folder / f"{step}", mode))
        killer(thaw=process)
        again(folder / f"{step}", mode)
        assert_once(folder / f"{step}", mode, after, is_there=is_there)
    return seen


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_repeat_a_run_that_was_killed(killer: Killer, tmp_path: Path, mode: str, is_there: bool) -> None:
    kill_and_repeat(killer, tmp_path, mode, is_there=is_there, all_steps=False)


@pytest.mark.long
@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_repeat_a_run_killed_before_every_step(
    killer: Killer, tmp_path: Path, mode: str, is_there: bool
) -> None:
    kill_and_repeat(killer, tmp_path, mode, is_there=is_there, all_steps=True)


@pytest.mark.parametrize("mode", MODES)
def test_repeat_a_run_whose_orphan_goes_on(
    killer: Killer, tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "COMMITTED_WITHIN_SECONDS", 0.2)
    seen = freeze_and_repeat(killer, tmp_path, mode, is_there=True, all_steps=False)
    assert seen <= {"retry", "orphan", "refused"}
    assert len(seen) > 1


@pytest.mark.long
@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_repeat_a_run_whose_orphan_goes_on_at_every_step(
    killer: Killer, tmp_path: Path, mode: str, is_there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "COMMITTED_WITHIN_SECONDS", 0.2)
    seen = freeze_and_repeat(killer, tmp_path, mode, is_there=is_there, all_steps=True)
    assert seen == {"retry", "orphan", "refused"}
