"""What the engine writes, reads and judges, asked of fastavro."""

import json
from decimal import Decimal
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import schemac
from schemac.cli.main import main
from schemac.engines.avro.judge import JUDGE
from schemac.versions.evolution.changes import Outcome
from schemac.versions.evolution.judge import judge

fastavro = pytest.importorskip("fastavro")
UNREAD = (fastavro.read.SchemaResolutionError, UnicodeDecodeError, KeyError)
"""What fastavro raises where data cannot be read with a schema; KeyError where a fixed and a record have one name."""
NESTED: dict[str, tuple[str, list[Any]]] = {
    "struct": ("{kind: Struct, fields: [{name: x, type: Int32}]}", [{"x": 1}]),
    "list": ("{kind: List, itemType: Int32}", [[], [1, 2, 3]]),
    "vector": ("{kind: List, itemType: Int32, fixedLength: 2}", [[1, 2]]),
    "list of longs": ("{kind: List, itemType: Int64}", [[2**40]]),
    "list of options": ("{kind: List, itemType: {kind: Option, inner: Int32}}", [[None, 1]]),
    "map": ("{kind: Map, keyType: String, valueType: Int32}", [{"a": 1}]),
    "map of numbers": ("{kind: Map, keyType: Int32, valueType: Int32}", [[{"key": 1, "value": 2}]]),
}
"""Types with parts, and values as fastavro takes them."""
PLAIN: dict[str, tuple[str, list[Any]]] = {
    "bool": ("Bool", [True, False]),
    **{
        f"Int{bits}": (f"Int{bits}", [-(2 ** (bits - 1)), 0, 2 ** (bits - 1) - 1]) for bits in (8, 16, 32, 64)
    },
    **{f"UInt{bits}": (f"UInt{bits}", [0, 2**bits - 1]) for bits in (8, 16, 32)},
    "UInt64": ("UInt64", [Decimal(0), Decimal(2**64 - 1)]),
    "Float16": ("Float16", [0.5]),
    "Float32": ("Float32", [0.5, 2.0**100]),
    "Float64": ("Float64", [0.1]),
    "String": ("String", ["", "ä"]),
    "Binary": ("Binary", [b"\xff\x00"]),
    "Binary(4)": ("{kind: Binary, fixedLength: 4}", [b"abcd"]),
    "Binary(8)": ("{kind: Binary, fixedLength: 8}", [b"abcdefgh"]),
    "Decimal(9, 2)": ("{kind: Decimal, precision: 9, scale: 2}", [Decimal("-1234567.89")]),
    "Decimal(12, 2)": ("{kind: Decimal, precision: 12, scale: 2}", [Decimal("1234567890.12")]),
    "Decimal(12, 4)": ("{kind: Decimal, precision: 12, scale: 4}", [Decimal("12345678.9012")]),
    "Date": ("Date", [-1, 20000]),
    **{
        f"Time({unit})": (f"{{kind: Time, unit: {unit}}}", [1000])
        for unit in ("Second", "Millisecond", "Microsecond")
    },
    **{
        f"{kind}({unit}, {zone})": (f"{{kind: {kind}, unit: {unit}, timezone: {zone}}}", [1_700_000_000_000])
        for kind in ("Timestamp",)
        for unit in ("Millisecond", "Microsecond", "Nanosecond")
        for zone in ("UTC", "null")
    },
    "Timestamp in Berlin": ("{kind: Timestamp, timezone: Europe/Berlin}", [1_700_000_000_000]),
    "Duration": ("Duration", [5]),
    "Duration in seconds": ("{kind: Duration, unit: Second}", [5]),
    "Time(Nanosecond)": ("{kind: Time, unit: Nanosecond}", [1000]),
}
"""Types without parts, and values as fastavro takes them: dates and times as the numbers that are stored."""
TYPES = {**PLAIN, **NESTED}
GRAVE = (Outcome.REFUSED, Outcome.DATA, Outcome.REWRITE)


def _manifest(type_: str, more: str = "") -> str:
    return f"name: trips\nfields:\n  - {{name: id, type: Int32}}\n  - {{name: x, type: {type_}{more}}}\n"


@cache
def _compiled(manifest: str) -> schemac.Dataset:
    (dataset,) = schemac.compile_text(manifest)
    return dataset


@cache
def _avsc(manifest: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        schemac.build_text(manifest, targets=["avro"])["trips/avro/schema.avsc"]
    )
    return document


def _plain(schema: Any) -> Any:
    """The schema without the logical types that Python has no exact values for, so that numbers come back as stored."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if isinstance(schema, dict):
        keeps = schema.get("logicalType") == "decimal"
        return {key: _plain(value) for key, value in schema.items() if keeps or key != "logicalType"}
    return schema


def _through(written: dict[str, Any], wanted: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """A record that was written with one schema and is read with another."""
    buffer = BytesIO()
    fastavro.schemaless_writer(buffer, fastavro.parse_schema(_plain(written)), record)
    buffer.seek(0)
    found: dict[str, Any] = fastavro.schemaless_reader(
        buffer, fastavro.parse_schema(_plain(written)), fastavro.parse_schema(_plain(wanted))
    )
    return found


def _outcome(old: str, new: str) -> Outcome:
    """The gravest that the engine says of stored data."""
    verdicts = judge(schemac.diff(_compiled(old), _compiled(new)), None, ["avro"])
    return max((v.old_data.outcome for v in verdicts), key=lambda o: o.rank, default=Outcome.SAFE)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("around", ["{}", "{{kind: Option, inner: {}}}"])
def test_write_a_schema_that_fastavro_takes(name: str, around: str) -> None:
    type_, values = TYPES[name]
    schema = _avsc(_manifest(around.format(type_)))
    fastavro.parse_schema(schema)
    for value in values if around == "{}" else [None, *values]:
        assert _through(schema, schema, {"id": 1, "x": value}) == {"id": 1, "x": value}


def _reads(old: str, new: str, values: list[Any]) -> list[bool]:
    """Whether each value is read, and is the same."""
    written, wanted = _avsc(old), _avsc(new)
    found = []
    for value in values:
        try:
            read = _through(written, wanted, {"id": 1, "x": value})["x"]
        except UNREAD:
            found.append(False)
            continue
        same = value.encode() if isinstance(value, str) and isinstance(read, bytes) else value
        found.append(read == same)
    return found


@pytest.mark.parametrize("name", TYPES)
def test_judge_each_pair_of_types_as_fastavro_reads_it(name: str) -> None:
    """What is called safe is read; what is refused is not, or means something else now."""
    for other in TYPES:
        (old, values), new = TYPES[name], TYPES[other][0]
        outcome = _outcome(_manifest(old), _manifest(new))
        read = _reads(_manifest(old), _manifest(new), values)
        if outcome not in GRAVE:
            assert all(read), (name, other)
        if outcome is Outcome.REFUSED and all(read):
            # Stored numbers are read, as numbers of something else.
            assert _meaning(name) != _meaning(other), (name, other)


def _meaning(name: str) -> Any:
    schema = _avsc(_manifest(TYPES[name][0]))["fields"][1]["type"]
    if name.startswith("Duration") or name == "Time(Nanosecond)":
        # Counts of a unit, which only the manifest knows.
        return name
    if not isinstance(schema, dict):
        return None
    # fastavro takes a fixed for a record of the same name.
    return (schema["type"] == "record", schema.get("logicalType"), schema.get("scale"))


FIELDS = {
    "required": ("", "{name: y, type: String}", Outcome.REFUSED),
    "optional": ("", "{name: y, type: {kind: Option, inner: String}}", Outcome.SAFE),
    "default": ("", "{name: y, type: String, extra: {avro.apache.org/default: none}}", Outcome.SAFE),
    "optional with default": (
        "",
        "{name: y, type: {kind: Option, inner: Int32}, extra: {avro.apache.org/default: 7}}",
        Outcome.SAFE,
    ),
    "dropped": ("{name: y, type: String}", "", Outcome.SAFE),
    "renamed": (
        "{name: y, type: String}",
        "{name: z, type: String, extra: {schemac.dev/renamedFrom: y}}",
        Outcome.METADATA,
    ),
    "renamed struct": (
        "{name: y, type: {kind: Struct, fields: [{name: a, type: Int32}]}}",
        "{name: z, type: {kind: Struct, fields: [{name: a, type: Int32}]}, extra: {schemac.dev/renamedFrom: y}}",
        Outcome.METADATA,
    ),
    "renamed fixed": (
        "{name: y, type: {kind: Binary, fixedLength: 2}}",
        "{name: z, type: {kind: Binary, fixedLength: 2}, extra: {schemac.dev/renamedFrom: y}}",
        Outcome.METADATA,
    ),
    "became optional": (
        "{name: y, type: String}",
        "{name: y, type: {kind: Option, inner: String}}",
        Outcome.SAFE,
    ),
    "became required": (
        "{name: y, type: {kind: Option, inner: String}}",
        "{name: y, type: String}",
        Outcome.DATA,
    ),
    "alias removed": (
        "{name: y, type: String, extra: {avro.apache.org/aliases: [w]}}",
        "{name: y, type: String}",
        Outcome.REFUSED,
    ),
    "described": ("{name: y, type: String}", "{name: y, description: why, type: String}", Outcome.METADATA),
}
VALUES: dict[str, Any] = {"renamed struct": {"a": 1}, "renamed fixed": b"ab"}


@pytest.mark.parametrize("name", FIELDS)
def test_judge_fields_as_fastavro_reads_them(name: str) -> None:
    before, after, expected = FIELDS[name]
    old, new = (
        f"name: trips\nfields:\n  - {{name: x, type: Int32}}\n  - {f}\n".replace("  - \n", "")
        for f in (before, after)
    )
    assert _outcome(old, new) is expected
    value = VALUES.get(name, "text")
    try:
        found = _through(_avsc(old), _avsc(new), {"x": 1, **({"y": value} if before else {})})
    except UNREAD:
        assert expected is Outcome.REFUSED
    else:
        if before and after:
            assert value in found.values()
    if name == "became required":
        with pytest.raises(UNREAD):
            _through(_avsc(old), _avsc(new), {"x": 1, "y": None})


def test_find_a_member_that_was_renamed_by_its_path() -> None:
    old, new = (
        f"{{name: trips, fields: [{{name: y, type: {{kind: Struct, fields: [{member}]}}}}]}}"
        for member in (
            "{name: a, type: Int32}",
            "{name: b, type: Int32, extra: {schemac.dev/renamedFrom: y.a}}",
        )
    )
    assert _outcome(old, new) is Outcome.METADATA
    assert _through(_avsc(old), _avsc(new), {"y": {"a": 1}}) == {"y": {"b": 1}}


def test_refuse_what_was_not_thought_of() -> None:
    from schemac.language.logical.facts import Fact

    assert set(Fact) == JUDGE.rules.keys(), (
        "a new fact is refused until the judge has a row for it; then this says that it does"
    )


@pytest.mark.parametrize("name", TYPES)
def test_read_back_what_was_written(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = _manifest(f"{{kind: Option, inner: {TYPES[name][0]}}}", ", description: 'what it is'")
    first = _avsc(manifest)
    (tmp_path / "trips.avsc").write_text(json.dumps(first))
    assert main(["import", str(tmp_path / "trips.avsc")]) == 0
    read = capsys.readouterr().out
    assert _avsc(read) == first
    if not schemac.compile_text(manifest)[0].losses("avro"):
        assert schemac.diff(schemac.compile_text(manifest)[0], schemac.compile_text(read)[0]) == ()


FOREIGN = {
    "enum": (
        {"type": "enum", "name": "E", "symbols": ["A", "B"]},
        "String, extra: {schemac.dev/enum: [A, B]}",
        "",
    ),
    "uuid": ({"type": "string", "logicalType": "uuid"}, "String", "uuid"),
    "fixed decimal": (
        {"type": "fixed", "name": "D", "size": 8, "logicalType": "decimal", "precision": 12, "scale": 3},
        "{kind: Decimal, precision: 12, scale: 3}",
        "",
    ),
    "union": (
        ["null", "int", "string"],
        "{kind: Option, inner: String}",
        "any value of JSON; not kept: the union of null, int, string",
    ),
    "itself": (["null", "R"], "{kind: Option, inner: String}", "contains itself"),
    "unknown name": ("Elsewhere", None, "declared neither before it"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_read_what_others_write(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    type_, expected, said = FOREIGN[name]
    schema = {"type": "record", "name": "R", "fields": [{"name": "f", "type": type_}]}
    (tmp_path / "r.json").write_text(json.dumps(schema))
    code = main(["import", str(tmp_path / "r.json")])
    output = "".join(capsys.readouterr())
    assert said in output
    assert code == (0 if expected is not None else 1)
    assert f"type: {expected}" in output or expected is None
    assert expected is None or schemac.check_text(output.partition("\nthe source")[0]) == ()


RECORD = {"type": "record", "name": "R", "namespace": "n", "fields": [{"name": "e", "type": "E"}]}
ENUM = {"type": "enum", "name": "E", "namespace": "n", "symbols": ["A", "B"]}
OTHER = {"type": "record", "name": "S", "namespace": "m", "fields": [{"name": "r", "type": ["null", "n.R"]}]}
FILES: dict[str, tuple[dict[str, object], list[str]]] = {
    "beside it": ({"r.avsc": RECORD, "e.avsc": ENUM}, ["R"]),
    "in a list beside it": ({"r.avsc": OTHER, "types.avsc": [ENUM, RECORD]}, ["S"]),
    "before it": ({"r.avsc": [ENUM, RECORD]}, ["R"]),
    "in a union": ({"r.avsc": ["null", {**RECORD, "fields": [{"name": "e", "type": ENUM}]}]}, ["R"]),
    "one in the other": ({"r.avsc": [ENUM, RECORD, OTHER]}, ["S"]),
    "one beside the other": (
        {"r.avsc": [ENUM, RECORD, {**OTHER, "fields": [{"name": "e", "type": "n.E"}]}]},
        ["R", "S"],
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_find_types_of_other_schemas(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files, expected = FILES[name]
    for file, content in files.items():
        (tmp_path / file).write_text(json.dumps(content))
    (tmp_path / "broken.avsc").write_text("[")
    assert main(["import", str(tmp_path / "r.avsc")]) == 0
    text = capsys.readouterr().out
    found = schemac.compile_text(text)
    assert [one.name for one in found] == expected
    assert text.count("schemac.dev/enum: [A, B]") == len(expected)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[",
        "[]",
        '"int"',
        '{"type": "record"}',
        '{"type": "record", "name": "R", "fields": [{"name": 1}]}',
        '{"type": "record", "name": "R", "fields": [{"name": "f", "type": {"type": "array"}}]}',
        '{"type": "record", "name": "R", "fields": [{"name": "f", "type": {"type": "fixed", "name": "x"}}]}',
    ],
)
def test_say_what_is_no_schema(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "r.avsc").write_text(content)
    assert main(["import", str(tmp_path / "r.avsc")]) == 1
    assert "SC552" in "".join(capsys.readouterr())


@pytest.mark.parametrize("units", [("Second", "Millisecond"), ("Microsecond", "Second")])
def test_refuse_counts_of_another_unit(units: tuple[str, str]) -> None:
    """Avro would read the same numbers, which would mean something else."""
    old, new = (_manifest(f"{{kind: Duration, unit: {unit}}}") for unit in units)
    assert _outcome(old, new) is Outcome.REFUSED
    assert _reads(old, new, [5]) == [True]


_DEFAULTS: tuple[Any, ...] = (
    0, 5, 2**31, 2**63, -1, 1.5, 1e300, True, "a", "\u00ff\u0000", "\u0100", "abcd", [], [1], ["a"], {}, {"a": 1}, {"x": 1}, {"x": None},
)  # fmt: skip
_OF_DEFAULTS: tuple[Any, ...] = (
    "int", "long", "float", "double", "boolean", "string", "bytes", ["int", "string"], ["int", "string", "null"], ["string", "int"],
    ["int", "null"], {"type": "array", "items": "int"}, {"type": "map", "values": "int"}, {"type": "enum", "name": "E", "symbols": ["a", "b"]},
    {"type": "fixed", "name": "F", "size": 4}, {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
    {"type": "fixed", "name": "D", "size": 4, "logicalType": "decimal", "precision": 4}, {"type": "int", "logicalType": "date"},
    {"type": "record", "name": "N", "fields": [{"name": "x", "type": "int"}]},
    {"type": "record", "name": "O", "fields": [{"name": "x", "type": ["null", "int"], "default": None}]},
)  # fmt: skip


@pytest.mark.parametrize("type_", _OF_DEFAULTS, ids=str)
def test_build_what_a_default_was_read_from(
    type_: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A default is kept as one of the type that is built, or named; fastavro reads records without the field by it."""
    for default in _DEFAULTS:
        field = {"name": "f", "type": type_, "default": default}
        (tmp_path / "r.avsc").write_text(json.dumps({"type": "record", "name": "R", "fields": [field]}))
        assert main(["import", str(tmp_path / "r.avsc")]) == 0
        text = capsys.readouterr().out
        assert "avro.apache.org/default" in text or "not kept: the default" in text
        (dataset,) = schemac.compile_text(text)
        (content,) = dataset.artifacts("avro").values()
        fastavro.parse_schema(json.loads(content))
        if isinstance(type_, list) and len(type_) > 2:
            assert dataset._logical.columns[0].is_nullable


@pytest.mark.parametrize("number", ["1e99999999", "-1e99999999", "1e400"])
def test_name_a_default_that_is_no_double(
    number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    field = f'{{"name": "f", "type": "double", "default": {number}}}'
    (tmp_path / "r.avsc").write_text(f'{{"type": "record", "name": "R", "fields": [{field}]}}')
    assert main(["import", str(tmp_path / "r.avsc")]) == 0
    text = capsys.readouterr().out
    assert f'not kept: the default "{number}"' in text
    assert "inf" not in text


def test_read_back_the_default_of_a_map_with_other_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Avro has such a map as an array of records, and so is its default."""
    default = [{"key": 1, "value": 2}]
    extra = f"{{avro.apache.org/default: {json.dumps(default)}}}"
    written = _avsc(_manifest("{kind: Map, keyType: Int32, valueType: Int32}", f", extra: {extra}"))
    (tmp_path / "r.avsc").write_text(json.dumps(written))
    assert main(["import", str(tmp_path / "r.avsc")]) == 0
    text = capsys.readouterr().out
    assert "not kept" not in text
    assert _avsc(text)["fields"] == written["fields"]
