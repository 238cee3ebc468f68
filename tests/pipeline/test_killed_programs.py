"""`schemac run` itself, killed with SIGKILL in each of its phases, its Spark with it: the next run, in every mode, goes on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import lance
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.runner import run
from schemac.rows.runs.tables import runs_of

pytestmark = [pytest.mark.spark, pytest.mark.long]

SCHEMA = pa.schema([pa.field("id", pa.int64(), False)])
RECORDS = 300_000
PIPELINE = "source: {{path: in.json}}\nschema: rides.yaml\ntarget: {{path: t.lance, mode: {mode}}}\nspark: {{master: 'local[2]'}}\n"

PHASES = {
    "staging is there": "t.lance/_staging-*/.open",
    "a task writes": "t.lance/_staging-*/data/*.lance",
    "the quarantine is written": "t.quarantine.lance/_staging-*/data/*.lance",
    "the quarantine is being committed": "t.quarantine.lance/_staging-*/.committing",
    "the quarantine is committed": "t.quarantine.lance/_versions/*.manifest",
    "the table is being committed": "t.lance/_staging-*/.committing",
    "files are moved": "t.lance/data/*.lance",
    "the table is committed": "t.lance/_versions/*.manifest",
}


def kill_in(folder: Path, pattern: str) -> bool:
    """Starts the program and kills its group as soon as the disk shows the phase; whether it was still there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "schemac", "run", "p.yaml"], cwd=folder, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while process.poll() is None and not any(folder.glob(pattern)):
        time.sleep(0.001)
    was_there = process.poll() is None
    if was_there:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return was_there


@pytest.mark.parametrize("then", ["create", "append", "overwrite"])
@pytest.mark.parametrize("phase", PHASES)
def test_killed_program_is_gone_over(spark: SparkSession, tmp_path: Path, phase: str, then: str) -> None:
    lines = (f'{{"id": {i}}}\n' if i % 3 else '{"id": "x"}\n' for i in range(RECORDS))
    (tmp_path / "in.json").write_text("".join(lines))
    (tmp_path / "rides.yaml").write_text("fields:\n  - {name: id, type: Int64}\n")
    (tmp_path / "p.yaml").write_text(PIPELINE.format(mode="create"))
    kill_in(tmp_path, PHASES[phase])
    time.sleep(2)  # Spark's own processes see that their parent is gone
    table, quarantine = tmp_path / "t.lance", tmp_path / "t.quarantine.lance"
    happened = any(table.glob("_versions/*.manifest"))
    if happened and then == "create":
        then = "append"
    (tmp_path / "next.json").write_text('{"id": 1}\n{"id": "y"}\n')
    job = {"source": {"path": str(tmp_path / "next.json")}, "target": {"path": str(table), "mode": then},
           "quarantine": {"path": str(quarantine)}}  # fmt: skip
    report = run(Job.model_validate(job), SCHEMA, spark=spark)
    assert report.differences == ()
    good = sum(1 for i in range(RECORDS) if i % 3) * (happened and then == "append") + 1
    assert lance.dataset(str(table)).count_rows() == good
    counted = {one.id for one in runs_of(str(table))}
    assert len(counted) == 1 + happened
    runs = lance.dataset(str(quarantine)).to_table(columns=["run"])["run"].unique().to_pylist()
    assert set(runs) == counted
    assert not list(tmp_path.rglob("_staging-*"))
    named = {
        file.path for fragment in lance.dataset(str(table)).get_fragments() for file in fragment.data_files()
    }
    if then != "overwrite":
        assert {entry.name for entry in (table / "data").iterdir()} == named
