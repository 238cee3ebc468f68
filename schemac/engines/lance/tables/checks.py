"""What is asked of the values of a Lance table before anything is changed, in words.

Layer: engines.
Shape: a check a field and a subject; each question comes with a filter of Lance that finds the rows in question, where Lance
has words for it.
Errors: SC430 pointless-rounding.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from schemac.attributes.family import Family
from schemac.attributes.own import CLOCK_ZONE
from schemac.constraints.constraint import Constraint
from schemac.constraints.rows import ReferenceTo
from schemac.engines.lance import judge as engine
from schemac.engines.lance.tables.convert import is_named
from schemac.engines.lance.tables.filters import column_name, constraint_filter, misfit_filter, null_filter
from schemac.engines.lance.tables.stages import casts_of
from schemac.engines.lance.tables.steps import Check, Subject, Unlooked
from schemac.engines.lance.view import words
from schemac.evolution.castability import can_be_rounded, why_misfit
from schemac.evolution.changes import CONSTRAINT_FACTS, Change, Fact
from schemac.evolution.clocks import clock_of
from schemac.evolution.row_rules import Rule
from schemac.evolution.verdict import Judgement, Outcome
from schemac.evolution.version_pair import LockedVersionPair, VersionPair
from schemac.logical.facts import AnyFact
from schemac.logical.slots import Slot, preorder
from schemac.source.catalogue import POINTLESS_ROUNDING
from schemac.source.report import Report
from schemac.source.suggest import closest


def checks(
    pair: VersionPair,
    ways: Sequence[LockedVersionPair],
    judged: Sequence[tuple[Change, Judgement]],
    rounded: frozenset[str],
) -> Iterator[Check]:
    """Yield what has to be asked of the data, each question once; values go these ways from the old version to the new one."""
    seen: set[tuple[str, Subject]] = set()
    for change, judgement in judged:
        slot, before = change.new_slot, change.old_slot
        if slot is None or before is None or judgement.outcome is not Outcome.DATA:
            continue
        if change.fact in CONSTRAINT_FACTS:
            continue
        for check in _checks(change.fact, pair, before, slot, rounded, ways):
            key = (check.title, check.subject)
            if key not in seen:
                seen.add(key)
                yield check


def _checks(
    fact: AnyFact,
    pair: VersionPair,
    before: Slot,
    slot: Slot,
    rounded: frozenset[str],
    ways: Sequence[LockedVersionPair],
) -> Iterator[Check]:
    nulls = "it may not be null"
    if fact is Fact.BECAME_REQUIRED:
        if words(pair.new)[slot]:
            # Lance does not know whether the items of a vector may be null.
            yield Check(
                slot.path_text, question=nulls, query=null_filter(before), slot=slot, subject=Subject.NULLS
            )
    elif fact is Fact.FIELD_MOVED:
        if engine.left_behind(slot, pair):
            query = f"{column_name(before)} IS NULL"
            yield Check(slot.path_text, question=nulls, query=query, slot=slot, subject=Subject.NULLS)
        for above in engine.moved_into(slot, pair):
            query = f"{column_name(above)} IS NULL AND {column_name(before)} IS NOT NULL"
            question = f"{above.path_text} may not be null where {before.path_text} has a value"
            yield Check(slot.path_text, question=question, query=query, slot=slot, subject=Subject.PLACE)
    else:
        casts = casts_of(slot, ways) or [(before, slot)]
        is_rounded = is_named(slot, rounded)
        question = "; then ".join(_question(*cast, slot.path_text if is_rounded else "") for cast in casts)
        query = misfit_filter(pair, before, slot) if len(ways) == 1 and not is_rounded else ""
        yield Check(slot.path_text, question=question, query=query, slot=slot)


def rule_checks(
    rules: Iterable[Rule], pair: VersionPair, references: Mapping[str, str]
) -> Iterator[Check | Unlooked]:
    """Yield what is asked of the rows as they will be; `references` are tables of datasets that are referred to."""
    for rule in rules:
        question, query = rule.question, ""
        match rule.subject:
            case ReferenceTo(_, dataset) if dataset not in references:
                yield Unlooked(rule.path, dataset=dataset, question=question)
                continue
            case ReferenceTo(_, dataset):
                question = f"{question} ({references[dataset]})"
            case Constraint() if (before := pair.before.get(rule.slots[0])) is not None:
                query = constraint_filter(pair, before, rule.subject)
        yield Check(rule.path, question=question, query=query, subject=Subject.RULE, rule=rule)


def report_pointless_rounding(
    rounded: frozenset[str], ways: Sequence[LockedVersionPair], report: Report
) -> None:
    """SC430 for a name that is no field, or a field that has nothing to round."""
    slots = {slot.path_text: slot for slot in preorder(ways[-1].new.dataset.columns)}
    for name in sorted(rounded):
        slot = slots.get(name)
        if slot is None:
            near = closest(name, slots)
            help = (
                f"did you mean `--allow-rounding {near}`?"
                if near
                else "give the path of a field with its current name"
            )
            report.add(POINTLESS_ROUNDING, f"there is no field {name} to round", help=help)
        elif not any(is_roundable(casts_of(inner, ways)) for inner in preorder([slot])):
            message = f"no value of {name} is rounded: its type does not change, or the new type has no nearest values"
            report.add(POINTLESS_ROUNDING, message, help=f"remove `--allow-rounding {name}`")


def is_roundable(casts: Iterable[tuple[Slot, Slot]]) -> bool:
    """Whether a value that does not fit may have a nearest one in any of these casts."""
    return any(can_be_rounded(before.type, after.type) for before, after in casts)


def _question(before: Slot, slot: Slot, rounded: str) -> str:
    """Return what is asked of the values of one cast; `rounded` is the name that lets them be rounded, if there is one."""
    type_text = slot.type.type_text()
    question = f"every value has to fit {type_text}"
    is_rounded = bool(rounded) and can_be_rounded(before.type, slot.type)
    if is_rounded and slot.type.family in (Family.DATE, Family.TIME, Family.TIMESTAMP, Family.DURATION):
        question = f"values are truncated to {type_text}, as --allow-rounding {rounded} allows, and have to fit after that"
    elif is_rounded:
        question = f"values are rounded to the nearest {type_text}, as --allow-rounding {rounded} allows, and have to be in its range"
    clock = clock_of(before, slot)
    is_about_zones = (
        "timezone" in type(before.type).model_fields or "timezone" in type(slot.type).model_fields
    )
    return f"{question}, read by a clock in {clock}" if clock and is_about_zones else question


def reason_of(before: Slot, slot: Slot) -> str:
    """Return what is wrong with values, where there is more to say than that they do not fit."""
    clock = clock_of(before, slot)
    new: Any = slot.type
    if before.type.family is Family.TEXT and new.family is Family.TIMESTAMP and not clock:
        if new.timezone is None:
            return f"; a text with an offset is an instant; set `{CLOCK_ZONE.key}` to the zone of the clock that should show it"
        return f"; a text without an offset is the reading of a clock; set `{CLOCK_ZONE.key}` to the zone of that clock"
    if clock and clock != "UTC" and new.family in (Family.DATE, Family.TIME):
        reason = f"{why_misfit(before.type, new)}, read by a clock in {clock}"
    elif clock and clock != "UTC" and before.type.family is not Family.TEXT:
        reason = (
            f"a clock in {clock} shows some times never or twice, and years outside 1 to 9999 are not covered"
        )
    else:
        reason = why_misfit(before.type, slot.type)
    return f"; {reason}" if reason else ""
