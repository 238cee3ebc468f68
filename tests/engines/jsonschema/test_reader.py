"""The importer gives every manifest back, and says of foreign schemas what it does not keep."""

import json
from pathlib import Path
from typing import Any

import pytest

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
        "no other properties",
    ),
    "reference": ({"$ref": "#/$defs/leaf", "description": "why"}, "Bool", "why"),
    "elsewhere": ({"$ref": "other.json", "description": "why"}, "String", "what other.json says"),
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
    "no value": {"const": None},
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
        ("[", "it is no JSON"),
        ('{"type": "object", "properties": {"\\ud800": {}}}', "not valid Unicode"),
        ("[]", "no JSON Schema of an object"),
        ("{}", "no object with properties"),
        ('{"type": "array", "items": {}}', "no object with properties"),
        ('{"$ref": "other.json"}', "no object with properties"),
        ('{"$ref": "#/nowhere"}', "#/nowhere is not there"),
        ('{"$ref": "#"}', "no object with properties"),
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
