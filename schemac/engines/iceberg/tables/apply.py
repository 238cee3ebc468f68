"""Carries a plan out on an Iceberg table, by one commit to its catalog.

Layer: engines.
Shape: the commit holds only if the table is still as it was when it was planned for; no data file is touched.
Errors: SC421, SC422, SC423.
Source: the updates and requirements of Iceberg's REST catalog, which pyiceberg takes for every catalog.
"""

from typing import Any

from schemac.engines.iceberg.tables.live_table import VERSION_PROPERTY
from schemac.engines.iceberg.tables.plan import IcebergPlan
from schemac.engines.iceberg.view import format_of
from schemac.source.catalogue import FAILED_CHECK, TABLE_CHANGED, UNUSABLE_TABLE
from schemac.source.report import Report


def apply_iceberg(plan: IcebergPlan, report: Report, *, is_unchecked: bool = False) -> bool:
    """Commit; false after saying why not. `is_unchecked` does without a look at the data."""
    table = plan.table
    if table.handle is None:
        message = f"{table.name} is a metadata file, and only a catalog can change a table"
        help = "name the table in its catalog: iceberg://CATALOG/NAMESPACE.TABLE"
        report.add(UNUSABLE_TABLE, message, file=table.name, help=help)
        return False
    for note in plan.unlooked if not is_unchecked else ():
        report.add(
            FAILED_CHECK,
            f"{note.field}: {note.judgement.reason}, and the data of an Iceberg table is not read here",
            file=table.name,
            path=note.field,
            help=f"{note.judgement.way_out}; when all fit, say so with --unchecked",
        )
    if report.has_errors:
        return False
    if plan.is_done:
        return True
    from pyiceberg.exceptions import CommitFailedException

    try:
        table.handle.catalog.commit_table(table.handle, _requirements(table.handle), _updates(plan))
    except CommitFailedException as error:
        report.add(
            TABLE_CHANGED,
            f"{table.name} was changed by somebody else meanwhile: {error}",
            file=table.name,
            help="nothing was changed; call `schemac apply` again",
        )
        return False
    except (NotImplementedError, ValueError) as error:
        message = f"pyiceberg cannot make this commit to {table.name}: {error}"
        report.add(UNUSABLE_TABLE, message, file=table.name, help="nothing was changed")
        return False
    return True


def _requirements(handle: Any) -> tuple[Any, ...]:
    """Return what has to hold of the table when the commit is made."""
    from pyiceberg.table.update import AssertCurrentSchemaId, AssertLastAssignedFieldId, AssertTableUUID

    metadata = handle.metadata
    return (
        AssertTableUUID(uuid=metadata.table_uuid),
        AssertCurrentSchemaId(current_schema_id=metadata.current_schema_id),
        AssertLastAssignedFieldId(last_assigned_field_id=metadata.last_column_id),
    )


def _updates(plan: IcebergPlan) -> tuple[Any, ...]:
    from pyiceberg.schema import Schema
    from pyiceberg.table.update import (
        AddSchemaUpdate,
        RemovePropertiesUpdate,
        SetCurrentSchemaUpdate,
        SetPropertiesUpdate,
        UpgradeFormatVersionUpdate,
    )

    metadata = plan.table.metadata
    found: list[Any] = []
    wanted = format_of(plan.new)
    if wanted > metadata.format_version:
        found.append(UpgradeFormatVersionUpdate(format_version=wanted))
    if plan.schema != metadata.current:
        number = 1 + max(schema.schema_id for schema in metadata.schemas)
        schema = Schema.model_validate({**plan.schema.to_json(), "schema-id": number})
        # -1 stands for the schema that was added last.
        found += [AddSchemaUpdate(schema=schema), SetCurrentSchemaUpdate(schema_id=-1)]
    version = str(plan.new.number)
    found.append(SetPropertiesUpdate(updates={**plan.set_properties, VERSION_PROPERTY: version}))
    if plan.removed_properties:
        found.append(RemovePropertiesUpdate(removals=list(plan.removed_properties)))
    return tuple(found)
