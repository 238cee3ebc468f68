"""Readers of Arrow and Parquet files.

Floor: 9 (evolution).
Shape: columns are found by name, absent ones read as null, and types are cast safely on the way.
Source: `pyarrow.dataset`, asked with every pair of types (`tests/conformance/test_verdicts.py`).
"""

from schemac.evolution.changes import Change, Fact
from schemac.evolution.fit import Fit, fit
from schemac.evolution.readers import TYPE_FACTS
from schemac.evolution.side import Pair
from schemac.evolution.verdict import SAFE, Judgement, Outcome

_LAYOUTS = frozenset(
    {
        Fact.OFFSET_WIDTH_CHANGED,
        Fact.BUFFER_LAYOUT_CHANGED,
        Fact.DATE_ENCODING_CHANGED,
        Fact.DECIMAL_WIDTH_CHANGED,
        Fact.DICTIONARY_ADDED,
        Fact.DICTIONARY_REMOVED,
        Fact.DICTIONARY_CHANGED,
        Fact.FIELDS_REORDERED,
        Fact.FIELD_DROPPED,
        Fact.BECAME_OPTIONAL,
        Fact.DATASET_ADDED,
        Fact.DATASET_DROPPED,
    }
)


def judge(change: Change, sides: Pair | None) -> Judgement:
    """What a change means for files that are there."""
    old, new = change.old_slot, change.new_slot
    if change.fact in _LAYOUTS:
        return SAFE
    if change.fact in TYPE_FACTS and old is not None and new is not None:
        match fit(old.type, new.type):
            case Fit.NEVER:
                return Judgement(
                    Outcome.REFUSED,
                    f"{old.type.title()} cannot be cast to {new.type.title()}",
                    "write the files anew, or add a field beside the old one",
                )
            case Fit.DEPENDS:
                return Judgement(
                    Outcome.DATA,
                    f"values of {old.type.title()} that do not fit {new.type.title()} make a read fail",
                    "look at the values with `schemac plan`",
                )
        return SAFE
    match change.fact:
        case Fact.FIELD_ADDED if new is not None:
            if new.is_nullable:
                return SAFE
            return Judgement(
                Outcome.REFUSED,
                f"files that are there have no {change.path}, and it may not be null",
                f"make it optional: {{kind: Option, inner: {new.type.kind}}}",
            )
        case Fact.FIELD_RENAMED | Fact.FIELD_MOVED:
            return Judgement(
                Outcome.REFUSED,
                f"files that are there call it {change.old}, and Arrow goes by names",
                "write the files anew, or read them with the old schema and rename",
            )
        case Fact.BECAME_REQUIRED:
            return Judgement(
                Outcome.DATA, f"{change.path} may be null in files that are there", "look for nulls first"
            )
        case Fact.UNIT_CHANGED if change.old is not None and change.new is not None:
            return _unit(change)
        case Fact.BLOB_ADDED | Fact.BLOB_REMOVED | Fact.FLOAT_ENCODING_CHANGED:
            return Judgement(
                Outcome.REFUSED, f"{change.path} is laid out in another way", "add a field beside it"
            )
    return Judgement(Outcome.METADATA)


def _unit(change: Change) -> Judgement:
    return Judgement(
        Outcome.REFUSED,
        f"stored numbers are in {change.old}, and nothing turns them into {change.new}",
        "add a field with the new unit, fill it, then drop the old one",
    )
