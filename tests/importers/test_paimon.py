"""Schema files of Paimon in the dialects of all who write them."""

import json
from pathlib import Path
from typing import Any

import pytest

import schemac
from schemac.cli.main import main
from schemac.engines.paimon.reader import read_table_schema
from schemac.engines.paimon.types import parse_type
from schemac.importers.importer import ImportedVersion
from schemac.importers.sources import detect, import_source
from schemac.language.logical.model import Part
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import MalformedDocumentError
from schemac.versions.identity.lock import Highest, Numbers
from tests.compiling import table_record

Tree = dict[str, Any]
MANIFEST = """
name: orders
description: What was ordered
extra:
  paimon.apache.org/primaryKeys: [day, id]
  paimon.apache.org/partitionKeys: [day]
  paimon.apache.org/options: {bucket: "2"}
fields:
  - {name: day, type: String, extra: {paimon.apache.org/type: VARCHAR(10)}}
  - {name: id, type: Int64}
  - {name: at, type: {kind: Option, inner: {kind: Timestamp, unit: Microsecond}}, description: of the order}
  - {name: notes, type: {kind: Map, keyType: String, valueType: {kind: Option, inner: Int32}}}
  - name: lines
    type: {kind: List, itemType: {kind: Option, inner: {kind: Struct, fields: [{name: sku, type: String}, {name: n, type: Int32}]}}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def orders() -> schemac.Dataset:
    (dataset,) = schemac.compile_text(MANIFEST)
    return dataset


def minimal(*fields: Any, **keys: Any) -> Tree:
    """A schema file with these columns; a key that is None is left out."""
    columns = [
        field if isinstance(field, dict) else {"id": i, "name": f"c{i}", "type": field}
        for i, field in enumerate(fields)
    ]
    tree = {
        "version": 3,
        "id": 0,
        "fields": columns,
        "highestFieldId": len(fields) - 1,
        "partitionKeys": [],
        "primaryKeys": [],
        "options": {},
        "timeMillis": 7,
        **keys,
    }
    return {key: value for key, value in tree.items() if value is not None}


def write(file: Path, content: Tree | str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def types(dataset: schemac.Dataset) -> list[str]:
    """Paimon's types of the columns, as a build would write them."""
    return [json.dumps(f["type"]).strip('"') for f in dataset.to_paimon()["fields"]]


def test_import_what_build_wrote(folder: Path) -> None:
    write(folder / "orders.yaml", MANIFEST)
    assert main(["build", "orders.yaml"]) == 0
    assert main(["import", "build/orders/paimon/schema-0", "--name", "orders", "--out", "again.yaml"]) == 0
    assert main(["build", "again.yaml", "--out", "again"]) == 0
    written, again = (Path(out, "orders/paimon/schema-0").read_bytes() for out in ("build", "again"))
    # What is imported is locked, and says so.
    assert (
        again
        == read_table_schema(json.loads(written))
        .of_version(table_record(Path("again.lock")))
        .to_text()
        .encode()
    )


@pytest.mark.parametrize(
    "source",
    ["db.db/orders", "db.db/orders/schema", "db.db/orders/schema/schema-10", "db.db/orders/branch/branch-b"],
)
def test_import_the_newest_version_of_a_table(folder: Path, source: str) -> None:
    for number, name in ((0, "old"), (9, "older"), (10, "new")):
        for place in ("schema", "branch/branch-b/schema"):
            field = {"id": number, "name": name, "type": "INT"}
            write(
                folder / f"db.db/orders/{place}/schema-{number}",
                minimal(field, id=number, highestFieldId=number),
            )
    write(folder / "db.db/orders/schema/schema-0.tmp", "no schema at all")
    assert detect(Path(source)) == "paimon"
    dataset = schemac.from_paimon(source)
    assert [field.name for field in dataset.schema.fields] == ["new"]
    assert dataset.name == ("branch-b" if source.endswith("-b") else "orders")


def test_import_all_versions(folder: Path) -> None:
    row = {"type": "ROW", "fields": [{"id": 2, "name": "z", "type": "INT"}]}
    before = minimal({"id": 1, "name": "a", "type": {"type": "ARRAY", "element": row}}, highestFieldId=4)
    after = minimal({"id": 1, "name": "b", "type": "INT"}, id=1, highestFieldId=5)
    write(folder / "t/schema/schema-0", before)
    write(folder / "t/schema/schema-1", after)
    imported = import_source(Path("t"), None, Report())
    assert imported is not None
    first, second = imported.versions
    assert isinstance(first, ImportedVersion)
    assert isinstance(second, ImportedVersion)
    assert first.data.of("paimon") == {"schemaId": 0, "timeMillis": 7}
    assert first.highest == Highest.make({"paimon": 4})
    assert {path: numbers.of("paimon") for path, numbers in first.numbers.items()} == {
        ("a",): (1,),
        ("a", Part.ITEM, "z"): (2,),
    }
    assert (second.data.of("paimon")["schemaId"], second.highest.of("paimon")) == (1, 5)
    assert second.numbers == {("b",): Numbers.make({"paimon": (1,)})}
    assert imported.schema == second.schema
    assert imported.comments == ("from version 1 of a Paimon table's schema",)


def in_the_words_of_pypaimon(value: Any) -> Any:
    """A type as pypaimon writes it."""
    if isinstance(value, str):
        return value.replace("TIMESTAMP(6) WITH LOCAL TIME ZONE", "TIMESTAMP_LTZ(6)")
    found = {
        key: in_the_words_of_pypaimon(item) if key in ("element", "key", "value") else item
        for key, item in value.items()
    }
    if "fields" in found:
        found["fields"] = [{**f, "type": in_the_words_of_pypaimon(f["type"])} for f in found["fields"]]
    return {**found, "nullable": not value["type"].endswith("NOT NULL")}


def by_pypaimon(tree: Tree) -> str:
    fields = [{"description": None, **f, "type": in_the_words_of_pypaimon(f["type"])} for f in tree["fields"]]
    return json.dumps({**tree, "fields": fields, "options": {"bucket": 2}}, indent=2, ensure_ascii=False)


def by_pypaimon_2_0(tree: Tree) -> str:
    """It spelled the parts of a map out, and told the nullability beside it."""
    text = by_pypaimon(tree)
    return text.replace('"type": "MAP NOT NULL"', '"type": "MAP<STRING NOT NULL, INT>"')


def by_cpp(tree: Tree) -> str:
    keys = [
        "version",
        "id",
        "fields",
        "highestFieldId",
        "partitionKeys",
        "primaryKeys",
        "options",
        "timeMillis",
        "comment",
    ]
    return json.dumps({key: tree[key] for key in keys}, separators=(",", ":"))


@pytest.mark.parametrize("dialect", [json.dumps, by_pypaimon, by_pypaimon_2_0, by_cpp])
def test_read_every_dialect(folder: Path, orders: schemac.Dataset, dialect: Any) -> None:
    file = write(folder / "t/schema/schema-0", dialect(orders.to_paimon()))
    dataset = schemac.from_paimon(file)
    assert dataset.to_paimon() == orders.to_paimon()
    assert dataset.schema == orders.schema


def test_take_a_null_for_an_absent_key(folder: Path) -> None:
    field = {"id": 0, "name": "a", "type": "INT", "description": None, "defaultValue": None}
    tree = {**minimal(field), "comment": None, "timeMillis": None, "unknown": 1}
    dataset = schemac.from_paimon(write(folder / "schema-0", tree))
    assert dataset.schema.extra == {}
    assert dataset.schema.fields[0].extra == {}


@pytest.mark.parametrize(
    ("version", "options", "filled"),
    [
        (None, {}, {"bucket": "1", "file.format": "orc"}),
        (1, {}, {"bucket": "1", "file.format": "orc"}),
        (1, {"file.format": "avro"}, {"bucket": "1", "file.format": "avro"}),
        (2, {}, {"file.format": "orc"}),
        (3, {}, {}),
        (99, {"a": 1, "b": True}, {"a": "1", "b": "true"}),
    ],
)
def test_fill_in_what_old_versions_meant(
    folder: Path, version: int | None, options: Tree, filled: Tree
) -> None:
    write(folder / "schema-0", minimal("INT NOT NULL", version=version, options=options, primaryKeys=["c0"]))
    dataset = schemac.from_paimon(folder / "schema-0")
    assert dataset.schema.extra.get("paimon.apache.org/options", {}) == filled
    assert dataset.to_paimon()["options"] == filled
    imported = import_source(folder / "schema-0", None, Report())
    assert imported is not None
    assert len(imported.comments) == (1 if version in (3, 99) else 2)


def test_raise_a_highest_id_that_is_too_low(folder: Path) -> None:
    field = {"id": 3, "name": "r", "type": {"type": "ROW", "fields": [{"id": 8, "name": "x", "type": "INT"}]}}
    imported = import_source(write(folder / "schema-0", minimal(field, highestFieldId=3)), None, Report())
    assert imported is not None
    assert imported.versions[0].highest == Highest.make({"paimon": 8})


def test_require_the_columns_of_a_primary_key(folder: Path) -> None:
    write(folder / "schema-0", minimal("INT", primaryKeys=["c0"]))
    imported = import_source(folder / "schema-0", None, Report())
    assert imported is not None
    assert imported.comments[1:] == ("columns of the primary key may not be null: c0",)
    assert types(schemac.from_paimon(folder / "schema-0")) == ["INT NOT NULL"]
    write(folder / "schema-0", minimal("INT", primaryKeys=["c0"], options={"primary-key.nullable": "true"}))
    assert types(schemac.from_paimon(folder / "schema-0")) == ["INT"]


SPELLINGS = {
    "integer not null": "INT NOT NULL",
    "INT NULL": "INT",
    "DOUBLE PRECISION": "DOUBLE",
    "DEC": "DECIMAL(10, 0)",
    "NUMERIC(5)": "DECIMAL(5, 0)",
    "decimal( 5 ,2 )": "DECIMAL(5, 2)",
    "CHAR": "CHAR(1)",
    "VARCHAR": "VARCHAR(1)",
    "VARCHAR(2147483647)": "STRING",
    "BINARY": "BINARY(1)",
    "VARBINARY": "VARBINARY(1)",
    "VARBINARY(2147483647) NOT NULL": "BYTES NOT NULL",
    "TIME": "TIME(0)",
    "TIME(3) WITHOUT TIME ZONE": "TIME(3)",
    "TIMESTAMP": "TIMESTAMP(6)",
    "TIMESTAMP(3) WITHOUT TIME ZONE NOT NULL": "TIMESTAMP(3) NOT NULL",
    "TIMESTAMP_LTZ": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    "TIMESTAMP WITH LOCAL TIME ZONE": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    "timestamp(9) with local time zone not null": "TIMESTAMP(9) WITH LOCAL TIME ZONE NOT NULL",
}


@pytest.mark.parametrize("written", SPELLINGS)
def test_read_every_spelling_of_a_type(written: str) -> None:
    assert parse_type(written).to_json() == SPELLINGS[written]


OBJECTS: list[tuple[Any, Any]] = [
    ("INT NOT NULL ARRAY NOT NULL", {"type": "ARRAY NOT NULL", "element": "INT NOT NULL"}),
    ("INT MULTISET ARRAY", {"type": "ARRAY", "element": {"type": "MULTISET", "element": "INT"}}),
    (
        "VECTOR<FLOAT NOT NULL, 3> NOT NULL",
        {"type": "VECTOR NOT NULL", "element": "FLOAT NOT NULL", "length": 3},
    ),
    ({"type": "ARRAY", "element": "INT", "nullable": False}, {"type": "ARRAY", "element": "INT"}),
    (
        {"type": "MAP<STRING NOT NULL, INT>", "key": "STRING", "value": "INT"},
        {"type": "MAP", "key": "STRING", "value": "INT"},
    ),
    (
        {"type": "MAP<STRING NOT NULL, INT NOT NULL>", "key": "STRING", "value": "INT", "nullable": True},
        {"type": "MAP", "key": "STRING", "value": "INT"},
    ),
    (
        {"type": "MAP<STRING, INT> NOT NULL", "key": "STRING", "value": "INT"},
        {"type": "MAP NOT NULL", "key": "STRING", "value": "INT"},
    ),
    ({"type": "INT NOT NULL"}, "INT NOT NULL"),
]


@pytest.mark.parametrize(("written", "meant"), OBJECTS)
def test_read_every_form_of_a_type_with_parts(written: Any, meant: Any) -> None:
    assert parse_type(written).to_json() == meant


@pytest.mark.parametrize(
    "written",
    [
        "", "INT NOT", "STRING(5)", "FLOAT16", "ARRAY<INT>", "TIMESTAMP(3) WITH TIME ZONE", "DECIMAL(39, 2)", "DECIMAL(5, 6)",
        "DECIMAL(0)", "VARCHAR(0)", "TIME(10)", "INT INT", "INT(3)", "VARCHAR(", "é", "VECTOR<STRING, 3>", "VECTOR<INT, 0>",
        None, 5, [], {}, {"type": 5}, {"type": "array", "element": "INT"}, {"type": "ARRAY"}, {"type": "MAP", "key": "INT"},
        {"type": "ROW", "fields": 5}, {"type": "ROW", "fields": [5]}, {"type": "ROW", "fields": [{"name": "a", "type": "INT"}]},
        {"type": "ROW", "fields": [{"id": 0, "type": "INT"}]}, {"type": "ROW", "fields": [{"id": 0, "name": "a"}]},
        {"type": "ROW", "fields": [{"id": 0, "name": "a", "type": "INT", "description": 5}]},
        {"type": "VECTOR", "element": "INT", "length": "3"},
    ],
)  # fmt: skip
def test_refuse_what_is_no_type(written: Any) -> None:
    with pytest.raises(MalformedDocumentError, match=r"^here"):
        parse_type(written, "here")


COLLIDING = minimal(
    {"id": 0, "name": "k", "type": "INT"},
    {"id": 1, "name": "r", "type": {"type": "ROW", "fields": [{"id": 0, "name": "x", "type": "INT"}]}},
)


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        ("", "it is not valid JSON: expecting value", 1),
        ('{\n  "id": 0,\n  "fields": [}', "it is not valid JSON: expecting value", 3),
        ('{"id": "\\ud800"}', "it is not valid JSON: 'utf-8' codec can't encode character", 0),
        ("[1]", "it is not a Paimon schema: it is not an object", 0),
        ("[" * 100_000, "it is not valid JSON", 0),
        (minimal("INT", highestFieldId=None), "it is not a Paimon schema: it has no `highestFieldId`", 0),
        (minimal("INT", options=5), "it is not a Paimon schema: options: the options have to be an object", 0),
        (minimal("INT", options={"a": {}}), "it is not a Paimon schema: options.a: an option has to be a text", 0),
        (minimal("INT", primaryKeys="a"), "it is not a Paimon schema: primaryKeys: it is not a list of names", 0),
        (minimal("INT", id="0"), "it is not a Paimon schema: id: it is not a whole number", 0),
        (minimal("INT", comment=5), "it is not a Paimon schema: comment: the comment has to be a text", 0),
        (minimal("INT", fields={}), "it is not a Paimon schema: fields: the fields have to be a list", 0),
        (
            minimal("INT", {"id": 1, "name": "a", "type": {"type": "ARRAY", "element": "INTT"}}),
            "it is not a Paimon schema: fields[1].type.element: 'INTT' is not a Paimon type",
            0,
        ),
        (COLLIDING, "it is not a Paimon schema: k and r.x have the same id 0; pypaimon before 2.0", 0),
    ],
)  # fmt: skip
def test_refuse_a_broken_file(
    folder: Path, capsys: pytest.CaptureFixture[str], content: Any, message: str, line: int
) -> None:
    write(folder / "t/schema/schema-0", minimal("INT"))
    write(folder / "t/schema/schema-1", content)
    assert main(["import", "t", "--out", "m.yaml", "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (found["code"], found["file"], found["line"]) == ("SC552", "t/schema/schema-1", line)
    assert found["message"].startswith(f"cannot read t/schema/schema-1: {message}")
    assert not (folder / "m.yaml").exists()


def test_refuse_a_folder_without_a_schema(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "t/schema").mkdir(parents=True)
    assert main(["import", "t", "--from", "paimon"]) == 1
    assert "cannot read t: there is no `schema/schema-0` in it" in capsys.readouterr().err


@pytest.mark.parametrize(
    "type_", ["GEOMETRY", "GEOMETRY('EPSG:4326')", "GEOGRAPHY(OGC:CRS84, vincenty) NOT NULL"]
)
def test_refuse_a_type_without_a_kind(folder: Path, capsys: pytest.CaptureFixture[str], type_: str) -> None:
    write(
        folder / "schema-0",
        minimal("INT", {"type": "ARRAY", "element": type_}, fields=None)
        | {"fields": [{"id": 0, "name": "g", "type": {"type": "ARRAY", "element": type_}}]},
    )
    assert main(["import", "schema-0", "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (found["code"], found["path"]) == ("SC551", "g.item")
    assert "there is no kind for Paimon's GEO" in found["message"]


def test_tell_schema_files_from_other_json(folder: Path) -> None:
    assert detect(write(folder / "schema-3", minimal("INT"))) == "paimon"
    assert detect(write(folder / "table.json", minimal("INT"))) == "paimon"
    assert detect(write(folder / "rows.json", '{"a": 1}')) == "ndjson"
    assert detect(write(folder / "schema-4", "{}")) is None


@pytest.mark.parametrize("version", [{}, {"version": 1}])
def test_build_again_an_append_table_of_the_first_version(tmp_path: Path, version: dict[str, int]) -> None:
    """Paimon asks for no bucket key in files of version 1, which had one bucket unless they said otherwise."""
    document = {
        **version,
        "id": 0,
        "fields": [{"id": 0, "name": "a", "type": "INT"}],
        "highestFieldId": 0,
        "partitionKeys": [],
        "primaryKeys": [],
        "options": {},
        "timeMillis": 1,
    }
    (tmp_path / "t" / "schema").mkdir(parents=True)
    (tmp_path / "t" / "schema" / "schema-0").write_text(json.dumps(document))
    manifest = tmp_path / "t.yaml"
    assert main(["import", str(tmp_path / "t"), "--out", str(manifest)]) == 0
    assert main(["build", str(manifest), "--target", "paimon", "--out", str(tmp_path / "build")]) == 0
    again = json.loads((tmp_path / "build" / "t" / "paimon" / "schema-0").read_bytes())
    assert (again["version"], again["timeMillis"]) == (1, 1)
    assert read_table_schema(again) == read_table_schema(document).of_version(
        table_record(tmp_path / "t.lock")
    )


def test_write_the_present_version_for_all_other_tables() -> None:
    text = "extra: {paimon.apache.org/options: {bucket: '1', bucket-key: a, file.format: orc}}\nfields: [{name: a, type: Int32}]\n"
    (dataset,) = schemac.compile_text(text)
    assert dataset.to_paimon()["version"] == 3
