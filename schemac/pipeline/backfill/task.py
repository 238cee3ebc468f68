"""What a task of a backfill does: it writes the values of its parts, or counts why they do not fit.

Layer: pipeline.
Shape: batches of the frame of `frame` in, for one part after the other; the numbers of each part out. Of a part with a value
       that does not fit nothing is kept.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from operator import itemgetter

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from schemac.pipeline.reports.progress import TaskCount
from schemac.pipeline.spark.packed import ADDRESS, ERRORS, RAW
from schemac.pipeline.writing.batches import to_schema, written_by
from schemac.registry.engine import engine
from schemac.rows.judging.reasons import reason_counts
from schemac.rows.runs.columns import COLUMN_SINK, ColumnSink, Filling

IN_PART = 32
"""Bits of an address that count the rows of a part; those above them are its number."""
UNMATCHED = "unmatched:"


@dataclass
class Counts:
    """How many rows of a part, or of several, were read, do not fit, or have no match in a join."""

    rows: int = 0
    unfit: int = 0
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    unmatched: Counter[str] = field(default_factory=Counter)
    example: str = ""
    """A row that does not fit, as JSON."""

    def add(self, other: "Counts") -> None:
        """Add the numbers of a part."""
        self.rows += other.rows
        self.unfit += other.unfit
        self.reasons.update(other.reasons)
        self.example = self.example or other.example

    def numbers(self) -> dict[str, int]:
        """Return the numbers that are kept with the values of a part."""
        return {"rows": self.rows, **{f"{UNMATCHED}{label}": n for label, n in self.unmatched.items()}}


@dataclass(frozen=True)
class FillTask:
    """Writes the values of parts; made on the driver, copied to the tasks."""

    engine: str
    filling: Filling
    version: int
    folder: str
    flags: tuple[tuple[str, str], ...]
    """Joins, and the columns that tell which rows they have nothing for."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Counts]]:
        """Write one part after the other; yield its number, and what became of its rows."""
        staging = self.filling.place.staging if self.filling.place.is_staged else None
        context = TaskContext.get()
        notes = TaskCount(staging, None if context is None else int(context.partitionId()))
        for part, slices in groupby(_slices(batches), itemgetter(0)):
            counts = Counts()
            write = partial(self._sink.write, self.filling, self.version, self.folder, part)
            with suppress(UnfitError):
                written = written_by(write, self._values(map(itemgetter(1), slices), counts, notes))
                self._sink.keep(self.filling, written, counts.numbers())
            yield part, counts

    def resolved(self) -> "FillTask":
        """Return the task with the secrets of its storage: executors on other machines do not have the variables."""
        place = self.filling.place
        place = replace(place, storage_options=place.storage_options.resolved())
        return replace(self, filling=replace(self.filling, place=place))

    @property
    def _sink(self) -> ColumnSink:
        """Return what writes columns for the engine of the table."""
        return COLUMN_SINK.of(engine(self.engine))

    def _values(
        self, batches: Iterator[pa.RecordBatch], counts: Counts, notes: TaskCount
    ) -> Iterator[pa.RecordBatch]:
        """Yield addresses and values; from the first value that does not fit on only count, and raise at the end."""
        schema = self.filling.read_schema()
        schema = pa.schema([pa.field(ADDRESS, pa.int64()), *schema])
        for batch in batches:
            notes.add(batch.num_rows)
            counts.rows += batch.num_rows
            for label, flag in self.flags:
                counts.unmatched[label] += pc.sum(batch.column(flag)).as_py() or 0
            errors = batch.column(ERRORS)
            unfit = len(errors) - errors.null_count
            if unfit:
                counts.unfit += unfit
                counts.reasons.update(reason_counts(errors.filter(errors.is_valid())))
                first = batch.column(RAW).filter(errors.is_valid())[0].as_py()
                counts.example = counts.example or str(first)
            if not counts.unfit:
                yield to_schema(batch, schema)
        notes.note()
        if counts.unfit:
            raise UnfitError


class UnfitError(Exception):
    """Some values of a part do not fit."""


def _slices(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the rows of each part with its number; batches are cut where a part ends."""
    for batch in batches:
        rest = batch
        while rest.num_rows:
            addresses = rest.column(ADDRESS)
            part = int(addresses[0].as_py()) >> IN_PART
            rows_of_part = pc.sum(pc.less(addresses, (part + 1) << IN_PART)).as_py()
            yield part, rest.slice(0, rows_of_part)
            rest = rest.slice(rows_of_part)
