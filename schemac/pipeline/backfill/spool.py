"""Arrow batches that somebody hands over, as a file that Spark can read several times.

Layer: pipeline.
Shape: one Parquet file in a temporary folder, a batch at a time, with the columns of plain types that every source has. Row ids
       are signed, as those of a table are read.
Errors: SC639 duplicate-column, SC643 source-type-mismatch for values that cannot be handed over.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from schemac.pipeline.errors import PipelineError
from schemac.pipeline.spark.packed import ROW_ID
from schemac.rows.judging.arrays import is_list, laid_out, storage_type, to_field
from schemac.rows.runs.plain_types import nullable_type, plain_field
from schemac.rows.runs.staging import temporary_folder
from schemac.text.source.catalogue import DUPLICATE_COLUMN, SOURCE_TYPE_MISMATCH


class ArrowStream(Protocol):
    """What hands out its rows by Arrow's C interface: readers and tables of pyarrow, polars, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the capsule of the stream."""
        ...


Batches = ArrowStream | Iterable[pa.RecordBatch]


@dataclass(frozen=True)
class Spool:
    """A file of rows."""

    path: Path
    names: tuple[str, ...]


@contextmanager
def spooled(source: Batches, fields: pa.Schema) -> Iterator[Spool]:
    """Write all batches of a source to a file, which goes at the end; `fields` are those that its columns fill."""
    if hasattr(source, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(source)
        schema, batches = reader.schema, iter(reader)
    else:
        rest = iter([source] if isinstance(source, pa.RecordBatch) else source)
        head = next(rest, None)
        if head is None:
            schema, batches = pa.schema([]), iter(())
        else:
            schema, batches = head.schema, chain([head], rest)
    twice = sorted({one for one in schema.names if schema.names.count(one) > 1})
    if twice:
        raise PipelineError(DUPLICATE_COLUMN, f"the batches have two columns `{twice[0]}`")
    plain = pa.schema([_plain_field(field, _type_in(fields, field.name)) for field in schema])
    with temporary_folder() as folder:
        path = folder / "batches.parquet"
        with pq.ParquetWriter(path, plain) as writer:
            for batch in batches:
                if not batch.schema.equals(schema):
                    message = "the batches have different columns or types"
                    raise PipelineError(SOURCE_TYPE_MISMATCH, message, "pass batches with the same schema")
                writer.write_batch(pa.RecordBatch.from_arrays([*_plain(batch, plain, fields)], schema=plain))
        yield Spool(path, tuple(schema.names))


def _type_in(parts: Any, label: str) -> Any:
    """Return the type of a part of a schema or a struct; None if there is none."""
    place = parts.get_field_index(label) if isinstance(parts, pa.Schema | pa.StructType) else -1
    return None if place < 0 else storage_type(parts.field(place).type)


def _plain_field(field: Any, target: Any) -> Any:
    """Return a field as sources have it: of durations Parquet would make numbers without a unit, so they are counts in that of their field."""
    if field.name == ROW_ID and pa.types.is_integer(field.type):
        return pa.field(ROW_ID, pa.int64())
    type_ = laid_out(pa.nulls(0, field.type)).type
    try:
        counted = _in_unit(type_, target, lambda _: pa.int64())
    except _NoUnitError as error:
        message = f"`{field.name}` of the batches is {field.type}, and no duration is there in the schema"
        help = 'cast it to a number of the unit that you mean: `cast(pa.duration("ms")).cast("int64")`'
        raise PipelineError(SOURCE_TYPE_MISMATCH, message, help) from error
    return plain_field((field if counted.equals(type_) else field.with_type(counted)).with_nullable(True))


class _NoUnitError(Exception):
    """A duration for a field that is none."""


def _in_unit(type_: Any, target: Any, leaf: Callable[[Any], Any]) -> Any:
    """Return a type with what `leaf` makes of the duration of the field in the place of each duration."""
    is_ = pa.types
    if is_.is_duration(type_):
        if target is None or not is_.is_duration(target):
            raise _NoUnitError
        return leaf(target)
    if is_.is_struct(type_):
        return pa.struct(
            [part.with_type(_in_unit(part.type, _type_in(target, part.name), leaf)) for part in type_]
        )
    if is_.is_map(type_):
        of_key, of_item = (
            (target.key_type, target.item_type) if target and is_.is_map(target) else (None, None)
        )
        key = type_.key_field.with_type(_in_unit(type_.key_type, of_key, leaf))
        return pa.map_(key, type_.item_field.with_type(_in_unit(type_.item_type, of_item, leaf)))
    if is_list(type_):
        of_items = storage_type(target.value_type) if target and is_list(target) else None
        items = type_.value_field.with_type(_in_unit(type_.value_type, of_items, leaf))
        if is_.is_fixed_size_list(type_):
            return pa.list_(items, type_.list_size)
        return pa.large_list(items) if is_.is_large_list(type_) else pa.list_(items)
    return type_


def _plain(batch: pa.RecordBatch, plain: pa.Schema, fields: pa.Schema) -> Iterator[pa.Array]:
    """Yield the columns of a batch in plain types. Raises PipelineError for a value that does not fit its type."""
    for column, field in zip(batch.columns, plain, strict=True):
        column = laid_out(column)
        in_unit = _in_unit(column.type, _type_in(fields, field.name), lambda target: target)
        try:
            values = column if in_unit.equals(column.type) else column.cast(in_unit)
            yield to_field(values.cast(nullable_type(field.type)), field)
        except pa.ArrowInvalid as error:
            shown = field.type if in_unit.equals(column.type) else in_unit
            message = f"`{field.name}` of the batches has a value that does not fit {shown}: {error}"
            raise PipelineError(SOURCE_TYPE_MISMATCH, message) from error
