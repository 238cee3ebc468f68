"""The standard's own forms: what goes through one comes back the same, and no bytes make their reader stumble."""

import base64
import io
import re
import struct
from pathlib import Path
from typing import Any

import flatbuffers.number_types as numbers
import pyarrow as pa
import pytest
from flatbuffers.table import Table
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

import schemac
from schemac.engines.odf.binary import FLAGS, KINDS_BY_TAG, PROPERTIES, TAGS
from schemac.language.kinds.temporal import ARROW_UNITS
from schemac.language.logical.model import LogicalType, SchemaField
from schemac.language.manifest.json_schema import manifest_schema
from tests.conformance.manifest_types import POSITIONS, TYPES
from tests.effort import law
from tests.laws.strategies import Tree, manifests, text

QUICK = law(100)
LONG = settings(max_examples=5000, deadline=None, suppress_health_check=list(HealthCheck))
STRICT = Draft202012Validator(manifest_schema(strict=True))
DEFINITION = Path(__file__).parents[2] / "protos/odf/set_data_schema.fbs"
UNITS = ("Second", "Millisecond", "Microsecond", "Nanosecond")


def compiled(manifest: Tree) -> schemac.Dataset:
    (dataset,) = schemac.compile_text(text(manifest))
    return dataset


def meaning(fields: tuple[SchemaField, ...], *, is_standard: bool) -> Any:
    """The fields as the standard can say them: no attributes at nameless parts, a zone for every timestamp."""
    return [
        (
            field.segment,
            len(field.options),
            _properties(field.type),
            dict(field.extra) if field.is_member or not is_standard else {},
            meaning(field.children, is_standard=is_standard),
        )
        for field in fields
    ]


def _properties(type_: LogicalType) -> Tree:
    children = ("fields", "item_type", "key_type", "value_type", "inner", "extra")
    found = {name: getattr(type_, name) for name in type(type_).model_fields if name not in children}
    return {**found, "timezone": found["timezone"] or "UTC"} if "timezone" in found else found


def loaded(document: str) -> Any:
    return YAML(typ="safe", pure=True).load(document)


@QUICK
@given(manifests())
def test_go_from_manifest_to_standard_text_and_back(manifest: Tree) -> None:
    dataset = compiled(manifest)
    document = dataset.to_odf()
    (again,) = schemac.compile_text(document, strict=True)
    assert meaning(again._logical.columns, is_standard=False) == meaning(
        dataset._logical.columns, is_standard=True
    )
    assert again.schema.extra == dataset.schema.extra
    assert again.to_odf() == document
    assert again.losses("odf") == ()
    if dataset.losses("odf") == ():
        assert meaning(again._logical.columns, is_standard=False) == meaning(
            dataset._logical.columns, is_standard=False
        )


@QUICK
@given(manifests())
def test_go_from_text_to_bytes_and_back(manifest: Tree) -> None:
    dataset = compiled(manifest)
    content = dataset.to_odf_flatbuffers()
    from_bytes, from_text = schemac.from_odf(content), schemac.from_odf(dataset.to_odf())
    assert from_bytes.schema == from_text.schema
    assert from_bytes.to_odf() == dataset.to_odf()
    assert from_bytes.to_odf_flatbuffers() == content == from_text.to_odf_flatbuffers()


@QUICK
@given(manifests())
def test_write_text_that_others_read(manifest: Tree) -> None:
    dataset = compiled(manifest)
    tree = loaded(dataset.to_odf())
    assert not list(STRICT.iter_errors(tree))
    (again,) = schemac.compile_text(_dumped(tree), strict=True)
    assert again.to_odf() == dataset.to_odf()


def _dumped(tree: Any) -> str:
    """The tree as others write it; in flow style ruamel leaves texts plain that are none there."""
    stream = io.StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.dump(tree, stream)
    return stream.getvalue()


@pytest.mark.parametrize("form", ["schema", "event", "metadata-event", "snapshot", "resource"])
def test_write_every_document(form: Any) -> None:
    (dataset,) = schemac.compile_text(
        "name: acme/a.b\nfields: [{name: no, type: {kind: Option, inner: 'Null'}}]"
    )
    (again,) = schemac.compile_text(dataset.to_odf(form), strict=True)
    assert again.schema == dataset.schema
    assert (again.name == dataset.name) == (form in ("snapshot", "resource"))


def test_write_bytes_as_they_are_defined() -> None:
    """`protos/odf/set_data_schema.fbs` is for `flatc`, which is on few machines; it says what the writer does."""
    text = re.sub("//.*", "", DEFINITION.read_text(encoding="utf-8"))
    (union,) = re.findall(r"union DataType {([^}]*)}", text)
    assert union.replace(",", " ").split() == sorted(TAGS, key=TAGS.__getitem__)
    (units,) = re.findall(r"enum TimeUnit : int16 {([^}]*)}", text)
    assert tuple(units.replace(",", " ").split()) == tuple(ARROW_UNITS)
    flags = {alias: "TimeUnit" if alias == "unit" else each.name for alias, each in FLAGS.items()}
    assert FLAGS["unit"].name == "int16"
    for kind, properties in PROPERTIES.items():
        (body,) = re.findall(rf"table {kind} {{([^}}]*)}}", text)
        defined = re.findall(r"(\w+): ([\[\]\w]+)", body)
        assert [name for name, _ in defined] == [item.name for item in properties]
        assert [type_ if type_ in flags.values() else None for _, type_ in defined] == [
            flags.get(item.alias) for item in properties
        ]


@pytest.mark.parametrize("place", POSITIONS)
def test_decode_bytes_with_the_library_of_the_format(place: str) -> None:
    for name, type_ in TYPES.items():
        try:
            dataset = compiled({"fields": [POSITIONS[place](type_)]})
        except schemac.SchemaError:
            continue
        assert decoded(dataset.to_odf_flatbuffers()) == loaded(dataset.to_odf("schema")), name


@QUICK
@given(manifests())
def test_write_bytes_that_the_library_of_the_format_reads(manifest: Tree) -> None:
    dataset = compiled(manifest)
    assert decoded(dataset.to_odf_flatbuffers()) == loaded(dataset.to_odf("schema"))


def decoded(content: bytes) -> Tree:
    """The schema in a SetDataSchema buffer, by the `flatbuffers` package and the field numbers of the standard."""
    (root,) = struct.unpack_from("<I", content)
    return _schema(_table(Table(content, root), 1))


def _schema(table: Table) -> Tree:
    return {"fields": _fields(table, 0), **_extra(table, 1)}


def _fields(table: Table, field: int) -> list[Tree]:
    offset = table.Offset(4 + 2 * field)
    start, number = table.Vector(offset), table.VectorLen(offset)
    members = [Table(table.Bytes, table.Indirect(start + 4 * i)) for i in range(number)]
    return [{"name": _text(m, 0), "type": _type(m, 1), **_extra(m, 3)} for m in members]


def _table(table: Table, field: int) -> Table:
    return Table(table.Bytes, table.Indirect(table.Pos + table.Offset(4 + 2 * field)))


def _text(table: Table, field: int) -> str:
    found: bytes = table.String(table.Pos + table.Offset(4 + 2 * field))
    return found.decode()


def _number(table: Table, field: int, flags: Any) -> Any:
    offset = table.Offset(4 + 2 * field)
    assert offset, "every default is written out"
    assert (table.Pos + offset) % flags.bytewidth == 0, "each number is aligned"
    return table.Get(flags, table.Pos + offset)


def _extra(table: Table, field: int) -> Tree:
    return {"extra": loaded(_text(_table(table, field), 0))} if table.Offset(4 + 2 * field) else {}


def _type(table: Table, field: int) -> Tree:
    kind = KINDS_BY_TAG[_number(table, field, numbers.Uint8Flags)]
    inside = _table(table, field + 1)
    tree: Tree = {"kind": kind}
    match kind:
        case "Binary" | "List":
            if kind == "List":
                tree["itemType"] = _type(inside, 0)
            length = 2 if kind == "List" else 0
            if inside.Offset(4 + 2 * length):
                tree["fixedLength"] = _number(inside, length, numbers.Uint64Flags)
        case "Decimal":
            tree["precision"] = _number(inside, 0, numbers.Uint32Flags)
            tree["scale"] = _number(inside, 1, numbers.Int32Flags)
        case "Duration" | "Time" | "Timestamp":
            tree["unit"] = UNITS[_number(inside, 0, numbers.Int16Flags)]
            if kind == "Timestamp":
                tree["timezone"] = _text(inside, 1)
        case "Map":
            tree["keyType"], tree["valueType"] = _type(inside, 0), _type(inside, 2)
            tree["keysSorted"] = _number(inside, 4, numbers.BoolFlags)
        case "Option":
            tree["inner"] = _type(inside, 0)
        case "Struct":
            tree["fields"] = _fields(inside, 0)
    return tree


def read_or_refused(source: str | bytes) -> schemac.Dataset | None:
    """The dataset; None where it is refused with findings that say why."""
    try:
        return schemac.from_odf(source, name="x")
    except schemac.SchemaError as error:
        found = error.diagnostics
    assert found
    assert all(each.code.startswith("SC") and each.message for each in found)
    return None


def assert_read_or_refused(content: bytes) -> None:
    dataset = read_or_refused(content)
    if dataset is not None:
        assert schemac.from_odf(dataset.to_odf_flatbuffers(), name="x").schema == dataset.schema


@QUICK
@given(st.binary(max_size=200))
def test_read_or_refuse_any_bytes(content: bytes) -> None:
    assert_read_or_refused(content)
    assert_read_or_refused(b"\x0c\x00\x00\x00" + content)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A sound buffer with some bytes changed, cut off or put in."""
    content = bytearray(compiled(draw(manifests(most_columns=3))).to_odf_flatbuffers())
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(content) - 1))
        match draw(st.sampled_from(("byte", "word", "cut", "insert"))):
            case "byte":
                content[at] = draw(st.integers(0, 255))
            case "word":
                at = at // 4 * 4
                content[at : at + 4] = draw(
                    st.sampled_from((0, 1, 4, 2**31 - 1, 2**31, 2**32 - 1, at)) | st.integers(0, 200)
                ).to_bytes(4, "little")
            case "cut":
                del content[at + 1 :]
            case "insert":
                content[at:at] = draw(st.binary(max_size=4))
    return bytes(content)


@QUICK
@given(damaged())
def test_read_or_refuse_damaged_bytes(content: bytes) -> None:
    assert_read_or_refused(content)


@pytest.mark.long
@LONG
@given(damaged())
def test_read_or_refuse_damaged_bytes_at_length(content: bytes) -> None:
    assert_read_or_refused(content)


def _raw(schema: pa.Schema) -> bytes:
    """Arrow's table Schema as a buffer of its own: the message, with a root that leads to the message's header."""
    message: bytes = schema.serialize().to_pybytes()[8:]
    header = Table(message, struct.unpack_from("<I", message)[0])
    start = header.Indirect(header.Pos + header.Offset(8))
    return struct.pack("<II", start + 8, 0) + message


@QUICK
@given(manifests())
def test_read_the_arrow_schema_of_an_older_event(manifest: Tree) -> None:
    dataset = compiled(manifest)
    document = f"kind: SetDataSchema\nrawArrowSchema: {base64.b64encode(_raw(dataset.to_arrow())).decode()}\n"
    found, direct = schemac.from_odf(document), schemac.from_arrow(dataset.to_arrow())
    assert [(f.name, f.type.kind) for f in found.schema.fields] == [
        (f.name, f.type.kind) for f in direct.schema.fields
    ]
    for hint in ("bufferEncoding", "dateEncoding", "decimalEncoding", "dictionaryEncoding"):
        assert hint not in found.to_odf()


@QUICK
@given(manifests(most_columns=2), st.data())
def test_read_or_refuse_a_damaged_arrow_schema(manifest: Tree, data: st.DataObject) -> None:
    content = bytearray(_raw(compiled(manifest).to_arrow()))
    assume(content)
    for _ in range(3):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    document = f"- kind: SetDataSchema\n  rawArrowSchema: {base64.b64encode(content).decode()}\n"
    read_or_refused(document)


def test_share_what_the_standard_does_not_tell_apart() -> None:
    """Equal types are one table; a clock without a zone becomes UTC, and shares the table of UTC then."""
    clock, instant = {"kind": "Timestamp", "timezone": None}, {"kind": "Timestamp"}
    for types in ((instant, clock), (clock, instant), (clock, clock)):
        dataset = compiled({"fields": [{"name": f"a{i}", "type": type_} for i, type_ in enumerate(types)]})
        content = dataset.to_odf_flatbuffers()
        assert schemac.from_odf(content).to_odf_flatbuffers() == content
