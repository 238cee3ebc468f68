"""Parquet files: read by Spark, with columns whose types it refuses, or by Arrow in tasks of ours.

Layer: pipeline.
Shape: where Spark refuses a column, the file's own schema tells its type: timestamps in nanoseconds and times of day are read as counts,
       at every depth. Tasks of ours read the row groups that begin in their pieces of files, in the types that Spark would have by
       Arrow's names, and columns that no field is read from only for rows that are wrong.
Rule: whatever is not known to be read alike is left to Spark: other types, files of which two differ, calendars of old writers, options.
Errors: PipelineError for a file that cannot be read to its end, and SC640 for a column that is a folder's name as well.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructField, StructType

from schemac.pipeline.declaration.job import Source
from schemac.pipeline.declaration.source_options import FILES
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading import texts
from schemac.pipeline.reading.cutting import FileBatches, RecordBatch, RecordFiles
from schemac.pipeline.reading.files import FileSplit, SourceFile, open_bytes, open_file, read_errors_reported
from schemac.pipeline.reading.inputs import counts_type, leaves, with_counts
from schemac.rows.runs.plain_types import SIGNED, is_count
from schemac.text.source.catalogue import AMBIGUOUS_COLUMN

FILES_LOOKED_AT = 100


def read_parquet(spark: SparkSession, source: Source) -> tuple[DataFrame, dict[str, DataType]]:
    """Return the rows, and the types of the columns that hold counts."""
    options = {**texts.file_options(source), **source.options}
    reader = spark.read.options(**options)
    paths = texts.spark_paths(source)
    counts: dict[str, DataType] = {}
    with texts.folders_as_text(spark):
        try:
            frame = reader.parquet(*paths)
        except PySparkException:
            files = texts.files_of(spark, source).files
            schema = next(
                (file_schema for file in files if (file_schema := _schema_of(file.path)) is not None), None
            )
            if schema is None:
                raise
            inner_types, is_ = leaves(pa.struct(list(schema))), pa.types
            if not any(is_count(one) or is_.is_float16(one) or is_.is_null(one) for one in inner_types):
                raise
            known = [(one, field.type) for field in schema if (one := _spark_field(spark, field)) is not None]
            frame = reader.schema(StructType([one for one, _ in known])).parquet(*paths)
            counts = {one.name: with_counts(one.dataType, data_type) for one, data_type in known}
        _check_folders(spark, source, frame)
    return frame, counts


def _check_folders(spark: SparkSession, source: Source, frame: DataFrame) -> None:
    """Refuse a column that is in the files and in names of folders: Spark would silently use the folders'."""
    if not any("=" in uri for uri in frame.inputFiles()):
        return
    listed = texts.files_of(spark, source)
    for file in listed.files[:FILES_LOOKED_AT] if listed.folders else ():
        schema = _schema_of(file.path)
        both = [label for label in listed.folders if schema is not None and label in schema.names]
        if both:
            message = f"`{both[0]}` is a column of `{file.path}`, and of the names of its folders"
            way = "name the files themselves, without `*`: then the column of the file is read"
            raise PipelineError(AMBIGUOUS_COLUMN, message, way)


def _schema_of(path: str) -> pa.Schema | None:
    """Return the types of a file's columns, and None if it cannot be read."""
    try:
        with open_file(path) as stream:
            return _with_instants(pq.ParquetFile(stream))
    except (pa.ArrowException, OSError):
        return None


def _with_instants(file: pq.ParquetFile) -> pa.Schema:
    """Return the types of columns, timestamps for the oldest form of an instant, which does not say that it is one."""
    schema: pa.Schema = file.schema_arrow
    for path in _old_instants(file):
        if (at := schema.get_field_index(path)) >= 0:
            schema = schema.set(at, schema.field(at).with_type(pa.timestamp("us", "UTC")))
    return schema


def _old_instants(file: pq.ParquetFile) -> list[str]:
    """Return the paths of the columns, and of parts of columns, that have the oldest form of an instant."""
    leaves = map(file.schema.column, range(len(file.schema.names)))
    return [leaf.path for leaf in leaves if leaf.physical_type == "INT96"]


def _spark_field(spark: SparkSession, field: pa.Field) -> StructField | None:
    """Return a column as Spark reads it; None if it cannot."""
    count_schema = pa.schema([pa.field(field.name, counts_type(field.type))])
    with TemporaryDirectory(prefix="schemac-") as folder:
        path = Path(folder) / "schema.parquet"
        pq.write_table(count_schema.empty_table(), path, store_schema=False)
        try:
            schema = spark.read.parquet(str(path)).schema
        except PySparkException:
            return None
    return schema.fields[0]


MOST_FILES = 10_000
"""Whose footers are read before the tasks begin."""
FOOTERS_AT_ONCE = 8
BYTES_PER_BATCH, MOST_ROWS = 8 << 20, 1 << 16
AS_IT_STANDS = {
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96TimestampConversion": "false",
}
"""Settings of a session that moves no date and no instant."""
WRITER, OLD_CALENDARS = (
    b"org.apache.spark.version",
    (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96"),
)
_SAME = (
    pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.date32(), pa.string(),
    pa.binary(),
)  # fmt: skip
_HELD_IN = (
    {one: one for one in _SAME} | SIGNED | {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
)
"""For types without parts, the one in which Spark holds their values."""


@dataclass(frozen=True)
class RowGroups:
    """Reads batches of Parquet rows: `schema` has all columns of the files, `labels` are those that fields are read from."""

    schema: pa.Schema
    labels: tuple[str, ...] = ()

    @property
    def raw_type(self) -> pa.DataType:
        """The type of whole rows."""
        return pa.struct(list(self.schema))

    def reading(self, columns: Sequence[str]) -> "RowGroups":
        """Return the reader of some columns; of one at least, for a batch without columns has no rows."""
        return replace(self, labels=tuple(columns) or tuple(self.schema.names[:1]))

    def __call__(self, splits: Iterator[FileSplit]) -> Iterator[RecordBatch]:
        """Read the rows of the row groups that begin in the pieces, those of small files together."""
        parts: list[_RowGroupPart] = []
        rows = size = 0
        for part in (part for split in splits for part in self._parts(split)):
            parts.append(part)
            rows, size = rows + part.columns.num_rows, size + part.columns.nbytes
            if rows >= MOST_ROWS or size >= BYTES_PER_BATCH:
                yield self._batch(parts)
                parts, rows, size = [], 0, 0
        if parts:
            yield self._batch(parts)

    def _batch(self, parts: list["_RowGroupPart"]) -> RecordBatch:
        """Return parts as one batch, with the file that each row is from."""
        columns = pa.concat_batches([part.columns for part in parts])
        origin = RecordFiles([(part.others.file, part.columns.num_rows) for part in parts])
        return RecordBatch(columns, _WholeRows(self.schema, parts), origin)

    def _parts(self, split: FileSplit) -> Iterator["_RowGroupPart"]:
        """Yield the rows of the row groups that begin in a split, some at a time."""
        with read_errors_reported(split.file.path), open_bytes(split.file.path) as stream:
            file = _parquet_file(stream)
            for group in range(file.metadata.num_row_groups):
                about = file.metadata.row_group(group).column(0)
                first = about.dictionary_page_offset or about.data_page_offset
                if split.start <= first and (split.end is None or first < split.end):
                    others, start = _OtherColumns(self, split.file, file.metadata, group), 0
                    for batch in self.batches(file, group, self.labels):
                        yield _RowGroupPart(batch, others, start)
                        start += batch.num_rows

    def batches(self, file: pq.ParquetFile, group: int, labels: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        """Read some columns of a row group in plain types."""
        about = file.metadata.row_group(group)
        row_bytes = max(1, about.total_byte_size // max(1, about.num_rows))
        count = max(1, min(MOST_ROWS, BYTES_PER_BATCH // row_bytes))
        projected = pa.schema([self.schema.field(label) for label in labels])
        for batch in file.iter_batches(count, row_groups=[group], columns=list(labels), use_threads=False):
            arrays = [_without_offsets(batch.column(field.name)).cast(field.type) for field in projected]
            yield pa.RecordBatch.from_arrays(arrays, schema=projected)


class _OtherColumns:
    """The columns of a row group that no field is read from; they are read as far as they are asked for, always forwards."""

    def __init__(self, reader: RowGroups, file: SourceFile, metadata: pq.FileMetaData, group: int) -> None:
        self.file = file
        self._labels = tuple(label for label in reader.schema.names if label not in reader.labels)
        self._batches = self._read(reader, metadata, group)
        self._left = metadata.row_group(group).num_rows
        self._buffered: list[pa.RecordBatch] = []
        self._start = 0

    def _read(self, reader: RowGroups, metadata: pq.FileMetaData, group: int) -> Iterator[pa.RecordBatch]:
        """Yield the columns of a row group that no field is read from, in batches."""
        # By itself: whoever reads the other columns of many files has closed them by now.
        with read_errors_reported(self.file.path), open_bytes(self.file.path) as stream:
            yield from reader.batches(_parquet_file(stream, metadata), group, self._labels)

    def rows(self, start: int, count: int) -> pa.Table:
        """Return so many rows from a place in the row group."""
        while self._labels and self._start + sum(batch.num_rows for batch in self._buffered) < start + count:
            self._buffered.append(next(self._batches))
            self._left -= self._buffered[-1].num_rows
            while self._start + self._buffered[0].num_rows <= start:
                self._start += self._buffered.pop(0).num_rows
        if not self._left:
            # Closes the file.
            self._batches = iter(())
        table = pa.Table.from_batches(self._buffered, None if self._buffered else pa.schema([]))
        return table.slice(start - self._start, count)


class _RowGroupPart(NamedTuple):
    """Some rows of a row group: the columns that fields are read from, and a way to the others."""

    columns: pa.RecordBatch
    others: _OtherColumns
    start: int


class _WholeRows:
    """Rows with all columns of their files, which are read when rows are taken; that has to be in their order."""

    def __init__(self, schema: pa.Schema, parts: Sequence[_RowGroupPart]) -> None:
        self.type = pa.struct(list(schema))
        self._schema, self._parts = schema, parts

    def take(self, rows: pa.Array) -> pa.Array:
        """Return some rows as structs."""
        structs, first, numbers = [], 0, rows.to_numpy()
        for columns, others, start in self._parts:
            count = columns.num_rows
            start_at, end_at = np.searchsorted(numbers, (first, first + count))
            inside = numbers[start_at:end_at] - first
            if len(inside):
                other_columns = others.rows(start, count)
                by_name = dict(zip(columns.schema.names, columns.columns, strict=True))
                by_name |= {
                    label: other_columns.column(label).combine_chunks()
                    for label in other_columns.schema.names
                }
                arrays = [by_name[label] for label in self._schema.names]
                whole = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
                structs.append(whole.take(pa.array(inside)).to_struct_array())
            first += count
        return pa.concat_arrays(structs) if structs else pa.array([], self.type)


def _without_offsets(array: pa.Array) -> pa.Array:
    """Return an array whose parts begin where it does."""
    return pa.concat_arrays([array, array[:0]]) if array.offset or array.type.num_fields else array


def files_for_arrow(spark: SparkSession, source: Source) -> FileBatches | None:
    """Look whether Arrow reads from the files of a source what Spark would; None if that is not known."""
    other_options = {option.lower() for option in source.options} - {option.lower() for option in FILES}
    if other_options or any(spark.conf.get(key) != text for key, text in AS_IT_STANDS.items()):
        return None
    listed = texts.files_of(spark, source)
    if listed.folders or not 0 < len(listed.files) <= MOST_FILES or not texts.is_in_reach(listed):
        return None
    with ThreadPoolExecutor(FOOTERS_AT_ONCE) as pool:
        # A thread does not know by which settings this one opens files.
        in_contexts = [(copy_context(), file) for file in listed.files]
        first, *others = pool.map(lambda one: one[0].run(_plain_schema, one[1]), in_contexts)
    if first is None or any(other is None or not other.equals(first) for other in others):
        return None
    # Two columns of one name, and those that differ in case alone for a session that sees no case, are Spark's to judge.
    if len({label.lower() for label in first.names}) < len(first):
        return None
    return FileBatches(spark, listed, RowGroups(first), is_cut=True)


def _parquet_file(stream: Any, metadata: pq.FileMetaData | None = None) -> pq.ParquetFile:
    """Return a reader of a Parquet file, which reads INT96 as timestamps of microseconds."""
    return pq.ParquetFile(stream, metadata=metadata, coerce_int96_timestamp_unit="us")


def _plain_schema(file: SourceFile) -> pa.Schema | None:
    """Return the plain types of a file's columns; None if the file cannot be read, or has what only Spark can read."""
    try:
        with open_bytes(file.path) as stream:
            parquet = _parquet_file(stream)
            written: Mapping[bytes, bytes] = parquet.metadata.metadata or {}
            schema = _with_instants(parquet)
            has_inner_instants = any(schema.get_field_index(path) < 0 for path in _old_instants(parquet))
    except (pa.ArrowException, OSError):
        return None
    if written.get(WRITER, b"3") < b"3" or any(key in written for key in OLD_CALENDARS) or has_inner_instants:
        return None
    types = [type_in_spark(field.type) for field in schema]
    if any(data_type is None for data_type in types):
        return None
    return pa.schema(
        [pa.field(field.name, data_type) for field, data_type in zip(schema, types, strict=True)]
    )


def type_in_spark(data_type: pa.DataType) -> pa.DataType | None:
    """Return the type in which Spark holds values that Arrow reads in this one; None if that is not known.

    >>> type_in_spark(pa.large_list(pa.uint8())), type_in_spark(pa.timestamp("ns"))
    (ListType(list<element: int16>), None)
    """
    is_: Any = pa.types
    if data_type in _HELD_IN:
        return _HELD_IN[data_type]
    if is_.is_decimal128(data_type):
        return data_type if 0 <= data_type.scale <= data_type.precision else None
    if is_.is_timestamp(data_type):
        return None if data_type.unit == "ns" else pa.timestamp("us", None if data_type.tz is None else "UTC")
    parts = [type_in_spark(data_type.field(i).type) for i in range(data_type.num_fields)]
    if not parts or any(part is None for part in parts):
        return None
    if is_.is_list(data_type) or is_.is_large_list(data_type) or is_.is_fixed_size_list(data_type):
        return pa.list_(pa.field("element", parts[0]))
    if is_.is_map(data_type):
        return pa.map_(type_in_spark(data_type.key_type), type_in_spark(data_type.item_type))
    if is_.is_struct(data_type):
        return pa.struct([pa.field(field.name, part) for field, part in zip(data_type, parts, strict=True)])
    return None
