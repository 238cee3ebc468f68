"""The schema files from a Paimon table as it is to a locked schema.

Layer: engines.
Shape: one step a locked version, each with the operations that Paimon's own catalogs would take for it and the file that
says the same. What Paimon refuses is not a plan; a version between that it refuses is left out where the next one is
without it.
Errors: SC411 refused-change.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from schemac.engines.paimon.attributes import PaimonFact
from schemac.engines.paimon.reader import member_ids
from schemac.engines.paimon.table_schema import TableSchema
from schemac.engines.paimon.tables.changes import SchemaChange, changes_between
from schemac.engines.paimon.tables.live_table import PaimonTable, schema_in_table
from schemac.engines.paimon.view import errors_of, table_schema
from schemac.language.attributes.own import TABLE_VERSION
from schemac.text.source.catalogue import REFUSED_CHANGE
from schemac.text.source.json_object import Json
from schemac.text.source.report import Report
from schemac.versions.evolution.changes import Change
from schemac.versions.evolution.diff import diff_of
from schemac.versions.evolution.judge import judge_change
from schemac.versions.evolution.tables import Note, has_replaced_fields, report_unrepresentable
from schemac.versions.evolution.verdict import Judgement, Outcome
from schemac.versions.evolution.version_pair import (
    LockedSchemaVersion,
    VersionPair,
    locked_schema_version,
    pair_versions,
)
from schemac.versions.identity.lock import LockedDataset

_NOTED_OUTCOMES = (Outcome.DATA, Outcome.REWRITE, Outcome.NEW_FILES)
_FREE_WHEN_EMPTY = frozenset({PaimonFact.OPTION_SET, PaimonFact.OPTION_REMOVED})
_Judged = list[tuple[Change, Judgement]]


@dataclass(frozen=True)
class PaimonStep:
    """One schema file."""

    schema_version: LockedSchemaVersion
    """The locked version that it is of."""
    changes: tuple[SchemaChange, ...]
    notes: tuple[Note, ...]
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
    """All steps for one table."""

    table: PaimonTable
    steps: tuple[PaimonStep, ...]

    @property
    def unlooked(self) -> tuple[Note, ...]:
        """What depends on data that nobody has looked at; nothing in an empty table."""
        notes = [note for step in self.steps for note in step.notes]
        return tuple(n for n in notes if n.judgement.outcome is Outcome.DATA and not self.table.is_empty)


def plan_paimon(
    table: PaimonTable, locked: LockedDataset, new: LockedSchemaVersion, report: Report
) -> PaimonPlan | None:
    """Return the plan for a table; None after saying why there is none."""
    target = new.number
    if target < table.version:
        report.add(
            REFUSED_CHANGE,
            f"{table.name} is at {table.schema_version.label}, and the schema of a Paimon table cannot go back to an"
            " earlier version",
            file=table.name,
            help=f"lock the schema of {new.label} again as the newest version",
        )
        return None
    if not table.is_empty and has_replaced_fields(table.name, table.schema_version, new, report):
        return None
    steps: list[PaimonStep] = []
    ids = dict(table.ids)
    version, schema = table.schema_version, table.schema
    for number in _numbers(table, new):
        after = locked_schema_version(locked, number)
        pair = pair_versions(version, after)
        judged = _judged(table, pair)
        if _refused(judged) or errors_of(after):
            if number == target:
                _report(table, pair, judged, report)
                return None
            continue
        expected = table_schema(after)
        if not table.has_ids_of_lock or table.is_part:
            expected = schema_in_table(expected, ids, schema.highest_field_id)
            pairs = zip(member_ids(table_schema(after).fields), member_ids(expected.fields), strict=True)
            ids |= {ours: theirs for (_, ours), (_, theirs) in pairs}
        step = PaimonStep(
            after,
            changes_between(schema, expected),
            tuple(
                Note(change.path or change.key, judgement)
                for change, judgement in judged
                if judgement.outcome in _NOTED_OUTCOMES
            ),
            replace(expected, schema_id=schema.schema_id + 1),
        )
        steps.append(step)
        version, schema = after, step.schema
    return PaimonPlan(table, tuple(steps))


def _numbers(table: PaimonTable, new: LockedSchemaVersion) -> Sequence[int]:
    """Return the versions that the table goes through; the last one alone where it has only a part of a version, or where nothing else than its record changes."""
    target, is_recorded = new.number, new.version.is_recorded_as(table.schema.options.get(TABLE_VERSION))
    is_at_once = table.is_part or (table.is_stated and table.version == target and not is_recorded)
    return (target,) if is_at_once else range(table.version + 1, target + 1)


def _judged(table: PaimonTable, pair: VersionPair) -> _Judged:
    judged = [(change, judge_change("paimon", change, pair)) for change in diff_of(pair)]
    if not table.is_empty:
        return judged
    # Options are fixed from the first snapshot on.
    return [j for j in judged if j[0].fact not in _FREE_WHEN_EMPTY or j[0].key == "type"]


def _refused(judged: _Judged) -> _Judged:
    return [(change, judgement) for change, judgement in judged if judgement.outcome is Outcome.REFUSED]


def _report(table: PaimonTable, pair: VersionPair, judged: _Judged, report: Report) -> None:
    for change, judgement in _refused(judged):
        message = f"Paimon: {change}: {judgement.reason}"
        report.add(REFUSED_CHANGE, message, file=table.name, path=change.path, help=judgement.way_out)
    if not report.has_errors:
        report_unrepresentable("Paimon", pair.new, errors_of(pair.new), REFUSED_CHANGE, table.name, report)
