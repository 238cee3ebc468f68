"""What `plan`, `apply` and `verify` do with Lance tables.

Layer: engines.
"""

from dataclasses import dataclass
from pathlib import Path

from schemac.engines.lance.sources import is_table
from schemac.engines.lance.tables.apply import apply_plan
from schemac.engines.lance.tables.live_table import LanceTable, can_store, open_table
from schemac.engines.lance.tables.plan import Plan, plan
from schemac.engines.lance.tables.steps import Rewrite, Unlooked
from schemac.engines.lance.tables.stored_rows import report_broken
from schemac.engines.lance.tables.verify import report_drift
from schemac.evolution.tables import (
    DataCheck,
    PlanLine,
    PlannedChange,
    Progress,
    Spread,
    TableChange,
    Tables,
    TableState,
)
from schemac.evolution.version_pair import LockedSchemaVersion
from schemac.identity.lock import LockedDataset
from schemac.source.report import Report


@dataclass(frozen=True)
class LanceTables(Tables):
    """Lance tables in folders and object stores."""

    def is_table(self, path: str) -> bool:
        """Tell whether a path is the folder of a Lance table."""
        return is_table(Path(path))

    def open(
        self, path: str, locked: LockedDataset, report: Report, stated: int | None = None
    ) -> LockedSchemaVersion | None:
        """Return the schema that a table has now, under the lock's ids."""
        table = open_table(path, locked, report, stated)
        return table.schema_version if table is not None else None

    def plan(self, change: TableChange, report: Report) -> PlannedChange | None:
        """Plan the steps from a table, or from a version that a table is imagined to be at."""
        if change.path:
            table = open_table(change.path, change.locked, report, change.stated)
        else:
            assert change.old is not None
            table = LanceTable.imagined(change.old)
        made = (
            plan(table, change.new, report, change.rounded, change.references) if table is not None else None
        )
        return _PlannedLance(made, change) if made is not None else None

    def verify(
        self, path: str, locked: LockedDataset, expected: LockedSchemaVersion, report: Report
    ) -> TableState | None:
        """Report how a table differs from a schema."""
        table = open_table(path, locked, report) if can_store(expected, report) else None
        if table is None:
            return None
        report_drift(table, expected, report)
        version = table.dataset.version
        return TableState(f"is at version {version}", {"version": version})

    def verify_data(
        self,
        path: str,
        locked: LockedDataset,
        expected: LockedSchemaVersion,
        check: DataCheck,
        report: Report,
    ) -> None:
        """Report the rows that break a constraint."""
        table = open_table(path, locked, report)
        if table is not None:
            report_broken(table, expected, check.references, report)


class _PlannedLance(PlannedChange):
    def __init__(self, made: Plan, change: TableChange) -> None:
        self._made = made
        steps = made.steps
        self.title = change.title("Lance", change.path)
        width = max((len(step.verb) for step in steps), default=0)
        self.lines = tuple(
            PlanLine(
                f"  {number:>2}. {step.verb:<{width}}  ", f"{step.title}: {step.describe()}  [{step.cost}]"
            )
            for number, step in enumerate(steps, 1)
        )
        self.document = {"steps": [step.to_json() for step in steps]}
        self.summary = f"{len(steps)} step{'s' if len(steps) != 1 else ''}"
        self.is_done = made.is_done and not made.table.has_notes
        self.unlooked = tuple(f"{step.title}: {step.question}" for step in made.of(Unlooked))
        written = [step.title for step in steps if isinstance(step, Rewrite)]
        self.rows_rewritten = made.table.row_count if written else 0
        if written:
            rows = f"{made.table.row_count:,} rows"
            self.question = f"{', '.join(written)}: will be rewritten for {rows}. Continue?"

    def apply(self, report: Report, progress: Progress, spread: Spread | None = None) -> bool:
        """Carry all steps out on the table."""
        return apply_plan(self._made, report, progress, spread)


TABLES = LanceTables()
