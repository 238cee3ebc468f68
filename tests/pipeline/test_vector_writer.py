"""The sink's own writer on vectors that may be absent: null rows at every storage version that has them, in every place."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

from schemac.engines.lance.runs.sink import as_lance_reads
from schemac.pipeline.writing.sink_options import SinkOptions, encode_schema
from schemac.pipeline.writing.table_sink import TableWriter

VERSIONS = ("2.0", "2.1", "2.2", "2.3")
ITEMS = {
    "float32": pa.float32(),
    "float16": pa.float16(),
    "int8": pa.int8(),
    "uint64": pa.uint64(),
    "float64": pa.float64(),
}
SPARKS = {"float16": pa.float32(), "uint64": pa.decimal128(20, 0)}
VALUES: list[list[float] | None] = [[1, 2, 3], None, [4, 5, 6], None, None]


def given(value: Any, place: str, version: str) -> Any:
    """A value as it stands in its place; 2.0 has no structs that are null."""
    if place == "top":
        return value
    return {"v": value} if place == "struct" else [{"v": value}, *([] if version == "2.0" else [None])]


def held(vector: Any, place: str, *, nullable: bool = True) -> pa.DataType:
    struct = pa.struct([pa.field("v", vector, nullable)])
    return {"top": vector, "struct": struct, "list": pa.list_(struct)}[place]


def write(folder: Path, column: pa.Array, field: pa.Field, version: str) -> pa.Table:
    schema = as_lance_reads(pa.schema([field]))
    options = SinkOptions(path=str(folder / "t.lance"), schema=encode_schema(schema), storage_version=version)

    def batches() -> Iterator[pa.RecordBatch]:
        whole = pa.record_batch([column], names=[field.name])
        yield whole.slice(0, 2)
        yield whole.slice(2)

    writer = TableWriter(options, overwrite=False, is_split=False)
    writer.commit([writer.write(batches())])
    table = lance.dataset(options.path)
    assert table.data_storage_version == version
    return table.to_table()


@pytest.mark.parametrize("version", VERSIONS)
def test_absent_vectors_come_back(tmp_path: Path, version: str) -> None:
    cases = itertools.product(ITEMS, ("top", "struct", "list"), (True, False), (True, False))
    for i, (item, place, item_nullable, is_fixed) in enumerate(cases):
        value_field = pa.field("item", ITEMS[item], item_nullable)
        target = held(pa.list_(value_field, 3), place)
        sparks = SPARKS.get(item, ITEMS[item])
        source = held(pa.list_(sparks, 3) if is_fixed else pa.list_(pa.field("element", sparks)), place)
        expected = [given(value, place, version) for value in VALUES]
        column = pa.array(expected, source)
        try:
            found = write(tmp_path / f"{i}", column, pa.field("c", target), version)
        except Exception as error:
            raise AssertionError(f"{item} {place} {item_nullable} {is_fixed}: {error}") from error
        assert found["c"].to_pylist() == expected, (item, place, item_nullable, is_fixed)
