"""The tables that runs write through lance-spark itself: those of schemac's own sink, or a refusal.

Shape: as in `test_lance_spark`. The rows are conformed by the project's Spark, and written by that of the connector.
"""

import json
import os
import subprocess
import sysconfig
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import lance
import pyarrow as pa
import pyarrow.parquet as pq

import schemac
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.pipeline import conform, write
from schemac.pipeline.record_tasks import column_type
from schemac.pipeline.writing.batches import to_schema
from schemac.rows.runs.identity import RunIdentity, random_id
from schemac.rows.runs.plain_types import plain_field
from schemac.rows.runs.storage import NO_STORAGE
from schemac.rows.runs.tables import Merge, TableForm, sink_of
from schemac.text.source.catalogue import CONNECTOR, KEY_EXISTS
from tests.conformance.connector.test_lance_spark import PYTHON, VERSION, pytestmark  # noqa: F401  skips
from tests.spark_session import session_of_tests

SCRIPT = Path(__file__).with_name("write_rows.py")


class Column(NamedTuple):
    """A type as manifests have it, and values as JSON and Arrow have them."""

    type: Any
    json: list[Any]
    arrow: list[Any] | None = None

    @property
    def values(self) -> list[Any]:
        return self.json if self.arrow is None else self.arrow


def timestamp(unit: str, **more: Any) -> dict[str, Any]:
    return {"kind": "Timestamp", "unit": unit, **more}


def vector(item: str) -> dict[str, Any]:
    return {"kind": "List", "itemType": item, "fixedLength": 2}


DAY = datetime.fromisoformat("2024-02-29T01:02:03.456")
MICROSECOND = timestamp("Microsecond")
COLUMNS = {
    "bool": Column("Bool", [True, False]),
    "int8": Column("Int8", [-128, 127]),
    "int16": Column("Int16", [-1, 1]),
    "int32": Column("Int32", [-1, 1]),
    "int64": Column("Int64", [-(2**63), 2**63 - 1]),
    "float32": Column("Float32", [0.5, -1.5]),
    "float64": Column("Float64", [0.1, 1e300]),
    "string": Column("String", ["", "ä𝄞"]),
    "binary": Column("Binary", ["", "AAE="], [b"", b"\0\1"]),
    "date": Column("Date", ["1969-12-31", "2024-02-29"], [date(1969, 12, 31), date(2024, 2, 29)]),
    "decimal": Column(
        {"kind": "Decimal", "precision": 38, "scale": 4}, [0.0001, -1], [Decimal("0.0001"), Decimal(-1)]
    ),
    "instant": Column(MICROSECOND, ["2024-02-29T01:02:03.456Z"], [DAY]),
    "clock": Column(timestamp("Microsecond", timezone=None), ["2024-02-29T01:02:03.456"], [DAY]),
    "vector": Column(vector("Float32"), [[1, 2]]),
    "doubles": Column(vector("Float64"), [[1, 2]]),
    "struct": Column(
        {"kind": "Struct", "fields": [{"name": "a", "type": {"kind": "Option", "inner": "Int32"}}]},
        [{"a": 1}, {"a": None}],
    ),
    "uint8": Column("UInt8", [0, 255]),
    "uint64": Column("UInt64", [0, 2**64 - 1]),
    "float16": Column("Float16", [0.5, 2]),
    "milliseconds": Column(timestamp("Millisecond"), [], [DAY]),
    "nanoseconds": Column(timestamp("Nanosecond"), [], [DAY]),
    "zone": Column(timestamp("Microsecond", timezone="America/New_York"), [], [DAY]),
    "time": Column({"kind": "Time", "unit": "Microsecond"}, [], [time(1, 2)]),
    "duration": Column({"kind": "Duration", "unit": "Microsecond"}, [1, -1], [timedelta(microseconds=1)]),
    "seconds": Column({"kind": "Duration", "unit": "Second"}, [], [timedelta(1)]),
    "integers": Column(vector("Int32"), [[1, 2]]),
    "list": Column({"kind": "List", "itemType": "String"}, [["a"], []]),
    "map": Column({"kind": "Map", "keyType": "String", "valueType": "Int32"}, [], [[("a", 1)]]),
}
WRITTEN = set(list(COLUMNS)[: list(COLUMNS).index("uint8")])
"""Types that 0.4.0 writes as Lance has them."""


def dataset_of(columns: dict[str, Column]) -> schemac.Dataset:
    """A required column and an optional one of each type."""
    extra = {"opendatafabric.org/description": "what it is", "example.org/own": [1]}
    fields: list[dict[str, Any]] = [
        {"name": "id", "type": "Int64", "extra": {"lance.org/primaryKey": {"position": 1}}}
    ]
    for name, column in columns.items():
        fields.append({"name": f"{name}_required", "type": column.type})
        fields.append({"name": name, "type": {"kind": "Option", "inner": column.type}, "extra": extra})
    (dataset,) = schemac.compile_text(json.dumps({"name": "t", "fields": fields}))
    return dataset


def case_of(dataset: schemac.Dataset, folder: Path) -> dict[str, str]:
    """What the script gets of a schema and its rows."""
    compilation = dataset._compilation
    form = sink_of("lance").form(compilation.lowered, compilation.numbers, dataset.schema.extra)
    (folder / "schema.arrow").write_bytes(form.schema.serialize().to_pybytes())
    return {
        "rows": str(folder / "rows"),
        "schema": str(folder / "schema.arrow"),
        "native": form.native,
        "path": str(folder / "out.lance"),
    }


def written(cases: list[dict[str, str]], folder: Path) -> list[list[str] | None]:
    (folder / "cases.json").write_text(json.dumps(cases))
    root = str(Path(__file__).parents[3])
    environment = {**os.environ, "PYSPARK_PYTHON": PYTHON, "PYTHONPATH": root, "PYTHONWARNINGS": "ignore"}
    command = [PYTHON, str(SCRIPT), sysconfig.get_paths()["purelib"], str(folder / "cases.json")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    errors: list[list[str] | None] = json.loads(done.stdout.splitlines()[-1])
    return errors


def fields_of(table: Any) -> list[pb.Field]:
    """The fields as Lance stores them, with ids and metadata."""
    _, *messages = table.lance_schema.__reduce__()[1]
    return [pb.Field.FromString(message) for message in messages]


def held_field(field: pa.Field) -> pa.Field:
    """The column of a conformed frame for a field, such as the count that stands for a duration."""
    is_count = column_type(field) == pa.int64()
    return pa.field(field.name, pa.int64(), field.nullable) if is_count else plain_field(field)


def assert_alike(path: Path, own: Path) -> None:
    found, expected = lance.dataset(path), lance.dataset(own)
    assert fields_of(found) == fields_of(expected)
    assert found.schema.equals(expected.schema, check_metadata=True)
    assert found.data_storage_version == expected.data_storage_version
    assert rows_of(path) == rows_of(own)


def rows_of(path: Path) -> list[str]:
    return sorted(map(str, lance.dataset(path).to_table().to_pylist()))


def test_write_the_table_of_the_own_sink(tmp_path: Path) -> None:
    """All types at once, conformed by the project's Spark."""
    columns = {name: column for name, column in COLUMNS.items() if name in WRITTEN}
    dataset = dataset_of(columns)
    rows = [
        {
            "id": i,
            **{f"{name}_required": column.json[i % len(column.json)] for name, column in columns.items()},
            **{name: column.json[i] if i < len(column.json) else None for name, column in columns.items()},
        }
        for i in range(3)
    ]
    (tmp_path / "in.json").write_text("\n".join(map(json.dumps, rows)))
    raw = session_of_tests().read.text(str(tmp_path / "in.json"))
    conformed = conform(raw, dataset, json_column="value")
    write(conformed, dataset, tmp_path / "own.lance")
    assert lance.dataset(tmp_path / "own.lance").count_rows() == 3
    conformed.good.write.parquet(str(tmp_path / "rows"))
    case = case_of(dataset, tmp_path)
    modes = ("create", "append", "overwrite")
    assert written([{**case, "mode": mode} for mode in modes], tmp_path) == [None] * 3
    assert_alike(tmp_path / "out.lance", tmp_path / "own.lance")
    before = lance.dataset(tmp_path / "out.lance").version - 1
    assert lance.dataset(tmp_path / "out.lance", version=before).count_rows() == 6


def test_write_each_type_as_it_is_or_refuse_it(tmp_path: Path) -> None:
    cases = []
    for name, column in COLUMNS.items():
        folder = tmp_path / name
        folder.mkdir()
        dataset = dataset_of({name: column})
        case = case_of(dataset, folder)
        schema = pa.ipc.read_schema(pa.BufferReader((folder / "schema.arrow").read_bytes()))
        values = [{"id": 1, name: value, f"{name}_required": value} for value in column.values]
        held = pa.schema([held_field(field) for field in schema])
        rows = pa.RecordBatch.from_pylist([*values, {**values[0], name: None}], schema).cast(held)
        own = pa.Table.from_batches([to_schema(rows, schema)])
        lance.write_dataset(own, folder / "own.lance", data_storage_version="2.2")
        pq.write_table(pa.Table.from_batches([rows]), folder / "rows")
        cases.append({**case, "mode": "create"})
    errors = written(cases, tmp_path)
    for name, error in zip(COLUMNS, errors, strict=True):
        if error is None:
            assert_alike(tmp_path / name / "out.lance", tmp_path / name / "own.lance")
        else:
            assert error[0] == CONNECTOR.id, (name, error)
            assert not (tmp_path / name / "out.lance").exists()
    if VERSION == "0.4.0":
        refused = {name: error for name, error in zip(COLUMNS, errors, strict=True) if error}
        assert set(refused) == set(COLUMNS) - WRITTEN, refused


DECIDING = ("int64", "string", "date", "decimal", "instant", "clock", "int16")
"""Types of fields that decide which of two rows counts, as keys and as what says which one is the latest."""


def test_merge_as_the_own_sink(tmp_path: Path) -> None:
    """Keys and `latest` of each type: rows that are new, rows that replace others, and rows that came too late."""
    cases, expected = [], []
    for name in DECIDING:
        column = COLUMNS[name]
        low, *more = sorted(column.values)
        folder = tmp_path / name
        folder.mkdir()
        field = {"name": "at", "type": {"kind": "Option", "inner": column.type}}
        key = {"name": "key", "type": column.type, "extra": {"lance.org/primaryKey": {"position": 1}}}
        text = {"kind": "Option", "inner": "String"}
        (dataset,) = schemac.compile_text(json.dumps({"fields": [key, field, {"name": "s", "type": text}]}))
        case = case_of(dataset, folder)
        schema = pa.ipc.read_schema(pa.BufferReader((folder / "schema.arrow").read_bytes()))
        first = [{"key": low, "at": low, "s": "a"}]
        then = [{"key": low, "at": None, "s": "late"}, {"key": low, "at": low, "s": "b"}]
        for high in more[:1]:
            first.append({"key": high, "at": high, "s": "c"})
            then.append({"key": high, "at": low, "s": "late"})
        batches = [pa.RecordBatch.from_pylist(rows, schema) for rows in (first, then)]
        merge = Merge(("key",), "at").to_json()
        for number, told in enumerate(({"mode": "create"}, {"mode": "append", "merge": merge})):
            pq.write_table(pa.Table.from_batches([batches[number]]), folder / f"rows{number}")
            cases.append({**case, **told, "rows": str(folder / f"rows{number}")})
        refused = Merge(("key",), is_refused=True).to_json()
        cases.append({**cases[-1], "merge": refused})
        expected.append(merged_by_the_own_sink(folder / "own.lance", schema, case["native"], batches, merge))
    errors = written(cases, tmp_path)
    for number, name in enumerate(DECIDING):
        created, merged, again = errors[3 * number : 3 * number + 3]
        assert (created, merged) == (None, None), name
        assert again is not None
        assert again[0] == KEY_EXISTS.id, name
        assert_alike(tmp_path / name / "out.lance", tmp_path / name / "own.lance")
        assert [row for row in expected[number] if "late" in row] == []


def merged_by_the_own_sink(
    path: Path, schema: pa.Schema, native: str, batches: list[pa.RecordBatch], merge: str
) -> list[str]:
    sink, told = sink_of("lance"), Merge.parse(merge)
    form = TableForm(sink.written_schema(schema), native)
    for number, batch in enumerate(batches):
        run = RunIdentity.new(random_id(), [], "append")
        place = sink.prepare(
            str(path),
            "append",
            storage_options=NO_STORAGE,
            storage_version="2.2",
            max_rows_per_file=9,
            run=run,
        )
        sink.open_staging(place)
        pieces = sink.write(place, form.schema, iter([to_schema(batch, form.schema)]))
        if number:
            none = pa.schema([form.schema.field(name) for name in told.columns]).empty_table()
            sink.merge(place, sink.judge(place, form, pieces, none, told))
        else:
            sink.commit(place, form, pieces)
        sink.close_staging(place)
    return rows_of(path)


def test_keep_the_ids_of_a_table(tmp_path: Path) -> None:
    """A table whose ids are not those that Lance would count: what is written to it has its own."""
    schema = pa.schema([pa.field("a", pa.int64()), pa.field("b", pa.string())])
    rows = pa.table({"a": [1, 2], "b": ["x", "y"]}, schema)
    path = tmp_path / "t.lance"
    lance.write_dataset(
        rows.append_column("gone", pa.array([0, 0])).select(["gone", "a", "b"]),
        path,
        data_storage_version="2.2",
    )
    lance.dataset(path).drop_columns(["gone"])
    before = fields_of(lance.dataset(path))
    pq.write_table(rows, tmp_path / "rows.parquet")
    (tmp_path / "schema.arrow").write_bytes(schema.serialize().to_pybytes())
    case = {"rows": str(tmp_path / "rows.parquet"), "schema": str(tmp_path / "schema.arrow"), "native": ""}
    assert written([{**case, "path": str(path), "mode": "append"}], tmp_path) == [None]
    assert fields_of(lance.dataset(path)) == before
    assert lance.dataset(path).to_table().to_pylist() == rows.to_pylist() * 2
