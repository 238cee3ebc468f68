"""The work of a task: records in, values and reasons out, by the one validator.

Layer: pipeline.
Shape: batches with the texts of records, or with the columns of a source, and what is known of each record next to it.
       Good records leave the task packed where nobody looks at single ones; else each record is a row, and `_errors` says what is wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemac.pipeline.batch_reading.csv_batches import CsvForm
from schemac.pipeline.reading.source import EXPLAINED
from schemac.pipeline.spark.columns import ERRORS, REASONS
from schemac.pipeline.spark.packed import ARROW_TYPE, PACKED, packed
from schemac.pipeline.spark.value_columns import column_of, column_type
from schemac.rows.judging.forms import LONGEST_VALUE
from schemac.rows.judging.parts import Reason
from schemac.rows.judging.record_paths import Step
from schemac.rows.judging.settings import Settings
from schemac.rows.validation.validator import TEXT, FieldInput, JudgedBatch, Validator

MOST_BYTES = 64 << 20
"""Of records that are read at once."""
FAULT, SHOWN = "__broken", "__shown"
"""The rules that records break as a whole, null where they break none; and what is shown of these."""


@dataclass(frozen=True)
class RecordTask:
    """Reads batches of records."""

    schema_bytes: bytes
    """An IPC message: a type that is pickled loses what its children say."""
    settings: Settings
    inputs: tuple[FieldInput, ...]
    csv: CsvForm | None = None
    folders: tuple[tuple[tuple[Step, ...], str], ...] = ()
    """Columns from names of folders, with the place of a record that must not say another value."""
    kept: tuple[str, ...] = ()
    """Columns of the batches that leave the task in addition to the fields."""
    keeps_all: bool = False
    """Whether they do so for good records, too."""
    packs: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels to the tasks: nothing that was made here."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def schema(self) -> pa.Schema:
        """The fields."""
        return pa.ipc.read_schema(pa.py_buffer(self.schema_bytes))

    @cached_property
    def _validator(self) -> Validator:
        return Validator(self.schema, self.settings, self.inputs, self.folders)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the batches of a partition."""
        for batch in batches:
            step = max(1, batch.num_rows * MOST_BYTES // max(batch.nbytes, MOST_BYTES))
            for start in range(0, batch.num_rows, step):
                yield from self.rows(batch.slice(start, step))

    def rows(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Read a batch."""
        rules: dict[int, str] = {}
        if self.csv is not None:
            cells, rules = self.csv.cells(batch.column(TEXT))
            for label, column in cells.items():
                batch = batch.append_column(label, column)
        judged = self._validator.validate(batch)
        for row, rule in rules.items():
            judged.reasons[row] = [_whole(rule, batch.column(TEXT)[row].as_py())]
        if FAULT in batch.schema.names and (faults := batch.column(FAULT)).null_count < batch.num_rows:
            for row in pc.indices_nonzero(faults.is_valid()).to_pylist():
                judged.reasons[row] = [_whole(faults[row].as_py(), batch.column(SHOWN)[row].as_py())]
        for row, (why, *_) in judged.reasons.items():
            if not why.path and why.rule in EXPLAINED:
                judged.reasons[row] = [_whole(why.rule, why.value)]
        yield from self._packed(batch, judged) if self.packs else self._unpacked(batch, judged)

    @property
    def row_schema(self) -> pa.Schema:
        """The columns that leave the task, but for those that are kept, which have the types that they came with."""
        columns = [
            pa.field(f"__v{i}", column_type(self.schema.field(one.label)))
            for i, one in enumerate(self.inputs)
        ]
        return pa.schema(
            [
                *([] if self.packs else columns),
                pa.field(ERRORS, REASONS),
                *([pa.field(PACKED, ARROW_TYPE)] if self.packs else []),
            ]
        )

    def _packed(self, batch: pa.RecordBatch, judged: JudgedBatch) -> Iterator[pa.RecordBatch]:
        """Pack good records, and give each of the others as a row."""
        bad = pa.array(sorted(judged.reasons), pa.int64())
        good = judged.rows
        if len(bad):
            good = good.filter(
                pc.invert(pc.is_in(pa.array(range(batch.num_rows), pa.int64()), value_set=bad))
            )
        if good.num_rows:
            nothing = [pa.nulls(1, batch.schema.field(name).type) for name in self.kept]
            yield self._batch([pa.nulls(1, REASONS), packed(good)], nothing)
        if len(bad):
            reasons = pa.array([judged.reasons[row] for row in bad.to_pylist()], REASONS)
            extra_columns = [batch.column(name).take(bad) for name in self.kept]
            yield self._batch([reasons, pa.nulls(len(bad), ARROW_TYPE)], extra_columns)

    def _unpacked(self, batch: pa.RecordBatch, judged: JudgedBatch) -> Iterator[pa.RecordBatch]:
        """Give each record as a row."""
        count, reasons = batch.num_rows, judged.reasons
        errors = (
            pa.array([reasons.get(row) for row in range(count)], REASONS)
            if reasons
            else pa.nulls(count, REASONS)
        )
        extra_columns = [batch.column(name) for name in self.kept]
        if not self.keeps_all:
            rows = pa.array([row if row in reasons else None for row in range(count)], pa.int64())
            extra_columns = [column.take(rows) for column in extra_columns]
        columns = [
            column_of(judged.rows.column(i), self.schema.field(one.label))
            for i, one in enumerate(self.inputs)
        ]
        yield self._batch([*columns, errors], extra_columns)

    def _batch(self, columns: list[pa.Array], extra_columns: list[pa.Array]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(
            [*columns, *extra_columns], names=[*self.row_schema.names, *self.kept]
        )


def _whole(rule: str, text: str | None) -> Reason:
    """Return the one reason of a record that breaks a rule as a whole."""
    reason_text = EXPLAINED.get(rule, text)
    return Reason("", rule, None if reason_text is None else reason_text[:LONGEST_VALUE])
