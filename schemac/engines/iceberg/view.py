"""What Iceberg has in the place of a schema and its fields.

Layer: engines.
"""

from collections.abc import Mapping

from schemac.artifacts.emission import Emission
from schemac.engines.iceberg.artifact import fields_by_slot, format_version, to_schema
from schemac.engines.iceberg.types import IcebergSchema, NestedField
from schemac.evolution.side import LockedSide, Side
from schemac.logical.slots import Slot
from schemac.source.catalogue import ICEBERG_LOSS
from schemac.source.diagnostic import Diagnostic, Severity
from schemac.source.report import Report


def schema_of(side: Side) -> IcebergSchema:
    """Return Iceberg's schema of a side, with the ids of its lock; not to be used where there are errors."""
    return side.view(_compiled)[0]


def errors_of(side: Side) -> tuple[Diagnostic, ...]:
    """Say why Iceberg cannot hold a side."""
    return side.view(_compiled)[1]


def fields_of(side: Side) -> Mapping[Slot, NestedField]:
    """Return what Iceberg has at every slot that it knows of: not inside a variant."""
    return side.view(_fields)


def format_of(side: Side) -> int:
    """Return the version of the format that a side is for."""
    return format_version(side.dataset.schema.extra)


def _compiled(side: Side) -> tuple[IcebergSchema, tuple[Diagnostic, ...]]:
    report = Report()
    emission = Emission(side.dataset, "iceberg", ICEBERG_LOSS, report)
    ids = side.ids if isinstance(side, LockedSide) else None
    schema = to_schema(side.dataset, side.lowered, emission, ids)
    return schema, tuple(d for d in report.diagnostics if d.severity is Severity.ERROR)


def _fields(side: Side) -> Mapping[Slot, NestedField]:
    return fields_by_slot(side.dataset, schema_of(side))
