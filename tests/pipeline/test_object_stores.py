"""Runs on an object store: a real S3 API on loopback, which is slow at times, and in which others write at the same moment."""

import json
import os
import pickle
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import lance
import pyarrow as pa
import pytest

from schemac.cli.main import main
from schemac.engines.lance.dataset import options_for
from schemac.pipeline.writing.sink_options import SinkOptions, encode_schema
from schemac.pipeline.writing.table_sink import TableWriter, WrittenRows
from schemac.registry.engine import engine
from schemac.rows.runs.columns import ADDRESSES, COLUMN_SINK, FilledColumns
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.identity import RunIdentity, this_process
from schemac.rows.runs.storage import Storage
from schemac.rows.runs.tables import TableForm, runs_of, sink_of
from schemac.text.source.catalogue import CONCURRENT_RUN, UNREADABLE_TABLE
from tests.pipeline.killing import SCHEMA, batch
from tests.pipeline.s3_store import HAS_STORE, KEY, REASON, SECRET, Door, Store, door, store

pytestmark = [pytest.mark.skipif(not HAS_STORE, reason=REASON), pytest.mark.slow]

TABLE, QUARANTINE = "s3://rides/t.lance", "s3://rides/q.lance"


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    with store() as found:
        yield found


@pytest.fixture
def rides(server: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The store, with an empty bucket and the variables of its secrets."""
    monkeypatch.setenv("WHERE_KEY", KEY)
    monkeypatch.setenv("WHERE_SECRET", SECRET)
    server.empty()
    return server


@pytest.fixture
def way(rides: Store) -> Iterator[Door]:
    with door(rides) as found:
        yield found


def begun(
    storage: Storage, run: str, mode: str, good: list[int], bad: int = 0
) -> tuple[TableWriter, WrittenRows]:
    """A run up to its commit; its task is on another machine, which has no variables."""
    sink_of(None).recover(TABLE, QUARANTINE, storage)
    identity = RunIdentity(run, datetime.now(UTC), "", mode, this_process())
    options = SinkOptions(
        path=TABLE,
        quarantine=QUARANTINE,
        schema=encode_schema(SCHEMA),
        run=identity.to_json(),
        must_create=mode == "create",
        storage_options=storage.to_json(),
    )
    writer = TableWriter(options, mode == "overwrite", True)
    sent = pickle.dumps(writer)
    kept = {name: os.environ.pop(name) for name in ("WHERE_KEY", "WHERE_SECRET")}
    try:
        return writer, pickle.loads(sent).write(batch(good, bad))
    finally:
        os.environ.update(kept)


def write(storage: Storage, run: str, mode: str, good: list[int], bad: int = 0) -> None:
    writer, written = begun(storage, run, mode, good, bad)
    writer.commit([written])


def assert_state(found: Store, ids: list[int], runs: list[str], bad: dict[str, int]) -> None:
    """The rows of the table, its runs, and the rows of the quarantine by run, those that count and no others."""
    storage = Storage.parse(found.section())
    table = lance.dataset(TABLE, storage_options=options_for(TABLE, storage))
    assert sorted(table.to_table()["id"].to_pylist()) == sorted(ids)
    assert [run.id for run in runs_of(TABLE, storage_options=storage)] == runs
    kept = (
        lance.dataset(QUARANTINE, storage_options=options_for(QUARANTINE, storage))
        .to_table()["run"]
        .to_pylist()
    )
    assert {run: kept.count(run) for run in set(kept)} == bad
    named = {
        file.path
        for version in table.versions()
        for fragment in table.checkout_version(version["version"]).get_fragments()
        for file in fragment.data_files()
    }
    assert {name.rpartition("/")[2] for name in found.names("t.lance/data")} == named


def test_write_in_every_mode(rides: Store) -> None:
    storage = Storage.parse(rides.section())
    write(storage, "a", "create", [1, 2], 3)
    write(storage, "b", "append", [3], 1)
    assert_state(rides, [1, 2, 3], ["b", "a"], {"a": 3, "b": 1})
    write(storage, "c", "overwrite", [9])
    assert_state(rides, [9], ["c", "b", "a"], {"a": 3, "b": 1})


def test_list_the_runs_of_a_pipeline(
    rides: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pipeline file says how the store is reached."""
    write(Storage.parse(rides.section()), "a", "create", [1, 2], 3)
    told = {
        "source": {"path": "in.json"},
        "schema": "t.yaml",
        "target": {"path": TABLE},
        "storage": rides.section(),
    }
    (tmp_path / "p.yaml").write_text(json.dumps(told))
    (tmp_path / "t.yaml").write_text("fields:\n  - {name: id, type: Int64}\n")
    assert main(["runs", "--format", "json", str(tmp_path / "p.yaml")]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert (run["id"], run["records"]["written"], run["records"]["quarantined"]) == ("a", 2, 3)


def every_third_passes() -> Callable[[str, str], bool]:
    counted = iter(range(1_000_000))
    return lambda method, path: next(counted) % 3 != 0


def test_a_store_that_is_too_busy_for_a_while_only_costs_time(rides: Store, way: Door) -> None:
    storage = Storage.parse(rides.section(way.endpoint))
    write(storage, "a", "create", [1, 2], 3)
    way.refuse = every_third_passes()
    write(storage, "b", "append", [3], 1)
    assert way.refused > 10
    assert_state(rides, [1, 2, 3], ["b", "a"], {"a": 3, "b": 1})


def write_or_abort(storage: Storage, way: Door) -> None:
    """As Spark does it: where the commit fails, what was written is given up; by then the store answers again."""
    try:
        writer, written = begun(storage, "b", "append", [3, 4], 2)
        try:
            writer.commit([written])
        except Exception:
            way.refuse = None
            writer.abort([written])
            raise
    finally:
        way.refuse = None


PHASES = {
    "data": lambda method, path: method in ("PUT", "POST") and "/data/" in path,
    "quarantine's commit": lambda method, path: method == "PUT" and "q.lance/_versions" in path,
    "table's commit": lambda method, path: method == "PUT" and "t.lance/_versions" in path,
}


@pytest.mark.parametrize("phase", PHASES)
def test_a_store_that_stays_busy_leaves_the_old_table_and_the_next_run_ends_right(
    rides: Store, way: Door, phase: str
) -> None:
    told = rides.section(way.endpoint)
    told["s3://rides"]["options"] = {"client_max_retries": "1"}
    storage = Storage.parse(told)
    write(storage, "a", "create", [1, 2], 3)
    way.refuse = PHASES[phase]
    with pytest.raises((OSError, RuntimeError, PipelineError), match="503"):
        write_or_abort(storage, way)
    write(storage, "c", "append", [5], 1)
    assert_state(rides, [1, 2, 5], ["c", "a"], {"a": 3, "c": 1})


def test_a_commit_of_which_no_answer_comes_is_told_as_it_is(rides: Store, way: Door) -> None:
    """The store has taken the manifest, and the answer is lost: the run has happened, once."""
    storage = Storage.parse(rides.section(way.endpoint))
    write(storage, "a", "create", [1, 2], 3)
    writer, written = begun(storage, "b", "append", [3], 1)
    way.lose = lambda method, path: method == "PUT" and "t.lance/_versions" in path
    try:
        writer.commit([written])
    except Exception:  # noqa: BLE001  either way is right, as long as it is told
        way.lose = None
        writer.abort([written])
    way.lose = None
    runs = [run.id for run in runs_of(TABLE, storage_options=storage)]
    again = [] if "b" in runs else [3]
    write(storage, "c", "append", again, 0)
    expected = {"a": 3, "b": 1} if "b" in runs else {"a": 3}
    assert_state(rides, [1, 2, *([3] if "b" in runs else again)], ["c", *runs], expected)


def test_two_runs_at_once_are_both_in_the_table(rides: Store) -> None:
    storage = Storage.parse(rides.section())
    write(storage, "a", "create", [1], 1)
    pending = [begun(storage, f"r{i}", "append", [10 + i], 1) for i in range(4)]
    threads = [threading.Thread(target=writer.commit, args=([written],)) for writer, written in pending]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [run.id for run in runs_of(TABLE, storage_options=storage)]
    assert sorted(found) == ["a", "r0", "r1", "r2", "r3"]
    assert_state(rides, [1, 10, 11, 12, 13], found, dict.fromkeys(found, 1))


def test_rows_are_not_added_to_a_table_that_was_replaced_meanwhile(rides: Store) -> None:
    storage = Storage.parse(rides.section())
    write(storage, "a", "create", [1], 1)
    late, written = begun(storage, "late", "append", [2], 1)
    write(storage, "b", "overwrite", [9])
    with pytest.raises(PipelineError) as caught:
        late.commit([written])
    assert caught.value.code is CONCURRENT_RUN
    late.abort([written])
    assert_state(rides, [9], ["b", "a"], {"a": 1})


def test_a_store_that_refuses_the_key_is_named_without_the_secret(rides: Store, way: Door) -> None:
    way.refuse = lambda method, path: True
    told = rides.section(way.endpoint)
    told["s3://rides"]["options"] = {"client_max_retries": "1"}
    with pytest.raises(PipelineError) as caught:
        sink_of(None).find(TABLE, Storage.parse(told))
    assert caught.value.code is UNREADABLE_TABLE
    assert SECRET not in str(caught.value)


def fill(storage: Storage, values: list[int], *, is_killed: bool = False) -> int:
    """A run that fills a column, one part for each value; how many parts it computed."""
    sink = COLUMN_SINK.of(engine("lance"))
    form = TableForm(SCHEMA.append(pa.field("n", pa.int64())))
    identity = RunIdentity("f", datetime.now(UTC), "", "backfill", this_process())
    filling = sink.open(TABLE, form, FilledColumns(("n",), "k", keeps=False), storage=storage, run=identity)
    found = sink.look(filling)
    for part in found.missing[: 1 if is_killed else None]:
        rows = pa.record_batch([pa.array([part << 32]), pa.array([values[part]])], names=[ADDRESSES, "n"])
        folder = sink.prepare(filling, found.version)
        sink.keep(filling, sink.write(filling, found.version, folder, part, iter([rows])), {"rows": 1})
    if not is_killed:
        assert sink.commit(filling, sink.look(filling), {}) is not None
        sink.close(filling)
    return len(found.missing)


def test_fill_a_column_and_go_on_after_a_kill(rides: Store) -> None:
    storage = Storage.parse(rides.section())
    for number, run in enumerate("abc"):
        write(storage, run, "append", [number])
    assert fill(storage, [7, 8, 9], is_killed=True) == 3
    assert fill(storage, [7, 8, 9]) == 2
    table = lance.dataset(TABLE, storage_options=options_for(TABLE, storage))
    assert table.to_table(columns=["id", "n"]).to_pydict() == {"id": [0, 1, 2], "n": [7, 8, 9]}
    assert not [name for name in rides.names("t.lance") if "_backfill" in name]
