"""Our Lance schema is the one that Lance makes of the same Arrow schema, as a message."""

from pathlib import Path

import pyarrow as pa
import pytest
from google.protobuf import text_format

from schemac import Dataset, SchemaError, compile_file
from schemac.engines.lance import artifact as lance
from schemac.engines.lance._generated.lance import file_pb2 as pb
from tests.conformance.arrow_schemas import POSITIONS, brain_floats, schemas
from tests.conformance.oracle import canonical, lance_fields, lowered, split

ROOT = Path(__file__).parents[2]
SCHEMAS = dict(schemas())
MANIFESTS = sorted(
    [
        *(ROOT / "tests/corpus/accepted").glob("**/manifest.yaml"),
        *(ROOT / "examples").glob("**/*.yaml"),
    ]
)


def assert_is_what_lance_makes(schema: pa.Schema) -> None:
    their_metadata, theirs = lance_fields(schema)
    message = lance.to_message(lowered(schema))
    assert list(message.fields) == [pb.Field.FromString(field) for field in theirs]
    assert dict(message.metadata) == their_metadata
    content = lance.to_bytes(message)
    assert pb.Schema.FromString(content) == message
    assert text_format.Parse(lance.to_text(message), pb.Schema()) == message
    # Byte by byte too, but for the order of metadata and for how an empty text in it is written.
    _, ours = split(content)
    if all(all(entry) for field in message.fields for entry in field.metadata.items()):
        assert [canonical(field) for field in ours] == [canonical(field) for field in theirs]


def test_generate_schemas_by_the_hundred() -> None:
    assert len(SCHEMAS) > 1000


@pytest.mark.parametrize("name", SCHEMAS)
def test_write_the_bytes_of_lance(name: str) -> None:
    assert_is_what_lance_makes(SCHEMAS[name])


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_write_the_bytes_of_lance_for_manifest(path: Path) -> None:
    datasets = _datasets(path)
    assert datasets or path.name in ("pipeline.yaml", "production.yaml") or path.parent.name == "groups"
    for dataset in datasets:
        if not _is_refused(dataset):
            assert_is_what_lance_makes(dataset.to_arrow())
            metadata, fields = lance_fields(dataset.to_arrow())
            message = dataset.to_lance()
            assert list(message.fields) == [pb.Field.FromString(field) for field in fields]
            assert dict(message.metadata) == metadata


def test_take_most_manifests_of_the_corpus() -> None:
    taken = [dataset for path in MANIFESTS for dataset in _datasets(path) if not _is_refused(dataset)]
    assert len(taken) > 30


@pytest.mark.parametrize("position", POSITIONS)
def test_name_brain_floats_as_lance_does(position: str) -> None:
    schema = pa.schema([POSITIONS[position](pa.field("v", brain_floats(5)))])
    words = [field.logical_type for field in lance.to_message(lowered(schema)).fields]
    assert "fixed_size_list:lance.bfloat16:5" in words
    assert_is_what_lance_makes(schema)


def test_mean_the_same_by_an_empty_metadata_value() -> None:
    schema = pa.schema([pa.field("a", pa.int8(), metadata={"k": ""})])
    _, (theirs,) = lance_fields(schema)
    _, (ours,) = split(lance.to_bytes(lance.to_message(lowered(schema))))
    assert (b"\x52\x03\x0a\x01k" in theirs, b"\x52\x05\x0a\x01k\x12\x00" in ours) == (True, True)
    assert pb.Field.FromString(ours) == pb.Field.FromString(theirs)
    assert_is_what_lance_makes(schema)


def test_write_the_same_bytes_in_every_order_of_metadata() -> None:
    entries = {"b": "1", "a": "2", "a:b": "3", "é": "4"}
    orders = [entries, dict(reversed(entries.items()))]
    schemas = [pa.schema([pa.field("a", pa.int8(), metadata=order)], metadata=order) for order in orders]
    assert len({lance.to_bytes(lance.to_message(lowered(schema))) for schema in schemas}) == 1


def test_number_fields_in_preorder_from_zero() -> None:
    for schema in SCHEMAS.values():
        fields = list(lance.to_message(lowered(schema)).fields)
        assert [field.id for field in fields] == list(range(len(fields)))
        assert all(-1 <= field.parent_id < field.id for field in fields)


@pytest.mark.parametrize(
    "type_",
    [
        pa.decimal32(5, 1),
        pa.month_day_nano_interval(),
        pa.list_view(pa.int8()),
        pa.run_end_encoded(pa.int32(), pa.string()),
        pa.dense_union([pa.field("a", pa.int8())]),
    ],
    ids=str,
)
def test_raise_where_lance_has_no_word(type_: pa.DataType) -> None:
    schema = pa.schema([pa.field("a", type_)])
    with pytest.raises(ValueError, match="Lance has no type for"):
        lance.to_message(lowered(schema))
    with pytest.raises(ValueError, match="Unsupported data type"):
        lance_fields(schema)


def _datasets(path: Path) -> list[Dataset]:
    if path.name in ("pipeline.yaml", "production.yaml"):
        return []
    return compile_file(path, strict=path.parent.name.startswith("strict"))


def _is_refused(dataset: Dataset) -> bool:
    try:
        dataset.to_lance()
    except SchemaError:
        return True
    return False
