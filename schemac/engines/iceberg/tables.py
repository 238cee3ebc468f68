"""`plan`, `apply` and `verify` for Iceberg tables.

Layer: engines.
Shape: a plan is one commit to the table's catalog, which holds only if the table is still as it was when it was planned for; no data file
      is touched. Rows are asked for by ids, with the types and defaults of the new schema. A table is verified by ids where it has those
      of the lock, else by names: types, docs, defaults, identifier fields, the format and the properties that the schema speaks of.
Errors: SC421, SC422 failed-check, SC423 table-changed, SC424 table-drift, SC426.
Source: the updates and requirements of Iceberg's REST catalog, which pyiceberg takes for every catalog.
"""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from schemac.engines.iceberg import live_table
from schemac.engines.iceberg.artifact import errors_of, requested_format, schema_of
from schemac.engines.iceberg.plan import IcebergPlan, ids_in_table, plan_iceberg, requested_properties
from schemac.language.attributes.builtin import TABLE_IDS, TABLE_VERSION
from schemac.language.constraints.rows import ReferenceTo, row_constraints
from schemac.rows.validation import stored
from schemac.text.source.catalogue import TABLE_CHANGED, TABLE_DRIFT, UNCHECKED_ROWS, UNUSABLE_TABLE
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution import tables
from schemac.versions.evolution.changes import Outcome
from schemac.versions.evolution.constraints import constraints_of
from schemac.versions.evolution.table_versions import VersionedTables, report_unread
from schemac.versions.evolution.version_pair import LockedSchemaVersion
from schemac.versions.identity.lock import LockedDataset


def check_rows(plan: IcebergPlan, references: Mapping[str, str], report: Report) -> bool:
    """Report what is in the way of a plan; false if its rows cannot be read."""
    table, without = plan.table.name, plan.unchecked_rules(references)
    rules = [rule for rule in plan.rules if rule not in without]
    rows_rules = constraints_of(rules)
    named = {one.dataset: references[one.dataset] for one in rows_rules.references}
    row_report = Report()
    try:
        # As they will be.
        rows = live_table.stored_rows(table, plan.commit.schema)
        offences = stored.StoredComparison(table, rows, plan.new).offences(rows_rules, named, row_report)
    except (ModuleNotFoundError, ValueError, OSError, RuntimeError, NotImplementedError, pa.ArrowException):
        return False
    if any(one.code == UNCHECKED_ROWS.id for one in row_report.diagnostics):
        return False
    report.extend(row_report.diagnostics)
    state = "nothing was changed"
    for offence in offences:
        rule = next((r for r in rules if (r.path, r.subject) == (offence.path, offence.subject)), None)
        is_of_type = offence.subject is None and any(note.field == offence.path for note in plan.unlooked)
        if rule is not None or is_of_type:
            question = "every value has to be of the type in the schema" if rule is None else rule.question
            expression = rows.expression(offence.rows)
            stored.report_failed(offence.path, question, offence, table, expression, state, report)
    return True


def apply_iceberg(
    plan: IcebergPlan,
    report: Report,
    references: Mapping[str, str] = MappingProxyType({}),
    *,
    is_unchecked: bool = False,
) -> bool:
    """Check the rows, and commit; False after reporting why not. With `is_unchecked` rows are not checked."""
    table = plan.table
    if table.handle is None:
        message = f"{table.name} is a metadata file, and only a catalog can change a table"
        help = "name the table in its catalog: iceberg://CATALOG/NAMESPACE.TABLE"
        report.add(UNUSABLE_TABLE, message, file=table.name, help=help)
        return False
    is_asked = bool(plan.unlooked) and not is_unchecked
    is_looked_at = is_asked and check_rows(plan, references, report)
    if is_asked and not is_looked_at:
        why = "the rows of this Iceberg table cannot be read here"
        report_unread(table.name, plan.unlooked, why, "if all of them fit", report)
    if report.has_errors:
        return False
    if plan.is_done:
        return True
    from pyiceberg.exceptions import CommitFailedException

    requirements, updates = _requirements(table.handle, is_looked_at), _updates(plan)
    try:
        table.handle.catalog.commit_table(table.handle, requirements, updates)
    except CommitFailedException as error:
        message = f"{table.name} was changed by somebody else in the meantime: {error}"
        help = "nothing was changed; run `schemac apply` again"
        report.add(TABLE_CHANGED, message, file=table.name, help=help)
    except (NotImplementedError, ValueError) as error:
        message = f"pyiceberg cannot make this commit to {table.name}: {error}"
        report.add(UNUSABLE_TABLE, message, file=table.name, help="nothing was changed")
    except Exception as error:  # noqa: BLE001 — a catalog raises what its own libraries raise
        message = f"{table.name} could not be changed: {live_table.reason_of(error)}"
        help = "correct this and run `schemac apply` again; it continues from the state of the table"
        report.add(UNUSABLE_TABLE, message, file=table.name, help=help)
    else:
        return True
    return False


def _requirements(handle: Any, is_looked_at: bool) -> tuple[Any, ...]:
    """Return what has to hold of the table when the commit is made; no other rows, where they were looked at."""
    from pyiceberg.table import update
    from pyiceberg.table.refs import MAIN_BRANCH

    metadata = handle.metadata
    snapshots = [metadata.current_snapshot_id] if is_looked_at else []
    return (
        update.AssertTableUUID(uuid=metadata.table_uuid),
        update.AssertCurrentSchemaId(current_schema_id=metadata.current_schema_id),
        update.AssertLastAssignedFieldId(last_assigned_field_id=metadata.last_column_id),
        # What the table is partitioned and sorted by was looked at, for Iceberg does not allow such a field to go.
        update.AssertDefaultSpecId(default_spec_id=metadata.default_spec_id),
        update.AssertLastAssignedPartitionId(last_assigned_partition_id=metadata.last_partition_id),
        update.AssertDefaultSortOrderId(default_sort_order_id=metadata.default_sort_order_id),
        *(update.AssertRefSnapshotId(ref=MAIN_BRANCH, snapshot_id=id) for id in snapshots),
    )


def _updates(plan: IcebergPlan) -> tuple[Any, ...]:
    """Return the updates of one commit in pyiceberg's form: format version, schema, then properties."""
    from pyiceberg.schema import Schema
    from pyiceberg.table import update

    metadata, commit = plan.table.metadata, plan.commit
    updates: list[Any] = []
    if commit.format > commit.current_format:
        updates.append(update.UpgradeFormatVersionUpdate(format_version=commit.format))
    if commit.schema != metadata.current:
        number = 1 + max(schema.schema_id for schema in metadata.schemas)
        schema = Schema.model_validate({**commit.schema.to_json(), "schema-id": number})
        # -1 stands for the schema that was added last.
        updates += [update.AddSchemaUpdate(schema=schema), update.SetCurrentSchemaUpdate(schema_id=-1)]
    record, removed = {TABLE_VERSION: plan.new.version.table_record}, list(commit.removed_properties)
    ids, locked = ([field.id for _, field in one.preorder()] for one in (commit.schema, schema_of(plan.new)))
    if ids != locked:
        record[TABLE_IDS] = tables.digest_of_ids(ids)
    elif TABLE_IDS in metadata.properties:
        removed.append(TABLE_IDS)
    updates.append(update.SetPropertiesUpdate(updates={**commit.set_properties, **record}))
    if removed:
        updates.append(update.RemovePropertiesUpdate(removals=removed))
    return tuple(updates)


class IcebergTables(VersionedTables[live_table.IcebergTable]):
    """Iceberg tables, in a catalog of pyiceberg or by their metadata."""

    def is_table(self, path: str) -> bool:
        """Return whether a path is a table in a catalog, or the metadata of one."""
        return live_table.is_rows(path)

    def planned(
        self, table: live_table.IcebergTable, change: tables.TableChange, report: Report
    ) -> tables.PlannedChange | None:
        """Plan the commit."""
        made = plan_iceberg(table, change.new, report)
        if made is not None:
            everything = row_constraints(change.new.dataset.schema.extra, change.new.dataset.columns)
            stored.report_unknown_references(everything, change.references, change.path, report)
        return _planned(made, change) if made is not None and not report.has_errors else None

    def verify(
        self, path: str, locked: LockedDataset, expected: LockedSchemaVersion, report: Report
    ) -> tables.TableState | None:
        """Report how a table differs from a schema, by ids; by names where the ids do not tell which field each is."""
        if errors := errors_of(expected):
            tables.report_unrepresentable("Iceberg", expected, errors, TABLE_DRIFT, path, report)
            return None
        opened = live_table.open_metadata(path, report)
        if opened is None:
            return None
        metadata = opened[0]
        candidates = live_table.SCHEMAS.candidates_of(metadata.current, locked)
        schema, actual, by_name = schema_of(expected), metadata.current, False
        if candidates:
            chosen = tables.choose_version(live_table.record_of(path, metadata), candidates, report)
            if chosen is None:
                return None
            # Whatever the ids are, the version that the table has tells which field each is.
            ids = live_table.SCHEMAS.ids_between(schema_of(chosen.version), actual)
            table = live_table.IcebergTable("", chosen.version, ids, metadata)
            schema = schema.renumbered(ids_in_table(table, schema))
        else:
            ours, theirs = (dict(live_table.SCHEMAS.members(one)) for one in (schema, actual))
            shared = ours.keys() & theirs.keys()
            by_name = not shared or any(ours[name] != theirs[name] for name in shared)
        lines = list(live_table.differences(schema, actual, by_name=by_name))
        if (format := requested_format(expected) or 0) > metadata.format_version:
            lines.append(f"the format is {metadata.format_version}, expected {format}")
        for key, value in sorted(requested_properties(expected).items()):
            if metadata.properties.get(key) != value:
                lines.append(f"the property {key} is {metadata.properties.get(key)!r}, expected {value!r}")
        tables.report_differences(path, lines, report)
        return tables.TableState(f"matches {expected.label}", {})

    def verify_data(
        self,
        path: str,
        locked: LockedDataset,
        expected: LockedSchemaVersion,
        references: Mapping[str, str],
        report: Report,
    ) -> None:
        """Report the rows that break a constraint; of a table that has another schema, as they will be under it."""
        rows, row_report = stored.open_rows(path, report), Report()
        if rows is not None and report.has_errors:
            table = live_table.open_iceberg_table(path, locked, Report())
            made = plan_iceberg(table, expected, Report()) if table is not None else None
            rows = live_table.stored_rows(path, made.commit.schema) if made is not None else None
        if rows is not None:
            stored.StoredComparison(path, rows, expected).report_broken(references, row_report)
            report.extend(row_report.diagnostics)


def _planned(made: IcebergPlan, change: tables.TableChange) -> tables.PlannedChange:
    """Return the plan as commands show it and carry it out."""
    table, without = made.table, made.unchecked_rules(change.references)
    unlooked = [f"{rule.path}: {rule.question}" for rule in without]
    if change.is_unchecked:
        unlooked = [f"{note.field}: {note.judgement.reason}" for note in made.unlooked]
    rows = [("note", note.line) for note in made.notes]
    for rule in without:
        assert isinstance(rule.subject, ReferenceTo)
        help = f"this is not checked; name that table with `--reference {rule.subject.dataset}=PATH`"
        rows.append(("not checked", f"{rule.path}: {rule.question}, and {help}  [{Outcome.DATA}]"))
    for one in made.operations:
        description = ": ".join(filter(None, (one.field, one.description)))
        rows.append((one.verb, f"{description}  [metadata only]"))
    lines = tables.numbered_lines(rows)
    if made.operations:
        text = json.dumps(made.commit.schema.to_json(), ensure_ascii=False, indent=2)
        lines.append(tables.PlanLine("", f"  the schema:\n{text}", is_code=True, is_detail=True))
    return tables.PlannedChange(
        title=change.title("Iceberg", f"{table.name} ({table.schema_version.label})"),
        lines=tuple(lines),
        document={"iceberg": made.to_json()},
        is_done=made.is_done,
        unlooked=tuple(unlooked),
        apply=lambda report, _progress, _spread: apply_iceberg(
            made, report, change.references, is_unchecked=change.is_unchecked
        ),
    )


TABLES = IcebergTables(
    "Iceberg casts values when they are read, and does not round them",
    engine="Iceberg",
    open_table=live_table.open_iceberg_table,
    imagined=live_table.IcebergTable.imagined,
    errors_of=errors_of,
)
