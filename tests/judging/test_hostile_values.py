"""Values that end or stall careless readers: nesting of every depth, patterns that explode, numbers beyond a double, bytes of another length."""

import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import product
from types import ModuleType
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from pydantic import BaseModel, ValidationError

import schemac
from schemac.rows.judging import values
from schemac.rows.judging.scalars import pattern_value_reader, with_zones
from schemac.rows.judging.settings import Coerce, FieldOrigin, Unexpected, ValidationSettings
from schemac.rows.validation.validator import TEXT, Validator
from tests.judging.cells import CellReader
from tests.judging.records import RecordJudge

FIELDS = pa.schema([
    pa.field("int", pa.int64()), pa.field("text", pa.string()), pa.field("bytes", pa.binary()), pa.field("json", pa.json_()), pa.field("float", pa.float64()),
    pa.field("at", pa.timestamp("us")), pa.field("flag", pa.bool_()), pa.field("decimal", pa.decimal128(5, 2)), pa.field("list", pa.list_(pa.int64())),
    pa.field("map", pa.map_(pa.string(), pa.string())), pa.field("struct", pa.struct([pa.field("a", pa.string())])),
])  # fmt: skip
SETTINGS = [
    ValidationSettings(),
    ValidationSettings(coerce=Coerce.TEXT),
    ValidationSettings(unexpected=Unexpected.REJECT),
]
DEPTHS = [1, 2, 50, 250, *range(320, 1020, 20), 1100, 5000, 100_000]
BRACKETS = [("[", "]"), ('{"a":', "}"), ('[{"é":', "}]")]


def nested(depth: int, brackets: tuple[str, str], inner: str = '"\\u00e9"') -> str:
    opened, closed = brackets
    return opened * depth + inner + closed * depth


def _has_values_or_reasons(judge: RecordJudge, depth: int, brackets: tuple[str, str], name: str) -> None:
    found = judge.json(f'{{"{name}": {nested(depth, brackets)}}}')
    assert (found.values is None) == bool(found.reasons)
    if depth * len(brackets[0].strip('"aé:')) < 860 and name == "json":
        assert found.values is not None


NAMES = [*FIELDS.names, "no_field"]


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_every_depth_of_a_record_has_values_or_reasons(number: int) -> None:
    """Each combination of depth, brackets and field with one of the settings: each two of the four meet."""
    judge = RecordJudge(FIELDS, SETTINGS[number])
    for (i, depth), (j, brackets), (k, name) in product(*map(enumerate, (DEPTHS, BRACKETS, NAMES))):
        if (i + j + k) % len(SETTINGS) == number:
            _has_values_or_reasons(judge, depth, brackets, name)


@pytest.mark.long
@pytest.mark.parametrize("settings", SETTINGS)
def test_every_depth_of_a_record_has_values_or_reasons_with_all_settings(
    settings: ValidationSettings,
) -> None:
    judge = RecordJudge(FIELDS, settings)
    for depth, brackets, name in product(DEPTHS, BRACKETS, NAMES):
        _has_values_or_reasons(judge, depth, brackets, name)


OF_TWO_RECORDS = pa.schema([FIELDS.field(name) for name in ("int", "text", "list", "struct")])


def _is_nothing_to_the_next_one(depth: int, brackets: tuple[str, str], name: str) -> None:
    texts = [f'{{"{name}": {nested(depth, brackets)}}}', "{}"]
    validated = Validator(OF_TWO_RECORDS, ValidationSettings()).validate(
        pa.record_batch([pa.array(texts)], [TEXT])
    )
    reasons = validated.reasons.by_row()
    alone = [RecordJudge(OF_TWO_RECORDS).json(text).reasons for text in texts]
    assert [tuple(reasons.get(row, ())) for row in (0, 1)] == alone


def test_every_depth_of_a_record_is_nothing_to_the_next_one() -> None:
    """Each depth of each field, with the next brackets: each two of the three meet."""
    for (i, depth), (j, name) in product(enumerate(DEPTHS), enumerate([*OF_TWO_RECORDS.names, "other"])):
        _is_nothing_to_the_next_one(depth, BRACKETS[(i + j) % len(BRACKETS)], name)


@pytest.mark.long
def test_every_depth_of_all_brackets_is_nothing_to_the_next_one() -> None:
    for depth, brackets, name in product(DEPTHS, BRACKETS, [*OF_TWO_RECORDS.names, "other"]):
        _is_nothing_to_the_next_one(depth, brackets, name)


def objects(depth: int) -> Iterator[Any]:
    found: Any = 1
    pairs: Any = "x"
    for _ in range(depth):
        found, pairs = [found], {"a": pairs}
    yield from (found, pairs)


def test_every_depth_of_objects_has_values_or_reasons() -> None:
    (dataset,) = schemac.compile_text("name: t\nfields:\n- {name: x, type: {kind: Option, inner: String}}\n")
    for depth in DEPTHS[:-1]:
        rows = [
            row for value in objects(depth) for row in ({"x": value}, {"y": value}, {"x": "a", "y": value})
        ]
        assert dataset.validate(rows).rows == len(rows)
    itself: list[Any] = []
    itself.append(itself)
    (reason,) = dataset.validate([{"y": itself}]).reasons
    assert reason.rule == "malformed"


def model_of(manifest: str) -> type[BaseModel]:
    (dataset,) = schemac.compile_text(manifest)
    ((path, content),) = dataset.artifacts("pydantic").items()
    sys.modules["generated"] = module = ModuleType("generated")
    exec(compile(content, path, "exec"), vars(module))
    return [c for c in vars(module).values() if isinstance(c, type) and issubclass(c, BaseModel)][-1]


def test_every_depth_is_read_or_refused_by_generated_models() -> None:
    model = model_of(
        "name: t\nfields:\n- {name: x, type: {kind: Option, inner: String}}\n- {name: l, type: {kind: Option, inner: {kind: List, itemType: Int8}}}\n"
    )
    for depth, brackets, name in product(DEPTHS, BRACKETS, ["x", "l", "y"]):
        try:
            model.model_validate_json(f'{{"{name}": {nested(depth, brackets)}}}')
        except ValidationError:
            assert name != "y" or depth > 250


EXPLODING = [
    "^(a+)+$",
    "^(a|a)*$",
    "^(a|aa)+$",
    "^([a-zA-Z]+)*$",
    "^(a*)*b$",
    "(x+x+)+y",
    "^(([a-z])+.)+[A-Z]([a-z])+$".replace(".", "[^\\n]"),
    "^a*a*a*a*a*a*a*a*b$",
]


@pytest.mark.parametrize("pattern", EXPLODING)
def test_no_pattern_takes_long(pattern: str) -> None:
    manifest = f"""name: t
fields:
- {{name: x, type: String, extra: {{schemac.dev/pattern: '{pattern}'}}}}
"""
    texts = ["a" * 50_000 + "!", "x" * 50_000, "ab" * 20_000, "a", "A", "xxy", "b", "", "aaAa", "aaab"]
    (dataset,) = schemac.compile_text(manifest)
    model = model_of(manifest)
    start = time.process_time()
    rejected = {one.row for one in dataset.validate(pa.table({"x": texts})).reasons}
    assert rejected == {one.row for one in dataset.validate([{"x": text} for text in texts]).reasons}
    for row, text in enumerate(texts):
        try:
            model.model_validate({"x": text})
        except ValidationError:
            assert row in rejected
        else:
            assert row not in rejected
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "text",
    [
        "1" * 200_000 + "x",
        "1" * 200_000 + "e",
        "." + "1" * 200_000 + "x",
        "0" * 200_000 + ".",
        "1e" + "1" * 200_000,
        "AAAA" * 50_000 + "==",
    ],
)
def test_no_text_takes_long(text: str) -> None:
    """As a cell, where every form of a value is looked for in it."""
    types = [pa.int8(), pa.uint64(), pa.float32(), pa.float64(), pa.decimal128(38, 10), pa.decimal128(5, -3), pa.bool_(), pa.binary(), pa.binary(4), pa.date32(),
             pa.time64("ns"), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.duration("s"), pa.uuid(), pa.json_(), pa.list_(pa.int8())]  # fmt: skip
    schema = pa.schema([pa.field(f"f{i}", one) for i, one in enumerate(types)])
    cells = CellReader(schema)
    start = time.process_time()
    cells.csv(dict.fromkeys(schema.names, text))
    assert time.process_time() - start < 5


BEYOND = ["1e309", "-1e309", "1e400", "-1e400", "1E+2147483648", "9" * 400, "-" + "9" * 400 + ".5"]
RULES = {"int": ("range", "cast"), "float": ("range",), "decimal": ("range",)}


@pytest.mark.parametrize("number", BEYOND)
def test_numbers_beyond_a_double_are_never_texts(number: str) -> None:
    judge = RecordJudge(FIELDS)
    for name in ("int", "text", "bytes", "float", "at", "flag", "decimal"):
        (reason,) = judge.json(f'{{"{name}": {number}}}').reasons
        assert reason.rule in RULES.get(name, ("type",))
        assert reason.value == number
    for name, value in {"map": '{"k": NUMBER}', "struct": '{"a": NUMBER}'}.items():
        (reason,) = judge.json(f'{{"{name}": {value.replace("NUMBER", number)}}}').reasons
        assert (reason.rule, reason.value) == ("type", number)
    assert judge.json(f'{{"json": {number}}}').values == {**dict.fromkeys(FIELDS.names), "json": number}
    coerced = RecordJudge(FIELDS, ValidationSettings(coerce=Coerce.TEXT))
    assert (coerced.json(f'{{"text": {number}}}').values or {})["text"] == number
    (reason,) = coerced.json(f'{{"float": {number}}}').reasons
    assert reason.rule == "range"


FIXED = "{kind: Binary, fixedLength: 4}"
FIXED_PLACES: dict[str, tuple[str, Any, Any]] = {
    "alone": (FIXED, lambda t: t, lambda b: b),
    "list": (f"{{kind: List, itemType: {FIXED}}}", pa.list_, lambda b: [b]),
    "vector": (f"{{kind: List, fixedLength: 2, itemType: {FIXED}}}", lambda t: pa.list_(t, 2), lambda b: [b, b]),
    "struct": (f"{{kind: Struct, fields: [{{name: a, type: {FIXED}}}]}}", lambda t: pa.struct([("a", t)]), lambda b: {"a": b}),
    "value": (f"{{kind: Map, keyType: String, valueType: {FIXED}}}", lambda t: pa.map_(pa.string(), t), lambda b: [("k", b)]),
    "key": (f"{{kind: Map, keyType: {FIXED}, valueType: Int8}}", lambda t: pa.map_(t, pa.int8()), lambda b: [(b, 1)]),
    "uuid": ("{kind: Binary, fixedLength: 16}, extra: {arrow.apache.org/extensionType: {name: arrow.uuid}}", lambda t: t, lambda b: b * 4),
}  # fmt: skip
BYTES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.dictionary(pa.int8(), pa.binary())]


@pytest.mark.parametrize("place", FIXED_PLACES)
@pytest.mark.parametrize("bytes_type", BYTES, ids=str)
def test_bytes_of_another_length_have_a_reason(place: str, bytes_type: pa.DataType) -> None:
    type_text, placed, value_of = FIXED_PLACES[place]
    (dataset,) = schemac.compile_text(f"name: t\nfields:\n- {{name: x, type: {type_text}}}\n")
    values = [value_of(b) for b in (b"aaaa", b"bb", b"ccccc", b"", b"dddd")]
    found = dataset.validate(pa.table({"x": pa.array(values, placed(bytes_type))}))
    assert {(one.row, one.rule) for one in found.reasons} == {(row, "length") for row in (1, 2, 3)}
    assert found.good.num_rows == 2


@pytest.mark.parametrize(
    ("record", "paths"),
    [
        ('{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": {}}', []),
        ('{"geometry": {"coordinates": [1], "crs": 4326}}', ["geometry.crs"]),
        ('{"geometry": {"coordinates": [1]}, "more": 1}', ["more"]),
    ],
)
def test_expect_what_every_feature_of_geojson_has(record: str, paths: list[str]) -> None:
    """Its type and that of its geometry are no fields, and not unexpected."""
    schema = pa.schema([pa.field("x", pa.float64())])
    fields = {"x": FieldOrigin("geometry.coordinates[0]")}
    settings = ValidationSettings(unexpected=Unexpected.REJECT, fields=fields, is_geojson=True)
    assert [one.path for one in RecordJudge(schema, settings).json(record).reasons] == paths


@pytest.mark.parametrize("piece", ['"[\\', '"\\', '["', '"', "\\", '{"'])
def test_no_unfinished_text_takes_long(piece: str) -> None:
    """Where a string is not closed, none is looked for again from within it."""
    text = '{"a":"' + piece * 100_000
    start = time.process_time()
    for _ in range(2):
        assert [one.rule for one in RecordJudge(pa.schema([("a", pa.int32())])).json(text).reasons] == [
            "malformed"
        ]
    assert time.process_time() - start < 5


def test_no_keys_of_one_hash_take_long() -> None:
    keys = [pa.field("key", pa.decimal128(38, 0), nullable=False), pa.field("value", pa.int8())]
    judge = RecordJudge(pa.schema([("a", pa.map_(*keys))]))
    members = ",".join(f'"{(2**61 - 1) * i}":1' for i in range(1, 8000))
    start = time.process_time()
    assert judge.json(f'{{"a": {{{members}}}}}').reasons == ()
    (reason,) = judge.json(f'{{"a": {{{members},"{2**61 - 1}.0":1}}}}').reasons
    assert reason.rule == "key"
    assert time.process_time() - start < 2


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo", "UTC"])
@pytest.mark.parametrize("micros", [values.FIRST // 1000, values.LAST // 1000 - 1])
def test_a_clock_of_a_pattern_stays_in_the_calendar(micros: int, zone: str) -> None:
    """An instant at the end of the calendar is another day on a clock, which may be in no year that a timestamp has."""
    schema = with_zones(pa.schema([pa.field("a", pa.timestamp("us"))]), lambda _: None, zone)
    read = pattern_value_reader(schema.field("a"), has_zone=True)
    day = (1, 1, 2) if micros < 0 else (9999, 12, 30)
    offset = datetime(*day, tzinfo=ZoneInfo(zone)).utcoffset()
    assert offset is not None
    clock = micros + offset // timedelta(microseconds=1)
    if values.FIRST <= clock * 1000 < values.LAST:
        assert read(micros) == clock
    else:
        with pytest.raises(values.BrokenRuleError):
            read(micros)
