"""Reads a Lance table with Spark, one task for each fragment.

Layer: pipeline.
Shape: a frame of the table's columns as Spark can hold them: unsigned integers widened, fixed-size lists as lists,
       half floats as floats; blob columns are left out. The version is fixed when the frame is made.
"""

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from schemac.engines.lance.tables.live_table import open_dataset
from schemac.pipeline import lance_table
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.job import Source
from schemac.pipeline.registration import register
from schemac.pipeline.scalars import extension_name
from schemac.source.catalogue import INPUT_NOT_FOUND

ROWS_PER_BATCH = 8192
WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
WIDER |= {pa.float16(): pa.float32(), pa.date64(): pa.date32(), pa.large_string(): pa.string()}
WIDER |= {pa.large_binary(): pa.binary(), pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def read_lance(spark: SparkSession, source: Source) -> DataFrame:
    """Read the rows of one or more tables of one schema."""
    register(spark, LanceTables)
    frames = []
    for path in source.path:
        table = lance_table.open_table(path)
        if table is None:
            raise PipelineError(INPUT_NOT_FOUND, f"there is no Lance table at `{path}`")
        version = source.options.get("version", str(table.version))
        frames.append(spark.read.format(LanceTables.name()).options(path=path, version=version).load())
    first, *others = frames
    for other in others:
        first = first.unionByName(other)
    return first


class LanceTables(DataSource):  # type: ignore[misc]  # PySpark is not followed
    """Spark's way to a Lance table."""

    @classmethod
    def name(cls) -> str:
        """Return the word for `format`."""
        return "schemac-lance-table"

    def schema(self) -> StructType:
        """Columns of the table, and where a row comes from."""
        from pyspark.sql.pandas.types import from_arrow_schema

        return from_arrow_schema(_spark_schema(self._table().schema))

    def reader(self, schema: StructType) -> "LanceReader":
        """Make a reader of the pinned version."""
        return LanceReader(self.options["path"], int(self.options["version"]))

    def _table(self) -> Any:
        return open_dataset(self.options["path"], int(self.options["version"]))


class LanceReader(DataSourceReader):  # type: ignore[misc]  # PySpark is not followed
    """Reads fragment by fragment."""

    def __init__(self, path: str, version: int) -> None:
        self.path = path
        self.version = version

    def _table(self) -> Any:
        return open_dataset(self.path, self.version)

    def partitions(self) -> list[InputPartition]:
        """One for each fragment."""
        return [
            InputPartition(json.dumps(fragment.fragment_id)) for fragment in self._table().get_fragments()
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the rows of one fragment."""
        table = self._table()
        schema = _spark_schema(table.schema)
        fragment = table.get_fragment(json.loads(partition.value))
        columns = [name for name in schema.names if name != "_source"]
        for batch in fragment.to_batches(columns=columns, batch_size=ROWS_PER_BATCH):
            arrays = [
                _held(column).cast(field.type) for column, field in zip(batch.columns, schema, strict=False)
            ]
            source = pa.array([self.path] * batch.num_rows, pa.string())
            yield pa.RecordBatch.from_arrays([*arrays, source], schema=schema)


def _held(array: Any) -> Any:
    if isinstance(array, pa.ExtensionArray):
        return array.storage
    return array.dictionary_decode() if isinstance(array, pa.DictionaryArray) else array


def _spark_schema(schema: pa.Schema) -> pa.Schema:
    fields = [_spark_field(field) for field in schema if extension_name(field) != "lance.blob.v2"]
    return pa.schema([*fields, pa.field("_source", pa.string())])


def _spark_field(field: Any) -> Any:
    return pa.field(field.name, _spark_type(field.type), field.nullable)


def _spark_type(data_type: Any) -> Any:
    is_ = pa.types
    if isinstance(data_type, pa.BaseExtensionType):
        return _spark_type(data_type.storage_type)
    if is_.is_dictionary(data_type):
        return _spark_type(data_type.value_type)
    if is_.is_list(data_type) or is_.is_large_list(data_type) or is_.is_fixed_size_list(data_type):
        return pa.list_(_spark_field(data_type.value_field).with_name("element"))
    if is_.is_struct(data_type):
        return pa.struct([_spark_field(member) for member in data_type])
    if is_.is_map(data_type):
        return pa.map_(_spark_type(data_type.key_type), _spark_field(data_type.item_field).with_name("value"))
    if is_.is_timestamp(data_type):
        return pa.timestamp("us", tz=None if data_type.tz is None else "UTC")
    if is_.is_fixed_size_binary(data_type):
        return pa.binary()
    return WIDER.get(data_type, data_type)
