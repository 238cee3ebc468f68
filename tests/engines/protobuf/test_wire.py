"""Bytes of imported messages, read through what is built: each value is there, in the place where it was.

Shape: a file is drawn with every type, label and sort of message; its messages are filled, written, read with the class of the
artifact, and what that keeps is written again. The first class has to find the same in it.
"""

import importlib.util
import random
from pathlib import Path
from typing import Any

import pytest

from schemac.cli.main import main

protoc = pytest.importorskip("grpc_tools.protoc")

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # noqa: E402

SCALARS = (
    "bool", "string", "bytes", "float", "double", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64",
    "sfixed32", "sfixed64",
)  # fmt: skip
KEYS = tuple(type_ for type_ in SCALARS if type_ not in ("bytes", "float", "double"))
KNOWN = (
    *(f"google.protobuf.{name}Value" for name in ("Bool", "String", "Bytes", "Float", "Double", "Int32", "Int64", "UInt32", "UInt64")),
    "google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.Any", "google.protobuf.Empty",
    "google.protobuf.FieldMask", "google.protobuf.Struct", "google.protobuf.ListValue",
)  # fmt: skip
IMPORTS = ("any", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers")
HEADS = {"proto2": 'syntax = "proto2";', "proto3": 'syntax = "proto3";', "editions": 'edition = "2023";'}


def drawn(seed: int) -> str:
    """A file with messages that are made of each other, in a language and with numbers by lot."""
    lot = random.Random(seed)
    language = lot.choice(list(HEADS))
    names = [f"M{i}" for i in range(lot.randint(2, 6))]
    lines = [
        HEADS[language],
        "package drawn;",
        *(f'import "google/protobuf/{name}.proto";' for name in IMPORTS),
    ]

    def enum(name: str, indent: str) -> list[str]:
        numbers = lot.sample(range(1, 90), 3)
        if language != "proto2" or lot.random() < 0.5:
            numbers[0] = 0
        values = [
            f"{indent}  {name.upper()}_{i} = {hex(n) if lot.random() < 0.2 else n};"
            for i, n in enumerate(numbers)
        ]
        return [f"{indent}enum {name} {{", *values, f"{indent}}}"]

    def message(name: str, inside: list[str], indent: str = "") -> list[str]:
        nested = [f"{name}In{i}" for i in range(lot.randint(0, 2) if len(indent) < 4 else 0)]
        types = [*inside, *nested, f"{name}Kind"]
        body: list[str] = enum(f"{name}Kind", f"{indent}  ")
        for one in nested:
            body += message(one, types, f"{indent}  ")
        numbers = lot.sample([*range(1, 40), 100, 18_999, 20_000, 536_870_911], lot.randint(3, 12))

        def type_() -> str:
            return lot.choice(
                [lot.choice(SCALARS), lot.choice(SCALARS), lot.choice(KNOWN), lot.choice(types)]
            )

        def value() -> str:
            found = type_()
            # An enum in a map begins with zero, which not all do here.
            return found if language != "proto2" or not found.endswith("Kind") else "string"

        for i, number in enumerate(numbers):
            shown = f"f{i} = {hex(number) if lot.random() < 0.1 else number};"
            sort = lot.random()
            if sort < 0.2:
                body.append(f"{indent}  repeated {type_()} {shown}")
            elif sort < 0.35:
                body.append(f"{indent}  map<{lot.choice(KEYS)}, {value()}> {shown}")
            elif sort < 0.45:
                body.append(f"{indent}  oneof o{i} {{ {type_()} {shown} }}")
            else:
                label = {"proto2": "optional ", "proto3": lot.choice(["", "optional "]), "editions": ""}[
                    language
                ]
                body.append(f"{indent}  {label}{type_()} {shown}")
        return [f"{indent}message {name} {{", *body, f"{indent}}}"]

    for name in names:
        lines += message(name, names)
    return "\n".join(lines) + "\n"


def pool_of(
    folder: Path, name: str
) -> tuple[descriptor_pool.DescriptorPool, descriptor_pb2.FileDescriptorProto]:
    """What protoc makes of a file."""
    common = Path(str(importlib.util.find_spec("grpc_tools").submodule_search_locations[0])) / "_proto"  # type: ignore[union-attr, index]
    result = folder / "files.bin"
    arguments = [
        "protoc",
        f"-I{folder}",
        f"-I{common}",
        "--include_imports",
        f"--descriptor_set_out={result}",
        name,
    ]
    assert protoc.main(arguments) == 0, (folder / name).read_text()
    pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(result.read_bytes()).file
    for file in files:
        pool.Add(file)
    return pool, files[-1]


def filled(lot: random.Random, found: Any, depth: int = 0) -> Any:
    """Set fields of a message by lot; no value is one that proto3 leaves out."""
    for field in found.DESCRIPTOR.fields:
        if lot.random() < 0.2 or (field.message_type is not None and depth > 3):
            continue
        is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
        if is_map:
            key, value = field.message_type.fields
            entries = getattr(found, field.name)
            for _ in range(2):
                if value.message_type is not None:
                    filled(lot, entries[_value(lot, key)], depth + 1)
                else:
                    entries[_value(lot, key)] = _value(lot, value)
        elif field.message_type is not None and field.is_repeated:
            filled(lot, getattr(found, field.name).add(), depth + 1)
        elif field.message_type is not None:
            getattr(found, field.name).SetInParent()
            filled(lot, getattr(found, field.name), depth + 1)
        elif field.is_repeated:
            getattr(found, field.name).extend([_value(lot, field), _value(lot, field)])
        else:
            setattr(found, field.name, _value(lot, field))
    return found


def _value(lot: random.Random, field: Any) -> Any:
    if field.enum_type is not None:
        return lot.choice([value.number for value in field.enum_type.values if value.number] or [0])
    return {
        field.TYPE_BOOL: True,
        field.TYPE_STRING: lot.choice(["a", "é", "x" * 200]),
        field.TYPE_BYTES: bytes([lot.randint(0, 255), 255, 0]),
        field.TYPE_FLOAT: lot.choice([1.5, -0.25]),
        field.TYPE_DOUBLE: lot.choice([0.1, -1e300]),
        **dict.fromkeys(
            (field.TYPE_INT32, field.TYPE_SINT32, field.TYPE_SFIXED32),
            lot.choice([1, -5, 2**31 - 1, -(2**31)]),
        ),
        **dict.fromkeys(
            (field.TYPE_INT64, field.TYPE_SINT64, field.TYPE_SFIXED64),
            lot.choice([1, -5, 2**63 - 1, -(2**63)]),
        ),
        **dict.fromkeys((field.TYPE_UINT32, field.TYPE_FIXED32), lot.choice([1, 2**32 - 1])),
        **dict.fromkeys((field.TYPE_UINT64, field.TYPE_FIXED64), lot.choice([1, 2**64 - 1])),
    }[field.type]


def built(folder: Path, text: str) -> dict[str, Path]:
    """The artifacts of a file that was imported, by the full names of its messages."""
    (folder / "source.proto").write_text(text)
    (folder / "schemac.toml").write_text('targets = ["protobuf"]\n')
    assert main(["import", "source.proto", "--out", "source.yaml"]) == 0
    assert main(["lock", "--check"]) == main(["build"]) == 0
    return {file.parent.parent.name: file for file in (folder / "build").glob("*/protobuf/*.proto")}


@pytest.mark.parametrize(
    "seed", [*range(8), *(pytest.param(i, marks=pytest.mark.long) for i in range(8, 200))]
)
def test_read_what_was_written(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lot = random.Random(seed)
    artifacts = built(tmp_path, drawn(seed))
    before, _ = pool_of(tmp_path, "source.proto")
    assert artifacts
    for name, file in artifacts.items():
        after, content = pool_of(file.parent, file.name)
        old = message_factory.GetMessageClass(before.FindMessageTypeByName(f"drawn.{name}"))
        new = message_factory.GetMessageClass(after.FindMessageTypeByName(content.message_type[0].name))
        for _ in range(5):
            wanted = filled(lot, old())
            read = new.FromString(wanted.SerializeToString())
            read.DiscardUnknownFields()
            assert old.FromString(read.SerializeToString()) == wanted, file.read_text()
