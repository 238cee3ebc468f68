"""What the judges of formats of messages share: those in which a reader looks for each field by itself.

Layer: evolution.
"""

from schemac.attributes.family import Family
from schemac.evolution.verdict import SAFE, Judgement, Outcome
from schemac.logical.schema_fields import SchemaField

NEW_FIELD_HELP = "add a field next to it, and fill it"


def judge_parts(format_title: str, old: SchemaField, new: SchemaField) -> Judgement:
    """Judge a type with parts; what changes in its parts is a change of its own."""
    families = {old.type.family, new.type.family}
    if families == {Family.LIST}:
        if getattr(new.type, "fixed_length", None) is None:
            return SAFE
        reason = f"{format_title} reads lists of any length"
        return Judgement(Outcome.DATA, reason, "check their lengths first")
    if families == {Family.MAP}:
        return Judgement(Outcome.METADATA)
    reason = f"{format_title} does not read {old.type.type_text()} as {new.type.type_text()}"
    return Judgement(Outcome.REFUSED, reason, NEW_FIELD_HELP)
