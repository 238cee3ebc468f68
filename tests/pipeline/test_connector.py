"""Targets that a connector of Spark writes: the table, the quarantine, the report and the promises of the engine's own sink.

The connector here is a stand-in that appends to Lance tables as lance-spark does; `tests/conformance/connector` has the real one.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from pydantic import ValidationError
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

import schemac
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.artifact import encode
from schemac.engines.lance.tables.fields import differences
from schemac.pipeline.conforming.load import load_job, schema_engines
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.table_source import schema_of_table
from schemac.pipeline.runner import RunReport, run
from schemac.pipeline.spark.executors import register
from schemac.pipeline.stream import run_or_stream
from schemac.pipeline.writing.batches import to_schema
from schemac.rows.runs.identity import RunIdentity, RunRequest
from schemac.rows.runs.storage import NO_STORAGE
from schemac.rows.runs.tables import TableForm, runs_of, sink_of
from schemac.text.source.catalogue import CONNECTOR, TABLE_EXISTS, TOO_MANY_QUARANTINED, UNWRITABLE_TARGET
from schemac.text.source.diagnostics import Report
from tests.pipeline.conftest import another_session

pytestmark = pytest.mark.spark
SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), False, metadata={"lance-schema:unenforced-primary-key": "true"}),
        pa.field("at", pa.timestamp("us", "UTC")),
        pa.field("vector", pa.list_(pa.float32(), 2), metadata={"lance-encoding:compression": "zstd"}),
        pa.field("price", pa.decimal128(10, 2)),
    ]
)
GOOD = '{"id": %d, "at": "2024-01-01T00:00:00Z", "vector": [1, 2], "price": 1.50}'
BAD = '{"id": "x"}'


class Writer(DataSourceArrowWriter):  # type: ignore[misc]  # PySpark is not followed
    def __init__(self, path: str, mode: str) -> None:
        self.path, self.mode = path, mode

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        schema = lance.dataset(self.path).schema
        if self.mode == "refuse" and next(iterator, None) is not None:
            raise RuntimeError("Append with different schema, location: /rust/src/schema.rs:173:17")
        for batch in iterator:
            if self.mode != "lose":
                lance.write_dataset(pa.table(to_schema(batch, schema)), self.path, mode="append")
        return WriterCommitMessage()

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        pass

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        pass


class StandIn(DataSource):  # type: ignore[misc]  # PySpark is not followed
    @classmethod
    def name(cls) -> str:
        return "lance"

    def schema(self) -> StructType:
        return schema_of_table(self.options, "lance")

    def writer(self, schema: StructType, overwrite: bool) -> Writer:
        return Writer(self.options["path"], self.options.get("stand_in", ""))


@pytest.fixture
def connected(spark: SparkSession) -> Iterator[SparkSession]:
    with another_session(spark) as session:
        register(session, StandIn)
        yield session


def fields_of(table: Any) -> list[pb.Field]:
    return [pb.Field.FromString(message) for message in table.lance_schema.__reduce__()[1][1:]]


def go(
    spark: SparkSession,
    folder: Path,
    records: list[str],
    *,
    schema: pa.Schema = SCHEMA,
    request: RunRequest | None = None,
    limit: int | None = None,
    **target: Any,
) -> RunReport:
    (folder / "in.json").write_text("\n".join(records) + "\n")
    job = {
        "source": {"path": str(folder / "in.json")},
        "target": {"path": str(folder / "out.lance"), "connector": "lance", **target},
        "maxQuarantined": limit,
    }
    report = run(Job.model_validate(job), schema, spark=spark, request=request)
    assert report.differences == ()
    return report


def test_a_connector_writes_the_table_of_the_own_sink(connected: SparkSession, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    expected = go(connected, own, [GOOD % 1, GOOD % 2, BAD, "{"], connector=None)
    wanted = lance.dataset(own / "out.lance")
    for mode, rows in (("create", 2), ("append", 4), ("overwrite", 2)):
        report = go(connected, tmp_path, [GOOD % 1, GOOD % 2, BAD, "{", mode], mode=mode)
        assert {(one.path, one.rule) for one in report.reasons} == {
            (one.path, one.rule) for one in expected.reasons
        }
        table = lance.dataset(tmp_path / "out.lance")
        assert differences(fields_of(wanted), table.lance_schema) == ()
        assert table.schema.equals(wanted.schema, check_metadata=True)
        found = sorted(map(str, table.to_table().to_pylist()))
        assert found == sorted(map(str, wanted.to_table().to_pylist() * (rows // 2)))
        assert table.validate() is None
        (newest, *_) = runs_of(str(tmp_path / "out.lance"))
        assert (newest.id, newest.rows, newest.rows_quarantined) == (report.run, 2, 3)
    bad = lance.dataset(tmp_path / "out.quarantine.lance").to_table().to_pylist()
    assert len(bad) == 9
    assert not [path for path in tmp_path.rglob("*") if "staging" in path.name]
    with pytest.raises(PipelineError) as caught:
        go(connected, tmp_path, [GOOD % 1])
    assert caught.value.code is TABLE_EXISTS


BATCHES: list[list[Any]] = [
    [(1, 1, 1.5), (2, 1, 2.5), (3, None, 3.5), "wrong"],
    [(2, 2, 22.5), (1, 0, 11.5), (4, 1, 4.5), (4, 3, 44.5), (3, None, 33.5), (5, 1, 5), (5, 1, 6), "{"],
    [(6, 1, 6.5), (4, 9, 45.5), (1, 0, 0.5)],
]
"""Records of files that come one after the other: key, day, price; some are stale, some have the key of another."""


def written_batch(folder: Path, number: int) -> None:
    def line(record: Any) -> str:
        if not isinstance(record, tuple):
            return record if record == "{" else json.dumps({"id": record})
        id, day, price = record
        at = None if day is None else f"2024-01-{day + 1:02}T00:00:00Z"
        return json.dumps({"id": id, "at": at, "vector": [id, price], "price": price})

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{number}.json"
    if not path.exists():
        path.write_text("".join(line(one) + "\n" for one in BATCHES[number]))


KEPT = {
    "append": {"mode": "append"},
    "upsert": {"mode": "upsert"},
    "latest": {"mode": "upsert", "latest": "at"},
}


QUICK = [("upsert", "incremental")]
WAYS = [(kept, how) for kept in KEPT for how in ("whole", "incremental", "stream")]


@pytest.mark.parametrize(
    ("kept", "how"), [way if way in QUICK else pytest.param(*way, marks=pytest.mark.long) for way in WAYS]
)
def test_runs_through_a_connector_keep_what_runs_promise(
    connected: SparkSession, tmp_path: Path, kept: str, how: str
) -> None:
    """The same files into two tables, by the own writer and by the connector: rows, versions and runs are the same."""
    tables = {
        writer: [
            state_of_table(tmp_path / writer)
            for _ in batches_written(connected, tmp_path / writer, connector, KEPT[kept], how)
        ]
        for writer, connector in (("own", None), ("through", "lance"))
    }
    assert tables["through"] == tables["own"]
    table = lance.dataset(tmp_path / "through" / "out.lance")
    assert table.validate() is None
    assert differences(fields_of(lance.dataset(tmp_path / "own" / "out.lance")), table.lance_schema) == ()
    assert not [path for path in tmp_path.rglob("*") if "staging" in path.name]


def batches_written(
    spark: SparkSession, folder: Path, connector: str | None, kept: dict[str, str], how: str
) -> Iterator[int]:
    """Write one batch after the other, and the last one once more: what was committed is not committed again."""
    source: dict[str, Any] = {"path": str(folder / "in")}
    if how == "incremental":
        source["mode"] = "incremental"
    target = {"path": str(folder / "out.lance"), "connector": connector, **kept}
    trigger = "available-now" if how == "stream" else None
    job = Job.model_validate({"source": source, "target": target, "trigger": trigger})
    for number in (*range(len(BATCHES)), len(BATCHES) - 1):
        if how == "whole":
            (folder / "in" / f"{number - 1}.json").unlink(missing_ok=True)
        written_batch(folder / "in", number)
        assert run_or_stream(job, SCHEMA, spark=spark).differences == ()
        yield number


def state_of_table(folder: Path) -> list[Any]:
    """What a reader sees: the rows of both datasets, and what the commits say of each run."""
    told: list[Any] = []
    for name in ("out.lance", "out.quarantine.lance"):
        path = folder / name
        rows = lance.dataset(path).to_table()
        if "run" in rows.column_names:
            rows = rows.select(["raw", "errors"])
        told.append(sorted(map(str, rows.to_pylist())))
        told.append(
            [
                (one.version, one.rows, one.rows_quarantined, one.superseded, one.deleted, one.identity.mode)
                for one in runs_of(str(path))
            ]
        )
    return told


def test_a_run_through_a_connector_is_committed_once(connected: SparkSession, tmp_path: Path) -> None:
    records, request = [GOOD % 1, BAD], RunRequest("batch-7")
    go(connected, tmp_path, records, mode="append", request=request)
    assert go(connected, tmp_path, records, mode="append", request=request).is_repeat
    assert lance.dataset(tmp_path / "out.lance").count_rows() == 1
    go(connected, tmp_path, [BAD], mode="append")
    assert lance.dataset(tmp_path / "out.lance").count_rows() == 1
    assert lance.dataset(tmp_path / "out.quarantine.lance").count_rows() == 2


@pytest.mark.parametrize(
    ("how", "told"), [("refuse", "Append with different schema"), ("lose", "wrote 0 of")]
)
def test_nothing_stays_of_what_a_connector_refuses(
    connected: SparkSession, tmp_path: Path, how: str, told: str
) -> None:
    with pytest.raises(PipelineError, match=told) as caught:
        go(connected, tmp_path, [GOOD % 1, BAD], options={"stand_in": how})
    assert caught.value.code is CONNECTOR
    assert ".rs" not in caught.value.message
    assert [path.name for path in tmp_path.iterdir()] == ["in.json"]


def test_limits_hold_through_a_connector(connected: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PipelineError) as caught:
        go(connected, tmp_path, [GOOD % 1, BAD], limit=0)
    assert caught.value.code is TOO_MANY_QUARANTINED
    assert "`id` type 1" in (caught.value.help or "")
    assert [path.name for path in tmp_path.iterdir()] == ["in.json"]


def test_other_types_than_the_connector_has_are_named(connected: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([pa.field("id", pa.uint64())])
    register(connected, type("Longs", (StandIn,), {"schema": lambda self: StructType().add("id", "long")}))
    with pytest.raises(PipelineError, match=r"`id` is bigint in the table, and decimal\(20,0\)") as caught:
        go(connected, tmp_path, ['{"id": 1}'], schema=schema)
    assert caught.value.code is CONNECTOR
    assert [path.name for path in tmp_path.iterdir()] == ["in.json"]


def test_a_connector_that_is_not_there_is_named(spark: SparkSession, tmp_path: Path) -> None:
    with (
        another_session(spark) as session,
        pytest.raises(PipelineError, match=r"no connector of the format `lance`.*spark\.jars") as caught,
    ):
        go(session, tmp_path, [GOOD % 1])
    assert (caught.value.code, caught.value.place) == (UNWRITABLE_TARGET, ("target", "connector"))
    assert [path.name for path in tmp_path.iterdir()] == ["in.json"]


def test_a_connector_names_the_format() -> None:
    def target(**told: str) -> Any:
        return Job.model_validate({"source": {"path": "a"}, "target": {"path": "t", **told}}).target

    assert (target(connector="Lance").is_through_connector, target(connector="iceberg").is_of_spark) == (
        True,
        True,
    )
    assert target(connector="iceberg").format == "iceberg"
    with pytest.raises(ValidationError, match="either `format` or `connector`"):
        target(connector="lance", format="parquet")
    with pytest.raises(ValidationError, match="write `format: parquet`"):
        target(connector="parquet")


def test_a_schema_fits_the_table_and_what_a_connector_reads() -> None:
    def asked(**told: str) -> tuple[str, ...]:
        return schema_engines(
            Job.model_validate({"source": {"path": "a"}, "target": {"path": "t", **told}}).target
        )

    assert (asked(format="lance"), asked(connector="lance")) == (("lance",), ("lance", "spark"))
    assert (asked(connector="iceberg"), asked(format="parquet")) == (("iceberg",), ("spark",))


KILLED = """
import os, signal, sys
import lance, pyarrow as pa
from schemac.rows.runs.identity import RunIdentity
from schemac.rows.runs.storage import NO_STORAGE
from schemac.rows.runs.tables import TableForm, sink_of

path, mode = sys.argv[1:]
sink, schema = sink_of("lance"), pa.schema([("id", pa.int64())])
run = RunIdentity.new("killed", [], mode)
place = sink.prepare(path, mode, storage_options=NO_STORAGE, storage_version=None, max_rows_per_file=9, run=run)
sink.open_staging(place)
aside = sink.open_staging_table(place, TableForm(schema))
lance.write_dataset(pa.table({"id": [1]}, schema), aside, mode="append")
sink.claim(place, sink.collect_staging_table(place).fragments)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("mode", ["create", "append"])
def test_nothing_stays_of_a_run_that_was_killed(tmp_path: Path, mode: str) -> None:
    path, schema = str(tmp_path / "t.lance"), pa.schema([("id", pa.int64())])
    if mode == "append":
        lance.write_dataset(schema.empty_table(), path)
    before = sorted(str(entry) for entry in tmp_path.rglob("*"))
    done = subprocess.run([sys.executable, "-c", KILLED, path, mode], check=False)
    assert done.returncode == -signal.SIGKILL
    assert sorted(str(entry) for entry in tmp_path.rglob("*")) != before
    sink_of("lance").recover(path, None, NO_STORAGE)
    assert sorted(str(entry) for entry in tmp_path.rglob("*")) == before


def test_what_the_connector_cannot_read_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("fields:\n  - {name: at, type: Timestamp}\n")
    (tmp_path / "in.json").write_text("")
    (tmp_path / "schemac.toml").write_text('lanceSpark = "0.4.0"\n')
    for told, codes in (("{path: t.lance, connector: lance}", ["SC523"]), ("{path: t.lance}", [])):
        (tmp_path / "p.yaml").write_text(f"source: {{path: in.json}}\nschema: t.yaml\ntarget: {told}\n")
        report = Report()
        assert load_job(tmp_path / "p.yaml", report) is not None
        assert [finding.code for finding in report.diagnostics] == codes


def test_a_table_with_ids_of_its_own_keeps_them(tmp_path: Path) -> None:
    """Its fields have other numbers than Lance would count, in each mode; a struct has more than one."""
    text = (
        "fields: [{name: s, type: {kind: Struct, fields: [{name: a, type: Int32}]}}, {name: b, type: String}]"
    )
    (dataset,) = schemac.compile_text(text)
    message = dataset.to_lance()
    for field in message.fields:
        field.id += 5
        field.parent_id += 5 if field.parent_id >= 0 else 0
    form = TableForm(dataset.to_arrow(), encode(message), "2.2")
    rows = pa.Table.from_pylist([{"s": {"a": 1}, "b": "x"}], form.schema)
    sink, path = sink_of("lance"), str(tmp_path / "t.lance")
    for mode, count in (("create", 1), ("append", 2), ("overwrite", 1)):
        run = RunIdentity.new(mode, [], mode)
        place = sink.prepare(
            path, mode, storage_options=NO_STORAGE, storage_version="2.2", max_rows_per_file=9, run=run
        )
        sink.open_staging(place)
        lance.write_dataset(rows, sink.open_staging_table(place, form), mode="append")
        aside = sink.collect_staging_table(place)
        assert aside.rows == 1
        sink.claim(place, aside.fragments)
        sink.commit(place, form, aside.fragments)
        sink.close_staging(place)
        assert sink.differences(path, form, NO_STORAGE) == ()
        assert lance.dataset(path).to_table().to_pylist() == rows.to_pylist() * count
