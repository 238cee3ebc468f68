"""Numbers of a list that the judge reads at once have the values, the reasons and the certainty that each has alone."""

import struct
from decimal import Decimal, localcontext

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemac.rows.judging.judge import Judge
from schemac.rows.judging.scalars import scalar_of
from schemac.rows.judging.tokens import Number

TYPES = (pa.float16(), pa.float32(), pa.float64())


def between_singles(single: float, digits: int) -> str:
    """Write the middle between a single and the next one, with a digit beyond it where that is asked for."""
    bits = struct.unpack("<i", struct.pack("<f", single))[0]
    (following,) = struct.unpack("<f", struct.pack("<i", bits + 1))
    with localcontext(prec=200):
        text = f"{(Decimal(single) + Decimal(following)) / 2:f}"
    text += "" if "." in text else ".0"
    return text if digits < 0 else text + "0" * digits + "1"


ZEROS = ["0", "-0", "0.0", "-0.0", "-0e0", "1e-400"]
LARGE = ["1e400", "-1e400", "1e39", "3.4028235e38", "3.4028236e38", "65504", "65519.99", "65520"]
SMALL = ["1e-46", "-1e-46", "1e-45", "7e-46", "1.1754942e-38", "1.1754944e-38"]
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1, 1).map("{:.7f}".format),
    st.integers().map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=40, min_value=-2, max_value=2).map(
        "{:f}".format
    ),
    st.builds(between_singles, st.integers(-100, 100).map(lambda power: 2.0**power), st.integers(-1, 30)),
    st.builds(between_singles, st.floats(2**-10, 2**10, width=32), st.integers(-1, 30)),
    st.sampled_from([*ZEROS, *LARGE, *SMALL]),
)


@pytest.mark.parametrize("data_type", TYPES, ids=str)
@given(numbers=st.lists(NUMBERS, max_size=8))
@example(numbers=["-0.0", "1.5"])
@example(numbers=["1.00000005960464477539062500000000001"])
def test_read_together_what_each_is_alone(data_type: pa.DataType, numbers: list[str]) -> None:
    judge = Judge(pa.schema([pa.field("v", pa.list_(data_type))]))
    held = [Number(number) for number in numbers]
    together, of_together = judge.read({"v": held})
    # Beside a null each number is read alone.
    alone, of_alone = judge.read({"v": [*held, None]})
    assert repr(together["v"]) == repr(alone["v"][:-1])
    assert of_together == of_alone


@pytest.mark.parametrize("data_type", [pa.float32(), pa.float64()], ids=str)
def test_read_usual_vectors_at_once(data_type: pa.DataType) -> None:
    """Else the law above said nothing."""
    scalar = scalar_of(pa.field("item", data_type))
    assert scalar is not None
    assert scalar.many is not None
    assert scalar.many(["0.25", "0", "-3.5e-2", "17"]) is not None
    assert repr(scalar.many(["0.25", "-0.0"])) == "[0.25, -0.0]"
