"""Reads tables of an engine with Spark, one task for each part.

Layer: pipeline.
Shape: a frame of the table's columns as the engine's `Source` gives them, and `_source`, the table of a row. The version is
       fixed when the frame is made.
"""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from schemac.pipeline import job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.quarantine_buffer import ADDRESS, SOURCE
from schemac.pipeline.registration import register
from schemac.registry.installed import engine as registered
from schemac.runs.tables import Source, source_of
from schemac.source.catalogue import INPUT_NOT_FOUND


def read_tables(spark: SparkSession, source: job.Source) -> DataFrame:
    """Read the rows of one or more tables of one schema."""
    register(spark, TableSource)
    engine = _engine(source.format)
    frames = []
    for path in source.path:
        newest = engine.newest_version(path)
        if newest is None:
            message = f"there is no {registered(source.format).title} table at `{path}`"
            raise PipelineError(INPUT_NOT_FOUND, message, place=("source", "path"))
        version = source.options.get("version", str(newest))
        reader = spark.read.format(TableSource.name())
        frames.append(reader.options(engine=source.format, path=path, version=version).load())
    first, *others = frames
    for other in others:
        first = first.unionByName(other)
    return first


def _engine(name: str) -> Source:
    engine = source_of(name)
    assert engine is not None
    return engine


class TableSource(DataSource):  # type: ignore[misc]  # PySpark is not followed
    """Spark's way to a table of an engine."""

    @classmethod
    def name(cls) -> str:
        """Return the word for `format`."""
        return "schemac-table"

    def schema(self) -> StructType:
        """Columns of the table, and where a row comes from."""
        from pyspark.sql.pandas.types import from_arrow_schema

        return from_arrow_schema(self._reader().schema)

    def reader(self, schema: StructType) -> "TableReader":
        """Make a reader of the pinned version."""
        return self._reader()

    def _reader(self) -> "TableReader":
        has_addresses = self.options.get("addresses") == "true"
        return TableReader(
            self.options["engine"], self.options["path"], int(self.options["version"]), has_addresses
        )


class TableReader(DataSourceReader):  # type: ignore[misc]  # PySpark is not followed
    """Reads part by part."""

    def __init__(self, engine: str, path: str, version: int, has_addresses: bool) -> None:
        self.engine = engine
        self.path = path
        self.version = version
        self.address = ADDRESS if has_addresses else None

    @property
    def schema(self) -> pa.Schema:
        """The engine's columns, and where a row comes from."""
        columns = _engine(self.engine).schema(self.path, self.version)
        if self.address is not None:
            columns = columns.append(pa.field(self.address, pa.int64()))
        return columns.append(pa.field(SOURCE, pa.string()))

    def partitions(self) -> list[InputPartition]:
        """One for each part."""
        return [InputPartition(part) for part in _engine(self.engine).parts(self.path, self.version)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the rows of one part."""
        schema = self.schema
        for batch in _engine(self.engine).read(
            self.path, self.version, partition.value, address=self.address
        ):
            source = pa.array([self.path] * batch.num_rows, pa.string())
            yield pa.RecordBatch.from_arrays([*batch.columns, source], schema=schema)
