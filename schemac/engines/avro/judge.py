"""What a change means for Avro data that exists, by the rules of schema resolution.

Layer: engines.
Shape: data is read with the schema that it was written with and the new one. Fields are found by name or alias, absent ones
take their default, types are the same or promoted. Whoever adds a sort of change to schemac is refused here until it stands
in `JUDGED_FACTS`.
Source: Avro 1.12, "Schema Resolution", asked of fastavro (`tests/engines/avro/test_avro.py`).
"""

from schemac.engines.avro.artifact import old_names
from schemac.engines.avro.attributes import ALIASES, DEFAULT
from schemac.engines.avro.leaves import is_readable, leaf_of
from schemac.engines.avro.names import name_of
from schemac.evolution.castability import castability, misfit
from schemac.evolution.changes import DATASET_FACTS, JUDGED_FACTS, PROPERTY_FACTS, TYPE_FACTS, Change, Fact
from schemac.evolution.constraints import TIGHTENED, tightened
from schemac.evolution.judge import Judge
from schemac.evolution.messages import NEW_FIELD_HELP, judge_parts
from schemac.evolution.verdict import NO_VERDICT, SAFE, Judgement, Outcome, of_another_unit
from schemac.evolution.version_pair import VersionPair
from schemac.logical.castability import Castability
from schemac.logical.schema_fields import SchemaField

_NOTHING = DATASET_FACTS | {Fact.FIELD_DROPPED, Fact.FIELDS_REORDERED, Fact.BECAME_OPTIONAL}


def judge(change: Change, pair: VersionPair | None) -> Judgement:
    """Judge whether data that exists can be read with the new schema."""
    old, new = change.old_field, change.new_field
    if change.key == ALIASES.key and not set(change.old or ()) <= set(change.new or ()):
        reason = "data that was written under an alias cannot be found without it"
        return Judgement(Outcome.REFUSED, reason, "keep the alias")
    if change.fact in TIGHTENED:
        return tightened(change, pair)
    if change.fact in _NOTHING:
        return SAFE
    if change.fact in PROPERTY_FACTS:
        return Judgement(Outcome.METADATA)
    if change.fact in TYPE_FACTS and old is not None and new is not None:
        return _type(old, new)
    match change.fact:
        case Fact.FIELD_ADDED if new is not None:
            return _added(change.path, new)
        case Fact.FIELD_RENAMED if old is not None and new is not None:
            return _renamed(old, new)
        case Fact.FIELD_MOVED:
            return Judgement(Outcome.REFUSED, "Avro looks for a field in its own record only", NEW_FIELD_HELP)
        case Fact.BECAME_REQUIRED:
            reason = f"a null in {change.path} cannot be read any more"
            return Judgement(Outcome.DATA, reason, "check for nulls first")
        case Fact.UNIT_CHANGED:
            if change.old is None or change.new is None:
                return Judgement(Outcome.METADATA)
            return of_another_unit(change)
    return NO_VERDICT


def _added(path: str, new: SchemaField) -> Judgement:
    if new.is_nullable or DEFAULT.key in new.extra:
        return SAFE
    return Judgement(
        Outcome.REFUSED,
        f"existing data has no {path}, and it has no default",
        f"wrap its type in `{{kind: Option, inner: …}}`, or give it an `{DEFAULT.key}`",
    )


def _renamed(old: SchemaField, new: SchemaField) -> Judgement:
    was = name_of(old)
    if was == name_of(new) or was in old_names(new):
        return Judgement(Outcome.METADATA)
    return Judgement(
        Outcome.REFUSED,
        f"existing data calls it {was}",
        f"write `{ALIASES.key}: [{', '.join([*old_names(new), was])}]` under the field's `extra:`",
    )


def _type(old: SchemaField, new: SchemaField) -> Judgement:
    written, target = leaf_of(old.type), leaf_of(new.type)
    if written is None or target is None:
        return judge_parts("Avro", old, new)
    if not is_readable(written, target) or castability(old.type, new.type) is Castability.NEVER:
        return Judgement(
            Outcome.REFUSED,
            f"Avro does not read {written.title} as {target.title} ({new.type.type_text()})",
            NEW_FIELD_HELP,
        )
    if castability(old.type, new.type) is Castability.DEPENDS:
        return Judgement(
            Outcome.DATA, f"Avro reads it, but {misfit(old.type, new.type)}", "check the values first"
        )
    return SAFE


JUDGE = Judge(judge, facts=JUDGED_FACTS)
