"""What a change means for messages of Protobuf that were written, by the rules of its wire format.

Layer: engines.
Shape: messages are read with the new file. Fields are found by number, which the lock keeps; what is not there is null, or the default
of proto3.
Source: the language guide of proto3, "Updating A Message Type"; asked of protobuf's own library and of buf
(`tests/engines/protobuf/test_evolution.py`).
"""

from schemac.engines.protobuf.attributes import ENUM_NUMBERS, TYPE
from schemac.engines.protobuf.types import ENUM_TYPE, TIMESTAMP, leaf_of
from schemac.language.attributes.attribute import Family
from schemac.language.logical.facts import Fact
from schemac.language.logical.model import Castability
from schemac.versions.evolution import changes, judge
from schemac.versions.evolution.castability import castability

_ALIKE = (
    frozenset({"bool", "int32", "int64", "uint32", "uint64", ENUM_TYPE}),
    frozenset({"sint32", "sint64"}),
    frozenset({"fixed32", "sfixed32"}),
    frozenset({"fixed64", "sfixed64"}),
)
"""Types that are written alike, so that each is read as any other; what does not fit is cut off."""


def _added(change: changes.Change, _pair: object) -> changes.Judgement:
    """Return SAFE for a field that may be null, else DATA: old messages read as the default of proto3."""
    new = change.current_field
    if new.is_nullable:
        return changes.SAFE
    leaf = leaf_of(new)
    read_value = "nothing" if leaf is None or leaf.is_message else "the default of proto3, such as 0"
    reason = f"messages that were written have no {change.path}, and readers find {read_value}"
    return changes.depends_on_data(reason, "wrap its type in `{kind: Option, inner: …}` to tell them apart")


def _presence(change: changes.Change, _pair: object) -> changes.Judgement:
    """Judge a field that may be absent now, or may not any more."""
    new = change.current_field
    leaf = leaf_of(new)
    is_plain = leaf is not None or new.type.family is Family.STRUCT
    if not new.is_member or not is_plain:
        # Items, values, lists and maps that may be absent have a message around them.
        return changes.refused(
            f"Protobuf writes {change.path} in a different form after this change", judge.NEW_FIELD_HELP
        )
    if change.fact is Fact.BECAME_OPTIONAL:
        if leaf is None or leaf.is_message:
            return changes.SAFE
        reason = f"a default of {change.path} was not written, and is absent now"
        return changes.depends_on_data(reason, "check for values such as 0 and the empty text")
    return changes.depends_on_data(f"a null in {change.path} is read as a default", "check for nulls first")


def _type(change: changes.Change, _pair: object) -> changes.Judgement:
    """Return the verdict by Protobuf's wire format; refuse what it does not read, and another unit or kind."""
    old, new = change.fields
    written, target = leaf_of(old), leaf_of(new)
    if written is None or target is None:
        return judge.judge_parts("Protobuf", old, new)
    if not _is_readable(written.type, target.type) or castability(old.type, new.type) is Castability.NEVER:
        what = f"Protobuf does not read {written.type} as {target.type} ({new.type.type_text()})"
        if written.type == target.type:
            what = f"values of {old.type.type_text()} are not values of {new.type.type_text()}"
        return changes.refused(what, judge.NEW_FIELD_HELP)
    # Some are counts of a unit that only the manifest has.
    if old.type.family in (Family.TIME, Family.TIMESTAMP) and written.type != TIMESTAMP:
        return changes.refused(
            f"what was written counts in the unit of {old.type.type_text()}", judge.NEW_FIELD_HELP
        )
    if target.type == ENUM_TYPE:
        reason = "Protobuf reads it, but numbers without a name in the enum are not texts"
        return changes.depends_on_data(reason, "check the values first")
    return judge.judge_values("Protobuf", old, new)


def _form(change: changes.Change, _pair: object) -> changes.Judgement:
    """Judge an attribute; two of them give another form to a field whose type may be the same."""
    if change.key not in (TYPE.key, ENUM_NUMBERS.key):
        return changes.METADATA
    old, new = change.fields
    written, target = leaf_of(old), leaf_of(new)
    if written is None or target is None:
        return changes.SAFE
    if not _is_readable(written.type, target.type):
        reason = f"Protobuf does not read {written.type} as {target.type}"
        return changes.refused(reason, judge.NEW_FIELD_HELP)
    before, after = ENUM_NUMBERS.read(old.extra) or {}, ENUM_NUMBERS.read(new.extra) or {}
    other = [name for name, number in before.items() if after.get(name) != number]
    if other:
        reason = f"messages that were written have {other[0]} as {before[other[0]]}"
        return changes.refused(reason, "keep the name and the number of every value")
    return changes.SAFE


def _is_readable(written: str, target: str) -> bool:
    """Whether Protobuf reads values of one type as those of another, by their form on the wire."""
    are_alike = any({written, target} <= types for types in _ALIKE)
    return written == target or are_alike or (written, target) == ("string", "bytes")


JUDGE = judge.Judge(
    {
        **judge.RULES_OF_MESSAGES,
        **dict.fromkeys(changes.ATTRIBUTE_FACTS, _form),
        **dict.fromkeys(changes.TYPE_FACTS, _type),
        **dict.fromkeys((Fact.BECAME_OPTIONAL, Fact.BECAME_REQUIRED), _presence),
        Fact.FIELD_ADDED: _added,
        # The number stays; only JSON goes by names.
        Fact.FIELD_RENAMED: changes.Judgement(
            changes.Outcome.METADATA, "JSON messages identify fields by name", "read these with the old file"
        ),
        Fact.FIELD_MOVED: changes.refused(
            "a field number is valid in its own message only", judge.NEW_FIELD_HELP
        ),
    }
)
