"""The classes of Lance's schema message: their pool, and what they do not know."""

import pickle
import subprocess
import sys
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import schemac
from schemac.cli.main import main
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.artifact import unknown_fields
from tests.effort import every_nth

ROOT = Path(__file__).parents[3]
MANIFEST = "name: t\nfields:\n  - {name: a, type: Int32}\n"
OURS = f"""
import schemac
(dataset,) = schemac.compile_text({MANIFEST!r})
ours = dataset.to_lance()
"""
OFFICIAL = """
import importlib
official = importlib.import_module("{module}")
"""
COMPARED = """
assert ours.DESCRIPTOR.full_name == official.Schema.DESCRIPTOR.full_name == "lance.file.Schema"
assert official.Schema.FromString(ours.SerializeToString()).fields[0].name == "a"
assert type(ours).FromString(official.Schema(fields=[{"name": "b"}]).SerializeToString()).fields[0].name == "b"
assert schemac.from_arrow(dataset.to_arrow(), name="t").to_lance() == ours
"""


@pytest.mark.parametrize(
    ("type_", "encoding"),
    [
        (pa.struct([("x", pa.int8())]), "NONE"),
        (pa.int32(), "PLAIN"),
        (pa.string(), "VAR_BINARY"),
        (pa.dictionary(pa.int8(), pa.string()), "DICTIONARY"),
    ],
    ids=str,
)
def test_name_the_encodings_of_the_definition(type_: pa.DataType, encoding: str) -> None:
    field = schemac.from_arrow(pa.schema([("x", type_)]), name="t").to_lance().fields[0]
    assert field.encoding == dict(pb.Field.Encoding.items())[encoding]


@pytest.mark.parametrize("runtime", ["upb", "python"])
@pytest.mark.parametrize("file", every_nth(["lance/file.proto", "file.proto", "protos/file.proto"], 3))
@pytest.mark.parametrize("order", ["ours first", "theirs first"])
def test_share_a_program_with_messages_of_the_same_name(
    tmp_path: Path, runtime: str, file: str, order: str
) -> None:
    """Lance's own definition registers the same package and names, under whatever path it was compiled."""
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((ROOT / "protos/lance/file.proto").read_bytes())
    out = tmp_path / "generated"
    out.mkdir()
    command = ["-m", "grpc_tools.protoc", f"-I{tmp_path}", f"--python_out={out}", str(path)]
    subprocess.run([sys.executable, *command], check=True)
    (generated,) = out.rglob("*_pb2.py")
    theirs = OFFICIAL.format(module=generated.stem)
    program = (OURS + theirs if order == "ours first" else theirs + OURS) + COMPARED
    environment = {
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": runtime,
        "PYTHONPATH": f"{ROOT}:{generated.parent}",
    }
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def test_pickle_a_message() -> None:
    (dataset,) = schemac.compile_text(MANIFEST)
    assert pickle.loads(pickle.dumps(dataset.to_lance())) == dataset.to_lance()


def test_name_fields_of_a_newer_lance_on_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Field 77 is a number, 78 a text; one is the column's, one the item's below it, one the schema's."""
    monkeypatch.chdir(tmp_path)
    (dataset,) = schemac.compile_text(
        "name: t\nfields:\n  - {name: a, type: {kind: List, itemType: Int32}}\n"
    )
    column, item = dataset.to_lance().fields
    column.MergeFromString(bytes([0xE8, 0x04, 5]))
    item.MergeFromString(bytes([0xF2, 0x04, 2]) + b"hi")
    schema = pb.Schema(fields=[column, item])
    schema.MergeFromString(bytes([0xE8, 0x04, 6]))
    Path("t.binpb").write_bytes(schema.SerializeToString())
    assert main(["import", "t.binpb"]) == 0
    text = capsys.readouterr().out
    assert [line.strip(" #") for line in text.splitlines() if "not kept" in line] == [
        "not kept: 77: 6 in Lance's message, a field that schemac does not know",
        "not kept: 77: 5 in Lance's message, a field that schemac does not know",
        "not kept: 78: b'hi' in Lance's message, a field that schemac does not know",
    ]


def test_know_every_field_that_this_lance_writes(tmp_path: Path) -> None:
    """A pylance whose messages have more fields is one that somebody has to read the definition of."""
    key = {"lance-schema:unenforced-primary-key:position": "1"}
    schema = pa.schema(
        [
            pa.field("id", pa.int64(), nullable=False, metadata=key),
            pa.field("c", pa.dictionary(pa.int8(), pa.string())),
            pa.field("m", pa.map_(pa.string(), pa.list_(pa.struct([pa.field("x", pa.float32())])))),
            pa.field("v", pa.list_(pa.float16(), 4)),
        ]
    )
    rows = [{"id": 1, "c": "a", "m": [("k", [{"x": 1.0}])], "v": [1, 2, 3, 4]}]
    table = lance.write_dataset(pa.Table.from_pylist(rows, schema=schema), str(tmp_path / "t.lance"))
    _, *fields = table.lance_schema.__reduce__()[1]
    message = pb.Schema(fields=[pb.Field.FromString(bytes(field)) for field in fields])
    assert list(unknown_fields(message)) == []
