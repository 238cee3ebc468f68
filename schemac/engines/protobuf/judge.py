"""What a change means for messages of Protobuf that were written, by the rules of its wire format.

Layer: engines.
Shape: messages are read with the new file. Fields are found by number, which the lock keeps; what is not there is null, or the default
of proto3. Whoever adds a sort of change to schemac is refused here until it is in `JUDGED_FACTS`.
Source: the language guide of proto3, "Updating A Message Type"; asked of protobuf's own library and of buf
(`tests/engines/protobuf/test_evolution.py`).
"""

from schemac.attributes.family import Family
from schemac.engines.protobuf.attributes import ENUM, TYPE
from schemac.engines.protobuf.leaves import DURATION, ENUM_TYPE, TIMESTAMP, leaf_of
from schemac.evolution.castability import castability, misfit
from schemac.evolution.changes import DATASET_FACTS, JUDGED_FACTS, PROPERTY_FACTS, TYPE_FACTS, Change, Fact
from schemac.evolution.constraints import TIGHTENED, tightened
from schemac.evolution.judge import Judge
from schemac.evolution.messages import NEW_FIELD_HELP, judge_parts
from schemac.evolution.verdict import NO_VERDICT, SAFE, Judgement, Outcome, of_another_unit
from schemac.evolution.version_pair import VersionPair
from schemac.logical.castability import Castability
from schemac.logical.schema_fields import SchemaField

_NOTHING = DATASET_FACTS | {Fact.FIELD_DROPPED, Fact.FIELDS_REORDERED}
_ALIKE = (
    frozenset({"bool", "int32", "int64", "uint32", "uint64", ENUM_TYPE}),
    frozenset({"sint32", "sint64"}),
    frozenset({"fixed32", "sfixed32"}),
    frozenset({"fixed64", "sfixed64"}),
)
"""Types that are written alike, so that each is read as any other; what does not fit is cut off."""


def judge(change: Change, pair: VersionPair | None) -> Judgement:
    """Judge whether messages that were written can be read with the new file."""
    old, new = change.old_field, change.new_field
    if change.fact in TIGHTENED:
        return tightened(change, pair)
    if change.fact in _NOTHING:
        return SAFE
    if change.key in (TYPE.key, ENUM.key) and old is not None and new is not None:
        return _form(old, new)
    if change.fact in PROPERTY_FACTS:
        return Judgement(Outcome.METADATA)
    if change.fact in TYPE_FACTS and old is not None and new is not None:
        return _type(old, new)
    match change.fact:
        case Fact.FIELD_ADDED if new is not None:
            return _added(change.path, new)
        case Fact.FIELD_RENAMED:
            # The number stays; only JSON goes by names.
            return Judgement(
                Outcome.METADATA, "JSON messages identify fields by name", "read these with the old file"
            )
        case Fact.FIELD_MOVED:
            return Judgement(
                Outcome.REFUSED, "a field number is valid in its own message only", NEW_FIELD_HELP
            )
        case Fact.BECAME_OPTIONAL | Fact.BECAME_REQUIRED if new is not None:
            return _presence(change, new)
        case Fact.UNIT_CHANGED:
            if change.old is None or change.new is None:
                return Judgement(Outcome.METADATA)
            return of_another_unit(change)
    return NO_VERDICT


def _added(path: str, new: SchemaField) -> Judgement:
    if new.is_nullable:
        return SAFE
    leaf = leaf_of(new)
    read_value = "nothing" if leaf is None or leaf.is_message else "the default of proto3, such as 0"
    return Judgement(
        Outcome.DATA,
        f"messages that were written have no {path}, and readers find {read_value}",
        "wrap its type in `{kind: Option, inner: …}` to tell them apart",
    )


def _presence(change: Change, new: SchemaField) -> Judgement:
    """Judge a field that may be absent now, or may not any more."""
    is_plain = leaf_of(new) is not None or new.type.family is Family.STRUCT
    if not new.is_member or not is_plain:
        # Items, values, lists and maps that may be absent have a message around them.
        return Judgement(
            Outcome.REFUSED,
            f"Protobuf writes {change.path} in a different form after this change",
            NEW_FIELD_HELP,
        )
    if change.fact is Fact.BECAME_OPTIONAL:
        if leaf_of(new) is None or _is_message(new):
            return SAFE
        reason = f"a default of {change.path} was not written, and is absent now"
        return Judgement(Outcome.DATA, reason, "check for values such as 0 and the empty text")
    return Judgement(Outcome.DATA, f"a null in {change.path} is read as a default", "check for nulls first")


def _is_message(field: SchemaField) -> bool:
    leaf = leaf_of(field)
    return leaf is not None and leaf.is_message


def _type(old: SchemaField, new: SchemaField) -> Judgement:
    written, target = leaf_of(old), leaf_of(new)
    if written is None or target is None:
        return judge_parts("Protobuf", old, new)
    if not _is_readable(written.type, target.type) or castability(old.type, new.type) is Castability.NEVER:
        what = f"Protobuf does not read {written.type} as {target.type} ({new.type.type_text()})"
        if written.type == target.type:
            what = f"values of {old.type.type_text()} are not values of {new.type.type_text()}"
        return Judgement(Outcome.REFUSED, what, NEW_FIELD_HELP)
    if _is_count(old) and not _has_same_unit(old, new):
        return Judgement(
            Outcome.REFUSED, f"what was written counts in the unit of {old.type.type_text()}", NEW_FIELD_HELP
        )
    if castability(old.type, new.type) is Castability.DEPENDS:
        what = f"Protobuf reads it, but {misfit(old.type, new.type)}"
        return Judgement(Outcome.DATA, what, "check the values first")
    return SAFE


def _form(old: SchemaField, new: SchemaField) -> Judgement:
    """Judge another form of a field whose type may be the same."""
    written, target = leaf_of(old), leaf_of(new)
    if written is None or target is None:
        return SAFE
    if not _is_readable(written.type, target.type):
        return Judgement(
            Outcome.REFUSED, f"Protobuf does not read {written.type} as {target.type}", NEW_FIELD_HELP
        )
    before, after = ENUM.read(old.extra) or {}, ENUM.read(new.extra) or {}
    other = [name for name, number in before.items() if after.get(name) != number]
    if written.type == ENUM_TYPE and other:
        return Judgement(
            Outcome.REFUSED,
            f"messages that were written have {other[0]} as {before[other[0]]}",
            "keep the name and the number of every value",
        )
    return SAFE


def _is_readable(written: str, target: str) -> bool:
    are_alike = any({written, target} <= types for types in _ALIKE)
    return written == target or are_alike or (written, target) == ("string", "bytes")


def _is_count(field: SchemaField) -> bool:
    """Whether its values are counts of a unit that only the manifest says."""
    leaf = leaf_of(field)
    is_of_time = field.type.family in (Family.TIME, Family.TIMESTAMP)
    return is_of_time and leaf is not None and leaf.type not in (TIMESTAMP, DURATION)


def _has_same_unit(old: SchemaField, new: SchemaField) -> bool:
    return old.type.family is new.type.family and getattr(old.type, "unit", None) == getattr(
        new.type, "unit", None
    )


JUDGE = Judge(judge, facts=JUDGED_FACTS)
