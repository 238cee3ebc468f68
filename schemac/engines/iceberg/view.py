"""What Iceberg has in place of a schema and its fields.

Layer: engines.
"""

from collections.abc import Mapping

from schemac.artifacts.emission import Emission
from schemac.engines.iceberg import attributes
from schemac.engines.iceberg.artifact import arrow_fields_by_field, format_version, to_schema
from schemac.engines.iceberg.codes import ICEBERG_LOSS
from schemac.engines.iceberg.types import IcebergSchema, NestedField
from schemac.evolution.version_pair import LockedSchemaVersion, SchemaVersion
from schemac.logical.schema_fields import SchemaField
from schemac.source.diagnostic import Diagnostic, Severity
from schemac.source.report import Report


def schema_of(version: SchemaVersion) -> IcebergSchema:
    """Return Iceberg's schema of a version, with the ids of its lock; not to be used where there are errors."""
    return version.view(_compiled)[0]


def errors_of(version: SchemaVersion) -> tuple[Diagnostic, ...]:
    """Say why Iceberg cannot hold a version."""
    return version.view(_compiled)[1]


def fields_of(version: SchemaVersion) -> Mapping[SchemaField, NestedField]:
    """Return what Iceberg has at every field that it knows of: not inside a variant."""
    return version.view(_fields)


def format_of(version: SchemaVersion) -> int:
    """Return the version of the format that a schema version is for."""
    return format_version(version.dataset.schema.extra)


def asked_format(version: SchemaVersion) -> int | None:
    """Return the version of the format that a schema asks for; None if a table of any format will do."""
    return attributes.FORMAT_VERSION.read(version.dataset.schema.extra)


def _compiled(version: SchemaVersion) -> tuple[IcebergSchema, tuple[Diagnostic, ...]]:
    report = Report()
    emission = Emission(version.dataset, "iceberg", ICEBERG_LOSS, report)
    ids = version.ids if isinstance(version, LockedSchemaVersion) else None
    schema = to_schema(version.dataset, version.lowered, emission, ids)
    return schema, tuple(d for d in report.diagnostics if d.severity is Severity.ERROR)


def _fields(version: SchemaVersion) -> Mapping[SchemaField, NestedField]:
    return arrow_fields_by_field(version.dataset, schema_of(version))
