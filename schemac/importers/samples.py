"""Schemas that were inferred from rows.

Floor: 7 (importers).
"""

from pathlib import Path
from typing import Any

from schemac.importers.importer import Imported
from schemac.lifting.lift import lift
from schemac.physical.arrow import ArrowField, ArrowType, pa
from schemac.source.report import Report


def described(sample: Any, path: Path, report: Report) -> Imported:
    """The schema of a sample, with required fields where the sample has no null."""
    columns = [_field(f.name, sample.column(f.name).combine_chunks()) for f in sample.schema]
    comment = (
        f"inferred from {sample.num_rows:,} rows of {path.name}; look at every type, and at what may be null"
    )
    return Imported(lift(pa.schema(columns), str(path), report), (comment,))


def _field(name: str, values: Any) -> ArrowField:
    return pa.field(name, _type(values), nullable=values.null_count > 0 or pa.types.is_null(values.type))


def _type(values: Any) -> ArrowType:
    """The type of an array, its children required where they hold no null."""
    type_ = values.type
    if pa.types.is_struct(type_):
        present = values.drop_null()
        return pa.struct([_field(f.name, present.field(f.name)) for f in type_])
    if pa.types.is_list(type_):
        return pa.list_(_field("item", values.flatten()))
    # Seconds and nanoseconds are accidents of how a sample was written.
    return pa.timestamp("us", type_.tz) if pa.types.is_timestamp(type_) else type_
