"""A source file that changes or vanishes while it is read: the old table, a reason, and a next run that ends right."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline import runner
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.reading.paths import check_noted_files, file_states, write_states
from schemac.pipeline.runner import run
from schemac.pipeline.writing import engine_write
from schemac.pipeline.writing.sink_options import SinkOptions, encode_schema
from schemac.pipeline.writing.table_sink import TableWriter
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.identity import RunIdentity, this_process
from schemac.text.source.catalogue import CHANGED_INPUT
from tests.pipeline.killing import SCHEMA, batch

RECORDS = 200


def vanish(file: Path) -> None:
    file.unlink()


def grow(file: Path) -> None:
    with file.open("a") as opened:
        opened.write('{"id": -1}\n')


def be_replaced(file: Path) -> None:
    new = file.with_name("new")
    new.write_text(file.read_text().replace("1", "2"))
    os.replace(new, file)


CHANGES: tuple[Callable[[Path], None], ...] = (vanish, grow, be_replaced)


def source(folder: Path) -> Path:
    (folder / "in").mkdir()
    file = folder / "in" / "a.json"
    file.write_text("".join(f'{{"id": {i}}}\n' for i in range(RECORDS)))
    return file


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("named", ["in", "in/*.json", "in/a.json"])
def test_a_change_is_seen(tmp_path: Path, change: Callable[[Path], None], named: str) -> None:
    file = source(tmp_path)
    seen = file_states([str(tmp_path / named), "s3://rides/in"])
    write_states(seen, tmp_path / "seen.json")
    check_noted_files(str(tmp_path / "seen.json"))
    change(file)
    with pytest.raises(PipelineError) as caught:
        check_noted_files(str(tmp_path / "seen.json"))
    assert caught.value.code is CHANGED_INPUT
    assert "a.json" in caught.value.message


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_committed_of_a_source_that_changed(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    file = source(tmp_path)
    write_states(file_states([str(file)]), tmp_path / "seen.json")
    table = tmp_path / "t.lance"
    identity = RunIdentity("r", datetime.now(UTC), "", "create", this_process())
    options = SinkOptions(
        path=str(table), quarantine=str(tmp_path / "q.lance"), schema=encode_schema(SCHEMA),
        run=identity.to_json(), inputs=str(tmp_path / "seen.json"),
    )  # fmt: skip
    writer = TableWriter(options, False, True)
    written = writer.write(batch([1, 2], 1))
    change(file)
    with pytest.raises(PipelineError):
        writer.commit([written])
    writer.abort([written])
    assert not list(tmp_path.rglob("*.lance"))


@pytest.mark.spark
@pytest.mark.parametrize("change", CHANGES)
def test_run_on_a_source_that_changes(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    """The change comes after Spark has listed the files, and before a task opens them."""
    file, table = source(tmp_path), tmp_path / "t.lance"
    schema = pa.schema([pa.field("id", pa.int64(), False)])
    told = {"source": {"path": str(file)}, "target": {"path": str(table), "mode": "append"}}
    run(Job.model_validate(told), schema, spark=spark)
    # Another input, or it would be the run that is there.
    file.write_text("".join(f'{{"id": {1000 + i}}}\n' for i in range(RECORDS)))
    write = engine_write.write_to_engine

    def change_and_write(*rest: Any) -> Any:
        change(file)
        return write(*rest)

    monkeypatch.setattr(runner, "write_to_engine", change_and_write)
    with pytest.raises(PipelineError) as caught:
        run(Job.model_validate(told), schema, spark=spark)
    assert caught.value.code is CHANGED_INPUT
    assert "a.json" in caught.value.message
    monkeypatch.undo()
    assert lance.dataset(str(table)).count_rows() == RECORDS
    assert not list(tmp_path.rglob("_staging-*"))
    file.write_text('{"id": 7}\n{"id": "x"}\n')
    report = run(Job.model_validate(told), schema, spark=spark)
    assert (report.rows_in, report.rows_written, report.rows_quarantined) == (2, 1, 1)
    assert lance.dataset(str(table)).count_rows() == RECORDS + 1
    assert len(list((table / "data").iterdir())) == len(lance.dataset(str(table)).get_fragments())
