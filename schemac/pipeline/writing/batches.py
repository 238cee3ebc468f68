"""Batches on their way into a sink: good rows in the exact schema of the table, all others set apart for the quarantine.

Layer: pipeline.
Shape: batches with `_errors` in, batches of the good rows out. The others wait in a file of the task, in the columns of the quarantine, and
are counted by path and rule, without positions. Arrays of Spark's types become those of the table's schema; buffers are shared where
they can be. Values were checked by `conforming.validation`; what does not fit here all the same raises.
Where Spark itself writes the rows that fit, `stage_quarantine` has tasks write the others as pieces that no reader of the quarantine sees yet. The
caller of `stage_quarantine` commits them.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryFile
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame

from schemac.pipeline.declaration.parts import Key, Limits
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.spark.executors import collected
from schemac.pipeline.spark.packed import ERRORS, RAW, SOURCE
from schemac.rows.judging.arrays import MissingMemberError, to_field
from schemac.rows.judging.reasons import QUARANTINE_SCHEMA, REASONS, reason_counts
from schemac.rows.runs.tables import Sink, WriteTarget, sink_of
from schemac.text.source.catalogue import MISSING_COLUMN, NULL_IN_REQUIRED_FIELD


@dataclass
class StagedQuarantine:
    """What tasks have written to the quarantine, not committed yet."""

    pieces: list[str] = dataclasses.field(default_factory=list)
    rows: int = 0
    reasons: Counter[tuple[str, str]] = dataclasses.field(default_factory=Counter)
    broken: Counter[Key] = dataclasses.field(default_factory=Counter)

    def add(self, other: "StagedQuarantine") -> None:
        """Add what another task wrote."""
        self.pieces += other.pieces
        self.rows += other.rows
        self.reasons.update(other.reasons)
        self.broken.update(other.broken)


class QuarantineBuffer:
    """The rows of one task that do not fit, on disk until the others are written; `staged` counts them."""

    def __init__(self, file: Any, run: str, limits: Limits) -> None:
        self.file = file
        self.run = run
        self.limits = limits
        self.staged = StagedQuarantine()
        self.writer: pa.RecordBatchStreamWriter | None = None

    def take_from(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of a batch that fit, and keep the others here."""
        errors = batch.column(ERRORS)
        if errors.null_count == len(errors):
            return batch
        bad = batch.filter(errors.is_valid())
        names, blank = bad.schema.names, pa.nulls(bad.num_rows, pa.string())
        run = pa.array([self.run], pa.string()).take(pa.array([0] * bad.num_rows))
        source, raw = (bad.column(name) if name in names else blank for name in (SOURCE, RAW))
        reasons = bad.column(ERRORS)
        columns = [run, source, raw, reasons.cast(REASONS)]
        quarantined = pa.record_batch(columns, schema=QUARANTINE_SCHEMA)
        if self.writer is None:
            self.writer = pa.ipc.new_stream(self.file, QUARANTINE_SCHEMA)
        self.writer.write_batch(quarantined)
        self.staged.rows += quarantined.num_rows
        self.staged.reasons.update(reason_counts(reasons))
        self.staged.broken.update(self.limits.count_broken(reasons))
        return batch.filter(errors.is_null())

    def stage(self, sink: Sink, place: WriteTarget | None) -> None:
        """Write the rows to a place, if there are any."""
        if self.writer is not None:
            assert place is not None
            self.writer.close()
            self.file.seek(0)
            self.staged.pieces = sink.write(place, QUARANTINE_SCHEMA, iter(pa.ipc.open_stream(self.file)))


def to_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch in the columns and types of a schema, by name. Raises PipelineError for what it lacks."""
    columns = []
    for field in schema:
        index = batch.schema.get_field_index(field.name)
        if index < 0:
            message = f"the frame has no column `{field.name}`, which the schema has"
            raise PipelineError(MISSING_COLUMN, message)
        try:
            array = to_field(batch.column(index), field)
        except MissingMemberError as error:
            message = f"the frame's struct has no member `{error}`"
            raise PipelineError(MISSING_COLUMN, message) from error
        if not field.nullable and array.null_count:
            message = f"`{field.name}` is required, but is null in some rows"
            raise PipelineError(NULL_IN_REQUIRED_FIELD, message)
        columns.append(array)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


T = TypeVar("T")


def written_by(write: Callable[[Iterator[pa.RecordBatch]], T], batches: Iterator[pa.RecordBatch]) -> T:
    """Return what an engine makes of batches. An error that they raise comes as it is: the engine may wrap it beyond recognition."""
    failure: list[Exception] = []

    def remembering() -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except Exception as error:
            failure.append(error)
            raise

    try:
        return write(remembering())
    except Exception as error:  # noqa: BLE001  raised again, or the error behind it is
        raise failure[0] if failure else error from None


def count_reasons(frame: DataFrame, column: str) -> tuple[int, int, Counter[tuple[str, str]]]:
    """Count the rows of a frame, those without reasons in a column, and the reasons by path and rule."""
    rows = fitting = 0
    reasons: Counter[tuple[str, str]] = Counter()
    for of_batch in collected(frame.select(column), _count_task):
        rows, fitting = rows + of_batch[0], fitting + of_batch[1]
        reasons.update(of_batch[2])
    return rows, fitting, reasons


def _count_task(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, int, Counter[tuple[str, str]]]]:
    """Yield the counts of each batch, which has one column of reasons."""
    for batch in batches:
        reasons = batch.column(0)
        yield len(reasons), reasons.null_count, reason_counts(reasons)


def stage_quarantine(frame: DataFrame, place: WriteTarget, run: str, limits: Limits) -> StagedQuarantine:
    """Write the rows of a conformed frame that do not fit to the quarantine, without a commit."""
    rows, total = frame.where(f"{ERRORS} is not null").select(ERRORS, RAW, SOURCE), StagedQuarantine()
    for staged in collected(rows, partial(_stage_task, place, run, limits)):
        total.add(staged)
    return total


def _stage_task(
    place: WriteTarget, run: str, limits: Limits, batches: Iterator[pa.RecordBatch]
) -> Iterator[StagedQuarantine]:
    """Write the rows of one task; yield what it wrote."""
    with TemporaryFile() as file:
        bad = QuarantineBuffer(file, run, limits)
        for batch in batches:
            bad.take_from(batch)
        bad.stage(sink_of(None), place)
        yield bad.staged
