"""What `validate` says of a table is what the pipeline says of the same rows: values, rules, paths and what stands there."""

import datetime
import json
import random
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa
import pyarrow.parquet
from pyspark.sql import SparkSession

import schemac
from schemac.pipeline import conform
from tests.engines.json_records import COLUMNS
from tests.validation.columns import SOURCES, UTC

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("in_utc")]
Reasons = list[tuple[str, str, str | None]]


def pairs() -> Iterator[tuple[str, str]]:
    """Columns and the fields that may take them: others are refused as a whole, by both."""
    schema = {name: schema_of({"f": ("", name)}).field("f") for name in COLUMNS}
    for source, (held, _) in SOURCES.items():
        for name, field in schema.items():
            nested = pa.types.is_nested(field.type)
            if nested == pa.types.is_nested(held) or (nested and source == "text"):
                yield source, name


def dataset_of(fields: dict[str, tuple[str, str]]) -> schemac.Dataset:
    lines = [f"  - {{name: {label}, type: {_type(name, label)}}}\n" for label, (_, name) in fields.items()]
    (found,) = schemac.compile_text("name: odd\nfields:\n  - {name: id, type: Int64}\n" + "".join(lines))
    return found


def _type(name: str, label: str) -> str:
    # Every second one is required.
    is_required = sum(map(ord, label)) % 2 and "extra" not in COLUMNS[name][0]
    return COLUMNS[name][0] if is_required else f"{{kind: Option, inner: {COLUMNS[name][0]}}}"


def schema_of(fields: dict[str, tuple[str, str]]) -> pa.Schema:
    return dataset_of(fields).to_arrow(metadata=True)


def judgeable(source: str, name: str, label: str) -> bool:
    """Whether the column may become the field at all."""
    try:
        dataset_of({label: (source, name)}).validate(table_of({label: (source, name)}))
    except schemac.SchemaError as error:
        return not {d.code for d in error.diagnostics} <= {"SC641", "SC643"}
    return True


def table_of(fields: dict[str, tuple[str, str]]) -> pa.Table:
    height = max(len(values) for _, values in SOURCES.values())
    columns = {"id": pa.array(range(height), pa.int64())}
    for label, (source, _) in fields.items():
        held, values = SOURCES[source]
        columns[label] = pa.array((values * height)[:height], held)
    return pa.table(columns)


def of_spark(
    spark: SparkSession, folder: Path, table: pa.Table, dataset: schemac.Dataset, **rules: Any
) -> dict[int, Reasons]:
    frame = conform(frame_of(spark, folder, table), dataset, **rules).frame.select("id", "_errors")
    return {
        row["id"]: [(e["path"], e["rule"], e["value"]) for e in row["_errors"] or []]
        for row in frame.toArrow().to_pylist()
    }


def frame_of(spark: SparkSession, folder: Path, table: pa.Table) -> Any:
    """Return a table as a frame: out of a file, for Spark takes clocks for instants otherwise."""
    pa.parquet.write_table(table, folder / f"{table.num_rows}.parquet")
    return spark.read.parquet(str(folder / f"{table.num_rows}.parquet"))


def of_validation(found: Any) -> dict[int, Reasons]:
    reasons: dict[int, Reasons] = {row: [] for row in range(found.rows)}
    for one in found.reasons:
        reasons[one.row].append((one.path, one.rule, one.value))
    return reasons


@pytest.mark.parametrize("share", [24, pytest.param(1, marks=pytest.mark.long)])
def test_judge_columns_of_every_type(spark: SparkSession, tmp_path: Path, share: int) -> None:
    found = {f"c{i}": pair for i, pair in enumerate(pairs())}
    labels = random.Random(7).sample(sorted(found), len(found) // share)
    fields = {label: found[label] for label in labels if judgeable(*found[label], label)}
    assert len(fields) > len(labels) / 3
    for start in range(0, len(fields), 60):
        some = dict(list(fields.items())[start : start + 60])
        table, dataset = table_of(some), dataset_of(some)
        theirs, ours = of_spark(spark, tmp_path, table, dataset), of_validation(dataset.validate(table))
        differing = [
            (some[label], row, said)
            for row in theirs
            for label in some
            if (said := (_of(theirs[row], label), _of(ours[row], label)))[0] != said[1]
        ]
        assert differing == []
        assert theirs == ours


def _of(reasons: Reasons, label: str) -> Reasons:
    return [one for one in reasons if one[0].replace("[", ".").partition(".")[0] == label]


ROWS = """
name: trips
extra:
  schemac.dev/unique: [[code], [place.x, day]]
  schemac.dev/references: [{fields: [driver], dataset: drivers, to: [id]}]
  schemac.dev/check: ["a <= b", "note is not null or a > 0", "length(note) < 4 or day > '2024-01-01'"]
fields:
  - {name: id, type: Int64, extra: {lance.org/primaryKey: {position: 1}}}
  - {name: code, type: {kind: Option, inner: String}}
  - {name: place, type: {kind: Option, inner: {kind: Struct, fields: [{name: x, type: {kind: Option, inner: Float64}}]}}}
  - {name: day, type: {kind: Option, inner: Date}}
  - {name: driver, type: {kind: Option, inner: Int32}}
  - {name: a, type: {kind: Option, inner: {kind: Decimal, precision: 6, scale: 2, extra: {schemac.dev/maximum: 90}}}}
  - {name: b, type: {kind: Option, inner: Int16}}
  - {name: note, type: {kind: Option, inner: String}, extra: {schemac.dev/pattern: '^[a-z]*$'}}
  - name: tags
    type: {kind: Option, inner: {kind: List, itemType: {kind: Option, inner: {kind: String, extra: {schemac.dev/maxLength: 2}}}}}
    extra: {schemac.dev/minItems: 1, schemac.dev/uniqueItems: true}
  - name: prices
    type: {kind: Option, inner: {kind: Map, keyType: {kind: String, extra: {schemac.dev/minLength: 2}}, valueType: {kind: Float32, extra: {schemac.dev/minimum: 0.5}}}}
  - name: at
    type: {kind: Option, inner: {kind: Timestamp, unit: Microsecond}}
    extra: {schemac.dev/minimum: '2020-01-01T00:00:00Z'}
"""


def drawn_rows(seed: int, count: int) -> pa.Table:
    """Rows with many twins, and with values on both sides of every constraint."""
    chance = random.Random(seed)
    days = [None, datetime.date(2023, 12, 31), datetime.date(2024, 1, 2)]

    def row(i: int) -> dict[str, Any]:
        if i % 3 == 0:
            # Nothing wrong but twins.
            return dict.fromkeys(names) | {"id": i - i % 2 * 3, "note": "a"}
        return {
            "id": i if chance.random() < 0.9 else max(i - 1, 0),
            "code": chance.choice([None, "a", "b", f"c{i}", f"d{i}"]),
            "place": chance.choice(
                [None, {"x": None}, {"x": 0.0}, {"x": -0.0}, {"x": float("nan")}, {"x": float(i)}]
            ),
            "day": chance.choice(days),
            "driver": chance.choice([None, 1, 2, 9]),
            "a": chance.choice([None, Decimal("-1.50"), Decimal("3.00"), Decimal("95.25")]),
            "b": chance.choice([None, -2, 3, 4, 96]),
            "note": chance.choice([None, "", "abc", "abcde", "A", "é"]),
            "tags": chance.choice([None, [], ["a"], ["a", "a"], ["abc", None, None], ["b", "cde", "cde"]]),
            "prices": chance.choice([None, [], [("ab", 1.0)], [("a", 0.1), ("cd", 0.25)]]),
            "at": chance.choice(
                [
                    None,
                    datetime.datetime(2019, 5, 1, 12, 30, 0, 5, UTC),
                    datetime.datetime(2024, 5, 1, tzinfo=UTC),
                ]
            ),
        }

    types = {"id": pa.int64(), "place": pa.struct([("x", pa.float64())]), "driver": pa.int32(), "b": pa.int16(), "a": pa.decimal128(6, 2),
             "tags": pa.list_(pa.string()), "prices": pa.map_(pa.string(), pa.float32()), "at": pa.timestamp("us", "UTC"), "day": pa.date32(),
             "code": pa.string(), "note": pa.string()}  # fmt: skip
    names = list(types)
    rows = [row(i) for i in range(count)]
    return pa.table({name: pa.array([row[name] for row in rows], held) for name, held in types.items()})


@pytest.mark.parametrize("count", [150, pytest.param(3000, marks=pytest.mark.long)])
def test_judge_rows_among_each_other(spark: SparkSession, tmp_path: Path, count: int) -> None:
    (dataset,) = schemac.compile_text(ROWS)
    table = drawn_rows(count, count)
    drivers = pa.table({"id": pa.array([1, 2, None], pa.int64())})
    pa.parquet.write_table(drivers, tmp_path / "drivers.parquet")
    named = {"drivers": {"path": str(tmp_path / "drivers.parquet"), "format": "parquet"}}
    frame = frame_of(spark, tmp_path, table.append_column("place_in_table", pa.array(range(count))))
    conformed = conform(frame, dataset, keys="check", references=named)
    rejected = {
        json.loads(row["_raw"])["row"]["place_in_table"]: [
            (e["path"], e["rule"], e["value"]) for e in row["_errors"]
        ]
        for row in conformed.rejected.toArrow().to_pylist()
    }
    found = dataset.validate(table, references={"drivers": drivers})
    ours = {row: reasons for row, reasons in of_validation(found).items() if reasons}
    assert {row: ours.get(row) for row in rejected} == rejected
    assert ours.keys() == rejected.keys()
    assert found.unchecked == ()
    counts = [(one.path, one.rule, one.count) for one in conformed.report().reasons]
    assert counts == [(one.path, one.rule, one.count) for one in found.counts]
    assert {one.rule.partition(":")[0] for one in found.reasons} == {
        "unique", "references", "check", "duplicate", "maximum", "pattern", "maxLength", "minItems", "uniqueItems", "minLength", "minimum",
    }  # fmt: skip
    good = conformed.good.toArrow().cast(dataset.to_arrow())
    # As texts: to Arrow, NaN differs from itself.
    assert str(found.good.sort_by("id").to_pylist()) == str(good.sort_by("id").to_pylist())
    assert found.good.schema == good.schema
