"""The quarantine buffer: rows that do not fit wait here, on disk, until the rows that fit are written.

Layer: pipeline.
Shape: batches with `_errors` in, batches of the good rows out; the others wait as the quarantine dataset will hold them,
       and are counted by path and rule, positions left out.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemac.pipeline.declaration.limits import Broken, Limits
from schemac.pipeline.spark.columns import ERRORS, POSITIONS, QUARANTINE_SCHEMA, RAW, SOURCE

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
        self._keep(batch.filter(errors.is_valid()))
        return batch.filter(errors.is_null())

    def _keep(self, bad: pa.RecordBatch) -> None:
        columns = {name: bad.column(name) if name in bad.schema.names else None for name in (SOURCE, RAW)}
        run = pa.array([self.run], pa.string()).take(pa.array([0] * bad.num_rows))
        blank = pa.nulls(bad.num_rows, pa.string())
        errors = bad.column(ERRORS)
        batch = pa.record_batch(
            [
                run,
                columns[SOURCE] or blank,
                columns[RAW] or blank,
                errors.cast(QUARANTINE_SCHEMA.field("errors").type),
            ],
            schema=QUARANTINE_SCHEMA,
        )
        if self.writer is None:
            self.writer = pa.ipc.new_stream(self.file, QUARANTINE_SCHEMA)
        self.writer.write_batch(batch)
        self.rows += batch.num_rows
        self.reasons.update(counted(errors))
        self.broken.add(errors)

    def read(self) -> Iterator[pa.RecordBatch]:
        """Read the rows kept."""
        assert self.writer is not None
        self.writer.close()
        self.file.seek(0)
        yield from pa.ipc.open_stream(self.file)


def counted(reasons: pa.ListArray) -> Counter[tuple[str, str]]:
    """Count reasons by path and rule."""
    each = reasons.flatten()
    paths = pc.replace_substring_regex(each.field("path"), POSITIONS, "[]")
    table = pa.table({"path": paths, "rule": each.field("rule")})
    counts = table.group_by(["path", "rule"]).aggregate([([], "count_all")])
    return Counter({(row["path"], row["rule"]): row["count_all"] for row in counts.to_pylist()})
