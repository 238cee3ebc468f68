"""The same pipeline file on a standalone cluster, whose executors have a Python without schemac, and whose machines fail."""

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import lance
import pyspark
import pytest

from schemac.pipeline.spark.executors import archive, python_of_executors
from tests.java import JAVA_OF_SHORT_RUNS
from tests.pipeline.cluster import Cluster, cluster
from tests.pipeline.cluster_program import ROWS

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("cluster")]

RECORDS = 3000
PIPELINE = """source: {{path: in.{form}, format: {form}}}
schema: rides.yaml
target: {{path: {name}.lance}}
spark:
  {master}settings:
    spark.executor.memory: 512m
    spark.executor.extraJavaOptions: {java}
    spark.driver.host: 127.0.0.1
    spark.pyspark.python: {python}
"""


@pytest.fixture(scope="module")
def machines(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two workers where a task may be done twice, which only long tests need; else one."""
    needs_two = any(
        item.get_closest_marker("long") is not None
        for item in request.session.items
        if item.path == request.path
    )
    with cluster(tmp_path_factory.mktemp("cluster"), workers=2 if needs_two else 1) as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    values = [i if i % 3 else "x" for i in range(RECORDS)]
    (tmp_path / "in.json").write_text("".join(json.dumps({"id": value}) + "\n" for value in values))
    (tmp_path / "in.csv").write_text("id\n" + "".join(f"{value}\n" for value in values))
    (tmp_path / "rides.yaml").write_text("fields:\n  - {name: id, type: Int64}\n")
    return tmp_path


def write_pipeline(
    folder: Path,
    machines: Cluster,
    *,
    form: str = "json",
    name: str = "t",
    master: str | None = None,
    python: str = "",
) -> None:
    told = f"master: '{machines.master}'\n  " if master is None else master
    text = PIPELINE.format(
        form=form, name=name, master=told, python=python or machines.python, java=JAVA_OF_SHORT_RUNS
    )
    (folder / "p.yaml").write_text(text)


def schemac_run(folder: Path, machines: Cluster) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "schemac", "run", "p.yaml", "--format", "json"]
    return subprocess.run(
        command, cwd=folder, env=machines.environment(), capture_output=True, text=True, check=False
    )


def assert_whole(folder: Path, good: int, bad: int) -> None:
    """Every record once, and nothing left that grows."""
    table = lance.dataset(str(folder / "t.lance"))
    assert table.count_rows() == len(set(table.to_table()["id"].to_pylist())) == good
    assert lance.dataset(str(folder / "t.quarantine.lance")).count_rows() == bad
    for path in (folder / "t.lance", folder / "t.quarantine.lance"):
        named = {file.path for part in lance.dataset(str(path)).get_fragments() for file in part.data_files()}
        assert {entry.name for entry in (path / "data").iterdir()} == named
    assert not list(folder.rglob("_staging-*"))


@pytest.mark.long
def test_run_on_executors_that_do_not_have_the_package(machines: Cluster, folder: Path) -> None:
    asked = subprocess.run(
        [machines.python, "-c", "import schemac"],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={},
    )
    assert "No module named 'schemac'" in asked.stderr
    write_pipeline(folder, machines)
    done = schemac_run(folder, machines)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)["run"]["records"]
    assert (told["in"], told["written"], told["quarantined"]) == (RECORDS, 2000, 1000)
    assert_whole(folder, 2000, 1000)
    shipped = {path.name for path in machines.folder.glob("work*/app-*/*/schemac-*.zip")}
    assert len(shipped) == 1


@pytest.mark.long
def test_run_under_spark_submit(machines: Cluster, folder: Path) -> None:
    write_pipeline(folder, machines, form="csv", master="")
    (folder / "run.py").write_text("from schemac.cli.main import entry\n\nentry()\n")
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    environment = machines.environment(
        PYSPARK_DRIVER_PYTHON=sys.executable, PYSPARK_PYTHON=str(machines.python)
    )
    done = subprocess.run(
        [str(submit), "--master", machines.master, "--conf", "spark.driver.host=127.0.0.1", "run.py", "run", "p.yaml"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2,000 rows written" in done.stdout
    assert_whole(folder, 2000, 1000)
    assert "Registered app schemac" in (machines.folder / "master.log").read_text()


@pytest.mark.long
def test_executors_without_the_libraries_are_told(machines: Cluster, folder: Path) -> None:
    bare = folder / "bare"
    shutil.copytree(machines.python.parents[1], bare, symlinks=True)
    next(bare.glob("lib/*/site-packages/packages.pth")).unlink()
    write_pipeline(folder, machines, python=str(bare / "bin" / "python"))
    done = schemac_run(folder, machines)
    assert done.returncode == 1
    (found,) = json.loads(done.stdout)["diagnostics"]
    assert found["code"] == "SC683", found
    assert not (folder / "t.lance").exists()


KILLER = """#!/bin/sh
# A Python whose executor is killed as soon as it needs one.
grep -qz CoarseGrainedExecutorBackend /proc/$PPID/cmdline && kill -9 $PPID
exec {python} "$@"
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "code", "reason"),
    [("killed", "SC677", "code 137"), ("unstartable", "SC696", "took a task for 15 seconds")],
)
def test_executors_that_all_die_are_told_with_their_logs(
    machines: Cluster, folder: Path, kind: str, code: str, reason: str
) -> None:
    """It is not the author's program that has to be looked at: only the logs know why a machine kills executors."""
    python = folder / "python"
    python.write_text(KILLER.format(python=machines.python))
    python.chmod(0o755)
    write_pipeline(folder, machines, python=str(python if kind == "killed" else machines.python))
    if kind == "unstartable":
        text = (folder / "p.yaml").read_text()
        options = f"extraJavaOptions: {JAVA_OF_SHORT_RUNS}"
        assert options in text
        text = text.replace(options, "extraJavaOptions: -agentlib:nowhere")
        (folder / "p.yaml").write_text(text + "  waitForExecutors: 15\n")
    done = schemac_run(folder, machines)
    assert done.returncode == 1, done.stdout + done.stderr
    (found,) = json.loads(done.stdout)["diagnostics"]
    assert found["code"] == code, found
    assert reason in found["message"]
    assert "see the logs of the executors" in found["help"]
    assert list(machines.folder.glob("work*/app-*/*/stderr"))
    assert not (folder / "t.lance").exists()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["slow", "worker", "executor"])
def test_a_task_that_is_done_twice_counts_once(machines: Cluster, tmp_path: Path, kind: str) -> None:
    """A speculative duplicate, a Python worker that is killed, an executor that is killed."""
    command = [
        sys.executable,
        "-m",
        "tests.pipeline.cluster_program",
        machines.master,
        str(machines.python),
        str(tmp_path),
        kind,
    ]
    done = subprocess.run(
        command, cwd=tmp_path, env=machines.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert (report["rows_written"], report["rows_quarantined"]) == (ROWS - ROWS // 10, ROWS // 10)
    assert_whole(tmp_path, ROWS - ROWS // 10, ROWS // 10)


HIDING = 'mount -t tmpfs none "{folder}" && exec "$@"'


def can_hide() -> bool:
    command = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "true"]
    return (
        shutil.which("unshare") is not None
        and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )


@pytest.mark.long
@pytest.mark.skipif(
    not can_hide(), reason="this user may not make a namespace of mounts, which stands for another machine"
)
@pytest.mark.parametrize("hidden", ["table", "source"])
def test_a_disk_that_the_executors_do_not_see_is_told(folder: Path, hidden: str) -> None:
    """Executors on another machine: its folder has the same name and another content."""
    place = folder / "there"
    place.mkdir()
    wrapper = [
        "unshare",
        "--mount",
        "--pid",
        "--fork",
        "--mount-proc",
        "--kill-child",
        "sh",
        "-c",
        HIDING.format(folder=place),
        "sh",
    ]
    with cluster(folder, workers=1, wrapper=wrapper) as machines:
        write_pipeline(folder, machines, name="there/t" if hidden == "table" else "t")
        if hidden == "source":
            shutil.copy(folder / "in.json", place)
            text = (folder / "p.yaml").read_text()
            (folder / "p.yaml").write_text(text.replace("in.json", "there/in.json"))
        done = schemac_run(folder, machines)
    assert done.returncode == 1, done.stdout
    (found,) = json.loads(done.stdout)["diagnostics"]
    assert found["code"] == "SC684", found
    assert not list(folder.rglob("*.lance"))


def test_the_archive_is_the_package_and_depends_on_nothing_else() -> None:
    assert archive() == archive()
    names = zipfile.ZipFile(io.BytesIO(archive())).namelist()
    assert {"schemac/__init__.py", "schemac/engines/lance/runs/sink.py"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or not name.startswith("schemac/")]


def test_the_python_of_executors_is_the_one_that_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/env/bin/python")
    assert python_of_executors("spark://m:7077", {}) == "/opt/env/bin/python"
    assert (
        python_of_executors("spark://m:7077", {"spark.pyspark.python": "./env/bin/python"})
        == "./env/bin/python"
    )
    assert python_of_executors("local[*]", {}) == sys.executable
    monkeypatch.delenv("PYSPARK_PYTHON")
    assert python_of_executors("yarn", {}) == sys.executable
    assert os.path.exists(sys.executable)
