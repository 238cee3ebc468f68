"""Messages compiled by protoc, and rows that go through them."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

import schemac
from schemac.cli.main import main
from schemac.engines.protobuf import PROTOBUF_NUMBER, PROTOBUF_TYPE
from tests.engines.crossing import PLACES, held, refused, title

protoc = pytest.importorskip("grpc_tools.protoc")

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory  # noqa: E402


def compiled(folder: Path, content: bytes) -> descriptor_pb2.FileDescriptorProto:
    """The file as protoc understands it, with its comments. Raises AssertionError where it does not."""
    (folder / "a.proto").write_bytes(content)
    common = Path(str(importlib.util.find_spec("grpc_tools").submodule_search_locations[0])) / "_proto"  # type: ignore[union-attr, index]
    arguments = [
        "protoc",
        f"-I{folder}",
        f"-I{common}",
        "--include_imports",
        f"--descriptor_set_out={folder / 'a.bin'}",
        "a.proto",
    ]
    assert protoc.main(arguments) == 0
    found = descriptor_pb2.FileDescriptorSet.FromString((folder / "a.bin").read_bytes())
    return found.file[-1]


def file_of(dataset: schemac.Dataset) -> bytes:
    ((_, content),) = dataset.artifacts("protobuf").items()
    return content


def message(file: descriptor_pb2.FileDescriptorProto) -> Any:
    """The class of the table's messages."""
    pool = descriptor_pool.DescriptorPool()
    from google.protobuf import duration_pb2, timestamp_pb2, wrappers_pb2

    for known in (timestamp_pb2, duration_pb2, wrappers_pb2):
        pool.AddSerializedFile(known.DESCRIPTOR.serialized_pb)
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(file.message_type[0].name))


VALUES: dict[int, Any] = {
    1: 1.5, 2: 0.5, 3: -(2**63), 4: 2**64 - 1, 5: -(2**31), 8: True, 9: "é", 12: b"\x00\xff", 13: 2**32 - 1,
}  # fmt: skip
"""Values by the number of a scalar type."""


def fill(found: Any, depth: int = 0) -> None:
    """Set every field of a message, of lists and maps one entry."""
    if found.DESCRIPTOR.full_name.startswith("google.protobuf."):
        found.seconds, found.nanos = 1_700_000_000, 123_456_789
        return
    for field in found.DESCRIPTOR.fields:
        is_message = field.message_type is not None
        if is_message and field.message_type.GetOptions().map_entry:
            key, value = field.message_type.fields
            of_key = VALUES[key.type]
            if value.message_type is not None:
                fill(getattr(found, field.name)[of_key], depth + 1)
            else:
                getattr(found, field.name)[of_key] = VALUES[value.type]
        elif is_message and field.is_repeated:
            fill(getattr(found, field.name).add(), depth + 1)
        elif is_message:
            getattr(found, field.name).SetInParent()
            fill(getattr(found, field.name), depth + 1)
        elif field.is_repeated:
            getattr(found, field.name).append(VALUES[field.type])
        else:
            setattr(found, field.name, VALUES[field.type])


@pytest.mark.parametrize("place", PLACES)
def test_compile_every_type_in_every_place(place: str, tmp_path: Path) -> None:
    """Refused is what is always null; rows go through bytes and JSON and are the same."""
    why = refused("protobuf", place)
    assert set(why.values()) <= {PROTOBUF_TYPE.id}
    assert {title(name) for name in why} <= {"Null"}
    dataset = held("protobuf", place)
    row = message(compiled(tmp_path, file_of(dataset)))()
    fill(row)
    assert type(row).FromString(row.SerializeToString()) == row
    assert json_format.Parse(json_format.MessageToJson(row), type(row)()) == row


@pytest.mark.parametrize("place", PLACES)
def test_tell_what_may_be_absent(place: str, tmp_path: Path) -> None:
    """What may be null can be absent and be told from what is there; what may not, and can be absent, is a loss."""
    dataset = held("protobuf", place)
    fields = {f.name: f for f in compiled(tmp_path, file_of(dataset)).message_type[0].field}
    lost = {loss.path for loss in dataset.losses("protobuf") if loss.lost == "a value that is always there"}
    for column in dataset._logical.columns:
        field = fields[str(column.segment)]
        has_presence = field.proto3_optional or (
            field.type == field.TYPE_MESSAGE and field.label != field.LABEL_REPEATED
        )
        assert has_presence == (column.is_nullable or column.path_text in lost), title(field.name)


SCHEMA = "name: trips\nfields:\n"


def numbers(file: descriptor_pb2.FileDescriptorProto) -> dict[str, int]:
    return {field.name: field.number for field in file.message_type[0].field}


def test_never_use_a_number_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids of the lock are the numbers; what was dropped is reserved, also in a struct that was renamed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemac.toml").write_text('targets = ["protobuf"]\n')
    struct = "  - {name: s, type: {kind: Struct, fields: [{name: x, type: Int32}, {name: y, type: Int32}]}}\n"
    (tmp_path / "trips.yaml").write_text(
        f"{SCHEMA}  - {{name: a, type: Int32}}\n  - {{name: b, type: Int32}}\n{struct}"
    )
    assert main(["lock"]) == main(["build"]) == 0
    first = compiled(tmp_path, (tmp_path / "build/trips/protobuf/trips.proto").read_bytes())
    assert numbers(first) == {"a": 1, "b": 2, "s": 3}
    assert "protobuf" not in (tmp_path / "trips.lock").read_text()
    smaller = struct.replace("{name: y, type: Int32}", "{name: z, type: Int32}").replace(
        "name: s,", "name: t,"
    )
    (tmp_path / "trips.yaml").write_text(
        f"{SCHEMA}  - {{name: b, type: Int32}}\n{struct}  - {{name: c, type: Int32}}\n"
    )
    assert main(["lock", "trips.yaml", "--drop", "a"]) == 0
    assert main(["rename", "trips", "s", "t"]) == 0
    (tmp_path / "trips.yaml").write_text(
        f"{SCHEMA}  - {{name: b, type: Int32}}\n{smaller}  - {{name: c, type: Int32}}\n"
    )
    assert main(["lock", "trips.yaml", "--drop", "t.y"]) == main(["build"]) == 0
    second = compiled(tmp_path, (tmp_path / "build/trips/protobuf/trips.proto").read_bytes())
    assert numbers(second) == {"b": 2, "t": 3, "c": 6}
    table = second.message_type[0]
    assert [(r.start, r.end) for r in table.reserved_range] == [(1, 2)]
    assert list(table.reserved_name) == ["a"]
    assert [(r.start, r.end) for r in table.nested_type[0].reserved_range] == [(5, 6)]
    old, new = message(first), message(second)
    assert new.FromString(old(a=7, b=8, s={"x": 1, "y": 2}).SerializeToString()).t.x == 1


def test_refuse_numbers_that_are_kept() -> None:
    wide = SCHEMA + "".join(f"  - {{name: f{i}, type: Bool}}\n" for i in range(1, 19_002))
    report = schemac.compile_text(wide)[0]
    with pytest.raises(schemac.SchemaError) as caught:
        report.artifacts("protobuf")
    assert {d.code for d in caught.value.diagnostics} == {PROTOBUF_NUMBER.id} == {"SC597"}
    assert len(caught.value.diagnostics) == 2


NAMES = [
    "a",
    "class",
    "message",
    "a b",
    "1",
    "é",
    "mro",
    "_x",
    "optional",
    "reserved",
    "string",
    "Trips",
    "A_b_C",
    "x" * 200,
]


def test_name_fields_as_protobuf_takes_them(tmp_path: Path) -> None:
    fields = [
        {"name": name, "type": {"kind": "Struct", "fields": [{"name": "s", "type": {"kind": "Int8"}}]}}
        for name in NAMES
    ]
    (dataset,) = schemac.compile_text(json.dumps({"name": "odd-names/x", "fields": fields}))
    found = compiled(tmp_path, file_of(dataset))
    assert len(found.message_type[0].field) == len(NAMES)
    lost = {loss.path.strip("`") for loss in dataset.losses("protobuf") if loss.lost.startswith("the name")}
    assert lost == {"a b", "1", "é", "_x"}
