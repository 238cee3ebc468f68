"""Columns of Lance tables that runs fill, without Spark: what Lance reads afterwards, what others do in the meantime, what kills leave."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.artifact import encode
from schemac.engines.lance.runs.column_sink import COLUMN_SINK
from schemac.engines.lance.runs.recovery import recover
from schemac.engines.lance.tables.fields import lance_fields_of
from schemac.rows.runs import staging
from schemac.rows.runs.columns import ADDRESSES, FilledColumns, Filling
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.identity import Mode, RunIdentity, this_process
from schemac.rows.runs.storage import NO_STORAGE
from schemac.rows.runs.tables import TableForm
from schemac.text.source.catalogue import CONCURRENT_RUN, SCHEMA_MISMATCH

BEFORE = pa.schema([pa.field("a", pa.int32()), pa.field("s", pa.string())])
NEW = pa.field("n", pa.float64())
FORM = TableForm(BEFORE.append(NEW))


def make(folder: Path, *, is_there: bool = False, stable: bool = False, rows: int = 20) -> str:
    """A table of three fragments, each with a row that is deleted, and indices."""
    path = str(folder / "t.lance")
    schema = FORM.schema if is_there else BEFORE
    columns = {"a": list(range(rows)), "s": [f"x{i}" for i in range(rows)], "n": [None] * rows}
    table = pa.table({name: columns[name] for name in schema.names}, schema=schema)
    made = lance.write_dataset(table, path, max_rows_per_file=8, enable_stable_row_ids=stable)
    made.create_scalar_index("a", "BTREE")
    if is_there:
        lance.dataset(path).create_scalar_index("n", "BTREE")
    lance.dataset(path).delete("a in (0, 3, 15, 19)")
    return path


def identity(id: str = "r1", process: str | None = None) -> RunIdentity:
    return RunIdentity(id, datetime.now(UTC), "", Mode.BACKFILL, process or this_process())


def begin(path: str, *, keeps: bool = False, key: str = "k", form: TableForm = FORM, **run: Any) -> Filling:
    recover(path, None, NO_STORAGE)
    return COLUMN_SINK.open(
        path, form, FilledColumns(("n",), key, keeps), storage=NO_STORAGE, run=identity(**run)
    )


def values_of(filling: Filling, version: int, part: int) -> list[tuple[int, int]]:
    """Addresses, and the column `a`, of the rows of a fragment."""
    table = lance.dataset(filling.place.path, version=version)
    rows = table.get_fragment(part).scanner(columns=["a"], with_row_address=True).to_table()
    return list(zip(rows["_rowaddr"].to_pylist(), rows["a"].to_pylist(), strict=True))


def fill(filling: Filling, *, parts: int | None = None, only: Callable[[int], bool] = lambda a: True) -> int:
    """Compute a * 2 for the parts that have no values yet; how many were computed."""
    look = COLUMN_SINK.look(filling)
    folder = COLUMN_SINK.prepare(filling, look.version)
    for part in look.missing[:parts]:
        rows = [(address, a) for address, a in values_of(filling, look.version, part) if only(a)]
        if not rows:
            COLUMN_SINK.leave(filling, look.version, (part,))
            continue
        batches = (_batch(rows[start : start + 3]) for start in range(0, len(rows), 3))
        COLUMN_SINK.keep(
            filling, COLUMN_SINK.write(filling, look.version, folder, part, batches), {"rows": len(rows)}
        )
    return len(look.missing[:parts])


def _batch(rows: list[tuple[int, int]]) -> pa.RecordBatch:
    columns = [pa.array([address for address, _ in rows], pa.int64())]
    columns.append(pa.array([float(a * 2) for _, a in rows], pa.float64()))
    return pa.record_batch(columns, names=[ADDRESSES, "n"])


def commit(filling: Filling) -> int | None:
    return COLUMN_SINK.commit(filling, COLUMN_SINK.look(filling), {"schemac.run.rows": "16"})


def settle(filling: Filling) -> int:
    """Go on until the commit is through."""
    for _ in range(5):
        fill(filling)
        version = commit(filling)
        if version is not None:
            COLUMN_SINK.close(filling)
            return version
    raise AssertionError("no commit")


def read(path: str) -> dict[int, float | None]:
    table = lance.dataset(path)
    table.validate()
    rows = table.to_table(columns=["a", "n"])
    return dict(zip(rows["a"].to_pylist(), rows["n"].to_pylist(), strict=True))


def files_beside(path: str) -> set[str]:
    """What lies in the table's folder and belongs to no version."""
    newest = lance.dataset(path)
    named = set()
    for version in newest.versions():
        then = lance.dataset(path, version=version["version"])
        named |= {file.path for fragment in then.get_fragments() for file in fragment.data_files()}
    data = {file.name for file in Path(path, "data").iterdir()} - named
    return data | {Path(folder.path).name for folder in staging.table_area(path).folders()}


@pytest.mark.parametrize("stable", [False, True], ids=["addresses", "stable row ids"])
@pytest.mark.parametrize("is_there", [False, True], ids=["new", "there"])
def test_leave_all_but_the_column_as_it_was(tmp_path: Path, is_there: bool, stable: bool) -> None:
    path = make(tmp_path, is_there=is_there, stable=stable)
    before = lance.dataset(path)
    rows = before.to_table(columns=["a", "s"], with_row_id=True)
    version = settle(begin(path))
    after = lance.dataset(path)
    assert (version, after.version) == (before.version + 1,) * 2
    assert after.to_table(columns=["a", "s"], with_row_id=True).equals(rows)
    assert read(path) == {a: float(a * 2) for a in rows["a"].to_pylist()}
    assert after.to_table(filter="a = 4")["n"].to_pylist() == [8.0]
    assert after.to_table(filter="n = 8.0")["a"].to_pylist() == [4]
    assert {index.name for index in after.describe_indices()} == {"a_idx", *(["n_idx"] if is_there else [])}
    assert after.schema.field("n").equals(NEW)
    assert lance.dataset(path, version=before.version).to_table(columns=["a", "s"]).num_rows == len(rows)
    assert not files_beside(path)


def test_write_a_required_column(tmp_path: Path) -> None:
    path = make(tmp_path)
    form = TableForm(BEFORE.append(NEW.with_nullable(False)))
    settle(begin(path, form=form))
    assert not lance.dataset(path).schema.field("n").nullable
    assert None not in read(path).values()


def test_keep_values_of_rows_that_are_not_chosen(tmp_path: Path) -> None:
    path = make(tmp_path, is_there=True)
    lance.dataset(path).update({"n": "-1.0"}, where="a < 10")
    filling = begin(path, keeps=True)
    fill(filling, only=lambda a: a % 2 == 0 and a > 2)
    before = lance.dataset(path)
    assert commit(filling) == before.version + 1
    COLUMN_SINK.close(filling)
    expected = {a: -1.0 if a < 10 else None for a in read(path)}
    expected |= {a: float(a * 2) for a in expected if a % 2 == 0 and a > 2}
    assert read(path) == expected


def test_fragment_without_chosen_rows_is_not_written(tmp_path: Path) -> None:
    path = make(tmp_path, is_there=True)
    before = {f.fragment_id: len(f.data_files()) for f in lance.dataset(path).get_fragments()}
    filling = begin(path, keeps=True)
    fill(filling, only=lambda a: a == 4)
    commit(filling)
    COLUMN_SINK.close(filling)
    after = {f.fragment_id: len(f.data_files()) for f in lance.dataset(path).get_fragments()}
    assert {id for id in after if after[id] != before[id]} == {0}


def test_nothing_chosen_is_no_version(tmp_path: Path) -> None:
    path = make(tmp_path, is_there=True)
    before = lance.dataset(path).version
    filling = begin(path, keeps=True)
    fill(filling, only=lambda a: False)
    assert commit(filling) == before == lance.dataset(path).version


def _rows(first: int, *names: str) -> pa.Table:
    columns = {"a": pa.array([first, first + 1], pa.int32()), "s": ["y", "z"], "n": pa.array([None, 5.0])}
    return pa.table({name: columns[name] for name in names})


OTHERS: dict[str, Callable[[str, tuple[str, ...]], Any]] = {
    "append": lambda path, names: lance.write_dataset(_rows(100, *names), path, mode="append"),
    "delete": lambda path, _: lance.dataset(path).delete("a = 9"),
    "delete a fragment": lambda path, _: lance.dataset(path).delete("a < 8"),
    "update": lambda path, _: lance.dataset(path).update({"a": "a + 50"}, where="a = 9"),
    "upsert": lambda path, names: (
        lance.dataset(path)
        .merge_insert("a")
        .when_matched_update_all()
        .when_not_matched_insert_all()
        .execute(_rows(11, *names))
    ),
    "add a column": lambda path, _: lance.dataset(path).add_columns({"k": "a + 1"}),
    "compact": lambda path, _: lance.dataset(path).optimize.compact_files(),
    "index": lambda path, _: lance.dataset(path).create_scalar_index("s", "BTREE"),
    "restore": lambda path, _: lance.dataset(path, version=lance.dataset(path).version - 1).restore(),
    "config": lambda path, _: lance.dataset(path).update_config({"k": "v"}),
    "drop another column": lambda path, _: lance.dataset(path).drop_columns(["s"]),
    "rename": lambda path, _: lance.dataset(path).alter_columns({"path": "a", "name": "b"}),
    "cast": lambda path, _: lance.dataset(path).alter_columns({"path": "s", "data_type": pa.large_string()}),
    "overwrite": lambda path, _: lance.write_dataset(lance.dataset(path).to_table(), path, mode="overwrite"),
}
REFUSED = ("add a column", "drop another column", "rename", "cast")


@pytest.mark.parametrize("when", ["between two looks", "at the commit"])
@pytest.mark.parametrize("is_there", [False, True], ids=["new", "there"])
@pytest.mark.parametrize("other", OTHERS)
def test_see_what_others_write_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str, is_there: bool, when: str
) -> None:
    """Every row has its value, of the row as it is at the commit, or the run is refused and the table is what others made it."""
    path = make(tmp_path, is_there=is_there)
    filling = begin(path)
    fill(filling)
    names = tuple(lance.dataset(path).schema.names)
    if when == "at the commit":
        commit_of = lance.LanceDataset.commit

        def late(*arguments: Any, **named: Any) -> Any:
            monkeypatch.setattr(lance.LanceDataset, "commit", staticmethod(commit_of))
            OTHERS[other](path, names)
            return commit_of(*arguments, **named)

        monkeypatch.setattr(lance.LanceDataset, "commit", staticmethod(late))
    else:
        OTHERS[other](path, names)
    if other in REFUSED:
        with pytest.raises(PipelineError) as caught:
            settle(filling)
        assert caught.value.code is CONCURRENT_RUN
        COLUMN_SINK.close(filling)
    else:
        settle(filling)
        found = read(path)
        assert found == {a: float(a * 2) for a in found}
        assert len(found) == lance.dataset(path).count_rows()
    assert not files_beside(path)


def kill(filling: Filling) -> None:
    """Let the folder tell of a process of this machine that is gone."""
    folder = Path(filling.place.staging)
    gone = f"{this_process().partition('-')[0]}-999999999-1"
    (folder / staging.RUN_FILE).write_text(replace(filling.place.run, process=gone).to_json())
    if (folder / staging.COMMITTER).exists():
        (folder / staging.COMMITTER).write_text(gone)
    folder.rename(str(folder).replace(f".{this_process()}.", f".{gone}."))


@pytest.mark.parametrize("done", [0, 1, 2, 3])
def test_go_on_where_a_dead_attempt_was(tmp_path: Path, done: int) -> None:
    path = make(tmp_path)
    filling = begin(path)
    fill(filling, parts=done)
    kill(filling)
    recover(path, None, NO_STORAGE)  # of any other run
    again = begin(path)
    look = COLUMN_SINK.look(again)
    assert (len(look.missing), look.reused) == (3 - done, done)
    settle(again)
    assert read(path) == {a: float(a * 2) for a in read(path)}
    assert not files_beside(path)


def test_go_on_with_what_was_moved_by_a_commit_that_died(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make(tmp_path)
    filling = begin(path)
    fill(filling)
    monkeypatch.setattr(lance.LanceDataset, "commit", staticmethod(_stop))
    with pytest.raises(KeyboardInterrupt):
        commit(filling)
    monkeypatch.undo()
    kill(filling)
    again = begin(path)
    assert COLUMN_SINK.look(again).missing == ()
    settle(again)
    assert not files_beside(path)


def _stop(*_: Any, **__: Any) -> Any:
    raise KeyboardInterrupt


def test_other_values_are_computed_anew(tmp_path: Path) -> None:
    path = make(tmp_path)
    filling = begin(path)
    fill(filling)
    COLUMN_SINK.pause(filling)
    again = begin(path, key="other")
    assert len(COLUMN_SINK.look(again).missing) == 3
    settle(again)
    assert not files_beside(path)


def test_what_nobody_goes_on_with_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path)
    filling = begin(path)
    fill(filling, parts=1)
    COLUMN_SINK.pause(filling)
    recover(path, None, NO_STORAGE)
    assert files_beside(path)
    monkeypatch.setattr(staging, "RETENTION_SECONDS", 0.0)
    recover(path, None, NO_STORAGE)
    assert not files_beside(path)


def test_row_that_comes_back_is_computed(tmp_path: Path) -> None:
    path = make(tmp_path)
    filling = begin(path)
    fill(filling)
    lance.dataset(path, version=1).restore()
    settle(filling)
    assert read(path) == {a: float(a * 2) for a in range(20)}


def test_refuse_another_table(tmp_path: Path) -> None:
    with pytest.raises(PipelineError) as caught:
        COLUMN_SINK.new_columns(str(tmp_path / "none.lance"), FORM, ("n",), NO_STORAGE)
    assert caught.value.code is SCHEMA_MISMATCH
    path = make(tmp_path)
    other = TableForm(pa.schema([pa.field("a", pa.int64()), pa.field("s", pa.string()), NEW]))
    with pytest.raises(PipelineError, match="`a`"):
        COLUMN_SINK.new_columns(path, other, ("n",), NO_STORAGE)


def test_new_id_is_one_that_no_file_has(tmp_path: Path) -> None:
    """Otherwise the values of a column that was dropped would be those of the new one."""
    path = make(tmp_path)
    lance.dataset(path).drop_columns(["s"])
    before = lance.dataset(path)
    used = {id for f in before.get_fragments() for file in f.data_files() for id in file.fields}
    assert used == {0, 1}
    settle(begin(path, form=TableForm(pa.schema([BEFORE.field("a"), NEW]))))
    (id,) = [field.id() for field in lance.dataset(path).lance_schema.fields() if field.name() == "n"]
    assert id == 2
    assert read(path) == {a: float(a * 2) for a in read(path)}


SHAPES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "struct": (pa.struct([pa.field("x", pa.int32(), False), ("y", pa.string())]), [{"x": 1, "y": "a"}, None]),
    "list": (pa.list_(pa.field("item", pa.string())), [["a", None], [], None]),
    "vector": (pa.list_(pa.float32(), 3), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    "optional vector": (pa.list_(pa.float32(), 3), [[1.0, 2.0, 3.0], None]),
    "map": (pa.map_(pa.string(), pa.int64()), [[("k", 1)], None, []]),
    "decimal": (pa.decimal128(20, 3), [None, 5]),
    "nanoseconds": (pa.timestamp("ns", "UTC"), [1, None]),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), ["a", None, "b"]),
    "binary": (pa.large_binary(), [b"\x00", None]),
    "fixed binary": (pa.binary(2), [b"\x00\x01", None]),
    "bool": (pa.bool_(), [True, None, False]),
    "half": (pa.float16(), [1.5, None]),
    "unsigned": (pa.uint64(), [2**64 - 1, None]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_fill_columns_of_every_shape(tmp_path: Path, shape: str) -> None:
    """Values that nest, kept and new beside each other, null and not."""
    type_, some = SHAPES[shape]
    path = str(tmp_path / "t.lance")
    values = pa.array([some[i % len(some)] for i in range(20)], type_)
    was = values.take(pa.array(range(19, -1, -1)))
    schema = pa.schema([pa.field("a", pa.int32()), pa.field("n", type_)])
    old = pa.table({"a": pa.array(range(20), pa.int32()), "n": was}, schema)
    lance.write_dataset(old, path, max_rows_per_file=8, data_storage_version="2.2")
    for keeps in (True, False):
        filling = begin(path, keeps=keeps, id=f"keeps-{keeps}", form=TableForm(schema))
        look = COLUMN_SINK.look(filling)
        folder = COLUMN_SINK.prepare(filling, look.version)
        for part in look.missing:
            rows = [row for row in values_of(filling, look.version, part) if not keeps or row[1] % 3 == 0]
            own = values.take(pa.array([a for _, a in rows]))
            batch = pa.record_batch([pa.array([at for at, _ in rows]), own], names=[ADDRESSES, "n"])
            piece = COLUMN_SINK.write(filling, look.version, folder, part, iter([batch]))
            COLUMN_SINK.keep(filling, piece, {})
        assert commit(filling)
        COLUMN_SINK.close(filling)
        found = lance.dataset(path).to_table()["n"].combine_chunks()
        places = [i if not keeps or i % 3 == 0 else 20 + i for i in range(20)]
        assert found.equals(pa.concat_arrays([values, was]).take(pa.array(places)).cast(found.type))


def test_new_columns_have_the_ids_of_the_lock(tmp_path: Path) -> None:
    path = make(tmp_path)
    fields = lance_fields_of(FORM.schema)
    fields[2].id = 7
    form = replace(FORM, native=encode(pb.Schema(fields=fields)), version="2-a")
    settle(begin(path, form=form))
    assert {field.name(): field.id() for field in lance.dataset(path).lance_schema.fields()} == {
        "a": 0, "s": 1, "n": 7,
    }  # fmt: skip
    assert read(path) == {a: float(a * 2) for a in read(path)}
    fields[0].id = 5
    other = replace(FORM, native=encode(pb.Schema(fields=fields)), version="3-b")
    with pytest.raises(PipelineError, match="has the id 0 in the table, and 5"):
        COLUMN_SINK.new_columns(path, other, ("n",), NO_STORAGE)


def test_column_that_apply_added_as_null_may_be_required_later(tmp_path: Path) -> None:
    """It stays what it is in the table: Lance makes it required in a commit of its own."""
    path = make(tmp_path, is_there=True)
    form = TableForm(BEFORE.append(NEW.with_nullable(False)))
    settle(begin(path, form=form))
    assert lance.dataset(path).schema.field("n").nullable
    assert None not in read(path).values()


def test_fill_columns_that_lance_gives_in_another_form(tmp_path: Path) -> None:
    """Blobs that lie beside the data file, and JSON; those of rows that are left out cannot be kept."""
    path, large = str(tmp_path / "t.lance"), b"x" * 100_000
    schema = pa.schema([pa.field("a", pa.int32()), lance.blob_field("n"), pa.field("j", pa.json_())])
    blobs = lance.blob_array([large if i % 2 else b"y" for i in range(20)])
    texts = pa.array(['{"a":1}'] * 20, pa.json_())
    rows = pa.table([pa.array(range(20), pa.int32()), blobs, texts], schema)
    lance.write_dataset(rows, path, max_rows_per_file=8, data_storage_version="2.2")
    form = TableForm(schema)
    for name in ("n", "j"):
        with pytest.raises(PipelineError, match="cannot keep"):
            COLUMN_SINK.open(
                path, form, FilledColumns((name,), "k", keeps=True), storage=NO_STORAGE, run=identity()
            )
    filling = COLUMN_SINK.open(
        path, form, FilledColumns(("n", "j"), "k", keeps=False), storage=NO_STORAGE, run=identity()
    )
    look = COLUMN_SINK.look(filling)
    folder = COLUMN_SINK.prepare(filling, look.version)
    for part in look.missing:
        own = values_of(filling, look.version, part)
        batch = pa.record_batch(
            [
                pa.array([at for at, _ in own]),
                lance.blob_array([large + b"z" if a % 2 else b"w" for _, a in own]),
                pa.array([f'{{"b":{a}}}' for _, a in own], pa.json_()),
            ],
            names=[ADDRESSES, "n", "j"],
        )
        COLUMN_SINK.keep(filling, COLUMN_SINK.write(filling, look.version, folder, part, iter([batch])), {})
    assert commit(filling)
    COLUMN_SINK.close(filling)
    found = lance.dataset(path)
    read = [blob.read() for blob in found.take_blobs("n", indices=list(range(20)))]
    assert read == [large + b"z" if i % 2 else b"w" for i in range(20)]
    assert found.to_table(columns=["j"])["j"].to_pylist() == [f'{{"b":{i}}}' for i in range(20)]
    assert not staging.table_area(path).folders()
