"""The rules of Open Data Fabric for a new SetDataSchema in a chain of metadata.

Layer: engines.
Source: the reference implementation's chain validators: attributes may change, fields may change places, and fields that
are optional may be added; everything else is refused. A map is compared as a whole: nothing inside may change.
"""

from schemac.language.attributes.attribute import Family
from schemac.language.logical.facts import Fact
from schemac.versions.evolution import changes
from schemac.versions.evolution.constraints import TIGHTENED, tightened
from schemac.versions.evolution.judge import Judge

_NEW_DATASET = "derive a new dataset with this schema"


def _whole_map(change: changes.Change, _pair: object) -> changes.Judgement | None:
    """Refuse any change inside of a map; return None for a change elsewhere."""
    field = change.new_field or change.old_field
    if field is None or not any(above.type.family is Family.MAP for above in field.ancestors):
        return None
    return changes.refused("the standard compares maps as a whole and allows no change of type", _NEW_DATASET)


def _added(change: changes.Change, _pair: object) -> changes.Judgement:
    """Return SAFE for a field that may be null; refuse a required one."""
    if change.current_field.is_nullable:
        return changes.SAFE
    return changes.refused("existing records have no value for it", "make it optional")


JUDGE = Judge(
    {
        **dict.fromkeys(changes.PROPERTY_FACTS | {Fact.UNIT_CHANGED}, changes.METADATA),
        **dict.fromkeys(changes.DATASET_FACTS | {Fact.FIELDS_REORDERED}, changes.SAFE),
        **dict.fromkeys(TIGHTENED, tightened),
        **dict.fromkeys(
            changes.TYPE_FACTS,
            changes.refused("the standard allows no change of type", "add a new optional field next to it"),
        ),
        **dict.fromkeys(
            (Fact.FIELD_DROPPED, Fact.FIELD_RENAMED, Fact.FIELD_MOVED),
            changes.refused("the standard does not allow fields to be removed", _NEW_DATASET),
        ),
        **dict.fromkeys(
            (Fact.BECAME_OPTIONAL, Fact.BECAME_REQUIRED),
            changes.refused(
                "the standard does not allow a change between optional and required", _NEW_DATASET
            ),
        ),
        Fact.FIELD_ADDED: _added,
    },
    _whole_map,
)
