"""Every rule, at every depth, with the exact reasons expected."""

import json
from typing import Any

import pyarrow as pa
import pytest

pytestmark = pytest.mark.spark

FIELD = pa.field

SCALARS: list[tuple[pa.DataType, list[Any], list[tuple[Any, str]]]] = [
    (pa.int8(), [-128, 127], [(128, "range"), ("5", "type"), (1.5, "cast"), (True, "type")]),
    (pa.int32(), [-(2**31), 2**31 - 1], [(2**31, "range"), ([1], "type"), ({"a": 1}, "type")]),
    (pa.int64(), [-(2**63), 2**63 - 1], [(2**63, "range"), (1e30, "range")]),
    (pa.uint8(), [0, 255], [(-1, "range"), (256, "range")]),
    (pa.uint32(), [2**32 - 1], [(2**32, "range")]),
    (pa.uint64(), [0, 2**64 - 1], [(2**64, "range"), (-1, "range")]),
    (pa.float16(), [65504, 0.5], [(65520, "range"), ("x", "type")]),
    (pa.float32(), [3.4e38, -1], [(1e39, "range")]),
    (pa.float64(), [1e300, 0.1], [("1", "type")]),
    (pa.bool_(), [True, False], [("true", "type"), (1, "type")]),
    (pa.string(), ["", " a ", 'q"\\\n', "é"], [(5, "type"), (True, "type"), ([], "type")]),
    (pa.decimal128(5, 2), [999.99, 1.1, 0, -0.01], [(1000, "range"), (1.239, "precision"), ("1", "type")]),
    (pa.date32(), ["2024-02-29"], [("2024", "cast"), ("2023-02-29", "cast"), (" 2024-01-01", "cast"), (5, "type")]),
    (pa.timestamp("us", "UTC"), ["2024-01-01T00:00:00Z", "2024-01-01 10:11:12.123456+02:00"],
     [("2024-01-01", "cast"), ("2024-01-01T00:00:00.1234567Z", "precision"), (1704067200, "type")]),
    (pa.timestamp("ms"), ["2024-01-01T00:00:00.5"], [("2024-01-01T00:00:00Z", "cast"),
                                                    ("2024-01-01T00:00:00.1234", "precision")]),
    (pa.timestamp("ns"), ["2024-01-01T00:00:00.123456789"], [("9999-01-01T00:00:00", "range")]),
    (pa.time64("us"), ["13:45:00.5"], [("24:00:00", "cast"), ("1:00", "cast")]),
    (pa.time32("s"), ["13:45"], [("13:45:00.5", "precision")]),
    (pa.binary(), ["AAE="], [("A", "cast"), ("a b=", "cast")]),
    (pa.binary(2), ["AAE="], [("AA==", "length"), ("!", "cast")]),
    (pa.uuid(), ["00112233-4455-6677-8899-aabbccddeeff"], [("001122334455667788990000aabbccdd", "cast")]),
    (pa.duration("ms"), [5], [(5.5, "cast")]),
]  # fmt: skip


def test_scalars_tell_what_does_not_fit(ingest: Any) -> None:
    schema = pa.schema([FIELD(f"c{i}", data_type) for i, (data_type, _, _) in enumerate(SCALARS)])
    good: list[Any] = [{}]
    bad: dict[str, tuple[str, str]] = {}
    for i, (_, accepted, refused) in enumerate(SCALARS):
        good += [{f"c{i}": value} for value in accepted] + [{f"c{i}": None}]
        for value, rule in refused:
            bad[json.dumps({f"c{i}": value})] = (f"c{i}", rule)
    report, _, reasons = ingest(schema, [*good, *bad])
    found = {raw: [(path, rule) for path, rule, _ in entries] for raw, entries in reasons.items()}
    assert found == {raw: [expected] for raw, expected in bad.items()}
    assert report.rows_written == len(good)
    assert report.differences == ()


def test_record_tells_every_reason(ingest: Any) -> None:
    schema = pa.schema(
        [FIELD("a", pa.int8(), False), FIELD("b", pa.string(), False), FIELD("c", pa.date32())]
    )
    raw = '{"a": 300, "c": "soon"}'
    _, rows, reasons = ingest(schema, [raw, {"a": 1, "b": "x"}])
    assert reasons == {raw: [("a", "range", "300"), ("b", "required", None), ("c", "cast", "soon")]}
    assert rows == [{"a": 1, "b": "x", "c": None}]


def test_malformed_records_are_kept(ingest: Any) -> None:
    schema = pa.schema([FIELD("a", pa.int8(), False)])
    broken = ['{"a": 1', "[1]", "5", "{'a': 1}", '{"a": 1, "a": 2}']
    options = {"options": {"multiLine": False}}
    _, rows, reasons = ingest(schema, [*broken, "", "  ", '{"a": 7}'], source=options)
    assert reasons == {raw: [("", "malformed", raw)] for raw in broken}
    assert rows == [{"a": 7}]


def nested_schema() -> pa.Schema:
    item = pa.struct(
        [FIELD("k", pa.uint8(), False), FIELD("w", pa.list_(FIELD("item", pa.float64(), False)))]
    )
    return pa.schema(
        [
            FIELD(
                "st",
                pa.struct(
                    [FIELD("items", pa.list_(FIELD("item", item, False)), False), FIELD("n", pa.int8())]
                ),
            ),
            FIELD("vec", pa.list_(FIELD("item", pa.float32(), False), 2)),
            FIELD("m", pa.map_(pa.string(), FIELD("value", pa.struct([FIELD("x", pa.int32(), False)])))),
            FIELD("im", pa.map_(pa.int32(), FIELD("value", pa.int8()))),
            FIELD("names", pa.list_(pa.string())),
        ]
    )


NESTED_BAD: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
    ({"st": 5}, [("st", "type")]),
    ({"st": {}}, [("st.items", "required")]),
    ({"st": {"items": [], "n": 200}}, [("st.n", "range")]),
    ({"st": {"items": {"k": 1}}}, [("st.items", "type")]),
    ({"st": {"items": [{"k": 1}, {"k": "2"}, None, {}]}},
     [("st.items[1].k", "type"), ("st.items[2]", "required"), ("st.items[3].k", "required")]),
    ({"st": {"items": [{"k": 1, "w": [1, None, "x"]}]}},
     [("st.items[0].w[1]", "required"), ("st.items[0].w[2]", "type")]),
    ({"vec": [1]}, [("vec", "length")]),
    ({"vec": [1, None, "a"]}, [("vec[1]", "required"), ("vec[2]", "type"), ("vec", "length")]),
    ({"vec": [1, 1e39]}, [("vec[1]", "range")]),
    ({"m": {"a": {"x": 1}, "b": {"x": 3000000000}}}, [('m["b"].x', "range")]),
    ({"m": {"a": {}}}, [('m["a"].x', "required")]),
    ({"m": []}, [("m", "type")]),
    ({"im": {"x": 1}}, [('im["x"]', "cast")]),
    ({"im": {"1": 1, "01": 2}}, [("im", "key")]),
    ({"names": ["a", 1]}, [("names[1]", "type")]),
]  # fmt: skip


def test_nested_values_tell_the_position(ingest: Any) -> None:
    good = [
        {},
        {"st": None, "vec": None, "m": None, "im": None, "names": None},
        {
            "st": {"items": [], "n": 1},
            "vec": [1, 2.5],
            "m": {"a": {"x": 1}, "b": None},
            "im": {"1": 1, "-2": None},
        },
        {"st": {"items": [{"k": 1, "w": [0.5]}, {"k": 2, "w": None}]}, "names": ["a", None, "é\n"]},
    ]
    bad = {json.dumps(record): expected for record, expected in NESTED_BAD}
    report, rows, reasons = ingest(nested_schema(), [*good, *bad])
    assert {raw: [(path, rule) for path, rule, _ in found] for raw, found in reasons.items()} == bad
    blank = {"st": None, "vec": None, "m": None, "im": None, "names": None}
    assert rows == [
        blank,
        blank,
        {"st": {"items": [], "n": 1}, "vec": [1.0, 2.5], "m": [("a", {"x": 1}), ("b", None)],
         "im": [(1, 1), (-2, None)], "names": None},
        {**blank, "st": {"items": [{"k": 1, "w": [0.5]}, {"k": 2, "w": None}], "n": None}, "names": ["a", None, "é\n"]},
    ]  # fmt: skip
    assert report.differences == ()
    assert ("st.items[].k", "type", 1) in [(r.path, r.rule, r.count) for r in report.reasons]


def test_coerce_text_converts_what_is_exact(ingest: Any) -> None:
    schema = pa.schema([FIELD("s", pa.string()), FIELD("i", pa.int32()), FIELD("b", pa.bool_())])
    good = {"s": 1.5, "i": "7", "b": "true"}
    bad = {'{"i": "7.5"}': [("i", "cast", '"7.5"')], '{"s": {"a": 1}}': [("s", "type", '{"a":1}')]}
    _, rows, reasons = ingest(schema, [good, *bad], coerce="text")
    assert rows == [{"s": "1.5", "i": 7, "b": True}]
    assert reasons.keys() == bad.keys()


def test_unexpected_keys_are_refused_on_request(ingest: Any) -> None:
    inner = pa.struct([FIELD("x", pa.int8())])
    schema = pa.schema([FIELD("a", pa.int8()), FIELD("st", inner), FIELD("ls", pa.list_(inner))])
    bad = {
        '{"z": 1, "a": 1}': [("z", "unexpected", "z")],
        '{"st": {"x": 1, "y": 2}}': [("st.y", "unexpected", "y")],
        '{"ls": [{"x": 1}, {"q": 2}]}': [("ls[1].q", "unexpected", "q")],
    }
    _, rows, reasons = ingest(schema, [*bad, {"a": 1, "st": {"x": 2}}], unexpected="reject")
    assert reasons == bad
    assert len(rows) == 1


def test_duplicate_keys_are_found_on_request(ingest: Any) -> None:
    key = {
        b"lance-schema:unenforced-primary-key": b"true",
        b"lance-schema:unenforced-primary-key:position": b"1",
    }
    schema = pa.schema([FIELD("id", pa.int32(), False, metadata=key), FIELD("s", pa.string())])
    _, rows, reasons = ingest(schema, [{"id": 1}, {"id": 2, "s": "a"}, {"id": 2, "s": "b"}], keys="check")
    assert [row["id"] for row in rows] == [1]
    assert [found[0][:2] for found in reasons.values()] == [("id", "duplicate")] * 2


def test_csv_cells_are_strict(ingest: Any) -> None:
    schema = pa.schema(
        [FIELD("n", pa.int32()), FIELD("s", pa.string()), FIELD("b", pa.bool_()), FIELD("d", pa.float64()),
         FIELD("l", pa.list_(pa.int8()))]
    )  # fmt: skip
    text = 'n,s,b,d,l\n1,"a,""b""",true,1e3,"[1,2]"\n,,,,\n 7,x,true,1,\n1,x,yes,1,\n1,x,true,0x1p3,\n1,x\n1,x,true,1,[300]\n'
    report, rows, reasons = ingest(schema, text, suffix="csv")
    assert rows[0] == {"n": 1, "s": 'a,"b"', "b": True, "d": 1000.0, "l": [1, 2]}
    assert rows[1] == {"n": None, "s": None, "b": None, "d": None, "l": None}
    assert sorted((path, rule) for found in reasons.values() for path, rule, _ in found) == [
        ("", "malformed"), ("b", "cast"), ("d", "cast"), ("l[0]", "range"), ("n", "cast"),
    ]  # fmt: skip
    assert report.rows_in == 7


def test_null_texts_are_null(ingest: Any) -> None:
    schema = pa.schema([FIELD("n", pa.int32()), FIELD("s", pa.string())])
    _, rows, reasons = ingest(schema, "n,s\nNA,NA\n1,x\n", suffix="csv", nullValues=["NA"])
    assert rows == [{"n": None, "s": None}, {"n": 1, "s": "x"}]
    assert reasons == {}
