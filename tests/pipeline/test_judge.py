"""The judge in Python says of each record what Spark's expressions say: the same values, the same reasons in the same order."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from schemac.judging.judge import Judge
from tests.pipeline.judged_alike import csv_differences, json_differences
from tests.pipeline.judged_tokens import (
    all_tokens,
    cell_texts,
    cell_with,
    fields_of_all_kinds,
    placed,
    readers,
    record_with,
    scalars,
)
from tests.pipeline.odd_records import odd_json_lines
from tests.pipeline.test_batch_records import SCHEMA, json_lines
from tests.pipeline.test_batch_records import record as random_record

pytestmark = pytest.mark.spark

FIELD = pa.field
LONG = pytest.mark.long


def of_places(fields: list[pa.Field], *places: str) -> pa.Schema:
    return pa.schema(
        [field for one in fields for field in placed(one) if field.name.partition("_")[2] in places]
    )


def check(spark: SparkSession, folder: Path, schema: pa.Schema, tokens: list[str], **told: Any) -> None:
    records = [*(record_with(list(schema), token) for token in tokens), "{}"]
    differences, certain = json_differences(spark, folder, schema, records, **told)
    assert differences == []
    assert certain > len(records) / 2


def test_tokens_of_every_kind(spark: SparkSession, tmp_path: Path) -> None:
    """A part of them; the long run takes all, in each place."""
    check(spark, tmp_path, of_places(readers(), ""), all_tokens()[::5])


@LONG
def test_all_kinds(spark: SparkSession, tmp_path: Path) -> None:
    check(spark, tmp_path, of_places(scalars(), ""), all_tokens())


PLACES = [
    ("list",),
    ("map", "struct"),
    ("list_of_struct", "list_of_list"),
    ("pair", "required", "list_required"),
]


@LONG
@pytest.mark.parametrize("places", PLACES)
def test_all_places(spark: SparkSession, tmp_path: Path, places: tuple[str, ...]) -> None:
    check(spark, tmp_path, of_places(readers(), *places), all_tokens())


SETTINGS: list[dict[str, Any]] = [
    {"coerce": "text"},
    {"coerce": "text", "nullValues": ["", "NULL", "\\N", "1", "null", 'a"b', "é"]},
    {"nullValues": ["", "NULL", "1"], "unexpected": "reject"},
    {"source": {"timezone": "UTC"}},
]


@LONG
@pytest.mark.parametrize("told", SETTINGS)
def test_all_settings(spark: SparkSession, tmp_path: Path, told: dict[str, Any]) -> None:
    schema = of_places(readers(), "", "list_of_struct")
    check(spark, tmp_path, schema, all_tokens(), **told)


CELL_RULES: dict[str, Any] = {"nullValues": ["NULL", "1", "[1]"], "coerce": "text"}


@pytest.mark.parametrize(
    ("told", "step"),
    [({}, 6), pytest.param({}, 1, marks=LONG), pytest.param(CELL_RULES, 1, marks=LONG)],
)
def test_cells(spark: SparkSession, tmp_path: Path, told: dict[str, Any], step: int) -> None:
    schema = of_places(readers(), "")
    rows: list[list[str | None]] = [[text] * len(schema) for text in cell_texts()[::step]]
    rows.append(["", *[None] * (len(schema) - 1)])
    assert csv_differences(spark, tmp_path, schema, rows, **told)[0] == []


@LONG
@pytest.mark.parametrize("place", ["list", "map", "struct", "list_of_struct"])
def test_cells_of_json(spark: SparkSession, tmp_path: Path, place: str) -> None:
    schema = of_places(readers(), place)
    rows = [[cell_with(field, text) for field in schema] for text in all_tokens()[::3]]
    rows += [[text] * len(schema) for text in cell_texts()[::5]]
    assert csv_differences(spark, tmp_path, schema, rows)[0] == []


NESTED = pa.schema(
    [
        FIELD("id", pa.int64(), False),
        FIELD("o", pa.struct([FIELD("a", pa.int8(), False), FIELD("b", pa.struct([FIELD("c", pa.string(), False), FIELD("l", pa.list_(pa.int8()))]), False)])),
        FIELD("stops", pa.list_(FIELD("item", pa.struct([FIELD("minutes", pa.int32(), False), FIELD("prices", pa.map_(pa.string(), FIELD("value", pa.decimal128(5, 2), False)))]), False))),
        FIELD("by_number", pa.map_(pa.int8(), pa.list_(pa.float32(), 2))),
        FIELD("by_day", pa.map_(pa.date32(), pa.string())),
        FIELD("by_word", pa.map_(pa.string(), pa.json_())),
        FIELD("empty", pa.struct([])),
    ]
)  # fmt: skip
VALUES = {
    "id": ["1", "null", '"x"', "1e2"],
    "o": ['{"a": 1, "b": {"c": "x"}}', "{}", '{"a": 1}', '{"a": "x", "z": 1, "b": {"c": null, "y": 2, "l": [1, 300]}}', '{"b": 5, "a": 1}', "5", "null", '{"b": {}, "x": 1}'],
    "stops": ['[{"minutes": 5, "prices": {"EUR": 1.50}}]', "[null]", "[]", '[{"minutes": 1.5}, {"prices": {"b": null, "a": 1e5, "é": "x"}, "w": 1}]', '[{"minutes": 2, "prices": []}]', "{}", "[[1]]"],
    "by_number": ['{"1": [1, 2], "-2": null}', '{"1": [1, 2], "+1": [3, 4], "01": [1]}', '{"x": [1], "": [1e40, 2]}', '{"300": [1, null]}', '{"1": [1, 2], "x": [1, 2], "1.0": [1, 2]}', "[]"],
    "by_day": ['{"2024-01-01": "x"}', '{"2024-02-30": 1}', '{"": null}'],
    "by_word": ['{"\\ue000": 1, "\U00010000": 2, "z": [1.50], "a": {"d": 1, "c": "\\t"}}', '{"q\\"": 1, "b\\\\": 2}', '{"": {}}'],
    "empty": ["{}", '{"x": 1}', "5"],
}  # fmt: skip


def nested_records(seed: int, count: int) -> list[str]:
    rng = random.Random(seed)
    records = [
        f'{{"id": 1, "{label}": {text}}}'
        for label, texts in VALUES.items()
        for text in texts
        if label != "id"
    ]
    for _ in range(count):
        members = [
            f'"{label}": {texts[0] if rng.random() < 0.6 else rng.choice(texts)}'
            for label, texts in VALUES.items()
            if rng.random() < 0.8
        ]
        members += ['"more": [1e5]'] * (rng.random() < 0.2)
        rng.shuffle(members)
        records.append(f"{{{', '.join(members)}}}")
    return records


MALFORMED = ['{"id":1}', ' {"id":1}', '\t{"id":1}', '{"id":1}\t', '{"id":1} x', '{"id":1,}', '{"id":1,"id":1}', '{"id":1,"more":{"a":1,"a":2}}', "[1]", "5", '"x"', "null", "{}", "{", '{"id":01}', '{"id":1.}',
             '{"id":.5}', '{"id":+1}', '{"id":NaN}', '{"id":-Infinity}', '{"id":Infinity}', '{"id":-}', '{"id":1e}', "{'id':1}", "{id:1}", '{"id":1}//c', '{"id":/**/1}', '{"id":tru}', '{"id":True}', '{"more":"a\tb"}',
             '{"more":"\\x"}', '{"more":"\\u12"}', '{"more":"\\u00e9"}', '{"more":"\\ud83d"}', '{"\\ud83d":1}', '{"more":["\\udc00\\ud800"]}', '{"\\ud83d\\ude00":1}', '{"id":1,"\\u0069d":2}', '{"id":1}{"id":2}', '{"id":1},{"id":2}',
             '{"id":1}]', '{"id":1', '{"more":[1,]}', '{"more":[,1]}', '{"more":[1 2]}', '{"more" 1}', '{"more":1:2}', "{1:2}", '{"more":"\x7f\u2028"}', '{"more":\u00a01}', '\ufeff{"id":1}', '{"more":' + "[" * 800 + "]" * 800 + "}",
             '{"more":' + "[" * 1100 + "]" * 1100 + "}", '{"more":' + "9" * 900 + "}", '{"more":' + "9" * 1100 + "}", '{"more":"' + "[" * 2000 + '"}', '{"' + "k" * 40000 + '":1}', '{"' + "k" * 60000 + '":1}', '{"id":1,"":2}',
             '{"id":1,"ID":2}', '{"more":-0}', '{"more":00}', '{"more":-01}', '{"more":1E+05}', '{"more":1e+}', '{"more":0x1}', '{"more":1_0}', '{"more":١}']  # fmt: skip


def lines(texts: list[str]) -> list[str]:
    return [text for text in texts if not {"\n", "\r"} & {*text}]


@pytest.mark.parametrize(
    ("told", "count"),
    [
        ({"unexpected": "reject"}, 60),
        pytest.param({}, 5000, marks=LONG),
        pytest.param({"unexpected": "reject", "coerce": "text"}, 5000, marks=LONG),
    ],
)
def test_nested_and_malformed_records(
    spark: SparkSession, tmp_path: Path, told: dict[str, Any], count: int
) -> None:
    odd = [line.decode() for line in odd_json_lines(11, count) if _is_text(line)]
    records = [*nested_records(5, count), *MALFORMED, *odd]
    assert json_differences(spark, tmp_path, NESTED, lines(records), **told)[0] == []


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


@LONG
@pytest.mark.parametrize("unexpected", ["ignore", "reject"])
def test_records_of_the_batch_reader(spark: SparkSession, tmp_path: Path, unexpected: str) -> None:
    records = lines([*json_lines(random.Random(3), 20_000)])
    assert json_differences(spark, tmp_path, SCHEMA, records, unexpected=unexpected)[0] == []


PATHS = pa.schema(
    [
        FIELD("id", pa.int64()),
        FIELD("mag", pa.float32()),
        FIELD("x", pa.float64(), False),
        FIELD("k", pa.int8()),
        FIELD("none", pa.string()),
        FIELD("q", pa.string()),
    ]
)
OF_PATHS = {
    "mag": "properties.mag",
    "x": "geometry.coordinates[0]",
    "k": "`a.b`.c[1][0]",
    "none": None,
    "q": "`w x`.z",
}


def test_paths_into_records(spark: SparkSession, tmp_path: Path) -> None:
    inner = ['{"mag": 1.5}', "5", "[1]", "null", '{"mag": "x", "z": 1}', "{}"]
    records = [f'{{"id": 1, "properties": {one}, "geometry": {{"coordinates": {two}, "type": 1}}, "a.b": {{"c": {three}}}, "w x": {{"z": "w", "{four}": 1}}}}'
               for one in inner for two in ("[1, 2]", "[]", "5", '["x"]') for three in ("[0, [7, 8]]", "[[1]]", "null", "[0, [300]]") for four in ("a", "none")]  # fmt: skip
    assert json_differences(spark, tmp_path, PATHS, records, unexpected="reject", fields=OF_PATHS)[0] == []


FEATURES = pa.schema(
    [
        FIELD("id", pa.string()),
        FIELD("mag", pa.float32()),
        FIELD("geometry", pa.struct([("coordinates", pa.list_(pa.float64()))])),
    ]
)


def test_structs_without_members(spark: SparkSession, tmp_path: Path) -> None:
    empty = pa.struct([])
    schema = pa.schema([FIELD("a", empty, True), FIELD("b", pa.list_(FIELD("item", empty, False)), True)])
    records = ['{"a": {}, "b": [{}]}', '{"a": 5, "b": [7, null]}', '{"a": {"x": 1}, "b": [{"x": 1}]}', "{}"]
    assert json_differences(spark, tmp_path, schema, records)[0] == []


def test_features(spark: SparkSession, tmp_path: Path) -> None:
    """A field of GeoJSON is a property, but for those that stand beside them."""
    parts = {
        "id": ['"a"', "5", "null"],
        "geometry": ['{"type": "Point", "coordinates": [1, 2e0]}', '{"crs": 1}', "null", "[1]"],
        "properties": ['{"mag": 1.5}', '{"mag": "x", "place": 1}', "null", "5"],
    }
    tokens = [(a, b, c) for a in parts["id"] for b in parts["geometry"] for c in parts["properties"]]
    records = [
        f'{{"type": "Feature", "id": {a}, "geometry": {b}, "properties": {c}{more}}}'
        for a, b, c in tokens
        for more in ("", ', "bbox": [1], "more": {}')
    ]
    differences, _ = json_differences(spark, tmp_path, FEATURES, records, form="geojson", unexpected="reject")
    assert differences == []


@LONG
@pytest.mark.parametrize("seed", range(12))
def test_random_schemas(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    every = list(fields_of_all_kinds().values())
    fields = [
        placed_field for field in rng.sample(every, 8) for placed_field in rng.sample(list(placed(field)), 3)
    ]
    schema = pa.schema(fields)
    records = [random_record(rng, schema) for _ in range(3000)]
    told = {"unexpected": rng.choice(["ignore", "reject"]), "coerce": rng.choice(["none", "text"])}
    assert json_differences(spark, tmp_path, schema, lines(records), **told)[0] == []


def test_what_is_not_known_is_not_covered() -> None:
    """What only Spark reads: types that no pipeline writes, keys that no path of Spark names, the file of a record."""
    shape = pa.fixed_shape_tensor(pa.float32(), [2])
    from schemac.judging.settings import Origin, Settings

    schema = pa.schema(
        [
            FIELD("id", pa.int64()),
            FIELD("t", shape),
            FIELD("a?", pa.int8()),
            FIELD("s", pa.struct([("", pa.int8())])),
            FIELD("file", pa.string()),
            FIELD("v", pa.list_view(pa.int8())),
        ]
    )
    judge = Judge(schema, Settings(fields={"file": Origin("_metadata.file_name"), "id": Origin("a..b[")}))
    assert judge.uncovered == ("id", "t", "a?", "s", "file", "v")
    assert judge.uncovered_cells == ("t", "s", "file", "v")
