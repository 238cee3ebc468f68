"""Columns of a table from batches of Arrow, by row id or by key: all values in one commit, or nothing."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import schemac
from schemac.pipeline import Job, PipelineError, RunReport, fill_columns, run
from schemac.rows.runs import staging
from schemac.text.source.catalogue import JOIN, SOURCE_TYPE_MISMATCH, UNFIT_VALUES, UNKNOWN_FIELD
from schemac.text.source.diagnostics import Code
from tests.effort import every_nth

pytestmark = pytest.mark.spark

FIELDS = """
name: rides
fields:
  - {name: id, type: Int64, extra: {lance.org/primaryKey: {position: 1}}}
  - {name: part, type: Int32}
  - {name: note, type: {kind: Option, inner: String}}
"""
ADDED = """\
  - {name: score, type: {kind: Option, inner: Float32}}
  - {name: words, type: Int16}
  - {name: vector, type: {kind: Option, inner: {kind: List, itemType: Float16, fixedLength: 2}}}
  - {name: price, type: {kind: Option, inner: {kind: Decimal, precision: 6, scale: 2}}}
"""
(BEFORE,) = schemac.compile_text(FIELDS)
(AFTER,) = schemac.compile_text(FIELDS + ADDED)
IDS = [i for i in range(60) if i % 10 != 3]
Fill = Callable[..., RunReport]


@pytest.fixture
def table(tmp_path: Path) -> str:
    """Three fragments, each with deleted rows."""
    path = str(tmp_path / "rides.lance")
    columns = {
        "id": range(60),
        "part": pa.array([i % 2 for i in range(60)], pa.int32()),
        "note": [f"n{i}" for i in range(60)],
    }
    rows = pa.table(columns).cast(BEFORE.to_arrow(metadata=True))
    lance.write_dataset(
        rows, path, max_rows_per_file=20, data_storage_version="2.2", enable_stable_row_ids=True
    )
    lance.dataset(path).delete("id % 10 = 3")
    return path


@pytest.fixture
def fill(spark: SparkSession, table: str) -> Fill:
    return lambda source, dataset=AFTER, **told: fill_columns(source, dataset, table, spark=spark, **told)


def batches(ids: list[int], size: int = 7, **columns: Any) -> Iterator[pa.RecordBatch]:
    """The values of some rows, in batches, last ones first."""
    whole = pa.table(
        {
            "id": ids,
            "score": pa.array([i / 4 for i in ids], pa.float64()),
            "words": pa.array([i % 5 for i in ids], pa.uint8()),
            "vector": pa.array([[i, i + 0.5] if i % 6 else None for i in ids], pa.list_(pa.float16(), 2)),
            "price": pa.array([Decimal(i) / 100 for i in ids], pa.decimal128(10, 2)),
            **columns,
        }
    )
    yield from reversed(whole.to_batches(max_chunksize=size))


def is_filled(table: str) -> bool:
    found = lance.dataset(table).to_table().to_pylist()
    assert [one["id"] for one in found] == IDS
    return bool(found == [
        {
            "id": i, "part": i % 2, "note": f"n{i}", "score": i / 4, "words": i % 5,
            "vector": [i, i + 0.5] if i % 6 else None, "price": Decimal(i) / 100,
        }
        for i in IDS
    ])  # fmt: skip


def _reader(rows: Iterator[pa.RecordBatch]) -> pa.RecordBatchReader:
    first = next(rows)
    return pa.RecordBatchReader.from_batches(first.schema, [first, *rows])


@pytest.mark.parametrize(
    "form", every_nth([iter, _reader, pa.Table.from_batches], 3), ids=["batches", "reader", "table"]
)
def test_fill_by_the_primary_key(fill: Fill, table: str, form: Any) -> None:
    version = lance.dataset(table).version
    report = fill(form(batches(IDS)))
    assert (report.rows_written, report.table_version, report.differences) == (54, version + 1, ())
    assert is_filled(table)
    assert not staging.table_area(table).folders()


def test_fill_by_the_row_id(fill: Fill, table: str) -> None:
    """As ids came with a scan, in whatever order; they stay when rows move to other fragments."""
    held = lance.dataset(table).to_table(columns=["id"], with_row_id=True).sort_by([("id", "descending")])
    lance.dataset(table).optimize.compact_files()
    (rows,) = batches(held["id"].to_pylist(), size=100)
    fill([rows.drop_columns(["id"]).append_column("_rowid", held["_rowid"].combine_chunks())])
    assert is_filled(table)


SPANS = """\
  - {name: lasts, type: {kind: Option, inner: {kind: Duration, unit: Nanosecond}}}
  - {name: laps, type: {kind: List, itemType: {kind: Struct, fields: [{name: s, type: {kind: Duration, unit: Millisecond}}]}}}
  - {name: pauses, type: {kind: Map, keyType: String, valueType: {kind: Option, inner: {kind: Duration, unit: Second}}}}
"""


def test_fill_durations(fill: Fill, table: str) -> None:
    """They are counts in the unit of their field, whatever that of the batches is; what the unit cannot count is refused."""
    (dataset,) = schemac.compile_text(FIELDS + SPANS)
    lasts = [None if i % 7 == 2 else i - 30 for i in IDS]
    laps, pauses = [[{"s": i * 1000}, {"s": -1000}] for i in IDS], [[("a", i), ("b", None)] for i in IDS]
    columns = {
        "id": IDS,
        "lasts": pa.array(lasts, pa.duration("ms")).dictionary_encode(),
        "laps": pa.array(laps, pa.large_list(pa.struct([("s", pa.duration("us"))]))),
        "pauses": pa.array(pauses, pa.map_(pa.string(), pa.duration("s"))),
    }
    fill(pa.table(columns), dataset)
    rows = lance.dataset(table).to_table()
    assert rows.schema.field("lasts").type == pa.duration("ns")
    counts = rows["lasts"].combine_chunks().cast(pa.int64()).to_pylist()
    assert counts == [None if one is None else one * 10**6 for one in lasts]
    of_laps, of_pauses = rows["laps"].to_pylist(), rows["pauses"].to_pylist()
    second = timedelta(seconds=1)
    assert of_laps == [[{"s": i * second / 1000}, {"s": -second / 1000}] for i in IDS]
    assert of_pauses == [[("a", i * second), ("b", None)] for i in IDS]
    columns["laps"] = pa.array([[{"s": 1001}]] * 54, pa.list_(pa.struct([("s", pa.duration("us"))])))
    with pytest.raises(PipelineError, match="`laps` of the batches has a value that does not fit") as caught:
        fill(pa.table(columns), dataset)
    assert caught.value.code is SOURCE_TYPE_MISMATCH


def test_fill_by_other_columns(fill: Fill, table: str) -> None:
    (rows,) = batches(IDS, size=100)
    fill(pa.table(rows).append_column("part", pa.array([i % 2 for i in IDS], pa.int32())), on=["id", "part"])
    assert is_filled(table)


def test_update_some_rows(fill: Fill, table: str) -> None:
    """Of a column that is there; the other rows keep what they have."""
    fill(pa.table({"id": [4, 5], "note": ["four", None]}), BEFORE, where="id in (4, 5)")
    found = {one["id"]: one["note"] for one in lance.dataset(table).to_table().to_pylist()}
    assert found == {i: f"n{i}" for i in IDS} | {4: "four", 5: None}


def test_join_a_file_by_the_row_id(spark: SparkSession, table: str, tmp_path: Path) -> None:
    """In a pipeline file any source that carries the key will do; one that is not exact may have too much and too little."""
    held = lance.dataset(table).to_table(columns=["id"], with_row_id=True)
    notes = pa.table({"_rowid": held["_rowid"], "note": [f"new {i}" for i in IDS]})
    on = {"_rowid": "try_cast(_rowid as bigint)"}
    settings: dict[str, Any] = {
        "target": {"path": table, "mode": "backfill"},
        "fields": {"note": "notes.note"},
        "joins": {"notes": {"path": str(tmp_path / "notes.parquet"), "on": on, "exact": True}},
    }
    pq.write_table(notes, tmp_path / "notes.parquet")
    run(Job.model_validate(settings), BEFORE, spark=spark)
    assert lance.dataset(table).to_table()["note"].to_pylist() == [f"new {i}" for i in IDS]
    pq.write_table(notes.slice(1), tmp_path / "notes.parquet")
    with pytest.raises(PipelineError, match="no record for rows of the table"):
        run(Job.model_validate(settings), BEFORE, spark=spark)
    settings["joins"]["notes"]["exact"] = False
    assert run(Job.model_validate(settings), BEFORE, spark=spark).unmatched == {"notes": 1}


def _mistakes() -> Iterator[tuple[str, Code, str, Any]]:
    yield "missing in the table", JOIN, "for rows that the table does not have: 3, 99", batches([*IDS, 3, 99])
    yield "without a value", JOIN, "has no record for rows of the table: 0, 1", batches(IDS[2:])
    yield (
        "none at all",
        JOIN,
        "has no record for rows of the table: 0, 1, 2, …",
        pa.table(next(batches(IDS))).slice(0, 0),
    )
    yield "twice", JOIN, "has several records with one key: 7", batches([*IDS, 7])
    yield (
        "null key",
        JOIN,
        "for rows that the table does not have: None",
        batches(IDS, id=pa.array([None, *IDS[1:]], pa.int64())),
    )
    yield (
        "null",
        UNFIT_VALUES,
        "`words` required 1",
        batches(IDS, words=pa.array([None, *[1] * 53], pa.uint8())),
    )
    yield "too large", UNFIT_VALUES, "`words` range 54", batches(IDS, words=pa.array([40_000] * 54))
    yield "too long", UNFIT_VALUES, "`vector`", batches(IDS, vector=pa.array([[1.0, 2.0, 3.0]] * 54))
    yield "unknown", UNKNOWN_FIELD, "`colour`", batches(IDS, colour=["red"] * 54)
    yield "no key", JOIN, "no column `id`", pa.table({"words": [1] * 54})
    yield "no columns", JOIN, "no column `id`", []
    yield (
        "two schemas",
        SOURCE_TYPE_MISMATCH,
        "different",
        [*pa.table({"id": [1]}).to_batches(), *pa.table({"id": ["1"]}).to_batches()],
    )
    spans = pa.array([[{"s": 5}]] * 54, pa.list_(pa.struct([("s", pa.duration("s"))])))
    yield "durations", SOURCE_TYPE_MISMATCH, "`note`", batches(IDS, note=spans)
    yield (
        "finer than microseconds",
        SOURCE_TYPE_MISMATCH,
        "`note`",
        batches(IDS, note=pa.array(range(54), pa.timestamp("ns"))),
    )


@pytest.mark.parametrize(
    ("name", "code", "message", "source"), [*_mistakes()], ids=[one[0] for one in _mistakes()]
)
def test_write_nothing(fill: Fill, table: str, name: str, code: Code, message: str, source: Any) -> None:
    before = lance.dataset(table)
    files = sorted(Path(table).rglob("*.lance"))
    with pytest.raises(PipelineError) as caught:
        fill(source)
    assert caught.value.code is code
    assert message in caught.value.message
    assert lance.dataset(table).version == before.version
    assert sorted(Path(table).rglob("*.lance")) == files
    assert not staging.table_area(table).folders()


def test_name_a_key_where_the_dataset_has_none(spark: SparkSession, table: str) -> None:
    (plain,) = schemac.compile_text(FIELDS.replace(", extra: {lance.org/primaryKey: {position: 1}}", ""))
    with pytest.raises(PipelineError, match="has no primary key") as caught:
        fill_columns(batches(IDS), plain, table, spark=spark)
    assert 'on="id"' in str(caught.value.help)


def test_raise_what_the_source_raises(fill: Fill, table: str) -> None:
    def rows() -> Iterator[pa.RecordBatch]:
        yield next(batches(IDS))
        raise ZeroDivisionError

    version = lance.dataset(table).version
    with pytest.raises(ZeroDivisionError):
        fill(rows())
    assert lance.dataset(table).version == version
