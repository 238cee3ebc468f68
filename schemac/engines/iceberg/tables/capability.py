"""What `plan`, `apply` and `verify` do with Iceberg tables.

Layer: engines.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemac.constraints.rows import ReferenceTo, row_constraints
from schemac.engines.iceberg.tables.apply import apply_iceberg
from schemac.engines.iceberg.tables.live_table import IcebergTable, is_table, open_iceberg_table
from schemac.engines.iceberg.tables.looking import rows_after
from schemac.engines.iceberg.tables.plan import IcebergPlan, plan_iceberg
from schemac.engines.iceberg.tables.verify import report_iceberg_drift
from schemac.engines.iceberg.view import errors_of
from schemac.evolution.row_rules import Rule
from schemac.evolution.tables import (
    DataCheck,
    PlanLine,
    PlannedChange,
    Progress,
    Spread,
    TableChange,
    Tables,
    TableState,
    report_unrepresentable,
)
from schemac.evolution.verdict import Outcome
from schemac.evolution.version_pair import LockedSchemaVersion
from schemac.identity.lock import LockedDataset
from schemac.rows.validation.stored import Comparison, open_rows, report_unknown_references
from schemac.source.catalogue import REFUSED_CHANGE
from schemac.source.report import Report


@dataclass(frozen=True)
class IcebergTables(Tables):
    """Iceberg tables, in a catalog of pyiceberg or by their metadata."""

    def is_table(self, path: str) -> bool:
        """Tell whether a path names a table in a catalog, or the metadata of one."""
        return is_table(path)

    def open(
        self, path: str, locked: LockedDataset, report: Report, stated: int | None = None
    ) -> LockedSchemaVersion | None:
        """Return the locked version that a table is at."""
        table = open_iceberg_table(path, locked, report, stated)
        return table.schema_version if table is not None else None

    def plan(self, change: TableChange, report: Report) -> PlannedChange | None:
        """Plan the commit from a table, or from a version that a table is imagined to be at."""
        if change.path:
            table = open_iceberg_table(change.path, change.locked, report, change.stated)
        else:
            assert change.old is not None
            if errors := errors_of(change.old):
                report_unrepresentable(
                    "Iceberg", change.old, errors, REFUSED_CHANGE, change.old.label, report
                )
                return None
            table = IcebergTable.imagined(change.old)
        made = plan_iceberg(table, change.new, report) if table is not None else None
        if made is not None:
            everything = row_constraints(change.new.dataset.schema.extra, change.new.dataset.columns)
            report_unknown_references(everything, change.references, change.path, report)
        if report.has_errors:
            return None
        return _PlannedIceberg(made, change) if made is not None else None

    def verify(
        self, path: str, locked: LockedDataset, expected: LockedSchemaVersion, report: Report
    ) -> TableState | None:
        """Report how a table differs from a schema."""
        is_compared = report_iceberg_drift(path, expected, report, locked)
        return TableState(f"matches {expected.label}", {}) if is_compared else None

    def verify_data(
        self,
        path: str,
        locked: LockedDataset,
        expected: LockedSchemaVersion,
        check: DataCheck,
        report: Report,
    ) -> None:
        """Report the rows that break a constraint; of a table that has another schema, as they will be under it."""
        rows, row_report = open_rows(path, report), Report()
        if rows is not None and report.has_errors:
            table = open_iceberg_table(path, locked, Report())
            made = plan_iceberg(table, expected, Report()) if table is not None else None
            rows = rows_after(made) if made is not None else None
        if rows is not None:
            Comparison(path, rows, expected).report_broken(check.references, row_report)
            report.extend(row_report.diagnostics)


class _PlannedIceberg(PlannedChange):
    def __init__(self, made: IcebergPlan, change: TableChange) -> None:
        self._made = made
        self._change = change
        table = made.table
        self.title = change.title("Iceberg", f"{table.name} ({table.schema_version.label})")
        without = made.without_target(change.references)
        self.unlooked = tuple(f"{rule.path}: {rule.question}" for rule in without)
        if change.is_unchecked:
            self.unlooked = tuple(f"{note.field}: {note.judgement.reason}" for note in made.unlooked)
        self.lines = tuple(_lines(made, without))
        self.document = {"iceberg": made.to_json()}
        self.is_done = made.is_done

    def apply(self, report: Report, progress: Progress, spread: Spread | None = None) -> bool:
        """Commit."""
        change = self._change
        return apply_iceberg(self._made, report, change.references, is_unchecked=change.is_unchecked)


def _lines(plan: IcebergPlan, without: Sequence[Rule]) -> Iterator[PlanLine]:
    """Yield what is to be known before, then what nobody looks at, what the one commit changes, and the schema."""
    rows = [("note", f"{note.field}: {note.describe()}  [{note.judgement.outcome}]") for note in plan.notes]
    for rule in without:
        assert isinstance(rule.subject, ReferenceTo)
        description = f"this is not checked; name that table with `--reference {rule.subject.dataset}=PATH`"
        rows.append(("not checked", f"{rule.path}: {rule.question}, and {description}  [{Outcome.DATA}]"))
    for one in plan.operations:
        description = (
            f"{one.field}: {one.description}"
            if one.field and one.description
            else one.field or one.description
        )
        rows.append((one.verb, f"{description}  [metadata only]"))
    width = max((len(verb) for verb, _ in rows), default=0)
    for number, (verb, description) in enumerate(rows, 1):
        yield PlanLine(f"  {number:>2}. {verb:<{width}}  ", description)
    if plan.operations:
        text = json.dumps(plan.schema.to_json(), ensure_ascii=False, indent=2)
        yield PlanLine("", f"  the schema:\n{text}", is_code=True, is_detail=True)


TABLES = IcebergTables(
    "Iceberg casts values when they are read, and rounds none",
)
