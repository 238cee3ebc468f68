"""Reads tables of an engine with Spark, one task for each part.

Layer: pipeline.
Shape: a frame of the table's columns as the engine's `SourceFormat` gives them, and for runs `_source`, the table of a row, with counts in
       place of what Spark cannot hold exactly. The version is fixed when the frame is made, or when its rows are computed where `spark.read` names none.
Source: PySpark 4.1 to 4.3: a Python data source is told the columns that a query needs by `spark.read.schema(…)` alone. It
        would get filters (`pushFilters`), but Spark keeps the reader of a frame: a later query without filters on the
        same frame would get the rows of the earlier one. So a filter is an option of the frame.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import DataType, StructType

from schemac.pipeline.errors import PipelineError, did_you_mean
from schemac.pipeline.reading.inputs import counts_type, with_counts
from schemac.pipeline.spark.executors import register
from schemac.pipeline.spark.packed import SOURCE
from schemac.registry.engine import engine as registered
from schemac.rows.runs.identity import random_id
from schemac.rows.runs.storage import Storage
from schemac.rows.runs.tables import SOURCE as SOURCE_FORMAT
from schemac.rows.runs.tables import WHOLE_ROWS, Projection, SourceFormat
from schemac.text.source.catalogue import (
    INPUT_NOT_FOUND,
    SINK_OPTION,
    SOURCE_TYPE_MISMATCH,
    UNKNOWN_SOURCE_COLUMN,
)

if TYPE_CHECKING:
    from schemac.pipeline.declaration import job  # Spark plans without the pipeline file's models

try:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
except ImportError:  # earlier PySpark: what comes after a batch that is tried again is left for the next run
    SupportsTriggerAvailableNow = object


def table_frame(spark: SparkSession, reader: "TableReader") -> DataFrame:
    """Return the rows that a reader gives."""
    return spark.read.format(_register_reader(spark, reader)).load()


def _register_reader(spark: SparkSession, reader: "TableReader") -> str:
    """Make a reader known to a session; return its word for `format`."""
    # Made here, and not found by its name: Spark's workers get the class itself. A session may keep the first of two
    # with one name.
    word = f"schemac-table-{random_id()}"
    register(spark, type("ReaderSource", (TableSource,), {"made": reader, "word": word}))
    return word


def read_tables(
    spark: SparkSession, source: "job.Source", storage: Storage
) -> tuple[DataFrame, dict[str, DataType]]:
    """Read the rows of one or more tables of one schema, and the types of columns that hold counts."""
    frames, counts = [], []
    for path in source.path:
        table = _newest_version(source.format, path, storage)
        table = table._replace(version=int(source.options.get("version", table.version)))
        frames.append(table_frame(spark, TableReader(table, EXACT_ROWS)))
        counts.append(_count_types(frames[-1], table))
    first, *others = frames
    for i, other in enumerate(others, 1):
        if counts[i] != counts[0]:
            message = f"`{source.path[0]}` and `{source.path[i]}` have timestamps, times or durations of other units"
            help = "name them under `sources:`, each by itself"
            raise PipelineError(SOURCE_TYPE_MISMATCH, message, help, place=("source", "path"))
        first = first.unionByName(other)
    return first, counts[0]


def stream_table(
    spark: SparkSession, source: "job.Source", storage: Storage
) -> tuple[DataFrame, dict[str, DataType]]:
    """Open the stream of the rows that are added to a table, and the types of columns that hold counts."""
    (path,) = source.path
    table = _newest_version(source.format, path, storage)
    frame = spark.readStream.format(_register_reader(spark, TableReader(table, EXACT_ROWS))).load()
    return frame, _count_types(frame, table)


def _count_types(frame: DataFrame, table: "TableVersion") -> dict[str, DataType]:
    """Return the types of columns that hold counts."""
    return {
        field.name: with_counts(frame.schema[field.name].dataType, field.type)
        for field in table.stored_schema(is_exact=True)
        if not counts_type(field.type).equals(field.type)
    }


def _newest_version(format: str, path: str, storage: Storage) -> "TableVersion":
    """Return the newest version of a table. Raises PipelineError if there is no table."""
    table = TableVersion(format, path, 0, storage.resolved())
    newest = table.source.newest_version(path, storage)
    if newest is None:
        message = f"there is no {registered(format).title} table at `{path}`"
        raise PipelineError(INPUT_NOT_FOUND, message, place=("source", "path"))
    return table._replace(version=newest)


class TableSource(DataSource):  # type: ignore[misc]  # PySpark is not followed
    """Spark's way to a table of an engine; `_register_reader` makes the class of one reader."""

    made: "TableReader"
    word = ""

    @classmethod
    def name(cls) -> str:
        """Return the word for `format`."""
        return cls.word

    def schema(self) -> StructType:
        """Columns of the table, and where a row comes from."""
        return from_arrow_schema(self.made.schema)

    def reader(self, schema: StructType) -> "TableReader":
        """Give the reader."""
        return self.made

    def streamReader(self, schema: StructType) -> "TableStream":  # noqa: N802  PySpark's name
        """Make a reader of what is added from now on, and of what is there."""
        return TableStream(self.made.table)


class TableVersion(NamedTuple):
    """A version of a table, and how its store is reached: executors on other machines do not have the variables of secrets."""

    engine: str
    path: str
    version: int
    storage: Storage

    @property
    def source(self) -> SourceFormat:
        """What reads tables of the engine."""
        return SOURCE_FORMAT.of(registered(self.engine))

    def stored_schema(self, *, is_exact: bool) -> pa.Schema:
        """Return the columns that the engine reads."""
        return self.source.schema(self.path, self.version, self.storage, is_exact=is_exact)

    def schema(self, *, is_exact: bool = False) -> pa.Schema:
        """Return the columns for Spark; with `is_exact` integers replace what it cannot hold exactly (see `counts_type`)."""
        columns = self.stored_schema(is_exact=is_exact)
        return pa.schema([field.with_type(counts_type(field.type, has_counts=is_exact)) for field in columns])


EXACT_ROWS = Projection(is_exact=True)


class TableStream(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]  # PySpark is not followed
    """Reads what was added to a table, from version to version."""

    def __init__(self, table: TableVersion) -> None:
        self.table = table
        self.last: int | None = None
        """The version that a stream of what is available ends with."""

    def initialOffset(self) -> dict[str, int]:  # noqa: N802  PySpark's name
        """Begin before the first version."""
        return {"version": 0}

    def latestOffset(self, start: object = None, limit: object = None) -> dict[str, int]:  # noqa: N802  PySpark's name
        """End with the newest version; a stream of what is available with the one that was the newest at its start."""
        return {"version": self._newest_version() if self.last is None else self.last}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802  PySpark's name
        """Fix where the stream ends. Without this method Spark runs one batch: a batch that is tried again, and nothing after it."""
        self.last = self._newest_version()

    def _newest_version(self) -> int:
        """Return the newest version number of the table, 0 if there is no table."""
        return self.table.source.newest_version(self.table.path, self.table.storage) or 0

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """One for each part that was added."""
        version = end["version"]
        if not version:
            return []
        added = self.table.source.added(self.table.path, start["version"], version, self.table.storage)
        return [InputPartition((version, part)) for part in added]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the rows of one part."""
        version, part = partition.value
        return TableReader(self.table._replace(version=version), EXACT_ROWS).read(InputPartition(part))


@dataclass(frozen=True)
class TableReader(DataSourceReader):  # type: ignore[misc]  # PySpark is not followed
    """Reads part by part: the columns of a projection, by default all of the engine's, and `_source`."""

    table: TableVersion
    projection: Projection = WHOLE_ROWS
    nullable: frozenset[str] = frozenset()
    """Columns that may be null for Spark, which takes batches of exactly the schema it asked for."""
    parts: Sequence[int] | None = None
    """Those that are read, by default all."""

    @property
    def schema(self) -> pa.Schema:
        """The columns that are read."""
        names, columns = self.projection.columns, self.table.schema(is_exact=self.projection.is_exact)
        if names is not None:
            fields = map(columns.field, names)
            columns = pa.schema(
                [one.with_nullable(one.nullable or one.name in self.nullable) for one in fields]
            )
        for last in (self.projection.row_id, self.projection.address):
            if last is not None:
                columns = columns.append(pa.field(last, pa.int64()))
        return columns if names is not None else columns.append(pa.field(SOURCE, pa.string()))

    def partitions(self) -> list[InputPartition]:
        """One for each part."""
        _, path, version, storage = self.table
        parts = self.table.source.parts(path, version, storage) if self.parts is None else self.parts
        return [InputPartition(part) for part in parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the rows of one part."""
        # For start-up time: those who plan a query read no rows.
        from schemac.rows.judging.arrays import to_field

        _, path, version, storage = self.table
        schema, has_source = self.schema, self.projection.columns is None
        batches = self.table.source.read(path, version, partition.value, self.projection, storage)
        for batch in batches:
            source = [pa.array([path] * batch.num_rows, pa.string())] if has_source else []
            arrays = [
                array if array.type.equals(field.type) else to_field(array, field)
                for array, field in zip([*batch.columns, *source], schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def schema_of_table(options: Mapping[str, str], engine: str) -> StructType:
    """Columns of the table that options of `spark.read` name."""
    return from_arrow_schema(_table_version(options, engine).schema())


def reader_of_table(options: Mapping[str, str], engine: str, requested: StructType) -> TableReader:
    """Make the reader of the requested columns: all of them, or those of `spark.read.schema(…)`."""
    table = _table_version(options, engine)
    path = table.path
    stored_types = {field.name: field.dataType for field in from_arrow_schema(table.schema()).fields}
    for field in requested.fields:
        if field.name not in stored_types:
            message = f"`{path}` has no column `{field.name}`"
            raise PipelineError(UNKNOWN_SOURCE_COLUMN, message, did_you_mean(field.name, stored_types))
        if field.dataType != stored_types[field.name]:
            has, asked = stored_types[field.name].simpleString(), field.dataType.simpleString()
            message = f"`{field.name}` of `{path}` is {has}, but was requested as {asked}"
            raise PipelineError(SOURCE_TYPE_MISMATCH, message, "request it as it is, and cast it afterwards")
    nullable = frozenset(field.name for field in requested.fields if field.nullable)
    filter = options.get("filter")
    if filter is not None:
        table.source.check_filter(path, table.version, filter, table.storage)
    return TableReader(table, Projection(tuple(requested.names), filter), nullable)


def _table_version(options: Mapping[str, str], engine: str) -> TableVersion:
    """Read the table, its version, and how its store is reached out of options; the newest version unless one is named."""
    unknown = {name.lower() for name in options} - {"path", "version", "filter", "storageoptions"}
    if unknown or "path" not in options:
        reason = f"knows no option `{min(unknown)}`" if unknown else "needs the option `path`"
        message = f"reading the format `schemac-{engine}` {reason}"
        help = "the options are `path`, `version`, `filter` and `storageOptions`"
        raise PipelineError(SINK_OPTION, message, help)
    # Looked up here: executors on other machines do not have the variables.
    storage = Storage.from_json(options.get("storageOptions", "{}")).resolved()
    table = TableVersion(engine, options["path"], 0, storage)
    newest = table.source.newest_version(table.path, storage)
    if newest is None:
        message = f"there is no {engine} table at `{options['path']}`"
        raise PipelineError(INPUT_NOT_FOUND, message)
    version = options.get("version", str(newest))
    if not version.isdecimal() or not 0 < int(version) <= newest:
        message = f"option `version` is `{version}`, the newest version of the table is {newest}"
        raise PipelineError(SINK_OPTION, message, "leave `version` out for the newest one")
    return table._replace(version=int(version))
