"""Objects of Python of every class that a row may have, next to each other in value: what pyarrow takes for another one is among them."""

import dataclasses
import datetime
import enum
import uuid
from collections import OrderedDict, defaultdict
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa


class Word(str):
    """A text of another class."""

    __slots__ = ()


class Count(int):
    """An integer of another class."""


class Level(enum.IntEnum):
    """A number with a name."""

    LOW = 1


@dataclasses.dataclass
class Pair:
    """Values by name."""

    a: Any
    b: Any = None


_CLOCK = datetime.datetime(2024, 2, 29, 13, 45)  # noqa: DTZ001 — a clock
_FIRST, _LAST = _CLOCK.replace(1, 1, 1, 0, 0), _CLOCK.replace(9999, 12, 31, 23, 59, 59, 999_999)
_ZONES = (
    datetime.UTC,
    ZoneInfo("Europe/Berlin"),
    datetime.timezone(datetime.timedelta(hours=-5)),
    datetime.timezone(datetime.timedelta(seconds=-5, microseconds=-1)),
)
_NUMBERS = [
    0,
    1,
    -1,
    127,
    128,
    255,
    256,
    -129,
    2**31,
    2**53,
    2**53 + 1,
    2**63 - 1,
    2**63,
    2**64 - 1,
    2**64,
    -(2**63),
    10**400,
    10**5000,
]
_FLOATS = [
    0.0, -0.0, 0.1, 1.0, 12.0, 65504.0, 65519.99, 65520.0, 3.4028234663852886e38, 3.4028235677973366e38, 1e39, 1e-45, 7e-46, 5e-324, 1e308, 16777217.0,
    1.0000000596046448, 1.00000005960464478, float("nan"), float("inf"), float("-inf"),
]  # fmt: skip
_DECIMALS = [
    "0", "-0", "1", "1.5", "1.50", "1.500", "1.005", "999.99", "1000", "99900", "1E+3", "1E+400", "0E-50", "0E+400", "NaN", "sNaN", "Infinity",
    "12345678901234567890.1234567891", "1E-39", "1E-41", "3E-41", "1E-100", "1.5" + "0" * 60, "0.003637690010316964630836", "1E-9999999",
]  # fmt: skip
SCALARS: list[Any] = [
    None, True, False, *_NUMBERS, *_FLOATS, *map(Decimal, _DECIMALS), "", "x", "é", "\x00", "1", "1.5", "true", "2024-02-29", "2024-02-29T13:45:00", "YWI=", "{}", "null",
    Word("x"), Word("1"), Count(1), Level.LOW, np.int64(1), np.float32(0.1), np.bool_(True), np.str_("x"), pa.scalar(1), b"", b"ab", b"0123456789abcdef", bytearray(b"ab"),
    uuid.UUID(int=5), datetime.date(2024, 2, 29), datetime.date.min, datetime.date.max, _CLOCK, _CLOCK.replace(microsecond=1), _CLOCK.replace(microsecond=1000),
    _CLOCK.replace(second=1), _FIRST, _LAST, datetime.datetime(1677, 1, 1), datetime.datetime(2263, 1, 1),  # noqa: DTZ001
    *[_CLOCK.replace(tzinfo=zone) for zone in _ZONES], *[datetime.datetime.min.replace(tzinfo=zone) for zone in _ZONES],
    *[datetime.datetime.max.replace(tzinfo=zone) for zone in _ZONES], *[datetime.datetime(1890, 1, 1, tzinfo=zone) for zone in _ZONES],
    datetime.datetime(2024, 10, 27, 2, 30, tzinfo=_ZONES[1], fold=1), datetime.datetime(2024, 3, 31, 2, 30, tzinfo=_ZONES[1]), datetime.datetime(2024, 10, 27, 2, 30),  # noqa: DTZ001
    datetime.time(), datetime.time(13, 45, 1, 1), datetime.time(13, 45, 1, 1000), datetime.time(13, 45, tzinfo=datetime.UTC),
    datetime.timedelta(), datetime.timedelta(microseconds=-1), datetime.timedelta(days=200_000), datetime.timedelta.max, datetime.timedelta.min, {1}, object, "\ud800",
]  # fmt: skip
NESTED: list[Any] = [
    [], (), [1], (1, 2), [1, None], [1, "2"], [True], [128], [[1]], [[1], None], [[1], [300]], [[]], np.array([1, 2]), pa.array([1]), ["x"], ["x", None], [Word("x")], [0.5, 1],
    [0.5, 1.5, float("nan")], [0.5, None], [1, 2, 3], {}, {"a": 1}, {"a": 1, "b": "x"}, {"b": "x", "a": 1}, {"a": None, "b": None}, {"a": 1, "b": "x", "c": 1}, {"a": 1, "c": [1]},
    {"a": 1, "b": "x", 5: 1}, {"a": 300, "b": 5}, {"k": 1}, {"k": None}, {"k": "x"}, {"k": "x", "l": "y"}, {Word("k"): "x"}, {1: "x"}, {1: "x", "1": "y"}, {b"k": "x"},
    {True: "x"}, {1.5: "x"}, {None: "x"}, {(1, 2): "x"}, {object: "x"}, {datetime.date(2024, 2, 29): "x"}, {float("nan"): "x", float("-nan"): "y"}, [[1, "x"]], [["k", "x"]], [("k", "x")], [["k", "x"], ["k", "y"]], OrderedDict(a=1, b="x"), defaultdict(int, a=1), Pair(1, "x"), Pair(300, 5), [Pair(1)],
    {"a": Pair(1)}, {"k": "\ud800"}, {"\ud800": "x"}, [{"a": 1, "b": "x"}, None, {"a": 2}], [{"k": 1}, {"k": 300}], {"k": [1]}, {"k": {"a": 1, "b": "x"}}, {"a": [1], "b": {"k": 1}},
]  # fmt: skip
