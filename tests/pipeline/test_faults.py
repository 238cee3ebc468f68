"""Phases of a run × the process that is killed: the driver, Java alone, a Python worker alone, each exactly at its point.

After each: the old table or the new one; who lives tells which; every record counts once; nothing is left that grows; the next run
comes to the right end, and one more changes nothing.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lance
import pytest
from pyspark.sql import SparkSession

from schemac.cli.main import main
from schemac.rows.runs.tables import Sink, runs_of
from tests.java import JAVA_OF_SHORT_RUNS
from tests.pipeline import stopping
from tests.pipeline.cluster import Cluster, cluster
from tests.pipeline.stopping import DRIVER, WORKER

pytestmark = pytest.mark.spark

PIPELINE = """source: {{path: {source}}}
schema: rides.yaml
target: {{path: t.lance, mode: {mode}}}
{more}
spark:
  master: '{master}'
  settings:
    spark.driver.extraJavaOptions: {java}
    spark.sql.shuffle.partitions: "2"
{settings}
"""
ON_A_CLUSTER = """    spark.driver.host: 127.0.0.1
    spark.driver.bindAddress: 127.0.0.1
    spark.executor.memory: 512m
    spark.executor.extraJavaOptions: {java}
    spark.pyspark.python: {python}
    spark.executorEnv.PYTHONPATH: '{path}'
    spark.executorEnv.{mark}: '{folder}'"""
MANIFEST = "name: rides\nfields:\n  - {name: id, type: Int64, extra: {lance.org/primaryKey: {position: 1}}}\n  - {name: n, type: Int64}\n"
GOOD, TEXTS = range(20), range(50, 56)
"""Numbers of records that fit, and of those that only fit where a text is taken for a number."""
ENDS_WITHIN_SECONDS = 150.0

PHASES = {
    "read": (f"{WORKER}: before open_staging table", f"{WORKER}: after add", f"{WORKER}: before write table"),
    "stage": (f"{WORKER}: after write table", f"{WORKER}: after write quarantine"),
    "quarantine commit": (f"{WORKER}: before claim table", f"{WORKER}: before commit quarantine", f"{WORKER}: after commit quarantine"),
    "table commit": (f"{WORKER}: before commit table", f"{WORKER}: after commit table", f"{WORKER}: after close_staging table"),
    # The driver compares the table before it starts Spark, too.
    "verify": (f"{DRIVER}: before differences table (2)", f"{DRIVER}: after differences table (2)"),
}  # fmt: skip
VICTIMS = ("driver", "java", "worker")
MAIN_CLASSES = {"java": "org.apache.spark.deploy.SparkSubmit", "executor": "CoarseGrainedExecutorBackend"}
LOCAL = "local[2]"


@dataclass(frozen=True)
class Kind:
    """A way to write: how it is called, and what the table and the quarantine have after it."""

    mode: str
    rows: dict[int, int]
    bad: int
    options: tuple[str, ...] = ()
    more: str = ""
    phases: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: PHASES)


FIRST = dict.fromkeys(GOOD, 1)
BAD = len(TEXTS) + 1
SECOND = {id + 10: 2 for id in GOOD}
IN_ONE_COMMIT = {
    "quarantine commit": (f"{WORKER}: before move_out quarantine", f"{WORKER}: after move_out quarantine"),
    "table commit": PHASES["table commit"],
}
REPLACED = {"table commit": (f"{WORKER}: before commit table", f"{WORKER}: after commit table")}
MERGED = {"table commit": (f"{WORKER}: after judge table", f"{WORKER}: before merge table", f"{WORKER}: after merge table")}  # fmt: skip
KINDS = {
    "append": Kind("append", FIRST | {id + 100: 2 for id in GOOD}, 2 * BAD),
    "overwrite": Kind("overwrite", {id + 100: 2 for id in GOOD}, 2 * BAD, phases=REPLACED),
    "upsert": Kind("upsert", FIRST | SECOND, 2 * BAD, phases=MERGED),
    "replay": Kind(
        "append", FIRST | dict.fromkeys(TEXTS, 1), 1, ("--replay",), "coerce: text", phases=IN_ONE_COMMIT
    ),
}


def records(ids: Any, n: int) -> str:
    good = "".join(json.dumps({"id": id, "n": n}) + "\n" for id in ids)
    return good + "".join(json.dumps({"id": str(id), "n": n}) + "\n" for id in TEXTS) + '{"id": "x"}\n'


def prepare(folder: Path, kind: Kind, master: str) -> None:
    """A table with a run in it, and the pipeline of the next one."""
    for name in ("stops", "tmp"):
        (folder / name).mkdir()
    (folder / "rides.yaml").write_text(MANIFEST)
    told = {"java": JAVA_OF_SHORT_RUNS, "master": master, "settings": ""}
    if master != LOCAL:
        environment = stopping.environment(folder / "stops")
        told["settings"] = ON_A_CLUSTER.format(
            java=JAVA_OF_SHORT_RUNS, python=sys.executable, path=environment["PYTHONPATH"],
            mark=stopping.FOLDER, folder=environment[stopping.FOLDER],
        )  # fmt: skip
    (folder / "first.json").write_text(records(GOOD, 1))
    (folder / "first.yaml").write_text(PIPELINE.format(source="first.json", mode="append", more="", **told))
    assert main(["run", "first.yaml", "-q"]) == 0
    (folder / "in.json").write_text(records([id + (10 if kind.mode == "upsert" else 100) for id in GOOD], 2))
    (folder / "p.yaml").write_text(PIPELINE.format(source="in.json", mode=kind.mode, more=kind.more, **told))


def processes(folder: Path) -> dict[int, str]:
    """The processes of the program in a folder that are there, by number: their command lines."""
    found = {}
    mark = f"{stopping.FOLDER}={folder / 'stops'}".encode()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            number = int(entry.name)
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found[number] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return {number: command for number, command in found.items() if command}


@dataclass
class Program:
    """A program that stands at a point, or has come to its end."""

    folder: Path
    process: "subprocess.Popen[str]"

    @property
    def stops(self) -> Path:
        return self.folder / "stops"

    def wait_for_point(self) -> bool:
        """Whether it stands at the point."""
        while self.process.poll() is None:
            if (self.stops / stopping.REACHED).exists() and (self.stops / stopping.REACHED).read_text():
                return True
            time.sleep(0.02)
        return False

    def victims(self, victim: str) -> list[int]:
        """The processes to kill; of the Python workers it is the one that stands still, or all of them."""
        if victim == "driver":
            return [self.process.pid]
        found = processes(self.folder)
        if victim in MAIN_CLASSES:
            return [number for number, command in found.items() if MAIN_CLASSES[victim] in command]
        stopped = int((self.stops / stopping.REACHED).read_text())
        workers = [number for number, command in found.items() if " pyspark" in command]
        return [stopped] if stopped in workers else workers

    def kill(self, victim: str) -> None:
        """Kill, let what is left go on, and wait until nothing of it is there."""
        killed = self.victims(victim)
        assert killed, processes(self.folder)
        for number in killed:
            os.kill(number, signal.SIGKILL)
        (self.stops / stopping.GO_ON).touch()
        self.process.wait(ENDS_WITHIN_SECONDS)
        end = time.monotonic() + ENDS_WITHIN_SECONDS
        while left := processes(self.folder):
            assert time.monotonic() < end, left
            time.sleep(0.05)


@contextlib.contextmanager
def started(folder: Path, *options: str) -> Iterator[Program]:
    command = [sys.executable, "-m", "tests.pipeline.stopping", "run", "p.yaml", "--format", "json", *options]
    environment = {**os.environ, **stopping.environment(folder / "stops"), "TMPDIR": str(folder / "tmp")}
    with (folder / "said").open("w") as said, (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=said, stderr=log, text=True)
    try:
        yield Program(folder, process)
    finally:
        for number in processes(folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        process.wait()


@dataclass(frozen=True)
class State:
    """What readers see."""

    rows: dict[int, int]
    bad: int
    runs: int

    @classmethod
    def of(cls, folder: Path) -> "State":
        found = lance.dataset(str(folder / "t.lance")).to_table().to_pylist()
        rows = {row["id"]: row["n"] for row in found}
        assert len(rows) == len(found)
        counted = [run.id for run in runs_of(str(folder / "t.lance"))]
        bad = lance.dataset(str(folder / "t.quarantine.lance")).to_table()["run"].to_pylist()
        return cls(rows, len([run for run in bad if run in counted]), len(counted))


def assert_nothing_is_left(folder: Path) -> None:
    """No file that no version names, no staging, no temporary folder, no row of a run that did not happen."""
    for name in ("t.lance", "t.quarantine.lance"):
        table = lance.dataset(str(folder / name))
        named = {
            file.path
            for version in table.versions()
            for part in table.checkout_version(version["version"]).get_fragments()
            for file in part.data_files()
        }
        assert {entry.name for entry in (folder / name / "data").iterdir()} == named
    assert not list(folder.rglob("_staging-*"))
    counted = {run.id for run in runs_of(str(folder / "t.lance"))}
    assert {*lance.dataset(str(folder / "t.quarantine.lance")).to_table()["run"].to_pylist()} <= counted


def assert_told(folder: Path, program: Program, *, happened: bool, kind: Kind) -> None:
    """The driver that lives on tells whether the run counts, and leaves nothing to the next one."""
    document = json.loads((folder / "said").read_text())
    codes = [one["code"] for one in document["diagnostics"]]
    if happened:
        assert (program.process.returncode, codes) == (0, []), document
        assert document["run"]["table"]["version"] == lance.dataset(str(folder / "t.lance")).version
        assert document["run"]["records"]["written"] == len(kind.rows.items() - FIRST.items())
    else:
        assert (program.process.returncode, document["run"]) == (1, None), document
        (found,) = document["diagnostics"]
        assert found["code"] in ("SC676", "SC679"), found
        assert found["help"].startswith("nothing of this run was written; "), found
    assert "Traceback" not in (folder / "log").read_text()
    assert_nothing_is_left(folder)
    assert not list((folder / "tmp").glob("schemac-*"))


def kill_and_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kind: Kind, phase: str, point: str, victim: str,
    master: str = LOCAL,
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    prepare(folder, kind, master)
    old, new = State.of(folder), State(kind.rows, kind.bad, 2)
    assert old == State(FIRST, BAD, 1)
    (folder / "stops" / stopping.STOP_AT).write_text(point)
    with started(folder, *kind.options) as program:
        assert program.wait_for_point(), (folder / "said").read_text() + (folder / "log").read_text()
        program.kill(victim)
        found = State.of(folder)
        assert found in (old, new)
        if victim != "driver":
            assert_told(folder, program, happened=found == new, kind=kind)
    # A worker that commits may come to its end before it hears that its Java, or its driver, is gone. An executor is started anew.
    if victim == "executor":
        assert found == new
    elif phase in ("read", "stage") or (victim == "worker" and phase == "quarantine commit"):
        assert found == old
    elif phase == "verify":
        assert found == new
    assert main(["run", "p.yaml", "-q", *kind.options]) == 0
    assert State.of(folder) == new
    assert_nothing_is_left(folder)
    version = lance.dataset(str(folder / "t.lance")).version
    assert main(["run", "p.yaml", "-q", *kind.options]) == 0
    assert lance.dataset(str(folder / "t.lance")).version == version


CASES = [
    (name, phase, point, victim)
    for name, kind in KINDS.items()
    for phase, points in kind.phases.items()
    for point in points
    for victim in VICTIMS
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "phase", "point", "victim"), CASES)
def test_kill(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    name: str, phase: str, point: str, victim: str,
) -> None:  # fmt: skip
    kill_and_go_on(tmp_path, monkeypatch, KINDS[name], phase, point, victim)


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster"), workers=1) as found:
        yield found


@pytest.mark.long
@pytest.mark.parametrize(("phase", "point"), [(phase, point) for phase in PHASES for point in PHASES[phase]])
def test_kill_an_executor(
    spark: SparkSession, machines: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    phase: str, point: str,
) -> None:  # fmt: skip
    kill_and_go_on(tmp_path, monkeypatch, KINDS["append"], phase, point, "executor", machines.master)


CHANGES_NOTHING = {"form", "written_schema", "find", "count_rows", "is_free", "runs", "find_run", "prepare"}
AFTER_A_FAULT = {"recover", "fence", "give_up", "discard", "take_back"}
"""`test_killed_runs` and `test_repeated_runs` kill runs before each step of these."""
OF_CONNECTORS = {"open_staging_table", "collect_staging_table"}


def test_every_method_that_a_sink_has_for_runs_has_its_place() -> None:
    """A new one is put among the points where a run is killed, or says here why it needs none."""
    points = {point for kind in KINDS.values() for points in kind.phases.values() for point in points}
    killed = {point.split()[2] for point in points}
    assert killed <= {name for _, name in stopping.steps()}
    assert (
        killed - {stopping.BATCH} | CHANGES_NOTHING | AFTER_A_FAULT | OF_CONNECTORS
        == Sink.__abstractmethods__
    )
    assert {phase for kind in KINDS.values() for phase in kind.phases} == {*PHASES}
