"""Programs that still have the old schema.

Layer: evolution.
Shape: the same for all engines: a reader names its columns and wants values that fit its types.
"""

from schemac.evolution.changes import JUDGED_FACTS, LAYOUT_FACTS, TYPE_FACTS, Change, Fact
from schemac.evolution.fit import Fit, fit, misfit
from schemac.evolution.layouts import missing_cast
from schemac.evolution.verdict import NO_VERDICT, SAFE, Judgement, Outcome


def for_old_readers(change: Change) -> Judgement:
    """What a change means to those who have not heard of it."""
    if change.fact not in JUDGED_FACTS:
        return NO_VERDICT
    old, new = change.old_slot, change.new_slot
    if change.fact in TYPE_FACTS:
        assert old is not None
        assert new is not None
        match fit(new.type, old.type):
            case Fit.NEVER:
                return Judgement(
                    Outcome.REFUSED,
                    f"a reader that expects {old.type.title()} can do nothing with {new.type.title()}",
                    "add a field beside the old one, and drop the old one when nobody reads it any more",
                )
            case Fit.DEPENDS:
                return Judgement(
                    Outcome.DATA,
                    f"old readers expect {old.type.title()}: {misfit(new.type, old.type)}",
                    "let readers take the new schema first",
                )
    if change.fact in TYPE_FACTS | LAYOUT_FACTS and old is not None and new is not None:
        missing = missing_cast(new, old)
        return (
            Judgement(Outcome.REFUSED, missing, "let readers take the new schema first") if missing else SAFE
        )
    match change.fact:
        case Fact.FIELD_DROPPED | Fact.DATASET_DROPPED:
            return Judgement(
                Outcome.REFUSED,
                f"old readers that name {change.path or change.dataset} no longer find it",
                "drop it when nobody reads it any more",
            )
        case Fact.FIELD_RENAMED | Fact.FIELD_MOVED:
            return Judgement(
                Outcome.REFUSED,
                f"old readers still look for {change.old}",
                "let readers take the new name together with the table, or give them a view with the old one",
            )
        case Fact.BECAME_OPTIONAL:
            return Judgement(
                Outcome.DATA,
                f"old readers do not expect null in {change.path}",
                "let readers take the new schema first",
            )
        case Fact.UNIT_CHANGED if change.old is not None:
            return Judgement(
                Outcome.REFUSED,
                f"old readers take the numbers for {change.old}",
                "add a field with the new unit beside the old one",
            )
        case Fact.BLOB_ADDED | Fact.BLOB_REMOVED | Fact.FLOAT_ENCODING_CHANGED:
            return Judgement(
                Outcome.REFUSED, f"{change.path} is laid out in another way", "add a field beside it"
            )
    return SAFE
