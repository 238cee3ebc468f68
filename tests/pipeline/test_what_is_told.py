"""What a run tells: how far it is, what it did as JSON, and why it stopped, in a sentence with the cause."""

import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from schemac.cli.main import main
from schemac.pipeline.codes import EXECUTOR_LOST, SESSION_STOPPED, UNREACHABLE_MASTER, WORKER_KILLED
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.source import check_input
from schemac.pipeline.reports import progress
from schemac.pipeline.reports.progress import ORDER, RunState, RunStep, TaskCount
from schemac.pipeline.runner import run
from schemac.pipeline.session import master_of
from schemac.pipeline.spark.failures import error_of_text, not_started
from schemac.pipeline.spark.startup import Master
from schemac.pipeline.writing.table_sink import _with_progress
from schemac.rows.runs import staging
from schemac.rows.runs.tables import runs_of
from schemac.text.source.catalogue import SOURCE_TYPE_MISMATCH, UNREADABLE_INPUT
from schemac.text.source.diagnostics import Code

SCHEMA = pa.schema([pa.field("id", pa.int64(), False)])


def job(folder: Path, records: int = 10, **settings: Any) -> Job:
    lines = [json.dumps({"id": i if i % 10 else "x"}) + "\n" for i in range(records)]
    (folder / "in.json").write_text("".join(lines))
    source = {"path": str(folder / "in.json"), **settings.pop("source", {})}
    return Job.model_validate({"source": source, "target": {"path": str(folder / "t.lance")}, **settings})


@pytest.mark.spark
def test_progress_counts_records_and_never_falls_back(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a quick machine the records are written before a rate would be shown.
    monkeypatch.setattr(progress, "SHORTEST_SECONDS", 0.001)
    states: list[RunState] = []
    report = run(job(tmp_path, 1_000_000), SCHEMA, spark=spark, progress=states.append)
    assert states[0].step is RunStep.LOOKING
    assert states[-1].step is RunStep.VERIFYING
    order = [ORDER.index(state.step) for state in states]
    assert order == sorted(order)
    records = [state.records for state in states]
    assert records == sorted(records)
    assert records[-1] == report.rows_in == 1_000_000
    assert any(state.rate > 0 for state in states)


@pytest.mark.parametrize("batches", [[1], [100], [1, 2, 3], [4096] * 50])
def test_every_record_of_a_task_is_noted(tmp_path: Path, batches: list[int]) -> None:
    """Also those that came after the last note, which is written only now and then."""
    (tmp_path / staging.NOTES).mkdir()
    notes = TaskCount(str(tmp_path), 3)
    rows = (pa.record_batch({"id": pa.array(range(count))}) for count in batches)
    assert sum(batch.num_rows for batch in _with_progress(rows, notes)) == sum(batches)
    assert (tmp_path / staging.NOTES / "3").read_text() == str(sum(batches))


@pytest.mark.spark
def test_json_has_the_run_its_counts_and_versions(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rides.yaml").write_text("fields:\n  - {name: fare, type: Float64}\n")
    (tmp_path / "rides.json").write_text('{"fare": 1.5}\n{"fare": "x"}\n{"fare": 2}\n')
    (tmp_path / "p.yaml").write_text(
        "source: {path: rides.json}\nschema: rides.yaml\ntarget: {path: rides.lance}\n"
    )
    assert main(["run", "p.yaml", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["diagnostics"] == []
    found = document["run"]
    assert found["records"] == {"in": 3, "written": 2, "quarantined": 1, "superseded": 0, "deleted": 0}
    assert found["reasons"] == [{"path": "fare", "rule": "type", "count": 1}]
    assert found["table"] == {"path": str(tmp_path / "rides.lance"), "version": 1}
    assert found["quarantine"] == {"path": str(tmp_path / "rides.quarantine.lance"), "version": 1}
    assert found["source"] == {"format": "json", "path": [str(tmp_path / "rides.json")]}
    # The table, the quarantine and the report tell of one run.
    (of_table,) = runs_of("rides.lance")
    (of_quarantine,) = runs_of("rides.quarantine.lance")
    assert of_table.identity == of_quarantine.identity
    assert of_table.identity.report() == {
        key: found[key] for key in ("id", "started", "mode", "interval", "schema", "source")
    }
    assert (of_table.rows, of_table.rows_quarantined) == (2, 1)
    assert lance.dataset("rides.quarantine.lance").to_table()["run"].to_pylist() == [found["id"]]
    # The same files once more are the same run; others are a second one, which must not create the table again.
    assert main(["run", "p.yaml", "--format", "json"]) == 0
    repeated = json.loads(capsys.readouterr().out)["run"]
    assert (repeated["id"], repeated["repeat"]) == (found["id"], True)
    (tmp_path / "rides.json").write_text('{"fare": 3}\n')
    assert main(["run", "p.yaml", "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["run"] is None
    assert "already" in document["diagnostics"][0]["message"]


def source_that_kills_its_worker() -> type:
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

    class Reader(DataSourceReader):  # type: ignore[misc]  # PySpark is not followed
        def partitions(self) -> list[InputPartition]:
            return [InputPartition(0)]

        def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
            yield (1,)
            os.kill(os.getpid(), signal.SIGKILL)

    class Kills(DataSource):  # type: ignore[misc]
        @classmethod
        def name(cls) -> str:
            return "kills-its-worker"

        def schema(self) -> str:
            return "id long"

        def reader(self, schema: Any) -> Reader:
            return Reader()

    return Kills


@pytest.mark.spark
def test_killed_worker_is_named(spark: SparkSession, tmp_path: Path) -> None:
    spark.dataSource.register(source_that_kills_its_worker())
    source = {"path": (), "format": "kills-its-worker"}
    with pytest.raises(PipelineError) as caught:
        run(job(tmp_path, source=source), SCHEMA, spark=spark)
    assert caught.value.code is WORKER_KILLED
    assert "memory" in str(caught.value)
    assert "java" not in str(caught.value).lower()
    assert not (tmp_path / "t.lance").exists()


@pytest.mark.spark
def test_session_of_another_thread_is_used(spark: SparkSession, tmp_path: Path) -> None:
    found: list[Any] = []

    def work() -> None:
        try:
            found.append(run(job(tmp_path), SCHEMA).rows_written)
        except Exception as error:  # noqa: BLE001  told below
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [9]


def test_unreachable_master_is_named_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(PipelineError) as caught:
            Master(f"spark://127.0.0.1:{port}").check()
    assert str(port) in str(caught.value)
    assert "refused" in str(caught.value)
    for master in ("spark://no-such-host.invalid:7077,127.0.0.1:1", "spark://", "spark://host"):
        with pytest.raises(PipelineError, match="cannot be reached"):
            Master(master).check()
    Master("local[2]").check()
    Master("yarn").check()


SAID = {
    "worker-killed": "Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, most recent failure: Lost task 0.0 in"
    " stage 3.0 (TID 3) (localhost executor driver): org.apache.spark.SparkException: Python worker exited unexpectedly"
    " (crashed)\n\tat org.apache.spark.api.python.BasePythonRunner\nCaused by: java.io.EOFException\n\t... 24 more",
    "executor-lost": "Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times, most recent failure: Lost task 1.3 in"
    " stage 0.0 (TID 9) (10.0.0.7 executor 2): ExecutorLostFailure (executor 2 exited caused by one of the running tasks)"
    " Reason: Command exited with code 137\nDriver stacktrace:",
    "out-of-memory": "An error occurred while calling o61.save.\n: java.lang.OutOfMemoryError: Java heap space\n\tat java.base/x",
    "session-stopped": "An error occurred while calling o61.save.\n: java.lang.IllegalStateException: Cannot call methods on a"
    " stopped SparkContext.\nThis stopped SparkContext was created at:\n\torg.apache",
    "java-gone": "An error occurred while calling o10.conf. Trace:\nAnswer from Java side is empty",
    "disk-full": "x\nCaused by: java.io.IOException: No space left on device\n\tat java.base/sun.nio",
    "run-cancelled": "Job 3 cancelled as part of cancellation of all jobs",
    "unknown-zone": "[INVALID_TIMEZONE] The timezone: America/Coyhaique is invalid. The timezone must be either a region-based"
    " zone ID or a zone offset. SQLSTATE: 22009",
    "unreadable-input": "Job aborted due to stage failure: Lost task 0.0 in stage 3.0: org.apache.spark.SparkException:"
    " [FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///in/a.json.gz.  SQLSTATE: KD001\n\tat x.y(Z.java:1)\n"
    "Caused by: java.io.IOException: gzip stream CRC failure\n\tat org.apache",
}


@pytest.mark.parametrize(("slug", "text"), SAID.items())
def test_causes_are_named(slug: str, text: str) -> None:
    error = error_of_text(text)
    assert error.code.slug == slug
    assert "\n" not in str(error)
    assert "\tat " not in str(error)
    assert "nothing of this run was written" in str(error)


DAMAGED: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda packed: packed[:-1000],
    "changed": lambda packed: packed[:5000] + bytes([packed[5000] ^ 255]) + packed[5001:],
    "with other bytes behind": lambda packed: packed + b"garbage",
    "with a wrong sum": lambda packed: packed[:-8] + b"\1\2\3\4" + packed[-4:],
}


@pytest.mark.spark
@pytest.mark.parametrize(
    "how", [one if one == "cut" else pytest.param(one, marks=pytest.mark.long) for one in DAMAGED]
)
@pytest.mark.parametrize("fields", [{}, {"id": {"expr": "id::bigint"}}])
def test_damaged_files_are_named(
    spark: SparkSession, tmp_path: Path, how: str, fields: dict[str, Any]
) -> None:
    """Whoever unpacks them, Python or Java: nothing of the other records is written."""
    lines = b"".join(b'{"id": %d, "s": "%d"}\n' % (i, i * 7919 % 1000003) for i in range(10_000))
    (tmp_path / "a.json.gz").write_bytes(DAMAGED[how](gzip.compress(lines)))
    told = job(tmp_path, source={"path": str(tmp_path / "a.json.gz")}, fields=fields)
    with pytest.raises(PipelineError, match=r"a\.json\.gz") as caught:
        run(told, SCHEMA, spark=spark)
    assert caught.value.code is UNREADABLE_INPUT
    assert not (tmp_path / "t.lance").exists()


@pytest.mark.spark
def test_decimals_of_a_file_that_spark_lacks_have_a_way_out(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": pa.array([1]).cast(pa.decimal256(76, 2))}), tmp_path / "a.parquet")
    source = {"path": str(tmp_path / "a.parquet"), "format": "parquet"}
    with pytest.raises(PipelineError, match="76 exceeds max precision 38") as caught:
        run(job(tmp_path, source=source), SCHEMA, spark=spark)
    assert caught.value.code is UNREADABLE_INPUT
    assert "write the column as text" in str(caught.value.help)


def test_session_that_does_not_start_names_the_cause_in_the_log() -> None:
    log = "26/11/21 WARN StandaloneAppClient: Failed to connect to master nowhere:7077\n\tat x.y(Z.java:1)\n"
    assert "cannot be reached" in str(not_started("Py4JJavaError: null", log, Master("yarn")))
    assert "told here" in str(
        not_started("x\nCaused by: java.lang.Error: told here\n", "INFO nothing\n", Master("yarn"))
    )


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (
            "Job aborted due to stage failure: Master removed our application: FAILED",
            EXECUTOR_LOST,
            r"all of its executors had died \(FAILED\).*see the logs of the executors",
        ),
        (
            "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.",
            SESSION_STOPPED,
            "its executors may all have died: see the logs of the executors",
        ),
        (
            (
                "[FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH] Encountered error while reading file file:///in/2.parquet. Data type"
                " mismatches when reading Parquet column [a]. Expected Spark type bigint, actual Parquet type BINARY. SQLSTATE: KD001"
            ),
            SOURCE_TYPE_MISMATCH,
            r"column a of `file:///in/2.parquet` is BINARY, and bigint in other files.*`sources:",
        ),
    ],
)
def test_causes_and_ways_out(text: str, code: Code, said: str) -> None:
    error = error_of_text(text)
    assert error.code is code
    assert re.search(said, str(error)) is not None


WARNED = """26/11/23 22:28:26 WARN Utils: Your hostname resolves to a loopback address: 127.0.0.1
WARNING: Using incubator modules: jdk.incubator.vector
"""


def test_the_cause_is_not_hidden_by_warnings_of_java() -> None:
    mistyped = 'Exception in thread "main" org.apache.spark.SparkException: Master must either be yarn or start with spark, k8s, or local'
    master = Master("lokal[2]", ("spark", "master"))
    for log, text in (
        (WARNED + mistyped, "[JAVA_GATEWAY_EXITED] ..."),
        ("", "Could not parse Master URL: 'lokal[2]'"),
    ):
        error = not_started(text, log, master)
        assert error.code is UNREACHABLE_MASTER
        assert "`lokal[2]`" in error.message
        assert "did you mean `local[2]`?" in (error.help or "")
        assert error.place == ("spark", "master")
    error = not_started(
        "[JAVA_GATEWAY_EXITED] ...", WARNED + "Error: Unable to access jarfile x.jar\n" + WARNED, master
    )
    assert error.help == "Error: Unable to access jarfile x.jar"
    assert "loopback" in (not_started("x", WARNED, master).help or "")


@pytest.mark.parametrize(
    ("address", "correction"),
    [
        ("spak://host:7077", "spark://host:7077"),
        ("spark:/host:7077", "spark://host:7077"),
        ("locl", "local"),
        ("local[x]", "local[*]"),
        ("lokal[4, 2]", "local[4, 2]"),
        ("Yarn", "yarn"),
        ("k8://https://h:443", "k8s://https://h:443"),
        ("SC:/h", "sc://h"),
        ("sparc", None),
        ("mesos://h:1", None),
        ("é", None),
        ("", None),
    ],
)
def test_a_mistyped_master_has_its_correction(address: str, correction: str | None) -> None:
    error = Master(address, variable="PYSPARK_SUBMIT_ARGS").of_no_kind()
    assert f"`{address}` of PYSPARK_SUBMIT_ARGS" in error.message
    proposed = re.match(r"did you mean `(.+?)`\?", error.help or "")
    assert (proposed and proposed[1]) == correction


# What Spark takes for no master is found in Java, which knows nothing of the pipeline.
@pytest.mark.spark
@pytest.mark.parametrize(
    ("section", "variables", "line"),
    [
        ("spark: {master: 'spak://h:7077'}", {}, "p.yaml:4:17"),
        ("spark: {settings: {spark.master: 'spak://h:7077'}}", {}, "p.yaml:4:34"),
        ("", {"PYSPARK_SUBMIT_ARGS": "--master spak://h:7077 pyspark-shell"}, "p.yaml\n"),
        ("spark: {master: 'local[1]'}", {"PYSPARK_SUBMIT_ARGS": "--master=spak://h:7077 x"}, "p.yaml\n"),
        # A port that nobody listens on; the setting of Spark's own does not go round the question.
        pytest.param(
            "spark: {settings: {spark.master: 'spark://127.0.0.1:1'}}",
            {},
            "p.yaml:4:34",
            marks=pytest.mark.long,
        ),
    ],
)
def test_the_master_is_told_in_the_word_and_at_the_place_of_its_author(
    tmp_path: Path, section: str, variables: dict[str, str], line: str
) -> None:
    (tmp_path / "in.json").write_text('{"id": 1}\n')
    (tmp_path / "rides.yaml").write_text("fields:\n  - {name: id, type: Int64}\n")
    sections = ("source: {path: in.json}", "schema: rides.yaml", "target: {path: t.lance}", section)
    (tmp_path / "p.yaml").write_text("\n".join(sections) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "schemac", "run", "p.yaml"],
        cwd=tmp_path, env={**os.environ, **variables}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    told = done.stdout + done.stderr
    assert done.returncode == 1, told
    assert "SC672" in told
    assert line in told
    assert ("`spark://127.0.0.1:1`" if "127" in section else "did you mean `spark://h:7077`?") in told
    assert "`spak://h:7077` of PYSPARK_SUBMIT_ARGS" in told or not variables


def test_the_master_of_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    assert master_of(None, {}) == Master("local[*]")
    monkeypatch.setenv("SPARK_REMOTE", "sc://h")
    assert master_of("", {}) == Master("sc://h", variable="SPARK_REMOTE")
    assert master_of("yarn", {}) == Master("yarn", ("spark", "master"))
    assert master_of("yarn", {"spark.master": "local"}) == Master(
        "local", ("spark", "settings", "spark.master")
    )
    assert master_of(None, {"spark.remote": "sc://g"}).place == ("spark", "settings", "spark.remote")


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "utf-8"]
)
@pytest.mark.parametrize(
    ("form", "text"), [("json", '{"id": 1}\n'), ("csv", "id\n1\n"), ("geojson", '{"features": []}')]
)
def test_name_the_encoding_that_a_file_looks_like(
    tmp_path: Path, form: str, text: str, encoding: str
) -> None:
    (tmp_path / "in").write_bytes(text.encode(encoding))
    source = {"path": str(tmp_path / "in"), "format": form}
    told_job = Job.model_validate({"source": source, "target": {"path": str(tmp_path / "t.lance")}})
    if encoding == "utf-8":
        check_input(told_job)
        return
    with pytest.raises(PipelineError, match="is not UTF-8; it looks like UTF-") as caught:
        check_input(told_job)
    assert caught.value.code is UNREADABLE_INPUT
    named = re.search(r"encoding: (\S+?)}", caught.value.help or "")
    assert named is not None
    assert (tmp_path / "in").read_bytes().decode(named[1]) == text
    check_input(
        Job.model_validate(
            {
                **told_job.model_dump(exclude_defaults=True, by_alias=True),
                "source": {**source, "options": {"encoding": named[1]}},
            }
        )
    )


@pytest.mark.spark
def test_files_of_two_types_are_told_with_a_way_that_works(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"id": ["3", "x"]}), tmp_path / "2.parquet")
    source = {"path": [str(tmp_path / name) for name in ("1.parquet", "2.parquet")], "format": "parquet"}
    target = {"path": str(tmp_path / "t.lance")}
    with pytest.raises(PipelineError, match=r"the column id of `\S+/[12]\.parquet` is ") as caught:
        run(Job.model_validate({"source": source, "target": target}), SCHEMA, spark=spark)
    assert caught.value.code is SOURCE_TYPE_MISMATCH
    sources = [{"path": path, "format": "parquet"} for path in source["path"]]
    report = run(Job.model_validate({"sources": sources, "target": target}), SCHEMA, spark=spark)
    assert (report.rows_written, report.rows_quarantined) == (3, 1)
