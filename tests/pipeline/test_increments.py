"""Runs that take only what is new: incremental sources, whose state is in the table, and streams, whose state is a checkpoint."""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reruns import incremental
from schemac.pipeline.reruns.incremental import FILES, STATE, ReadFiles, state_of
from schemac.pipeline.runner import RunReport, run
from schemac.pipeline.stream import run_or_stream, run_stream, summary
from schemac.rows.runs.identity import RunRequest
from schemac.rows.runs.tables import runs_of
from schemac.text.source.catalogue import CHANGED_FILE, CHANGED_INPUT, LOST_HISTORY
from tests.pipeline.conftest import rows_of

ONE = pa.schema([pa.field("id", pa.int32(), False)])


def job_of(folder: Path, source: dict[str, Any], **settings: Any) -> Job:
    target = {"path": str(folder / "out.lance"), "mode": "append"}
    return Job.model_validate({"source": source, "target": target, **settings})


def write(path: Path, *ids: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"id": id}) + "\n" for id in ids))
    return path


def ids_of(folder: Path) -> list[int]:
    return sorted(row["id"] for row in rows_of(str(folder / "out.lance")))


@pytest.mark.spark
def test_a_run_takes_only_new_files(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a run found nothing, was made by another program, or carries the files of all before it."""
    monkeypatch.setattr(incremental, "LINKS_TO_A_STATE", 3)
    schema = ONE.append(pa.field("day", pa.string(), False))
    job = job_of(tmp_path, {"path": str(tmp_path / "in"), "mode": "incremental"})

    def go() -> RunReport:
        return run(job, schema, spark=spark)

    for i in range(5):
        write(tmp_path / "in" / f"day={i}" / "a.json", i, "wrong")
        report = go()
        assert (report.rows_written, report.rows_quarantined) == (1, 1)
        version = report.table_version
        again = go()
        assert (again.is_repeat, again.table_version) == (True, version)
        touched = tmp_path / "in" / "day=0" / "a.json"
        os.utime(touched, (10**9 + i, 10**9 + i))
        assert go().is_repeat, "a file that was touched has the same bytes"
        once_more = run(job, schema, request=RunRequest(again=True), spark=spark)
        assert (once_more.rows_in, once_more.table_version) == (0, version)
        if i == 2:
            lance.write_dataset(pa.table({"id": pa.array([100], pa.int32()), "day": ["x"]}, schema=schema),
                                str(tmp_path / "out.lance"), mode="append")  # fmt: skip
    assert ids_of(tmp_path) == [0, 1, 2, 3, 4, 100]
    states = [STATE in found.properties for found in runs_of(str(tmp_path / "out.lance"))]
    assert states == [True, False, True, False, False]
    quarantine = lance.dataset(str(tmp_path / "out.quarantine.lance"))
    assert quarantine.count_rows() == 5


@pytest.mark.spark
def test_a_file_that_changed_follows_the_declared_rule(spark: SparkSession, tmp_path: Path) -> None:
    source = {"path": str(tmp_path / "in"), "mode": "incremental"}
    write(tmp_path / "in" / "a.json", 1)
    run(job_of(tmp_path, source), ONE, spark=spark)
    write(tmp_path / "in" / "a.json", 1, 2)
    write(tmp_path / "in" / "b.json", 3)
    with pytest.raises(PipelineError) as caught:
        run(job_of(tmp_path, source), ONE, spark=spark)
    assert (caught.value.code, caught.value.place) == (CHANGED_FILE, ("source", "mode"))
    assert ids_of(tmp_path) == [1], "nothing of a run that stops"
    run(job_of(tmp_path, {**source, "changed": "ignore"}), ONE, spark=spark)
    assert ids_of(tmp_path) == [1, 3]
    run(job_of(tmp_path, {**source, "changed": "read"}), ONE, spark=spark)
    assert ids_of(tmp_path) == [1, 1, 2, 3]
    run(job_of(tmp_path, source), ONE, spark=spark)
    assert ids_of(tmp_path) == [1, 1, 2, 3]


@pytest.mark.spark
def test_a_state_that_was_cleaned_up_is_not_guessed(spark: SparkSession, tmp_path: Path) -> None:
    job = job_of(tmp_path, {"path": str(tmp_path / "in"), "mode": "incremental"})
    for i in range(2):
        write(tmp_path / "in" / f"{i}.json", i)
        run(job, ONE, spark=spark)
    runs = runs_of(str(tmp_path / "out.lance"))
    assert set(state_of(runs).files) == {f"file:{tmp_path}/in/{i}.json" for i in range(2)}
    with pytest.raises(PipelineError) as caught:
        state_of(runs[:1])
    assert caught.value.code is LOST_HISTORY
    assert state_of([]) == ReadFiles()
    assert FILES in runs[0].properties


def folder_of(path: Path) -> Path:
    path.mkdir()
    return path


STREAMS: dict[str, Callable[[Path, int], object]] = {
    "json": lambda path, id: write(path / f"{id}.json", id, "wrong"),
    "csv": lambda path, id: (folder_of(path / f"day={id}") / f"{id}.csv").write_text(
        f'id\n{id}\n"wr\nong"\n'
    ),
    "geojson": lambda path, id: (path / f"{id}.json").write_text(
        f'{{"features": [{{"id": {id}, "properties": null}}, {{"id": "wrong"}}]}}'
    ),
    "parquet": lambda path, id: pq.write_table(pa.table({"id": [id, 2**40]}), path / f"{id}.parquet"),
    "lance": lambda path, id: lance.write_dataset(
        pa.table({"id": [id, 2**40]}), str(path / "t.lance"), mode="append" if id else "create"
    ),
}


@pytest.mark.parametrize(
    "form",
    [pytest.param(form, marks=pytest.mark.long) if form in ("csv", "geojson") else form for form in STREAMS],
)
def test_a_stream_takes_what_is_available(spark: SparkSession, tmp_path: Path, form: str) -> None:
    """In three runs; the second is as if it were killed between the table's commit and the checkpoint's."""
    folder = tmp_path / "in"
    folder.mkdir()
    path = folder / "t.lance" if form == "lance" else folder
    options = {} if form == "lance" else {"maxFilesPerTrigger": 1}
    source = {"path": str(path), "format": form, "options": options}
    job = job_of(tmp_path, source, trigger="available-now")
    STREAMS[form](folder, 0)
    STREAMS[form](folder, 1)
    reports = run_stream(job, ONE, spark=spark)
    told = summary(reports, job)
    assert (told.rows_written, told.rows_quarantined) == (2, 2)
    assert len(reports) == (1 if form == "lance" else 2)
    commits = sorted(
        (tmp_path / "out.checkpoint" / "commits").glob("[0-9]*"), key=lambda file: int(file.name)
    )
    commits[-1].unlink()
    for file in (tmp_path / "out.checkpoint" / "commits").glob(f".{commits[-1].name}.*"):
        file.unlink()
    STREAMS[form](folder, 2)
    run_stream(job, ONE, spark=spark)
    assert ids_of(tmp_path) == [0, 1, 2]
    assert run_stream(job, ONE, spark=spark) == []
    assert lance.dataset(str(tmp_path / "out.quarantine.lance")).count_rows() == 3
    assert run_or_stream(job, ONE, spark=spark).rows_in == 0
    ids = [found.id for found in runs_of(str(tmp_path / "out.lance"))]
    assert len(set(ids)) == len(ids) == len(reports) + 1
    assert len({id.partition("-")[0] for id in ids}) == 1


class Messages(DataSource):  # type: ignore[misc]  # PySpark is not followed
    """A source as kafka's: rows whose value is bytes."""

    @classmethod
    def name(cls) -> str:
        return "messages"

    def schema(self) -> str:
        return "key string, value binary"

    def streamReader(self, schema: Any) -> "MessageReader":  # noqa: N802  PySpark's name
        return MessageReader()


class MessageReader(DataSourceStreamReader):  # type: ignore[misc]  # PySpark is not followed
    def initialOffset(self) -> dict[str, int]:  # noqa: N802  PySpark's name
        return {"n": 0}

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, int]:  # noqa: N802  PySpark's name
        return {"n": 5}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        return [InputPartition(n) for n in range(start["n"], end["n"])]

    def read(self, partition: InputPartition) -> Iterator[tuple[str, bytes]]:
        text = "{broken" if partition.value == 4 else json.dumps({"id": partition.value})
        yield ("k", text.encode())


@pytest.mark.spark
def test_a_stream_of_a_format_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    """An expression parses the value; one that cannot be parsed is quarantined."""
    spark.dataSource.register(Messages)
    fields = {"id": {"expr": "parse_json(cast(value as string)):id::int"}}
    job = job_of(tmp_path, {"format": "messages"}, fields=fields, trigger="available-now")
    (report,) = run_stream(job, ONE, spark=spark)
    assert ids_of(tmp_path) == [0, 1, 2, 3]
    assert [(reason.path, reason.rule) for reason in report.reasons] == [("id", "expression")]
    assert run_stream(job, ONE, spark=spark) == []


@pytest.mark.spark
def test_a_stream_of_a_table_refuses_rows_that_changed(spark: SparkSession, tmp_path: Path) -> None:
    table = lance.write_dataset(pa.table({"id": [1, 2]}), str(tmp_path / "t.lance"))
    job = job_of(tmp_path, {"path": str(tmp_path / "t.lance"), "format": "lance"}, trigger="available-now")
    run_stream(job, ONE, spark=spark)
    table.delete("id = 1")
    with pytest.raises(PipelineError) as caught:
        run_stream(job, ONE, spark=spark)
    assert caught.value.code is CHANGED_INPUT
    assert ids_of(tmp_path) == [1, 2]


KILLED = """
    import os, signal
    from pathlib import Path
    from schemac.pipeline import stream
    from tests.pipeline.test_increments import ONE, job_of

    folder = Path({folder!r})
    ran = stream.run

    def killed(*arguments, **settings):
        ran(*arguments, **settings)
        os.kill(os.getpid(), signal.SIGKILL)

    stream.run = killed
    job = job_of(folder, {{"path": str(folder / "in")}}, trigger="available-now")
    stream.run_stream(job, ONE)
"""


def die_after_the_table(folder: Path) -> None:
    """Leave the stream by an error, which spares starting another Spark."""

    def died(*arguments: Any, **settings: Any) -> None:
        run(*arguments, **settings)
        raise InterruptedError

    job = job_of(folder, {"path": str(folder / "in")}, trigger="available-now")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("schemac.pipeline.stream.run", died)
        with pytest.raises(InterruptedError):
            run_stream(job, ONE)


def be_killed_after_the_table(folder: Path) -> None:
    program = textwrap.dedent(KILLED.format(folder=str(folder)))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[2], check=False, timeout=300
    )
    assert done.returncode == -9


BY_KILL = pytest.param(
    be_killed_after_the_table,
    marks=[
        pytest.mark.long,
        pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL"),
    ],
)


@pytest.mark.parametrize("die", [die_after_the_table, BY_KILL])
def test_a_death_between_table_and_checkpoint_doubles_nothing(
    spark: SparkSession, tmp_path: Path, die: Callable[[Path], None]
) -> None:
    write(tmp_path / "in" / "a.json", 1, 2, "wrong")
    die(tmp_path)
    assert ids_of(tmp_path) == [1, 2]
    assert not list((tmp_path / "out.checkpoint" / "commits").glob("[0-9]*"))
    write(tmp_path / "in" / "b.json", 3)
    job = job_of(tmp_path, {"path": str(tmp_path / "in")}, trigger="available-now")
    run_stream(job, ONE, spark=spark)
    assert ids_of(tmp_path) == [1, 2, 3]
    assert lance.dataset(str(tmp_path / "out.quarantine.lance")).count_rows() == 1
