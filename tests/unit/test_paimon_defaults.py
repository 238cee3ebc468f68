"""Default values: each text as the casts of Paimon 0.9.0 judged it, and where we are stricter on purpose."""

import pytest

from schemac.engines.paimon.options import default_error
from schemac.engines.paimon.types import parse_type

TAKEN = {
    "BOOLEAN": ["true", "TRUE", "t", "T", "1", "yes", "y", "f", "False", "no", "n", "0", "'true'"],
    "TINYINT": ["1", "-128", "+5", "1.9", "1."],
    "INT": ["2147483647", "1.5", "'7'"],
    "BIGINT": ["9223372036854775807", "-9223372036854775808"],
    "FLOAT": ["1.5", "1e3", "NaN", "Infinity", "-Infinity", "1f", "1d", " 1 ", ".5", "5.", "+1"],
    "DOUBLE": ["1.5", "1d"],
    "DECIMAL(5, 2)": ["1.23", "1.239", "1e2", "123", ".5", "5.", "+1", "1E-1", "-.5", "999.99"],
    "CHAR(3)": ["a", "abc", "", "ÿÿÿ"],
    "VARCHAR(3)": ["abc", "'abc'"],
    "STRING": ["", "anything at all"],
    "BINARY(2)": ["a", "ab"],
    "BYTES": ["abc"],
    "DATE": ["2020-01-01", "2020-1-1", "2020-01-01 10:00:00", " 2020-01-01", "0001-01-01", "2020-02-29"],
    "TIME(0)": ["10:00:00", "10:00", "10:00:00.123", "1:2:3", "10:00:00.", " 10:00"],
    "TIME(3)": ["10:00:00.123456"],
    "TIMESTAMP(3)": ["2020-01-01 10:00:00", "2020-01-01", "2020-01-01 10:00:00.123456", "2020-1-1 1:1:1", "2020-01-01 10:00:00."],
    "TIMESTAMP(3) WITH LOCAL TIME ZONE": ["2020-01-01 10:00:00"],
}  # fmt: skip
REFUSED = {
    "BOOLEAN": ["on", "off", "x", "", " true "],
    "TINYINT": ["128", " 5", "5 ", "abc", "", "0x1", "1e2", "- 1"],
    "INT": ["2147483648", "1e3", "-", "+", "1.x"],
    "BIGINT": ["9223372036854775808"],
    "FLOAT": ["nan", "inf", "", "1e", "1L", "x"],
    "DECIMAL(5, 2)": [" 1", "x", ""],
    "DATE": ["2020-01-32", "2020-01-01T10", "x", "", "2020-02-30", "2020-01-", "12020-01-01", "-1", "2020-13-01"],
    "TIME(0)": ["x", "", "10:"],
    "TIMESTAMP(3)": [
        "2020-01-01T10:00:00", "2020-01-01 10:00", "x", "", "2020-01-01 25:00:00", "1577836800000", "2020-01-01 10:00:00Z",
        " 2020-01-01", "2020-01-01 10:00:00.1234567890",
    ],
    "VARIANT": ["{}"],
    "BLOB": ["x"],
}  # fmt: skip
STRICTER = {
    "DECIMAL(5, 2)": ["1234.5", "999.995"],  # becomes null
    "CHAR(3)": ["abcd"],  # cut
    "VARCHAR(3)": ["abcd"],
    "BINARY(2)": ["abc", "ÿÿ"],
    "DATE": ["2020", "20200101", "2020-01"],  # days since 1970, and a month
    "TIME(0)": ["10", "25:00:00", "10:61:00", "24:00:00"],  # milliseconds, and times that no day has
}


@pytest.mark.parametrize(("type_", "text"), [(t, text) for t, texts in TAKEN.items() for text in texts])
def test_take_what_paimon_takes(type_: str, text: str) -> None:
    assert default_error(parse_type(type_), text) is None


@pytest.mark.parametrize(
    ("type_", "text"),
    [(t, text) for table in (REFUSED, STRICTER) for t, texts in table.items() for text in texts],
)
def test_refuse_what_paimon_refuses_or_would_change(type_: str, text: str) -> None:
    assert default_error(parse_type(type_), text)
