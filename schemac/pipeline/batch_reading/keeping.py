"""Constraints over what the batch reader reads, with the kernels of Arrow.

Layer: pipeline.
Shape: a batch of proven records in; a mask of those that break a constraint of their values, or a condition, out. The reader holds some
       values in wider types than the table has; they are brought to those of the table first, which only proven ones can be.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from schemac.arrow.constrained import SchemaConstraints, constraints_of
from schemac.constraints.evaluation import breaches
from schemac.judging.arrays import plain_type
from schemac.judging.exact_types import to_field


@dataclass(frozen=True)
class Keeping:
    """The constraints of some columns; `schema_bytes` is an IPC message, for it travels to where records are read."""

    schema_bytes: bytes

    @cached_property
    def _schema(self) -> pa.Schema:
        return pa.ipc.read_schema(pa.py_buffer(self.schema_bytes))

    @cached_property
    def _constraints(self) -> SchemaConstraints:
        return constraints_of(self._schema)

    def broken(self, batch: pa.RecordBatch) -> pa.Array:
        """Tell which of these records break a constraint."""
        columns = [_stored(batch.column(field.name), field) for field in self._schema]
        held = pa.RecordBatch.from_arrays(columns, names=self._schema.names)
        wrong = np.zeros(batch.num_rows, bool)
        for breach in breaches([place.slot for place in self._constraints.columns], held):
            wrong[breach.rows.to_numpy(zero_copy_only=False)] = True
        for check in self._constraints.rows.checks:
            wrong |= check.violations(held).to_numpy(zero_copy_only=False)
        return pa.array(wrong)


def _stored(values: pa.Array, field: pa.Field) -> pa.Array:
    """Bring proven values to the type of the table. Raises ArrowNotImplementedError."""
    return to_field(values, pa.field(field.name, plain_type(field)))


def can_be_checked(schema: pa.Schema) -> bool:
    """Whether the constraints of a schema are of single records."""
    rows = constraints_of(schema).rows
    return not (rows.unique or rows.references)


def keeping_of(schema: pa.Schema, types: dict[str, pa.DataType]) -> Keeping | None:
    """How constraints are checked of columns that are read in these types. Raises ArrowNotImplementedError where Arrow cannot."""
    found = constraints_of(schema)
    if not found:
        return None
    needed = {place.field.name for place in found.columns}
    needed |= {field.path[0] for check in found.rows.checks for field in check.condition.fields()}
    for name in needed:
        _stored(pa.array([], types[name]), schema.field(name))
    kept = pa.schema([field for field in schema if field.name in needed], metadata=schema.metadata)
    return Keeping(kept.serialize().to_pybytes())
