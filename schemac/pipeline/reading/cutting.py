"""Records of files as batches of Arrow, read by tasks of ours where the files are.

Layer: pipeline.
Shape: a reader takes the pieces of files that a task has, and gives `RecordBatch`es: the columns that fields are read from, each record
      as the quarantine keeps it, and its file. Work over them makes rows for Spark. `FileBatches` are the files of a source with their
      reader; `text_rows` is the work that gives each record as a row, for what Spark alone can compute.
Rule: the records of many small files are put into one batch, for a call of Arrow costs as much for few records as for many.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from schemac.pipeline.reading.csv_grammar import CsvForms
from schemac.pipeline.reading.files import BAD_ENCODING, BLOCK_BYTES, FileSplit, SourceFile, decoded, shares
from schemac.pipeline.spark.executors import is_connect, mapped
from schemac.pipeline.spark.packed import RAW, SOURCE
from schemac.pipeline.spark.sql import struct
from schemac.rows.runs.storage import Storage, current_storage, storage_in_use

FAULT = "_fault"
NAME, SIZE, MODIFIED = "__name", "__size", "__modified"
CONFLICT = "partition"
ROWS_PER_BATCH = 4096
BYTES_PER_BATCH = 8 << 20
# Below this, spreading the records of one file over the tasks costs more than it brings.
BYTES_WORTH_SPREADING = 32 << 20
BYTES_WORTH_A_TASK = 1 << 20


class RecordValues(Protocol):
    """A value for each record of a batch, which may be read only when it is taken."""

    @property
    def type(self) -> pa.DataType:
        """The type of the values."""

    def take(self, rows: pa.Array, /) -> pa.Array:
        """Return the values of some records; null for a number that is null."""


@dataclass(frozen=True)
class RecordBatch:
    """Records as a task reads them: what fields are read from, and what the quarantine keeps.

    Fields are read from `columns`: texts of records of JSON, cells of CSV, names of folders, or columns with a type. `raw` has the
    records as the quarantine keeps them, `origin` the addresses of their files, `faults` the rules that they break as a whole.
    """

    columns: pa.RecordBatch
    raw: RecordValues
    origin: RecordValues
    faults: pa.Array | None = None


class RecordFiles:
    """The file of each record of a batch."""

    type = pa.string()

    def __init__(self, counts: Sequence[tuple[SourceFile, int]]) -> None:
        self._files = [file for file, _ in counts]
        self._numbers = pa.array(np.repeat(np.arange(len(counts)), [count for _, count in counts]))

    def column(self, text: Callable[[SourceFile], str | None]) -> pa.Array:
        """Return a text of the file of each record."""
        return pa.array(map(text, self._files), pa.string()).take(self._numbers)

    def take(self, rows: pa.Array) -> pa.Array:
        """Return the addresses of the files of some records."""
        return pa.array([file.uri for file in self._files], pa.string()).take(self._numbers.take(rows))


class BatchReader(Protocol):
    """Reads batches of records from pieces of files."""

    @property
    def raw_type(self) -> pa.DataType:
        """The type of `raw`."""

    def reading(self, columns: Sequence[str]) -> Self:
        """Return the reader of the batches that have these columns; others may be left out."""

    def __call__(self, splits: Iterator[FileSplit]) -> Iterator[RecordBatch]:
        """Read the records of the pieces of a task."""


BatchTask = Callable[[Iterator[RecordBatch]], Iterator[pa.RecordBatch]]
"""What a task makes of the records of its files: rows for Spark."""


@dataclass(frozen=True)
class ListedFiles:
    """The files of a source, and the columns that names of folders give."""

    folders: tuple[str, ...]
    files: tuple[SourceFile, ...]

    @property
    def partitions(self) -> dict[str, str]:
        """The column of each name that a folder gives."""
        return {label: f"__p{i}" for i, label in enumerate(self.folders)}


@dataclass(frozen=True)
class FileBatches:
    """The files of a source, with the reader of their records; with `is_cut` several tasks may read one file."""

    spark: SparkSession
    listed: ListedFiles
    reader: BatchReader
    is_cut: bool = False

    def mapped(self, work: BatchTask, schema: StructType) -> DataFrame:
        """Return the rows that the tasks make from the records."""
        share = BYTES_WORTH_A_TASK
        if self.is_cut:
            # As much as with Spark's own readers.
            most = _size_in_bytes(
                self.spark.conf.get("spark.sql.files.maxPartitionBytes", "134217728b") or ""
            )
            total = sum(file.size_bytes for file in self.listed.files)
            share = max(share, min(most, -(-total // _parallelism(self.spark))))
        file_shares = shares(self.listed.files, share, is_cut=self.is_cut)
        # Looked up here: executors on other machines do not have the variables.
        task = partial(_read_in_task, self.reader, work, file_shares, current_storage().resolved())
        # A data source of Python does the same in the tasks, but Spark starts two more processes to plan it.
        numbers = self.spark.range(0, len(file_shares), 1, max(1, len(file_shares)))
        return mapped(numbers, task, schema)

    def texts(self, cells: tuple[str, ...] = ()) -> DataFrame:
        """Return each record as a row: `_raw`, `_fault`, `_source`, `__file`, columns of folders, and cells of CSV."""
        from schemac.pipeline.reading.inputs import FILE, FILE_TYPES  # only the driver needs them

        columns = (*self.listed.partitions.values(), *cells)
        schema = StructType([StructField(label, StringType()) for label in (*OF_RECORD, *columns)])
        records = self.mapped(partial(text_rows, columns), schema)
        modified = f"timestamp_micros(cast({MODIFIED} as bigint))"
        parts = (SOURCE, NAME, f"cast({SIZE} as bigint)", modified)
        file = struct(zip(FILE_TYPES, parts, strict=True))
        records = records.selectExpr(RAW, FAULT, SOURCE, f"{file} as {FILE}", *columns)
        most_bytes = max((file.size_bytes for file in self.listed.files), default=0)
        is_worth_spreading = not self.is_cut and most_bytes > BYTES_WORTH_SPREADING
        return records.repartition(_parallelism(self.spark)) if is_worth_spreading else records


def _read_in_task(
    reader: BatchReader,
    work: BatchTask,
    shares: list[list[FileSplit]],
    storage: Storage,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Yield what a task makes of the pieces of files whose numbers it gets."""
    with storage_in_use(storage):
        numbers = (number for batch in batches for number in batch.column(0).to_pylist())
        yield from work(reader(split for number in numbers for split in shares[number]))


class RecordTexts(NamedTuple):
    """Texts of records, with the rules that they break; None if none does. Texts may be bytes that are not UTF-8."""

    texts: pa.Array
    faults: pa.Array | None = None


TextReader = Callable[[FileSplit], Iterator[RecordTexts]]
"""Reads the texts of the records in a piece of a file."""


@dataclass(frozen=True)
class TextBatches:
    """Reads batches of records that are texts: JSON, or CSV, which `forms` split into cells."""

    reader: TextReader
    folders: tuple[str, ...] = ()
    forms: CsvForms | None = None
    raw_type: ClassVar[pa.DataType] = pa.string()

    def reading(self, columns: Sequence[str]) -> Self:
        """Return the reader of the batches that have these columns."""
        return self if self.forms is None else replace(self, forms=self.forms.selecting(columns))

    def __call__(self, splits: Iterator[FileSplit]) -> Iterator[RecordBatch]:
        """Read the records of the pieces of a task."""
        parts, forms = ((split.file, texts) for split in splits for texts in self.reader(split)), self.forms
        groups = file_groups(parts) if forms is None else file_groups(parts, lambda file: forms.of(file.uri))
        yield from map(self.batch, groups)

    def batch(self, parts: Sequence[tuple[SourceFile, RecordTexts]]) -> RecordBatch:
        """Join the records of some files with the same header."""
        from schemac.rows.validation.validator import TEXT  # planners read no records

        checked = [_checked_texts(*records) for _, records in parts]
        origin = RecordFiles(
            [(file, len(texts)) for (file, _), (texts, *_) in zip(parts, checked, strict=True)]
        )
        texts, raw, faults = map(pa.concat_arrays, zip(*checked, strict=True))
        columns = {TEXT: texts}
        for i, label in enumerate(self.folders):
            columns[label] = origin.column(lambda file, i=i: file.folders[i])  # type: ignore[misc]
        if self.forms is not None:
            cells, rules = self.forms.of(parts[0][0].uri).cells(texts)
            columns |= cells
            for cell, folder in self.forms.conflicts:
                is_other = pc.fill_null(pc.not_equal(cells[cell], columns[folder]), False)
                rules |= dict.fromkeys(pc.indices_nonzero(is_other).to_pylist(), CONFLICT)
            if rules:
                known = faults.to_pylist()
                faults = pa.array([known[row] or rules.get(row) for row in range(len(texts))], pa.string())
        known_faults = faults if faults.null_count < len(faults) else None
        return RecordBatch(pa.record_batch(list(columns.values()), list(columns)), raw, origin, known_faults)


def file_groups(
    parts: Iterator[tuple[SourceFile, RecordTexts]], form_of: Callable[[SourceFile], Any] = lambda _: None
) -> Iterator[list[tuple[SourceFile, RecordTexts]]]:
    """Yield records of files that follow one another together, as long as they are small and of one form."""
    together: list[tuple[SourceFile, RecordTexts]] = []
    size = 0
    for file, records in parts:
        if not len(records.texts):
            continue
        is_other = together and form_of(file) is not form_of(together[0][0])
        if together and (is_other or size + records.texts.nbytes > BLOCK_BYTES):
            yield together
            together, size = [], 0
        together.append((file, records))
        size += records.texts.nbytes
    if together:
        yield together


def _checked_texts(texts: pa.Array, faults: pa.Array | None) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Return the texts in which nothing is wrong yet, null in place of others; all texts; and what is wrong."""
    faults = pa.nulls(len(texts), pa.string()) if faults is None else faults
    if faults.null_count == len(faults):
        with suppress(pa.ArrowInvalid):
            sound = texts.cast(pa.string())
            return sound, sound, faults
    raw: list[str] = []
    rules: list[str | None] = []
    for text, rule in zip(texts.to_pylist(), faults.to_pylist(), strict=True):
        try:
            raw.append(text if isinstance(text, str) else text.decode())
            rules.append(rule)
        except UnicodeDecodeError:
            # ISO-8859-1 has a character for each byte, so that none is lost.
            raw.append(text.decode("iso-8859-1"))
            rules.append(rule or BAD_ENCODING)
    known, all_texts = pa.array(rules, pa.string()), pa.array(raw, pa.string())
    return pc.if_else(known.is_null(), all_texts, pa.scalar(None, pa.string())), all_texts, known


Splitter = Callable[[str], Iterator[str]]
"""The records of the file at a path, decoded (see `files`)."""


def whole_files(splitter: Splitter, encoding: str, split: FileSplit) -> Iterator[RecordTexts]:
    """Read the records of a file, which a splitter takes apart from its beginning, some at a time."""
    texts: list[str] = []
    faults: list[str | None] = []
    size = 0
    for record in splitter(split.file.path):
        text, fault = decoded(record, encoding)
        texts.append(text)
        faults.append(fault)
        size += len(text)
        if len(texts) == ROWS_PER_BATCH or size > BYTES_PER_BATCH:
            yield RecordTexts(pa.array(texts, pa.string()), pa.array(faults, pa.string()))
            texts, faults, size = [], [], 0
    if texts:
        yield RecordTexts(pa.array(texts, pa.string()), pa.array(faults, pa.string()))


OF_RECORD = (RAW, FAULT, SOURCE, NAME, SIZE, MODIFIED)


def text_rows(columns: tuple[str, ...], batches: Iterator[RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield a row for Spark of each record: what is `OF_RECORD`, and some columns; all of them are text."""
    about: list[Callable[[SourceFile], str]] = [
        lambda file: file.uri,
        lambda file: file.path.rpartition("/")[2],
        lambda file: str(file.size_bytes),
        lambda file: str(file.modified_micros),
    ]
    for batch in batches:
        assert isinstance(batch.raw, pa.Array), type(batch.raw)
        assert isinstance(batch.origin, RecordFiles), type(batch.origin)
        faults = pa.nulls(len(batch.raw), pa.string()) if batch.faults is None else batch.faults
        arrays = [*map(batch.origin.column, about), *map(batch.columns.column, columns)]
        yield pa.record_batch([batch.raw, faults, *arrays], names=[*OF_RECORD, *columns])


def _size_in_bytes(size_text: str) -> int:
    """Read a size as Spark writes it.

    >>> _size_in_bytes("134217728b"), _size_in_bytes("64m"), _size_in_bytes("")
    (134217728, 67108864, 134217728)
    """
    match = re.fullmatch(r"([0-9]+)([kmg]?)b?", size_text.strip().lower())
    return 128 << 20 if match is None else int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30}[match[2]]


def _parallelism(spark: SparkSession) -> int:
    """Return how many tasks run in parallel; a server has only the partitions of a shuffle."""
    if is_connect(spark):
        return int(spark.conf.get("spark.sql.shuffle.partitions", "8") or 8)
    return int(spark.sparkContext.defaultParallelism)
