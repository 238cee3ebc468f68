"""What an import cannot keep, or cannot know, stands as a comment above the field."""

import json
from pathlib import Path

import pytest

import schemac
from schemac.cli.main import main

DDL = """\
CREATE TABLE IF NOT EXISTS db.rides (
  id BIGINT NOT NULL COMMENT 'the rider\\'s' PRIMARY KEY,
  embedding ARRAY<FLOAT> NOT NULL,
  body BINARY,
  at TIMESTAMP_NTZ DEFAULT current_timestamp() COMMENT 'when',
  who STRUCT<name STRING COLLATE UNICODE_CI, `a b`: VARCHAR(20) NOT NULL, took INTERVAL HOUR TO MINUTE>,
  doc VARIANT,
  length TIME(2),
  CONSTRAINT pk PRIMARY KEY (id)
)
USING lance
PARTITIONED BY (days(at), id)
COMMENT 'all of them'
TBLPROPERTIES (
  'embedding.arrow.fixed-size-list.size' = '8', 'embedding.arrow.float16' = 'true', 'body.lance.encoding' 'blob',
  'id.lance.compression' = 'zstd', 'id.lance.compression-level' = '3', 'id.lance.bss' = 'on', owner = 'me',
  'doc.lance.encoding' = 'blob'
);
"""
MANIFEST = """\
# not kept: PARTITIONED BY (days(at), id)
name: db/rides
description: all of them
extra:
  spark.apache.org/tableProperties:
    owner: me
    doc.lance.encoding: blob
fields:
  - name: id
    description: the rider's
    type: Int64
    extra:
      lance.org/encoding: {compression: zstd, compressionLevel: 3, bss: "on"}
      lance.org/primaryKey: {position: 1}
  # DDL cannot express whether items may be null
  - name: embedding
    type: {kind: List, itemType: {kind: Option, inner: Float16}, fixedLength: 8}
  # a blob in the old form, a large binary; from storage version 2.2 on it is written in the new form, a struct
  - name: body
    type: {kind: Option, inner: Binary}
    extra:
      lance.org/blob: {}
  # not kept: DEFAULT current_timestamp()
  - name: at
    description: when
    type:
      kind: Option
      inner: {kind: Timestamp, unit: Microsecond, timezone: null}
  - name: who
    type:
      kind: Option
      inner:
        kind: Struct
        fields:
          # Spark's collation UNICODE_CI is not kept
          - {name: name, type: {kind: Option, inner: String}}
          - {name: a b, type: String, extra: {spark.apache.org/type: varchar(20)}}
          # Spark's interval hour to minute becomes an interval day to second
          - name: took
            type: {kind: Option, inner: {kind: Duration, unit: Microsecond}}
  - name: doc
    type: {kind: Option, inner: String}
    extra:
      spark.apache.org/type: variant
  # Spark's time(2) becomes time(3)
  - {name: length, type: {kind: Option, inner: Time}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def manifest(capsys: pytest.CaptureFixture[str], source: str, *arguments: str) -> str:
    assert main(["import", source, *arguments]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert schemac.compile_text(shown.out)
    head = shown.out.partition("name:")[0].splitlines()
    assert len(set(head)) == len(head), "each comment stands once"
    return shown.out


def test_name_what_a_whole_json_schema_loses_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = '{"properties": {"a": {"type": "integer"}}, "additionalProperties": false, "dependentRequired": {"a": ["b"]}}'
    (folder / "t.json").write_text(text)
    assert manifest(capsys, "t.json", "--from", "jsonschema").startswith(
        '# not kept: dependentRequired {"a": ["b"]}\n# not kept: other properties are not allowed\nname: t\n'
    )


def test_import_ddl(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "rides.sql").write_text(DDL)
    assert manifest(capsys, "rides.sql") == MANIFEST


def test_import_a_list_of_columns() -> None:
    dataset = schemac.from_spark_ddl("a INT, b: map<string, struct<c: decimal(5)>> NOT NULL", name="x")
    assert dataset.name == "x"
    assert {f.name: f.type.type_text() for f in dataset.schema.fields} == {
        "a": "Option<Int32>",
        "b": "Map<String, Option<Struct<c>>>",
    }


def test_refuse_a_type_of_ddl_at_its_path() -> None:
    with pytest.raises(
        schemac.SchemaError, match=r"a\.item\.b: there is no kind for Spark's geometry\(4326\)"
    ):
        schemac.from_spark_ddl("a ARRAY<STRUCT<b: GEOMETRY(4326)>>")


def test_import_partitions_in_hives_form() -> None:
    dataset = schemac.from_spark_ddl("CREATE TABLE t (a INT) PARTITIONED BY (day DATE) STORED AS parquet")
    assert [f.name for f in dataset.schema.fields] == ["a", "day"]


def test_infer_csv_with_doubts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\ufeffzip;never;big;at;on\n00501;;99999999999999999999;12:30:00;2020-01-01 10:00:00\n10001;;1;12:31:00;\n"
    (folder / "w.csv").write_text(text)
    assert manifest(capsys, "w.csv") == (
        "# inferred from 2 rows of w.csv; check every type, and which fields may be null\n"
        "# its columns are separated by semicolons\n"
        "name: w\n"
        "fields:\n"
        "  # a String because some of its numbers begin with zero\n"
        "  - {name: zip, type: String}\n"
        "  # always null in the sample, so its type is unknown\n"
        "  - {name: never, type: {kind: Option, inner: String}}\n"
        "  # a Decimal because some of its numbers are too large for Int64\n"
        "  - {name: big, type: {kind: Decimal, precision: 38, scale: 0}}\n"
        "  - {name: at, type: Time}\n"
        "  - name: on\n".replace("name: on", 'name: "on"')
        + "    type:\n      kind: Option\n      inner: {kind: Timestamp, unit: Microsecond, timezone: null}\n"
    )


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_infer_csv_in_other_encodings(
    folder: Path, capsys: pytest.CaptureFixture[str], encoding: str
) -> None:
    (folder / "w.csv").write_text("ключ\tб\n1\t2\n", encoding=encoding)
    assert "{name: ключ, type: Int64}" in manifest(capsys, "w.csv")


def test_infer_csv_from_the_beginning(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schemac.importers.sources.SAMPLE", 50)
    (folder / "w.csv").write_text("a,b\n" + "1,é\n" * 100 + "x,y\n")
    assert main(["import", "w.csv", "--out", "m.yaml"]) == 0
    assert "{name: a, type: Int64}" in (folder / "m.yaml").read_text()


def test_infer_ndjson_with_doubts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [
        {
            "mixed": 1,
            "big": 2**63,
            "vast": 2**70,
            "never": None,
            "day": "2020-01-31",
            "none": [],
            "o": {"x": None},
        },
        {
            "mixed": "x",
            "big": 1,
            "vast": -1,
            "day": "2020-02-01",
            "none": [],
            "o": {},
            "at": "2020-01-01T00:00:00.5Z",
        },
    ]
    (folder / "r.ndjson").write_text("".join(json.dumps(r) + "\n" for r in records))
    text = manifest(capsys, "r.ndjson")
    assert text.partition("fields:\n")[2] == (
        "  # a String because the sample has 1 integers, 1 texts\n"
        "  - {name: mixed, type: String}\n"
        "  - {name: big, type: UInt64}\n"
        "  - {name: vast, type: {kind: Decimal, precision: 38, scale: 0}}\n"
        "  # always null in the sample, so its type is unknown\n"
        "  - {name: never, type: {kind: Option, inner: String}}\n"
        "  - {name: day, type: Date}\n"
        "  # all lists in the sample are empty, so the type of their items is unknown\n"
        "  - name: none\n"
        "    type: {kind: List, itemType: {kind: Option, inner: String}}\n"
        "  - name: o\n"
        "    type:\n"
        "      kind: Struct\n"
        "      fields:\n"
        "        # always null in the sample, so its type is unknown\n"
        "        - {name: x, type: {kind: Option, inner: String}}\n"
        "  - name: at\n"
        "    type: {kind: Option, inner: {kind: Timestamp, unit: Microsecond}}\n"
    )


def test_infer_ndjson_from_the_beginning(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schemac.importers.sources.SAMPLE", 50)
    for name, text in (("r.ndjson", '{"a": 1}\n' * 90), ("r.json", "[" + '{"a": 1},' * 90 + "]")):
        (folder / name).write_text(text)
        assert main(["import", name, "--out", f"{name}.yaml"]) == 0
        assert "inferred from 5 records" in (folder / f"{name}.yaml").read_text()


def test_keep_comments_in_their_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "t.sql").write_text(
        "CREATE TABLE t (a INT DEFAULT 'x\ny\u2028\x07: [', CHECK (a > '\x1b\n- b'))"
    )
    assert manifest(capsys, "t.sql").splitlines()[:2] == [
        "# not kept: CHECK (a > '\x1b - b')".replace("\x1b", " "),
        "name: t",
    ]


REAL = {
    "birdstrikes.csv": ["{name: Flight Date, type: Date}", "{name: Cost Total $, type: Int64}"],
    "seattle-weather.csv": ["{name: date, type: Date}", "{name: wind, type: Float64}"],
    "movies.json": [
        "# a String because the sample has",
        "{name: US Gross, type: {kind: Option, inner: Int64}}",
    ],
    "earthquakes.json": [
        "1,707 records",
        "{name: time, type: Int64}",
        "{name: felt, type: {kind: Option, inner: Int64}}",
        "{name: coordinates, type: {kind: List, itemType: Float64}}",
    ],
}


@pytest.mark.parametrize("name", REAL)
def test_import_real_files(capsys: pytest.CaptureFixture[str], name: str) -> None:
    above = (folder / "shared" / "data" for folder in Path(__file__).parents)
    data = next((folder for folder in above if folder.is_dir()), None)
    if data is None:
        pytest.skip("the real files are not here")
    text = manifest(capsys, str(data / name))
    assert [line for line in REAL[name] if line not in text] == []
