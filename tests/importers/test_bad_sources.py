"""Sources that are broken give a diagnostic that names the file: no traceback, no hang, and nothing is written."""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.parquet
import pytest

import schemac
from schemac.cli.main import main

pytestmark = pytest.mark.slow

MANIFEST = Path(__file__).parents[2] / "examples/demo/rides.yaml"
FIELD = {"name": "a", "type": "long", "nullable": True, "metadata": {}}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def outcome(capsys: pytest.CaptureFixture[str], source: str, *arguments: str) -> list[dict[str, Any]]:
    """What an import says; it ends by itself, and writes a manifest or says an error."""
    for name in ("m.yaml", "m.lock"):
        Path(name).unlink(missing_ok=True)
    code = main(["import", source, "--out", "m.yaml", "--format", "json", *arguments])
    shown = capsys.readouterr()
    assert "internal error" not in shown.err
    found: list[dict[str, Any]] = json.loads(shown.out)["diagnostics"]
    errors = [f for f in found if f["severity"] == "error"]
    assert (code == 1) == bool(errors) == (not Path("m.yaml").exists())
    assert code in (0, 1)
    return errors


def refusal(capsys: pytest.CaptureFixture[str], source: str, *arguments: str) -> dict[str, Any]:
    (found,) = outcome(capsys, source, *arguments)
    assert found["code"] == "SC552"
    assert found["file"].startswith(source)
    assert found["message"].startswith(f"cannot read {found['file']}: ")
    return found


def struct(*fields: Any) -> str:
    return json.dumps({"type": "struct", "fields": list(fields)})


def column(type_: Any, **metadata: Any) -> str:
    return struct({"name": "a", "type": type_, "nullable": True, "metadata": metadata})


TEXTS: dict[str, tuple[str, str, str]] = {
    "no object": ("s.json", "[]", "it is not a StructType: the JSON has to be an object"),
    "no fields": ("s.json", '{"type":"struct"}', "it is not a StructType: `fields` is missing"),
    "fields that are none": ("s.json", '{"type":"struct","fields":3}', "`fields` cannot be 3"),
    "a field that is none": ("s.json", struct(3), "an object is expected, not 3"),
    "no name": ("s.json", struct({"type": "long"}), "`name` is missing"),
    "no type": ("s.json", struct({"name": "a", "nullable": True}), "at a, `type` is missing"),
    "a number as name": ("s.json", struct({**FIELD, "name": 3}), "`name` cannot be 3"),
    "a list as type": ("s.json", struct({**FIELD, "type": []}), "at a, `type` cannot be []"),
    "a text as nullable": ("s.json", struct({**FIELD, "nullable": "no"}), 'at a, `nullable` cannot be "no"'),
    "a list as metadata": ("s.json", struct({**FIELD, "metadata": [1]}), "at a, `metadata` cannot be [1]"),
    "a type without type": ("s.json", column({}), "at a, `type` is missing"),
    "an array of nothing": (
        "s.json",
        column({"type": "array", "containsNull": True}),
        "at a, `elementType` is",
    ),
    "an array of maybes": (
        "s.json",
        column({"type": "array", "elementType": "long"}),
        "at a, `containsNull` is missing",
    ),
    "a map of nothing": ("s.json", column({"type": "map", "valueContainsNull": True}), "at a, `keyType` is"),
    "a broken member": (
        "s.json",
        column({"type": "struct", "fields": [{"name": "b"}]}),
        "at a.b, `nullable` is missing",
    ),
    "a broken item": (
        "s.json",
        column({"type": "array", "containsNull": True, "elementType": {"type": "struct", "fields": {}}}),
        "at a.item, `fields` cannot be {}",
    ),
    "a length that is none": (
        "s.json",
        column(
            {"type": "array", "elementType": "float", "containsNull": True},
            **{"arrow.fixed-size-list.size": "x"},
        ),
        'at a, the metadata arrow.fixed-size-list.size cannot be "x"',
    ),
    "a width of zero": (
        "s.json",
        column("binary", **{"arrow.fixed-size-binary.byte-width": 0}),
        "cannot be 0",
    ),
    "metadata of an item that is none": (
        "s.json",
        column({"type": "array", "elementType": "float", "containsNull": True}, **{"_lance.element": "{"}),
        'at a, the metadata of the item cannot be "{"',
    ),
    "too many digits": ("s.json", column("decimal(39,0)"), "at a, Spark has no decimal(39,0)"),
    "half a character": (
        "s.json",
        struct({**FIELD, "name": "\ud800"}),
        "a name or text in it is not valid Unicode",
    ),
    "a bottomless type": (
        "s.json",
        '{"type":"struct","fields":[{"name":"a","nullable":true,"type":'
        + '{"type":"array","elementType":' * 40000,
        "it is not valid JSON",
    ),
    "an unclosed quote": ("s.sql", "CREATE TABLE t (a STRING COMMENT 'x)", "' is opened and never closed"),
    "an unclosed bracket": ("s.sql", "CREATE TABLE t (a INT", ") is expected here, and the text ends"),
    "a missing type": ("s.sql", "CREATE TABLE t (a, b INT)", "a type is expected here, not ,"),
    "no statement": ("s.sql", "-- nothing here\n", "it has no statement"),
    "another statement": ("s.sql", "SELECT 1", "a type is expected here, not 1"),
    "a view": ("s.sql", "CREATE VIEW v AS SELECT 1", "only CREATE TABLE is imported"),
    "two statements": (
        "s.sql",
        "CREATE TABLE a (x INT); CREATE TABLE A (x BIGINT)",
        "it creates the table A more than once",
    ),
    "a property without value": (
        "s.sql",
        "CREATE TABLE a (x INT) TBLPROPERTIES ('a' = )",
        "a value is expected",
    ),
    "bottomless DDL": ("s.sql", "a " + "ARRAY<" * 5000, "types are nested deeper than"),
    "unknown fields": ("s.txtpb", 'fields {\n  nam: "a"\n}\n', 'has no field named "nam"'),
    "an unknown logical type": (
        "s.txtpb",
        'fields { name: "a" parent_id: -1 logical_type: "x" }',
        "logical type 'x'",
    ),
    "an orphan": (
        "s.txtpb",
        'fields { name: "a" parent_id: 7 logical_type: "int8" }',
        "field 0 belongs to no",
    ),
    "a list of nothing": (
        "s.txtpb",
        'fields { name: "a" parent_id: -1 logical_type: "list" }',
        "field 0 (a) has 0 fields below it, not 1",
    ),
    "a ring": (
        "s.txtpb",
        'fields { name: "a" parent_id: 0 logical_type: "struct" }',
        "field 0 belongs to no",
    ),
    "equal ids": (
        "s.txtpb",
        'fields { name: "a" parent_id: -1 logical_type: "int8" } fields { parent_id: -1 logical_type: "int8" }',
        "two fields have the same id",
    ),
    "a vast vector": (
        "s.txtpb",
        'fields { name: "a" parent_id: -1 logical_type: "fixed_size_list:float:9999999999" }',
        "too large",
    ),
    "an open record": ("s.ndjson", '{"a": 1}\n{"a": ', "it has no JSON records: expecting value"),
    "scalars": ("s.ndjson", "1\n2\n", "a record has to be an object, not 1"),
    "an open array": ("s.json", '[{"a": 1}', "the array is never closed"),
    "an empty array": ("s.json", "[]", "it has no JSON records: there is none"),
    "blanks": ("s.ndjson", " \n\n", "it is empty"),
    "half a character in JSON": ("s.ndjson", '{"\\ud800": 1}', "a name or text in it is not valid Unicode"),
    "bottomless JSON": ("s.ndjson", '{"a":' * 100000, "a value in it cannot be read"),
    "endless digits": ("s.ndjson", '{"a": ' + "9" * 5000 + "}", "a value in it cannot be read"),
    "a header alone": ("s.csv", "a,b\n", "it has no rows below its header"),
    "a ragged row": ("s.csv", "a,b\n1\n", "Expected 2 columns, got 1".replace("E", "e")),
}


@pytest.mark.parametrize("case", TEXTS)
def test_refuse_a_text(folder: Path, capsys: pytest.CaptureFixture[str], case: str) -> None:
    name, text, reason = TEXTS[case]
    (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    arguments = ("--from", "spark") if reason.startswith("it is not a StructType: the") else ()
    found = refusal(capsys, name, *arguments)
    assert reason.lower() in found["message"].lower()
    if name.endswith((".sql", ".txtpb", ".ndjson")) and "field" not in found["message"]:
        has_place = (
            "two fields" in reason or found["line"] >= 1 or "empty" in reason or "unicode" in reason.lower()
        )
        assert has_place


BYTES: dict[str, tuple[str, bytes, str]] = {
    "nothing": ("s.parquet", b"", "it is empty"),
    "noise": ("s.parquet", b"\x00\x01" * 100, "it is not a Parquet file"),
    "a picture as CSV": ("s.csv", b"\x89PNG\r\n\x1a\n\x00\x00", "it is not UTF-8: byte 0x89 in line 1"),
    "zeros as CSV": ("s.csv", b"\x00" * 100, "it is a binary file"),
    "zeros as NDJSON": ("s.ndjson", b"\x00" * 100, "it is a binary file"),
    "Latin-1 as CSV": ("s.csv", b"a,b\n1,caf\xe9\n", "it is not UTF-8: byte 0xe9 in line 2"),
    "Latin-1 as DDL": ("s.sql", b"a INT COMMENT 'caf\xe9'", "it is not UTF-8: byte 0xe9 at 18"),
    "Latin-1 as JSON": ("s.json", b'{"type":"struct","fields":["\xe9"]}', "it is not valid JSON"),
    "noise as a message": ("s.binpb", b"\xff\xfe\xfd", "it is not a Lance schema"),
    "a message of something else": ("s.binpb", b"\x9a\x06\x01x", "it has no fields"),
    "noise as text of a message": ("s.txtpb", b"\xff", "it is not UTF-8"),
    "noise as Arrow": ("s.arrow", b"ARROW1\x00\x00noise", "it is not Arrow data"),
    "a file of a table": ("s.lance", b"\x00\x01", "it is only one file of a Lance table"),
}


@pytest.mark.parametrize("case", BYTES)
def test_refuse_bytes(folder: Path, capsys: pytest.CaptureFixture[str], case: str) -> None:
    name, content, reason = BYTES[case]
    (folder / name).write_bytes(content)
    assert reason in refusal(capsys, name)["message"]


@pytest.mark.parametrize("format", ["parquet", "lance", "csv", "ndjson", "ddl", "spark", "arrow"])
def test_refuse_an_empty_folder(folder: Path, capsys: pytest.CaptureFixture[str], format: str) -> None:
    (folder / "nothing").mkdir()
    refusal(capsys, "nothing", "--from", format)


def test_refuse_a_pipe(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(folder / "rows.csv")
    assert "neither a file nor a folder" in refusal(capsys, "rows.csv")["message"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_refuse_what_may_not_be_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "rows.csv").write_text("a\n1\n")
    (folder / "rows.csv").chmod(0)
    assert "permission denied" in refusal(capsys, "rows.csv")["message"]


def test_refuse_a_name_that_is_too_long(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "too long" in refusal(capsys, "x" * 5000)["message"]


@pytest.fixture
def table(folder: Path) -> Path:
    (dataset,) = schemac.compile_file(MANIFEST)
    lance.write_dataset(dataset.to_arrow().empty_table(), "t.lance")
    return folder / "t.lance"


def test_read_a_table_without_its_data(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in (table / "data").glob("*"):
        file.unlink()
    assert outcome(capsys, "t.lance") == []


def test_refuse_a_table_without_versions(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in (table / "_versions").glob("*"):
        file.unlink()
    refusal(capsys, "t.lance")


def test_refuse_a_table_with_half_a_version(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (version,) = (table / "_versions").glob("*.manifest")
    content = version.read_bytes()
    for cut in (0, 1, 8, len(content) // 2, len(content) - 16, len(content) - 1):
        version.write_bytes(content[:cut])
        refusal(capsys, "t.lance")


class PanicException(BaseException):
    """As the failures inside of Lance are called; they are no Exceptions."""


def test_refuse_a_table_that_lance_fails_on(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: str) -> None:
        raise PanicException("Unsupported logical type: x")

    monkeypatch.setattr(lance, "dataset", fail)
    assert "Lance failed to read it: unsupported logical type: x" in refusal(capsys, "t.lance")["message"]


def test_survive_a_version_whose_bytes_flipped(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (version,) = (table / "_versions").glob("*.manifest")
    content, chance = version.read_bytes(), random.Random(3)
    for _ in range(40):
        mutated = bytearray(content)
        mutated[chance.randrange(len(mutated))] = chance.randrange(256)
        version.write_bytes(mutated)
        for found in outcome(capsys, "t.lance"):
            assert found["file"] == "t.lance"


def _arrow_file(schema: pa.Schema) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as writer:
        writer.write_table(schema.empty_table())
    return bytes(sink.getvalue())


def _parquet_file(schema: pa.Schema) -> bytes:
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(schema.empty_table(), sink)
    return bytes(sink.getvalue())


def _sources() -> dict[str, Callable[[schemac.Dataset], bytes]]:
    """A sound file of each format by its name."""
    return {
        "s.arrow": lambda d: _arrow_file(d.to_arrow()),
        "m.arrow": lambda d: d.to_arrow().serialize().to_pybytes(),
        "s.parquet": lambda d: _parquet_file(d.to_arrow()),
        "s.binpb": lambda d: d.to_lance().SerializeToString(),
        "s.txtpb": lambda d: str(d.to_lance()).encode(),
        "s.json": lambda d: json.dumps(d.to_spark()).encode(),
        "s.sql": lambda d: d.to_spark_ddl().encode(),
        "s.csv": lambda d: b"a,b,c\n" + b'1,x,2020-01-01\n2,"y\nz",\n' * 9,
        "s.ndjson": lambda d: b'{"a": 1, "b": [{"c": "x"}]}\n' * 9,
    }


@pytest.fixture
def sound(folder: Path, request: pytest.FixtureRequest) -> tuple[str, bytes]:
    (dataset,) = schemac.compile_file(MANIFEST)
    name: str = request.param
    return name, _sources()[name](dataset)


@pytest.mark.parametrize("sound", ["s.arrow", "s.parquet"], indirect=True)
def test_refuse_a_file_that_is_cut_anywhere(
    sound: tuple[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    name, content = sound
    for cut in [*range(16), *range(16, len(content), max(1, len(content) // 40)), len(content) - 1]:
        Path(name).write_bytes(content[:cut])
        assert "it is" in refusal(capsys, name)["message"]


@pytest.mark.parametrize("sound", ["m.arrow", "s.binpb", "s.txtpb", "s.json", "s.sql"], indirect=True)
def test_survive_a_text_that_is_cut_anywhere(
    sound: tuple[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    name, content = sound
    for cut in range(0, len(content), max(1, len(content) // 40)):
        Path(name).write_bytes(content[:cut])
        outcome(capsys, name)


@pytest.mark.parametrize("sound", _sources(), indirect=True)
def test_survive_bytes_that_flipped(sound: tuple[str, bytes], capsys: pytest.CaptureFixture[str]) -> None:
    name, content = sound
    chance = random.Random(7)
    for _ in range(60):
        mutated = bytearray(content)
        for _ in range(chance.choice((1, 1, 2, 5))):
            at = chance.randrange(len(mutated))
            form = chance.randrange(3)
            if form == 0:
                mutated[at] ^= 1 << chance.randrange(8)
            elif form == 1:
                mutated[at] = chance.randrange(256)
            else:
                del mutated[at : at + chance.randrange(1, 9)]
        Path(name).write_bytes(mutated)
        for found in outcome(capsys, name):
            assert found["code"].startswith(("SC5", "SC3", "SC2"))
            assert found["file"] == name


def test_refuse_a_decimal_that_no_kind_admits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = pa.schema([pa.field("a", pa.decimal128(5, 1000)), pa.field("b", pa.int8())])
    (folder / "s.arrow").write_bytes(schema.serialize().to_pybytes())
    (found,) = outcome(capsys, "s.arrow")
    assert (found["code"], found["path"]) == ("SC551", "a")
    assert found["help"] == "leave the column out with `--skip 'a'`"
    assert outcome(capsys, "s.arrow", "--skip", "a") == []
    assert "# left out: a\n" in (folder / "m.yaml").read_text()


def test_skip_a_column_of_a_table_that_no_kind_admits(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = [
        {"id": id, "name": name, "type": type_} for id, name, type_ in ((0, "a", "INT"), (1, "g", "GEOMETRY"))
    ]
    table = {"version": 3, "id": 0, "fields": fields, "highestFieldId": 1, "timeMillis": 1}
    empty: dict[str, Any] = {"partitionKeys": [], "primaryKeys": [], "options": {}}
    (folder / "t/schema").mkdir(parents=True)
    (folder / "t/schema/schema-0").write_text(json.dumps({**table, **empty}))
    (found,) = outcome(capsys, "t")
    assert (found["code"], found["path"]) == ("SC551", "g")
    assert outcome(capsys, "t", "--skip", "g") == []
    assert "# left out: g\n" in (folder / "m.yaml").read_text()


@pytest.mark.parametrize("name", ["s.arrow", "s.json"])
def test_keep_no_part_of_a_key_whose_column_no_kind_admits(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """What is left identifies no rows."""
    mark = "lance-schema:unenforced-primary-key"
    marks = [{mark: "true", f"{mark}:position": position} for position in ("2", "1")]
    if name == "s.arrow":
        types = (pa.month_day_nano_interval(), pa.int64())
        fields = [pa.field(n, t, False, metadata=m) for n, t, m in zip("ab", types, marks, strict=True)]
        content = pa.schema(fields).serialize().to_pybytes()
    else:
        members = [
            {"name": n, "type": t, "nullable": False, "metadata": m}
            for n, t, m in zip("ab", ("interval year to month", "long"), marks, strict=True)
        ]
        content = json.dumps({"type": "struct", "fields": members}).encode()
    (folder / name).write_bytes(content)
    assert [found["code"] for found in outcome(capsys, name)] == ["SC551"]
    assert outcome(capsys, name, "--skip", "a") == []
    text = (folder / "m.yaml").read_text()
    assert "# not kept: PRIMARY KEY (b, a)\n" in text
    (dataset,) = schemac.compile_text(text)
    assert [(field.name, field.extra) for field in dataset.schema.fields] == [("b", {})]


def test_keep_no_part_of_a_key_without_its_member(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The struct has another member without a kind, so it is left out with its part of the key."""
    mark = {"lance-schema:unenforced-primary-key": "true"}
    parts = [pa.field("id", pa.int64(), False, metadata=mark), pa.field("odd", pa.month_day_nano_interval())]
    fields = [pa.field("a", pa.int64(), False, metadata=mark), pa.field("ref", pa.struct(parts), False)]
    (folder / "s.arrow").write_bytes(pa.schema(fields).serialize().to_pybytes())
    assert [found["code"] for found in outcome(capsys, "s.arrow")] == ["SC551"]
    assert outcome(capsys, "s.arrow", "--skip", "ref") == []
    text = (folder / "m.yaml").read_text()
    assert "# not kept: PRIMARY KEY (a, ref)\n" in text
    (dataset,) = schemac.compile_text(text)
    assert [(field.name, field.extra) for field in dataset.schema.fields] == [("a", {})]


def test_skip_only_what_is_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "s.csv").write_text("day,rain\n2020-01-01,1\n")
    (found,) = outcome(capsys, "s.csv", "--skip", "rian")
    assert found["message"] == "s.csv has no column 'rian' to leave out"
    assert found["help"] == "did you mean `--skip rain`?"


def test_say_what_a_source_looks_like(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Contracts of one standard are easily taken for those of the other."""
    contract = tmp_path / "contract.yaml"
    contract.write_text(
        "kind: DataContract\napiVersion: v3.0.2\nid: x\nstatus: active\nversion: 1.0.0\n"
        "schema: [{name: t, properties: [{name: a, logicalType: string}]}]\n"
    )
    assert main(["import", str(contract), "--from", "datacontract"]) == 1
    said = " ".join("".join(capsys.readouterr()).split())
    assert "it is recognized as odcs: leave `--from` out, or write `--from odcs`" in said
    assert main(["import", str(contract), "--from", "odcs"]) == 0


@pytest.mark.parametrize("content", [b"", b"create tabel x (a int);", b"\xb4\x00"])
@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "snowflake", "bigquery"])
def test_name_no_format_that_does_not_read_it_either(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], dialect: str, content: bytes
) -> None:
    (tmp_path / "x.sql").write_bytes(content)
    assert main(["import", str(tmp_path / "x.sql"), "--from", dialect]) == 1
    said = "".join(capsys.readouterr())
    assert "SC552" in said
    assert "--from" not in said
