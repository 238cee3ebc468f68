"""Verdicts for facts, and the reasons that several engines share.

Layer: versions.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import update_wrapper
from types import MappingProxyType
from typing import Any, cast

from schemac.language.attributes.attribute import Family
from schemac.language.attributes.registry import domain_of
from schemac.language.logical.facts import AnyFact, Fact
from schemac.language.logical.model import Castability, LogicalType, SchemaField
from schemac.registry.engine import Capability, blamed, engine, engines
from schemac.versions.evolution.castability import castability, misfit, missing_cast
from schemac.versions.evolution.changes import (
    DATASET_FACTS,
    LAYOUT_FACTS,
    METADATA,
    NO_VERDICT,
    PROPERTY_FACTS,
    SAFE,
    TYPE_FACTS,
    Change,
    Judgement,
    Outcome,
    Verdict,
    as_seen_by,
    depends_on_data,
    of_another_unit,
    refused,
)
from schemac.versions.evolution.constraints import LOOSENED, TIGHTENED, loosened, tightened
from schemac.versions.evolution.version_pair import VersionPair

_UPDATE_FIRST = "update the readers to the new schema first"


def for_old_readers(change: Change) -> Judgement:
    """Return what a change means to those who have not heard of it."""
    change = as_seen_by("", change)
    rule = RULES.get(change.fact, NO_VERDICT)
    return rule if isinstance(rule, Judgement) else rule(change)


def _type(change: Change) -> Judgement:
    """Return what a changed type means for old readers: refused, dependent on the values, or a matter of the layout."""
    old, new = change.fields
    match castability(new.type, old.type):
        case Castability.NEVER:
            return refused(
                f"a reader that expects {old.type.type_text()} cannot read {new.type.type_text()}",
                "add a new field next to the old one, and drop the old one when no program reads it anymore",
            )
        case Castability.DEPENDS:
            return depends_on_data(
                f"old readers expect {old.type.type_text()}: {misfit(new.type, old.type)}", _UPDATE_FIRST
            )
    return _layout(change)


def _layout(change: Change) -> Judgement:
    """Return a refusal where pyarrow has no cast from the new layout to the old one, else that it is safe."""
    old, new = change.fields
    missing = missing_cast(new, old)
    return refused(missing, _UPDATE_FIRST) if missing else SAFE


def _dropped(change: Change) -> Judgement:
    """Return a refusal for readers that use the field or the dataset."""
    return refused(
        f"old readers that use {change.path or change.dataset} no longer find it",
        "drop it when no program reads it anymore",
    )


def _renamed(change: Change) -> Judgement:
    """Return a refusal for readers that look for the old name or place."""
    return refused(
        f"old readers look for {change.old}",
        "update the readers together with the table, or give them a view with the old name",
    )


def _optional(change: Change) -> Judgement:
    """Return that it depends on the data, because old readers expect no null."""
    return depends_on_data(f"old readers do not expect null in {change.path}", _UPDATE_FIRST)


def _unit(change: Change) -> Judgement:
    """Return a refusal where the unit was another; a first unit is safe."""
    if change.old is None:
        return SAFE
    return refused(
        f"old readers still read the numbers as {change.old}",
        "add a new field with the new unit next to the old one",
    )


def _relaid(change: Change) -> Judgement:
    """Return a refusal of values that are laid out differently in the table."""
    return refused(f"{change.path} has a different layout", "add a new field next to it")


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


Rule = Callable[[Change, Any], Judgement]
"""What a change means, by the version pair that it is of; None for that where a change is judged by itself."""
Guard = Callable[[Change, Any], Judgement | None]
"""What decides whatever the fact is; None where the fact decides."""


@dataclass(frozen=True, slots=True)
class Judge:
    """An engine's verdicts: a row for each fact, of the core and of its own. A fact without a row has no verdict, and is refused."""

    rules: Mapping[AnyFact, Rule | Judgement]
    """What each fact means: always the same, or what a rule finds in the change."""
    first: Guard = lambda _change, _pair: None
    """What is looked at before the fact."""
    of_version: "Callable[[str], Judge] | None" = None
    """The judge for a version of the engine, where verdicts depend on it. Raises ValueError for what is not a version."""

    def ask(self, change: Change, pair: VersionPair | None) -> Judgement:
        """Return what a change means."""
        rule = self.rules.get(change.fact)
        return NO_VERDICT if rule is None else guarded(self.first, rule)(change, pair)


def guarded(guard: Guard, rule: Rule | Judgement) -> Rule:
    """Return a rule that applies if a guard has no verdict."""

    def ask(change: Change, pair: VersionPair | None) -> Judgement:
        return guard(change, pair) or (rule if isinstance(rule, Judgement) else rule(change, pair))

    return update_wrapper(ask, cast("Rule", rule))


JUDGE: Capability[Judge] = Capability("judge", Judge)


def judged_engines() -> tuple[str, ...]:
    """Return the names of the engines that judge changes, in the order of all engines."""
    return JUDGE.names(engines())


def load(names: Iterable[str]) -> None:
    """Load what the judges need, before a process is copied; loading takes longer than judging."""
    for name in names:
        _judge_of(name)


def judge(
    changes: Iterable[Change],
    pair: VersionPair | None,
    names: Iterable[str],
    versions: Mapping[str, str] = MappingProxyType({}),
    *,
    is_by_any_way: bool = False,
) -> tuple[Verdict, ...]:
    """Return the verdict of each engine on each change; `versions` has the versions of engines whose verdicts depend on them.

    By any way, an engine that alters the tables of another refuses no change that the other one can make.
    """
    names = tuple(names)
    others = {engine(name).alters for name in names if is_by_any_way} - {""}
    judges = {name: _judge_of(name, versions.get(name)) for name in dict.fromkeys((*names, *sorted(others)))}
    verdicts: list[Verdict] = []
    for change in changes:
        judged = {name: _judgement(name, judge, change, pair) for name, judge in judges.items()}
        readers = for_old_readers(change)
        for name in names:
            easiest, other = judged[name], judged.get(engine(name).alters) if is_by_any_way else None
            if other is not None and other.outcome.rank < easiest.outcome.rank:
                reason = f"through `schemac apply`: {easiest.reason}"
                easiest = Judgement(other.outcome, reason, other.way_out)
            verdicts.append(Verdict(change, name, easiest, readers))
    return tuple(verdicts)


def judge_change(
    name: str, change: Change, pair: VersionPair | None, version: str | None = None
) -> Judgement:
    """Return the verdict of one engine on one change."""
    return _judgement(name, _judge_of(name, version), change, pair)


def _judgement(name: str, judge: Judge, change: Change, pair: VersionPair | None) -> Judgement:
    """Return an engine's judgement of a change as the engine sees it; no verdict where its rules lack a fact of its domain."""
    visible_change = change if change.fact in judge.rules else as_seen_by(name, change)
    if visible_change.fact not in judge.rules and change.key and domain_of(change.key) == engine(name).domain:
        reason = (
            f"{NO_VERDICT.reason}: the judge of {engine(name).title} has no row for {visible_change.fact}"
        )
        return NO_VERDICT._replace(reason=reason)
    with blamed(name):
        return judge.ask(visible_change, pair)


def _judge_of(name: str, version: str | None = None) -> Judge:
    """Return the judge of an engine, for a version of it if its verdicts depend on one. Raises ValueError for what is no version."""
    judge = JUDGE.of(engine(name))
    if version is None:
        return judge
    assert judge.of_version is not None, f"verdicts of {name} do not depend on a version"
    return judge.of_version(version)


NEW_FIELD_HELP = "add a field next to it, and fill it"
RULES_OF_MESSAGES: Mapping[AnyFact, Rule | Judgement] = {
    **dict.fromkeys(PROPERTY_FACTS, METADATA),
    **dict.fromkeys(DATASET_FACTS, SAFE),
    **dict.fromkeys(TIGHTENED, tightened),
    **dict.fromkeys((Fact.FIELD_DROPPED, Fact.FIELDS_REORDERED), SAFE),
    Fact.UNIT_CHANGED: of_another_unit,
}
"""The rows that all of these formats have in their tables."""


def make_optional(type_: LogicalType) -> str:
    """Return the help that makes a field optional; it contains the whole type if that is just the name of a kind."""
    if type_.type_text() == type_.kind:
        return f"make it optional: {{kind: Option, inner: {type_.kind}}}"
    return "make it optional: wrap its type in `{kind: Option, inner: …}`"


def judge_parts(format_title: str, old: SchemaField, new: SchemaField) -> Judgement:
    """Judge a type with parts; what changes in its parts is a change of its own."""
    families = {old.type.family, new.type.family}
    if families == {Family.LIST}:
        if getattr(new.type, "fixed_length", None) is None:
            return SAFE
        return depends_on_data(f"{format_title} reads lists of any length", "check their lengths first")
    if families == {Family.MAP}:
        return Judgement(Outcome.METADATA)
    reason = f"{format_title} does not read {old.type.type_text()} as {new.type.type_text()}"
    return refused(reason, NEW_FIELD_HELP)


def judge_values(format_title: str, old: SchemaField, new: SchemaField) -> Judgement:
    """Return the verdict for a reader that reads values of one type without parts as those of another."""
    if castability(old.type, new.type) is not Castability.DEPENDS:
        return SAFE
    reason = f"{format_title} reads it, but {misfit(old.type, new.type)}"
    return depends_on_data(reason, "check the values first")
