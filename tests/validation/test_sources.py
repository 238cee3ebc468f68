"""Whatever a program holds rows in gives the same result; what holds none is told so."""

import dataclasses
import datetime
import json
import subprocess
import sys
import uuid
from collections import namedtuple
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pydantic import BaseModel

import schemac
from schemac.rows.validation.validating import ROWS_AT_ONCE
from tests.conformance.pypaimon.client import PYTHON as PYTHON_WITH_PANDAS

MANIFEST = """
name: rides
fields:
  - {name: id, type: Int32, extra: {lance.org/primaryKey: {position: 1}}}
  - {name: at, type: {kind: Option, inner: Timestamp}}
  - {name: fare, type: {kind: Option, inner: {kind: Decimal, precision: 8, scale: 2}}, extra: {schemac.dev/minimum: 0}}
  - {name: kind, type: {kind: Option, inner: {kind: String, extra: {schemac.dev/enum: [a, b]}}}}
"""
AT = datetime.datetime(2024, 5, 1, 10, tzinfo=datetime.UTC)
ROWS: list[dict[str, Any]] = [
    {"id": 1, "at": AT, "fare": Decimal("1.50"), "kind": "a"},
    {"id": 2, "at": None, "fare": None, "kind": None},
    {"id": 3, "at": AT, "fare": Decimal("-1.00"), "kind": "c"},
    {"id": 3, "at": AT, "fare": Decimal("0.00"), "kind": "b"},
    {"id": 3, "at": AT, "fare": Decimal("0.00"), "kind": "b"},
]
BROKEN = [(2, "fare", "minimum"), (2, "kind", "enum"), (3, "id", "duplicate"), (4, "id", "duplicate")]


@pytest.fixture(scope="module")
def rides() -> schemac.Dataset:
    (found,) = schemac.compile_text(MANIFEST)
    return found


def wide_table() -> pa.Table:
    """The rows as programs have them: wide integers, microseconds, dictionaries."""
    kinds = pa.array([row["kind"] for row in ROWS]).dictionary_encode()
    at = pa.array([row["at"] for row in ROWS], pa.timestamp("us", "UTC"))
    fares = pa.array([row["fare"] for row in ROWS], pa.decimal128(8, 2))
    return pa.table(
        {
            "more": pa.nulls(5),
            "kind": kinds,
            "id": pa.array([1, 2, 3, 3, 3], pa.int64()),
            "at": at,
            "fare": fares,
        }
    )


def told(found: schemac.Validation) -> list[tuple[int, str, str]]:
    assert found.rows == 5
    assert found.good.column("id").to_pylist() == [1, 2]
    assert found.bad.column("_row").to_pylist() == [2, 3, 4]
    assert [e["rule"] for e in found.bad.column("_errors")[0].as_py()] == ["minimum", "enum"]
    return [(one.row, one.path, one.rule) for one in found.reasons]


def test_take_what_holds_arrow(rides: schemac.Dataset) -> None:
    import duckdb
    import polars

    table = wide_table()
    relation = duckdb.from_arrow(table)
    batches = table.to_batches(max_chunksize=2)
    for source in (
        table, table.combine_chunks().to_batches()[0], pa.RecordBatchReader.from_batches(table.schema, batches), polars.from_arrow(table), relation,
    ):  # fmt: skip
        assert told(rides.validate(source)) == BROKEN, type(source)


def test_take_rows_of_python(rides: schemac.Dataset) -> None:
    @dataclasses.dataclass
    class Ride:
        id: int
        at: datetime.datetime | None
        fare: Decimal | None
        kind: str | None

    class Model(BaseModel):
        id: int
        at: datetime.datetime | None
        fare: Decimal | None
        kind: str | None

    named = namedtuple("named", ["id", "at", "fare", "kind"])  # noqa: PYI024 — a program's own
    texts = [
        json.dumps(row, default=lambda x: float(x) if isinstance(x, Decimal) else x.isoformat())
        for row in ROWS
    ]
    for rows in (
        ROWS, iter(ROWS), texts, [Ride(**row) for row in ROWS], [Model(**row) for row in ROWS], [named(**row) for row in ROWS],
        [tuple(row.values()) for row in ROWS],
    ):  # fmt: skip
        assert told(rides.validate(rows)) == BROKEN
    assert rides.to_table(ROWS[:2]).to_pylist() == ROWS[:2]
    assert rides.to_table([]).schema == rides.to_arrow()


def test_raise_with_every_reason(rides: schemac.Dataset) -> None:
    with pytest.raises(
        schemac.UnfitRowsError, match=r"row 3: id: duplicate: \{\"id\":3\} \(and 1 more\)"
    ) as caught:
        rides.to_table(ROWS)
    assert isinstance(caught.value, schemac.SchemaError)
    assert {one.code for one in caught.value.diagnostics} == {"SC350"}
    assert told(caught.value.validation) == BROKEN
    shown = caught.value.validation._repr_html_()
    assert "<code>fare</code>" in shown
    assert "2 of 5 rows fit rides" in repr(caught.value.validation)
    assert json.loads(json.dumps(caught.value.validation.to_json()))["records"] == {
        "in": 5,
        "fit": 2,
        "rejected": 3,
    }
    assert rides.validate(ROWS[:2]).raise_if_bad().is_good


OBJECTS = """
name: t
fields:
  - {name: s, type: {kind: Option, inner: String}}
  - {name: b, type: {kind: Option, inner: Binary}}
  - {name: u, type: {kind: Option, inner: {kind: Binary, fixedLength: 16, extra: {arrow.apache.org/extensionType: {name: arrow.uuid}}}}}
  - {name: d, type: {kind: Option, inner: Date}}
  - {name: c, type: {kind: Option, inner: {kind: Timestamp, timezone: null}}}
  - {name: t, type: {kind: Option, inner: Time}}
  - {name: w, type: {kind: Option, inner: Duration}}
  - {name: i, type: {kind: Option, inner: Int8}}
  - {name: f, type: {kind: Option, inner: Float32}}
  - {name: j, type: {kind: Option, inner: {kind: String, extra: {lance.org/json: true}}}}
  - {name: m, type: {kind: Option, inner: {kind: Map, keyType: Int32, valueType: String}}}
"""
ID = uuid.UUID(int=5)
TAKEN = {
    "s": "x",
    "b": b"ab",
    "u": ID,
    "d": datetime.date(2024, 1, 2),
    "c": datetime.datetime(2024, 1, 2, 3),  # noqa: DTZ001 — a clock has no zone
    "t": datetime.time(1, 2, 3),
    "w": datetime.timedelta(seconds=1.5),
    "i": 5,
    "f": float("inf"),
    "j": {"a": [1, None]},
    "m": {1: "x"},
}
REFUSED = {
    ("s", b"ab"): "type", ("s", 5): "type", ("s", ID): "type", ("b", "ä"): "cast", ("u", b"ab"): "type", ("d", datetime.datetime(2024, 1, 2, 3)): "cast",  # noqa: DTZ001
    ("c", AT): "cast", ("c", datetime.date(2024, 1, 2)): "type", ("c", datetime.datetime(2024, 1, 2, 3, 4, 5, 6)): "precision", ("t", AT): "type",  # noqa: DTZ001
    ("w", datetime.timedelta(microseconds=1)): "cast", ("i", True): "type", ("i", 1.5): "cast", ("i", 300): "range", ("i", "5"): "type", ("i", float("nan")): "type",
    ("f", 1e39): "range", ("j", frozenset({1})): "type", ("z", 1): "unexpected",
}  # fmt: skip


def test_take_objects_as_what_they_are() -> None:
    (dataset,) = schemac.compile_text(OBJECTS)
    (row,) = dataset.to_table([TAKEN]).to_pylist()
    assert row | {"j": json.loads(row["j"]), "m": dict(row["m"])} == TAKEN
    for (name, value), rule in REFUSED.items():
        found = dataset.validate([{name: value}], unexpected="reject")
        assert [(one.path, one.rule) for one in found.reasons] == [(name, rule)], (name, value)
    assert dataset.validate([{"z": 1}]).is_good


@dataclasses.dataclass
class Place:
    x: float


@dataclasses.dataclass
class Trip:
    at: Any
    place: Any = None


def test_take_objects_in_objects_and_refuse_those_that_no_record_has() -> None:
    (dataset,) = schemac.compile_text("""
name: t
fields:
  - {name: at, type: {kind: Option, inner: Timestamp}}
  - {name: place, type: {kind: Option, inner: {kind: Struct, fields: [{name: x, type: Float64}]}}}
""")
    assert dataset.to_table([Trip(None, Place(1.5))]).to_pylist() == [{"at": None, "place": {"x": 1.5}}]
    first = datetime.datetime.min.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=9)))
    found = dataset.validate(
        [Trip(first), Trip(None, first), Trip(None, {1}), {"at": None, "\ud800": 1}, {"at": "\ud800"}, '{"at": "\ud800"}', {"at": None, 5: [["\ud800"]]}]
    )  # fmt: skip
    assert [tuple(one) for one in found.reasons] == [
        (0, "at", "range", "0001-01-01T00:00:00+09:00"),
        (1, "place", "type", "0001-01-01 00:00:00+09:00"),
        (2, "place", "type", "{1}"),
        (4, "", "malformed", '{"at": "\\ud800"}'),
        (5, "", "malformed", '{"at": "\\ud800"}'),
        (6, "", "malformed", '{"at": null, "5": [["\\ud800"]]}'),
    ]


@pytest.mark.parametrize("source", [5, "{}", {"id": 1}, b"", None])
def test_say_what_holds_no_rows(rides: schemac.Dataset, source: Any) -> None:
    with pytest.raises(schemac.SchemaError, match="does not hold rows") as caught:
        rides.validate(source)
    assert caught.value.diagnostics[0].code == "SC351"


def test_say_what_is_wrong_with_columns(rides: schemac.Dataset) -> None:
    good = wide_table()
    wrong = {
        "SC641": good.drop_columns(["fare"]),
        "SC639": pa.Table.from_arrays([*good.columns, good.column("id")], [*good.schema.names, "id"]),
        "SC643": good.set_column(2, "id", pa.array([[1]] * 5)),
    }
    for code, table in wrong.items():
        with pytest.raises(schemac.SchemaError) as caught:
            rides.validate(table)
        assert [one.code for one in caught.value.diagnostics] == [code]
    with pytest.raises(schemac.SchemaError, match="which the schema does not have"):
        rides.validate(good, unexpected="reject")


REFERRING = """
name: r
extra: {schemac.dev/references: [{fields: [driver], dataset: drivers, to: [id]}]}
fields:
  - {name: driver, type: {kind: Option, inner: Int32}}
"""


def test_look_references_up() -> None:
    (dataset,) = schemac.compile_text(REFERRING)
    rows = [{"driver": 1}, {"driver": None}, {"driver": 7}]
    assert dataset.validate(rows).unchecked == ("drivers",)
    found = dataset.validate(rows, references={"drivers": pa.table({"id": pa.array([1, 2], pa.int64())})})
    assert [(one.row, one.rule, one.value) for one in found.reasons] == [(2, "references", '{"driver":7}')]
    for given, said in (
        ({"driver": 5}, "did you mean `drivers`"),
        ({"drivers": 5}, "are a int"),
        ({"drivers": pa.table({"ids": [1]})}, "has no field `id`"),
        ({"drivers": pa.table({"id": ["x"]})}, "is int32, and `id`"),
    ):
        with pytest.raises(schemac.SchemaError) as caught:
            dataset.validate(rows, references=given)
        shown = caught.value.diagnostics[0]
        assert shown.code == "SC697"
        assert said in f"{shown.message} {shown.help}"


PROGRAM = """
import sys
sys.path.append(sys.argv[1])
import pandas, pyarrow, schemac
(rides,) = schemac.compile_text(sys.argv[2])
frame = pandas.DataFrame({"id": [1, 2, 3], "at": pandas.to_datetime(["2024-05-01T10:00Z", None, "2024-05-01T10:00Z"]),
                          "fare": [1, None, -1], "kind": pandas.Categorical(["a", None, "c"])}).astype({"fare": "Int64"})
found = rides.validate(frame)
print([(one.row, one.path, one.rule) for one in found.reasons], found.good.num_rows)
"""


@pytest.mark.slow
def test_take_frames_of_pandas() -> None:
    """It is in another environment, whose libraries stand behind those of this one."""
    libraries = next(iter(Path(PYTHON_WITH_PANDAS).parents[1].glob("lib/python3*/site-packages")), None)
    same = (
        libraries is not None
        and libraries.parent.name == f"python{sys.version_info.major}.{sys.version_info.minor}"
    )
    if libraries is None or not same:
        pytest.skip("`make test` makes the environment with pandas")
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(libraries), MANIFEST], capture_output=True, text=True, check=False
    )
    assert ran.stdout == "[(2, 'fare', 'minimum'), (2, 'kind', 'enum')] 2\n", ran.stderr


@pytest.mark.parametrize("count", [1, ROWS_AT_ONCE - 1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1, 2 * ROWS_AT_ONCE + 2])
def test_judge_every_row_of_a_long_list(count: int) -> None:
    """Rows of Python are judged some thousands at a time; none is lost between two batches."""
    (dataset,) = schemac.compile_text("fields: [{name: a, type: Int64}]")
    rows = [{"a": i} for i in range(count)]
    assert dataset.to_table(rows).column("a").to_pylist() == list(range(count))
    assert dataset.validate(iter(rows)).good.num_rows == count
    wrong = dataset.validate([{"a": "x"} for _ in range(count)])
    assert [one.row for one in wrong.reasons] == list(range(count))
