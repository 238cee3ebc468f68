"""Records read a batch at a time: the same values and the same reasons as read item by item, whatever is in them."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import lance
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from schemac.pipeline.conforming import validation
from schemac.pipeline.runner import run
from tests.pipeline.odd_records import BEHIND
from tests.pipeline.read_alike import job_of, read_alike

FIELD = pa.field
SCHEMA = pa.schema(
    [
        FIELD("id", pa.int64(), False),
        FIELD("n", pa.int8()),
        FIELD("u", pa.uint32()),
        FIELD("p", pa.decimal128(12, 2)),
        FIELD("at", pa.timestamp("us", "UTC")),
        FIELD("ms", pa.timestamp("ms")),
        FIELD("day", pa.date32()),
        FIELD("x", pa.float64()),
        FIELD("f", pa.float32()),
        FIELD("b", pa.bool_()),
        FIELD("s", pa.string()),
        FIELD("t", pa.time32("s")),
        FIELD("ns", pa.timestamp("ns", "UTC")),
        FIELD("ny", pa.timestamp("us", "America/New_York")),
        FIELD("h", pa.float16()),
        FIELD("uid", pa.uuid()),
    ]
)
NAMES = SCHEMA.names
MOMENTS = ["2024-01-01T00:00:00Z", "2024-02-30T00:00:00Z", "2024-01-01 10:00:00.123456+02:00", "2024-01-01T10:00:00", "2024-01-01T24:00:00Z",
           "0000-01-01T00:00:00Z", "0999-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2024-01-01T10:00:00+19:00", "2024-01-01T10:00Z",
           "1883-11-18T00:00:00.1234567Z", "2024-12-31T23:59:60Z", "1000-01-01T00:00:00+18:00", "2024-01-01T00:00:00+02:60",
           "1000-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "1677-09-21T00:12:43.145224193Z", "2262-04-11T23:47:16.9Z"]  # fmt: skip
CELLS = {
    "id": ["0", "-5", "007", "+3", "9223372036854775807", "9223372036854775808", "1e3", "5.0", " 1", "x", "٣", "123456789012345678"],
    "n": ["127", "128", "-128", "-129", "-0", "1"],
    "u": ["4294967295", "4294967296", "-1", "-0"],
    "p": ["1.10", "1.105", "1.100", "-0.5", ".5", "5.", "9999999999.99", "10000000000", "1e2", "NaN", "-0", "1,5"],
    "at": MOMENTS,
    "ms": ["2024-01-01T00:00:00.123", "2024-01-01T00:00:00.1234", "2024-01-01T00:00:00Z", "2999-12-31T23:59:59.999", "2024-13-01T00:00:00"],
    "day": ["2024-02-29", "2023-02-29", "2024-1-1", "0001-01-01", "1582-10-10", "9999-12-31", "1900-02-29"],
    "x": ["0.1", "1e308", "1e309", "Infinity", "1d", "0x1p3", "1_0", "5e-324", "1e-400", "1.7976931348623159e308", "-0.0",
          "0.1000000000000000055511151231257827021181583404541015625", "1.2345678901234567e-05"],
    "f": ["3.4e38", "3.5e38", "16777217", "0.1", "1.00000017881393432617187499", "7e-46", "1.00000005960464477539062501", "1e-40",
          "1.0000000596046448", "1.2345678901234567e-05"],
    "b": ["true", "TRUE", "false", "yes", "1", "t"],
    "s": ["a", " b ", "é\\n", "NULL", "null", "\\", "#", "\x01", "\ue000", "\u2028"],
    "t": ["10:00:00", "25:00:00", "10:00", "10:00:00.0"],
    "ns": MOMENTS,
    "ny": MOMENTS,
    "h": ["65519.99", "65520", "-65519.996", "1e-9", "0.1"],
    "uid": ["00112233-4455-6677-8899-aabbccddeeff", "0"],
}  # fmt: skip
USUAL = ["1", "2", "3", "4.00", "2024-01-01T00:00:00.5Z", "2024-01-01T00:00:00", "2024-01-01", "1.5", "2.5", "true", "text", "10:00:00",
         "2024-01-01T00:00:00.123456789Z", "2024-01-01T00:00:00-05:00", "1.5", "00112233-4455-6677-8899-aabbccddeeff"]  # fmt: skip
QUOTED = {"at", "ms", "day", "s", "t", "ns", "ny", "uid"}


def csv_lines(rng: random.Random, count: int) -> Iterator[str]:
    """Each odd cell alone, some records that are cut in odd ways, and odd cells among usual ones."""
    yield ",".join(USUAL)
    for label, texts in CELLS.items():
        for text in texts:
            cells = ["1", *[""] * (len(NAMES) - 1)]
            cells[NAMES.index(label)] = text
            yield ",".join(cells)
            yield ",".join(cells).replace(text, f'"{text}"')
    empty = "," * (len(NAMES) - 11)
    yield from (
        "1,2,3",
        "1" + "," * 20,
        f'"1","2",3,4.00,,,,,,,"a ""b"", c"{empty}',
        f'1,2,,,,,,,,,"open{empty}',
    )
    yield from (f',2,,,,,,,,,"s"{empty}', f'1,,,,,,,,,,""{empty}', f'1,"",,,,,,,,,s{empty}')
    for _ in range(count):
        cells = [usual if rng.random() < 0.97 else rng.choice(["", *CELLS[label]]) for label, usual in zip(NAMES, USUAL, strict=True)]  # fmt: skip
        yield ",".join(cells)


def json_lines(rng: random.Random, count: int) -> Iterator[str]:
    """The same, with keys that stand twice, in other orders, or that no field takes."""

    def token(label: str, text: str) -> str:
        return json.dumps(text) if label in QUOTED or not text.strip() else text

    usual = {label: token(label, text) for label, text in zip(NAMES, USUAL, strict=True)}

    def record(members: dict[str, str]) -> str:
        return "{" + ", ".join(f'"{label}": {text}' for label, text in members.items()) + "}"

    yield record(usual | {"more": "[1, 2]", "o": '{"k": 1}'})
    tokens = [
        "null",
        "[]",
        "{}",
        '"1"',
        "5",
        "5.5",
        "true",
        r'"\u00e9\n"',
        r'"\ud83d"',
        r'"\ud83d\ude00"',
        '"a\tb"',
        r'"\u0000"',
    ]
    for label, texts in CELLS.items():
        for text in [*texts, *tokens]:
            yield record({"id": "1", label: token(label, text) if text in texts else text})
    yield from ('{"id":1,"id":2}', '{"id":1,"more":{"a":1,"a":2}}', '{"id":1,"o":{"k":1,"k":2}}', '{"id":1,}', '{"id":1,"o":{"k":1e999}}')  # fmt: skip
    yield from ("{}", '{"n":5,"id":7}', ' {"id":1}', '{"id":1}\t', '{"ID":1}', r'{"id":1,"\u006e":5}', "[1]", "5", '{"id":1{"n":2}', '\t{"id":1}')  # fmt: skip
    yield from ('{"id":1}' + behind for behind in BEHIND if behind.isprintable())
    for _ in range(count):
        members = {label: text if rng.random() < 0.97 else token(label, rng.choice(CELLS[label])) for label, text in usual.items()}  # fmt: skip
        if rng.random() < 0.2:
            members |= {"more": rng.choice(["1", "{}", "[3]", '{"a": [{}]}', "1e5", "null"])}
        yield record(members)


def lines_of(form: str, count: int) -> list[str]:
    rng = random.Random(3)
    return [",".join(NAMES), *csv_lines(rng, count)] if form == "csv" else [*json_lines(rng, count)]


@pytest.mark.parametrize("count", [1000, pytest.param(30_000, marks=pytest.mark.long)])
@pytest.mark.parametrize(("form", "unexpected"), [("csv", "ignore"), ("json", "ignore"), ("json", "reject")])
def test_read_as_one_by_one(tmp_path: Path, form: str, unexpected: str, count: int) -> None:
    schema = pa.schema([field for field in SCHEMA if field.name != "uid"])
    lines = lines_of(form, count)[form == "csv" :]
    if unexpected == "reject":
        lines = [line.replace(', "uid": "00112233-4455-6677-8899-aabbccddeeff"', "") for line in lines]
    found = read_alike(schema, lines, tmp_path / "in", form, tuple(NAMES), unexpected=unexpected)
    assert len(lines) / 4 < found < len(lines) - 20


@pytest.mark.parametrize("count", [100, pytest.param(30_000, marks=pytest.mark.long)])
@pytest.mark.spark
@pytest.mark.parametrize("form", ["csv", "json"])
def test_packed_records_reach_the_table_as_rows_do(
    spark: SparkSession, tmp_path: Path, form: str, count: int
) -> None:
    """Records that are proven where they are read, and others that go their way through Spark."""
    schema = pa.schema([field for field in SCHEMA if field.name != "uid"])
    lines = lines_of(form, count)
    ends = ["\n", "\r\n", "\r"]
    (tmp_path / "in").write_bytes("".join(line + ends[i % 3] for i, line in enumerate(lines)).encode())
    found = {}
    for label in ("packed", "rows"):
        job = job_of(tmp_path / "in", form, target={"path": str(tmp_path / label)}, maxQuarantined=1.0)
        unpacked = mock.patch.object(validation.ValidationPlan, "in_tasks", None)
        with unpacked if label == "rows" else nullcontext():
            report = run(job, schema, spark=spark)
        assert report.quarantine_path is not None
        held = [lance.dataset(path) for path in (report.table_path, report.quarantine_path)]
        found[label] = [Counter(shown(table.to_table())) for table in held]
        assert sum(map(Counter.total, found[label])) == report.rows_in
    for packed, rows in zip(found["packed"], found["rows"], strict=True):
        assert packed - rows == rows - packed == Counter()
    assert found["packed"][0].total() + found["packed"][1].total() >= count


CONSTRAINTS: dict[str, dict[str, Any]] = {
    "id": {"minimum": -4},
    "n": {"maximum": 126},
    "u": {"enum": [0, 1, 3, 4294967295]},
    "p": {"exclusiveMinimum": "-0.50", "multipleOf": "1.00"},
    "at": {"maximum": "2024-06-01T00:00:00Z"},
    "ms": {"maximum": "2024-01-01T00:00:00.122"},
    "day": {"exclusiveMinimum": "1582-10-10"},
    "x": {"minimum": 0},
    "f": {"maximum": 16777216},
    "b": {"enum": [True]},
    "s": {"pattern": "^[^#]*$", "minLength": 2},
    "t": {"minimum": "10:00:00"},
    "ns": {"minimum": "2024-01-01T00:00:00.123456789Z"},
    "ny": {"minimum": "2000-01-01T00:00:00Z"},
    "h": {"maximum": 2},
    "list": {"minItems": 1, "uniqueItems": True},
    "item": {"maximum": 5},
}
"""By field: what values have to be, and which of the odd and the usual ones break it."""
CHECKS = ["n is null or id < n or id > 5", "s is not null", "b is null or x is not null"]


def constrained(field: pa.Field) -> pa.Field:
    """The field with its constraints, as a manifest gives them to Arrow."""
    told = CONSTRAINTS.get(field.name, {})
    return field.with_metadata({f"schemac.dev/{key}": compact(value) for key, value in told.items()})


def compact(value: Any) -> str:
    """As attributes stand in metadata."""
    return json.dumps(value, separators=(",", ":"))


@pytest.mark.parametrize("count", [100, pytest.param(30_000, marks=pytest.mark.long)])
@pytest.mark.spark
@pytest.mark.parametrize("form", ["csv", "json"])
def test_records_with_constraints_reach_the_table_as_rows_do(
    spark: SparkSession, tmp_path: Path, form: str, count: int
) -> None:
    """A record that breaks a constraint goes its way through Spark, which finds the reasons; the others are packed."""
    fields = [constrained(field) for field in SCHEMA if field.name != "uid"]
    lines = lines_of(form, count)
    if form == "json":
        item = constrained(pa.field("item", pa.int32()))
        fields.append(constrained(pa.field("list", pa.list_(item))))
        rng = random.Random(5)
        lists = [json.dumps([rng.randrange(7) for _ in range(rng.randrange(4))]) for _ in lines]
        lines = [
            f'{line[:-1]}, "list": {found}}}' if line.startswith('{"') and line.endswith("}") else line
            for line, found in zip(lines, lists, strict=True)
        ]
    schema = pa.schema(fields, metadata={"schemac.dev/check": compact(CHECKS)})
    (tmp_path / "in").write_text("".join(line + "\n" for line in lines))
    found = {}
    for label in ("packed", "rows"):
        job = job_of(tmp_path / "in", form, target={"path": str(tmp_path / label)}, maxQuarantined=1.0)
        unpacked = mock.patch.object(validation.ValidationPlan, "in_tasks", None)
        with unpacked if label == "rows" else nullcontext():
            report = run(job, schema, spark=spark)
        assert report.quarantine_path is not None
        held = [lance.dataset(path) for path in (report.table_path, report.quarantine_path)]
        found[label] = [Counter(shown(table.to_table())) for table in held]
        assert sum(map(Counter.total, found[label])) == report.rows_in
    for packed, rows in zip(found["packed"], found["rows"], strict=True):
        assert packed - rows == rows - packed == Counter()
    rules = "".join(found["rows"][1])
    wanted = {rule for field in fields for rule in CONSTRAINTS.get(field.name, {})}
    assert {rule for rule in wanted if rule not in rules} == set()
    assert all(f"check: {text}" in rules for text in CHECKS)
    assert found["rows"][0].total() > count / 4


def shown(table: pa.Table) -> list[str]:
    """Rows as text in an order of their own, without the number of their run."""
    columns = [
        column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
        for name, column in zip(table.schema.names, table.columns, strict=True)
        if name != "run"
    ]
    return sorted(map(repr, zip(*(column.to_pylist() for column in columns), strict=True)))


def field_of(label: str, data_type: pa.DataType, is_nullable: bool) -> pa.Field:
    return FIELD(label, data_type, is_nullable or pa.types.is_null(data_type))


SCALARS = {
    "Int": st.sampled_from([pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32(), pa.uint64()]),
    "Float": st.sampled_from([pa.float16(), pa.float32(), pa.float64()]),
    "Decimal": st.sampled_from([pa.decimal128(5, 2), pa.decimal128(38, 10), pa.decimal128(3, 3), pa.decimal128(4, 0)]),
    "Text": st.sampled_from([pa.string(), pa.large_string()]),
    "Moment": st.sampled_from([pa.timestamp(u, z) for u in ("s", "ms", "us", "ns") for z in (None, "UTC", "Asia/Tokyo")]),
    "Day": st.sampled_from([pa.date32(), pa.time32("ms"), pa.time64("us"), pa.duration("s")]),
    "Other": st.sampled_from([pa.bool_(), pa.binary(), pa.null()]),
}  # fmt: skip
TYPES = st.recursive(
    st.one_of(*SCALARS.values()),
    lambda inner: st.one_of(
        st.builds(lambda t, n: pa.list_(field_of("item", t, n)), inner, st.booleans()),
        st.builds(lambda t: pa.list_(FIELD("item", t), 2), inner),
        st.builds(lambda t, n: pa.map_(pa.string(), field_of("value", t, n)), inner, st.booleans()),
        st.lists(st.tuples(inner, st.booleans()), min_size=1, max_size=3).map(
            lambda found: pa.struct([field_of(f"m{i}", t, n) for i, (t, n) in enumerate(found)])
        ),
    ),
    max_leaves=3,
)
SCHEMAS = st.lists(st.tuples(TYPES, st.booleans()), min_size=1, max_size=5).map(
    lambda found: pa.schema([field_of(f"c{i}", t, n) for i, (t, n) in enumerate(found)])
)
ODD = ['"x"', "5", "-1", "1.5", "1e2", "null", "true", "[]", "{}", "[[1]]", '{"m0": 1}', '"2024-01-01"', "300", "0.001", "1e39", '{"m0": 1, "m0": 2}']  # fmt: skip


def token(rng: random.Random, data_type: pa.DataType) -> str:
    """A value of the type, as JSON; now and then one that is none."""
    is_ = pa.types
    if rng.random() < 0.03:
        return rng.choice(ODD)
    if is_.is_struct(data_type):
        inner = [f'"{m.name}": {token(rng, m.type)}' for m in data_type if rng.random() < 0.9]
        return "{" + ", ".join(inner) + "}"
    if is_.is_map(data_type):
        keys = rng.sample(["a", "b c", "é", 'q"', "}", "c0"], rng.randrange(3))
        return "{" + ", ".join(f"{json.dumps(key)}: {token(rng, data_type.item_type)}" for key in keys) + "}"
    if is_.is_fixed_size_list(data_type) or is_.is_list(data_type):
        count = getattr(data_type, "list_size", rng.randrange(4)) if rng.random() < 0.95 else 1
        return "[" + ", ".join(token(rng, data_type.value_type) for _ in range(count)) + "]"
    return scalar_token(rng, data_type)


def scalar_token(rng: random.Random, data_type: pa.DataType) -> str:
    is_ = pa.types
    if is_.is_integer(data_type) or is_.is_duration(data_type):
        return str(rng.choice([0, 1, 127, -1, rng.randrange(2**16), rng.randrange(-(2**64), 2**64)]))
    if is_.is_floating(data_type):
        return repr(rng.choice([0.5, rng.uniform(-1, 1), rng.uniform(0, 1e-6), rng.uniform(-1e9, 1e9)]))
    if is_.is_decimal(data_type):
        return rng.choice(["0.1", "12.34", "1", "999.99", "1000", "-0.125", "0.001"])
    if is_.is_timestamp(data_type):
        return json.dumps(
            rng.choice(["2024-02-29T01:02:03", "2024-01-01 00:00:00.123"]) + rng.choice(["", "Z", "+09:00"])
        )
    if is_.is_date(data_type) or is_.is_time(data_type):
        return json.dumps(rng.choice(["2024-02-29", "1900-02-29", "10:00:00", "23:59:59.5"]))
    if is_.is_boolean(data_type):
        return rng.choice(["true", "false"])
    return json.dumps(
        rng.choice(["", "a", "é\n", "AAE=", '{"c0": {', "\u2028"]), ensure_ascii=rng.random() < 0.5
    )


def record(rng: random.Random, schema: pa.Schema) -> str:
    members = [(f.name, token(rng, f.type)) for f in schema if rng.random() < 0.95]
    if rng.random() < 0.3:
        members.append(("more", rng.choice(ODD)))
    if rng.random() < 0.2:
        rng.shuffle(members)
    gap = rng.choice(["", " "])
    text = "{" + f",{gap}".join(f'"{key}":{gap}{text}' for key, text in members) + "}"
    if rng.random() < 0.03:
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice(['"', "}", "{", ",", "\\", " ", ""]) + text[at + 1 :]
    return text


def check_any(schema: pa.Schema, seed: int, count: int, unexpected: str) -> None:
    rng = random.Random(seed)
    lines = [line for line in (record(rng, schema) for _ in range(count)) if line.strip()]
    read_alike(schema, lines, Path("in.json"), "json", unexpected=unexpected)


UNEXPECTED = st.sampled_from(["ignore", "reject"])
HYPOTHESIS: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "derandomize": True,
    "database": None,
    "phases": [Phase.generate],
}


@settings(max_examples=40, **HYPOTHESIS)
@given(schema=SCHEMAS, seed=st.integers(0, 2**32), unexpected=UNEXPECTED)
def test_any_schema_is_read_as_one_by_one(schema: pa.Schema, seed: int, unexpected: str) -> None:
    check_any(schema, seed, 120, unexpected)


@pytest.mark.long
@settings(max_examples=150, **HYPOTHESIS)
@given(schema=SCHEMAS, seed=st.integers(0, 2**32), unexpected=UNEXPECTED)
def test_any_of_many_schemas_is_read_as_item_by_item(schema: pa.Schema, seed: int, unexpected: str) -> None:
    check_any(schema, seed, 600, unexpected)
