"""What `plan`, `apply` and `verify` do with Iceberg tables.

Layer: engines.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from schemac.engines.iceberg.tables.apply import apply_iceberg
from schemac.engines.iceberg.tables.live_table import IcebergTable, is_table, open_iceberg_table
from schemac.engines.iceberg.tables.plan import IcebergPlan, plan_iceberg
from schemac.engines.iceberg.tables.verify import report_iceberg_drift
from schemac.engines.iceberg.view import errors_of
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
from schemac.evolution.version_pair import LockedSchemaVersion
from schemac.identity.lock import LockedDataset
from schemac.source.catalogue import REFUSED_CHANGE
from schemac.source.report import Report
from schemac.validation.stored import Comparison, open_rows


@dataclass(frozen=True)
class IcebergTables(Tables):
    """Iceberg tables, in a catalog of pyiceberg or by their metadata."""

    def is_table(self, path: str) -> bool:
        """Tell whether a path names a table in a catalog, or the metadata of one."""
        return is_table(path)

    def open(self, path: str, locked: LockedDataset, report: Report) -> LockedSchemaVersion | None:
        """Return the locked version that a table is at."""
        table = open_iceberg_table(path, locked, report)
        return table.schema_version if table is not None else None

    def plan(self, change: TableChange, report: Report) -> PlannedChange | None:
        """Plan the commit from a table, or from a version that a table is imagined to be at."""
        if change.path:
            table = open_iceberg_table(change.path, change.locked, report)
        else:
            assert change.old is not None
            if errors := errors_of(change.old):
                report_unrepresentable(
                    "Iceberg", change.old, errors, REFUSED_CHANGE, change.old.label, report
                )
                return None
            table = IcebergTable.imagined(change.old)
        made = plan_iceberg(table, change.new, report) if table is not None else None
        return _PlannedIceberg(made, change) if made is not None else None

    def verify(
        self, path: str, locked: LockedDataset, wanted: LockedSchemaVersion, report: Report
    ) -> TableState | None:
        """Report how a table differs from a schema."""
        is_compared = report_iceberg_drift(path, wanted, report)
        return TableState(f"matches {wanted.label}", {}) if is_compared else None

    def verify_data(
        self, path: str, locked: LockedDataset, wanted: LockedSchemaVersion, check: DataCheck, report: Report
    ) -> None:
        """Report the rows that break a constraint."""
        rows = open_rows(path, report)
        if rows is not None:
            Comparison(path, rows, wanted).report_broken(check.references, report)


class _PlannedIceberg(PlannedChange):
    def __init__(self, made: IcebergPlan, change: TableChange) -> None:
        self._made = made
        self._change = change
        table = made.table
        self.title = change.title("Iceberg", f"{table.name} ({table.schema_version.label})")
        self.lines = tuple(_lines(made))
        self.document = {"iceberg": made.to_json()}
        self.is_done = made.is_done

    def apply(self, report: Report, progress: Progress, spread: Spread | None = None) -> bool:
        """Commit."""
        return apply_iceberg(self._made, report, is_unchecked=self._change.is_unchecked)


def _lines(plan: IcebergPlan) -> Iterator[PlanLine]:
    """Yield what is to be known before, then what the one commit changes, then the schema."""
    rows = [("note", f"{note.field}: {note.describe()}  [{note.judgement.outcome}]") for note in plan.notes]
    for one in plan.operations:
        told = f"{one.field}: {one.told}" if one.field and one.told else one.field or one.told
        rows.append((one.verb, f"{told}  [metadata only]"))
    width = max((len(verb) for verb, _ in rows), default=0)
    for number, (verb, told) in enumerate(rows, 1):
        yield PlanLine(f"  {number:>2}. {verb:<{width}}  ", told)
    if plan.operations:
        text = json.dumps(plan.schema.to_json(), ensure_ascii=False, indent=2)
        yield PlanLine("", f"  the schema:\n{text}", is_code=True, is_detail=True)


TABLES = IcebergTables(
    "Iceberg casts values when they are read, and rounds none",
)
