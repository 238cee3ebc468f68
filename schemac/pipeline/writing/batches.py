"""Batches on their way into a sink: good rows in the exact schema of the table, all others set apart for the quarantine.

Layer: pipeline.
Shape: batches with `_errors` in, batches of the good rows out. The others wait in a file of the task, in the columns of the quarantine, and
are counted by path and rule, without positions. Arrays of Spark's types become those of the table's schema; buffers are shared where
they can be. Values were checked by `conforming.validation`; what does not fit here all the same raises.
Where Spark itself writes the rows that fit, `stage` writes the others by a data source, whose tasks write pieces that no reader of the
quarantine sees yet; its "commit" lists them in a file, because Spark calls it in another process. The caller of `stage` commits them.
"""

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from schemac.pipeline.declaration.parts import Broken, Key, Limits
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.spark.packed import ERRORS, RAW, SOURCE
from schemac.rows.judging.arrays import MissingMemberError, to_field
from schemac.rows.judging.reasons import QUARANTINE_SCHEMA, REASONS, reason_counts
from schemac.rows.runs.identity import random_id
from schemac.rows.runs.staging import temporary_folder
from schemac.rows.runs.tables import WriteTarget, sink_of
from schemac.text.source.catalogue import MISSING_COLUMN, NULL_IN_REQUIRED_FIELD

NO_LIMITS = Limits()


class QuarantineBuffer:
    """Bad rows of one task, on disk until the good ones are written."""

    def __init__(self, file: Any, run: str, limits: Limits = NO_LIMITS) -> None:
        self.file = file
        self.run = run
        self.rows = 0
        self.reasons: Counter[tuple[str, str]] = Counter()
        self.broken = Broken(limits)
        self.writer: pa.RecordBatchStreamWriter | None = None

    def take_from(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Pass on the rows that fit, and keep the others here."""
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
        self.rows += quarantined.num_rows
        self.reasons.update(reason_counts(reasons))
        self.broken.add(reasons)
        return batch.filter(errors.is_null())

    def read(self) -> Iterator[pa.RecordBatch]:
        """Read the rows kept."""
        assert self.writer is not None
        self.writer.close()
        self.file.seek(0)
        yield from pa.ipc.open_stream(self.file)


def to_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Bring a batch to the columns of the schema, by name."""
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


FORMAT = "schemac-rows-"


@dataclass
class StagedQuarantine(WriterCommitMessage):  # type: ignore[misc]  # PySpark is not followed
    """What one task wrote, or all of them."""

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

    def write(self, path: Path) -> None:
        """Write a file of it."""
        counts = {name: list(getattr(self, name).items()) for name in ("reasons", "broken")}
        path.write_text(json.dumps({"pieces": self.pieces, "rows": self.rows, **counts}))

    @classmethod
    def read(cls, path: Path) -> "StagedQuarantine":
        """Return the content of a file. Raises OSError."""
        document = json.loads(path.read_text())
        reasons = Counter({(path, rule): count for (path, rule), count in document["reasons"]})
        broken: Counter[Key] = Counter({tuple(key): count for key, count in document["broken"]})
        return cls(document["pieces"], document["rows"], reasons, broken)


@dataclass(frozen=True)
class StagingWriter(DataSourceArrowWriter):  # type: ignore[misc]  # PySpark is not followed
    """Writes the rows of one run; made on the driver, copied to the tasks."""

    place: WriteTarget
    run: str
    limits: Limits
    notes: Path
    """The file that says what was written; only the driver has it."""

    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedQuarantine:
        """Write the rows of one task."""
        with TemporaryFile() as file:
            bad = QuarantineBuffer(file, self.run, self.limits)
            for batch in iterator:
                bad.take_from(batch)
            if not bad.rows:
                return StagedQuarantine()
            staged_files = sink_of(None).write(self.place, QUARANTINE_SCHEMA, bad.read())
            return StagedQuarantine(staged_files, bad.rows, bad.reasons, bad.broken.counts)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Note what all tasks wrote."""
        total = StagedQuarantine()
        for message in messages:
            if isinstance(message, StagedQuarantine):
                total.add(message)
        total.write(self.notes)

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Do nothing: the caller that opened the place removes the pieces."""


class TaskSource(DataSource):  # type: ignore[misc]  # PySpark is not followed
    """Spark's way to a writer; `write_rows` makes the class of one write."""

    made: DataSourceArrowWriter
    word = ""

    @classmethod
    def name(cls) -> str:
        """Return the word for `format`."""
        return cls.word

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        """Give the writer."""
        return self.made


def write_rows(rows: DataFrame, writer: DataSourceArrowWriter) -> None:
    """Have the rows of a frame written by a writer in tasks of Spark."""
    from schemac.pipeline.spark.executors import register  # the tasks register nothing

    # Made here, and not found by its name: Spark's workers get the class itself. A session may keep the first of two
    # with one name, and two runs may have one id.
    word = f"{FORMAT}{random_id()}"
    register(rows.sparkSession, type("WriterSource", (TaskSource,), {"made": writer, "word": word}))
    rows.write.format(word).mode("append").save()


def stage(rows: DataFrame, place: WriteTarget, run: str, limits: Limits) -> StagedQuarantine:
    """Write the rows of a frame, none of which fits, to the quarantine, without a commit."""
    with temporary_folder() as folder:
        writer = StagingWriter(place, run, limits, folder / "staged.json")
        write_rows(rows, writer)
        return StagedQuarantine.read(writer.notes)
