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
from schemac.engines.paimon.view import errors_of, table_schema
from schemac.evolution.tables import Done, PlanLine, PlannedChange, Progress, Spread, TableChange, Tables
from schemac.evolution.version_pair import LockedSchemaVersion, SchemaVersion
from schemac.identity.lock import LockedDataset
from schemac.source.catalogue import REFUSED_CHANGE, TABLE_DRIFT
from schemac.source.report import Report


@dataclass(frozen=True)
class PaimonTables(Tables):
    """Paimon tables, by the folder that their schema files lie in."""

    def is_table(self, path: str) -> bool:
        """Tell whether a path is the folder of a Paimon table."""
        return is_table(Path(path))

    def open(self, path: str, locked: LockedDataset, report: Report) -> LockedSchemaVersion | None:
        """Return the locked version that a table is at."""
        table = open_paimon_table(path, locked, report)
        return table.schema_version if table is not None else None

    def plan(self, change: TableChange, report: Report) -> PlannedChange | None:
        """Plan the schema files from a table, or from a version that a table is imagined to be at."""
        if change.path:
            table = open_paimon_table(change.path, change.locked, report)
        else:
            assert change.old is not None
            if _is_refused(change.old, change.new, report):
                return None
            table = PaimonTable.imagined(change.old)
        made = plan_paimon(table, change.locked, change.new, report) if table is not None else None
        return _PlannedPaimon(made, change) if made is not None else None

    def verify(self, path: str, locked: LockedDataset, wanted: LockedSchemaVersion, report: Report) -> None:
        """Report how a table differs from a schema."""
        for error in errors_of(wanted):
            message = f"Paimon cannot represent {wanted.label}: {error.message}"
            report.add(TABLE_DRIFT, message, file=path, path=error.path, help=error.help)
        if not errors_of(wanted):
            report_paimon_drift(path, table_schema(wanted), report)


def _is_refused(old: SchemaVersion, new: SchemaVersion, report: Report) -> bool:
    version = old if errors_of(old) else new
    errors = errors_of(version)
    if errors:
        reason = f"Paimon cannot represent {version.label}: {errors[0].message}"
        report.add(REFUSED_CHANGE, reason, file=version.label, path=errors[0].path, help=errors[0].help)
    return bool(errors)


class _PlannedPaimon(PlannedChange):
    def __init__(self, made: PaimonPlan, change: TableChange) -> None:
        self._made = made
        self._change = change
        table = made.table
        self.title = (
            f"{change.locked.name}: {table.name} ({table.schema_version.label}) → {change.new.label}"
            if change.path
            else "Paimon"
        )
        self.lines = tuple(_lines(made))
        self.document = {"paimon": {"steps": [step.to_json() for step in made.steps]}}
        self.is_done = not made.steps

    def apply(self, report: Report, progress: Progress, spread: Spread | None = None) -> Done | None:
        """Write the schema files."""
        change = self._change
        is_done = apply_paimon(
            self._made, change.locked, change.new, report, is_unchecked=change.is_unchecked
        )
        return Done(f"matches {change.new.label}", {}) if is_done else None


def _lines(plan: PaimonPlan) -> Iterator[PlanLine]:
    """Operations by file with what is to be known before, then the files."""
    for step in plan.steps:
        yield PlanLine("", f"  {step.file}, {step.schema_version.label}:", is_code=True)
        rows = [
            ("note", f"{note.field}: {note.describe()}  [{note.judgement.outcome}]") for note in step.notes
        ]
        rows += [(change.action, change.describe()) for change in step.changes]
        width = max((len(verb) for verb, _ in rows), default=0)
        for verb, told in rows:
            yield PlanLine(f"    {verb:<{width}}  ", told)
        if not rows:
            yield PlanLine("", "    repeats the previous schema", is_code=True)
    for step in plan.steps:
        yield PlanLine("", f"  {step.file}:\n{step.schema.to_text()}", is_code=True, is_detail=True)


TABLES = PaimonTables("Paimon casts values when they are read, by its own rules")
