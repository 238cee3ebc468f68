"""What a form lets pass, Arrow reads as Python does; and what it is for, it lets pass. No Spark is needed here."""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemac.pipeline.batch_reading.csv_batches import CsvBatches
from schemac.pipeline.batch_reading.forms import Form, form_of
from schemac.pipeline.batch_reading.json_batches import JsonBatches
from schemac.pipeline.batch_reading.parts import Leaf, Members
from schemac.rows.judging.judge import Judge
from schemac.rows.judging.settings import Settings

FIELD = pa.field


def form(data_type: pa.DataType) -> Form:
    found = form_of(FIELD("v", data_type))
    assert found is not None
    return found


def read(data_type: pa.DataType, *tokens: str) -> list[Any]:
    """The value of each record `{"v": token}`; `...` where it is not proven."""
    leaf = Leaf(form(data_type))
    task = JsonBatches(Members({"v": leaf}, (), is_nullable=False), (("v",),), {})
    found = task(pa.array([f'{{"v": {token}}}' for token in tokens]))
    assert found.validate(full=True) is None
    values = found.field("r0").to_pylist()
    return [
        value if is_proven else ...
        for is_proven, value in zip(found.field("p").to_pylist(), values, strict=True)
    ]


@pytest.mark.parametrize("year", [1000, 1582, 1600, 1899, 1900, 1904, 2000, 2023, 2024, 2100, 2800, 2999])
def test_exactly_the_days_of_a_year_pass(year: int) -> None:
    pattern = re.compile(form(pa.date32()).pattern)
    days = {str(date(year, 1, 1) + timedelta(days=i)) for i in range(365 + (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)))}  # fmt: skip
    texts = {f"{year}-{month:02}-{day:02}" for month in range(14) for day in range(33)}
    assert {text for text in texts if pattern.fullmatch(text)} == days


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_every_leap_day_that_passes_can_be_counted(unit: str) -> None:
    texts = [f"{year}-02-29T23:59:59Z" for year in range(900, 3100)]
    found = read(pa.timestamp(unit, "UTC"), *(f'"{text}"' for text in texts))
    known = {text: value for text, value in zip(texts, found, strict=True) if value is not ...}
    assert len(known) > 100
    for text, value in known.items():
        wanted = datetime.fromisoformat(text)
        assert value == (wanted if unit != "ns" else int(wanted.timestamp()) * 10**9)


@given(st.decimals(-(10**6), 10**6, places=4), st.integers(0, 4))
def test_decimals_are_never_rounded(number: Decimal, places: int) -> None:
    text = f"{number:.{places}f}"
    (found,) = read(pa.decimal128(8, 2), text)
    fits = abs(Decimal(text)) < 10**6 and places <= 2
    assert found == (Decimal(text) if fits else ...)


@given(st.one_of(st.floats(-1e30, 1e30), st.floats(-1, 1), st.floats(-1e-30, 1e-30)))
def test_floats_are_the_nearest(number: float) -> None:
    text = repr(number)
    (double,), (single,) = read(pa.float64(), text), read(pa.float32(), text)
    assert double in (..., number)
    if single is not ...:
        nearest = np.float32(single)
        error = abs(Fraction(text) - Fraction(float(nearest)))
        for other in (np.nextafter(nearest, np.float32(np.inf)), np.nextafter(nearest, np.float32(-np.inf))):
            assert error < abs(Fraction(text) - Fraction(float(other)))


def test_a_number_between_two_floats_is_left_to_the_definition() -> None:
    middle = "1.000000059604644775390625"
    assert read(pa.float32(), middle, f"{middle}01", "1.0000000596046447", "0.1", "1e-40") == [..., ..., ..., pytest.approx(0.1), ...]  # fmt: skip
    assert read(pa.float16(), "65519.99", "65520") == [65519.98828125, ...]


@given(st.integers(-(2**66), 2**66))
def test_integers_are_exact_or_not_proven(number: int) -> None:
    for data_type in (pa.int8(), pa.uint8(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()):
        (found,) = read(data_type, str(number))
        bits = data_type.bit_width
        lowest, highest = (0, 2**bits - 1) if pa.types.is_unsigned_integer(data_type) else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)  # fmt: skip
        if not lowest <= number <= highest:
            assert found is ...
        elif abs(number) < 10**18:
            assert found == number


def test_what_is_refused_takes_no_other_record_with_it() -> None:
    sound = [f'{{"v": {i}}}' for i in range(1000)]
    odd = [
        '{"v": 1, "v": 2}',
        '{"v": 1}{"v": 2}',
        '{"v": 1{"v": 2}',
        '{"v": "x"}',
        "{",
        "",
        '{"v": 1}}',
        '{"w": 1}',
    ]
    records = [*sound[:500], *odd, None, *sound[500:]]
    task = JsonBatches(Members({"v": Leaf(form(pa.int64()))}, (), is_nullable=False), (("v",),), {})
    proven = task(pa.array(records)).field("p").to_pylist()
    assert proven == [True] * 500 + [False] * (len(odd) + 1) + [True] * 500


@given(st.integers(-(2**66), 2**66), st.integers(0, 4))
def test_integers_with_a_point_are_those_of_the_judge(number: int, zeros: int) -> None:
    text = f"{number}.{'0' * zeros}" if zeros else str(number)
    for data_type in (pa.int8(), pa.uint16(), pa.int64(), pa.uint64()):
        members = Members({"v": Leaf(form(data_type).with_points)}, (), is_nullable=False)
        found = JsonBatches(members, (("v",),), {})(pa.array([f'{{"v": {text}}}']))
        values = Judge(pa.schema([("v", data_type)])).json(f'{{"v": {text}}}').values
        if found.field("p")[0].as_py():
            assert values is not None
            assert found.field("r0")[0].as_py() == values["v"]
        else:
            assert values is None or abs(number) >= 10**18 or zeros > 3


def test_points_are_learned_from_records_and_from_cells() -> None:
    texts = pa.array([f"{i}.0" for i in range(50)])
    members = Members({"v": Leaf(form(pa.int32()))}, (), is_nullable=False)
    records = pc.binary_join_element_wise('{"v": ', texts, "}", "")
    for found in (
        JsonBatches(members, (("v",),), None)(records),
        CsvBatches(1, ((0, Leaf(form(pa.int32()))),), ",", '"')(texts),
    ):
        assert found.field("p").to_pylist() == [True] * 50
        assert found.field("r0").to_pylist() == [*range(50)]


@pytest.mark.parametrize("zone", ["Z", "", "+02:00", "-0330", "+05"])
@pytest.mark.parametrize("clock", ["10:00", "23:59:59", "10:00:00.25"])
def test_instants_of_all_spellings_are_those_of_the_judge(clock: str, zone: str) -> None:
    data_type, text = pa.timestamp("us", "UTC"), f"2024-02-29T{clock}{zone}"
    values = Judge(pa.schema([("v", data_type)]), Settings(timezone="UTC")).json(f'{{"v": "{text}"}}').values
    assert values is not None
    (found,) = read(data_type, f'"{text}"')
    assert (found - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) == values["v"]
