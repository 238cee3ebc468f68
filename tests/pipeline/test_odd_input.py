"""What was read equals what was written down, with its content: plain Python says what stands in odd files."""

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession, functions

from schemac.pipeline.declaration.job import Job, Source
from schemac.pipeline.reading import texts
from schemac.pipeline.reading.csv_grammar import CsvDialect
from schemac.pipeline.reading.csv_records import csv_lines, read_csv
from schemac.pipeline.reading.files import FileSplit
from schemac.pipeline.reading.inputs import value_sql
from schemac.pipeline.reading.json_records import json_lines
from schemac.pipeline.reading.source import open_records
from schemac.pipeline.runner import RunReport, run
from schemac.rows.runs.identity import RunRequest
from tests.judging.test_hostile_values import BRACKETS, FIELDS, nested
from tests.pipeline.conftest import rows_of
from tests.pipeline.odd_records import csv_records, json_record, odd_csv_files, odd_json_lines

pytestmark = pytest.mark.spark

FIELD = pa.field
TEXTS = pa.schema([FIELD("c0", pa.string()), FIELD("c1", pa.string()), FIELD("c2", pa.string())])
RECORD = pa.schema([FIELD("id", pa.int64()), FIELD("s", pa.string())])


def run_source(spark: SparkSession, folder: Path, schema: pa.Schema, source: dict[str, Any]) -> RunReport:
    target = {"path": str(folder / "out.lance"), "mode": "overwrite", "allowEmpty": True}
    report = run(
        Job.model_validate({"source": source, "target": target}),
        schema,
        request=RunRequest(again=True),
        spark=spark,
    )
    assert report.rows_in == report.rows_written + report.rows_quarantined
    return report


def quarantined(report: RunReport) -> list[tuple[str, str]]:
    """Raw text and rule of each record of the run that was set aside."""
    if report.quarantine_path is None:
        return []
    rows = lance.dataset(report.quarantine_path).to_table().to_pylist()
    return [(row["raw"], row["errors"][0]["rule"]) for row in rows if row["run"] == report.run]


def check_json(report: RunReport, lines: list[bytes]) -> None:
    """Each line is one record, good exactly where Python reads it as one whole object that fits."""
    good: Counter[tuple[Any, Any]] = Counter()
    bad: Counter[str] = Counter()
    for line in lines:
        record = json_record(line)
        fits = (
            record is not None
            and type(record.get("id")) in (int, type(None))
            and type(record.get("s")) in (str, type(None))
        )
        if record is not None and fits:
            good[record.get("id"), record.get("s")] += 1
        else:
            try:
                bad[line.decode()] += 1
            except UnicodeDecodeError:
                bad[line.decode("iso-8859-1")] += 1
    assert report.rows_in == len(lines)
    assert Counter((row["id"], row["s"]) for row in rows_of(report.table_path)) == good
    assert Counter(raw for raw, _ in quarantined(report)) == bad


@pytest.mark.parametrize("count", [600, pytest.param(20_000, marks=pytest.mark.long)])
def test_lines_of_json_lose_nothing(spark: SparkSession, tmp_path: Path, count: int) -> None:
    lines = [b'{"id": 97}{"id": 98}', b'{"id": 96} trailing', b'{"id": 105} //c', *odd_json_lines(7, count)]
    (tmp_path / "in.json").write_bytes(b"\n".join(lines))
    source = {"path": str(tmp_path / "in.json"), "options": {"multiLine": False}}
    report = run_source(spark, tmp_path, RECORD, source)
    check_json(report, lines)
    assert {rule for _, rule in quarantined(report)} >= {"malformed", "encoding"}


@pytest.mark.parametrize("way", ["json by Spark", "json in tasks", "csv"])
def test_only_lines_of_blanks_are_no_records(spark: SparkSession, tmp_path: Path, way: str) -> None:
    """Also where a line ends within a character."""
    starts = ["", " ", "\t", "\t ", " \t \t", "\u2003"]
    rest = [b"", b"x", b"x \t", b" x", b"\xe2", b"\xe2\x82", b"\xff "]
    lines = [start.encode() + end for start in starts for end in rest]
    (tmp_path / "in").write_bytes(b"\n".join(lines))
    source = Source.model_validate({"path": str(tmp_path / "in"), "format": "json"})
    listed = texts.files_of(spark, source)
    if way == "json by Spark":
        rows = texts.lines(spark, source, listed).selectExpr("cast(value as binary)").collect()
        found = [bytes(row[0]) for row in rows]
    else:
        reader = partial(csv_lines, {}, "") if way == "csv" else json_lines
        found = [text for part in reader(FileSplit(listed.files[0])) for text in part.texts.to_pylist()]
    expected = [line for line in lines if line.strip(b" " if way == "csv" else b" \t")]
    assert sorted(found) == sorted(expected)


def test_documents_of_json_lose_nothing(spark: SparkSession, tmp_path: Path) -> None:
    documents = {
        "a.json": b'[{"id": 1}, {"id": 2}] {"id": 3}\n[{"id": 4}]x',
        "b.json": b'{\n"id": 5\n}\n{"id": 6}{"id": 7}',
        "c.json": b'[\n{"id": 8, "s": "\xff"},\n{"id": 9}\n]',
        "d.json": b'[{"id": 10}',
    }
    for label, content in documents.items():
        (tmp_path / label).write_bytes(content)
    report = run_source(spark, tmp_path, RECORD, {"path": str(tmp_path / "*.json")})
    assert sorted(row["id"] for row in rows_of(report.table_path)) == [1, 2, 3, 4, 5, 6, 7, 9, 10]
    bad = [("", "malformed"), ("x", "malformed"), ('{"id": 8, "s": "\xff"}', "encoding")]
    assert sorted(quarantined(report)) == bad


@pytest.mark.parametrize("form", ["lines", "array", "cells"])
def test_every_depth_in_every_field_is_written_or_set_aside(
    spark: SparkSession, tmp_path: Path, form: str
) -> None:
    """Also beside records of the same file that are not nested, and in a field that no column takes."""
    names, depths = [*FIELDS.names, "other"], [1, 50, 250, *range(320, 1020, 100), 5000]
    values = [(name, nested(*one, "1.5")) for one in product(depths, BRACKETS) for name in names]
    if form == "cells":
        lines = [";".join(value if one == name else "" for one in names) for name, value in values]
        (tmp_path / "in").write_text("\n".join([";".join(names), *lines]))
        source = {"path": str(tmp_path / "in"), "format": "csv", "options": {"sep": ";", "quote": ""}}
    else:
        lines = [f'{{"{name}": {value}}}' for name, value in values]
        text = "\n".join(lines) if form == "lines" else f"[{','.join(lines)}]"
        (tmp_path / "in").write_text(text)
        options = {"options": {"multiLine": False}} if form == "lines" else {}
        source = {"path": str(tmp_path / "in"), "format": "json", **options}
    report = run_source(spark, tmp_path, FIELDS, source)
    assert report.rows_in == len(lines)


def test_json_in_a_cell_is_one_value(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([FIELD("id", pa.int32()), FIELD("j", pa.json_()), FIELD("l", pa.list_(pa.int32()))])
    lines = ["id;j;l", "1;[1];[1]", "2;{} x;[2]", "3;{};[3] [4]", "4;1,2;[]"]
    (tmp_path / "in.csv").write_text("\n".join(lines))
    report = run_source(
        spark,
        tmp_path,
        schema,
        {"path": str(tmp_path / "in.csv"), "format": "csv", "options": {"sep": ";", "quote": ""}},
    )
    assert [row["id"] for row in rows_of(report.table_path)] == [1]
    assert [raw[0] for raw, _ in sorted(quarantined(report))] == ["2", "3", "4"]


def records_of(text: str, *, is_joined: bool) -> list[str]:
    return list(CsvDialect().records(text.splitlines(keepends=True)[1:], is_joined=is_joined))


def check_csv(report: RunReport, files: list[str], *, is_joined: bool) -> None:
    """Each record that Python reads is a row, letter by letter, and each that it refuses is set aside as it stands."""
    good: Counter[tuple[str, ...]] = Counter()
    bad: Counter[str] = Counter()
    for text in files:
        for record in records_of(text, is_joined=is_joined):
            read = csv_records(record)
            if read is not None and len(read) == 1 and len(read[0]) == 3:
                good[tuple(read[0])] += 1
            else:
                bad[record] += 1
    found = Counter(tuple(row[label] or "" for label in TEXTS.names) for row in rows_of(report.table_path))
    assert found == good
    assert Counter(raw for raw, _ in quarantined(report)) == bad


@pytest.mark.parametrize("count", [120, pytest.param(4_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("multi_line", [None, True, False])
def test_csv_loses_nothing(spark: SparkSession, tmp_path: Path, count: int, multi_line: bool | None) -> None:
    files = list(odd_csv_files(5, count))
    (tmp_path / "in").mkdir()
    for number, text in enumerate(files):
        (tmp_path / "in" / f"{number}.csv").write_bytes(text.encode())
    options = {} if multi_line is None else {"multiLine": multi_line}
    report = run_source(
        spark, tmp_path, TEXTS, {"path": str(tmp_path / "in"), "format": "csv", "options": options}
    )
    check_csv(report, files, is_joined=multi_line is not False)


def test_quote_that_stays_open_says_what_to_set(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text('c0,c1,c2\n1,2,"a\nb"\n3,4,5\n')
    source = {"path": str(tmp_path / "in.csv"), "format": "csv"}
    report = run_source(spark, tmp_path, TEXTS, source)
    assert sorted(row["c2"] for row in rows_of(report.table_path)) == ["5", "a\nb"]
    report = run_source(spark, tmp_path, TEXTS, {**source, "options": {"multiLine": False}})
    rows = lance.dataset(report.quarantine_path).to_table().to_pylist()
    assert [row["raw"] for row in rows] == ['1,2,"a', 'b"']
    assert "multiLine" in rows[0]["errors"][0]["value"]


DIALECTS = [(",", '"', "\\"), (";", "'", "'"), ("\t", '"', '"'), ("::", '"', '"')]
MORE = [
    pytest.param(sep, quote, escape, marks=pytest.mark.long)
    for sep in (",", ";", "\t", "|", "::")
    for quote in ('"', "'")
    for escape in (quote, "\\")
    if (sep, quote, escape) not in DIALECTS
]


@pytest.mark.parametrize(("sep", "quote", "escape"), [*DIALECTS, *MORE])
def test_cells_of_every_dialect_are_those_of_the_grammar(
    spark: SparkSession, tmp_path: Path, sep: str, quote: str, escape: str
) -> None:
    """Spark's parser cuts a sound record as the grammar does, which `test_csv_grammar` holds against Python's."""
    plain = ["", "a", "é ", " b", "\\", "\\n", "x" + quote, "𝄞", "#", "\x01"]
    inner = [
        "",
        "a",
        sep,
        f"{escape}{quote}",
        f"a{escape}{quote}b",
        " a ",
        "\\\\" if escape == "\\" else "\\",
        f"{sep}{sep}",
    ]
    cells = [*plain, *(f"{quote}{text}{quote}" for text in inner)]
    records = [sep.join((first, second)) for first in cells for second in cells if first or second]
    records = [record for record in records if record.strip()]
    (tmp_path / "in.csv").write_text(f"x{sep}y\n" + "\n".join(records))
    options = {"sep": sep, "quote": quote, "escape": escape}
    found = read_csv(
        spark, Source.model_validate({"path": str(tmp_path / "in.csv"), "format": "csv", "options": options})
    )
    # An empty cell is null, and empty text, which is quoted, is not: no cell is written as the text that stands for null.
    parser = {**options, "nullValue": "no cell", "columnNameOfCorruptRecord": "z", "multiLine": "true"}
    cells_of_spark = functions.from_csv("_raw", "x string, y string, z string", parser)
    frame = found.frame.withColumn("spark", cells_of_spark)
    rows = frame.select(
        "_raw", "_fault", "spark.*", *map(value_sql, (found.columns or {}).values())
    ).collect()
    dialect = CsvDialect(sep=sep, quote=quote, escape=escape)
    assert [row[0] for row in rows] == records
    for raw, fault, x, y, corrupt, *read in rows:
        assert (fault is None) == dialect.is_sound(raw), raw
        if fault is None:
            assert corrupt is None, raw
            own = [cell or "" for cell in dialect.values(raw)]
            assert [cell or "" for cell in read] == [x or "", y or ""] == own, raw
            # Behind a separator of several letters Spark's parser takes an empty cell for an empty text.
            assert len(sep) > 1 or [x, y] == read, raw


ENCODINGS = ["latin-1", "windows-1252", "UTF-16", "UTF-16LE", "Shift_JIS", "utf-8"]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_encodings_are_honoured(spark: SparkSession, tmp_path: Path, form: str) -> None:
    for encoding in ENCODINGS:
        word = "カナ" if encoding == "Shift_JIS" else "Zürich"
        text = f"id,s\n1,{word}\n" if form == "csv" else json.dumps({"id": 1, "s": word}, ensure_ascii=False)
        path = tmp_path / f"{encoding}.{form}"
        path.write_bytes(text.encode(encoding))
        job = Job.model_validate(
            {
                "source": {"path": str(path), "format": form, "options": {"encoding": encoding}},
                "target": {"path": "-"},
            }
        )
        records = open_records(spark, job)
        assert [row[0] for row in records.frame.selectExpr("_raw").collect()] == [
            text.strip().split("\n")[-1]
        ]


@pytest.mark.parametrize("form", ["csv", "json", "geojson"])
@pytest.mark.parametrize("option", ["UTF-8", "ascii", "UTF-16LE"])
def test_bytes_of_another_encoding_are_set_aside(
    spark: SparkSession, tmp_path: Path, form: str, option: str
) -> None:
    """The text of a record in the quarantine has all its bytes, in ISO-8859-1."""
    lines = (
        [b"id,s", b"1,Z\xc3\xbcrich \xff", b"2,ok"]
        if form == "csv"
        else [b'{"id": 1, "s": "Z\xc3\xbcrich \xff"}', b'{"id": 2}']
    )
    data = b"\n".join(lines)
    bad = lines[-2]
    if option == "UTF-16LE":
        bad = lines[-2].split(b"\xc3")[0].decode().encode("utf-16-le") + b"\x00\xd8" + b"x\x00"
        data = b"\n\0".join(
            [
                *(line.decode().encode("utf-16-le") for line in lines[:-2]),
                bad,
                lines[-1].decode().encode("utf-16-le"),
            ]
        )
    (tmp_path / "in").write_bytes(data)
    schema = pa.schema([FIELD("id", pa.int32()), FIELD("s", pa.string())])
    fields = {"id": "id", "s": "s"} if form == "geojson" else {}
    job = {
        "source": {"path": str(tmp_path / "in"), "format": form, "options": {"encoding": option}},
        "fields": fields,
        "target": {"path": str(tmp_path / "out.lance")},
    }
    report = run(Job.model_validate(job), schema, spark=spark)
    assert [row["id"] for row in rows_of(report.table_path)] == [2]
    assert quarantined(report) == [(bad.decode("iso-8859-1"), "encoding")]


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: __import__("gzip").compress(data),
    ".bz2": lambda data: __import__("bz2").compress(data),
    ".zst": lambda data: bytes(pa.compress(data, "zstd", asbytes=True)),
}


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("csv", "id,s\n1,a\n2,b\n"),
        ("csv", 'id,s\n1,"a\na"\n2,b\n'),
        ("json", '{"id": 1}\n{"id": 2}\n'),
        ("json", '[{"id": 1},\n{"id": 2}]'),
        ("geojson", '{"features": [{"id": 1}, {"id": 2}]}'),
    ],
)
def test_packed_files_are_unpacked(spark: SparkSession, tmp_path: Path, form: str, text: str) -> None:
    for ending, pack in PACKERS.items():
        (tmp_path / f"in{ending}").write_bytes(pack(text.encode()))
        source = {"path": str(tmp_path / f"in{ending}"), "format": form}
        report = run_source(spark, tmp_path, pa.schema([FIELD("id", pa.int32())]), source)
        assert sorted(row["id"] for row in rows_of(report.table_path)) == [1, 2], ending
        assert report.rows_quarantined == 0
