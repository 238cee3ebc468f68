"""Tables that are opened as a version of a lock, and which versions the schema of a table may be.

Layer: versions.
Shape: an engine that knows a table by one schema of its own says how its schemas are compared; a version is one that the
table may be at if it has exactly the table's fields, whatever their ids are.
Errors: SC411 refused-change, SC421 unusable-table, SC422 failed-check.
"""

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from schemac.language.logical.model import SchemaField
from schemac.text.source.catalogue import FAILED_CHECK, REFUSED_CHANGE, UNUSABLE_TABLE
from schemac.text.source.diagnostics import Diagnostic, Report
from schemac.versions.evolution import tables, version_pair
from schemac.versions.evolution.changes import Change, Judgement, Outcome
from schemac.versions.identity.lock import LockedDataset

S = TypeVar("S")


@dataclass(frozen=True)
class LockedTable:
    """An open table that is at a version of a lock."""

    name: str
    """How it is spoken of."""
    schema_version: version_pair.LockedSchemaVersion
    """The locked version that it is."""
    ids: Mapping[int, int]
    """The table's id of each field by the lock's."""
    is_stated: bool = dataclasses.field(default=False, kw_only=True)
    """Whether the user has said which version it is."""

    @property
    def has_ids_of_lock(self) -> bool:
        """Whether its fields have the ids that the lock gives them."""
        return all(table_id == locked for locked, table_id in self.ids.items())


@dataclass(frozen=True, kw_only=True)
class TableSchemas(Generic[S]):
    """How the schemas of one engine's tables are compared with those of locked versions."""

    schema_of: Callable[[version_pair.SchemaVersion], S]
    errors_of: Callable[[version_pair.SchemaVersion], Sequence[Diagnostic]]
    """Why the engine cannot represent a version; where it cannot, the version has no schema."""
    ids_of: Callable[[version_pair.LockedSchemaVersion], Mapping[SchemaField, int]]
    """The ids in the schema of a version."""
    members: Callable[[S], Sequence[tuple[Any, int]]]
    """The path and the id of each field, in pre-order."""
    is_alike: Callable[[S, S], bool]
    """Whether two schemas are equal, whatever their ids are."""
    differences: Callable[[S, S], Iterable[str]]
    """How the second schema differs from the first."""
    doubt: str
    """What is said of a table that is not at a stated version."""
    comparison: str
    """The words between what is said of a table and the version that it is compared with."""
    import_help: str
    """How to start from a table as it is."""

    def candidates_of(self, schema: S, locked: LockedDataset) -> list[tables.Candidate]:
        """Return the versions that have exactly the fields of a table, in whatever order, the newest first."""
        paths = {path for path, _ in self.members(schema)}
        candidates = []
        for version in version_pair.locked_schema_versions(locked):
            is_reordered = not self._has_schema(version, schema)
            if is_reordered:
                part = self._part_of(version, schema)
                if part is None or {path for path, _ in self.members(self.schema_of(version))} != paths:
                    continue
                version = replace(part, label=version.label)
            ids = self.ids_between(self.schema_of(version), schema)
            has_ids = all(table_id == locked_id for locked_id, table_id in ids.items())
            candidates.append(tables.Candidate(version, has_ids, tables.lock_ids(version), is_reordered))
        return candidates

    def ids_between(self, expected: S, actual: S) -> dict[int, int]:
        """Return the ids of one schema by those of another; both have to have the same fields."""
        pairs = zip(self.members(expected), self.members(actual), strict=True)
        return {ours: theirs for (_, ours), (_, theirs) in pairs}

    def version_in(
        self,
        name: str,
        schema: S,
        locked: LockedDataset,
        stated: int | None,
        choose: Callable[[list[tables.Candidate]], tables.Candidate | None],
        report: Report,
    ) -> tables.Candidate | None:
        """Return the version that a table is at; None after reporting why it is at none.

        `stated` is the locked version of the table, or of its fields, as given by the user.
        """
        candidates = self.candidates_of(schema, locked)
        if stated is not None and not any(c.version.number == stated and not c.is_part for c in candidates):
            nearest = version_pair.locked_schema_version(locked, stated)
            if (part := self._part_of(nearest, schema)) is not None:
                return tables.Candidate(part, has_ids=False, identity=(), is_part=True)
            doubt = self.doubt.format(nearest.label)
        elif candidates:
            return choose(candidates)
        else:
            nearest = version_pair.locked_schema_version(locked, locked.versions[-1].number)
            doubt = f"matches no locked version of {locked.name}"
        versions = version_pair.locked_schema_versions(locked)
        whole = next((version for version in versions if self._part_of(version, schema) is not None), None)
        help = self.import_help.format(name)
        if whole is not None:
            help = f"if all of its fields are those of {whole.label}, confirm it: {tables.state_version(name, whole)}"
        lines = [] if self.errors_of(nearest) else list(self.differences(self.schema_of(nearest), schema))
        comparison = f"; {self.comparison} {nearest.label}: {'; '.join(lines[:3])}" if lines else ""
        report.add(UNUSABLE_TABLE, f"{name} {doubt}{comparison}", file=name, help=help)
        return None

    def _has_schema(self, version: version_pair.LockedSchemaVersion, schema: S) -> bool:
        """Whether the schema of a version is equal to that of a table, whatever the ids are."""
        return not self.errors_of(version) and self.is_alike(self.schema_of(version), schema)

    def _part_of(
        self, version: version_pair.LockedSchemaVersion, schema: S
    ) -> version_pair.LockedSchemaVersion | None:
        """Return a version with the table's fields alone; None if it lacks one of them or has it with another type."""
        if self.errors_of(version):
            return None
        ids = dict(self.members(self.schema_of(version)))
        paths = [path for path, _ in self.members(schema)]
        if not all(path in ids for path in paths):
            return None
        fields = {id: field for field, id in self.ids_of(version).items()}
        part = version_pair.narrowed(version, [fields[ids[path]].path for path in paths])
        return part if self._has_schema(part, schema) else None


class OpenTable(Protocol):
    """A table as an engine opens it."""

    @property
    def schema_version(self) -> version_pair.LockedSchemaVersion:
        """Its schema, with the ids of a lock."""


T = TypeVar("T", bound=OpenTable)


@dataclass(frozen=True, kw_only=True)
class VersionedTables(tables.Tables, Generic[T]):
    """Tables that one engine opens as versions of a lock."""

    engine: str
    """Its name in messages."""
    open_table: Callable[[str, LockedDataset, Report, int | None], T | None]
    """Opens a table by its path; None after reporting why it is at no version."""
    imagined: Callable[[version_pair.LockedSchemaVersion], T]
    """Makes a table of a locked version that has rows, for a plan without a table."""
    errors_of: Callable[[version_pair.SchemaVersion], Sequence[Diagnostic]]
    """Why the engine cannot represent a version that a table is imagined to be at."""

    def open(
        self, path: str, locked: LockedDataset, report: Report, stated: int | None = None
    ) -> version_pair.LockedSchemaVersion | None:
        """Return the schema that a table has now, under the lock's ids."""
        table = self.open_table(path, locked, report, stated)
        return table.schema_version if table is not None else None

    def plan(self, change: tables.TableChange, report: Report) -> tables.PlannedChange | None:
        """Plan a change of a table, or of a version that a table is imagined to be at."""
        if change.path:
            table = self.open_table(change.path, change.locked, report, change.stated)
        else:
            assert change.old is not None
            errors = self.errors_of(change.old)
            tables.report_unrepresentable(
                self.engine, change.old, errors, REFUSED_CHANGE, change.old.label, report
            )
            table = None if errors else self.imagined(change.old)
        return self.planned(table, change, report) if table is not None else None

    @abstractmethod
    def planned(self, table: T, change: tables.TableChange, report: Report) -> tables.PlannedChange | None:
        """Plan a change of an open table."""


Judged = Sequence[tuple[Change, Judgement]]
"""Changes with what they mean for a table."""


def report_refused(engine: str, table: str, judged: Judged, report: Report) -> bool:
    """Report each change that an engine refuses; whether there is one."""
    refused = [(change, judgement) for change, judgement in judged if judgement.outcome is Outcome.REFUSED]
    for change, judgement in refused:
        message = f"{engine}: {change}: {judgement.reason}"
        report.add(REFUSED_CHANGE, message, file=table, path=change.path, help=judgement.way_out)
    return bool(refused)


def notes_of(judged: Judged, outcomes: Sequence[Outcome]) -> tuple[tables.Note, ...]:
    """Return the notes about changes with one of these outcomes."""
    pairs = [(change.path or change.key, judgement) for change, judgement in judged]
    return tuple(tables.Note(field, judgement) for field, judgement in pairs if judgement.outcome in outcomes)


def report_unread(table: str, notes: Sequence[tables.Note], why: str, condition: str, report: Report) -> None:
    """Report changes that depend on rows which nobody reads; `why` not, and on which `condition` that does not matter."""
    for note in notes:
        message = f"{note.field}: {note.judgement.reason}, and {why}"
        help = f"{note.judgement.way_out}; {condition}, add --unchecked"
        report.add(FAILED_CHECK, message, file=table, path=note.field, help=help)
