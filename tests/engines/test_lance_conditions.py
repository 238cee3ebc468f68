"""Filters that Spark hands to a Lance table: no row is missing that a reader would keep, and what can be left out is."""

import datetime
import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import lance
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemac.engines.lance.runs.conditions import filter_of
from schemac.engines.lance.runs.source import SOURCE
from schemac.runs.tables import Condition

TEXTS = ["", "a", "a'b", "ab", 'b`"', "é", "z\n", "\U0001f600", "￿"]
NUMBERS = [-(1 << 31), -129, -128, -1, 0, 1, 127, 128, 255, 256, (1 << 31) - 1]
DAYS = [
    datetime.date(1, 1, 1),
    datetime.date(1969, 12, 31),
    datetime.date(2024, 2, 29),
    datetime.date(9999, 12, 31),
]
COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.string(), TEXTS),
    "large": (pa.large_string(), TEXTS),
    "int8": (pa.int8(), [n for n in NUMBERS if -129 < n < 128]),
    "uint8": (pa.uint8(), [n for n in NUMBERS if -1 < n < 256]),
    "int32": (pa.int32(), NUMBERS),
    "int64": (pa.int64(), [*NUMBERS, -(1 << 63), (1 << 63) - 1]),
    "uint64": (pa.uint64(), [0, 1, (1 << 63), (1 << 64) - 1]),
    "flag": (pa.bool_(), [False, True]),
    "Odd name": (pa.int32(), NUMBERS),
    "day": (pa.date32(), DAYS),
    "float": (pa.float64(), [0.0, -0.0, float("nan"), 1.5]),
    "decimal": (pa.decimal128(20, 2), [Decimal("1.50"), Decimal("-1.50")]),
    "at": (pa.timestamp("us", "UTC"), [datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)]),
    "list": (pa.list_(pa.int32()), [[1], []]),
}
VALUES = [value for _, values in COLUMNS.values() for value in values if not isinstance(value, list)]
VALUES += [1 << 70, b"a", Decimal(1), Decimal("1.5")]
ORDERS: dict[Any, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, pa.Table]:
    path = str(tmp_path_factory.mktemp("conditions") / "t.lance")
    most = max(len(values) for _, values in COLUMNS.values())
    data = pa.table(
        {
            name: pa.array([*values, *[None] * (most + 1 - len(values))], held)
            for name, (held, values) in COLUMNS.items()
        }
    )
    lance.write_dataset(data, path, max_rows_per_file=5)
    return path, data


def kept(value: Any, condition: Condition) -> bool:
    """Whether a reader keeps a row; a comparison that is none for this reader keeps it."""
    if condition.operator.startswith("is"):
        return (value is None) == (condition.operator == "is null")
    if value is None:
        return False
    if condition.operator == "in":
        return value in condition.values
    return ORDERS[condition.operator](_bytes(value), _bytes(condition.values[0]))


def _bytes(value: Any) -> Any:
    """Texts are in the order of their bytes."""
    return value.encode() if isinstance(value, str) else value


def read(path: str, conditions: list[Condition], columns: list[str]) -> list[dict[str, Any]]:
    version = SOURCE.newest_version(path)
    assert version is not None
    batches = [
        batch
        for part in SOURCE.parts(path, version)
        for batch in SOURCE.read(path, version, part, columns, conditions)
    ]
    return [
        {name: shown(value) for name, value in row.items()} for batch in batches for row in batch.to_pylist()
    ]


def shown(value: Any) -> Any:
    """Unsigned numbers of 64 bits are decimals to readers."""
    return int(value) if isinstance(value, Decimal) and value == int(value) else value


def conditions_of(name: str) -> st.SearchStrategy[Condition]:
    nulls = st.sampled_from([Condition(name, "is null"), Condition(name, "is not null")])
    if name == "list":
        return nulls
    of_type = st.sampled_from(COLUMNS[name][1])
    orders = st.builds(Condition, st.just(name), st.sampled_from(list(ORDERS)), st.tuples(of_type))
    lists = st.builds(Condition, st.just(name), st.just("in"), st.lists(of_type, max_size=3).map(tuple))
    return orders | lists | nulls


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(list(COLUMNS)).flatmap(conditions_of), min_size=1, max_size=3))
def test_no_row_is_lost(table: tuple[str, pa.Table], conditions: list[Condition]) -> None:
    path, data = table
    named = sorted({condition.column for condition in conditions})
    found = list(map(str, read(path, conditions, named)))
    for row in data.select(named).to_pylist():
        if all(kept(row[condition.column], condition) for condition in conditions):
            assert str({name: shown(value) for name, value in row.items()}) in found


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_taken_leaves_the_other_rows_out(table: tuple[str, pa.Table], name: str) -> None:
    """Every value of every type against every column: Lance takes the filter, and keeps just the rows that hold."""
    path, data = table
    for value in VALUES:
        condition = Condition(name, "=", (value,))
        if filter_of([condition], data.schema) is None:
            continue
        rows = [row[name] for row in read(path, [condition], [name])]
        assert rows == [held for held in data.column(name).to_pylist() if kept(held, condition)]
    is_taken = (
        filter_of([Condition(name, "=", (COLUMNS[name][1][1 % len(COLUMNS[name][1])],))], data.schema)
        is not None
    )
    assert is_taken == (name not in {"float", "decimal", "at", "list"})


def test_rows_are_counted_without_columns(table: tuple[str, pa.Table]) -> None:
    path, data = table
    version = SOURCE.newest_version(path)
    assert version is not None
    batches = [
        batch for part in SOURCE.parts(path, version) for batch in SOURCE.read(path, version, part, [])
    ]
    assert sum(batch.num_rows for batch in batches) == len(data)
