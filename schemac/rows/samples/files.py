"""Samples as files: texts, files of Arrow, tables of engines.

Layer: rows.
Shape: a file is there as a whole or not at all; memory follows the size of a batch.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from schemac.artifacts.dataset import ROW_WRITER, CheckedDataset
from schemac.language.logical.dataset import primary_key
from schemac.language.logical.model import columns
from schemac.registry.engine import Engine, blamed, engines
from schemac.rows.samples.sampler import Sampler
from schemac.rows.samples.written import csv_header, csv_lines, json_lines
from schemac.rows.samples.wrong_records import WrongForm, WrongRows, in_cells, in_columns

_NEW = ".schemac-new"


@dataclass(frozen=True)
class TextFormat:
    """A format with a record in each line, which can be printed."""

    name: str
    suffixes: tuple[str, ...]
    header: Callable[[pa.Schema], str] | None
    lines: Callable[[pa.Schema, pa.RecordBatch], Iterator[str]]

    def texts(self, sampler: Sampler) -> Iterator[str]:
        """Yield pieces of the text."""
        schema = sampler.dataset.to_arrow(metadata=True)
        if self.header is not None:
            yield f"{self.header(schema)}\n"
        for batch in sampler.batches():
            yield "".join([f"{line}\n" for line in self.lines(schema, batch)])

    def write(self, path: str, sampler: Sampler) -> None:
        """Write a file where nothing is. Raises OSError and SchemaError; nothing is left then."""
        with new_file(path) as stream:
            for text in self.texts(sampler):
                stream.write(text.encode())

    def wrong(self, dataset: CheckedDataset, rows: WrongRows) -> WrongForm:
        """Return the wrong records that a file can hold, as they are in it."""
        return WrongForm(rows.rows, ()) if self.header is None else in_cells(dataset, rows)

    def write_wrong(self, path: str, dataset: CheckedDataset, form: WrongForm) -> None:
        """Write wrong records where nothing is. Raises OSError; nothing is left then."""
        head = [] if self.header is None else [self.header(dataset.to_arrow(metadata=True))]
        with new_file(path) as stream:
            stream.writelines([f"{text}\n".encode() for text in (*head, *(one.text for one in form.rows))])


@dataclass(frozen=True)
class ColumnFormat(ABC):
    """A file format, or an engine's tables, whose columns have types."""

    name: str
    suffixes: tuple[str, ...]

    @abstractmethod
    def write_rows(self, path: str, dataset: CheckedDataset, rows: pa.RecordBatchReader) -> None:
        """Write rows where nothing is. Raises OSError."""

    def write(self, path: str, sampler: Sampler) -> None:
        """Write a sample."""
        rows = pa.RecordBatchReader.from_batches(sampler.exact, sampler.tables())
        self.write_rows(path, sampler.dataset, rows)

    def wrong(self, dataset: CheckedDataset, rows: WrongRows) -> WrongForm:
        """Return records whose values have the types of their columns."""
        return in_columns(dataset, rows)

    def write_wrong(self, path: str, dataset: CheckedDataset, form: WrongForm) -> None:
        """Write wrong records."""
        assert form.typed is not None
        self.write_rows(path, dataset, form.typed.to_reader())


@dataclass(frozen=True)
class ArrowFormat(ColumnFormat):
    """A format of files that pyarrow writes."""

    open: Callable[[BinaryIO, pa.Schema], Any]

    def write_rows(self, path: str, dataset: CheckedDataset, rows: pa.RecordBatchReader) -> None:
        """Write a file. Raises OSError for a type that the format does not support."""
        try:
            with new_file(path) as stream, self.open(stream, rows.schema) as writer:
                for batch in rows:
                    writer.write_batch(batch)
        except pa.ArrowNotImplementedError as error:
            raise OSError(str(error)) from error


@dataclass(frozen=True)
class TableFormat(ColumnFormat):
    """Tables of an engine."""

    engine: Engine

    def wrong(self, dataset: CheckedDataset, rows: WrongRows) -> WrongForm:
        """Return records whose values have the types of their columns; no table takes a key that may be null."""
        keys = [str(field.path[0]) for field in primary_key(columns(dataset.schema))]
        return in_columns(dataset, rows, keys)

    def write_rows(self, path: str, dataset: CheckedDataset, rows: pa.RecordBatchReader) -> None:
        """Make a table. Raises EngineError if an engine of another distribution fails."""
        with blamed(self.engine.name):
            ROW_WRITER.of(self.engine).write(path, dataset, rows)


@contextmanager
def new_file(path: str) -> Iterator[BinaryIO]:
    """Open a file that exists when everything is written, and not before."""
    new = Path(f"{path}{_NEW}")
    try:
        with new.open("wb") as stream:
            yield stream
        os.replace(new, path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _parquet_writer(stream: BinaryIO, schema: pa.Schema) -> Any:
    """Return a writer of Parquet; what pyarrow needs for it is loaded with the first one."""
    from pyarrow import parquet  # for start-up time: it takes as long to load as all others

    return parquet.ParquetWriter(stream, schema)


def _ipc_writer(stream: BinaryIO, schema: pa.Schema) -> Any:
    """Return a writer of Arrow's format of files, or of that of streams if a field is a dictionary."""
    # Each batch has dictionaries of its own, which only the streaming form may replace.
    has_dictionary = any(pa.types.is_dictionary(member.type) for member in schema)
    return pa.ipc.new_stream(stream, schema) if has_dictionary else pa.ipc.new_file(stream, schema)


SampleFormat = TextFormat | ColumnFormat

NDJSON = TextFormat("ndjson", (".ndjson", ".jsonl", ".json"), None, json_lines)
CSV = TextFormat("csv", (".csv",), csv_header, csv_lines)
_FORMATS: tuple[SampleFormat, ...] = (
    NDJSON,
    CSV,
    ArrowFormat("parquet", (".parquet",), _parquet_writer),
    ArrowFormat("arrow", (".arrow", ".feather", ".ipc"), _ipc_writer),
)


def sample_formats() -> tuple[SampleFormat, ...]:
    """Return all forms, also those of engines that keep rows."""
    table_formats = [
        TableFormat(one.name, (one.table_suffix,), one) for one in engines() if ROW_WRITER.is_of(one)
    ]
    return (*_FORMATS, *table_formats)


def format_of(path: str) -> SampleFormat | None:
    """Return the form that a name asks for; None if it asks for none."""
    endings = {suffix: one for one in sample_formats() for suffix in one.suffixes if suffix}
    return endings.get(Path(path).suffix.lower())
