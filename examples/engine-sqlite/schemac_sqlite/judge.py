"""What a change means for a table of SQLite with rows.

Shape: ALTER TABLE adds, renames and drops columns, and changes nothing else of them. What nobody thought of has no verdict, and is
refused.
Source: sqlite.org, "ALTER TABLE", asked of sqlite3 (`tests/test_sqlite.py`).
"""

from schemac.evolution.changes import (
    ATTRIBUTE_FACTS,
    DATASET_FACTS,
    FIELD_FACTS,
    PROPERTY_FACTS,
    TYPE_FACTS,
    Change,
    Fact,
)
from schemac.evolution.constraints import TIGHTENED, tightened
from schemac.evolution.judge import Judge
from schemac.evolution.verdict import NO_VERDICT, SAFE, Judgement, Outcome, of_another_unit
from schemac.evolution.version_pair import VersionPair
from schemac_sqlite.attributes import DEFAULT, PRIMARY_KEY
from schemac_sqlite.types import type_of

_TOLD = PROPERTY_FACTS - ATTRIBUTE_FACTS
"""What SQLite does not have."""
FACTS = PROPERTY_FACTS | DATASET_FACTS | FIELD_FACTS | TYPE_FACTS | {Fact.UNIT_CHANGED}
"""What this judge was asked about."""
_COPY = "make a new table, copy the rows, and rename it"


def judge(change: Change, pair: VersionPair | None) -> Judgement:
    """Judge whether ALTER TABLE can do it."""
    old, new = change.old_field, change.new_field
    field = new if new is not None else old
    if change.fact in TIGHTENED:
        return tightened(change, pair)
    if change.fact in _TOLD or change.fact in DATASET_FACTS:
        return SAFE
    if change.fact in ATTRIBUTE_FACTS:
        return Judgement(Outcome.REWRITE, _COPY) if change.key in (DEFAULT.key, PRIMARY_KEY.key) else SAFE
    if field is not None and field.parent is not None:
        return Judgement(Outcome.DATA, "the JSON of existing rows stays as it is", "look at it first")
    match change.fact:
        case Fact.FIELD_ADDED if new is not None:
            if new.is_nullable or DEFAULT.key in new.extra:
                return Judgement(Outcome.METADATA)
            way_out = f"make it optional, or give it an `{DEFAULT.key}`"
            return Judgement(Outcome.REFUSED, f"existing rows have no {change.path}", way_out)
        case Fact.FIELD_DROPPED | Fact.FIELD_RENAMED:
            return Judgement(Outcome.METADATA)
        case Fact.FIELDS_REORDERED:
            return SAFE
        case Fact.BECAME_OPTIONAL | Fact.BECAME_REQUIRED | Fact.FIELD_MOVED:
            return Judgement(Outcome.REWRITE, "ALTER TABLE cannot do this", _COPY)
        case Fact.UNIT_CHANGED:
            return of_another_unit(change) if change.old is not None and change.new is not None else SAFE
    if change.fact in TYPE_FACTS and old is not None and new is not None:
        if type_of(old) == type_of(new) and type_of(new).is_lossless:
            return SAFE
        return Judgement(Outcome.REWRITE, f"{type_of(old).name} stays in existing rows", _COPY)
    return NO_VERDICT


JUDGE = Judge(judge, facts=FACTS)
