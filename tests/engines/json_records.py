"""Odd records of JSON, and what the pipeline says of each: the corpus that other judges of records are held against.

Shape: `COLUMNS` are the fields of a table by name, all optional; a record has one of them, as a JSON token. Whole records that
are none, or have several, stand in `RECORDS`. `json_verdicts.json` has a line for each: the rules that the pipeline finds broken,
or `fits`. `tests/pipeline/test_json_verdicts.py` holds the file against Spark, and writes it with `--refresh json_verdicts`.
"""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "json_verdicts.json"
FITS = "fits"

_NUMBERS = [
    "0",
    "-0",
    "1",
    "1.0",
    "1e2",
    "1E+2",
    "1.5",
    "-1",
    "0.1e1",
    "1e400",
    "1e-400",
    '"1"',
    "true",
    "[1]",
    '{"a": 1}',
    '""',
]
_AROUND = {
    bits: [str(n) for n in (-(2 ** (bits - 1)), -(2 ** (bits - 1)) - 1, 2 ** (bits - 1) - 1, 2 ** (bits - 1), 2**bits - 1, 2**bits)]
    for bits in (8, 16, 32, 64)
}  # fmt: skip
_FLOATS = ["65519.99", "65520", "-65520", "3.4028234663852886e38", "3.4028235677973366e38", "3.5e38", "1e308", "1e309", "-1e309",
           "1.7976931348623157e308", "5e-324", "NaN", "Infinity", '"NaN"']  # fmt: skip
_DECIMALS = ["0.01", "-0.01", "0.001", "1.10", "1.100", "999.99", "-999.99", "1000", "999.999", "99999", "1e-2", "1e-3", "12.5e1",
             "0.10000000000000000555", "1000.00", "0.010", "100e-4"]  # fmt: skip
_DAYS = ["2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "0000-01-01", "0001-01-01", "9999-12-31", "2024-04-31", "2024-13-01",
         "2024-00-10", "2024-1-1", "2024", " 2024-01-01", "2024-01-01 ", "2024-01-01T00:00:00", "12024-01-01", "-001-01-01", "20240101",
         "２０２４-01-01", "2024-01-01\n"]  # fmt: skip
_CLOCKS = ["2024-01-01T00:00:00", "2024-01-01 00:00:00", "2024-01-01t00:00", "2024-01-01T24:00:00", "2024-01-01T23:59:60",
           "2024-01-01T00:00:00.5", "2024-01-01T00:00:00,25", "2024-01-01T00:00:00.", "2024-01-01T00:00:00.123000", "2024-01-01T00:00:00.1234",
           "2024-01-01T00:00:00.123456", "2024-01-01T00:00:00.1234567", "2024-01-01T00:00:00.123456789", "2024-01-01T00:00:00.1234567891",
           "2023-02-29T00:00:00", "2024-01-01", "2024-01-01T", "2024-01-01T1:00", "2024-01-01T00:00:0", "2024-01-01_00:00:00", "soon", "",
           "9999-12-31T23:59:59.999", "0001-01-01T00:00:00", "0000-12-31T00:00:00", "1677-01-01T00:00:00", "2263-01-01T00:00:00"]  # fmt: skip
_OFFSETS = [
    "Z",
    "z",
    "+00:00",
    "-05:00",
    "+0530",
    "+02",
    "+2",
    "+18:00",
    "-18:00",
    "+18:01",
    "+19:00",
    "+02:60",
    " Z",
    "UTC",
]
_INSTANTS = [*_CLOCKS, *(f"2024-01-01T00:00:00{offset}" for offset in _OFFSETS), "2024-01-01T00:00+01:00", "2024-01-01Z",
             "2024-01-01T00:00:00.5Z", "9999-12-31T23:00:00-02:00", "0001-01-01T00:00:00+02:00", "9999-12-31T12:00:00Z", "0001-01-01T12:00:00Z",
             "2262-04-11T23:47:16.854775807Z", "2262-04-11T23:47:16.854775808Z", "1677-09-21T00:12:43.145224193Z"]  # fmt: skip
_TIMES = ["13:45:00", "13:45", "13:45:00.5", "13:45:00.500", "13:45:00.1234567", "13:45:00.", "13:45:00,5", "24:00:00", "23:60", "1:00", "13",
          "13:45:00Z", "T13:45"]  # fmt: skip
_BINARIES = [
    "",
    "AAE=",
    "AA==",
    "AB==",
    "AAEC",
    "A",
    "AA",
    "AAE",
    "A===",
    "====",
    "a b=",
    "AA=A",
    "AAE=AAE=",
    "AA-_",
    "AAE=\n",
]
_UUIDS = ["00112233-4455-6677-8899-aabbccddeeff", "00112233-4455-6677-8899-AABBCCDDEEFF", "00112233445566778899aabbccddeeff",
          "{00112233-4455-6677-8899-aabbccddeeff}", "00112233-4455-6677-8899-aabbccddeefg"]  # fmt: skip
_OTHERS = ["5", "true", "[]", "{}", "null"]
_MOMENTS = ["2024-03-31T02:30:00", "2024-10-27T02:30:00", "2024-07-01T12:00:00", "2024-07-01T12:00:00Z"]


def _texts(texts: list[str]) -> list[str]:
    return [*(json.dumps(text, ensure_ascii=False) for text in texts), *_OTHERS]


def _timestamp(unit: str, zone: str | None) -> str:
    return f"{{kind: Timestamp, unit: {unit}, timezone: {zone or 'null'}}}"


COLUMNS: dict[str, tuple[str, list[str]]] = {
    **{f"i{bits}": (f"Int{bits}", [*_NUMBERS, *_AROUND[bits]]) for bits in (8, 16, 32, 64)},
    **{f"u{bits}": (f"UInt{bits}", [*_NUMBERS, *_AROUND[bits]]) for bits in (8, 16, 32, 64)},
    "exact": ("Int64", ["9007199254740993", "9007199254740993.0", "9223372036854775807.0", "9223372036854775808.0", "9.223372036854775807e18"]),
    **{f"f{bits}": (f"Float{bits}", [*_NUMBERS, *_FLOATS]) for bits in (16, 32, 64)},
    "d5_2": ("{kind: Decimal, precision: 5, scale: 2}", [*_NUMBERS, *_DECIMALS]),
    "d38_10": ("{kind: Decimal, precision: 38, scale: 10}", [*_NUMBERS, "9999999999999999999999999999.9999999999", "10000000000000000000000000000",
               "0.00000000001", "1.00000000000", "12345678901234567890.1234567891"]),
    "d3_m2": ("{kind: Decimal, precision: 3, scale: -2}", ["100", "150", "99900", "100000", "1e4", "0", "1"]),
    "b": ("Bool", ["true", "false", '"true"', "0", "1", "null", "[]"]),
    "s": ("String", ['""', '"é\\n"', '"\\u0000"', '"\\ud83d\\ude00"', *_OTHERS, "1.5", "NaN"]),
    "day": ("Date", _texts(_DAYS)),
    "clock_s": (_timestamp("Second", None), _texts(_CLOCKS)),
    "clock_ms": (_timestamp("Millisecond", None), _texts([*_CLOCKS, "2024-01-01T00:00:00Z"])),
    "clock_us": (_timestamp("Microsecond", None), _texts([*_CLOCKS, "2024-01-01T00:00:00+01:00"])),
    "clock_ns": (_timestamp("Nanosecond", None), _texts(_CLOCKS)),
    "utc_ms": (_timestamp("Millisecond", "UTC"), _texts(_INSTANTS)),
    "utc_us": (_timestamp("Microsecond", "UTC"), _texts(_INSTANTS)),
    "utc_ns": (_timestamp("Nanosecond", "UTC"), _texts(_INSTANTS)),
    "tokyo": (_timestamp("Microsecond", "Asia/Tokyo"), _texts(_INSTANTS)),
    "berlin": ("{kind: Timestamp, timezone: Europe/Berlin, extra: {schemac.dev/clockZone: Europe/Berlin}}", _texts([*_MOMENTS, *_INSTANTS])),
    **{f"t_{unit}": (f"{{kind: Time, unit: {unit}}}", _texts(_TIMES)) for unit in ("Second", "Millisecond", "Microsecond", "Nanosecond")},
    "dur": ("Duration", ["5", "-5", "5.0", "5e0", "5.5", '"5"', "9223372036854775807", "9223372036854775808", "true"]),
    "bin": ("Binary", _texts(_BINARIES)),
    "bin2": ("{kind: Binary, fixedLength: 2}", _texts(_BINARIES)),
    "uid": ("{kind: Binary, fixedLength: 16, extra: {arrow.apache.org/extensionType: {name: arrow.uuid}}}", _texts(_UUIDS)),
    "any": ("{kind: String, extra: {lance.org/json: true}}", [*_OTHERS, '"x"', '{"a": [1, {"b": null}]}', "1.5"]),
    "list": ("{kind: List, itemType: Int8}", ["[]", "[1, 2]", "[1, null]", '[1, "2"]', "[128]", "{}", '"[]"', "1", "[[1]]"]),
    "opt": ("{kind: List, itemType: {kind: Option, inner: String}}", ["[null]", '["a", 1]', "[[]]"]),
    "vec": ("{kind: List, itemType: Float32, fixedLength: 2}", ["[1, 2]", "[1]", "[1, 2, 3]", "[]", "[1, null]", "[1, 1e39]", '[1, "2"]', "null"]),
    "map": ("{kind: Map, keyType: String, valueType: Int8}", ["{}", '{"a": 1}', '{"a": null}', '{"a": 128}', "[]", "1", '{"": 1}', '{"a": 1, "b": "1"}']),
    "nums": ("{kind: Map, keyType: Int32, valueType: {kind: Option, inner: Int8}}",
             ['{"1": 1}', '{"1": null}', '{"x": 1}', '{"1": 1, "01": 2}', '{"1.0": 1}', '{"1.5": 1}', '{"": 1}', '{"2147483648": 1}', '{"-2": 1}', '{"+2": 1}', '{" 2": 1}']),
    "days": ("{kind: Map, keyType: Date, valueType: Bool}", ['{"2024-02-29": true}', '{"2023-02-29": true}', '{"": true}']),
    "st": ("{kind: Struct, fields: [{name: k, type: UInt8}, {name: o, type: {kind: Option, inner: Int8}}, {name: l, type: {kind: Option, inner: {kind: List, itemType: {kind: Struct, fields: [{name: x, type: Date}]}}}}]}",
           ['{"k": 1}', "{}", '{"k": null}', '{"k": 1, "o": null, "z": 5}', '{"k": 256}', '{"k": "1"}', '{"k": 1, "o": 200}', "[]", '"x"', "5",
            '{"k": 1, "l": []}', '{"k": 1, "l": [{}]}', '{"k": 1, "l": [{"x": "2024-01-01"}, {"x": "2024-01-32"}]}', '{"k": 1, "l": [null]}', '{"k": 1, "l": {"x": 1}}']),
}  # fmt: skip
"""By name: the type as an author writes it, and tokens. No column is required, so that a record may have one of them alone."""
RECORDS = ["{}", "[1]", "5", '"x"', "null", '{"i8": 1, "i8": 1}', '{"z": {"a": 1, "a": 2}}', '{"i8": 1', '{"i8": 1}}', "{'i8': 1}", '{"i8": 01}', '{"i8": +1}',
           '{"i8": .5}', '{"i8": 1.}', '{"I8": 128}', '{"i8": 1, "s": 5}', '{"i8": null, "st": null, "any": null}', '{"i8": 1,}', "{} {}"]  # fmt: skip


def manifest(columns: Iterable[str] = COLUMNS) -> str:
    """The table with these columns, as an author writes it."""
    types = {name: COLUMNS[name][0] for name in columns}
    lines = [
        f"  - {{name: {name}, type: {{kind: Option, inner: {type_}}}}}\n" for name, type_ in types.items()
    ]
    return "name: odd\nfields:\n" + "".join(lines)


def records(columns: Iterable[str] | None = None) -> list[str]:
    """The records of these columns as text; without any, all that there are."""
    found = [f'{{"{name}": {token}}}' for name in columns or COLUMNS for token in COLUMNS[name][1]]
    return list(dict.fromkeys([*found, *(RECORDS if columns is None else ())]))


@cache
def verdicts() -> dict[str, str]:
    """What the pipeline says of each record: `fits`, or the rules that it breaks."""
    found: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))
    return found
