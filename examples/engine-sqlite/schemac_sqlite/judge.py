"""What a change means for a table of SQLite with rows.

Shape: ALTER TABLE adds, renames and drops columns, and changes nothing else of them. An unknown change has no verdict, and is
refused.
Source: sqlite.org, "ALTER TABLE", asked of sqlite3 (`tests/test_sqlite.py`).
"""

from schemac.language.logical.facts import AnyFact, Fact
from schemac.versions.evolution.changes import (
    ATTRIBUTE_FACTS,
    DATASET_FACTS,
    METADATA,
    PROPERTY_FACTS,
    SAFE,
    TYPE_FACTS,
    Change,
    Judgement,
    Outcome,
    of_another_unit,
)
from schemac.versions.evolution.constraints import TIGHTENED, tightened
from schemac.versions.evolution.judge import Judge, Rule, guarded
from schemac_sqlite.attributes import DEFAULT, PRIMARY_KEY
from schemac_sqlite.types import type_of

_COPY = "make a new table, copy the rows, and rename it"


def _attribute(change: Change, _pair: object) -> Judgement:
    return Judgement(Outcome.REWRITE, _COPY) if change.key in (DEFAULT.key, PRIMARY_KEY.key) else SAFE


def _in_json(change: Change, _pair: object) -> Judgement | None:
    """Say that what is inside a column is JSON, which ALTER TABLE does not look into."""
    field = change.new_field or change.old_field
    if field is None or field.parent is None:
        return None
    return Judgement(Outcome.DATA, "the JSON of existing rows stays as it is", "look at it first")


def _added(change: Change, _pair: object) -> Judgement:
    new = change.current_field
    if new.is_nullable or DEFAULT.key in new.extra:
        return METADATA
    way_out = f"make it optional, or give it an `{DEFAULT.key}`"
    return Judgement(Outcome.REFUSED, f"existing rows have no {change.path}", way_out)


def _unit(change: Change, pair: object) -> Judgement:
    return of_another_unit(change, pair, SAFE)


def _type(change: Change, _pair: object) -> Judgement:
    old, new = change.fields
    if type_of(old) == type_of(new) and type_of(new).is_lossless:
        return SAFE
    return Judgement(Outcome.REWRITE, f"{type_of(old).name} stays in existing rows", _COPY)


_FIELDS: dict[AnyFact, Rule | Judgement] = {
    Fact.FIELD_ADDED: _added,
    Fact.FIELD_DROPPED: METADATA,
    Fact.FIELD_RENAMED: METADATA,
    Fact.FIELDS_REORDERED: SAFE,
    **dict.fromkeys(
        (Fact.BECAME_OPTIONAL, Fact.BECAME_REQUIRED, Fact.FIELD_MOVED),
        Judgement(Outcome.REWRITE, "ALTER TABLE cannot do this", _COPY),
    ),
    Fact.UNIT_CHANGED: _unit,
    **dict.fromkeys(TYPE_FACTS, _type),
}
JUDGE = Judge(
    {
        **dict.fromkeys(PROPERTY_FACTS | DATASET_FACTS, SAFE),
        **dict.fromkeys(TIGHTENED, tightened),
        **dict.fromkeys(ATTRIBUTE_FACTS, _attribute),
        **{fact: guarded(_in_json, rule) for fact, rule in _FIELDS.items()},
    }
)
"""A row for each fact."""
