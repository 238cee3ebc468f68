"""Helps of several judges, and what those of formats of messages share, in which a reader looks for each field by itself.

Layer: evolution.
"""

from schemac.attributes.family import Family
from schemac.evolution.verdict import SAFE, Judgement, Outcome
from schemac.logical.model import LogicalType
from schemac.logical.schema_fields import SchemaField

NEW_FIELD_HELP = "add a field next to it, and fill it"


def make_optional(type_: LogicalType) -> str:
    """Return the help that makes a field of a type optional; it has the whole type if the name of the kind says all."""
    if type_.type_text() == type_.kind:
        return f"make it optional: {{kind: Option, inner: {type_.kind}}}"
    return "make it optional: wrap its type in `{kind: Option, inner: …}`"


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
