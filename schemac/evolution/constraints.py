"""What a change of a constraint means.

Layer: evolution.
Shape: constraints are told apart by the values that they allow. No engine checks stored rows when one is added or narrowed, so it
depends on these rows whether they keep it; and programs that rely on a constraint may meet other values once it is widened
or gone.
"""

import json
from collections.abc import Callable, Iterable, Iterator

from schemac.constraints.constraint import Constraint, Turn, turn_of
from schemac.constraints.patterns import PatternError
from schemac.constraints.registry import BY_KEY
from schemac.constraints.values import UnfitValueError
from schemac.evolution.changes import Change, Fact
from schemac.evolution.row_rules import BY_KEY as ROW_KEYS
from schemac.evolution.row_rules import Rule, row_rules, row_turn, rules_at, sort_of
from schemac.evolution.verdict import Judgement, Outcome
from schemac.evolution.version_pair import SchemaVersion, VersionPair
from schemac.logical.schema_fields import SchemaField, preorder

TIGHTENED = frozenset({Fact.CONSTRAINT_ADDED, Fact.CONSTRAINT_NARROWED, Fact.CONSTRAINT_CHANGED})
"""Existing rows may break it."""
LOOSENED = frozenset({Fact.CONSTRAINT_REMOVED, Fact.CONSTRAINT_WIDENED, Fact.CONSTRAINT_CHANGED})
"""New rows may have values that were not allowed before."""
_FACTS = {
    Turn.NARROWED: Fact.CONSTRAINT_NARROWED,
    Turn.WIDENED: Fact.CONSTRAINT_WIDENED,
    Turn.CHANGED: Fact.CONSTRAINT_CHANGED,
}


def constraint_fact(key: str, old: SchemaField, new: SchemaField) -> Fact | None:
    """Return how a constraint of values changed; None if it allows the same ones."""
    before, after = old.extra.get(key), new.extra.get(key)
    if before is None:
        return Fact.CONSTRAINT_ADDED
    if after is None:
        return Fact.CONSTRAINT_REMOVED
    is_alike = sort_of(old.type) == sort_of(new.type)
    if before == after and is_alike:
        return None
    try:
        was, is_ = (BY_KEY[key].read(field.type, field.extra[key]) for field in (old, new))
    except (UnfitValueError, PatternError):
        # A lock may remember what an earlier version of the compiler accepted.
        return Fact.CONSTRAINT_CHANGED
    is_compared = is_alike and old.type.family is new.type.family
    return _FACTS.get(was.turn(is_)) if is_compared else Fact.CONSTRAINT_CHANGED


def row_fact(pair: VersionPair, key: str) -> Fact | None:
    """Return how the constraints of rows of one attribute changed; None if they ask the same of the same fields."""
    was, is_ = (key in version.dataset.schema.extra for version in (pair.old, pair.new))
    if not (was and is_):
        return Fact.CONSTRAINT_ADDED if is_ else Fact.CONSTRAINT_REMOVED
    turn = row_turn(pair, key)
    return _FACTS.get(turn_of(bool(turn.added), bool(turn.removed)))


def rules_to_check(
    pair: VersionPair, changes: Iterable[Change], is_altered: Callable[[SchemaField], bool] = lambda _: False
) -> tuple[Rule, ...]:
    """Return the constraints that existing rows may break: those that changes add or narrow, and those of fields whose values become others."""
    rules: list[Rule] = []
    for change in changes:
        if change.fact in TIGHTENED and change.new_field is not None:
            rules += rules_at(change.new_field, change.key)
        elif change.fact in TIGHTENED:
            rules += row_rules(pair.new, change.key, row_turn(pair, change.key).added)
    for rule in every_rule(pair.new):
        # A list is another one where its items are.
        is_other = any(is_altered(inner) for field in rule.fields for inner in preorder([field]))
        if is_other and rule not in rules:
            rules.append(rule)
    return tuple(rules)


def every_rule(version: SchemaVersion) -> tuple[Rule, ...]:
    """Return all constraints of a version."""
    return (
        *[rule for field in preorder(version.dataset.columns) for rule in rules_at(field)],
        *[rule for key in ROW_KEYS for rule in row_rules(version, key)],
    )


def constraint_of(change: Change) -> Constraint | None:
    """Return the new constraint that a change is about; None for those of rows."""
    field = change.new_field
    return BY_KEY[change.key].read(field.type, field.extra[change.key]) if field is not None else None


def tightened(change: Change, pair: VersionPair | None, find: str = "") -> Judgement:
    """Return what it means for stored rows; `find` says how to find those that break it."""
    constraint = constraint_of(change)
    if constraint is not None:
        reason = f"{change.path} has to be {constraint.text}, but existing rows were not checked"
        look = find or f"find values of {change.path} that are not {constraint.text}"
    else:
        name = change.key.partition("/")[2]
        reason = f"rows have to satisfy {', '.join(_added(change, pair))} of `{name}`, but existing rows were not checked"
        look = find or "find the rows that break it"
    return Judgement(Outcome.DATA, reason, f"{look}, and correct them first")


def verify_of(change: Change) -> str:
    """Say which command finds the rows of a table that `verify` reads."""
    return f"lock the schema, and find the rows with `schemac verify {change.dataset} --table PATH --data`"


def loosened(change: Change) -> Judgement:
    """Return what it means for programs with the old schema."""
    where = f" of {change.path}" if change.path else ""
    return Judgement(
        Outcome.DATA,
        f"old readers may rely on `{change.key}: {json.dumps(change.old, ensure_ascii=False)}`{where}",
        "update the readers to the new schema first",
    )


def _added(change: Change, pair: VersionPair | None) -> Iterator[str]:
    for one in change.new or () if pair is None else row_turn(pair, change.key).added:
        yield f"`{one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)}`"
