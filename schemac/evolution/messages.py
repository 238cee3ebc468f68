"""Helps of several judges, and what those of formats of messages share, in which a reader looks for each field by itself.

Layer: evolution.
"""

from collections.abc import Mapping

from schemac.attributes.family import Family
from schemac.evolution.castability import castability, misfit
from schemac.evolution.changes import DATASET_FACTS, PROPERTY_FACTS, Fact
from schemac.evolution.constraints import TIGHTENED, tightened
from schemac.evolution.judge import Rule
from schemac.evolution.verdict import METADATA, SAFE, Judgement, Outcome, of_another_unit
from schemac.logical.castability import Castability
from schemac.logical.facts import AnyFact
from schemac.logical.model import LogicalType
from schemac.logical.schema_fields import SchemaField

NEW_FIELD_HELP = "add a field next to it, and fill it"
RULES_OF_MESSAGES: Mapping[AnyFact, Rule | Judgement] = {
    **dict.fromkeys(PROPERTY_FACTS, METADATA),
    **dict.fromkeys(DATASET_FACTS, SAFE),
    **dict.fromkeys(TIGHTENED, tightened),
    **dict.fromkeys((Fact.FIELD_DROPPED, Fact.FIELDS_REORDERED), SAFE),
    Fact.UNIT_CHANGED: of_another_unit,
}
"""The rows that all of these formats have in their tables."""


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


def judge_values(format_title: str, old: SchemaField, new: SchemaField) -> Judgement:
    """Judge the values of a type without parts that a reader takes for those of another."""
    if castability(old.type, new.type) is not Castability.DEPENDS:
        return SAFE
    reason = f"{format_title} reads it, but {misfit(old.type, new.type)}"
    return Judgement(Outcome.DATA, reason, "check the values first")
