"""Rows that take the place of rows with the same key, held against a dictionary; without Spark."""

from datetime import date, time
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import lance
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemac.pipeline.writing.sink_options import SinkOptions, encode_schema
from schemac.pipeline.writing.table_sink import TableWriter
from schemac.rows.judging.reasons import REASON
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.tables import Merge, runs_of
from schemac.text.source.catalogue import CONCURRENT_RUN, KEY_EXISTS

SCHEMA = pa.schema(
    [
        pa.field("k", pa.int64(), False),
        pa.field("part", pa.string(), False),
        pa.field("at", pa.int32()),
        pa.field("v", pa.list_(pa.string())),
    ]
)
Key = tuple[int, str]


class Record(NamedTuple):
    """A record of a batch; `v` is told by its number in the whole test."""

    key: Key
    at: int | None
    deletes: bool


def batch_of(records: list[Record], first: int) -> pa.RecordBatch:
    count = len(records)
    columns = {
        "k": pa.array([record.key[0] for record in records], pa.int64()),
        "part": pa.array([record.key[1] for record in records], pa.string()),
        "at": pa.array([record.at for record in records], pa.int32()),
        "v": pa.array([[str(first + i)] for i in range(count)], pa.list_(pa.string())),
        "_delete": pa.array(["D" if record.deletes else None for record in records], pa.string()),
        "_errors": pa.nulls(count, pa.list_(REASON)),
        "_raw": pa.nulls(count, pa.string()),
    }
    return pa.record_batch(columns)


class Model:
    """What a table with these rules is to be."""

    def __init__(self, *, has_latest: bool) -> None:
        self.has_latest = has_latest
        self.rows: dict[Key, tuple[int | None, str]] = {}

    def age(self, at: int | None) -> int:
        return -1 if at is None else at

    def take(self, records: list[Record], first: int) -> tuple[int, int, int]:
        """Rows written, records superseded, records that deleted."""
        winners: dict[Key, int] = {}
        for i, record in enumerate(records):
            other = winners.get(record.key)
            if other is None or self.age(record.at) > self.age(records[other].at):
                winners[record.key] = i
        written = deleted = 0
        for key, i in winners.items():
            record = records[i]
            if self.has_latest and key in self.rows and self.age(self.rows[key][0]) > self.age(record.at):
                continue
            if record.deletes:
                self.rows.pop(key, None)
                deleted += 1
            else:
                self.rows[key] = (record.at, str(first + i))
                written += 1
        return written, len(records) - written - deleted, deleted


def upsert(folder: Path, merge: Merge, batches: list[pa.RecordBatch], **more: Any) -> None:
    options = SinkOptions(
        path=str(folder / "t.lance"),
        quarantine=str(folder / "q.lance"),
        schema=encode_schema(SCHEMA),
        merge=merge.to_json(),
        **more,
    )
    writer = TableWriter(options, overwrite=False, is_split=True)
    messages = [writer.write(iter([batch])) for batch in batches]
    try:
        writer.commit(messages)
    except PipelineError:
        writer.abort(messages)
        raise


def rows_of(folder: Path) -> dict[Key, tuple[int | None, str]]:
    rows = lance.dataset(str(folder / "t.lance")).to_table().to_pylist()
    found = {(row["k"], row["part"]): (row["at"], row["v"][0]) for row in rows}
    assert len(found) == len(rows)
    return found


def assert_like_a_dictionary(folder: Path, batches: list[list[Record]], *, has_latest: bool) -> None:
    merge = Merge(("k", "part"), "at" if has_latest else None, deletes="D")
    model, first = Model(has_latest=has_latest), 0
    for records in batches:
        # What is equal in all that decides is quarantined as a duplicate before it comes here.
        seen = {(record.key, record.at if has_latest else None): record for record in records}
        records = list(seen.values())
        half = len(records) // 2
        upsert(folder, merge, [batch_of(records[:half], first), batch_of(records[half:], first + half)])
        numbers = model.take(records, first)
        first += len(records)
        run = runs_of(str(folder / "t.lance"))[0]
        assert (run.rows, run.superseded, run.deleted) == numbers
        assert rows_of(folder) == model.rows
        assert not list((folder / "t.lance").glob("_staging-*"))


RECORDS = st.builds(
    Record,
    st.tuples(st.integers(0, 3), st.sampled_from(["", "é"])),
    st.one_of(st.none(), st.integers(0, 3)),
    st.booleans(),
)
BATCHES = st.lists(st.lists(RECORDS, max_size=8), min_size=1, max_size=4)


@settings(max_examples=12, deadline=None)
@given(BATCHES, st.booleans())
def test_merge_like_a_dictionary(batches: list[list[Record]], has_latest: bool) -> None:
    with TemporaryDirectory() as folder:
        assert_like_a_dictionary(Path(folder), batches, has_latest=has_latest)


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@given(st.lists(st.lists(RECORDS, max_size=40), min_size=1, max_size=8), st.booleans())
def test_merge_like_a_dictionary_often(batches: list[list[Record]], has_latest: bool) -> None:
    with TemporaryDirectory() as folder:
        assert_like_a_dictionary(Path(folder), batches, has_latest=has_latest)


def assert_unique_like_a_dictionary(folder: Path, batches: list[list[Record]], *, has_latest: bool) -> None:
    """A batch after which two rows would share a part is refused in full; any other one is taken."""
    merge = Merge(("k", "part"), "at" if has_latest else None, deletes="D", unique=((("part",),),))
    model, first = Model(has_latest=has_latest), 0
    for batch in batches:
        records = list({(record.key, record.at if has_latest else None): record for record in batch}.values())
        wanted = Model(has_latest=has_latest)
        wanted.rows = dict(model.rows)
        wanted.take(records, first)
        new = [key[1] for key, row in wanted.rows.items() if int(row[1]) >= first]
        if len(new) > len(set(new)):
            # Records of one batch have been compared before they come here.
            continue
        parts = [key[1] for key in wanted.rows]
        if model.rows and len(parts) > len(set(parts)):
            with pytest.raises(PipelineError) as caught:
                upsert(folder, merge, [batch_of(records, first)])
            assert caught.value.code is KEY_EXISTS
        else:
            upsert(folder, merge, [batch_of(records, first)])
            model = wanted
            first += len(records)
        if (folder / "t.lance").exists():
            assert rows_of(folder) == model.rows


@settings(max_examples=12, deadline=None)
@given(BATCHES, st.booleans())
def test_unique_like_a_dictionary(batches: list[list[Record]], has_latest: bool) -> None:
    with TemporaryDirectory() as folder:
        assert_unique_like_a_dictionary(Path(folder), batches, has_latest=has_latest)


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@given(st.lists(st.lists(RECORDS, max_size=4), min_size=2, max_size=12), st.booleans())
def test_unique_like_a_dictionary_often(batches: list[list[Record]], has_latest: bool) -> None:
    with TemporaryDirectory() as folder:
        assert_unique_like_a_dictionary(Path(folder), batches, has_latest=has_latest)


VALUES: dict[str, tuple[pa.DataType, Any, Any]] = {
    "text": (pa.string(), "a", "b"),
    "bytes": (pa.binary(), b"a", b"b"),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), "a", "b"),
    "half": (pa.float16(), 0.5, 1.5),
    "boolean": (pa.bool_(), True, False),
    "decimal": (pa.decimal128(38, 2), Decimal("1.00"), Decimal("2.00")),
    "wide decimal": (pa.decimal256(60, 2), Decimal("1.00"), Decimal("2.00")),
    "instant": (pa.timestamp("ns", "UTC"), 1, 2),
    "date": (pa.date32(), date(2024, 1, 1), date(2024, 1, 2)),
    "time": (pa.time64("us"), time(1), time(2)),
    "duration": (pa.duration("s"), 1, 2),
    "fixed bytes": (pa.binary(2), b"ab", b"cd"),
    "list": (pa.list_(pa.int32()), [1, None], [None, 1]),
    "vector": (pa.list_(pa.float32(), 2), [1, 2], [2, 1]),
    "struct": (pa.struct([("a", pa.int32()), ("b", pa.string())]), {"a": 1, "b": "x"}, {"a": 1, "b": "y"}),
}


@pytest.mark.parametrize("place", ["column", "member"])
@pytest.mark.parametrize("name", [*VALUES])
def test_compare_unique_fields_of_each_type(name: str, place: str, tmp_path: Path) -> None:
    """A value that the table has is refused, whatever its type; another one, and a null, is not."""
    data_type, value, other = VALUES[name]
    is_member = place == "member"
    wrapped = pa.struct([("m", data_type)]) if is_member else data_type
    schema = pa.schema([pa.field("k", pa.int64(), False), pa.field("u", wrapped)])
    merge = Merge(("k",), unique=((("u", "m") if is_member else ("u",),),))

    def put(k: int, held: Any, merge: Merge = merge) -> None:
        path, text = str(tmp_path / "t.lance"), merge.to_json()
        options = SinkOptions(path=path, schema=encode_schema(schema), merge=text)
        writer = TableWriter(options, overwrite=False, is_split=False)
        row = {"k": k, "u": {"m": held} if is_member else held}
        message = writer.write(iter([pa.RecordBatch.from_pylist([row], writer.schema)]))
        try:
            writer.commit([message])
        except PipelineError:
            writer.abort([message])
            raise

    put(1, value)
    put(2, other)
    put(3, None)
    put(4, None)
    put(1, value)
    with pytest.raises(PipelineError, match="is unique, and another row"):
        put(2, value)
    if not is_member and not pa.types.is_nested(data_type):
        refused = Merge(("u",), is_refused=True)
        with pytest.raises(PipelineError, match="a record has a key that the table already has"):
            put(7, value, refused)
    put(1, None)
    put(2, value)
    assert lance.dataset(str(tmp_path / "t.lance")).count_rows() == 4


def one(k: int, at: int | None = 0, *, deletes: bool = False) -> Record:
    return Record((k, ""), at, deletes)


REFUSE = Merge(("k", "part"), is_refused=True)


def test_refuse_keys_of_the_table(tmp_path: Path) -> None:
    upsert(tmp_path, REFUSE, [batch_of([one(1), one(2)], 0)])
    upsert(tmp_path, REFUSE, [batch_of([one(3)], 2)])
    before = rows_of(tmp_path)
    with pytest.raises(PipelineError) as caught:
        upsert(tmp_path, REFUSE, [batch_of([one(4), one(2)], 3)])
    assert caught.value.code is KEY_EXISTS
    assert '{"k": 2, "part": ""}' in caught.value.message
    assert rows_of(tmp_path) == before
    assert not list(tmp_path.rglob("_staging-*"))
    assert len(runs_of(str(tmp_path / "t.lance"))) == 2


def test_refuse_nothing_of_a_table_without_rows(tmp_path: Path) -> None:
    lance.write_dataset(SCHEMA.empty_table(), str(tmp_path / "t.lance"))
    merge = Merge(("k", "part"), is_refused=True, unique=((("at",),),))
    upsert(tmp_path, merge, [batch_of([one(1, 1)], 0)])
    assert rows_of(tmp_path) == {(1, ""): (1, "0")}


def test_refuse_what_changed_after_it_was_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row with the same key that another program appends in between is not left beside the new one."""
    merge = Merge(("k", "part"))
    upsert(tmp_path, merge, [batch_of([one(1)], 0)])
    judged = TableWriter._merged_rows

    def and_then(writer: TableWriter, *arguments: Any) -> Any:
        found = judged(writer, *arguments)
        other = batch_of([one(2)], 7).select(SCHEMA.names)
        lance.write_dataset(pa.Table.from_batches([other]).cast(SCHEMA), writer.table.path, mode="append")
        return found

    monkeypatch.setattr(TableWriter, "_merged_rows", and_then)
    with pytest.raises(PipelineError) as caught:
        upsert(tmp_path, merge, [batch_of([one(2), one(1)], 1)])
    assert caught.value.code is CONCURRENT_RUN
    assert rows_of(tmp_path) == {(1, ""): (0, "0"), (2, ""): (0, "7")}
    monkeypatch.undo()
    upsert(tmp_path, merge, [batch_of([one(2), one(1)], 1)])
    assert rows_of(tmp_path) == {(2, ""): (0, "1"), (1, ""): (0, "2")}
