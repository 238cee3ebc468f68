"""What `plan`, `apply` and `verify` do with Paimon tables.

Layer: engines.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from schemac.engines.paimon.sources import is_table
from schemac.engines.paimon.tables.apply import apply_paimon
from schemac.engines.paimon.tables.live_table import PaimonTable, open_paimon_table, report_paimon_drift
from schemac.engines.paimon.tables.plan import PaimonPlan, plan_paimon
from schemac.engines.paimon.view import errors_of
from schemac.evolution.tables import (
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


@dataclass(frozen=True)
class PaimonTables(Tables):
    """Paimon tables, by the folder that their schema files are in."""

    def is_table(self, path: str) -> bool:
        """Tell whether a path is the folder of a Paimon table."""
        return is_table(Path(path))

    def open(
        self, path: str, locked: LockedDataset, report: Report, stated: int | None = None
    ) -> LockedSchemaVersion | None:
        """Return the locked version that a table is at."""
        table = open_paimon_table(path, locked, report, stated)
        return table.schema_version if table is not None else None

    def plan(self, change: TableChange, report: Report) -> PlannedChange | None:
        """Plan the schema files from a table, or from a version that a table is imagined to be at."""
        if change.path:
            table = open_paimon_table(change.path, change.locked, report, change.stated)
        else:
            assert change.old is not None
            if errors := errors_of(change.old):
                report_unrepresentable("Paimon", change.old, errors, REFUSED_CHANGE, change.old.label, report)
                return None
            table = PaimonTable.imagined(change.old)
        made = plan_paimon(table, change.locked, change.new, report) if table is not None else None
        return _PlannedPaimon(made, change) if made is not None else None

    def verify(
        self, path: str, locked: LockedDataset, expected: LockedSchemaVersion, report: Report
    ) -> TableState | None:
        """Report how a table differs from a schema."""
        is_compared = report_paimon_drift(path, expected, report, locked)
        return TableState(f"matches {expected.label}", {}) if is_compared else None


class _PlannedPaimon(PlannedChange):
    def __init__(self, made: PaimonPlan, change: TableChange) -> None:
        self._made = made
        self._change = change
        table = made.table
        self.title = change.title("Paimon", f"{table.name} ({table.schema_version.label})")
        self.lines = tuple(_lines(made))
        self.document = {"paimon": {"steps": [step.to_json() for step in made.steps]}}
        self.is_done = not made.steps
        if change.is_unchecked:
            self.unlooked = tuple(f"{note.field}: {note.judgement.reason}" for note in made.unlooked)

    def apply(self, report: Report, progress: Progress, spread: Spread | None = None) -> bool:
        """Write the schema files."""
        change = self._change
        return apply_paimon(self._made, change.locked, change.new, report, is_unchecked=change.is_unchecked)


def _lines(plan: PaimonPlan) -> Iterator[PlanLine]:
    """Operations by file with what is to be known before, then the files."""
    for step in plan.steps:
        yield PlanLine("", f"  {step.file}, {step.schema_version.label}:", is_code=True)
        rows = [
            ("note", f"{note.field}: {note.describe()}  [{note.judgement.outcome}]") for note in step.notes
        ]
        rows += [(change.action, change.describe()) for change in step.changes]
        width = max((len(verb) for verb, _ in rows), default=0)
        for verb, description in rows:
            yield PlanLine(f"    {verb:<{width}}  ", description)
        if not rows:
            yield PlanLine("", "    repeats the previous schema", is_code=True)
    for step in plan.steps:
        yield PlanLine("", f"  {step.file}:\n{step.schema.to_text()}", is_code=True, is_detail=True)


TABLES = PaimonTables("Paimon casts values when they are read, by its own rules")
