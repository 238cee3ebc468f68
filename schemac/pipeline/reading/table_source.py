"""Reads tables of an engine with Spark, one task for each part.

Layer: pipeline.
Shape: a frame of the table's columns as the engine's `SourceFormat` gives them, and for runs `_source`, the table of a row, with counts in
       place of what Spark cannot hold exactly. The version is fixed when the frame is made, or when its rows are computed where `spark.read` names none.
Source: PySpark 4.1 to 4.3: a Python data source is told the columns that a query needs by `spark.read.schema(…)` alone. It
        would get filters (`pushFilters`), but Spark keeps the reader of a frame: a later query without filters on the
        same frame would get the rows of the earlier one. So a filter is an option of the frame.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import DataType, StructType

from schemac.pipeline.declaration import job
from schemac.pipeline.errors import PipelineError, did_you_mean
from schemac.pipeline.reading.inputs import counts_type, with_counts
from schemac.pipeline.spark.executors import register
from schemac.pipeline.spark.packed import ADDRESS, ROW_ID, SOURCE
from schemac.registry.installed import engine as registered
from schemac.rows.runs.identity import random_id
from schemac.rows.runs.storage import NO_STORAGE, Storage
from schemac.rows.runs.tables import Projection, SourceFormat, source_of
from schemac.text.source.catalogue import (
    INPUT_NOT_FOUND,
    SINK_OPTION,
    SOURCE_TYPE_MISMATCH,
    UNKNOWN_SOURCE_COLUMN,
)

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
    spark: SparkSession, source: job.Source, storage: Storage = NO_STORAGE
) -> tuple[DataFrame, dict[str, DataType]]:
    """Read the rows of one or more tables of one schema, and the types of columns that hold counts."""
    frames, counts = [], []
    for path in source.path:
        version = int(source.options.get("version", _newest_version(source.format, path, storage)))
        table = TableVersion(source.format, path, version, storage.resolved(), is_exact=True)
        frames.append(table_frame(spark, TableReader(table)))
        counts.append(_count_types(frames[-1], table))
    first, *others = frames
    texts = [{label: str(held) for label, held in types.items()} for types in counts]
    for i, other in enumerate(others, 1):
        if texts[i] != texts[0]:
            message = f"`{source.path[0]}` and `{source.path[i]}` have timestamps, times or durations of other units"
            help = "name them under `sources:`, each by itself"
            raise PipelineError(SOURCE_TYPE_MISMATCH, message, help, place=("source", "path"))
        first = first.unionByName(other)
    return first, counts[0]


def stream_table(
    spark: SparkSession, source: job.Source, storage: Storage = NO_STORAGE
) -> tuple[DataFrame, dict[str, DataType]]:
    """Open the stream of the rows that are added to a table, and the types of columns that hold counts."""
    (path,) = source.path
    newest = _newest_version(source.format, path, storage)
    table = TableVersion(source.format, path, newest, storage.resolved(), is_exact=True)
    frame = spark.readStream.format(_register_reader(spark, TableReader(table))).load()
    return frame, _count_types(frame, table)


def _count_types(frame: DataFrame, table: "TableVersion") -> dict[str, DataType]:
    """Return the types of columns that hold counts."""
    stored = _source_format(table.engine).schema(table.path, table.version, table.storage, is_exact=True)
    return {
        field.name: with_counts(frame.schema[field.name].dataType, field.type)
        for field in stored
        if not counts_type(field.type).equals(field.type)
    }


def _newest_version(format: str, path: str, storage: Storage) -> int:
    """Return the version number of a table. Raises PipelineError if there is no table."""
    newest = _source_format(format).newest_version(path, storage)
    if newest is None:
        message = f"there is no {registered(format).title} table at `{path}`"
        raise PipelineError(INPUT_NOT_FOUND, message, place=("source", "path"))
    return newest


def _source_format(name: str) -> SourceFormat:
    """Return the source of an engine, which has one."""
    engine = source_of(name)
    assert engine is not None
    return engine


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
        from pyspark.sql.pandas.types import from_arrow_schema

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
    is_exact: bool = False
    """Whether integers replace what Spark cannot hold exactly (see `counts_type`)."""

    @property
    def schema(self) -> pa.Schema:
        """The columns that the engine reads."""
        columns = _source_format(self.engine).schema(
            self.path, self.version, self.storage, is_exact=self.is_exact
        )
        return pa.schema(
            [field.with_type(counts_type(field.type, has_counts=self.is_exact)) for field in columns]
        )


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
        return _source_format(self.table.engine).newest_version(self.table.path, self.table.storage) or 0

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """One for each part that was added."""
        version = end["version"]
        if not version:
            return []
        engine, path, _, storage, _ = self.table
        added = _source_format(engine).added(path, start["version"], version, storage)
        return [InputPartition((version, part)) for part in added]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the rows of one part."""
        version, part = partition.value
        return TableReader(self.table._replace(version=version)).read(InputPartition(part))


class TableReader(DataSourceReader):  # type: ignore[misc]  # PySpark is not followed
    """Reads part by part; `columns` are those to read, by default all of the engine's, and `_source`.

    Each says whether it may be null for Spark, which takes batches of exactly the schema it asked for. `parts` are those
    that are read, by default all.
    """

    def __init__(
        self,
        table: TableVersion,
        columns: Mapping[str, bool] | None = None,
        *,
        filter: str | None = None,
        has_row_ids: bool = False,
        has_addresses: bool = False,
        parts: Sequence[int] | None = None,
    ) -> None:
        self.table = table
        self.columns = columns
        self.filter = filter
        self.row_id = ROW_ID if has_row_ids else None
        self.address = ADDRESS if has_addresses else None
        self.parts = parts

    @property
    def schema(self) -> pa.Schema:
        """The columns that are read."""
        columns = self.table.schema
        if self.columns is not None:
            fields = [(columns.field(name), may_be_null) for name, may_be_null in self.columns.items()]
            columns = pa.schema(
                [one.with_nullable(one.nullable or may_be_null) for one, may_be_null in fields]
            )
        for last in (self.row_id, self.address):
            if last is not None:
                columns = columns.append(pa.field(last, pa.int64()))
        return columns if self.columns is not None else columns.append(pa.field(SOURCE, pa.string()))

    def partitions(self) -> list[InputPartition]:
        """One for each part."""
        engine, path, version, storage, _ = self.table
        parts = _source_format(engine).parts(path, version, storage) if self.parts is None else self.parts
        return [InputPartition(part) for part in parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the rows of one part."""
        from schemac.rows.judging.arrays import (
            to_field,
        )  # for start-up time: those who plan a query read no rows

        name, path, version, storage, is_exact = self.table
        columns = None if self.columns is None else tuple(self.columns)
        projection = Projection(columns, self.filter, self.row_id, self.address, is_exact)
        schema = self.schema
        batches = _source_format(name).read(path, version, partition.value, projection, storage)
        for batch in batches:
            source = [pa.array([path] * batch.num_rows, pa.string())] if columns is None else []
            arrays = [
                array if array.type.equals(field.type) else to_field(array, field)
                for array, field in zip([*batch.columns, *source], schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def schema_of_table(options: Mapping[str, str], engine: str) -> StructType:
    """Columns of the table that options of `spark.read` name."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(_table_version(options, engine).schema)


def reader_of_table(options: Mapping[str, str], engine: str, requested: StructType) -> TableReader:
    """Make the reader of the requested columns: all of them, or those of `spark.read.schema(…)`."""
    table = _table_version(options, engine)
    path = table.path
    stored_types = {field.name: field.dataType for field in schema_of_table(options, engine).fields}
    for field in requested.fields:
        if field.name not in stored_types:
            message = f"`{path}` has no column `{field.name}`"
            raise PipelineError(UNKNOWN_SOURCE_COLUMN, message, did_you_mean(field.name, stored_types))
        if field.dataType != stored_types[field.name]:
            has, asked = stored_types[field.name].simpleString(), field.dataType.simpleString()
            message = f"`{field.name}` of `{path}` is {has}, but was requested as {asked}"
            raise PipelineError(SOURCE_TYPE_MISMATCH, message, "request it as it is, and cast it afterwards")
    columns = {field.name: field.nullable for field in requested.fields}
    filter = options.get("filter")
    if filter is not None:
        _source_format(engine).check_filter(path, table.version, filter, table.storage)
    return TableReader(table, columns, filter=filter)


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
    newest = _source_format(engine).newest_version(options["path"], storage)
    if newest is None:
        message = f"there is no {engine} table at `{options['path']}`"
        raise PipelineError(INPUT_NOT_FOUND, message)
    version = options.get("version", str(newest))
    if not version.isdecimal() or not 0 < int(version) <= newest:
        message = f"option `version` is `{version}`, the newest version of the table is {newest}"
        raise PipelineError(SINK_OPTION, message, "leave `version` out for the newest one")
    return TableVersion(engine, options["path"], int(version), storage)
