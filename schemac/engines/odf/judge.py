"""The rules of Open Data Fabric for a new SetDataSchema in a chain of metadata.

Layer: engines.
Source: the reference implementation's chain validators: attributes may change, fields may change places, and fields that
are optional may be added; everything else is refused. A map is compared as a whole: nothing inside may change.
"""

from schemac.attributes.family import Family
from schemac.evolution.changes import TYPE_FACTS, Change, Fact
from schemac.evolution.constraints import TIGHTENED, tightened
from schemac.evolution.judge import Judge
from schemac.evolution.verdict import SAFE, Judgement, Outcome
from schemac.evolution.version_pair import VersionPair
from schemac.logical.schema_fields import SchemaField

_NEW_DATASET = "derive a new dataset with this schema"


def judge(change: Change, pair: VersionPair | None) -> Judgement:
    """Whether the event may follow the one before."""
    if _is_in_map(change.new_field or change.old_field):
        return Judgement(
            Outcome.REFUSED,
            "the standard compares maps as a whole and allows no change of type",
            _NEW_DATASET,
        )
    if change.fact in (Fact.DATASET_ADDED, Fact.FIELDS_REORDERED):
        return SAFE
    if change.fact in TIGHTENED:
        return tightened(change, pair)
    if change.fact in TYPE_FACTS:
        return Judgement(
            Outcome.REFUSED, "the standard allows no change of type", "add a new optional field next to it"
        )
    match change.fact:
        case Fact.FIELD_ADDED if change.new_field is not None:
            if change.new_field.is_nullable:
                return SAFE
            return Judgement(Outcome.REFUSED, "existing records have no value for it", "make it optional")
        case Fact.FIELD_DROPPED | Fact.FIELD_RENAMED | Fact.FIELD_MOVED:
            return Judgement(
                Outcome.REFUSED, "the standard does not allow fields to be removed", _NEW_DATASET
            )
        case Fact.BECAME_OPTIONAL | Fact.BECAME_REQUIRED:
            return Judgement(
                Outcome.REFUSED,
                "the standard does not allow a change between optional and required",
                _NEW_DATASET,
            )
        case Fact.DATASET_DROPPED:
            return SAFE
    return Judgement(Outcome.METADATA)


def _is_in_map(field: SchemaField | None) -> bool:
    above = field.parent if field is not None else None
    while above is not None and above.type.family is not Family.MAP:
        above = above.parent
    return above is not None


JUDGE = Judge(judge)
