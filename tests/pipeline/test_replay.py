"""Rows of the quarantine that fit now move into the table: nothing is twice, nothing is gone, whatever dies. Without Spark."""

from pathlib import Path

import lance
import pyarrow as pa
import pytest

from schemac.engines.lance.runs.recovery import recover
from schemac.pipeline.writing.sink_options import SinkOptions, encode_schema
from schemac.pipeline.writing.table_sink import TableWriter
from schemac.rows.judging.reasons import REASON
from schemac.rows.runs.storage import NO_STORAGE
from schemac.rows.runs.tables import runs_of
from tests.pipeline.killing import SCHEMA, replay
from tests.pipeline.test_killed_runs import Killer, files_of, killer, named

__all__ = ["killer"]

STEPS_OF_A_QUICK_RUN = 3


def prepare(folder: Path) -> None:
    """Two runs with rows in the quarantine, which are told apart by their numbers."""
    folder.mkdir()
    for run, numbers in (("one", range(5)), ("two", range(5, 8))):
        options = SinkOptions(
            path=str(folder / "t.lance"),
            quarantine=str(folder / "q.lance"),
            schema=encode_schema(SCHEMA),
            run=run,
        )
        writer = TableWriter(options, False, True)
        count = len(numbers)
        reasons = [[{"path": "id", "rule": "cast", "value": str(number)}] for number in numbers]
        columns = {
            "id": pa.array([None] * count, pa.int64()),
            "s": pa.array(["x"] * count),
            "_errors": pa.array(reasons, pa.list_(REASON)),
            "_raw": pa.array([f"raw{number}" for number in numbers]),
        }
        writer.commit([writer.write(iter([pa.record_batch(columns)]))])


def table_of(folder: Path) -> list[int]:
    return sorted(lance.dataset(str(folder / "t.lance")).to_table()["id"].to_pylist())


def quarantine_of(folder: Path) -> dict[int, str]:
    """The number of each row, and the run that it is of; its reason has the number too."""
    rows = lance.dataset(str(folder / "q.lance")).to_table().to_pylist()
    found = {int(row["raw"].removeprefix("raw")): row["run"] for row in rows}
    assert len(found) == len(rows)
    assert all(row["errors"][0]["value"] == row["raw"].removeprefix("raw") for row in rows)
    return found


ALL = {number: "one" if number < 5 else "two" for number in range(8)}


def assert_whole(folder: Path) -> bool:
    """The state before or after the even numbers moved; whether it is the latter."""
    is_done = any(run.id == "replay" for run in runs_of(str(folder / "t.lance")))
    assert table_of(folder) == ([100, 102, 104, 106] if is_done else [])
    assert quarantine_of(folder) == {number: run for number, run in ALL.items() if number % 2 or not is_done}
    for name in ("t.lance", "q.lance"):
        assert not list((folder / name).glob("_staging-*"))
        assert files_of(folder / name) <= named(folder / name)
    return is_done


def test_move_what_fits(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    prepare(folder)
    replay(folder, "replay", even=True)
    assert assert_whole(folder)
    run = runs_of(str(folder / "t.lance"))[0]
    assert (run.id, run.rows, run.rows_quarantined) == ("replay", 4, 0)
    version = lance.dataset(str(folder / "t.lance")).version
    replay(folder, "nothing", even=True)
    assert assert_whole(folder)
    assert lance.dataset(str(folder / "t.lance")).version == version
    replay(folder, "rest", even=False)
    assert table_of(folder) == [100 + number for number in range(8)]
    assert quarantine_of(folder) == {}


def kill_and_go_on(killer: Killer, folder: Path, step: int | None) -> tuple[int, bool]:
    """The steps that were taken, and whether the rows had moved."""
    prepare(folder)
    taken = killer(folder=str(folder), run="replay", even=True, kill_before=step)
    recover(str(folder / "t.lance"), str(folder / "q.lance"), NO_STORAGE)
    is_done = assert_whole(folder)
    assert is_done or step is not None
    replay(folder, "next" if is_done else "replay", even=True)
    assert assert_whole(folder)
    return taken, is_done


def test_killed_replays_are_undone_or_done(killer: Killer, tmp_path: Path) -> None:
    count, _ = kill_and_go_on(killer, tmp_path / "whole", None)
    steps = [*range(2, count, count // STEPS_OF_A_QUICK_RUN), count]
    assert {kill_and_go_on(killer, tmp_path / f"{step}", step)[1] for step in steps} == {True, False}


@pytest.mark.long
def test_replays_killed_before_every_step(killer: Killer, tmp_path: Path) -> None:
    count, _ = kill_and_go_on(killer, tmp_path / "whole", None)
    for step in range(1, count + 1):
        kill_and_go_on(killer, tmp_path / f"{step}", step)


def test_replay_that_fails_brings_back_what_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where another run has written to the quarantine in between."""
    from schemac.engines.lance.runs.sink import LanceSink

    folder = tmp_path / "x"
    prepare(folder)
    rows = lance.dataset(str(folder / "q.lance")).to_table(limit=1).to_pylist()
    other = [
        {**rows[0], "run": "other", "raw": "raw9", "errors": [{"path": "id", "rule": "cast", "value": "9"}]}
    ]

    def failing(*arguments: object, **named: object) -> int:
        schema = lance.dataset(str(folder / "q.lance")).schema
        lance.write_dataset(pa.Table.from_pylist(other, schema), str(folder / "q.lance"), mode="append")
        raise OSError("the disk is full")

    monkeypatch.setattr(LanceSink, "commit", failing)
    with pytest.raises(OSError, match="the disk is full"):
        replay(folder, "replay", even=True)
    assert quarantine_of(folder) == {**ALL, 9: "other"}
    assert table_of(folder) == []
