"""A table whose schema is changed while a run is under way, and between two runs: no value lands in another column."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

from schemac.pipeline.writing.sink_options import SinkOptions, encode_schema
from schemac.pipeline.writing.table_sink import TableWriter, WrittenRows
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.identity import RunIdentity, this_process
from schemac.rows.runs.storage import NO_STORAGE
from schemac.rows.runs.tables import sink_of
from schemac.text.source.catalogue import CONCURRENT_RUN, SCHEMA_MISMATCH
from tests.pipeline.killing import SCHEMA, batch


def begun(
    folder: Path, run: str, good: list[int], bad: int = 1, mode: str = "append"
) -> tuple[TableWriter, WrittenRows]:
    table, quarantine = str(folder / "t.lance"), str(folder / "q.lance")
    sink_of(None).recover(table, quarantine, NO_STORAGE)
    identity = RunIdentity(run, datetime.now(UTC), "", mode, this_process())
    options = SinkOptions(
        path=table, quarantine=quarantine, schema=encode_schema(SCHEMA), run=identity.to_json()
    )
    writer = TableWriter(options, mode == "overwrite", True)
    return writer, writer.write(batch(good, bad))


def write(folder: Path, run: str, good: list[int], mode: str = "append") -> None:
    writer, written = begun(folder, run, good, mode=mode)
    writer.commit([written])


def add(table: Any) -> None:
    table.add_columns({"more": "id * 10"})


def drop(table: Any) -> None:
    table.drop_columns(["s"])


def rename(table: Any) -> None:
    table.alter_columns({"path": "s", "name": "t"})


def retype(table: Any) -> None:
    table.alter_columns({"path": "id", "data_type": pa.int32()})


def swap(table: Any) -> None:
    """The name of a column means another one now."""
    table.add_columns({"u": "concat(s, '!')"})
    table = lance.dataset(table.uri)
    table.drop_columns(["s"])
    lance.dataset(table.uri).alter_columns({"path": "u", "name": "s"})


CHANGES: tuple[Callable[[Any], None], ...] = (add, drop, rename, retype, swap)


@pytest.mark.parametrize("change", [change for change in CHANGES if change is not rename])
def test_a_change_while_a_run_is_under_way(tmp_path: Path, change: Callable[[Any], None]) -> None:
    path = tmp_path / "t.lance"
    write(tmp_path, "first", [1, 2])
    late, written = begun(tmp_path, "late", [3])
    change(lance.dataset(str(path)))
    before = lance.dataset(str(path)).to_table()
    with pytest.raises(PipelineError) as caught:
        late.commit([written])
    assert caught.value.code in (CONCURRENT_RUN, SCHEMA_MISMATCH)
    late.abort([written])
    assert lance.dataset(str(path)).to_table().equals(before)
    assert set(lance.dataset(str(tmp_path / "q.lance")).to_table()["run"].to_pylist()) == {"first"}
    assert not list(tmp_path.rglob("_staging-*"))


def test_a_column_that_is_renamed_while_a_run_is_under_way_keeps_its_values(tmp_path: Path) -> None:
    """Lance knows a column by its id."""
    write(tmp_path, "first", [1])
    late, written = begun(tmp_path, "late", [3])
    rename(lance.dataset(str(tmp_path / "t.lance")))
    late.commit([written])
    rows = lance.dataset(str(tmp_path / "t.lance")).to_table().to_pylist()
    assert rows == [{"id": 1, "t": "text"}, {"id": 3, "t": "text"}]


@pytest.mark.parametrize("change", CHANGES[:4])
def test_a_change_between_two_runs(tmp_path: Path, change: Callable[[Any], None]) -> None:
    """Rows that the table cannot take are refused before a task writes; `overwrite` has the schema of the run."""
    path = tmp_path / "t.lance"
    write(tmp_path, "first", [1, 2])
    change(lance.dataset(str(path)))
    with pytest.raises(PipelineError) as caught:
        begun(tmp_path, "second", [3])
    assert caught.value.code is SCHEMA_MISMATCH
    assert lance.dataset(str(path)).count_rows() == 2
    write(tmp_path, "third", [9], mode="overwrite")
    assert lance.dataset(str(path)).to_table(columns=SCHEMA.names).to_pylist() == [{"id": 9, "s": "text"}]
    assert not list(tmp_path.rglob("_staging-*"))
