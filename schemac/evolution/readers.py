"""Programs that still have the old schema.

Layer: evolution.
Shape: the same for all engines: a reader names its columns and needs values that fit its types.
"""

from schemac.evolution.castability import castability, misfit
from schemac.evolution.changes import JUDGED_FACTS, LAYOUT_FACTS, TYPE_FACTS, Change, Fact
from schemac.evolution.constraints import LOOSENED, loosened
from schemac.evolution.facts import as_seen_by
from schemac.evolution.layouts import missing_cast
from schemac.evolution.verdict import NO_VERDICT, SAFE, Judgement, Outcome
from schemac.logical.castability import Castability


def for_old_readers(change: Change) -> Judgement:
    """Return what a change means to those who have not heard of it."""
    change = as_seen_by("", change)
    if change.fact not in JUDGED_FACTS:
        return NO_VERDICT
    old, new = change.old_field, change.new_field
    if change.fact in TYPE_FACTS:
        assert old is not None
        assert new is not None
        match castability(new.type, old.type):
            case Castability.NEVER:
                return Judgement(
                    Outcome.REFUSED,
                    f"a reader that expects {old.type.type_text()} cannot read {new.type.type_text()}",
                    "add a new field next to the old one, and drop the old one when no program reads it anymore",
                )
            case Castability.DEPENDS:
                return Judgement(
                    Outcome.DATA,
                    f"old readers expect {old.type.type_text()}: {misfit(new.type, old.type)}",
                    "update the readers to the new schema first",
                )
    if change.fact in TYPE_FACTS | LAYOUT_FACTS and old is not None and new is not None:
        missing = missing_cast(new, old)
        return (
            Judgement(Outcome.REFUSED, missing, "update the readers to the new schema first")
            if missing
            else SAFE
        )
    if change.fact in LOOSENED:
        return loosened(change)
    match change.fact:
        case Fact.FIELD_DROPPED | Fact.DATASET_DROPPED:
            return Judgement(
                Outcome.REFUSED,
                f"old readers that use {change.path or change.dataset} no longer find it",
                "drop it when no program reads it anymore",
            )
        case Fact.FIELD_RENAMED | Fact.FIELD_MOVED:
            return Judgement(
                Outcome.REFUSED,
                f"old readers look for {change.old}",
                "update the readers together with the table, or give them a view with the old name",
            )
        case Fact.BECAME_OPTIONAL:
            return Judgement(
                Outcome.DATA,
                f"old readers do not expect null in {change.path}",
                "update the readers to the new schema first",
            )
        case Fact.UNIT_CHANGED if change.old is not None:
            return Judgement(
                Outcome.REFUSED,
                f"old readers still read the numbers as {change.old}",
                "add a new field with the new unit beside the old one",
            )
        case Fact.BLOB_ADDED | Fact.BLOB_REMOVED | Fact.FLOAT_ENCODING_CHANGED:
            return Judgement(
                Outcome.REFUSED, f"{change.path} has a different layout", "add a new field next to it"
            )
    return SAFE
