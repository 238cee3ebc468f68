"""What changed from one type to another.

Layer: evolution.
Shape: facts with the old and the new type text; several where several properties changed, none for equal types. Parts
are fields of their own and not looked at.
"""

from collections.abc import Iterator
from typing import Any

from schemac.attributes.family import NUMBERS, TEMPORAL, Family
from schemac.evolution.changes import Fact

TypeFact = tuple[Fact, Any, Any]


def type_facts(old: Any, new: Any) -> Iterator[TypeFact]:
    """Yield the facts that lead from one type to the other."""
    if old.kind != new.kind:
        yield (_between_kinds(old, new), old.type_text(), new.type_text())
        return
    for fact in old.facts(new):
        if fact is Fact.SORTED_KEYS_CHANGED:
            # The type text does not tell it.
            yield (fact, bool(old.keys_sorted), bool(new.keys_sorted))
        else:
            yield (fact, old.type_text(), new.type_text())


def _between_kinds(old: Any, new: Any) -> Fact:
    families = {old.family, new.family}
    if families == {Family.INTEGER}:
        if old.is_signed == new.is_signed or (not old.is_signed and new.bits > old.bits):
            return Fact.INTEGER_WIDENED if new.bits > old.bits else Fact.INTEGER_NARROWED
        return Fact.SIGN_CHANGED
    if families == {Family.FLOAT}:
        return Fact.FLOAT_WIDENED if new.bits > old.bits else Fact.FLOAT_NARROWED
    if families <= NUMBERS | {Family.DECIMAL}:
        return Fact.NUMBER_FAMILY_CHANGED
    if families <= TEMPORAL:
        return Fact.TEMPORAL_TYPE_CHANGED
    if families == {Family.TEXT, Family.BYTES}:
        return Fact.TEXT_AND_BYTES_SWAPPED
    return Fact.TYPE_REPLACED
