"""`schemac import`: what comes back from a source builds the same artifact again."""

import json
import re
from pathlib import Path

import lance
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import schemac
from schemac.cli.main import main

MANIFEST = Path(__file__).parents[2] / "examples/demo/rides.yaml"


@pytest.fixture
def rides() -> schemac.Dataset:
    (dataset,) = schemac.compile_file(MANIFEST)
    return dataset


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def imported(source: str, *arguments: str) -> schemac.Dataset:
    assert main(["import", source, "--out", "imported.yaml", *arguments]) == 0
    (dataset,) = schemac.compile_file("imported.yaml")
    return dataset


def test_import_the_schema_that_build_wrote(folder: Path, rides: schemac.Dataset) -> None:
    assert main(["build", str(MANIFEST)]) == 0
    again = imported("build/rides/arrow/schema.arrow", "--name", "rides")
    assert again.schema == rides.schema
    assert main(["build", "imported.yaml", "--out", "again"]) == 0
    for artifact in (
        "arrow/schema.arrow",
        "lance/schema.binpb",
        "spark/schema.json",
        "spark/create_table.sql",
    ):
        assert (folder / "again/rides" / artifact).read_bytes() == (
            folder / "build/rides" / artifact
        ).read_bytes()


@pytest.mark.parametrize("form", ["file", "stream"])
def test_import_arrow_data(folder: Path, rides: schemac.Dataset, form: str) -> None:
    schema = rides.to_arrow()
    with pa.OSFile("data.arrow", "wb") as sink:
        make = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
        with make(sink, schema) as writer:
            writer.write_table(schema.empty_table())
    assert imported("data.arrow").schema == rides.schema


def test_import_parquet(folder: Path, rides: schemac.Dataset) -> None:
    pa.parquet.write_table(rides.to_arrow().empty_table(), "rides.parquet")
    again = imported("rides.parquet")
    assert again.name == "rides"
    assert again.schema == rides.schema
    assert schemac.from_parquet("rides.parquet").schema == rides.schema


def test_import_the_spark_schema_that_build_wrote(folder: Path, rides: schemac.Dataset) -> None:
    assert main(["build", str(MANIFEST)]) == 0
    again = imported("build/rides/spark/schema.json", "--name", "rides")
    assert again.to_spark() == rides.to_spark()
    assert schemac.from_spark(rides.to_spark()).to_spark() == rides.to_spark()
    types = {f.name: f.type.type_text() for f in again.schema.fields}
    assert (types["embedding"], types["distance"]) == ("List<Float32>[16]", "Int64")


@pytest.mark.parametrize("source", ["t.lance", "build/manifest/lance/schema.binpb"])
def test_import_attributes_in_one_order(folder: Path, source: str) -> None:
    """Lance keeps metadata without an order, so what is imported twice has to be sorted to be the same text."""
    keys = [f"acme.com/k{n}" for n in range(12)]
    extra = f"{{{', '.join(f'{key}: {key[-1]}' for key in reversed(keys))}}}"
    text = f"extra: {extra}\nfields: [{{name: s, type: {{kind: Struct, fields: [{{name: a, type: Int32, extra: {extra}}}]}}}}]\n"
    Path("manifest.yaml").write_text(text)
    (dataset,) = schemac.compile_file("manifest.yaml")
    lance.write_dataset(dataset.to_arrow().empty_table(), "t.lance")
    assert main(["build", "manifest.yaml"]) == 0
    assert main(["import", source, "--out", "imported.yaml"]) == 0
    (again,) = schemac.compile_file("imported.yaml")
    columns = again.schema.model_dump()["fields"]
    for attributes in (again.schema.extra, columns[0]["type"]["fields"][0]["extra"]):
        assert [key for key in attributes if key in keys] == sorted(keys)


@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_import_a_lance_table(folder: Path, version: str) -> None:
    text = """
    name: t
    extra: {lance.org/storageVersion: "VERSION", acme.com/owner: me}
    fields:
      - name: id
        type: String
        extra: {lance.org/primaryKey: {position: 1}}
      - name: body
        type: {kind: Option, inner: Binary}
        extra: {lance.org/blob: {}}
      - name: vector
        type: {kind: List, itemType: {kind: Option, inner: Float32}, fixedLength: 8}
        extra: {lance.org/floatEncoding: {format: bfloat16}}
      - name: document
        type: {kind: Option, inner: String}
        extra: {lance.org/json: true}
    """.replace("VERSION", version)
    (dataset,) = schemac.compile_text(text)
    lance.write_dataset(dataset.to_arrow().empty_table(), "t.lance", data_storage_version=version)
    again = imported("t.lance").to_lance()
    # What is imported is locked, and says so.
    assert re.fullmatch(rb"1-[0-9a-f]{16}", again.metadata.pop("schemac.version"))
    assert again == dataset.to_lance()
    assert schemac.from_lance("t.lance").to_lance() == dataset.to_lance()


def test_infer_csv(folder: Path) -> None:
    (folder / "w.csv").write_text("day,rain,name\n2012-01-01,0.5,x\n2012-01-02,,y\n")
    again = imported("w.csv")
    assert [(f.name, f.type.type_text()) for f in again.schema.fields] == [
        ("day", "Date"),
        ("rain", "Option<Float64>"),
        ("name", "String"),
    ]
    assert (folder / "imported.yaml").read_text().startswith("# inferred from 2 rows of w.csv")


def test_infer_ndjson(folder: Path) -> None:
    records = [
        {"id": 1, "tags": ["a"], "at": {"x": 1.5, "y": None}},
        {"id": 2, "tags": [], "at": {"x": 2, "y": "z"}},
    ]
    (folder / "r.ndjson").write_text("".join(json.dumps(r) + "\n" for r in records))
    again = imported("r.ndjson")
    assert [(f.name, f.type.type_text()) for f in again.schema.fields] == [
        ("id", "Int64"),
        ("tags", "List<String>"),
        ("at", "Struct<x, y>"),
    ]
    assert str(again.to_arrow().field("at").type) == "struct<x: double not null, y: string>"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.parquet", None, "there is no file or folder missing.parquet"),
        ("short.parquet", b"PAR1 too short", "cannot read short.parquet: it is not a Parquet file"),
        ("noise.arrow", b"\x00\x01noise", "cannot read noise.arrow: it is not Arrow data"),
        ("broken.ndjson", b'{"a": 1}\n{"a": ', "cannot read broken.ndjson: it has no JSON records"),
        ("array.json", b"[1, 2]", "cannot read array.json: it has no JSON records: a record has to be"),
        ("empty.csv", b"", "cannot read empty.csv: it is empty"),
        ("notes.txt", b"hello", "the format of notes.txt cannot be recognized from its name"),
        ("half.lance/_versions/.keep", b"", "cannot read half.lance: it is not a Lance table"),
    ],
)
def test_refuse_a_source_that_is_not_what_it_seems(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes | None, message: str
) -> None:
    path = folder / name
    if content is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    source = name.partition("/")[0]
    assert main(["import", source, "--out", "m.yaml", "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (found["code"], found["file"]) == ("SC552", source)
    assert found["message"].startswith(message)
    assert not (folder / "m.yaml").exists()


def test_refuse_a_type_without_a_kind(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = pa.schema(
        [pa.field("ok", pa.int8()), pa.field("s", pa.struct([pa.field("i", pa.month_day_nano_interval())]))]
    )
    (folder / "x.arrow").write_bytes(schema.serialize().to_pybytes())
    assert main(["import", "x.arrow"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "SC551" in shown.err
    assert "s.i: there is no kind for Arrow's month_day_nano_interval" in shown.err


def test_leave_a_file_that_is_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "w.csv").write_text("a\n1\n")
    (folder / "w.yaml").write_text("mine")
    assert main(["import", "w.csv", "--out", "w.yaml"]) == 1
    assert "w.yaml already exists" in capsys.readouterr().out
    assert (folder / "w.yaml").read_text() == "mine"
