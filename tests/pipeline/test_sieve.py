"""Records that are read many at a time: their values are those that are read one by one, and most are proven. Without Java."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from tests.pipeline.read_alike import doubts_counted, job_of, read_alike, reader_of, rows_by_text, task_of

FIELD = pa.field
BFLOAT16 = {b"ARROW:extension:name": b"lance.bfloat16"}
ITEM = pa.struct([FIELD("day", pa.date32(), False), FIELD("n", pa.uint16()), FIELD("d", pa.decimal128(4, 2))])
SCHEMA = pa.schema(
    [
        FIELD("i8", pa.int8()),
        FIELD("i64", pa.int64()),
        FIELD("u64", pa.uint64()),
        FIELD("f16", pa.float16()),
        FIELD("f32", pa.float32()),
        FIELD("f64", pa.float64()),
        FIELD("d", pa.decimal128(5, 2)),
        FIELD("wide", pa.decimal128(38, 10)),
        FIELD("b", pa.bool_()),
        FIELD("a key", pa.string()),
        FIELD("day", pa.date32()),
        FIELD("at", pa.timestamp("ns", "UTC")),
        FIELD("ms", pa.timestamp("ms")),
        FIELD("clock", pa.time32("s")),
        FIELD("u", pa.uuid()),
        FIELD("bin", pa.binary(2)),
        FIELD("took", pa.duration("ms")),
        FIELD("kind", pa.dictionary(pa.int8(), pa.string())),
        FIELD("none", pa.null()),
        FIELD("items", pa.list_(FIELD("item", ITEM, False))),
        FIELD("m", pa.map_(pa.string(), FIELD("value", pa.timestamp("us", "UTC")))),
        FIELD("v", pa.list_(FIELD("item", pa.float32(), False), 2)),
        FIELD("bf", pa.list_(FIELD("item", pa.binary(2), metadata=BFLOAT16), 2)),
        FIELD("deep", pa.list_(pa.list_(pa.int8()))),
        FIELD("st", pa.struct([FIELD("x", pa.int32(), False), FIELD("é y", pa.string())])),
        FIELD("im", pa.map_(pa.int32(), FIELD("value", pa.int8()))),
        FIELD("j", pa.json_()),
    ]
)

KNOWN = pa.schema([field for field in SCHEMA if field.name not in ("u", "im", "j", "none", "bin")])
"""Those of whose values it is known how they are spelled."""

VALUES: dict[str, list[Any]] = {
    "i8": [0, -128, 127, 128, -129, 1.0, 1.5, "1", True, None, [1], {"a": 1}, 1e2],
    "i64": [2**63 - 1, -(2**63), 2**63, 1e18, 5000.0],
    "u64": [0, 2**63, 2**64 - 1, 2**64, -1],
    "f16": [65504, 65519, 65520, 0.1, "NaN", 1e-9],
    "f32": [3.4e38, 3.5e38, 0.1, 16777217, 2**70, "Infinity"],
    "f64": [0.1, 5e-324, 1.7976931348623157e308, -0.0, 123456789012345678],
    "d": [999.99, 1000, 1.239, 0.1, 99.5, -999.99, 5, "5", 1e2, 1e-2],
    "wide": [12345, -0.5],
    "b": [True, False, "true", 1],
    "a key": ["", "é\n\"\\'`", "\ud83d\ude00", 5, 1.10, [], {}, "NULL"],
    "day": ["2024-02-29", "2023-02-29", "2024-1-1", "", 5],
    "at": ["2024-01-01T00:00:00.123456789Z", "2024-01-01T00:00:00", "9999-01-01T00:00:00Z", "x"],
    "ms": ["2024-01-01T00:00:00.5", "2024-01-01T00:00:00.1234"],
    "clock": ["13:45", "24:00:00", "13:45:00.5"],
    "u": ["00112233-4455-6677-8899-aabbccddeeff", "0"],
    "bin": ["AAE=", "AA==", "!"],
    "took": [5, 5.5, "5", 2**63],
    "kind": ["a", 1],
    "none": [None, 1],
    "items": [
        [],
        None,
        [None],
        [{}],
        [
            {"day": "2024-01-01", "n": 1, "d": 1.25},
            {"day": "2024-13-01"},
            {"day": "2024-01-01", "n": -1},
        ],
        [{"day": "2024-01-01", "d": 1.239}],
        [{"day": "2024-01-01", "other": [{"k": 1}]}],
        {"day": 1},
    ],
    "m": [{}, {"a": "2024-01-01T00:00:00Z", "b c": None}, {"`": "soon"}, {"a": 1}, []],
    "v": [[1, 2.5], [1], [1, None], [1, "2"], [1, 1e39], [2**70, 1]],
    "bf": [[1, 3.140625], [1, 3.39e38], [1, 3.3996e38], None],
    "deep": [[[1], [], None], [[1, 300]], [1]],
    "st": [{"x": 1}, {"é y": "z"}, {"x": 1, "é y": None, "more": {"x": "1"}}, 5, {}, None],
    "im": [{"1": 1}, {"x": 1}],
    "j": [{"a": [1.5]}, 5, None, "text"],
    "unknown": [1, {"i8": "x"}, [{"i8": "x"}, {"`>": 1}], [[[[[[[[[[1]]]]]]]]]]],
}

RECORDS: list[str] = [
    "{}",
    *(json.dumps({name: value}) for name, values in VALUES.items() for value in values),
    '{"i8": 1, "i64": "x", "st": {"x": 1}, "zzz": {"i8": "1"}}',
    '{"wide": 1234567890123456789012345678.0123456789, "f64": 0.1000000000000000055511151231257827021181583404541015625}',
    '{"wide": 12345678901234567890123456789.5}',
    '{"d": 1.10, "wide": 1.100000000000000000}',
    '{"i8": 1, "i8": 2}',
    '{"st": {"x": 1, "x": 2}}',
    '{"i8": 1} trailing',
    ' \t{"i8": 1}',
    "[1]",
    "null",
    '{"i8": NaN}',
    '{"i8": 01}',
    '{"_schemac_corrupt": "x", "i8": 5}',
    '{"I8": "case matters"}',
]


def proven(schema: pa.Schema, lines: list[str], **settings: Any) -> list[bool]:
    """For each line, whether it is taken apart with others, and all of its values are proven."""
    task = task_of(schema, job_of(Path("in.json"), "json", **settings))
    with doubts_counted() as doubtful:
        rows_by_text(task, reader_of(lines, schema))
    return [row not in doubtful for row in range(len(lines))]


@pytest.mark.parametrize("unexpected", ["ignore", "reject"])
def test_read_as_one_by_one(unexpected: str) -> None:
    assert read_alike(KNOWN, RECORDS, Path("in.json"), "json", unexpected=unexpected) > 15


def test_what_is_not_known_is_not_proven() -> None:
    for name in ("u", "im", "j", "none"):
        assert proven(pa.schema([SCHEMA.field(name)]), ["{}"]) == [False]


def test_sound_records_are_proven() -> None:
    sound = [
        {},
        {"i8": 1, "f32": 0.5, "d": 1.25, "a key": "x", "day": "2024-01-01", "at": "2024-01-01T00:00:00Z"},
        {
            "items": [{"day": "2024-01-01", "n": 1, "d": 5}],
            "m": {"a b": "2024-01-01T00:00:00Z"},
            "v": [1, 2.5],
        },
        {
            "st": {"x": 1, "é y": "z"},
            "im": {"1": 1},
            "j": [{"any": {"thing": [1]}}],
            "unknown": {"a b": [[1]]},
        },
    ]
    lines = [json.dumps(record) for record in sound]
    assert proven(KNOWN, [*lines, '{"i8": "1"}', "[1]"]) == [True] * 4 + [False] * 2


def test_nested_paths_are_proven() -> None:
    schema = pa.schema([FIELD("a", pa.int8(), False), FIELD("b", pa.timestamp("ms"))])
    fields = {"a": "p.a", "b": "p.t"}
    lines = [
        '{"p": {"a": 1, "t": "2024-01-01T00:00:00", "z": 0}, "xyz": [1, 2]}',
        '{"p": null}',
        '{"p": {"a": 1, "t": "5"}}',
        '{"p": 1}',
    ]
    assert proven(schema, lines, fields=fields) == [True, False, False, False]


def test_long_records_do_not_exhaust_the_stack() -> None:
    moment = "2024-01-01T00:00:00Z"
    many = {f"k {i}": moment for i in range(20_000)}
    lines = [
        json.dumps(record)
        for record in ({"m": many}, {"i8": 1, **many}, {"unknown": many}, {"i8": "x", **many})
    ]
    assert proven(KNOWN, lines)[0]


def test_wide_records_are_proven() -> None:
    schema = pa.schema([FIELD(f"c{i}", pa.int64()) for i in range(1_000)])
    record = {f"c{i}": i for i in range(1_000)}
    lines = [json.dumps(record), json.dumps({**record, "more": 1}), json.dumps({**record, "c500": "x"})]
    assert proven(schema, lines) == [True, True, False]


@pytest.mark.parametrize("unexpected", ["ignore", "reject"])
def test_paths_into_objects_and_lists_are_read_alike(unexpected: str) -> None:
    """What stands beside a path is looked at as well: a key that stands twice there makes the record none."""
    schema = pa.schema(
        [
            FIELD("x", pa.float64()),
            FIELD("y", pa.float64(), False),
            FIELD("kind", pa.string()),
            FIELD("p", pa.json_()),
        ]
    )
    fields = {"x": "g.c[0]", "y": "g.c[1]", "kind": "g.k:ind", "p": "p"}
    lines = [
        '{"g": {"c": [1, 2.5], "k:ind": "a:b"}, "p": {"a": 1}}',
        '{"g": {"c": [1]}}',
        '{"g": {"c": [1, "x", 3]}, "more": {"a": [{"b": 1}]}}',
        '{"g": {"c": [1, 2, {"a": 1, "a": 2}]}}',
        '{"g": {"c": [1, 2, {"a": 1}], "z": 1, "z": 2}}',
        '{"g": {"c": [1, 2], "k\\u003aind": "a", "k\\u003aind": "b"}}',
        '{"g": {"c": [1, 2]}, "more": {"a": [{"b": 1, "b": 1}]}}',
        '{"g": {"c": [1, 2]}, "p": {"a": 1, "a": 1}}',
        '{"g": {"c": {"0": 1}}}',
        '{"g": [1, 2]}',
        '{"g": null, "g": {"c": [1, 2]}}',
        '{"g":\t{"c" :[ 1 ,2 ] , "k:ind":null}\n}',
        f'{{"g": {{"c": [1, {"1" * 1000}]}}}}',
        f'{{"g": {{"c": [1, 2]}}, "more": {"1" * 1000}}}',
        f'{{"g": {{"c": [1, 2]}}, "more": {"[" * 901}{"]" * 901}}}',
        f'{{"g": {{"c": [1, 2]}}, "{"k" * 50_000}": 1}}',
    ]
    assert read_alike(schema, lines * 3, Path("in.json"), "json", unexpected=unexpected, fields=fields) == 0
    schema = pa.schema([field for field in schema if field.name != "p"])
    del fields["p"]
    assert read_alike(schema, lines * 3, Path("in.json"), "json", unexpected=unexpected, fields=fields) > 2
