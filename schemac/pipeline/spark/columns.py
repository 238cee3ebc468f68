"""The columns that a run adds to those of its schema, and the schema of a quarantine.

Layer: pipeline.
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
