"""Arrow batches that somebody hands over, as a file that Spark can read several times.

Layer: pipeline.
Shape: one Parquet file in a temporary folder, a batch at a time, with the columns of plain types that every source has. Row ids
       are signed, as those of a table are read.
Errors: SC639 duplicate-column, SC643 source-type-mismatch for values that cannot be handed over.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from schemac.pipeline.errors import PipelineError
from schemac.pipeline.spark.columns import ROW_ID
from schemac.rows.judging.arrays import laid_out, to_field
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
def spooled(source: Batches) -> Iterator[Spool]:
    """Write all batches of a source to a file, which goes at the end."""
    schema, batches = _opened(source)
    twice = sorted({one for one in schema.names if schema.names.count(one) > 1})
    if twice:
        raise PipelineError(DUPLICATE_COLUMN, f"the batches have two columns `{twice[0]}`")
    plain = pa.schema([_plain_field(field) for field in schema])
    with temporary_folder() as folder:
        path = folder / "batches.parquet"
        with pq.ParquetWriter(path, plain) as writer:
            for batch in batches:
                if not batch.schema.equals(schema):
                    message = "the batches have different columns or types"
                    raise PipelineError(SOURCE_TYPE_MISMATCH, message, "pass batches with the same schema")
                writer.write_batch(pa.RecordBatch.from_arrays([*_plain(batch, plain)], schema=plain))
        yield Spool(path, tuple(schema.names))


def _opened(source: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    if hasattr(source, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(source)
        return reader.schema, iter(reader)
    batches = iter([source] if isinstance(source, pa.RecordBatch) else source)
    first = next(batches, None)
    if first is None:
        return pa.schema([]), iter(())
    return first.schema, chain([first], batches)


def _plain_field(field: Any) -> Any:
    """Return a field as sources have it. Durations are refused: Parquet would make numbers without a unit of them."""
    if field.name == ROW_ID and pa.types.is_integer(field.type):
        return pa.field(ROW_ID, pa.int64())
    if _has_duration(field.type):
        message = f"`{field.name}` of the batches is {field.type}, which Spark cannot read"
        help = (
            'cast it to the unit of its field, and then to a number: `cast(pa.duration("ms")).cast("int64")`'
        )
        raise PipelineError(SOURCE_TYPE_MISMATCH, message, help)
    return plain_field(field.with_nullable(True))


def _has_duration(type_: Any) -> bool:
    return pa.types.is_duration(type_) or any(
        _has_duration(type_.field(i).type) for i in range(type_.num_fields)
    )


def _plain(batch: pa.RecordBatch, plain: pa.Schema) -> Iterator[pa.Array]:
    for column, field in zip(batch.columns, plain, strict=True):
        try:
            yield to_field(laid_out(column).cast(nullable_type(field.type)), field)
        except pa.ArrowInvalid as error:
            message = (
                f"`{field.name}` of the batches has a value that Spark cannot hold as {field.type}: {error}"
            )
            raise PipelineError(SOURCE_TYPE_MISMATCH, message) from error
