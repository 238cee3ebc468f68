"""What a form lets pass, Arrow reads as Python does; and what it is for, it lets pass. No Spark is needed here."""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemac.rows.judging.json_proofs import RecordTokens, json_proof
from schemac.rows.judging.settings import ValidationSettings
from schemac.rows.judging.text_proofs import TextForm, TextProof, text_form
from tests.judging.records import RecordJudge

FIELD = pa.field


def form(data_type: pa.DataType) -> TextForm:
    found = text_form(FIELD("v", data_type))
    assert found is not None
    return found


def read(data_type: pa.DataType, *tokens: str) -> list[Any]:
    """The value of each record `{"v": token}`; `...` where it is in doubt."""
    return proven(data_type, pa.array([f'{{"v": {token}}}' for token in tokens]))


def proven(data_type: pa.DataType, records: pa.Array) -> list[Any]:
    """The value of each record; `...` where it is in doubt, or the whole record is."""
    columns, odd = RecordTokens([("v",)])(records)
    proof = json_proof(FIELD("v", data_type), ValidationSettings())
    assert proof is not None
    values, doubts = proof(columns["v",])
    assert values.validate(full=True) is None
    doubtful = odd | doubts
    if pa.types.is_timestamp(data_type) and data_type.unit == "ns":
        values = values.cast(pa.int64())
    return [... if one else value for one, value in zip(doubtful, values.to_pylist(), strict=True)]


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
    assert read(pa.float16(), "65519.99", "65520") == [65504.0, ...]


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
        '{"w": 1, "w": 2}',
        '{"v": 1, "w": {"x": [{"y": 1, "y": 1}]}}',
        '{"v": "1","\\u0076": 2}',
        '{"v": 1}{"v": 2}',
        '{"v": 1{"v": 2}',
        '{"v": "x"}',
        "{",
        "",
        '{"v": 1}}',
    ]
    found = proven(pa.int64(), pa.array([*sound[:500], *odd, None, *sound[500:]]))
    assert found == [*range(500), *[...] * (len(odd) + 1), *range(500, 1000)]


@given(st.integers(-(2**66), 2**66), st.integers(0, 4))
def test_integers_with_a_point_are_those_of_the_judge(number: int, zeros: int) -> None:
    text = f"{number}.{'0' * zeros}" if zeros else str(number)
    for data_type in (pa.int8(), pa.uint16(), pa.int64(), pa.uint64()):
        (found,) = read(data_type, text)
        values = RecordJudge(pa.schema([("v", data_type)])).json(f'{{"v": {text}}}').values
        if found is not ...:
            assert values is not None
            assert found == values["v"]
        else:
            assert values is None or abs(number) >= 10**18 or zeros > 3


def test_points_are_read_in_records_and_in_cells() -> None:
    texts = [f"{i}.0" for i in range(50)]
    assert read(pa.int32(), *texts) == [*range(50)]
    proof = TextProof.of(FIELD("v", pa.int32()))
    assert proof is not None
    values, doubts = proof(pa.array(texts))
    assert (values.to_pylist(), doubts.any()) == ([*range(50)], False)


@pytest.mark.parametrize("zone", ["Z", "", "+02:00", "-0330", "+05"])
@pytest.mark.parametrize("clock", ["10:00", "23:59:59", "10:00:00.25"])
def test_instants_of_all_spellings_are_those_of_the_judge(clock: str, zone: str) -> None:
    data_type, text = pa.timestamp("us", "UTC"), f"2024-02-29T{clock}{zone}"
    values = (
        RecordJudge(pa.schema([("v", data_type)]), ValidationSettings(timezone="UTC"))
        .json(f'{{"v": "{text}"}}')
        .values
    )
    assert values is not None
    (found,) = read(data_type, f'"{text}"')
    assert (found - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) == values["v"]
