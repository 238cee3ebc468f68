"""Plans carried out where something stands in the way: hostile values, indices, other writers, sudden death."""

import io
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import schemac
from schemac.cli.main import main
from schemac.engines.lance.tables.apply import apply_plan, report_drift
from schemac.engines.lance.tables.plan import LancePlan, plan
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.version_pair import locked_schema_version
from schemac.versions.identity.lock import LockedDataset
from tests.tables.test_oracle import QUIET, files, locked, opened, write

Tree = dict[str, Any]


def field(type_: Any, name: str = "x", **extra: Any) -> Tree:
    return {"name": name, "type": type_, **({"extra": extra} if extra else {})}


def optional(type_: Any) -> Tree:
    return {"kind": "Option", "inner": type_}


def planned(path: str, lock: LockedDataset, report: Report, number: int | None = None) -> LancePlan | None:
    newest = lock.versions[-1].number
    return plan(opened(path, lock), locked_schema_version(lock, number or newest), report)


def carried_out(path: str, lock: LockedDataset) -> None:
    report = Report()
    made = planned(path, lock, report)
    assert made is not None, report.diagnostics
    assert apply_plan(made, report, QUIET), report.diagnostics
    report_drift(opened(path, lock), made.pair.new, report)
    assert not report.diagnostics


def two(old: Any, new: Any, **extra: Any) -> LockedDataset:
    """A lock with two versions of the column x."""
    key = field("Int64", "key")
    return locked([{"fields": [key, field(old)]}, {"fields": [key, field(new, **extra)]}])


DECIMAL = {"kind": "Decimal", "precision": 9, "scale": 4}
STRUCT = {"kind": "Struct", "fields": [field(optional("Int32"), "a")]}
HOSTILE = [
    ("null in a column", optional("Int32"), "Int32", [1, None], "1 is null"),
    ("null in a member", STRUCT, {"kind": "Struct", "fields": [field("Int32", "a")]}, [{"a": 1}, {"a": None}], "null"),
    ("null in a list", {"kind": "List", "itemType": optional("Int8")}, {"kind": "List", "itemType": "Int8"}, [[1], [None, 2]], "null"),
    ("too large", "Int64", "Int8", [1, 300], "300"),
    ("negative", "Int32", "UInt32", [1, -1], "-1"),
    ("too large in a list", {"kind": "List", "itemType": "Int64"}, {"kind": "List", "itemType": "Int16"}, [[1], [2, 70000]], "70000"),
    ("digits lost", {"kind": "Decimal", "precision": 9, "scale": 4}, {"kind": "Decimal", "precision": 9, "scale": 2}, ["1.0000", "1.2345"], "x"),
    ("too many digits", {"kind": "Decimal", "precision": 9, "scale": 0}, {"kind": "Decimal", "precision": 5, "scale": 0}, ["1", "123456"], "x"),
    ("no number", "String", "Int64", ["1", "one"], "one"),
    ("fraction", "Float64", "Int32", [1.0, 1.5], "1.5"),
    ("moment cut off", {"kind": "Timestamp", "unit": "Microsecond"}, {"kind": "Timestamp", "unit": "Second"}, [1_000_000, 1_500_000], "x"),
    ("time of day", {"kind": "Timestamp", "unit": "Second", "timezone": None}, "Date", [86400, 86401], "00:00:01"),
    ("another length", {"kind": "List", "itemType": "Float32"}, {"kind": "List", "itemType": "Float32", "fixedLength": 2}, [[1.0, 2.0], [1.0]], "a list of 1 item"),
    ("no text", "Binary", "String", [b"a", b"\xff"], "x"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "values", "word"), [h[1:] for h in HOSTILE], ids=[h[0] for h in HOSTILE]
)
def test_change_nothing_where_a_value_does_not_fit(
    tmp_path: Path, old: Any, new: Any, values: list[Any], word: str
) -> None:
    lock, path = two(old, new), str(tmp_path / "t.lance")
    schema = locked_schema_version(lock, 1).lowered.to_arrow()
    if pa.types.is_decimal(schema.field("x").type):
        column = pa.array(values).cast(schema.field("x").type)
    else:
        column = pa.array(values, schema.field("x").type)
    rows = pa.Table.from_arrays([pa.array([1, 2], pa.int64()), column], schema=schema)
    lance.write_dataset(rows, path)
    before, report = files(path), Report()
    made = planned(path, lock, report)
    assert made is not None, report.diagnostics
    assert not apply_plan(made, report, QUIET)
    (found,) = report.diagnostics
    assert found.code == "SC422"
    assert word in found.message
    assert (lance.dataset(path).version, files(path)) == (1, before)
    lance.write_dataset(rows.slice(0, 1), path, mode="overwrite")
    carried_out(path, lock)
    assert lance.dataset(path).count_rows() == 1


def test_find_that_lance_refuses_what_is_refused(tmp_path: Path) -> None:
    """What the plan refuses Lance itself refuses, or breaks on."""
    table = pa.table({"x": pa.array([[1.0, 2.0]], pa.list_(pa.float32(), 2)), "i": pa.array([1])})
    data = lance.write_dataset(table, str(tmp_path / "t"))
    with pytest.raises(OSError, match="must be nullable"):
        data.add_columns(pa.field("n", pa.int8(), nullable=False))
    for column, type_ in (
        ("x", pa.list_(pa.float32(), 3)),
        ("i", pa.struct([("a", pa.int8())])),
        ("i", pa.bool_()),
    ):
        with pytest.raises((OSError, ValueError), match="Cannot cast"):
            data.alter_columns({"path": column, "data_type": type_})
    lock = two(
        {"kind": "List", "itemType": "Float32", "fixedLength": 2},
        {"kind": "List", "itemType": "Float32", "fixedLength": 3},
    )
    path = str(tmp_path / "t.lance")
    write(path, locked_schema_version(lock, 1), [{"key": 1, "x": [1.0, 2.0]}])
    report = Report()
    assert planned(path, lock, report) is None
    assert [d.code for d in report.diagnostics] == ["SC411"]


ROWS = [{"key": i, "a": i, "b": f"b{i % 5}", "v": [float(i), 0.5], "s": {"n": i}} for i in range(300)]
BEFORE = [
    field("Int64", "key", **{"lance.org/primaryKey": {"position": 1}}),
    field("Int32", "a", **{"lance.org/encoding": {"compression": "zstd"}}),
    field("String", "b"),
    field({"kind": "List", "itemType": "Float32", "fixedLength": 2}, "v"),
    field({"kind": "Struct", "fields": [field("Int32", "n")]}, "s"),
]
AFTER = [
    field(optional("Date"), "new"),
    field("Int64", "key", **{"lance.org/primaryKey": {"position": 1}}),
    field("Int64", "a2", **{"schemac.dev/renamedFrom": "a", "lance.org/encoding": {"compression": "lz4"}}),
    field("String", "label", **{"schemac.dev/renamedFrom": "b"}),
    field({"kind": "List", "itemType": "Float64", "fixedLength": 2}, "v"),
    field({"kind": "Struct", "fields": [field("String", "n"), field(optional("Bool"), "flag")]}, "s"),
]


@pytest.fixture
def table(tmp_path: Path) -> tuple[str, LockedDataset]:
    """A table with indices, whose schema is to change in every way."""
    lock, path = locked([{"fields": BEFORE}, {"fields": AFTER}]), str(tmp_path / "t.lance")
    write(path, locked_schema_version(lock, 1), ROWS, per_file=100)
    data = lance.dataset(path)
    data.create_scalar_index("a", "BTREE")
    data.create_scalar_index("b", "BITMAP", name="by_label")
    data.create_scalar_index("s.n", "BTREE")
    data.create_index("v", "IVF_PQ", num_partitions=1, num_sub_vectors=1, metric="cosine")
    lance.dataset(path).delete("key = 7")
    return path, lock


def assert_changed(path: str) -> None:
    data = lance.dataset(path)
    rows = data.to_table().to_pylist()
    assert len(rows) == 299
    assert rows[8] == {
        "new": None, "key": 9, "a2": 9, "label": "b4", "v": [9.0, 0.5], "s": {"n": "9", "flag": None},
    }  # fmt: skip
    found = {i.name: (i.index_type, i.field_names[0]) for i in data.describe_indices()}
    assert found == {
        "a_idx": ("BTree", "a2"), "by_label": ("Bitmap", "label"), "s.n_idx": ("BTree", "s.n"), "v_idx": ("IVF_PQ", "v"),
    }  # fmt: skip
    assert data.to_table(filter="label = 'b4' and a2 = 9").num_rows == 1
    assert data.schema.field("a2").metadata[b"lance-encoding:compression"] == b"lz4"
    assert data.config() == {}


def test_keep_indices_metadata_and_old_versions(table: tuple[str, LockedDataset]) -> None:
    path, lock = table
    start = lance.dataset(path).version
    carried_out(path, lock)
    assert_changed(path)
    old = lance.dataset(path, version=start)
    assert old.to_table().num_rows == 299
    assert old.schema.names == ["key", "a", "b", "v", "s"]


_KILLED = """
import os, signal, sys
from tests.tables.test_apply import AFTER, BEFORE, planned
from tests.tables.test_oracle import locked
from schemac.text.source.diagnostics import Report
from schemac.engines.lance.tables.apply import apply_plan

def apply_until(path, moment):
    told = 0
    def progress(what, done, total):
        nonlocal told
        told += 1
        if told == moment:
            os.kill(os.getpid(), signal.SIGKILL)
    report = Report()
    made = planned(path, locked([{"fields": BEFORE}, {"fields": AFTER}]), report)
    assert apply_plan(made, report, progress), report.diagnostics

for line in sys.stdin:
    child = os.fork()
    if not child:
        code = 1
        try:
            apply_until(sys.argv[1], int(line))
            code = 0
        finally:
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Applies the plan once for each line of its input, in children that have the libraries loaded; tells how each ended."""


def test_go_on_after_a_sudden_death(table: tuple[str, LockedDataset]) -> None:
    """Killed again and again, each time a little later than what the last run still had to do."""
    path, lock = table
    died = 0
    words = [sys.executable, "-c", _KILLED, path]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as runs:
        assert runs.stdin is not None
        assert runs.stdout is not None
        for moment in (3, 5, 4, 6, 7, 6, 2, 3, 2, 4, 3, 2, 40, 40):
            print(moment, file=runs.stdin)
            status = int(runs.stdout.readline())
            assert status in (0, -signal.SIGKILL)
            died += status != 0
            assert lance.dataset(path).count_rows() == 299
    assert died >= 5
    assert planned(path, lock, Report()).is_done  # type: ignore[union-attr]
    assert_changed(path)


def test_go_on_where_a_member_of_a_list_was_under_way(tmp_path: Path) -> None:
    """Stopped after the new member was added, before it had its name."""
    old, new = (
        {"kind": "List", "itemType": {"kind": "Struct", "fields": [field("Int32", "a"), *more]}}
        for more in ([], [field(optional("String"), "b")])
    )
    lock, path = two(old, new), str(tmp_path / "t.lance")
    write(path, locked_schema_version(lock, 1), [{"key": 1, "x": [{"a": 1}]}])

    def stop(what: str, done: int, total: int) -> None:
        if what.startswith("swap in") and done:
            raise ValueError("stopped")

    report = Report()
    made = planned(path, lock, report)
    assert made is not None
    assert not apply_plan(made, report, stop)
    carried_out(path, lock)
    assert lance.dataset(path).to_table().to_pylist() == [{"key": 1, "x": [{"a": 1, "b": None}]}]


def test_say_so_where_somebody_else_was_quicker(table: tuple[str, LockedDataset]) -> None:
    path, lock = table
    report = Report()
    made = planned(path, lock, report)
    assert made is not None

    def interfere(what: str, done: int, total: int) -> None:
        if what.startswith("set schema") and not done:
            lance.dataset(path).drop_columns(["b"])

    assert not apply_plan(made, report, interfere)
    (found,) = report.diagnostics
    assert found.code == "SC411", "the column that is gone cannot be required"
    assert "key" in lance.dataset(path).schema.names


def test_let_rows_come_in_between(table: tuple[str, LockedDataset]) -> None:
    """An append between two steps is taken along; nothing of it is lost."""
    path, lock = table
    report = Report()
    made = planned(path, lock, report)
    assert made is not None
    rows = [{"key": 1000, "a": 1, "b": "b1", "v": [1.0, 2.0], "s": {"n": 1}}]

    def append(what: str, done: int, total: int) -> None:
        if what.startswith("swap in") and not done and lance.dataset(path).count_rows() == 299:
            arrow = locked_schema_version(lock, 1).lowered.to_arrow()
            lance.write_dataset(pa.Table.from_pylist(rows, schema=arrow), path, mode="append")

    assert apply_plan(made, report, append), report.diagnostics
    assert lance.dataset(path).count_rows() == 300
    assert lance.dataset(path).to_table(filter="key = 1000").to_pylist()[0]["s"] == {"n": "1", "flag": None}


def test_number_new_columns_as_the_lock_does_whatever_lance_would(tmp_path: Path) -> None:
    """Lance gives the id of a dropped column of nulls again; the lock never does."""
    key = field("Int64", "key")
    lock = locked(
        [{"fields": [key]}, {"fields": [key, field(optional("Int8"), "n")]}, {"fields": [key]},
         {"fields": [key, field(optional("String"), "m")]}]
    )  # fmt: skip
    path = str(tmp_path / "t.lance")
    write(path, locked_schema_version(lock, 1), [{"key": 1}])
    for number in (2, 3, 4):
        report = Report()
        made = planned(path, lock, report, number)
        assert made is not None
        assert apply_plan(made, report, QUIET), report.diagnostics
    assert [(f.name(), f.id()) for f in lance.dataset(path).lance_schema.fields()] == [("key", 0), ("m", 2)]


def test_take_a_table_that_numbers_by_itself(tmp_path: Path) -> None:
    """A table made of the second version by somebody else has Lance's ids; its fields are known by their places."""
    key = field("Int64", "key")
    lock = locked(
        [{"fields": [field("Int8", "x"), key]}, {"fields": [key, field("String", "y")]},
         {"fields": [key, field("String", "z", **{"schemac.dev/renamedFrom": "y"}), field(optional("Bool"), "n")]}]
    )  # fmt: skip
    path = str(tmp_path / "t.lance")
    write(path, locked_schema_version(lock, 2), [{"key": 1, "y": "a"}])
    report = Report()
    made = planned(path, lock, report)
    assert made is not None, report.diagnostics
    assert apply_plan(made, report, QUIET), report.diagnostics
    assert lance.dataset(path).to_table().to_pylist() == [{"key": 1, "z": "a", "n": None}]


def test_refuse_a_table_of_another_schema(tmp_path: Path) -> None:
    lock, path = two("Int8", "Int16"), str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"other": [1], "key": [2]}), path)
    report = Report()
    assert planned(path, lock, report) is None
    (found,) = report.diagnostics
    assert (found.code, found.message) == (
        "SC421",
        f"{path} has fields that the lock does not know: key, other",
    ) or ("other" in found.message)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.yaml").write_text(json.dumps({"name": "t", "fields": BEFORE}))
    assert main(["lock"]) == 0
    (dataset,) = schemac.compile_file("t.yaml")
    lance.write_dataset(pa.Table.from_pylist(ROWS, schema=dataset.to_arrow()), "t.lance")
    return tmp_path


def test_refuse_what_lance_cannot_hold(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    view = {"arrow.apache.org/bufferEncoding": {"kind": "View", "offsetBitWidth": 32}}
    listed = field({"kind": "List", "itemType": "Int8"}, "l", **view)
    for fields in ([*BEFORE, listed], BEFORE):
        (project / "t.yaml").write_text(json.dumps({"name": "t", "fields": fields}))
        assert main(["lock"]) == 0
        for command in ("plan", "apply", "verify"):
            code = main([command, "t", "--table", "t.lance"])
            shown = capsys.readouterr()
            assert "internal error" not in shown.err
            assert code == (1 if listed in fields else 0), (command, shown)
            assert ("SC501" in shown.out) == (listed in fields)


def test_verify_a_table_without_a_lock(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "t.lock").unlink()
    assert main(["verify", "t", "--table", "t.lance"]) == 0
    assert not (project / "t.lock").exists()
    lance.dataset("t.lance").alter_columns({"path": "b", "name": "c"})
    assert main(["verify", "t", "--table", "t.lance"]) == 1
    assert "`b` has the name `c` in the table" in capsys.readouterr().out


def test_show_and_do_on_the_command_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "t", "--table", "t.lance"]) == 0
    (project / "t.yaml").write_text(json.dumps({"name": "t", "fields": AFTER}))
    assert main(["plan", "t", "--table", "t.lance"]) == 4
    assert "SC401" in capsys.readouterr().out
    assert main(["lock"]) == 0
    assert main(["plan", "t", "--table", "t.lance", "--format", "json"]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert [step["step"] for step in steps] == [
        "rewrite",
        "rewrite",
        "rewrite",
        "add",
        "swap in",
        "set schema",
    ]
    assert main(["verify", "t", "--table", "t.lance"]) == 1
    assert main(["apply", "t", "--table", "t.lance", "--dry-run"]) == 0
    assert lance.dataset("t.lance").version == 1
    assert main(["apply", "t", "--table", "t.lance"]) == 0
    assert "and verified" in capsys.readouterr().err
    assert main(["verify", "t", "--table", "t.lance"]) == 0
    assert main(["apply", "t", "--table", "t.lance"]) == 0
    assert "nothing to do" in capsys.readouterr().out
    assert main(["plan", "t", "--table", "gone.lance"]) == 1
    assert "SC421" in capsys.readouterr().out


def in_a_process(words: list[str]) -> int:
    run = subprocess.run(
        [sys.executable, "-m", "schemac", *words], capture_output=True, text=True, check=False
    )
    print(run.stdout, run.stderr)
    return run.returncode


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("program", [main, pytest.param(in_a_process, marks=pytest.mark.long)])
def test_write_columns_anew_on_spark(project: Path, program: Callable[[list[str]], int]) -> None:
    """By the session that is there, and by one that the command starts."""
    (project / "t.yaml").write_text(json.dumps({"name": "t", "fields": AFTER}))
    assert program(["lock"]) == 0
    # Workers that are there already stand in another folder.
    table = str(project / "t.lance")
    assert program(["apply", "t", "--table", table, "--on", "spark"]) == 0
    assert program(["verify", "t", "--table", table]) == 0
    assert lance.dataset(table).to_table().to_pylist()[9]["s"] == {"n": "9", "flag": None}


def test_agree_on_a_table_that_numbers_by_itself(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `apply` has verified, `verify` has nothing against."""
    (project / "t.yaml").write_text(json.dumps({"name": "t", "fields": AFTER}))
    assert main(["lock"]) == 0
    (dataset,) = schemac.compile_file("t.yaml")
    lance.write_dataset(dataset.to_arrow().empty_table(), "t.lance", mode="overwrite")
    for columns in ([*AFTER], [*AFTER, field(optional("Int8"), "more")], [*AFTER[:2], *AFTER[3:]]):
        # A key stays what it is for ever, whatever else is said no more.
        key = "lance.org/primaryKey"
        columns = [{**c, "extra": {k: v for k, v in c.get("extra", {}).items() if k == key}} for c in columns]
        (project / "t.yaml").write_text(json.dumps({"name": "t", "fields": columns}))
        assert main(["lock"]) == 0
        assert main(["apply", "t", "--table", "t.lance"]) == 0
        capsys.readouterr()
        code = main(["verify", "t", "--table", "t.lance"])
        assert code == 0, capsys.readouterr().out


def test_print_one_document(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    for fields, code, is_applied in ((AFTER, 0, True), ([*AFTER, field("Int8", "n")], 1, False)):
        (project / "t.yaml").write_text(json.dumps({"name": "t", "fields": fields}))
        assert main(["lock"]) == 0
        capsys.readouterr()
        for words in (["--dry-run"], []):
            assert main(["apply", "t", "--table", "t.lance", "--format", "json", *words]) == code
            document = json.loads(capsys.readouterr().out)
            assert document.get("applied", False) == (is_applied and not words)
            assert bool(document["diagnostics"]) == (code == 1)


@pytest.mark.parametrize(("answer", "words"), [("n\n", []), ("y\n", []), ("", ["--yes"]), ("", [])])
def test_ask_before_data_is_written(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: str,
    words: list[str],
) -> None:
    (project / "t.yaml").write_text(json.dumps({"name": "t", "fields": AFTER}))
    assert main(["lock"]) == 0
    terminal = io.StringIO(answer)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    is_wanted = answer == "y\n" or bool(words)
    assert main(["apply", "t", "--table", "t.lance", *words]) == (0 if is_wanted else 1)
    assert ("Continue? [y/N]" in capsys.readouterr().err) == (not words)
    assert (lance.dataset("t.lance").version > 1) == is_wanted


def test_take_up_what_an_earlier_way_left_behind(tmp_path: Path) -> None:
    """A column beside the one that it was to replace, filled from values that may have changed since."""
    lock, path = two("String", "Int32"), str(tmp_path / "t.lance")
    write(path, locked_schema_version(lock, 1), [{"key": 1, "x": "1"}, {"key": 2, "x": "2"}])
    lance.dataset(path).add_columns({"__schemac_2": "cast(0 as int)"})
    lance.dataset(path).add_columns(pa.field("__schemac_before_9", pa.int8()))
    lance.dataset(path).update({"x": "'7'"}, where="key = 2")
    carried_out(path, lock)
    data = lance.dataset(path)
    assert data.schema.names == ["key", "x"]
    assert {row["key"]: row["x"] for row in data.to_table().to_pylist()} == {1: 1, 2: 7}
    assert [f.id() for f in data.lance_schema.fields()] == [0, 2]


def test_take_other_numbers_where_those_of_the_lock_are_used(tmp_path: Path) -> None:
    """Somebody added a column and dropped it again: its id is in data files, and Lance does not give it twice."""
    lock, path = two("Int8", "Int32"), str(tmp_path / "t.lance")
    write(path, locked_schema_version(lock, 1), [{"key": 1, "x": 1}])
    lance.dataset(path).add_columns({"other": "key + 1"})
    lance.dataset(path).drop_columns(["other"])
    carried_out(path, lock)
    assert lance.dataset(path).to_table().to_pylist() == [{"key": 1, "x": 1}]
    assert planned(path, lock, Report()).is_done  # type: ignore[union-attr]


PACKED = {"lance.org/encoding": {"packed": True}}
PAIR = [field("Int32", "a"), field("Int32", "b")]


@pytest.mark.parametrize(
    "members",
    [PAIR[::-1], PAIR[1:], [field("Int64", "a"), PAIR[1]], [*PAIR, field(optional("Int8"), "c")]],
    ids=["reorder", "drop", "cast", "add"],
)
def test_keep_the_members_of_packed_structs_where_they_lie(tmp_path: Path, members: list[Tree]) -> None:
    """Lance would take it, and give the values of one member to another."""
    old, new = ({"kind": "Struct", "fields": fields} for fields in (PAIR, members))
    lock = locked([{"fields": [field("Int64", "key"), field(type_, "x", **PACKED)]} for type_ in (old, new)])
    path, report = str(tmp_path / "t.lance"), Report()
    write(path, locked_schema_version(lock, 1), [{"key": 1, "x": {"a": 1, "b": 2}}])
    assert planned(path, lock, report) is None
    assert {d.code for d in report.diagnostics} <= {"SC411", "SC501"}
    assert lance.dataset(path).version == 1


LIMITED = [
    ("0.1", "Int32", "Int64", False),
    ("2.0", "Int32", "Int64", True),
    ("2.0", STRUCT, {"kind": "Struct", "fields": [field(optional("String"), "a")]}, True),
    ("2.1", STRUCT, {"kind": "Struct", "fields": [field(optional("String"), "a")]}, True),
    ("2.0", STRUCT, {"kind": "Struct", "fields": [field(optional("Int8"), "b")]}, True),
    ("2.0", STRUCT, optional({"kind": "Struct", "fields": [field(optional("Int64"), "a")]}), False),
    ("2.1", {"kind": "List", "itemType": "Int32"}, {"kind": "List", "itemType": "Int64"}, True),
    ("2.0", {"kind": "List", "itemType": "Int32"}, {"kind": "List", "itemType": "Int64"}, True),
    ("2.0", {"kind": "List", "itemType": STRUCT}, {"kind": "List", "itemType": {"kind": "Struct", "fields": [field(optional("Int8"), "b")]}}, True),
]  # fmt: skip
VALUES = {"Int32": 1, "Struct": {"a": 1}, "List": []}


@pytest.mark.parametrize(("version", "old", "new", "is_possible"), LIMITED)
def test_write_into_files_of_every_version(
    tmp_path: Path, version: str, old: Any, new: Any, is_possible: bool
) -> None:
    lock, path = two(old, new), str(tmp_path / "t.lance")
    value = VALUES[old if isinstance(old, str) else old["kind"]]
    rows = pa.Table.from_pylist(
        [{"key": 1, "x": value}] * 3, locked_schema_version(lock, 1).lowered.to_arrow()
    )
    lance.write_dataset(rows, path, data_storage_version=version)
    if not is_possible:
        report = Report()
        assert planned(path, lock, report) is None
        assert {d.code for d in report.diagnostics} == {"SC504"}
        return
    carried_out(path, lock)
    assert lance.dataset(path).to_table(columns=["x"]).num_rows == 3


@pytest.mark.parametrize("version", ["2.0", "2.1"])
def test_know_the_limits_of_the_table_before_the_first_commit(tmp_path: Path, version: str) -> None:
    map_ = optional({"kind": "Map", "keyType": "String", "valueType": "Int8"})
    lock = locked(
        [{"fields": [field("Int64", "key")]}, {"fields": [field("Int64", "key"), field(map_, "m")]}]
    )
    path, report = str(tmp_path / "t.lance"), Report()
    rows = pa.table({"key": [1]}, locked_schema_version(lock, 1).lowered.to_arrow())
    lance.write_dataset(rows, path, data_storage_version=version)
    assert planned(path, lock, report) is None
    (found,) = report.diagnostics
    assert found.code == "SC504"
    assert f"the data files of the table have version {version}" in found.message
    assert lance.dataset(path).version == 1


def test_name_the_outermost_field_that_is_missing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    map_ = {"kind": "Map", "keyType": "String", "valueType": "Int8"}
    (project / "t.yaml").write_text(
        json.dumps({"name": "t", "fields": [*BEFORE, field(optional(map_), "m")]})
    )
    assert main(["lock"]) == 0
    capsys.readouterr()
    assert main(["verify", "t", "--table", "t.lance"]) == 1
    shown = capsys.readouterr().out
    assert shown.count("SC424") == 1
    assert "`m` is missing" in shown


def test_say_of_the_version_of_files_what_helps(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    version = lance.dataset("t.lance").data_storage_version
    wanted = {"lance.org/storageVersion": "2.0"}
    (project / "t.yaml").write_text(json.dumps({"name": "t", "fields": BEFORE, "extra": wanted}))
    assert main(["lock"]) == 0
    capsys.readouterr()
    for command in ("apply", "apply", "verify"):
        assert main([command, "t", "--table", "t.lance"]) == 1
        shown = capsys.readouterr().out
        assert f"its files have storage version {version}, but the schema specifies 2.0" in shown
        assert 'data_storage_version="2.0"' in shown
        assert "schemac apply" not in shown
