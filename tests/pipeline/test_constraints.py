"""Constraints in runs: paths at every depth, the same for records that are read in batches and item by item."""

import json
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import schemac
from schemac.pipeline import conform
from schemac.pipeline.errors import PipelineError

pytestmark = pytest.mark.spark

NESTED = """
name: stops
extra:
  schemac.dev/check: ["n < m", "place.x >= n or m = 0"]
fields:
  - {name: n, type: Int64, extra: {schemac.dev/minimum: 1}}
  - {name: m, type: Int64, extra: {schemac.dev/multipleOf: 5}}
  - name: place
    type:
      kind: Struct
      fields: [{name: x, type: {kind: Option, inner: Int32}, extra: {schemac.dev/maximum: 9}}]
  - name: tags
    type:
      kind: List
      itemType:
        kind: Option
        inner: {kind: Struct, fields: [{name: k, type: String, extra: {schemac.dev/pattern: '^[a-z]$'}}]}
    extra: {schemac.dev/maxItems: 2}
  - name: prices
    type:
      kind: Option
      inner:
        kind: Map
        keyType: {kind: String, extra: {schemac.dev/maxLength: 3}}
        valueType: {kind: Decimal, precision: 6, scale: 2, extra: {schemac.dev/exclusiveMinimum: 0}}
"""
GOOD = {"n": 1, "m": 5, "place": {"x": 9}, "tags": [{"k": "a"}, None], "prices": {"EUR": 0.01}}
BROKEN: list[tuple[dict[str, Any], list[tuple[str, str, str]]]] = [
    ({"n": 0}, [("n", "minimum", "0")]),
    ({"m": 6}, [("m", "multipleOf", "6")]),
    ({"place": {"x": 10}}, [("place.x", "maximum", "10")]),
    ({"place": {"x": None}}, []),
    ({"tags": [{"k": "a"}, {"k": "A"}]}, [("tags[1].k", "pattern", "A")]),
    ({"tags": [None, None, None]}, [("tags", "maxItems", "[null,null,null]")]),
    ({"prices": {"EURO": 1, "USD": 0}}, [('prices["EURO"]', "maxLength", "EURO"), ('prices["USD"]', "exclusiveMinimum", "0.00")]),
    ({"prices": None}, []),
    ({"n": 6}, [("n,m", "check: n < m", '{"n":6,"m":5}')]),
    ({"n": 3, "m": 5, "place": {"x": 2}}, [("place.x,n,m", "check: place.x >= n or m = 0", '{"place":{"x":2},"n":3,"m":5}')]),
]  # fmt: skip


def schema() -> pa.Schema:
    (dataset,) = schemac.compile_text(NESTED)
    return dataset.to_arrow()


def test_tell_every_reason_at_its_path(ingest: Any) -> None:
    """A number as `1e0` is read item by item; its reasons are the same."""
    records: list[str] = []
    expected: dict[str, list[tuple[str, str, str]]] = {}
    for change, why in [({}, []), *BROKEN]:
        text = json.dumps(GOOD | change)
        for raw in (text, text.replace('"n": ', '"n": 0.').replace(', "m"', 'e1, "m"', 1)):
            records.append(raw)
            if why:
                expected[raw] = why
    report, _, reasons = ingest(schema(), records)
    assert reasons == expected
    assert report.rows_written == len(records) - len(expected)
    counted = {(one.path, one.rule): one.count for one in report.reasons}
    assert counted["n", "minimum"] == 2
    assert counted["n,m", "check: n < m"] == 2


def test_warn_of_constraints_and_limit_them(ingest: Any) -> None:
    records = [GOOD, GOOD | {"n": 0}, GOOD | {"n": 6}]
    report, rows, reasons = ingest(schema(), records, rules={"minimum": "warn", "check": "warn"})
    assert (len(rows), reasons) == (3, {})
    assert {(one.path, one.rule, one.count) for one in report.warnings} == {
        ("n", "minimum", 1),
        ("n,m", "check: n < m", 1),
    }
    with pytest.raises(PipelineError, match="1 of 3 records break the rule `check`"):
        ingest(schema(), records, max_quarantined={"rules": {"check": 0}}, target={"path": "never.lance"})


def test_compare_the_rows_of_a_frame(spark: SparkSession, tmp_path: Path) -> None:
    """Fields of structs too; a null refers to nothing and is no twin; a row with another reason is no twin either."""
    (dataset,) = schemac.compile_text(
        """
name: rides
extra:
  schemac.dev/unique: [[trip.car, seat]]
  schemac.dev/references: [{fields: [driver], dataset: drivers, to: [person.id]}]
fields:
  - {name: trip, type: {kind: Struct, fields: [{name: car, type: Int32}]}}
  - {name: seat, type: {kind: Option, inner: Int32}}
  - {name: driver, type: {kind: Option, inner: Int64}}
"""
    )
    drivers = pa.table({"person": pa.array([{"id": 1}, {"id": 2}, None], pa.struct([("id", pa.int64())]))})
    lance.write_dataset(drivers, tmp_path / "drivers.lance")
    rows = [(1, 1, 1), (1, 1, 2), (1, 2, 3), (1, 2, 1), (2, None, None), (2, None, 2)]
    frame = spark.createDataFrame(
        [((car,), seat, driver) for car, seat, driver in rows],
        "trip struct<car: int>, seat int, driver bigint",
    )
    with pytest.raises(PipelineError, match="does not name its table") as caught:
        conform(frame, dataset)
    assert caught.value.help is not None
    references = {"drivers": {"path": str(tmp_path / "drivers.lance")}}
    conformed = conform(frame, dataset, references=references)
    found = sorted((one.path, one.rule, one.count) for one in conformed.report().reasons)
    assert found == [("driver", "references", 1), ("trip.car,seat", "unique", 2)]
    unchecked = conform(frame, dataset, references={"drivers": None})
    assert [(one.rule, one.count) for one in unchecked.report().reasons] == [("unique", 4)]
