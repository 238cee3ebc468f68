"""The work of a task over rows of Parquet: good ones are packed, each of the others has all its reasons.

Layer: pipeline.
Shape: the rows of a piece of a file (see `row_groups`) in; rows for Spark out, in which a row that does not fit is a struct of all
       its columns, for Spark writes it as text.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from schemac.pipeline.batch_reading.record_task import RecordTask
from schemac.pipeline.reading.pieces import File
from schemac.pipeline.reading.row_groups import Rows, spark_types
from schemac.pipeline.reading.row_texts import text_of_row
from schemac.pipeline.spark.columns import ERRORS, REASONS, SOURCE
from schemac.pipeline.spark.packed import ARROW_TYPE, PACKED
from schemac.pipeline.spark.sqltext import name, when

RECORD, NUMBER = "_record", "__row"


@dataclass(frozen=True)
class RowTask:
    """Reads rows; `row_schema` has all columns of the files, `task` keeps the number of each row that does not fit."""

    task: RecordTask
    row_schema: pa.Schema

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
        """SQL text of a row as text."""
        text = text_of_row(spark_types(self.row_schema), lambda label: f"{RECORD}.{name(label)}")
        return when(f"{PACKED} is null", text)

    def __call__(self, records: Iterator[tuple[File, Rows]]) -> Iterator[pa.RecordBatch]:
        """Read the rows of files."""
        for file, rows in records:
            yield from self._read(file, rows)

    def _read(self, file: File, rows: Rows) -> Iterator[pa.RecordBatch]:
        numbers = pa.array(range(rows.taken.num_rows), pa.int64())
        for packed_batch in self.task.rows(rows.taken.append_column(NUMBER, numbers)):
            places, count = packed_batch.column(NUMBER), packed_batch.num_rows
            is_wrong = places.null_count < count
            record = self.arrow_schema.field(RECORD).type
            records = (
                rows.complete(self.row_schema).take(places).to_struct_array()
                if is_wrong
                else pa.nulls(count, record)
            )
            source = pa.repeat(pa.scalar(file.uri if is_wrong else None, pa.string()), count)
            columns = [records, packed_batch.column(ERRORS), source, packed_batch.column(PACKED)]
            yield pa.RecordBatch.from_arrays(columns, schema=self.arrow_schema)
