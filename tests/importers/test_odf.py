"""`schemac import` from the standard's own forms: what is sound comes in, what is not is refused with a reason."""

import base64
import json
import struct
from pathlib import Path
from typing import Any

import flatbuffers
import pyarrow as pa
import pytest

import schemac
from schemac.cli.main import main
from schemac.importers.sources import import_source
from schemac.text.source.diagnostics import Report
from tests.laws.test_odf import _raw

MANIFEST = Path(__file__).parents[2] / "examples/demo/rides.yaml"
RAW = base64.b64encode(
    _raw(pa.schema([pa.field("a", pa.large_string(), nullable=False), pa.field("t", pa.timestamp("us"))]))
).decode()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def imported(source: str, *arguments: str) -> schemac.Dataset:
    assert main(["import", source, "--out", "imported.yaml", *arguments]) == 0
    (dataset,) = schemac.compile_file("imported.yaml")
    return dataset


@pytest.mark.parametrize("file", ["schema.yaml", "schema.bin"])
def test_import_what_build_wrote(folder: Path, file: str) -> None:
    assert main(["build", str(MANIFEST)]) == 0
    again = imported(f"build/rides/odf/{file}", "--name", "rides")
    assert main(["build", "imported.yaml", "--out", "again"]) == 0
    for name in ("schema.yaml", "schema.bin"):
        first, second = (folder / out / "rides/odf" / name for out in ("build", "again"))
        assert first.read_bytes() == second.read_bytes()
    (rides,) = schemac.compile_file(MANIFEST)
    assert again.to_odf() == rides.to_odf()


@pytest.mark.parametrize("form", ["snapshot", "resource"])
def test_import_the_name_of_a_document(folder: Path, form: Any) -> None:
    (rides,) = schemac.compile_file(MANIFEST)
    (folder / "x.yml").write_text(rides.to_odf(form))
    again = imported("x.yml")
    assert (again.name, again.schema) == (rides.name, rides.schema)
    assert schemac.from_odf("x.yml").schema == rides.schema
    assert schemac.from_odf(folder / "x.yml").name == "rides"


def test_write_a_friendly_manifest(folder: Path) -> None:
    (folder / "x.yaml").write_text(
        "- kind: SetDataSchema\n  schema:\n    fields:\n      - name: a\n        type: {kind: Int32}\n"
        "        extra: {opendatafabric.org/description: what it is}\n"
    )
    imported("x.yaml")
    assert (folder / "imported.yaml").read_text() == (
        "name: x\nfields:\n  - {name: a, description: what it is, type: Int32}\n"
    )


@pytest.mark.parametrize(
    "document",
    [
        f"kind: SetDataSchema\nrawArrowSchema: {RAW}\n",
        f"- kind: SetVocab\n- kind: SetDataSchema\n  rawArrowSchema: {RAW}\n",
        f"kind: MetadataEvent\nversion: 1\ncontent:\n  kind: SetDataSchema\n  rawArrowSchema: {RAW}\n",
    ],
)
def test_import_an_arrow_schema_in_text(folder: Path, document: str) -> None:
    (folder / "x.yaml").write_text(document)
    again = imported("x.yaml")
    assert [(f.name, f.type.type_text()) for f in again.schema.fields] == [
        ("a", "String"),
        ("t", "Option<Timestamp(Microsecond, no zone)>"),
    ]
    assert again.to_arrow().field("a").type == pa.string(), "encodings are left out"
    assert (folder / "imported.yaml").read_text().startswith("# from Arrow's binary form")


@pytest.mark.parametrize("word", [b"abcdef", b"inner", b"Asia/Tokyo"])
def test_refuse_texts_that_are_not_utf8(folder: Path, word: bytes) -> None:
    inner = pa.struct([pa.field("inner", pa.int8())])
    schema = pa.schema([pa.field("abcdef", pa.timestamp("us", "Asia/Tokyo")), pa.field("s", inner)])
    damaged = _raw(schema).replace(word, b"\xff" * len(word))
    assert "is not UTF-8" in _message(_event(damaged))
    (folder / "x.arrow").write_bytes(schema.serialize().to_pybytes().replace(word, b"\xff" * len(word)))
    with pytest.raises(schemac.SchemaError, match="is not UTF-8"):
        from_file("x.arrow")


def test_import_the_name_beside_an_arrow_schema() -> None:
    document = (
        "kind: DatasetSnapshot\nversion: 1\ncontent:\n  name: acme.rides\n  kind: Root\n"
        f"  metadata:\n    - kind: SetDataSchema\n      rawArrowSchema: {RAW}\n"
    )
    assert schemac.from_odf(document).name == "acme.rides"


def test_import_an_arrow_schema_in_bytes() -> None:
    assert [f.name for f in schemac.from_odf(_event(base64.b64decode(RAW))).schema.fields] == ["a", "t"]


def _event(raw: bytes) -> bytes:
    """A SetDataSchema event of old, by the `flatbuffers` package."""
    builder = flatbuffers.Builder()
    content = builder.CreateByteVector(raw)
    builder.StartObject(2)
    builder.PrependUOffsetTRelativeSlot(0, content, 0)
    builder.Finish(builder.EndObject())
    return bytes(builder.Output())


def test_prefer_the_later_schema_to_an_arrow_schema() -> None:
    (dataset,) = schemac.compile_text(
        f"- {{kind: SetDataSchema, rawArrowSchema: {RAW}}}\n"
        "- {kind: SetDataSchema, schema: {fields: [{name: new, type: Int8}]}}\n"
    )
    assert [f.name for f in dataset.schema.fields] == ["new"]


def test_read_what_another_writer_wrote() -> None:
    """A buffer by the library's own builder, with defaults left out and tables in its order."""
    builder = flatbuffers.Builder()
    name, extra = builder.CreateString("a"), builder.CreateString('{"x.y/z":[1,{"k":null}]}')
    builder.StartObject(1)
    builder.PrependUOffsetTRelativeSlot(0, extra, 0)
    extra = builder.EndObject()
    builder.StartObject(2)
    builder.PrependUint32Slot(0, 7, 0)
    type_ = builder.EndObject()
    builder.StartObject(4)
    builder.PrependUOffsetTRelativeSlot(0, name, 0)
    builder.PrependUint8Slot(1, 4, 0)
    builder.PrependUOffsetTRelativeSlot(2, type_, 0)
    builder.PrependUOffsetTRelativeSlot(3, extra, 0)
    field = builder.EndObject()
    builder.StartVector(4, 1, 4)
    builder.PrependUOffsetTRelative(field)
    fields = builder.EndVector()
    table = fields
    for schema_field in (0, 1):
        builder.StartObject(2)
        builder.PrependUOffsetTRelativeSlot(schema_field, table, 0)
        table = builder.EndObject()
    builder.Finish(table)
    dataset = schemac.from_odf(bytes(builder.Output()))
    (field,) = dataset.schema.fields
    assert (field.name, field.type.type_text(), field.extra) == (
        "a",
        "Decimal(7, 0)",
        {"x.y/z": [1, {"k": None}]},
    )


def from_file(name: str) -> None:
    report = Report()
    import_source(Path(name), None, report)
    raise schemac.SchemaError(report.diagnostics)


def _message(content: bytes, code: str = "SC552") -> str:
    with pytest.raises(schemac.SchemaError) as raised:
        schemac.from_odf(content)
    (found,) = raised.value.diagnostics
    assert (found.code, found.file) == (code, "<odf>")
    return found.message


def test_refuse_every_truncation() -> None:
    (dataset,) = schemac.compile_text(
        "fields: [{name: a, type: {kind: Struct, fields: [{name: b, type: String}]}}]"
    )
    content = dataset.to_odf_flatbuffers()
    assert all("it is not a SetDataSchema event" in _message(content[:end]) for end in range(8, len(content)))


def _words(*words: int) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def test_refuse_a_reference_to_itself() -> None:
    # A vtable of two fields, and a table whose second field refers to its own place.
    vtable, table = struct.pack("<4H", 8, 8, 0, 4), struct.pack("<iI", 8, 0)
    assert "leads nowhere" in _message(_words(12) + vtable + table)
    assert "it contains no schema" in _message(_words(8) + struct.pack("<HHi", 4, 4, 4))


def _nested(levels: int) -> bytes:
    type_ = "Int8"
    for _ in range(levels):
        type_ = f"{{kind: List, itemType: {type_}}}"
    (dataset,) = schemac.compile_text(f"fields:\n  - name: a\n    type: {type_}\n")
    return dataset.to_odf_flatbuffers()


def test_read_as_deep_as_a_manifest_may_be() -> None:
    dataset = schemac.from_odf(_nested(180))
    assert dataset.to_odf_flatbuffers() == _nested(180)


def test_refuse_tables_that_never_end(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = _nested(180)
    monkeypatch.setattr("schemac.engines.odf.binary.MAX_DEPTH", 100)
    assert "nested more than 100 levels deep" in _message(deep)


def test_refuse_more_bytes_than_the_format_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schemac.engines.odf.binary.MAX_BYTES", 100)
    assert "longer than 100 bytes" in _message(_nested(10))


def test_refuse_a_vtable_or_a_table_that_reaches_outside() -> None:
    # A reference to the table, its vtable (length, length of the table), the table.
    for vtable_size, size in ((400, 4), (4, 400), (5, 4), (2, 4), (4, 2)):
        message = _message(_words(8) + struct.pack("<HHi", vtable_size, size, 4))
        assert "is outside its 12 bytes" in message or "has no vtable" in message
    for back in (12, -4, 2**31 - 1, -(2**31)):
        assert "is outside its 12 bytes" in _message(_words(8) + struct.pack("<HHi", 4, 4, back))


def test_refuse_a_few_bytes_that_unfold_to_many() -> None:
    """Each Struct has two members whose type is the next Struct: forty levels are a million million tables."""
    builder = flatbuffers.Builder()
    name = builder.CreateString("a")
    builder.StartObject(0)
    type_, tag = builder.EndObject(), 2
    for _ in range(40):
        members = []
        for _ in range(2):
            builder.StartObject(4)
            builder.PrependUOffsetTRelativeSlot(0, name, 0)
            builder.PrependUint8Slot(1, tag, 0)
            builder.PrependUOffsetTRelativeSlot(2, type_, 0)
            members.append(builder.EndObject())
        builder.StartVector(4, 2, 4)
        for member in members:
            builder.PrependUOffsetTRelative(member)
        fields = builder.EndVector()
        builder.StartObject(1)
        builder.PrependUOffsetTRelativeSlot(0, fields, 0)
        type_, tag = builder.EndObject(), 21
    builder.StartObject(2)
    builder.PrependUOffsetTRelativeSlot(1, type_, 0)
    builder.Finish(builder.EndObject())
    assert "refer to each other endlessly" in _message(bytes(builder.Output()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((b'{"x.y/z":1}', b'{"x.y/z":1]'), "attributes are not valid JSON"),
        ((b'{"x.y/z":1}', b'["x.y/z",1]'), "attributes are not a JSON object"),
        ((b'{"x.y/z":1}', b'    "x.y/z"'), "attributes are not a JSON object"),
        ((b'{"x.y/z":1}', b'{"x.y/z":\xff}'), "is not UTF-8"),
    ],
)
def test_refuse_attributes_that_are_none(change: tuple[bytes, bytes], message: str) -> None:
    (dataset,) = schemac.compile_text("fields: [{name: a, type: Int8, extra: {x.y/z: 1}}]")
    assert message in _message(dataset.to_odf_flatbuffers().replace(*change))


def test_refuse_a_scale_that_arrow_may_have() -> None:
    schema = pa.schema([pa.field("a", pa.decimal128(5, 100))])
    assert "a: `scale` has to be at most 76" in _message(_event(_raw(schema)), "SC551")
    with pytest.raises(schemac.SchemaError, match="a: `scale` has to be at most 76"):
        schemac.from_arrow(schema)


def test_refuse_numbers_that_no_schema_may_have() -> None:
    (dataset,) = schemac.compile_text("fields: [{name: a, type: {kind: Decimal, precision: 54, scale: 2}}]")
    content = dataset.to_odf_flatbuffers().replace(_words(54, 2), _words(154, 2))
    assert "a: `precision` has to be at most 76" in _message(content, "SC551")


@pytest.mark.parametrize(
    ("name", "content", "code", "message"),
    [
        ("noise.bin", b"\x00\x01noise", "SC552", "it is not a SetDataSchema event: "),
        ("short.bin", b"\x00", "SC552", "it is not a SetDataSchema event: "),
        ("raw.yaml", b"kind: SetDataSchema\nrawArrowSchema: '%'\n", "SC552", "is not base64"),
        ("raw.yaml", b"kind: SetDataSchema\nrawArrowSchema: Zm9v\n", "SC552", "it is too short"),
        ("raw.yaml", b"kind: SetDataSchema\nrawArrowSchema: Zm9vYmFyYmF6cXV4\n", "SC552", "is malformed"),
        (
            "raw.yaml",
            b"kind: SetDataSchema\nrawArrowSchema: //////////8=\n",
            "SC552",
            "its root is out of bounds",
        ),
        ("typo.yaml", b"fields: [{name: a, type: Strin}]\n", "SC201", "there is no kind 'Strin'"),
        ("latin.yaml", b"fields: [{name: \xe4, type: String}]\n", "SC103", "is not UTF-8"),
    ],
)
def test_refuse_what_is_none_of_the_forms(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, code: str, message: str
) -> None:
    (folder / name).write_bytes(content)
    assert main(["import", name, "--out", "m.yaml", "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (found["code"], found["file"]) == (code, name)
    assert message in found["message"]
    assert not (folder / "m.yaml").exists()
