"""Carries a plan out on an Iceberg table, by one commit to its catalog.

Layer: engines.
Shape: the commit holds only if the table is still as it was when it was planned for; no data file is touched.
Errors: SC421, SC422, SC423.
Source: the updates and requirements of Iceberg's REST catalog, which pyiceberg takes for every catalog.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from schemac.attributes.own import TABLE_IDS, TABLE_VERSION
from schemac.engines.iceberg.tables.looking import look_at_rows
from schemac.engines.iceberg.tables.plan import IcebergPlan
from schemac.engines.iceberg.view import asked_format
from schemac.evolution.table_version import digest_of_ids
from schemac.source.catalogue import FAILED_CHECK, TABLE_CHANGED, UNUSABLE_TABLE
from schemac.source.report import Report


def apply_iceberg(
    plan: IcebergPlan,
    report: Report,
    references: Mapping[str, str] = MappingProxyType({}),
    *,
    is_unchecked: bool = False,
) -> bool:
    """Look at the rows, and commit; false after saying why not. `is_unchecked` does without the look."""
    table = plan.table
    if table.handle is None:
        message = f"{table.name} is a metadata file, and only a catalog can change a table"
        help = "name the table in its catalog: iceberg://CATALOG/NAMESPACE.TABLE"
        report.add(UNUSABLE_TABLE, message, file=table.name, help=help)
        return False
    is_asked = bool(plan.unlooked) and not is_unchecked
    is_looked_at = is_asked and look_at_rows(plan, references, report)
    for note in plan.unlooked if is_asked and not is_looked_at else ():
        report.add(
            FAILED_CHECK,
            f"{note.field}: {note.judgement.reason}, and the rows of this Iceberg table cannot be read here",
            file=table.name,
            path=note.field,
            help=f"{note.judgement.way_out}; if all of them fit, add --unchecked",
        )
    if report.has_errors:
        return False
    if plan.is_done:
        return True
    from pyiceberg.exceptions import CommitFailedException

    try:
        table.handle.catalog.commit_table(
            table.handle, _requirements(table.handle, is_looked_at), _updates(plan)
        )
    except CommitFailedException as error:
        report.add(
            TABLE_CHANGED,
            f"{table.name} was changed by somebody else in the meantime: {error}",
            file=table.name,
            help="nothing was changed; run `schemac apply` again",
        )
        return False
    except (NotImplementedError, ValueError) as error:
        message = f"pyiceberg cannot make this commit to {table.name}: {error}"
        report.add(UNUSABLE_TABLE, message, file=table.name, help="nothing was changed")
        return False
    except Exception as error:  # noqa: BLE001 — a catalog raises what its own libraries raise
        reason = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        report.add(
            UNUSABLE_TABLE,
            f"{table.name} could not be changed: {reason}",
            file=table.name,
            help="when that is mended, call `schemac apply` again: it starts from what the table has then",
        )
        return False
    return True


def _requirements(handle: Any, is_looked_at: bool) -> tuple[Any, ...]:
    """Return what has to hold of the table when the commit is made; no other rows, where they were looked at."""
    from pyiceberg.table.refs import MAIN_BRANCH
    from pyiceberg.table.update import (
        AssertCurrentSchemaId,
        AssertDefaultSortOrderId,
        AssertDefaultSpecId,
        AssertLastAssignedFieldId,
        AssertLastAssignedPartitionId,
        AssertRefSnapshotId,
        AssertTableUUID,
    )

    metadata = handle.metadata
    return (
        AssertTableUUID(uuid=metadata.table_uuid),
        AssertCurrentSchemaId(current_schema_id=metadata.current_schema_id),
        AssertLastAssignedFieldId(last_assigned_field_id=metadata.last_column_id),
        # What the table is partitioned and sorted by was looked at, for Iceberg does not allow such a field to go.
        AssertDefaultSpecId(default_spec_id=metadata.default_spec_id),
        AssertLastAssignedPartitionId(last_assigned_partition_id=metadata.last_partition_id),
        AssertDefaultSortOrderId(default_sort_order_id=metadata.default_sort_order_id),
        *(
            [AssertRefSnapshotId(ref=MAIN_BRANCH, snapshot_id=metadata.current_snapshot_id)]
            if is_looked_at
            else []
        ),
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
    updates: list[Any] = []
    format_version = asked_format(plan.new)
    if format_version is not None and format_version > metadata.format_version:
        updates.append(UpgradeFormatVersionUpdate(format_version=format_version))
    if plan.schema != metadata.current:
        number = 1 + max(schema.schema_id for schema in metadata.schemas)
        schema = Schema.model_validate({**plan.schema.to_json(), "schema-id": number})
        # -1 stands for the schema that was added last.
        updates += [AddSchemaUpdate(schema=schema), SetCurrentSchemaUpdate(schema_id=-1)]
    record, removed = {TABLE_VERSION: plan.new.version.table_record}, list(plan.removed_properties)
    if any(id != table_id for id, table_id in plan.ids.items()):
        record[TABLE_IDS] = digest_of_ids(field.id for _, field in plan.schema.preorder())
    elif TABLE_IDS in metadata.properties:
        removed.append(TABLE_IDS)
    updates.append(SetPropertiesUpdate(updates={**plan.set_properties, **record}))
    if removed:
        updates.append(RemovePropertiesUpdate(removals=removed))
    return tuple(updates)
