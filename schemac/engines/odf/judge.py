"""The rules of Open Data Fabric for a new SetDataSchema in a chain of metadata.

Layer: engines.
Source: the reference implementation's chain validators: attributes may change, fields may change places, and fields that
are optional may be added; everything else is refused. A map is compared as a whole: nothing inside may change.
"""

from schemac.language.attributes.attribute import Family
from schemac.language.logical.facts import Fact
from schemac.versions.evolution.changes import (
    DATASET_FACTS,
    METADATA,
    PROPERTY_FACTS,
    SAFE,
    TYPE_FACTS,
    Change,
    Judgement,
    refused,
)
from schemac.versions.evolution.constraints import TIGHTENED, tightened
from schemac.versions.evolution.judge import Judge

_NEW_DATASET = "derive a new dataset with this schema"


def _whole_map(change: Change, _pair: object) -> Judgement | None:
    field = change.new_field or change.old_field
    if field is None or not any(above.type.family is Family.MAP for above in field.ancestors):
        return None
    return refused("the standard compares maps as a whole and allows no change of type", _NEW_DATASET)


def _added(change: Change, _pair: object) -> Judgement:
    """Return SAFE for a field that may be null; refuse a required one."""
    if change.current_field.is_nullable:
        return SAFE
    return refused("existing records have no value for it", "make it optional")


JUDGE = Judge(
    {
        **dict.fromkeys(PROPERTY_FACTS | {Fact.UNIT_CHANGED}, METADATA),
        **dict.fromkeys(DATASET_FACTS | {Fact.FIELDS_REORDERED}, SAFE),
        **dict.fromkeys(TIGHTENED, tightened),
        **dict.fromkeys(
            TYPE_FACTS,
            refused("the standard allows no change of type", "add a new optional field next to it"),
        ),
        **dict.fromkeys(
            (Fact.FIELD_DROPPED, Fact.FIELD_RENAMED, Fact.FIELD_MOVED),
            refused("the standard does not allow fields to be removed", _NEW_DATASET),
        ),
        **dict.fromkeys(
            (Fact.BECAME_OPTIONAL, Fact.BECAME_REQUIRED),
            refused("the standard does not allow a change between optional and required", _NEW_DATASET),
        ),
        Fact.FIELD_ADDED: _added,
    },
    _whole_map,
)
