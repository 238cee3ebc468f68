"""The same as `test_faults` for targets of files: points of a run × modes × the process that is killed.

The driver alone commits to a folder of this machine, so a run whose Java, or whose Python worker, dies from the commit of the quarantine on
counts, and its driver says so. Table and quarantine agree about which runs count, whatever died and when.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import lance
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from schemac.cli.main import main
from schemac.rows.runs.history import records_in
from schemac.rows.runs.tables import runs_of
from tests.java import JAVA_OF_SHORT_RUNS
from tests.pipeline import stopping
from tests.pipeline.stopping import DRIVER, WORKER
from tests.pipeline.test_faults import BAD, GOOD, MANIFEST, VICTIMS, Program, records, started

pytestmark = [pytest.mark.spark, pytest.mark.long]

PIPELINE = """source: {{path: {source}}}
schema: rides.yaml
target: {{path: t, format: {form}, mode: {mode}}}
spark: {{master: 'local[2]', settings: {{spark.driver.extraJavaOptions: {java}, spark.sql.shuffle.partitions: "2"}}}}
"""
UNTIL_THE_COMMIT = {
    "quarantine is written": f"{WORKER}: before write quarantine",
    "all is written": f"{DRIVER}: before claimed table",
    "quarantine is committed": f"{DRIVER}: after commit quarantine",
}
AFTER_IT = {
    "commit is over": f"{DRIVER}: after commit table",
    "quarantine is closed": f"{DRIVER}: after close_staging quarantine",
}
BETWEEN = {
    "create": {"rows are there": f"{DRIVER}: after rename table"},
    "append": {
        # Before come the marks of the two commits.
        "files are moved": f"{DRIVER}: after rename (3)",
        "record is next": f"{DRIVER}: before rename (4)",
        "record is there": f"{DRIVER}: after rename (4)",
    },
    "overwrite": {
        "former rows are away": f"{DRIVER}: after rename table",
        "new rows are there": f"{DRIVER}: after rename table (2)",
    },
}
COUNTS = ("rows are there", "record is there", "new rows are there", *AFTER_IT)
"""Points at which the run counts."""
FIRST = dict.fromkeys(GOOD, 1)
SECOND = {id + 100: 2 for id in GOOD}


@dataclass(frozen=True)
class State:
    """What readers see, and what table and quarantine say of their runs."""

    rows: dict[int, int]
    bad: int
    runs: int

    @classmethod
    def of(cls, folder: Path) -> "State":
        found = pq.read_table(folder / "t").to_pylist() if (folder / "t").exists() else []
        counted = {run.id for run in runs_of(str(folder / "t"))} if (folder / "t").exists() else set()
        bad = [run for run in quarantined(folder) if run in counted]
        return cls({row["id"]: row["n"] for row in found}, len(bad), len(counted))


def quarantined(folder: Path) -> list[str]:
    path = folder / "t.quarantine.lance"
    is_there = any(path.glob("_versions/*.manifest"))
    return lance.dataset(str(path)).to_table()["run"].to_pylist() if is_there else []


def prepare(folder: Path, mode: str, form: str) -> tuple[State, State]:
    """Make a folder with a run in it, but where it is created, and the pipeline of the next one; the states before and after that."""
    for name in ("stops", "tmp"):
        (folder / name).mkdir()
    told = {"java": JAVA_OF_SHORT_RUNS, "form": form}
    (folder / "rides.yaml").write_text(MANIFEST)
    (folder / "in.json").write_text(records([id + 100 for id in GOOD], 2))
    (folder / "p.yaml").write_text(PIPELINE.format(source="in.json", mode=mode, **told))
    if mode == "create":
        return State({}, 0, 0), State(SECOND, BAD, 1)
    (folder / "first.json").write_text(records(GOOD, 1))
    (folder / "first.yaml").write_text(PIPELINE.format(source="first.json", mode="append", **told))
    assert main(["run", "first.yaml", "-q"]) == 0
    rows = FIRST | SECOND if mode == "append" else SECOND
    return State(FIRST, BAD, 1), State(rows, 2 * BAD, 2)


def assert_nothing_is_left(folder: Path) -> None:
    """No file of no run, no staging, no temporary folder, no row of a run that did not happen; each record names what there is."""
    assert not [path for path in folder.rglob("*") if "staging" in path.name]
    found = records_in(str(folder / "t")) or []
    assert {*quarantined(folder)} <= {record.run.id for record in found}
    last = next((i for i, one in enumerate(found) if one.run.identity.mode == "overwrite"), len(found))
    named = {file for record in found[: last + 1] for file in record.files}
    assert {path.name for path in (folder / "t").glob("part-*")} == named
    assert not list((folder / "tmp").glob("schemac-*"))


def assert_told(folder: Path, program: Program, *, happened: bool) -> None:
    """The driver that lives on tells whether the run counts, and leaves nothing to the next one."""
    document = json.loads((folder / "said").read_text())
    codes = [one["code"] for one in document["diagnostics"]]
    if happened:
        assert (program.process.returncode, codes) == (0, []), document
        assert document["run"]["table"]["version"] == len(runs_of(str(folder / "t")))
        assert (
            document["run"]["records"] | {"written": len(SECOND), "quarantined": BAD}
            == document["run"]["records"]
        )
        assert (document["run"]["differences"] is None) <= (document["run"]["stopped"] is not None)
    else:
        assert (program.process.returncode, document["run"]) == (1, None), document
        (found,) = document["diagnostics"]
        assert found["code"] in ("SC676", "SC679"), found
        assert found["help"].startswith("nothing of this run was written; "), found
    assert "Traceback" not in (folder / "log").read_text()
    assert_nothing_is_left(folder)


KILLED_WORKERS = ("quarantine is written", "quarantine is committed")
"""Later no Python worker does anything for the run."""
CASES = [
    (mode, moment, point, victim)
    for mode, between in BETWEEN.items()
    for moment, point in {**UNTIL_THE_COMMIT, **between, **AFTER_IT}.items()
    for victim in VICTIMS
    # What stands before and after the commit is the same in all modes.
    if (mode == "append" or moment in between) and (victim != "worker" or moment in KILLED_WORKERS)
]


@pytest.mark.parametrize(("mode", "moment", "point", "victim"), CASES)
def test_kill_a_run_into_files(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    mode: str, moment: str, point: str, victim: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    old, new = prepare(tmp_path, mode, "parquet")
    # Where the killed run has its temporary files, too: the next run removes them.
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    assert State.of(tmp_path) == old
    (tmp_path / "stops" / stopping.STOP_AT).write_text(point)
    with started(tmp_path) as program:
        assert program.wait_for_point(), (tmp_path / "said").read_text() + (tmp_path / "log").read_text()
        program.kill(victim)
        happened = moment in COUNTS or (point.startswith(DRIVER) and victim != "driver")
        if victim != "driver":
            assert State.of(tmp_path) == (new if happened else old)
            assert_told(tmp_path, program, happened=happened)
        counted = {run.id for run in runs_of(str(tmp_path / "t"))} if (tmp_path / "t").exists() else set()
        assert len(counted) == (
            0 if moment == "former rows are away" and victim == "driver" else (new if happened else old).runs
        )
    assert main(["run", "p.yaml", "-q"]) == 0
    assert State.of(tmp_path) == new
    assert_nothing_is_left(tmp_path)
    assert main(["run", "p.yaml", "-q"]) == 0
    assert State.of(tmp_path) == new
