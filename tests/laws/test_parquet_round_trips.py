"""Arrow schemas through Parquet files: they come back as they were, but for what Parquet itself does to them."""

from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import schemac
from schemac.importers.data_files import read_parquet
from schemac.text.source.diagnostics import Report
from tests.conformance.arrow_schemas import schemas
from tests.laws.shapes import shapes

SCHEMAS = dict(schemas())


def in_parquet(schema: pa.Schema) -> pa.Schema:
    """A schema after pyarrow wrote and read it: parts have Parquet's names, and some types a wider or plainer one."""
    return pa.schema([_field(field, field.name) for field in schema], schema.metadata)


def _field(field: pa.Field, name: str) -> pa.Field:
    return pa.field(name, _type(field.type), field.nullable, field.metadata)


def _type(t: Any) -> pa.DataType:
    if isinstance(t, pa.BaseExtensionType):
        return t
    if pa.types.is_struct(t):
        return pa.struct([_field(member, member.name) for member in t])
    if pa.types.is_map(t):
        return pa.map_(_field(t.key_field, "key"), _field(t.item_field, "value"))
    if pa.types.is_fixed_size_list(t):
        return pa.list_(_field(t.value_field, "item"), t.list_size)
    if pa.types.is_large_list(t):
        return pa.large_list(_field(t.value_field, "item"))
    if pa.types.is_list(t):
        return pa.list_(_field(t.value_field, "item"))
    if pa.types.is_dictionary(t):
        return _dictionary(t)
    if pa.types.is_timestamp(t) and t.unit == "s":
        return pa.timestamp("ms", t.tz)
    if t == pa.time32("s"):
        return pa.time32("ms")
    return pa.date32() if pa.types.is_date64(t) else t


def _dictionary(t: Any) -> pa.DataType:
    """Only texts and bytes keep their dictionary, and of large ones it becomes a plain one."""
    plain = {pa.string(): pa.string(), pa.large_string(): pa.string()}
    plain |= {pa.binary(): pa.binary(), pa.large_binary(): pa.binary()}
    values = plain.get(t.value_type)
    return _type(t.value_type) if values is None else pa.dictionary(t.index_type, values, t.ordered)


@pytest.mark.skipif(
    int(pa.__version__.partition(".")[0]) < 22,
    reason="pyarrow 21 itself gives maps back otherwise than they were written",
)
def test_go_from_arrow_to_parquet_and_back(tmp_path: Any) -> None:
    path = tmp_path / "x.parquet"
    came_back = 0
    for name, schema in SCHEMAS.items():
        try:
            dataset = schemac.from_arrow(schema)
            pa.parquet.write_table(dataset.to_arrow().empty_table(), path)
        except (schemac.SchemaError, NotImplementedError, OSError):
            # Types that Parquet has no place for: extensions in maps, scales above the precision.
            continue
        again = schemac.from_parquet(path)
        assert shapes(again.to_arrow()) == shapes(in_parquet(dataset.to_arrow())), name
        came_back += 1
    assert came_back > 850


def test_note_a_type_that_arrow_does_not_have(tmp_path: Any) -> None:
    path = tmp_path / "x.parquet"
    pa.parquet.write_table(pa.schema([("doc", pa.json_())]).empty_table(), path, store_schema=False)
    content = path.read_bytes()
    at = content.index(b"doc", content.rindex(b"schema"))
    # What follows the name says JSON twice: in the old words (19, as a varint 0x26) and in the new ones (member 12).
    footer = content[at:].replace(b"\x26", b"\x28", 1).replace(b"\xcc", b"\xdc", 1)
    path.write_bytes(content[:at] + footer)
    imported = read_parquet(path, Report())
    assert imported is not None
    assert imported.notes.at(("doc",)) == ("Parquet's type BSON of doc is not kept",)
