"""`plan`, `apply` and `verify` for Lance tables.

Layer: engines.
Shape: A table compared with what it should be: by id, name, type, nullability, keys and metadata of every field, the metadata of the
      schema, and the version of the data files.
Errors: SC424 table-drift.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from schemac.engines.lance import is_table
from schemac.engines.lance.artifact import to_message
from schemac.engines.lance.attributes import STORAGE_VERSION
from schemac.engines.lance.fields import lance_ids
from schemac.engines.lance.tables.apply import apply_plan
from schemac.engines.lance.tables.fields import differences
from schemac.engines.lance.tables.live_table import LanceTable, can_store, open_table
from schemac.engines.lance.tables.plan import Plan, field_ids_for, plan
from schemac.engines.lance.tables.row_checks import report_broken
from schemac.engines.lance.tables.steps import Rewrite, Unlooked
from schemac.text.source.catalogue import TABLE_DRIFT
from schemac.text.source.phrases import counted
from schemac.text.source.report import Report
from schemac.versions.evolution.tables import (
    DataCheck,
    PlanLine,
    PlannedChange,
    Progress,
    Spread,
    TableChange,
    Tables,
    TableState,
    report_differences,
)
from schemac.versions.evolution.version_pair import LockedSchemaVersion
from schemac.versions.identity.lock import LockedDataset


def report_drift(table: LanceTable, new: LockedSchemaVersion, report: Report) -> None:
    """Report how a table differs from a schema, by the ids of its fields."""
    field_ids = field_ids_for(table, new)
    target = to_message(new.lowered, field_ids)
    metadata = {key: bytes(value) for key, value in target.metadata.items()}
    fields = [field.SerializeToString() for field in target.fields]
    there = {
        id: lance_ids(table.schema_version.numbers[field]) for field, id in table.schema_version.ids.items()
    }
    pairs = [(lance_ids(field_ids[field]), there.get(id, ())) for field, id in new.ids.items()]
    same = {target_id: table_id for both in pairs for target_id, table_id in zip(*both, strict=False)}
    lines = differences(fields, table.dataset.lance_schema, metadata=metadata, same=same)
    for version, requested in _version_differences(table, metadata):
        report.add(
            TABLE_DRIFT,
            f"{table.name}: its files have storage version {version}, but the schema specifies {requested}",
            file=table.name,
            help="the storage version of a table cannot change: copy the table with `lance.write_dataset(lance.dataset(old), new,"
            f' data_storage_version="{requested}")`, or write `{STORAGE_VERSION.key}: "{version}"`',
        )
    report_differences(table.name, lines, report)


def _version_differences(table: LanceTable, metadata: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Yield the data file version of the table and the expected one; that of the dataset counts, not that in schema metadata."""
    requested = metadata.get(STORAGE_VERSION.key)
    version = table.dataset.data_storage_version
    if requested is not None and json.loads(requested) != version:
        yield version, json.loads(requested)


@dataclass(frozen=True)
class LanceTables(Tables):
    """Lance tables in folders and object stores."""

    def is_table(self, path: str) -> bool:
        """Return whether a path is the folder of a Lance table."""
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
        self.summary = counted(len(steps), "step")
        self.is_done = made.is_done and not made.table.has_notes
        self.unlooked = tuple(f"{step.title}: {step.question}" for step in made.of(Unlooked))
        written = [step.title for step in steps if isinstance(step, Rewrite)]
        self.rows_rewritten = made.table.row_count if written else 0
        if written:
            rows = counted(made.table.row_count, "row")
            self.question = f"{', '.join(written)}: will be rewritten for {rows}. Continue?"

    def apply(self, report: Report, progress: Progress, spread: Spread | None = None) -> bool:
        """Carry all steps out on the table."""
        return apply_plan(self._made, report, progress, spread)


TABLES = LanceTables()
