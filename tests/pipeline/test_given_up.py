"""What becomes of a run that Spark gives up, or whose driver does: it counts or it does not, and whoever says so knows."""

from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from schemac.pipeline import runner, stream
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reruns.repeats import commit_in_spite_of, fence_and_find_commit
from schemac.pipeline.spark.failures import error_of_text
from schemac.pipeline.writing.format_sink import FormatTarget
from schemac.pipeline.writing.sink_options import SinkReport
from schemac.pipeline.writing.table_sink import TableWriter
from schemac.rows.runs import staging
from schemac.rows.runs.storage import NO_STORAGE
from schemac.rows.runs.tables import Sink, WriteTarget, runs_of, sink_of
from tests.pipeline.killing import batch
from tests.pipeline.test_altered_meanwhile import begun, write

ONE_COLUMN = pa.schema([pa.field("id", pa.int64(), False)])
GONE = error_of_text("Answer from Java side is empty")


class KilledError(BaseException):
    """Stands for a process that is killed: nothing of it catches this."""


def job_of(folder: Path) -> Job:
    settings = {
        "source": {"path": str(folder / "in.json")},
        "target": {"path": str(folder / "t.lance"), "mode": "append"},
        "quarantine": {"path": str(folder / "q.lance")},
    }
    return Job.model_validate(settings)


def die_before(monkeypatch: pytest.MonkeyPatch, name: str, dataset: str) -> None:
    """Kill whoever is to do this with that dataset."""
    sink = type(sink_of(None))
    step: Callable[..., Any] = getattr(sink, name)

    def dying(self: Sink, place: WriteTarget, *rest: Any, **named: Any) -> Any:
        if Path(place.path).name == dataset:
            raise KilledError
        return step(self, place, *rest, **named)

    monkeypatch.setattr(sink, name, dying)


def commit_and_die(writer: TableWriter, written: Any, monkeypatch: pytest.MonkeyPatch, *at: str) -> None:
    with monkeypatch.context() as patched:
        die_before(patched, *at)
        with pytest.raises(KilledError):
            writer.commit([written])


def bad(folder: Path) -> list[str]:
    return sorted(lance.dataset(str(folder / "q.lance")).to_table()["run"].to_pylist())


def good(folder: Path) -> list[int]:
    return sorted(lance.dataset(str(folder / "t.lance")).to_table()["id"].to_pylist())


@pytest.mark.parametrize("others", [False, True])
def test_rows_leave_the_quarantine_when_who_commits_was_killed_between_its_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: bool
) -> None:
    """Spark has another process give up what the killed one had begun."""
    write(tmp_path, "first", [1, 2])
    writer, written = begun(tmp_path, "killed", [3])
    commit_and_die(writer, written, monkeypatch, "commit", "t.lance")
    assert bad(tmp_path) == ["first", "killed"]
    if others:
        write(tmp_path, "other", [4])
    writer.abort([written])
    assert good(tmp_path) == ([1, 2, 4] if others else [1, 2])
    assert bad(tmp_path) == (["first", "other"] if others else ["first"])
    assert not list(tmp_path.rglob("_staging-*"))


def test_rows_of_a_run_that_happened_stay_when_it_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "first", [1, 2])
    writer, written = begun(tmp_path, "killed", [3])
    commit_and_die(writer, written, monkeypatch, "close_staging", "t.lance")
    writer.abort([written])
    assert (good(tmp_path), bad(tmp_path)) == ([1, 2, 3], ["first", "killed"])
    assert not list(tmp_path.rglob("_staging-*"))


def test_another_attempt_of_the_run_keeps_its_rows_in_the_quarantine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stands between its commits when this one gives up."""
    write(tmp_path, "first", [1, 2])
    writer, written = begun(tmp_path, "twice", [3])
    late = TableWriter(
        replace(writer.options, run=replace(writer.run, process="x-1-1").to_json()), False, True
    )
    more = late.write(batch([3], 1))
    commit_and_die(writer, written, monkeypatch, "commit", "t.lance")
    late.abort([more])
    assert bad(tmp_path) == ["first", "twice"]


@pytest.mark.parametrize("name", ["claim", "commit", "close_staging"])
def test_the_driver_knows_whether_the_run_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Java is gone, and nobody gives the run up but its driver, which lives on."""
    write(tmp_path, "first", [1, 2])
    writer, written = begun(tmp_path, "second", [3])
    commit_and_die(writer, written, monkeypatch, name, "t.lance")
    for mark in tmp_path.rglob(staging.COMMITTER):
        mark.write_text(f"{writer.run.process}0")  # a process that has been killed
    job, sink = job_of(tmp_path), sink_of(None)
    if name == "close_staging":
        found = commit_in_spite_of(GONE, writer.run, job, sink)
        assert (found.identity, found.version, found.rows) == (writer.run, 2, 1)
    else:
        with pytest.raises(PipelineError) as caught:
            commit_in_spite_of(GONE, writer.run, job, sink)
        assert caught.value is GONE
    assert (good(tmp_path), bad(tmp_path)) == (
        ([1, 2, 3], ["first", "second"]) if name == "close_staging" else ([1, 2], ["first"])
    )
    assert not list(tmp_path.rglob("_staging-*"))


def test_a_worker_that_goes_on_cannot_commit_what_its_driver_gave_up(tmp_path: Path) -> None:
    write(tmp_path, "first", [1, 2])
    writer, written = begun(tmp_path, "second", [3])
    paths = str(tmp_path / "t.lance"), str(tmp_path / "q.lance")
    assert fence_and_find_commit(writer.run, *paths, sink_of(None), NO_STORAGE) is None
    with pytest.raises(PipelineError, match="considered this run dead"):
        writer.commit([written])
    assert good(tmp_path) == [1, 2]


def test_no_promise_where_a_worker_is_still_committing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "COMMITTED_WITHIN_SECONDS", 0.2)
    write(tmp_path, "first", [1, 2])
    writer, written = begun(tmp_path, "second", [3])
    commit_and_die(writer, written, monkeypatch, "commit", "t.lance")
    with pytest.raises(PipelineError) as caught:
        commit_in_spite_of(GONE, writer.run, job_of(tmp_path), sink_of(None))
    assert caught.value.code is GONE.code
    assert caught.value.help is not None
    assert "nothing of this run was written" not in caught.value.help
    assert f"`schemac runs {tmp_path / 't.lance'}`" in caught.value.help


def test_a_report_says_that_spark_stopped_after_the_commit(tmp_path: Path) -> None:
    write(tmp_path, "first", [1, 2])
    (found,) = runs_of(str(tmp_path / "t.lance"))
    report = replace(
        runner.report_of_earlier(job_of(tmp_path), found, 1.0), is_repeat=False, stopped=GONE.message
    )
    said = f"Spark stopped after the commit, so the run counts, and need not be run again: {GONE.message}."
    assert str(report).splitlines()[-1] == said
    assert escape(said) in report.to_html()
    assert report.to_json()["stopped"] == GONE.message
    assert said not in str(replace(report, stopped=None))


def java_is_gone(*_: Any, **__: Any) -> Any:
    raise Py4JError("Answer from Java side is empty")


def files_in(folder: Path) -> None:
    (folder / "in.json").write_text('{"id": 1}\n{"id": "x"}\n')


@pytest.mark.spark
@pytest.mark.parametrize("step", ["read", "records_read"])
def test_a_run_counts_if_java_is_gone_after_its_commit(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    files_in(tmp_path)
    home: Any = SinkReport if step == "read" else runner
    done: Callable[..., Any] = getattr(home, step)
    monkeypatch.setattr(home, step, lambda *given: (done(*given), java_is_gone()))
    report = runner.run(job_of(tmp_path), ONE_COLUMN, spark=spark)
    assert (report.rows_in, report.rows_written, report.rows_quarantined) == (2, 1, 1)
    assert (report.is_repeat, report.differences, report.stopped) == (False, (), GONE.message)
    assert bool(report.reasons) == (step == "records_read")
    assert (good(tmp_path), bad(tmp_path)) == ([1], [report.run])
    monkeypatch.undo()
    assert runner.run(job_of(tmp_path), ONE_COLUMN, spark=spark).is_repeat


@pytest.mark.spark
@pytest.mark.parametrize("is_undecided", [False, True])
def test_no_promise_of_a_folder_that_nobody_could_look_at(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_undecided: bool
) -> None:
    """The driver itself commits to a folder of this machine, and knows; but for one that does not answer."""
    files_in(tmp_path)

    def stopping(target: FormatTarget, *_: Any) -> Any:
        target.is_undecided = is_undecided
        java_is_gone()

    monkeypatch.setattr(FormatTarget, "write", stopping)
    target = {"path": str(tmp_path / "rides"), "format": "parquet"}
    job = Job.model_validate({"source": {"path": str(tmp_path / "in.json")}, "target": target})
    with pytest.raises(PipelineError) as caught:
        runner.run(job, ONE_COLUMN, spark=spark)
    assert caught.value.code is GONE.code
    listed = f"`schemac runs {tmp_path / 'rides'}` lists this run if it was committed"
    assert str(caught.value.help).startswith(listed if is_undecided else "nothing of this run was written; ")


@pytest.mark.spark
@pytest.mark.parametrize("step", ["_commit", "differences"])
def test_a_run_into_files_counts_if_java_is_gone_after_its_commit(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The table and the quarantine have it, and so says the report: it promises nothing about the schema."""
    files_in(tmp_path)
    done: Callable[..., Any] = getattr(FormatTarget, step)
    monkeypatch.setattr(FormatTarget, step, lambda *given: (done(*given), java_is_gone()))
    target = {"path": str(tmp_path / "rides"), "format": "parquet"}
    quarantine = {"path": str(tmp_path / "q.lance")}
    source = {"path": str(tmp_path / "in.json")}
    job = Job.model_validate({"source": source, "target": target, "quarantine": quarantine})
    report = runner.run(job, ONE_COLUMN, spark=spark)
    assert (report.rows_in, report.rows_written, report.rows_quarantined) == (2, 1, 1)
    assert (report.is_repeat, report.stopped, report.is_compared) == (False, GONE.message, False)
    assert "the table's schema was not compared with the artifact" in str(report)
    assert report.to_json()["differences"] is None
    assert "the table was not compared with its schema" in report.to_html()
    (found,) = runs_of(str(tmp_path / "rides"))
    assert (found.id, bad(tmp_path)) == (report.run, [report.run])
    monkeypatch.undo()
    assert runner.run(job, ONE_COLUMN, spark=spark).is_repeat


@pytest.mark.spark
def test_batches_of_a_stream_count_whatever_stops_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    files_in(tmp_path / "in")
    settings = {
        "source": {"path": str(tmp_path / "in"), "format": "json"},
        "target": {"path": str(tmp_path / "t.lance"), "mode": "append"},
        "trigger": "available-now",
    }
    monkeypatch.setattr(stream, "_wait_for_end", java_is_gone)
    with pytest.raises(PipelineError) as caught:
        stream.run_stream(Job.model_validate(settings), ONE_COLUMN, spark=spark)
    assert str(caught.value.help).startswith(stream.GOES_ON)
