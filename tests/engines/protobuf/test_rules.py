"""Every rule of Protovalidate, and every option of a field, is an attribute or a loss that has its name."""

from pathlib import Path
from typing import Any

import pytest

import schemac
from schemac.cli.main import main
from schemac.engines.protobuf.syntax import ProtoMessage, parse

_BOUNDS = {
    "lt": "9",
    "lte": "9",
    "gt": "1",
    "gte": "1",
    "const": "5",
    "in": "[5, 6]",
    "not_in": "[7]",
    "example": "5",
}
_TEXT = dict.fromkeys(
    ("email", "hostname", "ip", "ipv4", "ipv6", "uri", "uri_ref", "address", "uuid", "tuuid", "ip_with_prefixlen",
     "ipv4_with_prefixlen", "ipv6_with_prefixlen", "ip_prefix", "ipv4_prefix", "ipv6_prefix", "host_and_port", "ulid", "strict"),
    "true",
)  # fmt: skip
_LENGTHS = {"len": "4", "min_len": "2", "max_len": "9"}
_PARTS_OF_TEXT = {"pattern": '"^a+$"', "prefix": '"a"', "suffix": '"a"', "contains": '"a"'}
RULES: dict[str, dict[str, str]] = {
    **{
        f"{sort}{bits}": _BOUNDS
        for sort in ("int", "uint", "sint", "fixed", "sfixed")
        for bits in (32, 64)
    },
    "float": {**_BOUNDS, "finite": "true"},
    "double": {**_BOUNDS, "finite": "true"},
    "bool": {"const": "true", "example": "true"},
    "string": {
        **_TEXT, **_LENGTHS, **_PARTS_OF_TEXT, "const": '"abcd"', "len_bytes": "4", "min_bytes": "2", "max_bytes": "9",
        "not_contains": '"b"', "in": '["a", "b"]', "not_in": '["c"]', "well_known_regex": "KNOWN_REGEX_HTTP_HEADER_NAME",
        "example": '"a"',
    },
    "bytes": {
        **_LENGTHS, **_PARTS_OF_TEXT, "const": '"abcd"', "in": '["a"]', "not_in": '["c"]', "ip": "true", "ipv4": "true",
        "ipv6": "true", "uuid": "true", "example": '"a"',
    },
}  # fmt: skip
CARRIED = {
    **{
        (type_, name): attribute
        for type_ in RULES
        if type_ not in ("string", "bytes", "bool")
        for name, attribute in (
            ("lt", "exclusiveMaximum: 9"), ("lte", "maximum: 9"), ("gt", "exclusiveMinimum: 1"), ("gte", "minimum: 1"),
            ("const", "enum: [5]"), ("in", "enum: [5, 6]"),
        )
    },
    **{(type_, "min_len"): "minLength: 2" for type_ in ("string", "bytes")},
    **{(type_, "max_len"): "maxLength: 9" for type_ in ("string", "bytes")},
    **{(type_, "len"): "minLength: 4" for type_ in ("string", "bytes")},
    ("string", "pattern"): "pattern: ^a+$",
    ("string", "const"): "enum: [abcd]",
    ("string", "in"): "enum: [a, b]",
}  # fmt: skip


def imported(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> str:
    (folder / "a.proto").write_text('syntax = "proto3";\n' + text)
    assert main(["import", str(folder / "a.proto")]) == 0
    found = capsys.readouterr().out
    schemac.compile_text(found)
    return found


@pytest.mark.parametrize("type_", RULES)
def test_keep_or_name_every_rule(type_: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In both forms that an option has, and at an item."""
    rule = f"{type_}.{{name}} = {{value}}"
    forms = (
        f"{type_} x = 1 [(buf.validate.field).{rule}];",
        f"{type_} x = 1 [(buf.validate.field) = {{{{{type_}: {{{{{{name}}: {{value}}}}}}}}}}];",
        f"repeated {type_} x = 1 [(buf.validate.field).repeated.items.{rule}];",
    )
    for name, value in RULES[type_].items():
        for form in forms:
            text = imported(tmp_path, f"message A {{ {form.format(name=name, value=value)} }}", capsys)
            wanted = CARRIED.get((type_, name))
            if wanted is None:
                assert f"not kept: the rule {type_}.{name}: " in text, form
            else:
                assert f"schemac.dev/{wanted}" in text, (form, name)
                assert "not kept" not in text


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("repeated int32 x = 1 [(buf.validate.field).repeated = {min_items: 1, max_items: 3}];", "schemac.dev/maxItems: 3"),
        ("repeated int32 x = 1 [(buf.validate.field).repeated.unique = true];", "schemac.dev/uniqueItems: true"),
        ("string x = 1 [(buf.validate.field).string.min_items = 1];", "the rule string.min_items: 1"),
        ("map<string, int32> x = 1 [(buf.validate.field).map.min_pairs = 1];", "the rule map.min_pairs"),
        ("map<string, int32> x = 1 [(buf.validate.field).map.keys.string.min_len = 1];", "schemac.dev/minLength: 1"),
        ("map<string, int32> x = 1 [(buf.validate.field).map.values.int32.gt = 1];", "schemac.dev/exclusiveMinimum: 1"),
        ("E x = 1 [(buf.validate.field).enum.in = 1];", "schemac.dev/enum: [ONE]"),
        ("E x = 1 [(buf.validate.field).enum.not_in = 1];", "the rule enum.not_in: 1"),
        ("E x = 1 [(buf.validate.field).enum.defined_only = true];", "schemac.dev/enum: [NONE, ONE]"),
        ("google.protobuf.Any x = 1 [(buf.validate.field).any.in = 'a'];", "the rule any.in"),
        ("google.protobuf.Duration x = 1 [(buf.validate.field).duration.lt.seconds = 5];", "the rule duration.lt"),
        ("google.protobuf.Timestamp x = 1 [(buf.validate.field).timestamp.lt_now = true];", "the rule timestamp.lt_now: true"),
        ("google.protobuf.FieldMask x = 1 [(buf.validate.field).field_mask.in = 'a'];", "the rule field_mask.in"),
        ("B x = 1 [(buf.validate.field).required = true];", "name: x\n    type:\n      kind: Struct"),
        ("int32 x = 1 [(buf.validate.field).required = true];", "the rule required: true"),
        ('int32 x = 1 [(buf.validate.field).cel = {id: "a", expression: "this > 1"}];', 'the rule cel.expression: "this > 1"'),
        ('int32 x = 1 [(buf.validate.field).cel_expression = "this > 1"];', 'the rule cel_expression: "this > 1"'),
        ("int32 x = 1 [(buf.validate.field).int32 = {gt: 9, lt: 1}];", "the rule int32.gt: 9"),
        ("string x = 1 [(buf.validate.field).string.min_len = 1, (buf.validate.field).ignore = IGNORE_IF_ZERO_VALUE];", "string.min_len=1"),
        ("int32 x = 1 [(buf.validate.field).int32.(own) = true];", "the rule int32.(own): true"),
        ("int32 x = 1 [deprecated = true];", "schemac.dev/deprecated: {}"),
        ("int32 x = 1 [deprecated = false];", "the options deprecated=false"),
        *((f"int32 x = 1 [{option}];", f"the options {option.replace(' ', '')}") for option in (
            'json_name = "y"', "default = 5", "packed = false", "lazy = true", "unverified_lazy = true", "jstype = JS_STRING",
            "ctype = CORD", "weak = true", "debug_redact = true", "retention = RETENTION_SOURCE", "targets = TARGET_TYPE_FIELD",
            "features.utf8_validation = NONE", 'edition_defaults = {edition: EDITION_2023, value: "1"}', "(own).a.b = 1",
        )),
        ("oneof o { option (buf.validate.oneof).required = true; int32 x = 1; }", "the option (buf.validate.oneof).required=true"),
        ('option (buf.validate.message).cel = {id: "a"}; int32 x = 1;', "the option (buf.validate.message).cel={id:"),
        ("int32 x = 1 [(buf.validate.field).int32.gt = 1]; option (buf.validate.message).oneof = {fields: ['x']};", "the rule int32.gt"),
        ("int32 x = 1; option deprecated = true;", "schemac.dev/deprecated: {}"),
        ("int32 x = 1; option map_entry = false;", "the option map_entry=false"),
        ("int32 x = 1; extensions 100 to max; extend A { int32 y = 100; }", "the extension y = 100"),
        ("int32 x = 1; message C { int32 y = 1; }", "the message A.C, which no field has"),
        ("int32 x = 1; } message C {", "the message C, which has no fields"),
    ],
)  # fmt: skip
def test_keep_or_name_what_is_beside_a_type(
    field: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    enum_and_struct = "enum E { NONE = 0; ONE = 1; } message B { int32 y = 1; E e = 2; }"
    text = imported(tmp_path, f"message A {{ {enum_and_struct} B b = 50; {field} }}", capsys)
    assert said in text


def test_read_what_stands_in_googles_files(tmp_path: Path) -> None:
    """Fields, numbers and comments are those that protoc finds."""
    protoc = pytest.importorskip("grpc_tools.protoc")
    from google.protobuf import descriptor_pb2

    folder = Path(protoc.__file__).parent / "_proto"
    for path in sorted(folder.glob("**/*.proto")):
        result = tmp_path / "file.bin"
        arguments = [
            "protoc",
            f"-I{folder}",
            "--include_source_info",
            f"--descriptor_set_out={result}",
            str(path),
        ]
        assert protoc.main(arguments) == 0
        (found,) = descriptor_pb2.FileDescriptorSet.FromString(result.read_bytes()).file
        comments = {
            tuple(one.path): (one.leading_comments, one.trailing_comments)
            for one in found.source_code_info.location
        }
        stack: list[tuple[tuple[int, ...], Any, ProtoMessage]] = [
            ((4, i), old, parse(path.read_text()).root.inner[old.name])
            for i, old in enumerate(found.message_type)
        ]
        while stack:
            place, old, new = stack.pop()
            assert [(f.name, f.number) for f in old.field] == [(f.name, f.number) for f in new.fields]
            for i, field in enumerate(new.fields):
                wanted = [
                    line.strip() for text in comments[(*place, 2, i)] for line in text.strip().splitlines()
                ]
                assert "\n".join(field.comments).strip() == "\n".join(wanted), (path.name, field.name)
            for enum in old.enum_type:
                assert new.inner[enum.name].values == {value.name: value.number for value in enum.value}
            stack += [
                ((*place, 3, i), inner, new.inner[inner.name])
                for i, inner in enumerate(old.nested_type)
                if not inner.options.map_entry
            ]
