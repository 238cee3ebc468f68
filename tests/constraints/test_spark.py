"""Spark says of each value what Arrow says of it, for every constraint, kind and pattern; one job asks for all."""

import itertools
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")


import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from schemac.arrow.constrained import constraints_of
from schemac.attributes.family import Family
from schemac.logical.model import LogicalType
from schemac.pipeline.values.constraints import condition_sql, violation
from tests.constraints.cases import (
    COMPARED,
    CONDITIONS,
    arrow_of,
    cases,
    columns_of,
    dataset_of_conditions,
    values_of,
)

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("in_utc")]
ROWS = 1000


def spark_form(type_: LogicalType, array: Any) -> Any:
    """Return values in the form that a run holds them in on their way to the table."""
    arrow, is_ = array.type, pa.types
    if is_.is_list(arrow):
        items = spark_form(getattr(type_, "item_type"), array.values)  # noqa: B009
        mask = array.is_null()
        return pa.ListArray.from_arrays(array.offsets, items, pa.list_(items.type), mask=mask)
    if is_.is_time(arrow) or is_.is_duration(arrow):
        bits = pa.int32() if is_.is_time32(arrow) else pa.int64()
        return array.view(bits).cast(pa.int64())
    if is_.is_timestamp(arrow):
        return array.view(pa.int64()) if arrow.unit == "ns" else array.cast(pa.timestamp("us", arrow.tz))
    if is_.is_float16(arrow):
        return array.cast(pa.float32())
    if is_.is_uint64(arrow):
        return array.cast(pa.decimal128(20, 0))
    if is_.is_integer(arrow):
        return array.cast(pa.int64())
    if is_.is_decimal(arrow) and not 0 <= arrow.scale <= arrow.precision:
        return pa.array([None if value is None else f"{value:f}" for value in array.to_pylist()])
    return array


def asked(spark: SparkSession, folder: Path, columns: dict[str, Any], conditions: list[str]) -> pa.Table:
    """Let Spark evaluate conditions over columns."""
    pq.write_table(pa.table(columns), folder / "values.parquet")
    frame = spark.read.parquet(str(folder / "values.parquet")).coalesce(1)
    found: pa.Table = frame.selectExpr(*(f"{text} as a{i}" for i, text in enumerate(conditions))).toArrow()
    return found


@pytest.mark.parametrize("count", [ROWS, pytest.param(10_000, marks=pytest.mark.long)])
def test_say_the_same_of_every_value(spark: SparkSession, tmp_path: Path, count: int) -> None:
    found = list(cases())
    places = columns_of(found)
    columns: dict[str, Any] = {}
    expected, conditions = [], []
    for i, (case, place) in enumerate(zip(found, places, strict=True)):
        drawn = values_of(case.type, count)
        values = (drawn * (count // len(drawn) + 1))[:count]
        array = arrow_of(case.type, place.field.type, values)
        (constraint,) = place.constraints
        columns[f"c{i}"] = spark_form(case.type, array)
        expected.append(constraint.violations(array))
        conditions.append(f"coalesce({violation(constraint, f'c{i}')}, false)")
    answers = asked(spark, tmp_path, columns, conditions)
    for i, (case, held) in enumerate(zip(found, expected, strict=True)):
        told = answers.column(i).combine_chunks()
        if told != held:
            wrong = [j for j in range(count) if told[j] != held[j]][:3]
            shown = [(columns[f"c{i}"][j], told[j], held[j]) for j in wrong]
            pytest.fail(f"{case}: {conditions[i]}: {shown}")


def test_see_the_half_float_that_a_number_will_be(spark: SparkSession, tmp_path: Path) -> None:
    """Spark has no half floats: numbers keep their digits until they are written."""
    found = [
        case for case in cases() if getattr(case.type, "bits", 0) == 16 and case.type.family is Family.FLOAT
    ]
    places = columns_of(found)
    halves = sorted({v for v in values_of(found[0].type) if v is not None and abs(v) <= 65504})
    numbers = [*halves, *((a + b) / 2 for a, b in itertools.pairwise(halves))]
    near = [
        number * (1 + tiny)
        for number in numbers
        for tiny in (0, 2**-13, -(2**-13), 2**-11, -(2**-11), 2**-20)
    ]
    singles = pa.array([number for number in near if abs(number) < 65520], pa.float32())
    stored = singles.cast(pa.float16())
    conditions = [violation(place.constraints[0], "x") for place in places]
    answers = asked(spark, tmp_path, {"x": singles}, conditions)
    for i, place in enumerate(places):
        assert answers.column(i).combine_chunks() == place.constraints[0].violations(stored), found[i]


def test_say_the_same_of_every_condition(spark: SparkSession, tmp_path: Path) -> None:
    dataset, kinds = dataset_of_conditions(), COMPARED
    schema = dataset.to_arrow()
    found = constraints_of(schema).rows.checks
    assert [check.text for check in found] == CONDITIONS
    types = {str(slot.segment): slot.type for slot in dataset._logical.columns}
    arrays, columns = [], {}
    for number, name in enumerate(kinds):
        type_ = types["a"] if name == "p" else types[name]
        drawn = values_of(type_, 300)
        # Numbers without a common divisor, so that each value of a column meets many of the others.
        values = tuple(drawn[(row * (number + 1) + row // 7) % len(drawn)] for row in range(ROWS))
        array = arrow_of(type_, schema.field("a" if name == "p" else name).type, values)
        form = spark_form(type_, array)
        if name == "p":
            array, form = (pa.StructArray.from_arrays([one], ["q"]) for one in (array, form))
        arrays.append(array)
        columns[name] = form
    rows = pa.RecordBatch.from_arrays(arrays, list(kinds))
    values_by_path: dict[tuple[str, ...], str] = {(name,): name for name in kinds}
    conditions = [condition_sql(check.condition, values_by_path) for check in found]
    answers = asked(spark, tmp_path, columns, conditions)
    for i, check in enumerate(found):
        told, held = answers.column(i).combine_chunks(), check.condition.evaluate(rows)
        wrong = [row for row in range(ROWS) if told[row] != held[row]][:3]
        assert not wrong, (
            check.text,
            conditions[i],
            [({k: rows.column(k)[j] for k in kinds}, told[j], held[j]) for j in wrong],
        )
        assert {one.as_py() for one in held} >= {True, False}, check.text
