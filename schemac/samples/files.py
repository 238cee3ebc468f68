"""Samples as files: texts, files of Arrow, tables of engines.

Layer: samples.
Shape: a file is there as a whole or not at all; memory follows the size of a batch.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import pyarrow as pa

from schemac.artifacts.rows import ROW_WRITER
from schemac.registry.engine import Engine
from schemac.registry.installed import blamed, engines
from schemac.samples.sampler import Sampler
from schemac.samples.written import csv_header, csv_lines, json_lines

_NEW = ".schemac-new"


@dataclass(frozen=True)
class SampleFormat(ABC):
    """A form that rows are written in."""

    name: str
    suffixes: tuple[str, ...]
    is_text: ClassVar[bool] = False
    """Whether it can be printed."""

    @abstractmethod
    def write(self, path: str, sampler: Sampler) -> None:
        """Write a sample where nothing is. Raises OSError and SchemaError; nothing is left then."""


@dataclass(frozen=True)
class TextFormat(SampleFormat):
    """Records as lines."""

    header: Callable[[pa.Schema], str] | None
    lines: Callable[[pa.Schema, pa.RecordBatch], Iterator[str]]
    is_text: ClassVar[bool] = True

    def texts(self, sampler: Sampler) -> Iterator[str]:
        """Yield pieces of the text."""
        schema = sampler.dataset.to_arrow(metadata=True)
        if self.header is not None:
            yield f"{self.header(schema)}\n"
        for batch in sampler.batches():
            yield "".join([f"{line}\n" for line in self.lines(schema, batch)])

    def write(self, path: str, sampler: Sampler) -> None:
        """Write a file."""
        with new_file(path) as stream:
            for text in self.texts(sampler):
                stream.write(text.encode())


@dataclass(frozen=True)
class ArrowFormat(SampleFormat):
    """Files that pyarrow writes."""

    open: Callable[[BinaryIO, pa.Schema], Any]

    def write(self, path: str, sampler: Sampler) -> None:
        """Write a file."""
        with new_file(path) as stream, self.open(stream, sampler.exact) as writer:
            for batch in sampler.tables():
                writer.write_batch(batch)


@dataclass(frozen=True)
class TableFormat(SampleFormat):
    """Tables of an engine."""

    engine: Engine

    def write(self, path: str, sampler: Sampler) -> None:
        """Make a table."""
        with blamed(self.engine.name):
            ROW_WRITER.of(self.engine).write(path, sampler.dataset, sampler.tables())


@contextmanager
def new_file(path: str) -> Iterator[BinaryIO]:
    """Open a file that is there when everything is written, and not before."""
    new = Path(f"{path}{_NEW}")
    try:
        with new.open("wb") as stream:
            yield stream
        os.replace(new, path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _parquet(stream: BinaryIO, schema: pa.Schema) -> Any:
    from pyarrow import parquet  # for start-up time: it takes as long to load as all others

    return parquet.ParquetWriter(stream, schema)


def _ipc(stream: BinaryIO, schema: pa.Schema) -> Any:
    # Each batch has dictionaries of its own, which only the streaming form may replace.
    has_dictionary = any(pa.types.is_dictionary(member.type) for member in schema)
    return pa.ipc.new_stream(stream, schema) if has_dictionary else pa.ipc.new_file(stream, schema)


NDJSON = TextFormat("ndjson", (".ndjson", ".jsonl", ".json"), None, json_lines)
CSV = TextFormat("csv", (".csv",), csv_header, csv_lines)
_FORMATS: tuple[SampleFormat, ...] = (
    NDJSON,
    CSV,
    ArrowFormat("parquet", (".parquet",), _parquet),
    ArrowFormat("arrow", (".arrow", ".feather", ".ipc"), _ipc),
)


def sample_formats() -> tuple[SampleFormat, ...]:
    """Return all forms, also those of engines that keep rows."""
    found = [TableFormat(one.name, (one.table_suffix,), one) for one in engines() if ROW_WRITER.is_of(one)]
    return (*_FORMATS, *found)


def format_of(path: str) -> SampleFormat | None:
    """Return the form that a name asks for; None where it asks for none."""
    endings = {suffix: one for one in sample_formats() for suffix in one.suffixes if suffix}
    return endings.get(Path(path).suffix.lower())
