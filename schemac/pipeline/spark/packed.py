"""The columns that a run adds to those of its schema, and packed records: many records in one row of a frame.

Layer: pipeline.
Shape: packed records are a batch of Arrow in a column of bytes. A row in which `_packed` is null is one record. Where it is not, the
      row stands for `rows` records, whose columns are in `batch`, an IPC stream; all other columns of the row are null. Either none of
      these records has a reason, or all have some.
Rule: whoever looks at single records (a key that is compared, an expression, a format of Spark) cannot be given packed ones. Records
      that were validated where they are read need not become rows of Spark on their way to the sink.
"""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_type

ERRORS, RAW, SOURCE, DELETE = "_errors", "_raw", "_source", "_delete"
WARNINGS = "_warnings"
"""Reasons that do not keep a record out of the table."""
ADDRESS = "_address"
"""Of the row of the quarantine that a record comes from."""
ROW_ID = "_rowid"
"""The id that a table gives to a row, as a key of joins."""
ADDRESS_FIELD = pa.field(ADDRESS, pa.int64(), nullable=False)


PACKED = "_packed"


COUNTED = f"coalesce(sum(coalesce({PACKED}.rows, 1L)), 0L)"
"""The number of records in a frame's rows."""


ARROW_TYPE = pa.struct([("rows", pa.int64()), ("batch", pa.binary())])


NOT_PACKED = f"cast(null as {from_arrow_type(ARROW_TYPE).simpleString()}) as {PACKED}"


def packed(batch: pa.RecordBatch) -> pa.Array:
    """Return a batch of records as one value."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    bytes_of = sink.getvalue()
    offsets = pa.array([0, bytes_of.size], pa.int32()).buffers()[1]
    texts = pa.Array.from_buffers(pa.binary(), 1, [None, offsets, bytes_of])
    return pa.StructArray.from_arrays([pa.array([batch.num_rows]), texts], fields=list(ARROW_TYPE))


def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches in which every record has a row of its own; columns that packed records lack are null in their rows."""
    for batch in batches:
        at = batch.schema.get_field_index(PACKED)
        if at < 0:
            yield batch
            continue
        column = batch.column(at)
        rows = batch.remove_column(at).filter(column.is_null())
        if rows.num_rows:
            yield rows
        for text in column.field("batch").filter(column.is_valid()):
            packed_bytes = text.as_buffer()
            # A buffer of its own lies where Arrow wants it, which a value inside of a column does not.
            aligned = pa.allocate_buffer(packed_bytes.size)
            pa.FixedSizeBufferWriter(aligned).write(packed_bytes)
            for inner in pa.ipc.open_stream(aligned):
                by_name = dict(zip(inner.schema.names, inner.columns, strict=True))
                missing = [field for field in rows.schema if field.name not in by_name]
                columns = [*inner.columns, *(pa.nulls(inner.num_rows, field.type) for field in missing)]
                names = [*by_name, *(field.name for field in missing)]
                yield pa.RecordBatch.from_arrays(columns, names=names)
