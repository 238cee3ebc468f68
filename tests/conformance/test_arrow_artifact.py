"""pyarrow reads the Arrow artifact as the schema it was made from, down to the names of list children."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import schemac
from schemac import ArrowDefaults, Dataset
from schemac.cli.main import main
from tests.conformance.arrow_schemas import blob_type
from tests.conformance.manifest_types import (
    ARROW,
    POSITIONS,
    TYPES,
    Manifest,
    buffer,
    member,
    of,
    option,
    struct,
)

ROOT = Path(__file__).parents[2]
MANIFESTS = sorted((ROOT / "tests/corpus/accepted").glob("**/manifest.yaml"))
NOT_MANIFESTS = ("pipeline.yaml", "production.yaml")
EXAMPLES = [path for path in (ROOT / "examples").glob("**/*.yaml") if path.name not in NOT_MANIFESTS]


def same(ours: pa.Schema, theirs: pa.Schema) -> bool:
    """Equal with everything that `==` of pyarrow leaves out: names and metadata of children, order of keys."""
    return bool(described(ours) == described(theirs))


def described(schema: pa.Schema) -> Any:
    return [dict(schema.metadata or {}), *(_field(field) for field in schema)]


def _field(field: Any) -> Any:
    type_, metadata = field.type, dict(field.metadata or {})
    if isinstance(type_, pa.BaseExtensionType):
        if type_.extension_name.startswith("lance."):
            # Once pylance is loaded, pyarrow reads its types as registered ones; here they are metadata.
            metadata |= {
                b"ARROW:extension:name": type_.extension_name.encode(),
                b"ARROW:extension:metadata": b"",
            }
            type_ = type_.storage_type
        else:
            return [field.name, str(type_), type_.extension_name, field.nullable, metadata]
    children = [_field(type_.field(i)) for i in range(type_.num_fields)]
    if pa.types.is_map(type_):
        children = [_field(type_.key_field), _field(type_.item_field), type_.keys_sorted]
    head = (type_.id, getattr(type_, "list_size", None)) if pa.types.is_nested(type_) else type_
    return [field.name, head, field.nullable, metadata, children]


def compiled(*fields: Manifest) -> Dataset:
    document = {"extra": {"schemac.dev/targets": ["arrow"]}, "fields": list(fields)}
    (dataset,) = schemac.compile_text(json.dumps(document))
    return dataset


def artifact(manifest: Path, out: Path, *options: str) -> Iterator[tuple[str, pa.Schema]]:
    """Every Arrow artifact of a build, by dataset."""
    assert main(["build", str(manifest), "--out", str(out), "--target", "arrow", *options]) == 0
    for file in sorted(out.glob("**/arrow/schema.arrow")):
        yield (
            file.parents[1].relative_to(out).as_posix(),
            pa.ipc.read_schema(pa.BufferReader(file.read_bytes())),
        )


@pytest.mark.parametrize("path", [*MANIFESTS, *EXAMPLES], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_read_what_was_built(path: Path, tmp_path: Path) -> None:
    options = ["--strict"] if path.parent.name.startswith("strict") else []
    built = dict(artifact(path, tmp_path / "build", *options))
    datasets = [
        dataset
        for dataset in schemac.compile_file(path, strict=bool(options))
        if "arrow" in dataset.schema.extra.get("schemac.dev/targets", ["arrow"])
    ]
    assert built.keys() == {dataset.name for dataset in datasets}
    for dataset in datasets:
        assert same(built[dataset.name], dataset.to_arrow())


def test_read_every_type_at_every_position(tmp_path: Path) -> None:
    fields = [
        {**put(type_), "name": f"{name}, {place}"}
        for place, put in POSITIONS.items()
        for name, type_ in TYPES.items()
    ]
    # The checks refuse a Null that may not be null; the names of a map's parts have a test of their own.
    sound = [field for field in fields if not field["name"].startswith(("Null, ", "Map with other names, "))]
    document = {"extra": {"schemac.dev/targets": ["arrow"]}, "fields": sound}
    manifest = tmp_path / "all.yaml"
    manifest.write_text(json.dumps(document))
    ((_, built),) = artifact(manifest, tmp_path / "build")
    (dataset,) = schemac.compile_file(manifest)
    assert len(built) == len(sound) > 1500
    assert same(built, dataset.to_arrow())


@pytest.mark.parametrize("place", POSITIONS)
def test_name_whatever_a_reader_does_not_return(place: str) -> None:
    """Of every type that is no tensor: what `read_schema` returns is the schema itself, or a loss says where it differs."""
    for name, type_ in TYPES.items():
        try:
            dataset = compiled(POSITIONS[place](type_))
        except schemac.SchemaError:
            continue
        read = pa.ipc.read_schema(pa.BufferReader(dataset.artifacts("arrow")["arrow/schema.arrow"]))
        if "tensor" not in name:
            assert same(read, dataset.to_arrow()) == (not dataset.losses("arrow")), name


def test_take_the_longest_binary_that_arrow_reads() -> None:
    longest = 2**28 - 1
    schema = compiled(member("a", of("Binary", fixedLength=longest))).to_arrow()
    assert same(pa.ipc.read_schema(pa.BufferReader(schema.serialize())), schema)
    with pytest.raises(schemac.SchemaError):
        compiled(member("a", of("Binary", fixedLength=longest + 1)))
    too_long = pa.schema([pa.field("a", pa.binary(longest + 1))]).serialize()
    with pytest.raises(pa.ArrowInvalid, match="too large"):
        pa.ipc.read_schema(pa.BufferReader(too_long))


def test_write_the_names_of_map_parts() -> None:
    """They are in the file, although pyarrow's reader puts its own in their place."""
    dataset = compiled(member("m", TYPES["Map with other names"]))
    schema = dataset.to_arrow()
    content = schema.serialize().to_pybytes()
    read = pa.ipc.read_schema(pa.BufferReader(content)).field("m").type
    assert (schema.field("m").type.key_field.name, schema.field("m").type.item_field.name) == (
        "keys",
        "values",
    )
    assert (read.key_field.name, read.item_field.name) == ("key", "value")
    assert b"keys\0" in content
    assert b"values\0" in content
    (loss,) = dataset.losses("arrow")
    assert (loss.path, loss.lost, loss.becomes) == ("m", "the names keys and values", "key and value")


def test_tell_schemas_apart_that_pyarrow_does_not() -> None:
    item, element = (
        pa.schema([pa.field("l", pa.list_(pa.field(name, pa.int8())))]) for name in ("item", "element")
    )
    assert item == element
    assert not same(item, element)


def test_leave_attributes_out_without_metadata(tmp_path: Path) -> None:
    manifest = tmp_path / "m.yaml"
    fields = [
        member("a", of("Int8", {"example.com/x": 1, "lance.org/encoding": {"compression": "zstd"}})),
        member("s", struct(member("b", of("String", {"opendatafabric.org/description": "text"})))),
    ]
    manifest.write_text(json.dumps({"extra": {"example.com/y": 2}, "fields": fields}))
    ((_, bare),) = artifact(manifest, tmp_path / "bare", "--no-metadata")
    ((_, full),) = artifact(manifest, tmp_path / "full")
    inner = pa.struct([pa.field("b", pa.string(), nullable=False)])
    assert same(bare, pa.schema([pa.field("a", pa.int8(), False), pa.field("s", inner, False)]))
    assert full.field("a").metadata == {b"example.com/x": b"1", b"lance-encoding:compression": b"zstd"}
    assert full.field("s").type.field("b").metadata == {b"opendatafabric.org/description": b'"text"'}
    assert full.metadata == {b"example.com/y": b"2"}
    (dataset,) = schemac.compile_file(manifest)
    assert same(dataset.to_arrow(metadata=False), bare)


REFERENCE_HINTS: dict[str, tuple[Manifest, pa.DataType]] = {
    "Binary": (of("Binary"), pa.binary()),
    "Binary in 32 bits": (of("Binary", buffer("Contiguous", 32)), pa.binary()),
    "Binary, contiguous": (of("Binary", buffer("Contiguous")), pa.binary()),
    "Binary in 64 bits": (of("Binary", buffer("Contiguous", 64)), pa.large_binary()),
    "Binary view": (of("Binary", buffer("View")), pa.binary_view()),
    "Binary view of 32 bits": (of("Binary", buffer("View", 32)), pa.binary_view()),
    "Binary of 4 bytes": (of("Binary", fixedLength=4), pa.binary(4)),
    "String": (of("String"), pa.string()),
    "String in 64 bits": (of("String", buffer("Contiguous", 64)), pa.large_string()),
    "String view": (of("String", buffer("View")), pa.string_view()),
    "List": (of("List", itemType=of("Int8")), pa.list_(pa.field("item", pa.int8(), False))),
    "List in 64 bits": (
        of("List", buffer("Contiguous", 64), itemType=option(of("Int8"))),
        pa.large_list(pa.field("item", pa.int8())),
    ),
    "List view": (
        of("List", buffer("View"), itemType=of("Int8")),
        pa.list_view(pa.field("item", pa.int8(), False)),
    ),
    "List view of 64 bits": (
        of("List", buffer("View", 64), itemType=of("Int8")),
        pa.large_list_view(pa.field("item", pa.int8(), False)),
    ),
    "List of 4": (
        of("List", itemType=of("Int8"), fixedLength=4),
        pa.list_(pa.field("item", pa.int8(), False), 4),
    ),
    "Date": (of("Date"), pa.date32()),
    "Date in days": (of("Date", {f"{ARROW}/dateEncoding": {"unit": "Day"}}), pa.date32()),
    "Date in milliseconds": (of("Date", {f"{ARROW}/dateEncoding": {"unit": "Millisecond"}}), pa.date64()),
    "Decimal of 38 digits": (of("Decimal", precision=38, scale=2), pa.decimal128(38, 2)),
    "Decimal of 39 digits": (of("Decimal", precision=39, scale=2), pa.decimal256(39, 2)),
    **{
        f"Decimal in {bits} bits": (
            of("Decimal", {f"{ARROW}/decimalEncoding": {"bitWidth": bits}}, precision=9, scale=2),
            getattr(pa, f"decimal{bits}")(9, 2),
        )
        for bits in (32, 64, 128, 256)
    },
    "Duration": (of("Duration"), pa.duration("ms")),
    "Time": (of("Time"), pa.time32("ms")),
    "Time in nanoseconds": (of("Time", unit="Nanosecond"), pa.time64("ns")),
    "Timestamp": (of("Timestamp"), pa.timestamp("ms", "UTC")),
    "Timestamp with offset": (of("Timestamp", timezone="+05:30"), pa.timestamp("ms", "+05:30")),
    "Timestamp without zone": (of("Timestamp", timezone=None), pa.timestamp("ms")),
    "dictionary": (
        of("String", {f"{ARROW}/dictionaryEncoding": {"indexType": "UInt16", "ordered": True}}),
        pa.dictionary(pa.uint16(), pa.string(), ordered=True),
    ),
    "Map": (
        of("Map", keyType=of("String"), valueType=option(of("Int8")), keysSorted=True),
        pa.map_(pa.field("key", pa.string(), False), pa.field("value", pa.int8()), keys_sorted=True),
    ),
}


@pytest.mark.parametrize("name", REFERENCE_HINTS)
def test_write_the_type_of_the_reference(name: str) -> None:
    type_, expected = REFERENCE_HINTS[name]
    for place, nullable in ((type_, False), (option(type_), True)):
        found = compiled(member("a", place)).to_arrow(metadata=False)
        assert same(found, pa.schema([pa.field("a", expected, nullable)]))


def test_write_the_hints_of_the_rfc() -> None:
    (dataset,) = schemac.compile_file(ROOT / "tests/corpus/accepted/rfc_016_hints/manifest.yaml")
    text = pa.field("item", pa.string(), False)
    expected = {
        "large_utf8": pa.large_string(),
        "utf8_view": pa.string_view(),
        "binary_view": pa.binary_view(),
        "list_view": pa.list_view(text),
        "large_list_view": pa.large_list_view(text),
        "date64": pa.date64(),
        "decimal128": pa.decimal128(10, 2),
        "decimal256": pa.decimal256(10, 2),
    }
    assert same(
        dataset.to_arrow(metadata=False),
        pa.schema([pa.field(name, t, False) for name, t in expected.items()]),
    )


STRINGS = ("string", "large_string", "string_view")
BINARIES = ("binary", "large_binary", "binary_view")
LISTS = ("list", "large_list", "list_view", "large_list_view")


@pytest.mark.parametrize("string", STRINGS)
@pytest.mark.parametrize("binary", BINARIES)
@pytest.mark.parametrize("list_", LISTS)
@pytest.mark.parametrize("date", ["date32", "date64"])
def test_apply_defaults_at_every_depth(string: Any, binary: Any, list_: Any, date: Any) -> None:
    defaults = ArrowDefaults(string=string, binary=binary, list=list_, date=date)
    text, raw, day = (getattr(pa, name)() for name in (string, binary, date))
    make_list = pa.list_ if list_ == "list" else getattr(pa, list_)
    inside = struct(
        member("s", of("String")),
        member("b", option(of("Binary"))),
        member("d", of("Date")),
        member("m", of("Map", keyType=of("String"), valueType=option(of("Binary")))),
        member("fixed bytes", of("Binary", fixedLength=4)),
        member("fixed list", of("List", itemType=option(of("String")), fixedLength=2)),
        member("hinted", of("String", buffer("Contiguous", 32))),
        member("hinted list", of("List", buffer("Contiguous", 64), itemType=of("Date"))),
    )
    expected = pa.struct(
        [
            pa.field("s", text, False),
            pa.field("b", raw),
            pa.field("d", day, False),
            pa.field("m", pa.map_(pa.field("key", text, False), pa.field("value", raw)), False),
            pa.field("fixed bytes", pa.binary(4), False),
            pa.field("fixed list", pa.list_(pa.field("item", text), 2), False),
            pa.field("hinted", pa.string(), False),
            pa.field("hinted list", pa.large_list(pa.field("item", day, False)), False),
        ]
    )
    dataset = compiled(member("l", of("List", itemType=inside)))
    found = dataset.to_arrow(defaults=defaults, metadata=False)
    assert same(found, pa.schema([pa.field("l", make_list(pa.field("item", expected, False)), False)]))


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (TYPES["uuid"], pa.uuid()),
        (TYPES["bool8"], pa.bool8()),
        (TYPES["json"], pa.json_(pa.string())),
        (TYPES["large arrow json"], pa.json_(pa.large_string())),
        (TYPES["tensor"], pa.fixed_shape_tensor(pa.float32(), [2, 3])),
        (TYPES["opaque"], pa.opaque(pa.binary(), "point", "PostGIS")),
    ],
    ids=["uuid", "bool8", "json", "large json", "tensor", "opaque"],
)
def test_use_the_extension_types_of_pyarrow(type_: Manifest, expected: pa.DataType) -> None:
    assert compiled(member("a", type_)).to_arrow().field("a").type == expected


def test_mark_other_extension_types_by_metadata() -> None:
    field = compiled(member("a", TYPES["own extension"])).to_arrow().field("a")
    assert field.type == pa.binary()
    assert field.metadata == {b"ARROW:extension:name": b"example.point", b"ARROW:extension:metadata": b"3d"}


def test_make_blobs_of_four_members() -> None:
    field = compiled(member("a", TYPES["blob"])).to_arrow().field("a")
    assert field.type == blob_type()
    assert field.metadata == {b"ARROW:extension:name": b"lance.blob.v2", b"ARROW:extension:metadata": b""}


def test_make_blobs_of_large_bytes_before_version_2_2() -> None:
    document = {"extra": {"lance.org/storageVersion": "2.1"}, "fields": [member("a", TYPES["blob"])]}
    (dataset,) = schemac.compile_text(json.dumps(document))
    field = dataset.to_arrow().field("a")
    assert field.type == pa.large_binary()
    assert field.metadata == {b"lance-encoding:blob": b"true"}
