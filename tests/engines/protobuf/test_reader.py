"""The importer gives every manifest back with its numbers, and says of messages of others what it does not keep."""

import json
from pathlib import Path

import pytest

import schemac
from schemac.cli.main import main
from tests.engines.crossing import PLACES, held, title
from tests.engines.protobuf.test_artifact import compiled, file_of, numbers


def imported(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> str:
    (folder / "a.proto").write_text(text)
    assert main(["import", str(folder / "a.proto")]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("place", PLACES)
def test_import_what_was_written(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The manifest is the same, whatever was lost for messages."""
    dataset = held("protobuf", place)
    text = imported(tmp_path, file_of(dataset).decode(), capsys)
    assert "not kept" not in text
    (again,) = schemac.compile_text(text)
    assert {title(str(change.path).partition(".")[0]) for change in schemac.diff(dataset, again)} == set()
    assert again.artifacts("protobuf") == dataset.artifacts("protobuf")


PROTO = """
syntax = "proto3";
package a.b;
import "google/protobuf/timestamp.proto";
option java_package = "x";
// A user.
message User {
  reserved 4, 9 to 12;
  reserved "old";
  /* Who it is. */
  string name = 15;
  optional int32 age = 2;
  Address home = 3;
  repeated a.b.User.Address others = 5 [deprecated = true];
  map<string, int64> counts = 6;
  oneof contact { string mail = 7; sint32 phone = 8; }
  Kind kind = 20;
  google.protobuf.Timestamp at = 21;
  User friend = 22;
  google.protobuf.Any more = 23;
  message Address { string street = 1; Nested.Deep deep = 2; message Nested { message Deep { bytes x = 1; } } }
  enum Kind { NONE = 0; BIG = 1; }
}
service Users { rpc Get (User) returns (User) { option (x) = {a: 1}; } }
"""


def test_read_numbers_into_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fields keep the numbers of their `.proto` in every message, and new ones get others than all that ever were."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "user.proto").write_text(PROTO)
    assert main(["import", "user.proto", "--out", "user.yaml"]) == 0
    text = (tmp_path / "user.yaml").read_text()
    for said in (
        "A user.",
        "Who it is.",
        "only one of mail, phone",
        "schemac.dev/deprecated: {}",
        "protobuf.dev/enum: {NONE: 0, BIG: 1}",
        "schemac.dev/enum: [NONE, BIG]",
        "contains itself",
        "protobuf.dev/type: sint32",
        "protobuf.dev/type: google.protobuf.Any",
    ):
        assert said in text
    assert "protobuf=15" in (tmp_path / "user.lock").read_text()
    (tmp_path / "schemac.toml").write_text('targets = ["protobuf"]\n')
    assert main(["build"]) == 0
    first = compiled(tmp_path, (tmp_path / "build/User/protobuf/user.proto").read_bytes())
    wanted = {
        "name": 15,
        "age": 2,
        "home": 3,
        "others": 5,
        "counts": 6,
        "mail": 7,
        "phone": 8,
        "kind": 20,
        "at": 21,
        "friend": 22,
        "more": 23,
    }
    assert numbers(first) == wanted
    home = next(inner for inner in first.message_type[0].nested_type if inner.name == "Home")
    assert [(f.name, f.number) for f in home.field] == [("street", 1), ("deep", 2)]
    (tmp_path / "user.yaml").write_text(text + "  - {name: added, type: Bool}\n")
    assert main(["lock"]) == main(["build"]) == 0
    second = compiled(tmp_path, (tmp_path / "build/User/protobuf/user.proto").read_bytes())
    assert numbers(second) == {**wanted, "added": 24}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("message A {", "it ends in the middle"),
        ("syntax = 'proto3';", "no top-level message"),
        ("message A { string = 1; }", "is expected"),
        ("message A { int32 x = 09; }", "no number"),
        ("message A { int32 x = y; }", "no number"),
        ("message A { int32 x = 1 [a = ]; }", "is expected"),
        ("message A {" * 2000, "nested too deep"),
        ("message A { option (a) = " + "{a: " * 2000, "nested too deep"),
        ("message A { string x; }", "is expected"),
        ("§", "not expected in line 1"),
    ],
)
def test_say_what_is_no_proto(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.proto").write_text(text)
    assert main(["import", str(tmp_path / "a.proto")]) == 1
    assert said in capsys.readouterr().err


def test_read_presence_by_the_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for syntax, is_optional in (
        ("syntax = 'proto3';", False),
        ("syntax = 'proto2';", True),
        ("edition = '2023';", True),
    ):
        text = imported(tmp_path, syntax + "message A { string x = 1; }", capsys)
        assert json.dumps(schemac.compile_text(text)[0]._logical.columns[0].is_nullable) == json.dumps(
            is_optional
        )


def test_read_types_on_several_lines_and_messages_in_a_circle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As files of googleapis have them."""
    (tmp_path / "t.proto").write_text(
        'syntax = "proto3";\npackage a.b;\nmessage One {\n  a.b\n      .Two two = 1;\n  repeated a.\n    b.Two more = 2;\n  map<string, a.b\n .Two> by = 3;\n}\n'
        "message Two {\n  One one = 1;\n  string name = 2;\n}\n"
    )
    assert main(["import", str(tmp_path / "t.proto")]) == 0
    (found,) = schemac.compile_text(capsys.readouterr().out)
    assert found.name == "One"
    assert [field.name for field in found.schema.fields] == ["two", "more", "by"]


SEVERAL = """syntax = "proto3";
message A { string name = 15; B b = 9; }
message B { int32 z = 7; }
message C { int32 q = 12; repeated string w = 4; }
message D { E e = 4; int32 x = 3; }
message E { D d = 2; int32 y = 5; }
message Outer { message Inner { int32 i = 8; } }
"""


@pytest.mark.parametrize("out", ["all.yaml", "folder/"])
@pytest.mark.parametrize("skipped", [(), ("--skip", "q")])
def test_lock_every_message(
    out: str, skipped: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One lock for each manifest, with all datasets of it; a column that is left out takes no numbers of others with it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "source.proto").write_text(SEVERAL)
    (tmp_path / "schemac.toml").write_text('targets = ["protobuf"]\n')
    assert main(["import", "source.proto", "--out", out, *skipped]) == 0
    locks = {file.name for file in tmp_path.rglob("*.lock")}
    assert locks == (
        {"all.lock"} if out == "all.yaml" else {"A.lock", "C.lock", "D.lock", "Outer.Inner.lock"}
    )
    assert main(["lock", "--check"]) == main(["build"]) == 0
    found = {}
    for file in (tmp_path / "build").glob("*/protobuf/*.proto"):
        (message,) = compiled(tmp_path, file.read_bytes()).message_type
        found[message.name] = {field.name: field.number for field in message.field}
    wanted = {
        "A": {"name": 15, "b": 9},
        "C": {"w": 4} if skipped else {"q": 12, "w": 4},
        "D": {"e": 4, "x": 3},
        "OuterInner": {"i": 8},
    }
    assert found == wanted


COMMENTS = (
    "{}", '{"type": {}}', '{"type": []}', '{"type": {"kind": 5}}', '{"type": {"kind": "Struct"}}', '{"type": {"kind": "Map"}}',
    '{"type": {"kind": "Decimal"}}', '{"type": {"kind": "List", "itemType": {}}}', '{"name": 5}', '{"name": ""}', '{"name": ["a"]}',
    '{"extra": []}', '{"extra": {"a": 1}}', '{"extra": {"a/b": {"c": 1}}}', '{"extra": {"schemac.dev/tags": 5}}',
    '{"required": {}}', '{"around": "option"}', '{"around": 5}', '{"around": "entry"}', '{"item": []}', '{"item": {"type": {}}}',
    '{"item": {"extra": 5}}', '{"key": {"type": {"kind": "x"}}}', '{"value": {"item": {"name": 5}}}', "[]", "5", "{", "\\ud800",
    '{"name": "\\ud800"}', '{"extra": {"a/b": "\\ud800"}}', '{"type": ' + '{"a":' * 3000, '{"extra": {"protobuf.dev/type": 5}}',
    '{"extra": {"protobuf.dev/enum": {"A": "b"}}}',
)  # fmt: skip


@pytest.mark.parametrize("comment", COMMENTS)
@pytest.mark.parametrize(
    "field",
    ["int32 x = 1;", "repeated int32 x = 1;", "map<string, B> x = 1;", "B x = 1;", "repeated C x = 1;"],
)
def test_pass_over_a_comment_that_the_compiler_cannot_have_written(
    comment: str, field: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is a manifest, or there is a finding; at a field, at a message and at the message in it."""
    mark = f"// schemac: {comment}\n"
    declared = f"{mark}message B {{ int32 y = 1; }} {mark}message C {{ {mark} int32 y = 1; int32 z = 2; }}"
    (tmp_path / "a.proto").write_text(f'syntax = "proto3";\n{mark}message A {{ {declared}\n{mark}{field} }}')
    code = main(["import", str(tmp_path / "a.proto")])
    assert code in (0, 1)
    if code == 0:
        schemac.compile_text(capsys.readouterr().out)


def test_read_a_group_as_a_message_and_name_what_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A group of proto2 has another encoding than a message; the fields after it are read."""
    monkeypatch.chdir(tmp_path)
    Path("g.proto").write_text(
        'syntax = "proto2";\nmessage M {\n  repeated group Inner = 2 {\n    required string x = 1;\n  }\n'
        "  optional int32 after = 3;\n}\n"
    )
    assert main(["import", "g.proto", "--from", "protobuf", "--out", "m.yaml"]) == 0
    capsys.readouterr()
    text = Path("m.yaml").read_text()
    assert "# not kept: the encoding of a group" in text
    (dataset,) = schemac.compile_text(text)
    schema = dataset.to_arrow(metadata=False)
    assert schema.names == ["inner", "after"]
    assert str(schema.field("inner").type) == "list<item: struct<x: string not null> not null>"
