"""The importer gives every manifest back, and says of foreign schemas what it does not keep."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema_specifications import REGISTRY as SPECIFICATIONS

import schemac
from schemac.cli.main import main
from tests.engines.crossing import PLACES, held, title


def imported(folder: Path, document: Any, capsys: pytest.CaptureFixture[str]) -> str:
    (folder / "a.schema.json").write_text(document if isinstance(document, str) else json.dumps(document))
    assert main(["import", str(folder / "a.schema.json")]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("place", PLACES)
def test_import_what_was_written(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The manifest is the same, whatever was lost for validators; and so is the schema that is built from it."""
    dataset = held("jsonschema", place)
    content = dataset.artifacts("jsonschema")["jsonschema/schema.json"]
    text = imported(tmp_path, content.decode(), capsys)
    assert "not kept" not in text
    (again,) = schemac.compile_text(text)
    changed = {title(str(change.path).partition(".")[0]) for change in schemac.diff(dataset, again)}
    assert changed == set()
    assert again.artifacts("jsonschema")["jsonschema/schema.json"] == content


FOREIGN: dict[str, tuple[Any, str, str]] = {
    "enum": ({"enum": ["a", "b"]}, "String", "schemac.dev/enum: [a, b]"),
    "const": ({"const": 1}, "Int64", "schemac.dev/enum: [1]"),
    "enum with null": ({"type": ["string", "null"], "enum": ["a", None]}, "String", "schemac.dev/enum: [a]"),
    "enum of several types": ({"enum": ["a", 1]}, "String", "any value of JSON"),
    "bounds": ({"type": "integer", "minimum": 1}, "Int64", "schemac.dev/minimum: 1"),
    "wide bounds": (
        {"type": "integer", "maximum": 1e20},
        "Int64",
        "not kept: maximum 1e+20: 100000000000000000000 is outside Int64",
    ),
    "fraction": ({"type": "number", "exclusiveMaximum": 0.1}, "Float64", "schemac.dev/exclusiveMaximum: 0.1"),
    "draft 4": (
        {"type": "number", "minimum": 0, "exclusiveMinimum": True},
        "Float64",
        "schemac.dev/exclusiveMinimum: 0",
    ),
    "contradiction": ({"type": "integer", "minimum": 5, "maximum": 1}, "Int64", "not kept: maximum 1: "),
    "lengths": (
        {"type": "string", "minLength": 1, "pattern": "^[a-z]$"},
        "String",
        "schemac.dev/pattern: ^[a-z]$",
    ),
    "look-around": ({"type": "string", "pattern": "^(?=a)"}, "String", 'not kept: pattern "^(?=a)": '),
    "all of them": (
        {"type": "integer", "allOf": [{"minimum": 1}, {"minimum": 5}]},
        "Int64",
        "not kept: minimum 5",
    ),
    "names": (
        {"type": "object", "additionalProperties": {"type": "integer"}, "propertyNames": {"maxLength": 5}},
        "Map",
        "schemac.dev/maxLength: 5",
    ),
    "deprecated": ({"type": "string", "deprecated": True}, "String", "schemac.dev/deprecated: {}"),
    "format": ({"type": "string", "format": "email"}, "String", 'not kept: format "email"'),
    "date": ({"type": "string", "format": "date"}, "Date", ""),
    "date-time": ({"type": "string", "format": "date-time"}, "Timestamp", ""),
    "number": ({"type": "number"}, "Float64", ""),
    "choice": ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "String", "any value of JSON"),
    "several": ({"type": ["string", "integer"]}, "String", "any value of JSON"),
    "nothing": ({}, "String", ""),
    "true": (True, "String", ""),
    "false": (False, "String", "any value of JSON"),
    "tuple": ({"type": "array", "prefixItems": [{"type": "string"}]}, "String", "prefixItems"),
    "open object": ({"type": "object"}, "String", "any value of JSON"),
    "patterns": (
        {"type": "object", "patternProperties": {"^a": {"type": "string"}}},
        "String",
        "patternProperties",
    ),
    "closed": (
        {"type": "object", "properties": {"x": {"type": "null"}}, "additionalProperties": False},
        "Struct",
        "other properties are not allowed",
    ),
    "reference": ({"$ref": "#/$defs/leaf", "description": "why"}, "Bool", "why"),
    "elsewhere": (
        {"$ref": "other.json", "description": "why"},
        "String",
        "other.json, which is in another document",
    ),
    "itself": ({"$ref": "#/$defs/node"}, "Struct", "contains itself"),
    "all": ({"allOf": [{"$ref": "#/$defs/leaf"}]}, "Bool", ""),
    "null choice": (
        {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "null"}]},
        "UInt8",
        "",
    ),
    "nullable": ({"type": "boolean", "nullable": True}, "Bool", ""),
    "pattern": (
        {"type": "string", "pattern": "^a$", "contentEncoding": "base64"},
        "Binary",
        "not kept: pattern",
    ),
    "step": ({"type": "number", "multipleOf": 0.5}, "Float64", "not kept: multipleOf 0.5"),
    "unique": (
        {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 1},
        "List",
        "schemac.dev/uniqueItems: true",
    ),
    "default": ({"type": "string", "default": "x"}, "String", 'not kept: default "x"'),
}
"""Schemas of a property, the kind that it becomes, and what is said of the rest."""
ODD: dict[str, Any] = {
    "limits": {"type": "integer", "minimum": "x", "maximum": None, "enum": 5, "multipleOf": 0, "pattern": 5},
    "texts": {"type": "string", "pattern": "(", "minLength": -1, "maxLength": 10**400, "enum": ["a", "a"]},
    "lists": {"type": "array", "items": {"type": "number"}, "uniqueItems": "x", "minItems": 5, "maxItems": 1},
    "names": {"type": "object", "additionalProperties": {}, "propertyNames": {"type": "null", "minimum": 1}},
    "beyond": {"type": "number", "minimum": 10**400, "exclusiveMinimum": True, "maximum": 10**400},
    "no values": {"type": "string", "enum": []},
    "no list": {"type": ["string", "null"], "enum": "x"},
    "a circle": {"allOf": [{"$ref": "#/properties/f"}]},
    "a long circle": {"allOf": [{"$ref": "#/$defs/one"}]},
}
"""What no schema should say."""
DEFS = {
    "one": {"allOf": [{"$ref": "#/$defs/other"}]},
    "other": {"allOf": [{"$ref": "#/$defs/one"}]},
    "leaf": {"type": "boolean"},
    "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}},
}


@pytest.mark.parametrize("name", FOREIGN)
def test_read_what_others_write(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema, kind, said = FOREIGN[name]
    document = {"type": "object", "properties": {"f": schema}, "required": ["f"], "$defs": DEFS}
    text = imported(tmp_path, document, capsys)
    (dataset,) = schemac.compile_text(text)
    assert dataset._logical.columns[0].type.kind == kind
    assert said in text


@pytest.mark.parametrize("name", ODD)
def test_say_what_is_odd(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = {"type": "object", "properties": {"f": ODD[name]}, "$defs": DEFS}
    text = imported(tmp_path, document, capsys)
    assert "  # " in text
    schemac.compile_text(text)


def test_point_to_where_json_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.schema.json").write_text('{\n "type": "object",\n "properties": {"a')
    assert main(["import", str(tmp_path / "a.schema.json"), "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (found["code"], found["line"], found["column"]) == ("SC552", 3, 17)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("[", "it is not valid JSON"),
        ('{"type": "object", "properties": {"\\ud800": {}}}', "not valid Unicode"),
        ("[]", "not a JSON Schema of an object"),
        ("{}", "not describe an object with properties"),
        ('{"type": "array", "items": {}}', "not describe an object with properties"),
        ('{"$ref": "other.json"}', "not describe an object with properties"),
        ('{"$ref": "#/nowhere"}', "#/nowhere does not exist"),
        ('{"$ref": "#"}', "not describe an object with properties"),
    ],
)
def test_say_what_is_no_table(
    document: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.schema.json").write_text(document)
    assert main(["import", str(tmp_path / "a.schema.json")]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("reference", "where"),
    [
        ("#/$defs/a%20b", {"$defs": {"a b": {"type": "integer"}}}),
        ("#/$defs/a~1b%25", {"$defs": {"a/b%": {"type": "integer"}}}),
        ("#there", {"$defs": {"x": {"$anchor": "there", "type": "integer"}}}),
        ("#there", {"definitions": {"x": {"$id": "#there", "type": "integer"}}}),
        ("#there", {"definitions": {"x": {"id": "#there", "type": "integer"}}}),
    ],
)
def test_follow_references_of_every_form(
    reference: str, where: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Escapes of RFC 3986 and RFC 6901, and names that schemas give themselves."""
    document = {"type": "object", "properties": {"f": {"$ref": reference}}, "required": ["f"], **where}
    (tmp_path / "s.schema.json").write_text(json.dumps(document))
    assert main(["import", str(tmp_path / "s.schema.json"), "--from", "jsonschema"]) == 0
    assert "{name: f, type: Int64}" in capsys.readouterr().out


def test_take_the_items_of_a_list_as_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = {
        "title": "trips",
        "type": "array",
        "minItems": 1,
        "items": {"$ref": "#/$defs/trip"},
        "$defs": {"trip": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}},
    }
    (tmp_path / "s.schema.json").write_text(json.dumps(document))
    assert main(["import", str(tmp_path / "s.schema.json"), "--from", "jsonschema"]) == 0
    text = capsys.readouterr().out
    assert "# a record is an item of the list that the schema describes" in text
    assert "# not kept: minItems 1" in text
    (dataset,) = schemac.compile_text(text)
    assert (dataset.name, [field.name for field in dataset.schema.fields]) == ("trips", ["id"])
    (tmp_path / "s.schema.json").write_text(json.dumps({"type": "array", "items": {"type": "string"}}))
    assert main(["import", str(tmp_path / "s.schema.json"), "--from", "jsonschema"]) == 1


_BRANCHES: tuple[Any, ...] = (
    {"type": "null"}, {"type": "integer"}, {"type": "string"}, {"type": ["string", "null"]}, {"enum": [6, None]}, {"enum": ["a", 1]},
    {"const": None}, {"const": 5}, {"$ref": "#/$defs/maybe"}, {"$ref": "#/$defs/never"}, {}, True,
    {"type": "string", "enum": ["a", None]}, {"type": ["string", "null"], "enum": ["a"]},
)  # fmt: skip
_NULLS = {
    **{f"{i}": branch for i, branch in enumerate(_BRANCHES)},
    **{
        f"{word} {i} {j}": {word: [a, b, {"type": "boolean"}]}
        for word in ("anyOf", "oneOf")
        for i, a in enumerate(_BRANCHES)
        for j, b in enumerate(_BRANCHES)
        if word == "anyOf" or (i < 3 and 0 < j < 3)
    },
    **{
        f"typed {i}": {"type": ["string", "null"], "anyOf": [a, {"minLength": 1}]}
        for i, a in enumerate(_BRANCHES)
    },
    **{f"text {i}": {"type": "string", "anyOf": [a, {"minLength": 1}]} for i, a in enumerate(_BRANCHES)},
    **{f"all {i}": {"allOf": [a, {"type": ["integer", "string", "null"]}]} for i, a in enumerate(_BRANCHES)},
}


def test_take_null_where_a_validator_takes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In types, values and choices of any number of branches; the oracle is the `jsonschema` library."""
    definitions = {"maybe": {"type": ["integer", "null"]}, "never": {"type": "integer"}}
    document = {"type": "object", "$defs": definitions, "required": list(_NULLS), "properties": _NULLS}
    (found,) = schemac.compile_text(imported(tmp_path, document, capsys))
    for field in found._logical.columns:
        schema = {"$defs": definitions, "allOf": [_NULLS[str(field.segment)]]}
        is_taken = Draft202012Validator(schema).is_valid(None)
        assert field.is_nullable == is_taken, (field.segment, _NULLS[str(field.segment)])


_ANNOTATIONS = frozenset(
    {
        "$id",
        "$schema",
        "$anchor",
        "$dynamicAnchor",
        "$comment",
        "$vocabulary",
        "$defs",
        "definitions",
        "title",
    }
)
"""What says nothing of values."""
_VALUES: dict[str, Any] = {
    "array": [{"type": "integer"}, {"type": "string"}], "object": {"x": {"type": "integer"}}, "string": "a", "integer": 1, "number": 1,
    "boolean": True,
}  # fmt: skip


@pytest.mark.parametrize("type_", ["integer", "string", "number", "boolean", "array", "object"])
def test_keep_or_name_every_keyword(type_: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each keyword of the metaschema changes the manifest, or its name stands in a comment."""
    base: dict[str, Any] = {"type": type_}
    base |= {"items": {"type": "integer"}} if type_ == "array" else {}
    base |= {"properties": {"y": {"type": "integer"}}} if type_ == "object" else {}
    plain = imported(tmp_path, {"type": "object", "properties": {"f": base}}, capsys)
    for keyword, wanted in _keywords().items():
        if keyword in _ANNOTATIONS or keyword in base:
            continue
        document = {
            "type": "object",
            "$defs": {"d": {"minimum": 3}},
            "properties": {"f": {**base, keyword: wanted}},
        }
        text = imported(tmp_path, document, capsys)
        assert text != plain, keyword
        assert keyword in text or "schemac.dev" in text or "  # " in text or keyword == "description", keyword


def _keywords() -> dict[str, Any]:
    """Every keyword of the draft of 2020-12, with a value."""
    found: dict[str, Any] = {}
    for uri in SPECIFICATIONS:
        if "2020-12" not in uri:
            continue
        for keyword, schema in SPECIFICATIONS.contents(uri).get("properties", {}).items():
            found.setdefault(keyword, _value(keyword, schema))
    assert {"minimum", "anyOf", "contains", "dependentRequired", "unevaluatedItems"} <= found.keys()
    return found


def _value(keyword: str, schema: Any) -> Any:
    special: dict[str, Any] = {
        "$ref": "#/$defs/d", "$dynamicRef": "#d", "type": "integer", "required": ["z"], "enum": [1, 2], "const": 7, "format": "email",
        "anyOf": [{"minimum": 1}, {"maxLength": 9}], "oneOf": [{"minimum": 1}, {"maxLength": 9}], "allOf": [{"minimum": 1, "maxLength": 5, "x": 1}],
        "dependentRequired": {"a": ["b"]}, "dependencies": {"a": ["b"]}, "pattern": "^a", "additionalProperties": {"type": "integer"},
        "prefixItems": [{"type": "integer"}], "default": 5, "examples": [5], "$recursiveRef": "#",
    }  # fmt: skip
    if keyword in special:
        return special[keyword]
    if isinstance(schema, dict) and schema.get("type") in _VALUES:
        return _VALUES[schema["type"]]
    if isinstance(schema, dict) and "nonNegativeInteger" in str(schema.get("$ref")):
        return 2
    return {"type": "integer", "minimum": 4}


@pytest.mark.parametrize(
    "number", ["1e9999", "1e1000000", "-1e1000000", "1e-1000000", "1e400", "1" + "0" * 4000, "1.5e99999999"]
)
@pytest.mark.parametrize("type_", ["integer", "number", "string", "boolean"])
def test_read_numbers_of_any_size(
    number: str, type_: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In linear time, whatever has them as bounds, values and defaults."""
    words = ", ".join(
        f'"{word}": {number}'
        for word in ("minimum", "maximum", "multipleOf", "const", "default", "minLength", "maxItems")
    )
    field = f'{{"type": "{type_}", {words}, "enum": [{number}, 5], "x": {number}}}'
    start = time.process_time()
    text = imported(tmp_path, f'{{"type": "object", "properties": {{"f": {field}}}}}', capsys)
    assert "not kept" in text
    assert time.process_time() - start < 5


def test_put_properties_of_all_parts_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a note, but for a property that two parts describe in different words."""
    parts = [
        {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]},
        {"properties": {"b": {"type": "string"}, "c": {"type": "boolean"}}, "required": ["c", "b"]},
    ]
    text = imported(tmp_path, {"type": "object", "allOf": parts}, capsys)
    assert "not kept" not in text
    (found,) = schemac.compile_text(text)
    assert {field.name for field in found.schema.fields} == {"a", "b", "c"}
    parts[1]["properties"] = {"b": {"type": "integer"}}
    assert "not kept of the property b" in imported(tmp_path, {"type": "object", "allOf": parts}, capsys)
