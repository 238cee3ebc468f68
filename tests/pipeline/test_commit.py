"""The end of a run, step by step and without Spark: what is committed, taken back, and left as it was."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

from schemac.engines.lance.runs import sink
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.writing.sink_options import SinkOptions, encode_schema
from schemac.pipeline.writing.table_sink import TableWriter, WrittenRows
from schemac.rows.judging.reasons import REASON
from schemac.rows.runs.tables import WriteTarget
from schemac.text.source.catalogue import CONCURRENT_RUN

SCHEMA = pa.schema([pa.field("id", pa.int64(), False)])


def batch(good: list[int], bad: int = 0) -> Iterator[pa.RecordBatch]:
    reasons = [[{"path": "id", "rule": "cast", "value": "x"}]] * bad
    columns = [
        pa.array([*good, *[0] * bad], pa.int64()),
        pa.array([*[None] * len(good), *reasons], pa.list_(REASON)),
        pa.array(["raw"] * (len(good) + bad)),
    ]
    yield pa.record_batch(columns, names=["id", "_errors", "_raw"])


def writer(tmp_path: Path, mode: str = "append", **options: Any) -> TableWriter:
    paths = {"path": str(tmp_path / "t.lance"), "quarantine": str(tmp_path / "q.lance")}
    return TableWriter(
        SinkOptions(schema=encode_schema(SCHEMA), **{**paths, **options}), mode == "overwrite", True
    )


def go(tmp_path: Path, good: list[int], bad: int = 0, mode: str = "append", **options: Any) -> None:
    one = writer(tmp_path, mode, **options)
    one.commit([one.write(batch(good, bad))])


def ids(tmp_path: Path, version: int | None = None) -> list[int]:
    found: list[int] = (
        lance.dataset(str(tmp_path / "t.lance"), version=version).to_table().column("id").to_pylist()
    )
    return found


def bad_rows(tmp_path: Path) -> int:
    return int(lance.dataset(str(tmp_path / "q.lance")).count_rows())


def staged(tmp_path: Path) -> list[str]:
    return [str(path) for path in tmp_path.rglob("_staging-*")]


def named_files(path: Path) -> set[str]:
    return {
        file.path for fragment in lance.dataset(str(path)).get_fragments() for file in fragment.data_files()
    }


def fail_on_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    commit = sink._commit

    def failing(place: WriteTarget, schema: pa.Schema, fragments: list[str]) -> int:
        if place.path.endswith("t.lance"):
            raise OSError("the disk is full")
        return commit(place, schema, fragments)

    monkeypatch.setattr(sink, "_commit", failing)


@pytest.mark.parametrize("is_new", [True, False])
def test_quarantine_is_taken_back_when_the_table_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_new: bool
) -> None:
    if not is_new:
        go(tmp_path, [1], 2)
    fail_on_the_table(monkeypatch)
    one = writer(tmp_path)
    messages = [one.write(batch([2], 3))]
    with pytest.raises(OSError, match="full"):
        one.commit(messages)
    one.abort(messages)
    assert staged(tmp_path) == []
    if is_new:
        assert list(tmp_path.iterdir()) == []
        return
    assert ids(tmp_path) == [1]
    assert bad_rows(tmp_path) == 2
    assert set(os.listdir(tmp_path / "t.lance/data")) == named_files(tmp_path / "t.lance")


def test_rows_that_are_committed_survive_an_abort(tmp_path: Path) -> None:
    """Where the report cannot be written after the commit, Spark asks for an abort."""
    one = writer(tmp_path, report=str(tmp_path / "no folder/report.json"))
    messages = [one.write(batch([1, 2], 1))]
    with pytest.raises(OSError, match="no folder"):
        one.commit(messages)
    one.abort(messages)
    assert ids(tmp_path) == [1, 2]
    assert bad_rows(tmp_path) == 1


def test_appends_at_the_same_time_both_arrive(tmp_path: Path) -> None:
    go(tmp_path, [1])
    one, other = writer(tmp_path), writer(tmp_path)
    first, second = [one.write(batch([2], 1))], [other.write(batch([3], 1))]
    one.commit(first)
    other.commit(second)
    assert sorted(ids(tmp_path)) == [1, 2, 3]
    assert bad_rows(tmp_path) == 2
    assert staged(tmp_path) == []


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_table_that_was_replaced_meanwhile_is_left_alone(tmp_path: Path, mode: str) -> None:
    go(tmp_path, [1])
    one = writer(tmp_path, mode)
    messages = [one.write(batch([2], 1))]
    go(tmp_path, [9], mode="overwrite")
    with pytest.raises(PipelineError, match="run it again") as caught:
        one.commit(messages)
    one.abort(messages)
    assert caught.value.code is CONCURRENT_RUN
    assert ids(tmp_path) == [9]
    assert not (tmp_path / "q.lance").exists()
    assert staged(tmp_path) == []


def test_table_that_was_made_meanwhile_is_left_alone(tmp_path: Path) -> None:
    one = writer(tmp_path)
    messages = [one.write(batch([2], 1))]
    go(tmp_path, [9])
    with pytest.raises(PipelineError, match="a table at") as caught:
        one.commit(messages)
    assert caught.value.code is CONCURRENT_RUN
    assert "mode: append" in (caught.value.help or "")
    one.abort(messages)
    assert ids(tmp_path) == [9]
    assert set(os.listdir(tmp_path / "t.lance/data")) == named_files(tmp_path / "t.lance")
    assert not (tmp_path / "q.lance").exists()


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_too_many_bad_rows_leave_old_tables_as_they_were(tmp_path: Path, mode: str) -> None:
    go(tmp_path, [1], 1)
    before = sorted(tmp_path.rglob("*"))
    one = writer(tmp_path, mode, max_quarantined=json.dumps(0.5), report=str(tmp_path / "report"))
    messages = [one.write(batch([2], 2))]
    with pytest.raises(PipelineError, match="2 of 3 records do not fit"):
        one.commit(messages)
    one.abort(messages)
    (tmp_path / "report").unlink()
    assert sorted(tmp_path.rglob("*")) == before
    assert ids(tmp_path) == [1]
    assert bad_rows(tmp_path) == 1


def test_overwrite_keeps_old_versions_readable(tmp_path: Path) -> None:
    go(tmp_path, [1])
    go(tmp_path, [2, 3], mode="overwrite")
    go(tmp_path, [], 1, mode="overwrite")
    assert ids(tmp_path) == []
    assert ids(tmp_path, version=1) == [1]
    assert ids(tmp_path, version=2) == [2, 3]


def test_first_attempt_of_a_task_leaves_nothing(tmp_path: Path) -> None:
    one = writer(tmp_path)

    def failing() -> Iterator[pa.RecordBatch]:
        yield from batch([1], 1)
        raise RuntimeError("lost")

    with pytest.raises(RuntimeError, match="lost"):
        one.write(failing())
    one.commit([one.write(batch([1], 1)), WrittenRows()])
    assert ids(tmp_path) == [1]
    assert bad_rows(tmp_path) == 1
    for name in ("t.lance", "q.lance"):
        assert set(os.listdir(tmp_path / name / "data")) == named_files(tmp_path / name)
