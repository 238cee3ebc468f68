"""Checks of a Lance table's values before anything is changed, type by type on the way to a locked version.

Layer: engines.
Shape: a check a field and a subject; each question comes with a filter of Lance that finds the rows in question, where Lance has words
      for it. The way is one version pair where no field changed its type more than once since the table's version. Otherwise it is one
      pair for each version in which such a field did: `Bool → Int8 → String` makes "1", which `Bool → String` does not. A change of
      `clockZone` counts in addition to one of the type, so that each version has the clock that it declares itself. Likewise a struct
      is made of fields that came after the table's version.
Rule: a version of timestamps whose clock nobody had declared is passed by where a later one can be reached and holds timestamps as
      well: instants that became local and are instants again stay what they are. Where something else follows, as a Date, the clock of
      the version is the one that the next later version declares; where none does, that of the last earlier one. A version that says it
      itself, or is in UTC, means what it says.
Errors: SC430 pointless-rounding.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

from schemac.arrow.metadata import compact
from schemac.engines.lance import judge as engine
from schemac.engines.lance.fields import lance_ids
from schemac.engines.lance.judge import last_version_without
from schemac.engines.lance.tables import steps
from schemac.engines.lance.tables.convert import is_named
from schemac.language.attributes.attribute import Family
from schemac.language.attributes.builtin import CLOCK_ZONE
from schemac.language.constraints.constraint import Constraint
from schemac.language.constraints.rows import ReferenceTo
from schemac.language.logical.model import SchemaField, preorder
from schemac.text.source.catalogue import POINTLESS_ROUNDING
from schemac.text.source.diagnostics import Report
from schemac.text.source.phrases import closest
from schemac.versions.evolution.castability import can_be_rounded, why_misfit
from schemac.versions.evolution.changes import Change, Judgement, Outcome
from schemac.versions.evolution.constraints import ConstraintRule
from schemac.versions.evolution.diff import clock_of
from schemac.versions.evolution.tables import refuse_rounding
from schemac.versions.evolution.version_pair import (
    LockedSchemaVersion,
    LockedVersionPair,
    VersionPair,
    locked_schema_version,
)
from schemac.versions.identity.lock import FieldShape, FieldState
from schemac.versions.identity.opening import shape_of


def _effective_states(
    table: SchemaField, states: list[FieldState], version_of: Callable[[int], LockedSchemaVersion]
) -> list[FieldState]:
    """Return the states of a field, the first of which is that of the table, as its timestamps can go through them.

    `version_of` gives a locked version by its number.
    """
    if not any("Timestamp" in state.shape.type for state in states):
        return states
    fields = [table, *(version_of(state.first).by_id[state.id] for state in states[1:])]
    effective, here = list(states), 0
    while here < len(fields) - 1:
        following = here + 1
        if clock_of(fields[here], fields[following]) is None:
            later = range(following + 1, len(fields))
            there = next((i for i in later if clock_of(fields[here], fields[i]) is not None), here)
            if there > here and fields[there].type.family is Family.TIMESTAMP:
                type_ = _type(effective[here].shape)
                for place in range(following, there):
                    shape = states[place].shape
                    mark = "?" if shape.type.endswith("?") else ""
                    effective[place] = states[place]._replace(shape=shape._replace(type=type_ + mark))
                following = there
            else:
                _borrow_clock(effective, here)
        here = following
    return effective


def clock_in(shape: FieldShape) -> str:
    """Return the clock that a shape declares; empty if it declares none."""
    return (CLOCK_ZONE.read(json.loads(shape.extra)) or "") if CLOCK_ZONE.key in shape.extra else ""


def _borrow_clock(states: list[FieldState], here: int) -> None:
    """Give the cast out of a state the clock zone that the next later state declares, else the last earlier one; none if none does."""
    zones = [clock_in(state.shape) for state in states]
    later = next(filter(None, zones[here + 2 :]), "")
    earlier = next(filter(None, reversed(zones[:here])), "")
    # What the first state is, the table says itself.
    place = here + 1 if later else here
    if later or earlier:
        shape = states[place].shape
        extra = json.loads(shape.extra) if shape.extra else {}
        extra = compact({**extra, CLOCK_ZONE.key: later or earlier})
        states[place] = states[place]._replace(shape=shape._replace(extra=extra))


def pair_by_ids(old: LockedSchemaVersion, new: LockedSchemaVersion) -> LockedVersionPair:
    """Return the pair of two versions of one lock, whose fields are matched by their ids."""
    before = {field: old.by_id[id] for field, id in new.ids.items() if id in old.by_id}
    return LockedVersionPair(old, new, before)


def stages(pair: LockedVersionPair, start: int | None = None) -> tuple[LockedVersionPair, ...]:
    """Return the pairs that lead from the old version to the new one; the last one ends at the new version itself.

    `start` is the locked version of the old schema; None if it is none, and each field is as in some version.
    """
    locked = pair.new.locked
    ways = _states_on_the_way(pair, start)
    stops = set(_versions_before_structs(pair))
    for way in ways.values():
        # A stop is a version in which a field got a type that is neither its old nor its new one's neighbour, or another clock.
        changes, has_cast = [], False
        for before, state in pairwise(way):
            is_other = _type(before.shape) != _type(state.shape)
            has_cast = has_cast or is_other
            if is_other or clock_in(before.shape) != clock_in(state.shape):
                changes.append(state.first)
        stops |= set(changes[:-1] if has_cast else ())
    if stops:
        # The states of these ways are in place of the lock's own.
        replaced = {(state.id, state.first): state for way in ways.values() for state in way}
        locked = replace(locked, states=tuple(replaced.get((s.id, s.first), s) for s in locked.states))
    pairs, old = [], pair.old
    for stop in sorted(stops):
        new = locked_schema_version(locked, stop)
        pairs.append(pair_by_ids(old, new))
        old = new
    return (*pairs, pair_by_ids(old, pair.new)) if pairs else (pair,)


def _states_on_the_way(pair: LockedVersionPair, start: int | None) -> Mapping[int, list[FieldState]]:
    """Return the states that the values of each field go through by its id, from that of the table on."""
    locked = pair.new.locked
    newest = locked.versions[-1].number
    states: dict[int, list[FieldState]] = {}
    for state in sorted(locked.states, key=lambda state: state.first):
        if state.first <= newest:
            states.setdefault(state.id, []).append(state)
    version_of, ways = cache(partial(locked_schema_version, locked)), {}
    for field, before in pair.before.items():
        id = pair.new.ids[field]
        field_states = states.get(id, [])
        # The state that the table has is one of this type: that of its version, else the one of its numbers, else
        # the last one; of several, one of its clock.
        ids, shape = lance_ids(pair.old.numbers[before]), shape_of(before, None, None)
        alike = [state for state in field_states if _type(state.shape) == _type(shape)]
        then = [state for state in alike if start is not None and state.is_in(start)]
        numbered = [state for state in alike if ids and lance_ids(state.numbers) == ids]
        matches = then or numbered or alike
        matches = [state for state in matches if clock_in(state.shape) == clock_in(shape)] or matches
        if matches:
            from_table = field_states[field_states.index(matches[-1]) :]
            ways[id] = _effective_states(before, from_table, version_of)
    return ways


class FieldCast(NamedTuple):
    """A field before and after a change of its type."""

    before: SchemaField
    after: SchemaField


def casts_of(field: SchemaField, ways: Sequence[LockedVersionPair]) -> list[FieldCast]:
    """Return a field of the last new version before and after each change of its type on the way."""
    id, casts = ways[-1].new.ids[field], []
    for way in ways:
        after = way.new.by_id.get(id)
        before = way.before.get(after) if after is not None else None
        if after is not None and before is not None and before.type != after.type:
            casts.append(FieldCast(before, after))
    return casts


def is_cast(field: SchemaField, ways: Sequence[LockedVersionPair]) -> bool:
    """Whether the type of a field of the last new version changes on the way, whatever becomes of its members."""
    shapes = [[shape_of(one, None, None) for one in cast] for cast in casts_of(field, ways)]
    return any(_type(before) != _type(after) for before, after in shapes)


def _versions_before_structs(pair: LockedVersionPair) -> Iterator[int]:
    """Yield the last version without each new struct that was made of fields which the table does not have.

    If these have left the struct since, yield also the version in which it was made.
    """
    for field in preorder(pair.new.dataset.columns):
        if field not in pair.before:
            stop = last_version_without(field, pair.new)
            if stop is not None and not any(inner in pair.before for inner in preorder([field])):
                yield stop
                there = {state.id for state in pair.new.locked.states_of(stop)}
                if there.isdisjoint(pair.new.ids[child] for child in field.children):
                    yield stop + 1


def _type(shape: FieldShape) -> str:
    """Return the type of a shape without its mark of nullability."""
    return shape.type.removesuffix("?")


def checks(
    pair: VersionPair,
    ways: Sequence[LockedVersionPair],
    judged: Sequence[tuple[Change, Judgement]],
    rounded: frozenset[str],
) -> Iterator[steps.CheckStep]:
    """Yield the checks of stored values that a plan needs, each one once; `ways` are the pairs of versions that the values go through."""
    seen: set[tuple[str, steps.CheckSubject]] = set()
    for change, judgement in judged:
        field, before = change.new_field, change.old_field
        if field is None or before is None or judgement.outcome is not Outcome.DATA:
            continue
        for subject, question, query in _questions(change, pair, rounded, ways):
            if (field.path_text, subject) not in seen:
                seen.add((field.path_text, subject))
                yield steps.CheckStep(
                    field.path_text, question=question, query=query, field=field, subject=subject
                )


def _questions(
    change: Change, pair: VersionPair, rounded: frozenset[str], ways: Sequence[LockedVersionPair]
) -> Iterator[tuple[steps.CheckSubject, str, str]]:
    """Yield what is asked of the values for one change: about nulls, places in structs, or fit; each with the filter that answers it."""
    before, field = change.fields
    subject = engine.ROWS[change.fact].subject
    nulls = "it may not be null"
    if subject is steps.CheckSubject.NULLS:
        yield subject, nulls, steps.null_filter(before)
    elif subject is steps.CheckSubject.PLACE:
        name = steps.column_name(before)
        if engine.leaves_nullable_struct(field, pair):
            yield steps.CheckSubject.NULLS, nulls, f"{name} IS NULL"
        for above in engine.nullable_structs_entered(field, pair):
            question = f"{above.path_text} may not be null where {before.path_text} has a value"
            yield subject, question, f"{steps.column_name(above)} IS NULL AND {name} IS NOT NULL"
    elif subject is steps.CheckSubject.FIT:
        casts = casts_of(field, ways) or [FieldCast(before, field)]
        option = field.path_text if is_named(field, rounded) else ""
        question = "; then ".join(_fit_question(*cast, option) for cast in casts)
        yield subject, question, "" if len(ways) > 1 or option else steps.misfit_filter(pair, before, field)


def rule_checks(
    rules: Iterable[ConstraintRule], pair: VersionPair, references: Mapping[str, str]
) -> Iterator[steps.RuleCheck | steps.UncheckedRule]:
    """Yield what is asked of the rows as they will be; `references` are tables of datasets that are referred to."""
    for rule in rules:
        question, query = rule.question, ""
        match rule.subject:
            case ReferenceTo(_, dataset) if dataset not in references:
                how = f"this is not checked; name that table with `--reference {dataset}=PATH`"
                yield steps.UncheckedRule(rule.path, f"{question}, and {how}", question=question)
                continue
            case ReferenceTo(_, dataset):
                question = f"{question} ({references[dataset]})"
            case Constraint() if (before := pair.before.get(rule.fields[0])) is not None:
                query = steps.constraint_filter(pair, before, rule.subject)
        yield steps.RuleCheck(rule.path, question=question, query=query, rule=rule)


def report_pointless_rounding(
    rounded: frozenset[str], ways: Sequence[LockedVersionPair], report: Report
) -> None:
    """Report SC430 for each name that is not a field, or is one that has nothing to round."""
    fields = {field.path_text: field for field in preorder(ways[-1].new.dataset.columns)}
    for name in sorted(rounded):
        field = fields.get(name)
        if field is None:
            near, help = closest(name, fields), "give the path of a field with its current name"
            help = f"did you mean `--allow-rounding {near}`?" if near else help
            report.add(POINTLESS_ROUNDING, f"there is no field {name} to round", help=help)
        elif not any(is_roundable(casts_of(inner, ways)) for inner in preorder([field])):
            why = "its type does not change, or the new type has no nearest values"
            refuse_rounding([name], why, report)


def is_roundable(casts: Iterable[FieldCast]) -> bool:
    """Whether a value that does not fit may have a nearest one in any of these casts."""
    return any(can_be_rounded(before.type, after.type) for before, after in casts)


def _fit_question(before: SchemaField, field: SchemaField, rounded: str) -> str:
    """Return the check of the values of one cast; `rounded` is the option that allows rounding, if there is one."""
    type_text = field.type.type_text()
    question = f"every value has to fit {type_text}"
    is_rounded = bool(rounded) and can_be_rounded(before.type, field.type)
    if is_rounded and field.type.family in (Family.DATE, Family.TIME, Family.TIMESTAMP, Family.DURATION):
        question = f"values are truncated to {type_text}, as --allow-rounding {rounded} allows, and have to fit after that"
    elif is_rounded:
        question = f"values are rounded to the nearest {type_text}, as --allow-rounding {rounded} allows, and have to be in its range"
    clock = clock_of(before, field)
    is_about_zones = any("timezone" in type(one.type).model_fields for one in (before, field))
    return f"{question}, read by a clock in {clock}" if clock and is_about_zones else question


def misfit_reason(before: SchemaField, field: SchemaField) -> str:
    """Return a more exact reason than that values do not fit."""
    clock = clock_of(before, field)
    new: Any = field.type
    if before.type.family is Family.TEXT and new.family is Family.TIMESTAMP and not clock:
        if new.timezone is None:
            return f"; a text with an offset is an instant; set `{CLOCK_ZONE.key}` to the zone of the clock that should show it"
        return f"; a text without an offset is the reading of a clock; set `{CLOCK_ZONE.key}` to the zone of that clock"
    if clock and clock != "UTC" and new.family in (Family.DATE, Family.TIME):
        reason = f"{why_misfit(before.type, new)}, read by a clock in {clock}"
    elif clock and clock != "UTC" and before.type.family is not Family.TEXT:
        reason = f"a clock in {clock} skips some times and shows others twice, and years outside 1 to 9999 are not covered"
    else:
        reason = why_misfit(before.type, field.type)
    return f"; {reason}" if reason else ""
