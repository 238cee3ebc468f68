"""Reads tables of an engine with Spark, one task for each part.

Layer: pipeline.
Shape: a frame of the table's columns as the engine's `Source` gives them, and `_source`, the table of a row. The version is
       fixed when the frame is made.
"""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from schemac.pipeline import job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.quarantine_buffer import SOURCE
from schemac.pipeline.registration import register
from schemac.runs.tables import Source, source_of
from schemac.source.catalogue import INPUT_NOT_FOUND


def read_tables(spark: SparkSession, source: job.Source) -> DataFrame:
    """Read the rows of one or more tables of one schema."""
    register(spark, TableSource)
    frames = []
    for path in source.path:
        version = source.options.get("version", str(_newest(source.format, path)))
        reader = spark.read.format(TableSource.name())
        frames.append(reader.options(engine=source.format, path=path, version=version).load())
    first, *others = frames
    for other in others:
        first = first.unionByName(other)
    return first


def stream_table(spark: SparkSession, source: job.Source) -> DataFrame:
    """Open the stream of the rows that are added to a table."""
    register(spark, TableSource)
    (path,) = source.path
    options = {"engine": source.format, "path": path, "version": str(_newest(source.format, path))}
    return spark.readStream.format(TableSource.name()).options(**options).load()


def _newest(format: str, path: str) -> int:
    newest = _engine(format).newest_version(path)
    if newest is None:
        message = f"there is no {format} table at `{path}`"
        raise PipelineError(INPUT_NOT_FOUND, message, place=("source", "path"))
    return newest


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

    def streamReader(self, schema: StructType) -> "TableStream":  # noqa: N802  PySpark's name
        """Make a reader of what is added from now on, and of what is there."""
        return TableStream(self.options["engine"], self.options["path"])

    def _reader(self) -> "TableReader":
        return TableReader(self.options["engine"], self.options["path"], int(self.options["version"]))


class TableStream(DataSourceStreamReader):  # type: ignore[misc]  # PySpark is not followed
    """Reads what was added to a table, from version to version."""

    def __init__(self, engine: str, path: str) -> None:
        self.engine = engine
        self.path = path

    def initialOffset(self) -> dict[str, int]:  # noqa: N802  PySpark's name
        """Begin before the first version."""
        return {"version": 0}

    def latestOffset(self, start: object = None, limit: object = None) -> dict[str, int]:  # noqa: N802  PySpark's name
        """End with the newest version."""
        return {"version": _engine(self.engine).newest_version(self.path) or 0}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """One for each part that was added."""
        version = end["version"]
        if not version:
            return []
        added = _engine(self.engine).added(self.path, start["version"], version)
        return [InputPartition((version, part)) for part in added]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the rows of one part."""
        version, part = partition.value
        return TableReader(self.engine, self.path, version).read(InputPartition(part))


class TableReader(DataSourceReader):  # type: ignore[misc]  # PySpark is not followed
    """Reads part by part."""

    def __init__(self, engine: str, path: str, version: int) -> None:
        self.engine = engine
        self.path = path
        self.version = version

    @property
    def schema(self) -> pa.Schema:
        """The engine's columns, and where a row comes from."""
        columns = _engine(self.engine).schema(self.path, self.version)
        return columns.append(pa.field(SOURCE, pa.string()))

    def partitions(self) -> list[InputPartition]:
        """One for each part."""
        return [InputPartition(part) for part in _engine(self.engine).parts(self.path, self.version)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the rows of one part."""
        schema = self.schema
        for batch in _engine(self.engine).read(self.path, self.version, partition.value):
            source = pa.array([self.path] * batch.num_rows, pa.string())
            yield pa.RecordBatch.from_arrays([*batch.columns, source], schema=schema)
