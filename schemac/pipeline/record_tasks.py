"""The task over records of every source: validated, brought to the types of Spark, and packed where nobody looks at single ones.

Layer: pipeline.
Shape: `RecordBatch`es in, wherever they are read: out of files by our own tasks, or brought by Spark. Rows for Spark out: `_errors` with
      what is wrong, `_raw` and `_source` of records that are wrong (of all, if rows are compared with each other), and either columns
      `__v…` with the values, or `_packed` with thousands of records in one row: good ones, or wrong ones with their reasons.
      A column has the type that Spark has for its field. Unsigned integers are wider there; counts of nanoseconds, times of day and
      durations are integers, decimals that Spark cannot have are text, and halves are floats.
Errors: SC608 unsupported-type.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import from_arrow_schema, from_arrow_type
from pyspark.sql.types import DataType, StringType, StructField, StructType

from schemac.language.attributes.attribute import Role
from schemac.language.constraints.constraint import entries_of, lists_of, mask_of
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.cutting import FAULT, RecordBatch
from schemac.pipeline.spark.packed import ARROW_TYPE, ERRORS, PACKED, RAW, SOURCE, packed
from schemac.rows.judging.arrays import is_list, is_scalar, maps_of, role_of, storage_type, to_field
from schemac.rows.judging.reasons import REASON, Reason
from schemac.rows.judging.scalars import scalar_of
from schemac.rows.judging.settings import LONGEST_VALUE, Step, ValidationSettings
from schemac.rows.runs.plain_types import has_decimal, is_count, plain_type
from schemac.rows.validation.result import JudgedBatch
from schemac.rows.validation.validator import FieldInput, Validator
from schemac.text.source.catalogue import UNSUPPORTED_TYPE

REASONS = pa.list_(pa.field("element", REASON))
"""The type of the column of errors, as Spark names the items of a list."""
MOST_BYTES = 64 << 20
"""Of records that are read at once."""
EXPLAINED: Mapping[str, str] = {
    "encoding": "bytes that are not the encoding of the source; `raw` has each byte as a character of ISO-8859-1",
    "quotes": "a quote is not escaped, is not closed in its record, or is next to other text of its value:"
    " if values hold line breaks, set `multiLine: true`",
    "type": "the list whose items are the records is not a list: the record is quarantined as a whole",
    "partition": "the record and the name of its folder have different values",
}
"""What is told of records that break a rule as a whole, in place of their text."""


@dataclass(frozen=True)
class RecordTask:
    """Validates batches of records; with `packs` they leave it packed."""

    schema_bytes: bytes
    """An IPC message: a type that is pickled loses what its children say."""
    settings: ValidationSettings
    inputs: tuple[FieldInput, ...]
    folders: tuple[tuple[tuple[Step, ...], str], ...] = ()
    """Columns from names of folders, with the place of a record that must not say another value."""
    keeps_all: bool = False
    """Whether good records keep their text, too."""
    packs: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels to the tasks: nothing that was made here."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def schema(self) -> pa.Schema:
        """The fields."""
        return pa.ipc.read_schema(pa.py_buffer(self.schema_bytes))

    def spark_schema(self, raw_type: DataType) -> StructType:
        """Return the columns that leave the task; `raw_type` is that of a record as the quarantine has it."""
        row_type = from_arrow_schema(self._row_schema, prefer_timestamp_ntz=True)
        return StructType([*row_type.fields, StructField(RAW, raw_type), StructField(SOURCE, StringType())])

    @cached_property
    def _row_schema(self) -> pa.Schema:
        """The columns of what leaves the task, but for `_raw` and `_source`."""
        values = (column_type(self.schema.field(one.label)) for one in self.inputs)
        columns = [] if self.packs else [(f"__v{i}", value_type) for i, value_type in enumerate(values)]
        return pa.schema([*columns, (ERRORS, REASONS), *([(PACKED, ARROW_TYPE)] if self.packs else [])])

    @cached_property
    def _validator(self) -> Validator:
        """Return the validator of the inputs, made once in each task."""
        return Validator(self.schema, self.settings, self.inputs, self.folders)

    def __call__(self, batches: Iterator[RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Validate the records of a partition."""
        for batch in batches:
            judged = self._validator.validate(batch.columns)
            if batch.faults is not None and batch.faults.null_count < len(batch.faults):
                rows = pc.indices_nonzero(batch.faults.is_valid())
                rules, texts = batch.faults.take(rows).to_pylist(), batch.raw.take(rows).to_pylist()
                for row, rule, text in zip(rows.to_pylist(), rules, texts, strict=True):
                    judged.reasons.refuse(row, Reason("", rule, text[:LONGEST_VALUE]))
            for row, why in judged.reasons.whole.items():
                if why.rule in EXPLAINED:
                    judged.reasons.refuse(row, Reason("", why.rule, EXPLAINED[why.rule][:LONGEST_VALUE]))
            if self.packs:
                yield from self._packed(batch, judged)
                continue
            places = np.arange(judged.rows.num_rows)
            is_good = np.isin(places, judged.reasons.rows, invert=True)
            errors = judged.reasons.array(REASONS).take(pa.array(np.cumsum(~is_good) - 1, mask=is_good))
            shown = pa.array(places, mask=None if self.keeps_all else is_good)
            members = [self.schema.field(one.label) for one in self.inputs]
            columns = [spark_column(*pair) for pair in zip(judged.rows.columns, members, strict=True)]
            yield self._batch([*columns, errors, batch.raw.take(shown), batch.origin.take(shown)])

    def of_frame(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Do the same with batches that Spark brings, which have `_raw`, `_source` and maybe `_fault` next to what fields are read from.

        Of larger ones `MOST_BYTES` at a time.
        """
        for whole in batches:
            step = max(1, whole.num_rows * MOST_BYTES // max(whole.nbytes, MOST_BYTES))
            for start in range(0, whole.num_rows, step):
                batch = whole.slice(start, step)
                faults = batch.column(FAULT) if FAULT in batch.schema.names else None
                yield from self(iter([RecordBatch(batch, batch.column(RAW), batch.column(SOURCE), faults)]))

    def _packed(self, batch: RecordBatch, judged: JudgedBatch) -> Iterator[pa.RecordBatch]:
        """Pack good records, and the others with their reasons; texts that Spark has yet to make need a row each."""
        bad = pa.array(judged.reasons.rows)
        good = judged.rows.filter(pc.invert(judged.is_bad)) if len(bad) else judged.rows
        if good.num_rows:
            yield self._packed_row(good, batch)
        if len(bad):
            columns = [judged.reasons.array(REASONS), batch.raw.take(bad), batch.origin.take(bad)]
            if pa.types.is_string(batch.raw.type):
                yield self._packed_row(pa.record_batch(columns, [ERRORS, RAW, SOURCE]), batch)
            else:
                yield self._batch([columns[0], pa.nulls(len(bad), ARROW_TYPE), *columns[1:]])

    def _packed_row(self, records: pa.RecordBatch, batch: RecordBatch) -> pa.RecordBatch:
        """Return one row that holds many records."""
        nulls = [pa.nulls(1, column_type) for column_type in (REASONS, batch.raw.type, pa.string())]
        return self._batch([nulls[0], packed(records), *nulls[1:]])

    def _batch(self, columns: list[pa.Array]) -> pa.RecordBatch:
        """Return a batch that leaves the task: the columns of the rows, the raw records and their files."""
        return pa.RecordBatch.from_arrays(columns, names=[*self._row_schema.names, RAW, SOURCE])


_OF_ROLES = {Role.JSON: pa.string(), Role.BRAIN_FLOATS: pa.float32(), Role.BLOB: pa.binary()}


def spark_type(field: pa.Field) -> DataType:
    """Return the type that Spark has for the values of a field. Raises PipelineError."""
    return from_arrow_type(column_type(field), prefer_timestamp_ntz=True)


def column_type(field: pa.Field) -> pa.DataType:
    """Return the same as Arrow has it. Raises PipelineError."""
    data_type, is_, role = field.type, pa.types, role_of(field)
    if not is_scalar(field):
        if is_list(data_type):
            return pa.list_(pa.field("element", column_type(data_type.value_field)))
        if is_.is_map(data_type):
            return pa.map_(column_type(data_type.key_field), column_type(data_type.item_field))
        return pa.struct([pa.field(part.name, column_type(part)) for part in data_type])
    if scalar_of(field) is None:
        message = f"field `{field.name}`: a pipeline cannot write the type {data_type}"
        raise PipelineError(UNSUPPORTED_TYPE, message)
    if role is not None:
        return _OF_ROLES[role]
    data_type = storage_type(data_type)
    if is_.is_null(data_type) or (is_.is_decimal(data_type) and not has_decimal(data_type)):
        return pa.string()
    return pa.int64() if is_count(data_type) else plain_type(data_type)


def spark_column(values: pa.Array, field: pa.Field) -> pa.Array:
    """Bring values of a field to the type that Spark has for them."""
    target = column_type(field)
    if is_scalar(field):
        if role_of(field) is Role.BRAIN_FLOATS and not values.type.equals(target):
            # They are the upper halves of singles.
            halves = values.cast(pa.binary()).cast(pa.binary(2)).view(pa.uint16())
            return pc.shift_left(halves.cast(pa.uint32()), pa.scalar(16, pa.uint32())).view(target)
        numbers = values.cast(pa.int32()) if pa.types.is_time32(values.type) else values
        return to_field(numbers, pa.field(field.name, target))
    if is_list(field.type):
        return lists_of(values, spark_column(values.flatten(), field.type.value_field), target)
    if pa.types.is_map(field.type):
        lists = entries_of(values)
        keys, items = lists.flatten().flatten()
        keys, items = spark_column(keys, field.type.key_field), spark_column(items, field.type.item_field)
        return maps_of(lists, keys, items, target)
    if not target.num_fields:
        return pa.array([{} if there else None for there in values.is_valid().to_pylist()], target)
    children = [spark_column(child, part) for child, part in zip(values.flatten(), field.type, strict=True)]
    return pa.StructArray.from_arrays(children, fields=list(target), mask=mask_of(values))
