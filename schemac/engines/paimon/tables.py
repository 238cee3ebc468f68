"""`plan`, `apply` and `verify` for Paimon tables.

Layer: engines.
Shape: a plan has one step for each locked version, with the operations that Paimon's own catalogs would take for it and the schema file
      that says the same; a version that Paimon refuses is left out where the next one does without it. A schema file appears whole or
      not at all, and never in place of another. Where somebody else has taken its number the table is read anew: what they did may be
      what was wanted, or be a version to go on from.
Errors: SC411 refused-change, SC422 failed-check, SC423 table-changed, SC424 table-drift, SC105.
"""

import errno
import os
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from schemac.engines.paimon import live_table
from schemac.engines.paimon.changes import SchemaChange, changes_between
from schemac.engines.paimon.judge import OPTION_FACTS
from schemac.engines.paimon.reader import schema_files
from schemac.engines.paimon.table_schema import TableSchema
from schemac.language.attributes.builtin import TABLE_VERSION
from schemac.text.source.catalogue import REFUSED_CHANGE, TABLE_CHANGED, TABLE_DRIFT, WRITE_FAILED
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json
from schemac.text.source.text import reason_of
from schemac.versions.evolution import tables
from schemac.versions.evolution.changes import Outcome
from schemac.versions.evolution.diff import diff_of
from schemac.versions.evolution.judge import judge_change
from schemac.versions.evolution.table_versions import VersionedTables, notes_of, report_refused, report_unread
from schemac.versions.evolution.version_pair import LockedSchemaVersion, locked_schema_version, pair_versions
from schemac.versions.identity.lock import LockedDataset


@dataclass(frozen=True)
class PaimonStep:
    """One schema file that a plan writes, with the operations that lead to it."""

    schema_version: LockedSchemaVersion
    """The locked version that it is of."""
    changes: tuple[SchemaChange, ...]
    notes: tuple[tables.Note, ...]
    schema: TableSchema
    """What the file says, but for the time."""

    @property
    def file(self) -> str:
        """Its name."""
        return f"schema-{self.schema.schema_id}"

    def to_json(self) -> Json:
        """Return the step for programs."""
        return {
            "changes": [change.to_json() for change in self.changes],
            "file": self.file,
            "notes": [note.to_json() for note in self.notes],
            "schema": self.schema.to_dict(),
            "version": self.schema_version.label,
        }


@dataclass(frozen=True)
class PaimonPlan:
    """The schema files that bring one table to a new schema."""

    table: live_table.PaimonTable
    steps: tuple[PaimonStep, ...]

    @property
    def unlooked(self) -> tuple[tables.Note, ...]:
        """Return the changes that depend on unchecked data; none in an empty table."""
        notes = [note for step in self.steps for note in step.notes]
        return tuple(n for n in notes if n.judgement.outcome is Outcome.DATA and not self.table.is_empty)


def plan_paimon(
    table: live_table.PaimonTable, locked: LockedDataset, new: LockedSchemaVersion, report: Report
) -> PaimonPlan | None:
    """Return the plan for a table; None after reporting why there is none."""
    target, at = new.number, table.schema_version.number
    if target < at:
        at_version = f"{table.name} is at {table.schema_version.label}"
        message = f"{at_version}, and the schema of a Paimon table cannot go back to an earlier version"
        help = f"lock the schema of {new.label} again as the newest version"
        report.add(REFUSED_CHANGE, message, file=table.name, help=help)
        return None
    if not table.is_empty and tables.has_replaced_fields(table.name, table.schema_version, new, report):
        return None
    steps: list[PaimonStep] = []
    ids = dict(table.ids)
    version, schema = table.schema_version, table.schema
    # A table that has only a part of a version, or whose record alone changes, goes to the last version at once.
    is_recorded = new.version.is_recorded_as(table.schema.options.get(TABLE_VERSION))
    is_at_once = table.is_part or (table.is_stated and at == target and not is_recorded)
    for number in (target,) if is_at_once else range(at + 1, target + 1):
        after = locked_schema_version(locked, number)
        pair = pair_versions(version, after)
        judged = [(change, judge_change("paimon", change, pair)) for change in diff_of(pair)]
        if table.is_empty:
            # Options are fixed from the first snapshot on, but for the type of the table.
            judged = [(c, j) for c, j in judged if c.fact not in OPTION_FACTS or c.key == "type"]
        is_refused = any(judgement.outcome is Outcome.REFUSED for _, judgement in judged)
        if is_refused or live_table.errors_of(after):
            if number == target:
                if not report_refused("Paimon", table.name, judged, report):
                    errors = live_table.errors_of(after)
                    tables.report_unrepresentable("Paimon", after, errors, REFUSED_CHANGE, table.name, report)
                return None
            continue
        expected = live_table.table_schema(after)
        if not table.has_ids_of_lock or table.is_part:
            expected = live_table.schema_in_table(expected, ids, schema.highest_field_id)
            ids |= live_table.SCHEMAS.ids_between(live_table.table_schema(after), expected)
        notes = notes_of(judged, (Outcome.DATA, Outcome.REWRITE, Outcome.NEW_FILES))
        changes = changes_between(schema, expected)
        version, schema = after, expected._replace(schema_id=schema.schema_id + 1, time_millis=0)
        steps.append(PaimonStep(after, changes, notes, schema))
    return PaimonPlan(table, tuple(steps))


_NO_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})


def apply_paimon(
    plan: PaimonPlan,
    locked: LockedDataset,
    new: LockedSchemaVersion,
    report: Report,
    *,
    is_unchecked: bool = False,
    now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
) -> bool:
    """Write all files; False after reporting why not. With `is_unchecked` data is not checked; `now` is in milliseconds."""
    name, folder = plan.table.name, plan.table.folder
    assert folder is not None
    if not is_unchecked:
        why = "schemac does not read the data of a Paimon table"
        report_unread(name, plan.unlooked, why, "if there are none", report)
    if report.has_errors:
        return False
    for step in plan.steps:
        text = step.schema._replace(time_millis=now()).to_text()
        try:
            is_made = create(folder / step.file, text.encode())
        except OSError as error:
            report.add(WRITE_FAILED, f"cannot write {folder / step.file}: {reason_of(error)}", file=name)
            return False
        if is_made:
            continue
        again = live_table.open_paimon_table(name, locked, Report())
        if again is None or again.schema.schema_id < step.schema.schema_id:
            why = f"{step.file} exists and matches no locked version"
            message = f"{name} was changed by somebody else in the meantime: {why}"
            help = "nothing was overwritten; compare it with `schemac verify`"
            report.add(TABLE_CHANGED, message, file=name, help=help)
            return False
        rest = plan_paimon(again, locked, new, report)
        if rest is None:
            return False
        return apply_paimon(rest, locked, new, report, is_unchecked=is_unchecked, now=now)
    return True


def create(path: Path, content: bytes) -> bool:
    """Make a file that is not there yet, whole or not at all; false if there is one of this name."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4()}.tmp")
    try:
        _write(temporary, content)
        try:
            os.link(temporary, path)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # Whoever makes the name first has it; a reader may see a part of the file for a moment.
            _write(path, content)
            return True
    except FileExistsError:
        return False
    finally:
        temporary.unlink(missing_ok=True)
    try:
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError:
        # Not every system can open folders.
        return True
    try:
        # The name has to be on disk too.
        os.fsync(folder)
    finally:
        os.close(folder)
    return True


def _write(path: Path, content: bytes) -> None:
    """Write a new file that is on disk when this returns; nothing is left of it otherwise."""
    with path.open("xb") as stream:
        try:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        except OSError:
            path.unlink(missing_ok=True)
            raise


class PaimonTables(VersionedTables[live_table.PaimonTable]):
    """Paimon tables, by the folder that their schema files are in."""

    def is_table(self, path: str) -> bool:
        """Return whether a path is the folder of a Paimon table: one with a schema file."""
        return os.path.isdir(path) and bool(schema_files(Path(path)))

    def planned(
        self, table: live_table.PaimonTable, change: tables.TableChange, report: Report
    ) -> tables.PlannedChange | None:
        """Plan the schema files."""
        made = plan_paimon(table, change.locked, change.new, report)
        return _planned(made, change) if made is not None else None

    def verify(
        self, path: str, locked: LockedDataset, expected: LockedSchemaVersion, report: Report
    ) -> tables.TableState | None:
        """Report how a table differs from a schema, by ids."""
        if errors := live_table.errors_of(expected):
            tables.report_unrepresentable("Paimon", expected, errors, TABLE_DRIFT, path, report)
            return None
        newest = live_table.newest_schema(path, report)
        if newest is None:
            return None
        actual, schema = newest[1], live_table.table_schema(expected)
        candidates = live_table.SCHEMAS.candidates_of(actual, locked)
        chosen = live_table.version_of_table(path, actual, candidates, report) if candidates else None
        if candidates and chosen is None:
            return None
        if chosen is not None and not chosen.has_ids:
            ids = live_table.SCHEMAS.ids_between(live_table.table_schema(chosen.version), actual)
            schema = live_table.schema_in_table(schema, ids, actual.highest_field_id)
        if chosen is not None and tables.lock_ids(chosen.version) == tables.lock_ids(expected):
            # A table that was made at this version never had the fields that were dropped before.
            highest = min(schema.highest_field_id, actual.highest_field_id)
            schema = schema._replace(highest_field_id=highest)
        tables.report_differences(path, live_table.differences(schema, actual), report)
        return tables.TableState(f"matches {expected.label}", {})


def _planned(made: PaimonPlan, change: tables.TableChange) -> tables.PlannedChange:
    """Return the plan as commands show it and carry it out."""
    table = made.table
    lines: list[tables.PlanLine] = []
    for step in made.steps:
        lines.append(tables.PlanLine("", f"  {step.file}, {step.schema_version.label}:", is_code=True))
        rows = [("note", note.line) for note in step.notes]
        rows += [(operation.action, operation.describe()) for operation in step.changes]
        width = max((len(verb) for verb, _ in rows), default=0)
        lines += [tables.PlanLine(f"    {verb:<{width}}  ", description) for verb, description in rows]
        if not rows:
            lines.append(tables.PlanLine("", "    repeats the previous schema", is_code=True))
    for step in made.steps:
        text = f"  {step.file}:\n{step.schema.to_text()}"
        lines.append(tables.PlanLine("", text, is_code=True, is_detail=True))
    unlooked = [f"{note.field}: {note.judgement.reason}" for note in made.unlooked]
    return tables.PlannedChange(
        title=change.title("Paimon", f"{table.name} ({table.schema_version.label})"),
        lines=tuple(lines),
        document={"paimon": {"steps": [step.to_json() for step in made.steps]}},
        is_done=not made.steps,
        unlooked=tuple(unlooked) if change.is_unchecked else (),
        apply=lambda report, _progress, _spread: apply_paimon(
            made, change.locked, change.new, report, is_unchecked=change.is_unchecked
        ),
    )


TABLES = PaimonTables(
    "Paimon casts values when they are read, by its own rules",
    engine="Paimon",
    open_table=live_table.open_paimon_table,
    imagined=live_table.PaimonTable.imagined,
    errors_of=live_table.errors_of,
)
