"""`schemac run` from and to an object store: sources that Hadoop reads, tables that Lance writes, secrets that nobody sees."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ruamel.yaml import YAML

from schemac.engines.lance.dataset import options_for
from schemac.pipeline.spark.startup import java_home
from schemac.rows.runs.history import records_in
from schemac.rows.runs.storage import Storage
from tests.pipeline.s3_store import HAS_STORE, KEY, REASON, SECRET, Store, door, store

JARS = Path(os.environ.get("SCHEMAC_HADOOP_JARS") or Path(__file__).parents[2] / ".venv-where" / "jars")
HAS_JARS = any(JARS.glob("hadoop-aws-*.jar"))
pytestmark = [pytest.mark.spark, pytest.mark.skipif(not HAS_STORE, reason=REASON)]
with_jars = pytest.mark.skipif(
    not HAS_JARS, reason="no jars of hadoop-aws are here: `make test-where` installs them"
)

RECORDS = 300
SCHEMA = "fields:\n  - {name: id, type: Int64}\n  - {name: s, type: {kind: Option, inner: String}}\n"


@pytest.fixture(scope="module")
def rides() -> Iterator[Store]:
    with store() as found:
        yield found


def content(form: str) -> bytes:
    ids: list[Any] = [i if i % 3 else "x" for i in range(RECORDS)]
    if form in ("json", "gz"):
        text = "".join(json.dumps({"id": id, "s": "é"}) + "\n" for id in ids).encode()
        return text if form == "json" else __import__("gzip").compress(text)
    if form == "geojson":
        return json.dumps(
            {
                "type": "FeatureCollection",
                "features": [{"type": "Feature", "id": id, "s": "é", "properties": {}} for id in ids],
            }
        ).encode()
    if form == "csv":
        return ("id,s\n" + "".join(f'{id},"é\n{id}"\n' for id in ids)).encode()
    buffer = io.BytesIO()
    pq.write_table(pa.table({"id": [str(id) for id in ids], "s": ["é"] * RECORDS}), buffer)
    return buffer.getvalue()


def schemac_run(folder: Path, job: dict[str, Any]) -> "subprocess.CompletedProcess[str]":
    (folder / "rides.yaml").write_text(SCHEMA)
    with (folder / "p.yaml").open("w") as file:
        YAML().dump({"schema": "rides.yaml", **job}, file)
    return schemac(folder, "run", "p.yaml", "--format", "json")


def schemac(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = {
        **os.environ, "JAVA_HOME": str(java_home()), "WHERE_KEY": KEY, "WHERE_SECRET": SECRET,
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }  # fmt: skip
    command = [sys.executable, "-m", "schemac", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def settings(folder: Path) -> dict[str, Any]:
    (folder / "events").mkdir(exist_ok=True)
    jars = ",".join(str(jar) for jar in sorted(JARS.glob("*.jar")))
    return {
        "spark.jars": jars,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{folder}/events",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.sql.redaction.options.regex": "(?!)",  # nothing is redacted: what is not there need not be
    }


def assert_not_told(folder: Path, done: "subprocess.CompletedProcess[str]", rides: Store) -> None:
    """The secret is in no output, in no event of Spark, and in no object of the table."""
    assert SECRET not in done.stdout + done.stderr
    events = [file for file in (folder / "events").rglob("*") if file.is_file()]
    assert events
    assert any("WHERE_SECRET" in file.read_text() or "s3" in file.read_text() for file in events)
    assert [file for file in events if SECRET in file.read_text(errors="replace")] == []
    system = rides.file_system()
    for name in rides.names():
        with system.open_input_stream(name) as stream:
            assert SECRET.encode() not in stream.read(), name


@with_jars
@pytest.mark.long
@pytest.mark.parametrize("form", ["json", "gz", "geojson", "csv", "parquet"])
def test_read_and_write_a_store(rides: Store, tmp_path: Path, form: str) -> None:
    rides.empty()
    address = rides.put(f"in/in.{form}" if form != "gz" else "in/in.json.gz", content(form))
    job = {
        "source": {"path": address, "format": "json" if form == "gz" else form},
        "target": {"path": "s3://rides/t.lance"},
        "storage": rides.section(),
        "spark": {"master": "local[2]", "settings": settings(tmp_path)},
    }
    done = schemac_run(tmp_path, job)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)["run"]
    counts = told["records"]
    assert (counts["in"], counts["written"], counts["quarantined"]) == (RECORDS, 200, 100)
    os.environ.update(WHERE_KEY=KEY, WHERE_SECRET=SECRET)
    options = options_for("s3://rides/t.lance", Storage.parse(rides.section()))
    assert lance.dataset("s3://rides/t.lance", storage_options=options).count_rows() == 200
    assert lance.dataset("s3://rides/t.quarantine.lance", storage_options=options).count_rows() == 100
    assert_not_told(tmp_path, done, rides)


@with_jars
@pytest.mark.long
@pytest.mark.parametrize("form", ["lance", "parquet", "csv"])
def test_the_runs_of_what_was_just_written(rides: Store, tmp_path: Path, form: str) -> None:
    """By the pipeline file alone: a table, or a folder of files, with its quarantine on the same store."""
    rides.empty()
    (tmp_path / "in.json").write_bytes(content("json"))
    target = {"path": "s3://rides/out", "mode": "append"} | ({} if form == "lance" else {"format": form})
    job = {
        "source": {"path": "in.json"},
        "target": target,
        "quarantine": {"path": "s3://rides/q.lance"},
        "storage": rides.section(),
        "spark": {"master": "local[2]", "settings": settings(tmp_path)},
    }
    ids: list[str] = []
    for name in ("one", "two"):
        done = schemac_run(tmp_path, {**job, "run": name})
        assert done.returncode == 0, done.stdout + done.stderr
        ids.insert(0, name)
        listed = schemac(tmp_path, "runs", "p.yaml", "--format", "json")
        assert listed.returncode == 0, listed.stdout + listed.stderr
        runs = json.loads(listed.stdout)["runs"]
        assert [run["id"] for run in runs] == ids
        counts = {(run["records"]["written"], run["records"]["quarantined"]) for run in runs}
        assert counts == {(200, 100)}
    # The address alone does not say how the store is reached, but the error says what does.
    refused = schemac(tmp_path, "runs", "s3://rides/out")
    assert refused.returncode == 1
    assert "schemac runs pipeline.yaml" in " ".join(refused.stdout.split())


@with_jars
@pytest.mark.long
def test_files_in_a_store_that_refuses(rides: Store, tmp_path: Path) -> None:
    """Refused from the record of a run on, for once or for long: whether it counts is what the folder says, and the quarantine agrees."""
    rides.empty()
    os.environ.update(WHERE_KEY=KEY, WHERE_SECRET=SECRET)
    for name in ("first", "second", "third"):
        (tmp_path / f"{name}.json").write_text(f'{{"id": {len(name)}}}\n{{"id": "x"}}\n')
    storage = Storage.parse(rides.section())

    def counted() -> list[str]:
        return [record.run.id for record in records_in("s3://rides/out", storage) or []]

    def bad() -> set[str]:
        return {*lance.dataset(str(tmp_path / "q.lance")).to_table()["run"].to_pylist()}

    with door(rides) as way:
        impatient = {
            "fs.s3a.attempts.maximum": "1",
            "fs.s3a.retry.limit": "1",
            "fs.s3a.retry.throttle.limit": "1",
        }
        section = rides.section(way.endpoint)
        section["s3://rides"]["hadoop"] = impatient

        def go(name: str) -> tuple[int, dict[str, Any]]:
            job = {
                "source": {"path": f"{name}.json"},
                "target": {"path": "s3://rides/out", "format": "parquet", "mode": "append"},
                "quarantine": {"path": "q.lance"},
                "run": name,
                "storage": section,
                "spark": {"master": "local[2]", "settings": settings(tmp_path)},
            }
            done = schemac_run(tmp_path, job)
            return done.returncode, json.loads(done.stdout)

        assert go("first")[0] == 0
        way.refuse = lambda _, path: "/out/_schemac/second.json" in path
        status, told = go("second")
        assert (status, counted(), way.refused > 0) == (1, ["first"], True), told
        assert told["diagnostics"][0]["code"] == "SC686", told
        assert "nothing of this run was written" not in told["diagnostics"][0]["help"]
        way.refuse = None
        assert go("third")[0] == 0
        assert (counted(), bad()) == (["third", "first"], {"third", "first"})
        assert go("second")[0] == 0
        assert (counted(), bad()) == (["second", "third", "first"], {"second", "third", "first"})
    assert not [name for name in rides.names() if "staging" in name]
    assert sum(name.endswith(".parquet") for name in rides.names("out")) == 3


@pytest.mark.long
def test_a_table_is_read_from_a_busy_store_without_jars(rides: Store, tmp_path: Path) -> None:
    """A table is both ends: Lance reads and writes it, and Spark needs no file system for it."""
    rides.empty()
    os.environ.update(WHERE_KEY=KEY, WHERE_SECRET=SECRET)
    options = options_for("s3://rides/in.lance", Storage.parse(rides.section()))
    table = pa.table({"id": pa.array(range(RECORDS), pa.int64()), "s": ["é"] * RECORDS})
    lance.write_dataset(table, "s3://rides/in.lance", storage_options=options, max_rows_per_file=100)
    with door(rides) as way:
        counted = iter(range(1_000_000))
        way.refuse = lambda method, path: next(counted) % 2 == 0
        job = {
            "source": {"path": "s3://rides/in.lance", "format": "lance"},
            "target": {"path": "s3://rides/t.lance"},
            "storage": rides.section(way.endpoint),
            "spark": {"master": "local[2]", "settings": settings(tmp_path) | {"spark.jars": ""}},
        }
        done = schemac_run(tmp_path, job)
        assert way.refused > 5
    assert done.returncode == 0, done.stdout + done.stderr
    assert lance.dataset("s3://rides/t.lance", storage_options=options).count_rows() == RECORDS
    assert_not_told(tmp_path, done, rides)


def test_a_source_without_a_file_system_is_told(rides: Store, tmp_path: Path) -> None:
    address = rides.put("in/in.json", content("json"))
    job = {
        "source": {"path": address},
        "target": {"path": "t.lance"},
        "storage": rides.section(),
        "spark": {"master": "local[1]"},
    }
    done = schemac_run(tmp_path, job)
    (found,) = json.loads(done.stdout)["diagnostics"]
    assert found["code"] == "SC687", found
    assert not (tmp_path / "t.lance").exists()
