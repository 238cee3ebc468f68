"""The rules of Open Data Fabric for a new SetDataSchema in a chain of metadata.

Floor: 9 (evolution).
Source: the reference implementation's chain validators: attributes may change, fields may change places, and fields that
are optional may be added; everything else is refused.
"""

from schemac.evolution.changes import Change, Fact
from schemac.evolution.readers import TYPE_FACTS
from schemac.evolution.side import Pair
from schemac.evolution.verdict import SAFE, Judgement, Outcome

_NEW_DATASET = "derive a new dataset with this schema"


def judge(change: Change, sides: Pair | None) -> Judgement:
    """Whether the event may follow the one before."""
    if change.fact in (Fact.DATASET_ADDED, Fact.FIELDS_REORDERED):
        return SAFE
    if change.fact in TYPE_FACTS:
        return Judgement(
            Outcome.REFUSED, "the standard lets no type change", "add an optional field beside it"
        )
    match change.fact:
        case Fact.FIELD_ADDED if change.new_slot is not None:
            if change.new_slot.is_nullable:
                return SAFE
            return Judgement(
                Outcome.REFUSED, "records that are there have no value for it", "make it optional"
            )
        case Fact.FIELD_DROPPED | Fact.FIELD_RENAMED | Fact.FIELD_MOVED:
            return Judgement(Outcome.REFUSED, "the standard lets no field go", _NEW_DATASET)
        case Fact.BECAME_OPTIONAL | Fact.BECAME_REQUIRED:
            return Judgement(Outcome.REFUSED, "the standard lets no optionality change", _NEW_DATASET)
        case Fact.DATASET_DROPPED:
            return SAFE
    return Judgement(Outcome.METADATA)
