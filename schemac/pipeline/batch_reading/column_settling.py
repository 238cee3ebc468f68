"""Settles rows of columns where they are read: good ones are packed, each of the others has all its reasons.

Layer: pipeline.
Shape: the work of a task (see `cutting`) over rows of Parquet. Spark has only to write a row that does not fit as JSON.
Rule: only where each field has a column that holds it in its type (see `held`), and nobody looks at single records.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from schemac.judging.parts import Reader, Reason, Run
from schemac.judging.settings import Settings
from schemac.judging.typed_values import raw_values, typed_reader
from schemac.pipeline.batch_reading.batch_reader import needs_single_records
from schemac.pipeline.batch_reading.forms import either
from schemac.pipeline.batch_reading.held import held_part
from schemac.pipeline.batch_reading.parts import Part, required
from schemac.pipeline.declaration.job import FieldSource, Job
from schemac.pipeline.reading.pieces import File
from schemac.pipeline.reading.row_groups import Rows
from schemac.pipeline.reading.source import NO_RAW, Records
from schemac.pipeline.spark.columns import ERRORS, REASONS, SOURCE
from schemac.pipeline.spark.packed import ARROW_TYPE, PACKED, packed
from schemac.pipeline.spark.sqltext import literal, name, when
from schemac.pipeline.values.judges import settings_of

RECORD = "_record"


@dataclass(frozen=True)
class Column:
    """A field, the column that it is read from, and how that is checked."""

    label: str
    source: str
    part: Part


@dataclass(frozen=True)
class ColumnSettling:
    """The work of a task that settles rows; `row_schema` has all columns of the files."""

    columns: tuple[Column, ...]
    row_schema: pa.Schema
    stored_schema: bytes
    """Of the fields, as an IPC message: a type that is pickled loses what its children say."""
    settings: Settings

    @property
    def arrow_schema(self) -> pa.Schema:
        """Columns of the rows for Spark."""
        record = pa.field(RECORD, pa.struct(list(self.row_schema)))
        return pa.schema([record, (ERRORS, REASONS), (SOURCE, pa.string()), (PACKED, ARROW_TYPE)])

    @property
    def schema(self) -> StructType:
        """The same as Spark has it."""
        return from_arrow_schema(self.arrow_schema, prefer_timestamp_ntz=True)

    @property
    def raw(self) -> str:
        """SQL text of a row as JSON."""
        cells = [f"{literal(NO_RAW)} as _note"]
        cells += [f"{RECORD}.{name(label)} as {name(label)}" for label in self.row_schema.names]
        return when(f"{PACKED} is null", f"to_json(struct({', '.join(cells)}))")

    def __call__(self, file: File, rows: Rows) -> Iterator[pa.RecordBatch]:
        """Settle some rows of a file."""
        wrong, found = None, []
        for column in self.columns:
            values, wrong_values = required(column.part, rows.taken.column(column.source))
            found.append(values)
            wrong = either(wrong, wrong_values)
        batch = pa.RecordBatch.from_arrays(found, names=[column.label for column in self.columns])
        if wrong is not None:
            batch = batch.filter(pc.invert(wrong))
        if batch.num_rows:
            yield self._rows(pa.nulls(1, self.arrow_schema.field(RECORD).type), None, None, packed(batch))
        if wrong is not None:
            yield self._wrong(file, rows.complete(self.row_schema).filter(wrong))

    def _wrong(self, file: File, rows: pa.RecordBatch) -> pa.RecordBatch:
        values = [raw_values(rows.column(column.source)) for column in self.columns]
        errors = [[reason._asdict() for reason in self._reasons(row)] for row in zip(*values, strict=True)]
        return self._rows(rows.to_struct_array(), errors, file.uri, pa.nulls(len(errors), ARROW_TYPE))

    @cached_property
    def _readers(self) -> list[Reader]:
        """Made in the process that judges."""
        schema = pa.ipc.read_schema(pa.py_buffer(self.stored_schema))
        return [
            typed_reader(schema.field(column.label), self.row_schema.field(column.source), self.settings)
            for column in self.columns
        ]

    def _reasons(self, row: tuple[object, ...]) -> list[Reason]:
        run = Run()
        for column, read, value in zip(self.columns, self._readers, row, strict=True):
            read(value, column.label, run)
        return run.reasons

    def _rows(
        self, records: pa.Array, errors: list[list[dict[str, str]]] | None, uri: str | None, held: pa.Array
    ) -> pa.RecordBatch:
        count = len(records)
        found = pa.nulls(count, REASONS) if errors is None else pa.array(errors, REASONS)
        columns = [records, found, pa.repeat(pa.scalar(uri, pa.string()), count), held]
        return pa.RecordBatch.from_arrays(columns, schema=self.arrow_schema)


class Settled(NamedTuple):
    """Rows that are settled, and SQL text of those that do not fit as JSON."""

    frame: DataFrame
    raw: str


def columns_settled(records: Records, schema: pa.Schema, job: Job) -> Settled | None:
    """Settle the rows of a source where they are read; None where that needs more than their columns."""
    if records.in_place is None or records.given or job.null_values or needs_single_records(schema, job):
        return None
    place = records.in_place
    settling = _settling_of(place.schema, schema, job)
    if settling is None:
        return None
    return Settled(
        place.worked(dict.fromkeys(column.source for column in settling.columns), settling), settling.raw
    )


def _settling_of(known: pa.Schema, schema: pa.Schema, job: Job) -> ColumnSettling | None:
    columns = []
    for field in schema:
        origin = job.fields.get(field.name, FieldSource())
        if origin is None or origin.format is not None or origin.epoch is not None:
            return None
        source = origin.from_ or field.name
        part = held_part(field, known.field(source).type) if source in known.names else None
        if part is None:
            return None
        columns.append(Column(field.name, source, part))
    stored = schema.serialize().to_pybytes()
    return ColumnSettling(tuple(columns), known, stored, settings_of(job))
