"""Numbers of a list that the judge reads at once have the values, the reasons and the certainty that each has alone."""

import struct
from decimal import Decimal, localcontext

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemac.rows.judging.settings import ValidationSettings
from schemac.rows.validation.result import JudgedBatch
from schemac.rows.validation.validator import TEXT, Validator
from tests.judging.records import RecordJudge

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
    member = pa.field("v", pa.list_(data_type))
    together = validated(member, f"[{', '.join(numbers)}]")
    alone = [
        RecordJudge(pa.schema([pa.field("v", data_type)])).json(f'{{"v": {number}}}') for number in numbers
    ]
    reasons = [why._replace(path=f"v[{i}]") for i, one in enumerate(alone) for why in one.reasons]
    assert together.reasons.by_row().get(0, []) == reasons
    values = [None if one.values is None else one.values["v"] for one in alone]
    assert repr(together.rows.column(0)[0].as_py()) == repr(pa.array(values, data_type).to_pylist())


def validated(member: pa.Field, token: str) -> JudgedBatch:
    record = f'{{"{member.name}": {token}}}'
    return Validator(pa.schema([member]), ValidationSettings()).validate(pa.record_batch([[record]], [TEXT]))


@pytest.mark.parametrize("data_type", [pa.float32(), pa.float64()], ids=str)
def test_read_usual_vectors_at_once(data_type: pa.DataType) -> None:
    """Else the law above said nothing."""
    json_proofs = pytest.importorskip("schemac.rows.judging.json_proofs")
    proof = json_proofs.json_proof(pa.field("v", pa.list_(data_type)), ValidationSettings())
    values, doubts = proof(pa.array(["[0.25, 0, -3.5e-2, 17]", "[0.25,-0.0]", "[]"]))
    assert not doubts.any()
    assert repr(values.to_pylist()[1:]) == "[[0.25, -0.0], []]"
