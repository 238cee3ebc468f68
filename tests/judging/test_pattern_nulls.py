"""Texts that mean null, where a pattern reads the values of JSON."""

import pyarrow as pa
import pytest

from schemac.rows.judging.judge import RecordReasons
from schemac.rows.judging.settings import Coerce, ValidationSettings
from schemac.rows.validation.validator import FieldInput, _pattern_reader


@pytest.mark.parametrize(("token", "day"), [('"0"', None), ('"100"', 1), ("100", 1)])
def test_take_no_number_for_a_text_without_its_ends(token: str, day: int | None) -> None:
    settings = ValidationSettings(null_values=("0",), coerce=Coerce.TEXT)
    read = _pattern_reader(FieldInput("d", "pattern", "d"), pa.field("d", pa.date32()), settings)
    reasons = RecordReasons()
    assert read({"t": token, "j": True, "m": 86_400_000_000}, "d", reasons) == day
    assert not reasons
