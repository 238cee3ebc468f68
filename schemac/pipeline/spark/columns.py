"""The columns that a run adds to those of its schema, and records packed into one of them.

Layer: pipeline.
Shape: Packed records: many records in one row of a frame, as a batch of Arrow in a column of bytes: a row in which `_packed` is null is
      one record. Where it is not, the row stands for `rows` records, whose fields are in `batch`, an IPC stream; all other columns of
      the row are null. None of these records has a reason.
Rule: whoever looks at single records (a key that is compared, an expression, a format of Spark) cannot be given packed ones. Records
      that are proven to be right where they are read need not become rows of Spark on their way to the sink.
"""

import pyarrow as pa

ERRORS, RAW, SOURCE, DELETE = "_errors", "_raw", "_source", "_delete"
WARNINGS = "_warnings"
"""Reasons that do not keep a record out of the table."""
ADDRESS = "_address"
"""Of the row of the quarantine that a record comes from."""
ROW_ID = "_rowid"
"""The id that a table gives to a row, as a key of joins."""
ADDRESS_FIELD = pa.field(ADDRESS, pa.int64(), nullable=False)
REASON = pa.struct([("path", pa.string()), ("rule", pa.string()), ("value", pa.string())])
REASONS = pa.list_(pa.field("element", REASON))
"""The type of the column of errors, as Spark names the items of a list."""
QUARANTINE_SCHEMA = pa.schema(
    [
        pa.field("run", pa.string(), nullable=False),
        pa.field("source", pa.string()),
        pa.field("raw", pa.string()),
        pa.field("errors", pa.list_(pa.field("item", REASON)), nullable=False),
    ]
)
POSITIONS = r'\[(?:\d+|"[^\]]*")\]'
