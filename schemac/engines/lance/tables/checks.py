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
from schemac.evolution.castability import can_be_rounded, why_misfit
from schemac.evolution.changes import Change
from schemac.evolution.clocks import clock_of
from schemac.evolution.row_rules import Rule
from schemac.evolution.verdict import Judgement, Outcome
from schemac.evolution.version_pair import LockedVersionPair, VersionPair
from schemac.logical.schema_fields import SchemaField, preorder
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
        field, before = change.new_field, change.old_field
        if field is None or before is None or judgement.outcome is not Outcome.DATA:
            continue
        for check in _checks(engine.ROWS[change.fact].subject, pair, before, field, rounded, ways):
            key = (check.title, check.subject)
            if key not in seen:
                seen.add(key)
                yield check


def _checks(
    subject: Subject,
    pair: VersionPair,
    before: SchemaField,
    field: SchemaField,
    rounded: frozenset[str],
    ways: Sequence[LockedVersionPair],
) -> Iterator[Check]:
    nulls = "it may not be null"
    if subject is Subject.NULLS:
        yield Check(field.path_text, question=nulls, query=null_filter(before), field=field, subject=subject)
    elif subject is Subject.PLACE:
        if engine.left_behind(field, pair):
            query = f"{column_name(before)} IS NULL"
            yield Check(field.path_text, question=nulls, query=query, field=field, subject=Subject.NULLS)
        for above in engine.moved_into(field, pair):
            query = f"{column_name(above)} IS NULL AND {column_name(before)} IS NOT NULL"
            question = f"{above.path_text} may not be null where {before.path_text} has a value"
            yield Check(field.path_text, question=question, query=query, field=field, subject=subject)
    elif subject is Subject.FIT:
        casts = casts_of(field, ways) or [(before, field)]
        is_rounded = is_named(field, rounded)
        question = "; then ".join(_question(*cast, field.path_text if is_rounded else "") for cast in casts)
        query = misfit_filter(pair, before, field) if len(ways) == 1 and not is_rounded else ""
        yield Check(field.path_text, question=question, query=query, field=field)


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
            case Constraint() if (before := pair.before.get(rule.fields[0])) is not None:
                query = constraint_filter(pair, before, rule.subject)
        yield Check(rule.path, question=question, query=query, subject=Subject.RULE, rule=rule)


def report_pointless_rounding(
    rounded: frozenset[str], ways: Sequence[LockedVersionPair], report: Report
) -> None:
    """SC430 for a name that is not a field, or a field that has nothing to round."""
    fields = {field.path_text: field for field in preorder(ways[-1].new.dataset.columns)}
    for name in sorted(rounded):
        field = fields.get(name)
        if field is None:
            near = closest(name, fields)
            help = (
                f"did you mean `--allow-rounding {near}`?"
                if near
                else "give the path of a field with its current name"
            )
            report.add(POINTLESS_ROUNDING, f"there is no field {name} to round", help=help)
        elif not any(is_roundable(casts_of(inner, ways)) for inner in preorder([field])):
            message = f"no value of {name} is rounded: its type does not change, or the new type has no nearest values"
            report.add(POINTLESS_ROUNDING, message, help=f"remove `--allow-rounding {name}`")


def is_roundable(casts: Iterable[tuple[SchemaField, SchemaField]]) -> bool:
    """Whether a value that does not fit may have a nearest one in any of these casts."""
    return any(can_be_rounded(before.type, after.type) for before, after in casts)


def _question(before: SchemaField, field: SchemaField, rounded: str) -> str:
    """Return what is asked of the values of one cast; `rounded` is the name that lets them be rounded, if there is one."""
    type_text = field.type.type_text()
    question = f"every value has to fit {type_text}"
    is_rounded = bool(rounded) and can_be_rounded(before.type, field.type)
    if is_rounded and field.type.family in (Family.DATE, Family.TIME, Family.TIMESTAMP, Family.DURATION):
        question = f"values are truncated to {type_text}, as --allow-rounding {rounded} allows, and have to fit after that"
    elif is_rounded:
        question = f"values are rounded to the nearest {type_text}, as --allow-rounding {rounded} allows, and have to be in its range"
    clock = clock_of(before, field)
    is_about_zones = (
        "timezone" in type(before.type).model_fields or "timezone" in type(field.type).model_fields
    )
    return f"{question}, read by a clock in {clock}" if clock and is_about_zones else question


def reason_of(before: SchemaField, field: SchemaField) -> str:
    """Return what is wrong with values, where there is more to say than that they do not fit."""
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
