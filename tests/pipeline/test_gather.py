"""Several sources in one run, and fields that stand at no place of a record: expressions, constants, the file, items of lists."""

import bz2
import datetime
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.runner import RunReport, run
from schemac.rows.runs.tables import runs_of
from schemac.text.source.catalogue import (
    INVALID_CONSTANT,
    INVALID_EXPRESSION,
    NO_FILE,
    SOURCE_TYPE_MISMATCH,
    UNKNOWN_SOURCE_COLUMN,
)
from tests.pipeline.conftest import reasons_of, rows_of

pytestmark = pytest.mark.spark
FIELD = pa.field
Run = Callable[..., RunReport]


@pytest.fixture
def go(spark: SparkSession, tmp_path: Path) -> Run:
    def runner(schema: pa.Schema, sources: Any, **settings: Any) -> RunReport:
        told = {"sources": sources} if isinstance(sources, list) else {"source": sources}
        target = {"path": str(tmp_path / "out.lance"), "mode": "overwrite", "allowEmpty": True}
        report = run(Job.model_validate({**told, "target": target, **settings}), schema, spark=spark)
        assert report.rows_in == report.rows_written + report.rows_quarantined
        return report

    return runner


def rules_of(report: RunReport) -> dict[str, set[tuple[str, str]]]:
    return {raw: {(path, rule) for path, rule, _ in why} for raw, why in reasons_of(report).items()}


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda text: pa.compress(text, codec="zstd", asbytes=True),
}
TEXTS = {
    "lines.json": ("json", '{{"id": {0}, "at": "2024-07-01T12:00:00"}}\n{{"id": "x"}}\n'),
    "the document.json": ("json", '[{{"id": {0},\n "at": "2024-07-01T12:00:00"}},\n {{"id": "x"}}]'),
    "a.geojson": (
        "geojson",
        '{{"features": [{{"id": {0}, "properties": {{"at": "2024-07-01T12:00:00"}}}}, {{"id": "x"}}]}}',
    ),
    "lines.csv": ("csv", "id,at\n{0},2024-07-01T12:00:00\nx,\n"),
    "quoted file.csv": ("csv", 'id,at\n{0},"2024-07-01T12:00:00"\nx,"\n"\n'),
}


PAIRS = [(i, k) for i in range(len(TEXTS)) for k in range(len(PACKED))]


@pytest.mark.parametrize(
    "pairs",
    [
        pytest.param([(i, i % len(PACKED)) for i in range(len(TEXTS))], id="each"),
        pytest.param(PAIRS, id="all", marks=pytest.mark.long),
    ],
)
def test_read_every_form_packed_in_every_way_each_with_its_zone(
    go: Run, tmp_path: Path, pairs: list[tuple[int, int]]
) -> None:
    """One run of many sources and one commit: clocks by the zone of their source, and of each file one bad record."""
    zones = ["America/New_York", "Europe/Berlin", "UTC", "Asia/Tokyo"]
    hours = [16, 10, 12, 3]
    sources, expected = [], []
    texts, packed = list(TEXTS.items()), list(PACKED.items())
    for i, k in pairs:
        (label, (form, text)), (ending, pack) = texts[i], packed[k]
        number = 100 * i + k
        path = tmp_path / f"{i}" / f"{label}{ending}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(pack(text.format(number).encode()))
        sources.append({"path": str(path), "format": form, "timezone": zones[k]})
        expected.append((number, datetime.datetime(2024, 7, 1, hours[k], tzinfo=datetime.UTC)))
    schema = pa.schema([FIELD("id", pa.int32(), False), FIELD("at", pa.timestamp("ms", "UTC"))])
    in_zone = pa.schema([FIELD("id", pa.int32(), False), FIELD("at", pa.timestamp("ms", "Europe/Berlin"))])
    report = go(in_zone, sources)
    rows = sorted((row["id"], row["at"].astimezone(datetime.UTC)) for row in rows_of(report.table_path))
    assert rows == sorted(expected)
    assert report.rows_quarantined == len(sources)
    bad = lance.dataset(report.quarantine_path).to_table().to_pylist()
    assert len({row["source"] for row in bad}) == len(sources)
    (committed,) = runs_of(report.table_path)
    assert [part["format"] for part in committed.identity.report()["source"]] == [
        s["format"] for s in sources
    ]
    assert schema.names == in_zone.names


def test_fields_of_one_source_go_before_those_of_all(go: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,x\n1,p\n")
    pq.write_table(pa.table({"number": [2], "b": ["q"], "code": ["c"]}), tmp_path / "b.parquet")
    lance.write_dataset(pa.table({"id": [3], "b": ["r"]}), str(tmp_path / "c.lance"))
    schema = pa.schema(
        [FIELD("id", pa.int64(), False), FIELD("name", pa.string()), FIELD("code", pa.string())]
    )
    report = go(
        schema,
        [
            {"path": str(tmp_path / "a.csv"), "format": "csv", "fields": {"name": "x"}},
            {
                "path": str(tmp_path / "b.parquet"),
                "format": "parquet",
                "fields": {"id": "number", "code": "code"},
            },
            {"path": str(tmp_path / "c.lance"), "format": "lance"},
        ],
        fields={"name": "b", "code": None},
    )
    rows = sorted((row["id"], row["name"], row["code"]) for row in rows_of(report.table_path))
    assert rows == [(1, "p", None), (2, "q", "c"), (3, "r", None)]


FILE_FIELDS = {
    "file": "_metadata.file_name",
    "size": "_metadata.file_size",
    "changed": "_metadata.file_modification_time",
    "place": {"expr": "substring_index(url_decode(replace(_metadata.file_path, '+', '%2B')), '/', -2)"},
}


def test_the_file_and_its_folder_are_known_in_every_form(go: Run, tmp_path: Path) -> None:
    """A folder's name is typed by the schema; one that does not fit is quarantined."""
    sources = []
    for i, (label, (form, text)) in enumerate(TEXTS.items()):
        for day in ("2024-01-02", "yesterday"):
            path = tmp_path / f"{i}" / f"day={day}" / label
            path.parent.mkdir(parents=True)
            path.write_text(text.format(i))
        sources.append({"path": str(tmp_path / f"{i}"), "format": form})
    path = tmp_path / "p" / "day=2024-01-02" / "c d+%41.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.table({"id": pa.array([9], pa.int32())}), path)
    sources.append({"path": str(tmp_path / "p"), "format": "parquet"})
    schema = pa.schema(
        [
            FIELD("id", pa.int32(), False),
            FIELD("day", pa.date32(), False),
            FIELD("file", pa.string(), False),
            FIELD("size", pa.int32(), False),
            FIELD("changed", pa.timestamp("us", "UTC"), False),
            FIELD("place", pa.string(), False),
        ]
    )
    report = go(schema, sources, fields=FILE_FIELDS)
    rows = {row["id"]: row for row in rows_of(report.table_path)}
    assert sorted(rows) == [0, 1, 2, 3, 4, 9]
    names = [*TEXTS, "c d+%41.parquet"]
    for id, name in zip(sorted(rows), names, strict=True):
        row, file = rows[id], next(tmp_path.glob(f"*/day=2024-01-02/{name}"))
        assert (row["file"], row["size"]) == (name, os.stat(file).st_size)
        assert abs(row["changed"].timestamp() - os.stat(file).st_mtime) < 0.002
        assert row["place"] == f"day=2024-01-02/{name}"
        assert row["day"] == datetime.date(2024, 1, 2)
    wrong = lance.dataset(report.quarantine_path).to_table().to_pylist()
    days = [row for row in wrong if "yesterday" in row["source"]]
    assert len(days) == 2 * len(TEXTS)
    assert all("day" in {error["path"] for error in row["errors"]} for row in days)


def test_a_key_of_the_record_is_not_its_file(go: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"_metadata": {"file_name": "own", "other": "o"}}\n')
    schema = pa.schema([FIELD(label, pa.string()) for label in ("file", "own", "other")])
    fields = {"file": "_metadata.file_name", "own": "`_metadata`.file_name", "other": "_metadata.other"}
    report = go(schema, {"path": str(tmp_path / "a.json")}, fields=fields)
    assert rows_of(report.table_path) == [{"file": "a.json", "own": "own", "other": "o"}]
    lance.write_dataset(pa.table({"own": ["x"], "other": ["y"]}), str(tmp_path / "c.lance"))
    with pytest.raises(PipelineError) as caught:
        go(
            schema,
            {"path": str(tmp_path / "c.lance"), "format": "lance"},
            fields={"file": "_metadata.file_name"},
        )
    assert caught.value.code is NO_FILE


def test_expressions_see_the_columns_of_their_source(go: Run, tmp_path: Path) -> None:
    """A record for which one fails is quarantined with that reason, beside its others; the run goes on."""
    records = [
        '{"price": {"net": 2.5}, "tags": ["a", "b"], "_source": "web", "by": "mail", "id": 1}',
        '{"price": {"net": "much"}, "tags": [], "_source": "web", "by": "mail", "id": "x"}',
        '{"price": {"net": 1}, "id": 3, "more": true}',
        "{broken",
    ]
    (tmp_path / "a.json").write_text("\n".join(records))
    (tmp_path / "b.csv").write_text("id,net,tags\n4,10.0,a|b|c\n5,none,\n")
    pq.write_table(pa.table({"id": [6], "net": [8.0], "tags": [["x"]]}), tmp_path / "c.parquet")
    schema = pa.schema(
        [
            FIELD("id", pa.int32(), False),
            FIELD("gross", pa.decimal128(6, 2), False),
            FIELD("count", pa.int16()),
            FIELD("origin", pa.string()),
        ]
    )
    gross = {"expr": "cast(cast(net as double) * 2 as decimal(6, 2)) -- with tax"}
    report = go(
        schema,
        [
            {
                "path": str(tmp_path / "a.json"),
                "fields": {
                    "gross": {"expr": "price:net::double * 2"},
                    "count": {"expr": "size(try_variant_get(tags, '$', 'array<string>'))"},
                    "origin": {"expr": "concat_ws('/', `_source`::string, by::string)"},
                },
            },
            {
                "path": str(tmp_path / "b.csv"),
                "format": "csv",
                "fields": {
                    "gross": gross,
                    "count": {"expr": "size(split(tags, '[|]'))"},
                    "origin": {"value": "csv"},
                },
            },
            {
                "path": str(tmp_path / "c.parquet"),
                "format": "parquet",
                "fields": {"gross": gross, "count": {"expr": "size(tags)"}, "origin": {"expr": "upper('p')"}},
            },
        ],
        unexpected="reject",
    )
    rows = sorted(
        (row["id"], float(row["gross"]), row["count"], row["origin"]) for row in rows_of(report.table_path)
    )
    assert rows == [(1, 5.0, 2, "web/mail"), (4, 20.0, 3, "csv"), (6, 16.0, 1, "P")]
    found = rules_of(report)
    assert found[records[1]] == {("gross", "expression"), ("id", "type")}
    assert found[records[2]] == {("more", "unexpected")}
    assert found[records[3]] == {("", "malformed")}
    assert found["5,none,"] == {("gross", "expression")}


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("upper(", "PARSE_SYNTAX_ERROR"),
        ("nett + 1", "did you mean `net`"),
        ("explode(array(1, 2))", "UNSUPPORTED_GENERATOR"),
        ("sum(net)", ""),
        ("frobnicate(net)", "UNRESOLVED_ROUTINE"),
    ],
)
def test_expressions_that_spark_refuses_are_named(
    go: Run, tmp_path: Path, expression: str, said: str
) -> None:
    (tmp_path / "b.csv").write_text("id,net\n4,10.0\n")
    schema = pa.schema([FIELD("id", pa.int32()), FIELD("gross", pa.float64())])
    source = {"path": str(tmp_path / "b.csv"), "format": "csv", "fields": {"gross": {"expr": expression}}}
    with pytest.raises(PipelineError) as caught:
        go(schema, [source, source])
    assert caught.value.code is INVALID_EXPRESSION
    assert caught.value.place == ("sources", 0, "fields", "gross", "expr")
    assert said in str(caught.value)


def test_constants_follow_the_rules_for_records(go: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"id": 1}\n')
    schema = pa.schema(
        [
            FIELD("id", pa.int32()),
            FIELD("currency", pa.string(), False),
            FIELD("rate", pa.decimal128(6, 3), False),
            FIELD("since", pa.date32(), False),
            FIELD("is_on", pa.bool_(), False),
            FIELD("tags", pa.list_(pa.string()), False),
        ]
    )
    values = {"currency": "EUR", "rate": 1.25, "since": "2024-01-01", "is_on": True, "tags": ["a", "ü"]}
    fields = {label: {"value": value} for label, value in values.items()}
    report = go(schema, {"path": str(tmp_path / "a.json")}, fields=fields)
    (row,) = rows_of(report.table_path)
    assert {**row, "rate": float(row["rate"]), "since": str(row["since"])} == {"id": 1, **values}
    for label, wrong in (("currency", 1), ("rate", 1.2345), ("since", "2024-02-30"), ("tags", ["a", 1])):
        with pytest.raises(PipelineError, match=f"`{label}`") as caught:
            go(schema, {"path": str(tmp_path / "a.json")}, fields={**fields, label: {"value": wrong}})
        assert caught.value.code is INVALID_CONSTANT
        assert caught.value.place == ("fields", label, "value")


ORDERS = [
    '{"id": 1, "order": {"by": "a", "lines": [{"sku": "x", "n": 1.10, "w": [1e-30]}, {"sku": "y", "n": 2}]}}',
    '{"id": 2, "order": {"by": "b", "lines": []}}',
    '{"id": 3, "order": {"by": "c"}}',
    '{"id": 4, "order": {"by": "d", "lines": [{"sku": "z", "n": 123456789012345678901234567890.12345}, {"sku": 7, "n": 1}]}}',
    '{"id": 5, "order": {"by": "e", "lines": "none"}}',
    '{"id": 6, "order": {"by": "f", "lines": null}}',
    '{"id": 7, "order": ',
]
LINES = pa.schema(
    [
        FIELD("id", pa.int32(), False),
        FIELD("by", pa.string()),
        FIELD("sku", pa.string()),
        FIELD("n", pa.decimal128(38, 5)),
        FIELD("w", pa.list_(pa.decimal128(38, 32))),
    ]
)
LINE_FIELDS = {"by": "order.by", "sku": "order.lines.sku", "n": "order.lines.n", "w": "order.lines.w"}


def test_items_of_a_list_become_records(go: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("\n".join(ORDERS))
    source = {"path": str(tmp_path / "a.json"), "explode": "order.lines", "options": {"multiLine": False}}
    report = go(LINES, source, fields=LINE_FIELDS)
    rows = sorted((row["id"], row["by"], row["sku"], str(row["n"])) for row in rows_of(report.table_path))
    assert rows == [
        (1, "a", "x", "1.10000"),
        (1, "a", "y", "2.00000"),
        (4, "d", "z", "123456789012345678901234567890.12345"),
    ]
    (w,) = [row["w"] for row in rows_of(report.table_path) if row["w"]]
    assert float(w[0]) == 1e-30
    found = rules_of(report)
    assert found.pop(ORDERS[4]) == {("", "type")}
    assert found.pop(ORDERS[6]) == {("", "malformed")}
    ((raw, rules),) = found.items()
    assert json.loads(raw) == {"id": 4, "order": {"by": "d", "lines": {"sku": 7, "n": 1}}}
    assert rules == {("sku", "type")}
    kept = {**source, "explode": {"path": "order.lines", "keepEmpty": True}}
    report = go(LINES, kept, fields=LINE_FIELDS)
    empty = sorted((row["id"], row["by"]) for row in rows_of(report.table_path) if row["sku"] is None)
    assert empty == [(2, "b"), (3, "c"), (6, "f")]


def test_items_of_a_typed_list_become_records(go: Run, tmp_path: Path) -> None:
    orders = [json.loads(text) for text in ORDERS[:3]]
    for order in orders:
        order["order"]["lines"] = [
            {"sku": x["sku"], "n": float(x["n"])} for x in order["order"].get("lines", [])
        ]
    orders[2]["order"]["lines"] = None
    pq.write_table(pa.Table.from_pylist(orders), tmp_path / "a.parquet")
    source = {"path": str(tmp_path / "a.parquet"), "format": "parquet", "explode": "order.lines"}
    fields = {**LINE_FIELDS, "w": None}
    report = go(LINES, source, fields=fields)
    rows = sorted((row["id"], row["by"], row["sku"], float(row["n"])) for row in rows_of(report.table_path))
    assert rows == [(1, "a", "x", 1.1), (1, "a", "y", 2.0)]
    pq.write_table(pa.table({"id": [1, 2], "sku": [["p", "q"], []]}), tmp_path / "b.parquet")
    flat = {
        "path": str(tmp_path / "b.parquet"),
        "format": "parquet",
        "explode": {"path": "sku", "keepEmpty": True},
    }
    report = go(LINES, flat, fields={"by": {"expr": "upper(sku)"}, "n": None, "w": None})
    assert sorted((row["id"], row["sku"] or "", row["by"] or "") for row in rows_of(report.table_path)) == [
        (1, "p", "P"),
        (1, "q", "Q"),
        (2, "", ""),
    ]
    with pytest.raises(PipelineError) as caught:
        go(LINES, {**flat, "explode": "id"}, fields=fields)
    assert caught.value.code is SOURCE_TYPE_MISMATCH
    assert caught.value.place == ("source", "explode")


@pytest.mark.parametrize(
    ("fields", "place"),
    [({"id": "idd"}, ("sources", 1, "fields", "id", "from")), ({}, ("sources", 1, "path"))],
)
def test_name_the_source_that_lacks_a_column(
    go: Run, tmp_path: Path, fields: dict[str, str], place: tuple[str | int, ...]
) -> None:
    (tmp_path / "a.json").write_text('{"id": 1}\n')
    (tmp_path / "b.csv").write_text("no\n1\n")
    sources = [
        {"path": str(tmp_path / "a.json")},
        {"path": str(tmp_path / "b.csv"), "format": "csv", "fields": fields},
    ]
    with pytest.raises(PipelineError) as caught:
        go(pa.schema([FIELD("id", pa.int64())]), sources)
    assert (caught.value.code, caught.value.place) == (UNKNOWN_SOURCE_COLUMN, place)
