"""Gives Spark's Arrow batches the exact Arrow schema of the table.

Layer: pipeline.
Shape: a record batch of Spark types in, a record batch of the target schema out; buffers are shared where they can be.
       Values have been checked by `conforming.validation`, or are checked here by Arrow's safe casts: what does not fit raises.
"""

import pyarrow as pa

from schemac.pipeline.errors import PipelineError
from schemac.rows.judging.exact_types import MissingMemberError, to_field
from schemac.source.catalogue import MISSING_COLUMN, NULL_IN_REQUIRED_FIELD


def to_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Bring a batch to the columns of the schema, by name."""
    columns = []
    for field in schema:
        index = batch.schema.get_field_index(field.name)
        if index < 0:
            raise PipelineError(
                MISSING_COLUMN, f"the frame has no column `{field.name}`, which the schema has"
            )
        try:
            array = to_field(batch.column(index), field)
        except MissingMemberError as error:
            message = f"the frame's struct has no member `{error}`"
            raise PipelineError(MISSING_COLUMN, message) from error
        if not field.nullable and array.null_count:
            raise PipelineError(
                NULL_IN_REQUIRED_FIELD, f"`{field.name}` is required, but is null in some rows"
            )
        columns.append(array)
    return pa.RecordBatch.from_arrays(columns, schema=schema)
