"""Batches on their way into a sink: good rows in the exact schema of the table, all others set apart for the quarantine.

Layer: pipeline.
Shape: batches with `_errors` in, batches of the good rows out. The others wait in a file of the task, in the columns of the quarantine, and
are counted by path and rule, without positions. Arrays of Spark's types become those of the table's schema; buffers are shared where
they can be. Values were checked by `conforming.validation`; what does not fit here all the same raises.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from schemac.pipeline.declaration.parts import Broken, Limits
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.spark.packed import ERRORS, RAW, SOURCE
from schemac.rows.judging.arrays import MissingMemberError, to_field
from schemac.rows.judging.reasons import QUARANTINE_SCHEMA, REASONS, reason_counts
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
            raise PipelineError(
                MISSING_COLUMN, f"the frame has no column `{field.name}`, which the schema has"
            )
        try:
            array = to_field(batch.column(index), field)
        except MissingMemberError as error:
            message = f"the frame's struct has no member `{error}`"
            raise PipelineError(MISSING_COLUMN, message) from error
        if not field.nullable and array.null_count:
            raise PipelineError(
                NULL_IN_REQUIRED_FIELD, f"`{field.name}` is required, but is null in some rows"
            )
        columns.append(array)
    return pa.RecordBatch.from_arrays(columns, schema=schema)
