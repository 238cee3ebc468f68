"""What a change of a constraint means.

Layer: evolution.
Shape: constraints are told apart by the values that they allow. No engine checks stored rows when one is added or narrowed, so it
depends on these rows whether they keep it; and programs that rely on a constraint may meet other values once it is widened
or gone.
"""

import json
from collections.abc import Iterator
from typing import Any

from schemac.attributes.constraints import OF_ROWS
from schemac.constraints.constraint import Constraint, Turn, turn_of
from schemac.constraints.patterns import PatternError
from schemac.constraints.registry import BY_KEY
from schemac.constraints.values import UnfitValueError
from schemac.evolution.changes import Change, Fact
from schemac.evolution.verdict import Judgement, Outcome
from schemac.logical.slots import Slot

TIGHTENED = frozenset({Fact.CONSTRAINT_ADDED, Fact.CONSTRAINT_NARROWED, Fact.CONSTRAINT_CHANGED})
"""Existing rows may break it."""
LOOSENED = frozenset({Fact.CONSTRAINT_REMOVED, Fact.CONSTRAINT_WIDENED, Fact.CONSTRAINT_CHANGED})
"""New rows may have values that were not allowed before."""
_FACTS = {
    Turn.NARROWED: Fact.CONSTRAINT_NARROWED,
    Turn.WIDENED: Fact.CONSTRAINT_WIDENED,
    Turn.CHANGED: Fact.CONSTRAINT_CHANGED,
}
_KEYS_OF_ROWS = frozenset(attribute.key for attribute in OF_ROWS)


def is_constraint(key: str) -> bool:
    """Whether an attribute is a constraint."""
    return key in BY_KEY or key in _KEYS_OF_ROWS


def constraint_fact(key: str, old: Slot | None, new: Slot | None, before: Any, after: Any) -> Fact | None:
    """Return how a constraint changed; None where it allows the same values. Slots are None for those of rows."""
    if before is None:
        return Fact.CONSTRAINT_ADDED
    if after is None:
        return Fact.CONSTRAINT_REMOVED
    if old is None or new is None:
        texts = [{json.dumps(one, sort_keys=True) for one in several} for several in (before, after)]
        return _FACTS.get(turn_of(bool(texts[1] - texts[0]), bool(texts[0] - texts[1])))
    try:
        was, is_ = (BY_KEY[key].read(slot.type, slot.extra[key]) for slot in (old, new))
    except (UnfitValueError, PatternError):
        # A lock may remember what an earlier version of the compiler accepted.
        return Fact.CONSTRAINT_CHANGED
    return _FACTS.get(was.turn(is_)) if old.type.family is new.type.family else Fact.CONSTRAINT_CHANGED


def constraint_of(change: Change) -> Constraint | None:
    """Return the new constraint that a change is about; None for those of rows."""
    slot = change.new_slot
    return BY_KEY[change.key].read(slot.type, slot.extra[change.key]) if slot is not None else None


def tightened(change: Change, find: str = "") -> Judgement:
    """Return what it means for stored rows; `find` says how to find those that break it."""
    constraint = constraint_of(change)
    if constraint is not None:
        reason = f"{change.path} has to be {constraint.text}, but existing rows were not checked"
        look = find or f"look for values of {change.path} that are not {constraint.text}"
    else:
        name = change.key.partition("/")[2]
        reason = (
            f"rows have to keep {', '.join(_added(change))} of `{name}`, but existing rows were not checked"
        )
        look = find or "look for the rows that break it"
    return Judgement(Outcome.DATA, reason, f"{look}, and correct them first")


def verify_of(change: Change) -> str:
    """Say which command finds the rows of a table that `verify` reads."""
    return f"find the rows with `schemac verify {change.dataset} --table PATH --data`"


def loosened(change: Change) -> Judgement:
    """Return what it means for programs with the old schema."""
    where = f" of {change.path}" if change.path else ""
    return Judgement(
        Outcome.DATA,
        f"old readers may rely on `{change.key}: {json.dumps(change.old, ensure_ascii=False)}`{where}",
        "update the readers to the new schema first",
    )


def _added(change: Change) -> Iterator[str]:
    before = [json.dumps(one, sort_keys=True) for one in change.old or ()]
    for one in change.new or ():
        if json.dumps(one, sort_keys=True) not in before:
            yield f"`{one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)}`"
