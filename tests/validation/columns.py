"""Columns as a frame of Spark may have them: their types, and odd values."""

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

UTC = datetime.UTC

_INTEGERS = [0, 1, -1, 127, 128, 255, 256, -129, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), None]
_CLOCKS = [
    datetime.datetime(2024, 1, 1),  # noqa: DTZ001 — a clock has no zone
    datetime.datetime(2024, 3, 31, 2, 30, 0, 500000),  # noqa: DTZ001
    datetime.datetime(2024, 10, 27, 2, 30, 0, 123456),  # noqa: DTZ001
    datetime.datetime(1, 1, 1),  # noqa: DTZ001
    datetime.datetime(9999, 12, 31, 23, 59, 59, 999999),  # noqa: DTZ001
    None,
]
SOURCES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.string(), ["", "1", "-5", "1.50", "1e2", "true", "2024-01-01", "2024-01-01T10:00:00.5", "2024-01-01T10:00:00Z", "13:45", "AAE=", "x", "[1]", "[1, null]", "{}", '{"a": 1}', '{"1": 2}', '{"k": 1}', "NaN", "300", None]),
    "byte": (pa.int8(), [0, 1, -128, 127, None]),
    "int": (pa.int32(), [0, 1, -1, 200, 70000, -(2**31), None]),
    "long": (pa.int64(), _INTEGERS),
    "single": (pa.float32(), [0.0, -0.0, 1.0, 1.5, 0.1, 3.4028234663852886e38, 65520.0, 1e-10, float("nan"), float("inf"), -1e10, None]),
    "double": (pa.float64(), [0.0, 1.0, 255.0, 256.5, 0.1, 1e10, 1e300, -1e-5, 9007199254740993.0, float("nan"), float("-inf"), None]),
    "decimal": (pa.decimal128(10, 3), [Decimal("0.000"), Decimal("1.500"), Decimal("-1.234"), Decimal("300.000"), Decimal("9999999.999"), None]),
    "bool": (pa.bool_(), [True, False, None]),
    "date": (pa.date32(), [datetime.date(2024, 2, 29), datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]),
    "clock": (pa.timestamp("us"), _CLOCKS),
    "instant": (pa.timestamp("us", "UTC"), [one and one.replace(tzinfo=UTC) for one in _CLOCKS]),
    "bytes": (pa.binary(), [b"", b"ab", b"abc", b"\x00" * 16, None]),
    "list": (pa.list_(pa.int32()), [[], [1, 2], [1], [300, None], None]),
    "texts": (pa.list_(pa.string()), [[], ["a", "1"], [None], ["2", "3"], None]),
    "map": (pa.map_(pa.string(), pa.int32()), [[], [("a", 1)], [("1", 300)], [("a", None)], [("1", 1), ("01", 2)], None]),
    "numbers": (pa.map_(pa.int32(), pa.string()), [[], [(1, "1")], [(-2, "x")], [(1, None)], None]),
    "struct": (pa.struct([("k", pa.int32()), ("o", pa.int64()), ("l", pa.list_(pa.struct([("x", pa.string())])))]),
               [{"k": 1, "o": None, "l": None}, {"k": 300, "o": 5, "l": [{"x": "2024-01-01"}, {"x": "y"}]}, {"k": None, "o": 200, "l": []}, None]),
}  # fmt: skip
