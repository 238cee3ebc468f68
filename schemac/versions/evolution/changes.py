"""The kinds of changes between two versions of a schema.

Layer: versions. Values only.
Shape: a change is one fact at one field, with the old and the new value, and without a judgement. The facts here are a closed set;
      engines add theirs by `evolution.facts`. One edit may be several facts: a decimal with more digits and another scale is two.
      Sets of facts shorten the tables of judges; `tests/evolution/rules.txt` lists the rule of each judge for every fact. The sets
      are closed: a judge, ours or that of somebody else's engine, gives one verdict to all members of a set, so a new fact is in
      none of them. Each judge gets a row for it, and has no verdict on it until then.
      A fact of an engine says that one of its attributes changed. Other engines see it as a change of an attribute that they do not
      know, unless their judge has a rule for it. So a new engine needs no change in the others.
"""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from schemac.language.logical.facts import AnyFact, Fact
from schemac.language.logical.model import SchemaField
from schemac.registry.engine import EngineError, engines, load_as
from schemac.text.source.catalogue import BREAKS_OLD_READERS, DEPENDS_ON_DATA, NEEDS_REWRITE, REFUSED_CHANGE
from schemac.text.source.diagnostics import Code, Region
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import counted


def _facts_of(group: str) -> frozenset[Fact]:
    """Return the facts of one group."""
    return frozenset([fact for fact in Fact if fact.group == group])


DESCRIPTION_FACTS = _facts_of("description")
"""Its traits."""
TYPE_FACTS = _facts_of("type")
"""Changes of a type that no attribute makes."""
LAYOUT_FACTS = _facts_of("layout")
"""Changes of how the same values are in memory."""
KEY_FACTS = _facts_of("key")
"""Which fields identify rows, and which they are sorted by."""
STORAGE_FACTS = _facts_of("storage")
"""How a table keeps values: its layout, and types that Arrow has no word for."""
ATTRIBUTE_FACTS = _facts_of("attribute")
"""Attributes of other domains, and those of one engine as the others are told of them."""
CONSTRAINT_FACTS = _facts_of("constraint")
"""Which values are allowed, of those that the type has."""
DATASET_FACTS = _facts_of("dataset")
"""A dataset comes or goes."""

PROPERTY_FACTS = (
    DESCRIPTION_FACTS
    | LAYOUT_FACTS
    | KEY_FACTS
    | STORAGE_FACTS
    | ATTRIBUTE_FACTS
    | CONSTRAINT_FACTS
    | _facts_of("property")
)
"""What a schema says of its fields besides their types; a format of messages has it as a property, or not at all."""


class SourceLocation(NamedTuple):
    """A location in a file; line 0 for a source without lines."""

    file: str
    line: int = 0
    column: int = 0
    used: "SourceLocation | None" = None
    """Where the dataset's manifest uses the group that this is in."""

    @property
    def region(self) -> Region:
        """Its line and column, as in a finding."""
        return Region.within(self.line, self.column, self.column)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Change:
    """One change between two versions of a schema."""

    fact: AnyFact
    dataset: str
    path: str
    """The field's path now; for a dropped field, its former path. Empty for the schema as a whole."""
    old: Any = None
    """The old value as JSON; None if there was none."""
    new: Any = None
    old_location: SourceLocation | None = dataclasses.field(default=None, compare=False)
    new_location: SourceLocation | None = dataclasses.field(default=None, compare=False)
    old_field: SchemaField | None = dataclasses.field(default=None, compare=False, repr=False)
    new_field: SchemaField | None = dataclasses.field(default=None, compare=False, repr=False)
    key: str = ""
    """The attribute or option that changed; empty for other changes."""

    @property
    def fields(self) -> tuple[SchemaField, SchemaField]:
        """The old and the new field, if the field exists in both versions."""
        assert self.old_field is not None
        assert self.new_field is not None
        return self.old_field, self.new_field

    @property
    def current_field(self) -> SchemaField:
        """The field in the new version."""
        assert self.new_field is not None
        return self.new_field

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        about = f" {self.key}" if self.key else ""
        if self.old is None and self.new is None:
            return f"{where}{self.fact}{about}"
        if self.fact in (Fact.FIELD_ADDED, Fact.FIELD_DROPPED):
            return f"{where}{self.fact}: {_formatted(self.new if self.old is None else self.old)}"
        return f"{where}{self.fact}{about}: {_formatted(self.old)} → {_formatted(self.new)}"

    def to_json(self) -> Json:
        """Return the change as JSON; `newUsed` and `oldUsed` are present for a field in a group."""
        locations = (("newUsed", self.new_location), ("oldUsed", self.old_location))
        return {
            "change": str(self.fact),
            "dataset": self.dataset,
            "field": self.path,
            "key": self.key,
            "new": self.new,
            "newPlace": str(self.new_location) if self.new_location else None,
            "old": self.old,
            "oldPlace": str(self.old_location) if self.old_location else None,
            **{
                key: str(location.used)
                for key, location in locations
                if location is not None and location.used is not None
            },
        }


class Changes(tuple[Change, ...]):
    """All changes from one version to another: a tuple that notebooks show as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "no changes"

    def _repr_html_(self) -> str:
        """Return the changes as an HTML table, for notebooks."""
        from schemac.text.source.rendering import html_table  # for start-up time: programs show nothing

        rows = [
            (
                change.path or "the schema",
                f"{change.fact} {change.key}".strip(),
                _cell(change.old),
                _cell(change.new),
            )
            for change in self
        ]
        caption = counted(len(self), "change")
        return html_table(caption, ("field", "change", "before", "after"), rows)


def _cell(value: Any) -> str:
    """Return a value for a cell of a table; empty for None."""
    return "" if value is None else _formatted(value)


def _formatted(value: Any) -> str:
    """Return a value as a text: as it is if it is one, else as JSON, and None as `nothing`."""
    if value is None:
        return "nothing"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class Outcome(StrEnum):
    """From the lightest to the gravest."""

    SAFE = "safe"
    """Nothing has to be done."""
    METADATA = "metadata only"
    """The schema is written anew, no data is touched."""
    NEW_FILES = "new files only"
    """Takes effect in files that are written from now on."""
    REWRITE = "rewrite"
    """Stored data has to be written anew."""
    DATA = "depends on data"
    """Possible if the stored values allow it; a query tells."""
    REFUSED = "refused"
    """The engine does not do it, or what it does would break the table."""

    @property
    def rank(self) -> int:
        """The position in the order of gravity, 0 for the lightest."""
        return list(Outcome).index(self)


class Judgement(NamedTuple):
    """An outcome with its reason, and what can be done about it."""

    outcome: Outcome
    reason: str = ""
    way_out: str = ""


def refused(reason: str, way_out: str = "") -> Judgement:
    """Return the verdict on what an engine does not do, or what would break the table."""
    return Judgement(Outcome.REFUSED, reason, way_out)


def depends_on_data(reason: str, way_out: str = "") -> Judgement:
    """Return the verdict on what is possible if the stored values allow it."""
    return Judgement(Outcome.DATA, reason, way_out)


OF_DATA: Mapping[Outcome, Code] = {
    Outcome.REFUSED: REFUSED_CHANGE,
    Outcome.DATA: DEPENDS_ON_DATA,
    Outcome.REWRITE: NEEDS_REWRITE,
}
"""Codes of what a change means for stored data; the lighter outcomes are no findings."""
OF_READERS: Mapping[Outcome, Code] = {Outcome.REFUSED: BREAKS_OLD_READERS, Outcome.DATA: DEPENDS_ON_DATA}
"""Codes of what it means for programs that still have the old schema."""

SAFE = Judgement(Outcome.SAFE)
METADATA = Judgement(Outcome.METADATA)
NO_VERDICT = refused(
    "no verdict is known for this change",
    "make the change in a new field, and drop the old one when it is no longer needed",
)
"""What nobody thought of is refused, never safe."""


def of_another_unit(change: Change, _pair: object, otherwise: Judgement = METADATA) -> Judgement:
    """Return the judgement of a change of unit, the same for every engine that stores numbers; `otherwise` if one side has no unit."""
    if change.old is None or change.new is None:
        return otherwise
    return refused(
        f"stored numbers are in {change.old}, and nothing converts them to {change.new}",
        "add a new field with the new unit, fill it, then drop the old one",
    )


class Verdict(NamedTuple):
    """The verdict of one engine on one change, for old data and for old readers of new data."""

    change: Change
    engine: str
    old_data: Judgement
    """Stored data under the new schema: what it takes until new readers can read it."""
    old_readers: Judgement
    """Programs that still have the old schema, reading what is written from now on."""

    @property
    def outcome(self) -> Outcome:
        """The graver of the two."""
        return max(self.old_data.outcome, self.old_readers.outcome, key=lambda outcome: outcome.rank)

    @property
    def rule(self) -> str:
        """A stable name for the rule: `lance.became-required`."""
        return f"{self.engine}.{self.change.fact}"

    def to_json(self) -> Json:
        """Return the verdict as JSON."""
        return {
            **self.change.to_json(),
            "engine": self.engine,
            "oldData": _json(self.old_data, OF_DATA),
            "oldReaders": _json(self.old_readers, OF_READERS),
            "rule": self.rule,
        }


def _json(judgement: Judgement, codes: Mapping[Outcome, Code]) -> dict[str, str | None]:
    """Return a judgement as JSON; its code is null where the outcome has none."""
    code = codes.get(judgement.outcome)
    return {
        "code": code.id if code else None,
        "outcome": str(judgement.outcome),
        "reason": judgement.reason,
        "wayOut": judgement.way_out,
    }


@cache
def facts() -> dict[str, AnyFact]:
    """Return all facts by their text, those of the core first. Raises EngineError."""
    return {str(fact): fact for fact in (*Fact, *_bringing())}


def as_seen_by(name: str, change: Change) -> Change:
    """Return a change as an engine sees it: a fact of another engine becomes an attribute that was added, removed or changed."""
    if _bringing().get(change.fact, name) == name:
        return change
    return replace(change, fact=attribute_fact(change.old, change.new))


def attribute_fact(before: object, after: object) -> Fact:
    """Return the fact for a change of an unknown attribute; a value of None is an absent attribute."""
    if before is None:
        return Fact.ATTRIBUTE_ADDED
    return Fact.ATTRIBUTE_REMOVED if after is None else Fact.ATTRIBUTE_CHANGED


@cache
def _bringing() -> dict[AnyFact, str]:
    """Return the facts that engines bring, with the engine of each. Raises EngineError."""
    engines_by_fact: dict[AnyFact, str] = {}
    known_facts = set(map(str, Fact))
    for engine in engines():
        if not engine.facts:
            continue
        what = f"`facts` of the engine {engine.name}"
        fact_type = load_as(engine.facts, type, what)
        if not issubclass(fact_type, AnyFact):
            raise EngineError(f"{what} ({engine.facts}) is not an enumeration of AnyFact")
        for fact in fact_type:
            if str(fact) in known_facts:
                raise EngineError(f"the engine {engine.name} has a fact {fact}, which is already used")
            known_facts.add(str(fact))
            engines_by_fact[fact] = engine.name
    return engines_by_fact
