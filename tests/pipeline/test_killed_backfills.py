"""`schemac run` of a backfill, killed with SIGKILL in each of its phases, its Spark with it: the next run goes on where it was."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import lance
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.library import run
from schemac.rows.runs import staging
from schemac.rows.runs.tables import runs_of

pytestmark = [pytest.mark.spark, pytest.mark.long]

ROWS, FRAGMENTS = 60_000, 6
MANIFEST = """name: rides
fields:
  - {name: id, type: Int64}
  - {name: half, type: Float64}
"""
PIPELINE = """schema: rides.yaml
target: {path: rides.lance, mode: backfill}
fields: {half: {expr: id / 2}}
spark: {master: 'local[2]'}
"""
PHASES: dict[str, Callable[[Path], bool]] = {
    "staging is there": lambda table: any(table.glob("_staging-*/.open")),
    "a task writes": lambda table: any(table.glob("_staging-*/v*/data/*.lance")),
    "a fragment is kept": lambda table: any(table.glob("_staging-*/filled/*.json")),
    "all fragments are kept": lambda table: len(list(table.glob("_staging-*/filled/*.json"))) == FRAGMENTS,
    "it is being committed": lambda table: any(table.glob("_staging-*/.committing")),
    "files are moved": lambda table: len(list(table.glob("data/*.lance"))) > FRAGMENTS,
    "it is committed": lambda table: len(list(table.glob("_versions/*.manifest"))) > 1,
}


@pytest.mark.parametrize("phase", PHASES)
def test_go_on_after_a_kill(spark: SparkSession, tmp_path: Path, phase: str) -> None:
    path = str(tmp_path / "rides.lance")
    rows = pa.table({"id": range(ROWS)}, schema=pa.schema([pa.field("id", pa.int64(), False)]))
    lance.write_dataset(rows, path, max_rows_per_file=ROWS // FRAGMENTS)
    (tmp_path / "rides.yaml").write_text(MANIFEST)
    (tmp_path / "p.yaml").write_text(PIPELINE)
    process = subprocess.Popen(
        [sys.executable, "-m", "schemac", "run", "p.yaml"], cwd=tmp_path, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while process.poll() is None and not PHASES[phase](tmp_path / "rides.lance"):
        time.sleep(0.001)
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(2)  # Spark's own processes see that their parent is gone
    happened = lance.dataset(path).version > 1
    kept = {file.name: file.stat().st_mtime_ns for file in Path(path).glob("_staging-*/filled/*.lance")}
    report = run(tmp_path / "p.yaml", spark=spark)
    assert report.is_repeat == happened
    after = lance.dataset(path)
    assert (after.version, report.rows_written) == (2, ROWS)
    found = after.to_table()
    assert found["half"].to_pylist() == [i / 2 for i in found["id"].to_pylist()]
    assert len(found) == ROWS
    assert [one.identity.mode for one in runs_of(path)] == ["backfill"]
    # What was computed is what the table has, and nothing else is left.
    named = {file.path for fragment in after.get_fragments() for file in fragment.data_files()}
    assert {*kept} <= named
    assert {file.name for file in Path(path, "data").iterdir()} == named
    assert not staging.table_area(path).folders()
