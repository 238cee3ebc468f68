"""The capability `tables`: what an engine does with existing tables, and which locked version a table has.

Layer: versions.
Shape: `plan` returns the steps of a change, the plan applies itself, and `verify` compares a table with its schema.
Errors are added to the report, and None is returned. The version of a table is found by names and types. If they fit
several versions, as after a dropped name came back or names were swapped, the record that the table's maker wrote
decides. Ids decide only for the newest of these versions, and only if no new table could have them; otherwise the user
has to say which version it is.
Errors: SC411 refused-change, SC430 pointless-rounding, and those of the engines; SC421 unusable-table.
"""

import dataclasses
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from operator import attrgetter
from typing import Any, NamedTuple

from schemac.language.logical.model import preorder
from schemac.registry.engine import Capability
from schemac.text.source import catalogue
from schemac.text.source.diagnostics import Code, Diagnostic, Report
from schemac.text.source.json_object import Json
from schemac.versions.evolution.changes import Judgement
from schemac.versions.evolution.version_pair import LockedSchemaVersion, SchemaVersion
from schemac.versions.identity.lock import LockedDataset

Progress = Callable[[str, int, int], None]
"""Told what is under way, how much of it is done, and how much there is."""

PartsTask = Callable[[Iterable[int]], Iterator[tuple[int, str]]]
"""Work of an engine on parts of a table, by their numbers: what it made of each, as text. It can be pickled."""
Spread = Callable[[PartsTask, Sequence[int], str, Progress], dict[int, str]]
"""Does a task for many parts, in one process or many; the text names the work."""


class PlanLine(NamedTuple):
    """One line of a plan for people."""

    start: str
    text: str
    """Goes on below itself where the terminal ends."""
    is_code: bool = False
    """Whether it has to be printed as it is."""
    is_detail: bool = False
    """Whether only `plan` prints it."""


def numbered_lines(rows: Iterable[tuple[str, str]]) -> list[PlanLine]:
    """Return numbered steps, each given by its verb and what it does."""
    steps = list(rows)
    width = max((len(verb) for verb, _ in steps), default=0)
    return [
        PlanLine(f"  {number:>2}. {verb:<{width}}  ", description)
        for number, (verb, description) in enumerate(steps, 1)
    ]


@dataclass(frozen=True)
class Note:
    """A warning about a change of a table, shown before its plan is carried out."""

    field: str
    judgement: Judgement

    def describe(self) -> str:
        """Return the reason, and what can be done."""
        _, reason, way_out = self.judgement
        return f"{reason}; {way_out}" if way_out else reason

    @property
    def line(self) -> str:
        """The note as a plan has it."""
        return f"{self.field}: {self.describe()}  [{self.judgement.outcome}]"

    def to_json(self) -> Json:
        """Return the note as JSON."""
        outcome, reason, way_out = self.judgement
        return {"cost": str(outcome), "field": self.field, "reason": reason, "wayOut": way_out}


@dataclass(frozen=True)
class TableChange:
    """A requested change of a table."""

    locked: LockedDataset
    new: LockedSchemaVersion
    path: str = ""
    """The table; empty for one that is imagined to be at `old`."""
    old: LockedSchemaVersion | None = None
    """Where the change starts; None if the table tells."""
    stated: int | None = None
    """The locked version that the table has, as the user says; None if the table tells."""
    rounded: frozenset[str] = frozenset()
    """Fields whose values may be rounded."""
    version: str | None = None
    """Of the engine, where its plans depend on it; None for its default."""
    references: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """The tables of datasets that the schema refers to, by their names."""
    is_unchecked: bool = False
    """Whether values that the engine does not read are taken to fit."""
    is_alone: bool = True
    """Whether no other engine is planned for, so that what this one refuses is an error."""

    def heading(self, at: str) -> str:
        """Return the heading: the dataset, the present version of its table, and the version that it gets."""
        return f"{self.locked.name}: {at} → {self.new.label}"

    def title(self, engine: str, at: str) -> str:
        """Return the title of a plan: the heading, or the engine if there is no table."""
        return self.heading(at) if self.path else engine


class TableState(NamedTuple):
    """The state of a table compared with its schema."""

    text: str
    """Said of a table without a difference: "is at version 7"."""
    document: Mapping[str, Any]
    """The same for programs."""


Apply = Callable[[Report, Progress, Spread | None], bool]
"""Carries a plan out; false, with errors in the report, if it was not completed.

The spread does the work that an engine can divide; None leaves it to this process.
"""


@dataclass(frozen=True, kw_only=True)
class PlannedChange:
    """A plan of one engine."""

    title: str
    """What is planned for: the engine, or the table and what it becomes."""
    lines: tuple[PlanLine, ...]
    document: Mapping[str, Any]
    """The plan for programs."""
    apply: Apply | None = None
    """None where the author carries it out."""
    summary: str = ""
    is_done: bool = False
    """Whether the table is as it should be."""
    unlooked: tuple[str, ...] = ()
    """What has to hold of the rows, and nobody looks whether it does."""
    question: str = ""
    """What a person at a terminal is asked before data is written; empty if none is."""
    rows_rewritten: int = 0
    """Rows for which columns are written anew; 0 if none are."""


@dataclass(frozen=True)
class Tables(ABC):
    """What one engine does with tables."""

    why_no_rounding: str = ""
    """Why values are never rounded here; empty if they may be."""

    def is_table(self, path: str) -> bool:
        """Return whether a path is one of its tables."""
        return False

    def open(
        self, path: str, locked: LockedDataset, report: Report, stated: int | None = None
    ) -> LockedSchemaVersion | None:
        """Return the present schema of a table; `stated` is its locked version as given by the user."""
        raise NotImplementedError

    @abstractmethod
    def plan(self, change: TableChange, report: Report) -> PlannedChange | None:
        """Plan a change."""

    def verify(
        self, path: str, locked: LockedDataset, expected: LockedSchemaVersion, report: Report
    ) -> TableState | None:
        """Report how a table differs from a schema; None if the two could not be compared."""
        raise NotImplementedError

    def verify_data(
        self,
        path: str,
        locked: LockedDataset,
        expected: LockedSchemaVersion,
        references: Mapping[str, str],
        report: Report,
    ) -> None:
        """Report the rows of a table that break the constraints of a schema, which the table has.

        `references` are the tables of the datasets that the schema refers to, by their names.
        """
        report_rows_without_reader(path, report)


TABLES: Capability[Tables] = Capability("tables", Tables)  # type: ignore[type-abstract]
SPREAD: Capability[Any] = Capability("spread", object)
"""A `Spread`; a function has no class that could be asked for."""


HELP_FOR_ROWS = "read them into an Arrow table and pass it to `Dataset.validate`, or leave out `--data` to compare the schema alone"
"""What to do where the rows of a table cannot be checked."""


def report_rows_without_reader(path: str, report: Report) -> None:
    """Report that no engine can read the rows of a table."""
    message = f"{path}: schemac cannot read the rows of such a table"
    report.add(catalogue.UNCHECKED_ROWS, message, file=path, help=HELP_FOR_ROWS)


def report_unrepresentable(
    engine: str, version: SchemaVersion, errors: Iterable[Diagnostic], code: Code, file: str, report: Report
) -> None:
    """Report each error that keeps an engine from representing a version."""
    for error in errors:
        message = f"{engine} cannot represent {version.label}: {error.message}"
        report.add(code, message, file=file, path=error.path, help=error.help)


def has_replaced_fields(
    name: str, old: LockedSchemaVersion, new: LockedSchemaVersion, report: Report
) -> bool:
    """Whether a field of a table with rows is refused to go for a former one at its path, which the table no longer has.

    The former one got its id back by `lock --restore`, after the table had got the other one.
    """
    is_refused = False
    after, former = {field.path_text: id for field, id in new.ids.items()}, set(old.ids.values())
    for field, id in old.ids.items():
        restored = after.get(field.path_text, id)
        if field.is_member and restored < id and restored not in former and id not in after.values():
            is_refused = True
            restore_argument = shlex.quote(f"{field.path_text}={id}")
            message = f"{name}: {field.path_text} is the field {id} of the lock, and {new.label} has the former field {restored} in its place, whose values the table no longer has"
            help = f"to keep the values of the table, run `schemac lock --restore {restore_argument}`"
            report.add(catalogue.REFUSED_CHANGE, message, file=name, path=field.path_text, help=help)
    return is_refused


def refuse_rounding(rounded: Collection[str], why: str, report: Report) -> None:
    """Report SC430 for every name, where no engine in question rounds anything."""
    for name in sorted(set(rounded)):
        message = f"no value of {name} is rounded: {why}"
        report.add(catalogue.POINTLESS_ROUNDING, message, help=f"remove `--allow-rounding {name}`")


class TableField(NamedTuple):
    """A field of a table as a comparison knows it."""

    name: str
    title: str
    """Its name, with its id where ids are compared."""
    values: Mapping[str, Any]
    """What is compared, by the words for it."""


def field_differences(expected: Mapping[Any, TableField], actual: Mapping[Any, TableField]) -> Iterator[str]:
    """Yield how the fields of a table differ from those that are expected, both by the same keys in their orders."""
    for key, field in expected.items():
        if key not in actual:
            yield f"{field.title} is missing"
    for key, field in actual.items():
        if key not in expected:
            yield f"{field.title} is not expected"
            continue
        title = expected[key].title
        if field.name != expected[key].name:
            yield f"{title} has the name `{field.name}`"
        for what, value in field.values.items():
            yield from value_difference(f"{title}: {what}", value, expected[key].values[what])
    if expected.keys() == actual.keys() and list(expected) != list(actual):
        yield f"fields are in a different order: {', '.join(field.name for field in actual.values())}"


def value_difference(what: str, actual: Any, expected: Any) -> Iterator[str]:
    """Yield how a value differs from the one that is expected, if it does; a tuple is a list of names."""
    if actual != expected:
        yield f"{what} {_value_text(actual)}, expected {_value_text(expected)}"


def _value_text(value: Any) -> str:
    """Return a value as differences show it: names with commas between them, other values in backticks."""
    if isinstance(value, tuple):
        return ", ".join(f"`{name}`" for name in value) or "none"
    return "not set" if value is None else f"`{value}`"


@dataclass(frozen=True)
class Candidate:
    """A locked version whose names and types a table has."""

    version: LockedSchemaVersion
    has_ids: bool
    """Whether the table gives its fields the ids that this version gives them."""
    identity: tuple[Any, ...]
    """What tells which field each of the table's is, and which values it has: the same for versions that need not be told apart."""
    is_part: bool = False
    """Whether the table has only some fields of that version, or has them in another order; this one has them as the table has."""


@dataclass(frozen=True)
class TableRecord:
    """What is known of a table besides its names and types."""

    name: str
    """The table, as the user named it."""
    recorded: str | None
    """The version that the table says it has, as it is written there; None if it says none."""
    ids: tuple[int, ...]
    """The ids that it gives its fields, in pre-order."""
    is_fresh: bool
    """Whether its engine gives these ids to any new table."""
    ids_then: str | None
    """The digest of the ids that it had when it was said which version it has; None if these were the lock's, or those of a new table."""
    is_replaced: bool = False
    """Whether all of it may have been replaced since by somebody who left standing what it says of its version."""
    stated: int | None = None
    """The version that the user says it has."""


def lock_ids(version: LockedSchemaVersion) -> tuple[int, ...]:
    """Return the lock's ids of all fields in pre-order, which all candidates of a table share."""
    return tuple([version.ids[field] for field in preorder(version.dataset.columns)])


def digest_of_ids(ids: Iterable[int]) -> str:
    """Return a digest of the ids that a table gives its fields, in pre-order."""
    return sha256(",".join(map(str, ids)).encode()).hexdigest()[:16]


def choose_version(table: TableRecord, candidates: Sequence[Candidate], report: Report) -> Candidate | None:
    """Return the version that a table has, of candidates with the newest first; None after reporting that it is ambiguous.

    There has to be a candidate, and the stated version among them where one is stated.
    """
    if table.stated is not None:
        return next(c for c in candidates if c.version.number == table.stated)
    recorded = next((c for c in candidates if c.version.version.is_recorded_as(table.recorded)), None)
    newest = candidates[0]
    same = [c for c in candidates if c.identity == newest.identity]
    if len(same) == len(candidates):
        return recorded or min(same, key=attrgetter("is_part"))
    numbered = [] if table.is_fresh else [c for c in candidates if c.has_ids]
    if recorded is None:
        if numbered and numbered[0].identity == newest.identity:
            return min(same, key=attrgetter("is_part"))
    elif table.is_replaced and recorded.identity != newest.identity:
        pass
    elif table.is_fresh or recorded.has_ids or table.ids_then == digest_of_ids(table.ids):
        return recorded
    labels = " or ".join(candidate.version.label for candidate in candidates)
    doubt = "nothing in the table shows which one it is"
    if recorded is not None:
        reason = "its ids are not those of a table of that version"
        if table.is_replaced:
            reason = "it may have been replaced since"
        doubt = f"it records version {recorded.version.number}, but {reason}"
    elif table.recorded is not None:
        doubt = f"it records version {table.recorded}, which is not one of them"
    message = f"{table.name} may be at {labels}: its columns are the same in these versions, and {doubt}"
    help = f"specify its version, as in: {state_version(table.name, candidates[0].version)}"
    report.add(catalogue.UNUSABLE_TABLE, message, file=table.name, help=help)
    return None


def report_differences(table: str, lines: Iterable[str], report: Report) -> None:
    """Report each difference between a table and its schema."""
    help = "see the steps with `schemac plan --table`, then run `schemac apply`"
    for line in lines:
        report.add(catalogue.TABLE_DRIFT, f"{table}: {line}", file=table, help=help)


def state_version(table: str, version: LockedSchemaVersion) -> str:
    """Return the command with which a user states the version of a table."""
    dataset, path = shlex.quote(version.dataset.name), shlex.quote(table)
    return f"schemac apply {dataset} --table {path} --from {version.number}"
