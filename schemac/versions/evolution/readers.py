"""Programs that still have the old schema.

Layer: versions.
Shape: the same for all engines: a reader names its columns and needs values that fit its types.
"""

from collections.abc import Callable, Mapping

from schemac.language.logical.facts import AnyFact
from schemac.language.logical.model import Castability
from schemac.versions.evolution.castability import castability, misfit, missing_cast
from schemac.versions.evolution.changes import (
    DATASET_FACTS,
    LAYOUT_FACTS,
    PROPERTY_FACTS,
    TYPE_FACTS,
    Change,
    Fact,
)
from schemac.versions.evolution.constraints import LOOSENED, loosened
from schemac.versions.evolution.facts import as_seen_by
from schemac.versions.evolution.verdict import NO_VERDICT, SAFE, Judgement, Outcome

_UPDATE_FIRST = "update the readers to the new schema first"


def for_old_readers(change: Change) -> Judgement:
    """Return what a change means to those who have not heard of it."""
    change = as_seen_by("", change)
    rule = RULES.get(change.fact, NO_VERDICT)
    return rule if isinstance(rule, Judgement) else rule(change)


def _type(change: Change) -> Judgement:
    old, new = change.fields
    match castability(new.type, old.type):
        case Castability.NEVER:
            return Judgement(
                Outcome.REFUSED,
                f"a reader that expects {old.type.type_text()} cannot read {new.type.type_text()}",
                "add a new field next to the old one, and drop the old one when no program reads it anymore",
            )
        case Castability.DEPENDS:
            return Judgement(
                Outcome.DATA,
                f"old readers expect {old.type.type_text()}: {misfit(new.type, old.type)}",
                _UPDATE_FIRST,
            )
    return _layout(change)


def _layout(change: Change) -> Judgement:
    old, new = change.fields
    missing = missing_cast(new, old)
    return Judgement(Outcome.REFUSED, missing, _UPDATE_FIRST) if missing else SAFE


def _dropped(change: Change) -> Judgement:
    return Judgement(
        Outcome.REFUSED,
        f"old readers that use {change.path or change.dataset} no longer find it",
        "drop it when no program reads it anymore",
    )


def _renamed(change: Change) -> Judgement:
    return Judgement(
        Outcome.REFUSED,
        f"old readers look for {change.old}",
        "update the readers together with the table, or give them a view with the old name",
    )


def _optional(change: Change) -> Judgement:
    return Judgement(Outcome.DATA, f"old readers do not expect null in {change.path}", _UPDATE_FIRST)


def _unit(change: Change) -> Judgement:
    if change.old is None:
        return SAFE
    return Judgement(
        Outcome.REFUSED,
        f"old readers still read the numbers as {change.old}",
        "add a new field with the new unit beside the old one",
    )


def _relaid(change: Change) -> Judgement:
    return Judgement(Outcome.REFUSED, f"{change.path} has a different layout", "add a new field next to it")


RULES: Mapping[AnyFact, Judgement | Callable[[Change], Judgement]] = {
    **dict.fromkeys(PROPERTY_FACTS | DATASET_FACTS, SAFE),
    **dict.fromkeys((Fact.FIELD_ADDED, Fact.FIELDS_REORDERED, Fact.BECAME_REQUIRED), SAFE),
    **dict.fromkeys(TYPE_FACTS, _type),
    **dict.fromkeys(LAYOUT_FACTS, _layout),
    **dict.fromkeys(LOOSENED, loosened),
    **dict.fromkeys((Fact.FIELD_DROPPED, Fact.DATASET_DROPPED), _dropped),
    **dict.fromkeys((Fact.FIELD_RENAMED, Fact.FIELD_MOVED), _renamed),
    **dict.fromkeys((Fact.BLOB_ADDED, Fact.BLOB_REMOVED, Fact.FLOAT_ENCODING_CHANGED), _relaid),
    Fact.BECAME_OPTIONAL: _optional,
    Fact.UNIT_CHANGED: _unit,
}
"""A row for each fact of the core, as `evolution.judge.Judge` has it for an engine."""
