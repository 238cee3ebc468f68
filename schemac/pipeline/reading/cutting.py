"""Tasks of ours that read the texts of records out of files, and do their work where they are read.

Layer: pipeline.
Shape: a frame of Spark whose rows are what the work makes of the records of a file, or each a text, its fault, what is known of its file, and
       what names of folders say.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from schemac.pipeline.reading.file_columns import FILE, FILE_TYPES
from schemac.pipeline.reading.files import BLOCK_BYTES, File, FileSplit, shares
from schemac.pipeline.spark.columns import SOURCE
from schemac.pipeline.spark.executors import is_connect, mapped
from schemac.pipeline.spark.sql import struct
from schemac.rows.runs.storage import Storage, current_storage, storage_in_use

VALUE, FAULT = "value", "_fault"


NAME, SIZE, MODIFIED = "__name", "__size", "__modified"


ROWS_PER_BATCH = 4096


BYTES_PER_BATCH = 8 << 20


# Below this, spreading the records of one file over the tasks costs more than it brings.
BYTES_WORTH_SPREADING = 32 << 20


BYTES_WORTH_A_TASK = 1 << 20


Splitter = Callable[[str], Iterator[tuple[str, str | None]]]
"""The records of the file at a path, each with the rule that its text breaks."""


class Found(NamedTuple):
    """Texts of records, with the rules that they break; None if none does. Texts may be bytes that are no UTF-8."""

    texts: pa.Array
    faults: pa.Array | None = None


Read = TypeVar("Read")


Read_contra = TypeVar("Read_contra", contravariant=True)


Reader = Callable[[FileSplit], Iterator[Read]]


class Work(Protocol[Read_contra]):
    """What a task does with the records that it has read: rows for Spark, whose columns are those of `schema`."""

    @property
    def schema(self) -> StructType:
        """Columns of the rows."""

    def __call__(self, records: Iterator[tuple[File, Read_contra]], /) -> Iterator[pa.RecordBatch]:
        """Make rows of the records of a task's files, which come some at a time."""


@dataclass(frozen=True)
class Listed:
    """The files of a source, and the columns that names of folders give."""

    folders: tuple[str, ...]
    files: tuple[File, ...]

    @property
    def partitions(self) -> dict[str, str]:
        """The column of each name that a folder gives."""
        return {label: f"__p{i}" for i, label in enumerate(self.folders)}

    @property
    def most_bytes(self) -> int:
        """The size of the largest file."""
        return max((file.size_bytes for file in self.files), default=0)


@dataclass(frozen=True)
class WholeFiles:
    """Reads files that a splitter takes apart from their beginning."""

    splitter: Splitter

    def __call__(self, split: FileSplit) -> Iterator[Found]:
        """Read the records of a file, some at a time."""
        texts: list[str] = []
        faults: list[str | None] = []
        size = 0
        for text, fault in self.splitter(split.file.path):
            texts.append(text)
            faults.append(fault)
            size += len(text)
            if len(texts) == ROWS_PER_BATCH or size > BYTES_PER_BATCH:
                yield Found(pa.array(texts, pa.string()), pa.array(faults, pa.string()))
                texts, faults, size = [], [], 0
        if texts:
            yield Found(pa.array(texts, pa.string()), pa.array(faults, pa.string()))


@dataclass(frozen=True)
class TextRows:
    """Gives each record as a row, with what is known of its file."""

    partitions: tuple[str, ...]

    @property
    def schema(self) -> StructType:
        """Columns that are text."""
        labels = (VALUE, FAULT, SOURCE, NAME, SIZE, MODIFIED, *self.partitions)
        return StructType([StructField(label, StringType()) for label in labels])

    def __call__(self, records: Iterator[tuple[File, Found]]) -> Iterator[pa.RecordBatch]:
        """Give the records of files as rows."""
        for together in gathered(records):
            batches = [self._rows(file, file_records) for file, file_records in together]
            yield from pa.Table.from_batches(batches).combine_chunks().to_batches()

    def _rows(self, file: File, records: Found) -> pa.RecordBatch:
        count = len(records.texts)
        known = (file.path.rpartition("/")[2], str(file.size_bytes), str(file.modified_micros))
        faults = pa.nulls(count, pa.string()) if records.faults is None else records.faults
        others = [
            pa.repeat(pa.scalar(other, pa.string()), count) for other in (file.uri, *known, *file.folders)
        ]
        return pa.record_batch([_unchecked(records.texts), faults, *others], names=self.schema.names)


@dataclass(frozen=True)
class _Task:
    """What the tasks do: each gets the numbers of the shares that it reads, and gives rows."""

    reader: Reader[Any]
    work: Work[Any]
    shares: list[list[FileSplit]]
    storage: Storage

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the pieces of some shares."""
        with storage_in_use(self.storage):
            numbers = (number for batch in batches for number in batch.column(0).to_pylist())
            splits = (split for number in numbers for split in self.shares[number])
            yield from self.work((split.file, records) for split in splits for records in self.reader(split))


def gathered(records: Iterator[tuple[File, Found]]) -> Iterator[list[tuple[File, Found]]]:
    """Put the records of small files together, in their order, for a call of Arrow costs as much for few records as for many."""
    together: list[tuple[File, Found]] = []
    size = 0
    for file, file_records in records:
        if not len(file_records.texts):
            continue
        if together and size + file_records.texts.nbytes > BLOCK_BYTES:
            yield together
            together, size = [], 0
        together.append((file, file_records))
        size += file_records.texts.nbytes
    if together:
        yield together


def sound(texts: pa.Array, faults: pa.Array | None) -> pa.Array:
    """Give the texts in which nothing is wrong yet; null in place of others."""
    if faults is not None and faults.null_count < len(faults):
        texts = pc.if_else(faults.is_null(), texts, pa.scalar(None, texts.type))
    if pa.types.is_string(texts.type):
        return texts
    try:
        return texts.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([text if _is_utf8(text) else None for text in texts.to_pylist()], pa.string())


def _is_utf8(text: bytes | None) -> bool:
    try:
        return text is not None and text.decode() is not None
    except UnicodeDecodeError:
        return False


def _unchecked(texts: pa.Array) -> pa.Array:
    """See bytes as text, as Spark's own reader of text does."""
    return pa.Array.from_buffers(pa.string(), len(texts), texts.buffers(), texts.null_count, texts.offset)


def cut(
    spark: SparkSession,
    listed: Listed,
    reader: Reader[Found],
    *,
    is_cut: bool = False,
) -> DataFrame:
    """Read the records of files: `value`, `_fault`, `_source`, `__file`, columns of folders.

    A file is read by one task, or, with `is_cut`, each piece of it by another.
    """
    partitions = tuple(listed.partitions.values())
    records = read_in_tasks(spark, listed, reader, TextRows(partitions), is_cut=is_cut)
    modified = f"timestamp_micros(cast({MODIFIED} as bigint))"
    parts = (SOURCE, NAME, f"cast({SIZE} as bigint)", modified)
    file = struct(zip(FILE_TYPES, parts, strict=True))
    records = records.selectExpr(VALUE, FAULT, SOURCE, f"{file} as {FILE}", *partitions)
    is_worth_spreading = not is_cut and listed.most_bytes > BYTES_WORTH_SPREADING
    return records.repartition(_parallelism(spark)) if is_worth_spreading else records


def read_in_tasks(
    spark: SparkSession, listed: Listed, reader: Reader[Read], work: Work[Read], *, is_cut: bool = False
) -> DataFrame:
    """Read the records of files in tasks of ours, which make rows of them."""
    share = _share_bytes(spark, listed) if is_cut else BYTES_WORTH_A_TASK
    file_shares = shares(listed.files, share, is_cut=is_cut)
    # Looked up here: executors on other machines do not have the variables.
    task = _Task(reader, work, file_shares, current_storage().resolved())
    # A data source of Python does the same in the tasks, but Spark starts two more processes to plan it.
    numbers = spark.range(0, len(file_shares), 1, max(1, len(file_shares)))
    return mapped(numbers, task, work.schema)


def _share_bytes(spark: SparkSession, listed: Listed) -> int:
    """Return how much a task reads: as much as with Spark's own readers."""
    most = _bytes_of(spark.conf.get("spark.sql.files.maxPartitionBytes", "134217728b") or "")
    total = sum(file.size_bytes for file in listed.files)
    return max(BYTES_WORTH_A_TASK, min(most, -(-total // _parallelism(spark))))


def _bytes_of(size_text: str) -> int:
    """Read a size as Spark writes it.

    >>> _bytes_of("134217728b"), _bytes_of("64m"), _bytes_of("")
    (134217728, 67108864, 134217728)
    """
    units = {"b": 0, "k": 10, "m": 20, "g": 30}
    digits = size_text.strip().lower().removesuffix("b").rstrip("kmg")
    if not digits.isdigit():
        return 128 << 20
    unit = size_text.strip().lower().removeprefix(digits)[:1]
    return int(digits) << units.get(unit, 0)


def _parallelism(spark: SparkSession) -> int:
    """How many tasks run side by side; a server tells only what a shuffle has."""
    if is_connect(spark):
        return int(spark.conf.get("spark.sql.shuffle.partitions", "8") or 8)
    return int(spark.sparkContext.defaultParallelism)
