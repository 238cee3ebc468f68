"""What Paimon has in place of a schema and its fields.

Layer: engines.
"""

from collections.abc import Mapping
from typing import NamedTuple

from schemac.artifacts.targets import Emission
from schemac.engines.paimon import PAIMON_LOSS
from schemac.engines.paimon.artifact import to_table_schema
from schemac.engines.paimon.numbering import highest_of, ids_of, schema_id_of
from schemac.engines.paimon.table_schema import TableSchema
from schemac.engines.paimon.types import DataField, PaimonType, Row
from schemac.language.logical.schema_fields import SchemaField
from schemac.text.source.diagnostic import Diagnostic, Severity
from schemac.text.source.report import Report
from schemac.versions.evolution.version_pair import LockedSchemaVersion, SchemaVersion


class PaimonField(NamedTuple):
    """What Paimon has at a field."""

    type: PaimonType
    field: DataField | None
    """The column or member; None for an item, key or value."""


def table_schema(schema_version: SchemaVersion) -> TableSchema:
    """Return Paimon's schema of a version; not to be used where there are errors."""
    return schema_version.view(_compiled)[0]


def errors_of(schema_version: SchemaVersion) -> tuple[Diagnostic, ...]:
    """Return the errors of Paimon for a version."""
    return schema_version.view(_compiled)[1]


def paimon_fields(schema_version: SchemaVersion) -> Mapping[SchemaField, PaimonField]:
    """Return what Paimon has at every field that it knows of: not at the counts of a multiset, nor inside a VARIANT."""
    return schema_version.view(_paimon_fields)


def _compiled(schema_version: SchemaVersion) -> tuple[TableSchema, tuple[Diagnostic, ...]]:
    report = Report()
    version = schema_version.locked.newest if isinstance(schema_version, LockedSchemaVersion) else None
    ids = ids_of(schema_version.numbers) if isinstance(schema_version, LockedSchemaVersion) else {}
    highest = max([-1 if version is None else highest_of(version), *ids.values()])
    table = to_table_schema(
        schema_version.compilation,
        Emission(schema_version.dataset, "paimon", PAIMON_LOSS, report),
        ids=ids,
        highest=highest,
        schema_id=0 if version is None else schema_id_of(version),
    )
    if version is not None:
        table = table.of_version(version.table_record)
    return table, tuple(d for d in report.diagnostics if d.severity is Severity.ERROR)


def _paimon_fields(schema_version: SchemaVersion) -> Mapping[SchemaField, PaimonField]:
    fields_by_schema_field: dict[SchemaField, PaimonField] = {}

    def enter(schema_field: SchemaField, type_: PaimonType, field: DataField | None) -> None:
        fields_by_schema_field[schema_field] = PaimonField(type_, field)
        fields = type_.fields if isinstance(type_, Row) else (None,) * len(type_.children)
        for child, inner, member in zip(schema_field.children, type_.children, fields, strict=False):
            enter(child, inner, member)

    for schema_field, field in zip(
        schema_version.dataset.columns, table_schema(schema_version).fields, strict=True
    ):
        enter(schema_field, field.type, field)
    return fields_by_schema_field
