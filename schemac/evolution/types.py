"""What changed from one type to another.

Layer: evolution.
Shape: facts with the old and the new title; several where several properties changed, none for equal types. Children
are fields of their own and not looked at.
"""

from collections.abc import Iterator
from typing import Any

from schemac.evolution.changes import Fact
from schemac.kinds.units import ARROW_UNITS

TypeFact = tuple[Fact, Any, Any]

_INTEGERS = {f"{sign}Int{bits}": (sign, bits) for sign in ("", "U") for bits in (8, 16, 32, 64)}
_FLOATS = {"Float16": 16, "Float32": 32, "Float64": 64}
_NUMBERS = frozenset({*_INTEGERS, *_FLOATS, "Decimal"})
_TEMPORAL = frozenset({"Date", "Time", "Timestamp", "Duration"})
_TEXTS = frozenset({"String", "Binary"})
_UNITS = list(ARROW_UNITS)


def type_facts(old: Any, new: Any) -> Iterator[TypeFact]:
    """The facts that lead from one type to the other."""
    if old.kind != new.kind:
        yield (_between_kinds(old.kind, new.kind), old.title(), new.title())
        return
    find = _WITHIN.get(new.kind)
    if find is not None:
        for fact in find(old, new):
            if fact is Fact.SORTED_KEYS_CHANGED:
                # The title does not tell it.
                yield (fact, bool(old.keys_sorted), bool(new.keys_sorted))
            else:
                yield (fact, old.title(), new.title())


def _between_kinds(old: str, new: str) -> Fact:
    if old in _INTEGERS and new in _INTEGERS:
        (old_sign, old_bits), (new_sign, new_bits) = _INTEGERS[old], _INTEGERS[new]
        if old_sign == new_sign or (old_sign == "U" and new_bits > old_bits):
            return Fact.INTEGER_WIDENED if new_bits > old_bits else Fact.INTEGER_NARROWED
        return Fact.SIGN_CHANGED
    if old in _FLOATS and new in _FLOATS:
        return Fact.FLOAT_WIDENED if _FLOATS[new] > _FLOATS[old] else Fact.FLOAT_NARROWED
    if old in _NUMBERS and new in _NUMBERS:
        return Fact.NUMBER_FAMILY_CHANGED
    if old in _TEMPORAL and new in _TEMPORAL:
        return Fact.TEMPORAL_TYPE_CHANGED
    if old in _TEXTS and new in _TEXTS:
        return Fact.TEXT_AND_BYTES_SWAPPED
    return Fact.TYPE_REPLACED


def _decimal(old: Any, new: Any) -> Iterator[Fact]:
    if old.precision != new.precision:
        yield Fact.PRECISION_RAISED if new.precision > old.precision else Fact.PRECISION_LOWERED
    if old.scale != new.scale:
        yield Fact.SCALE_RAISED if new.scale > old.scale else Fact.SCALE_LOWERED


def _unit(old: Any, new: Any) -> Iterator[Fact]:
    if old.unit != new.unit:
        is_finer = _UNITS.index(new.unit) > _UNITS.index(old.unit)
        yield Fact.TIME_UNIT_REFINED if is_finer else Fact.TIME_UNIT_COARSENED


def _timestamp(old: Any, new: Any) -> Iterator[Fact]:
    yield from _unit(old, new)
    if old.timezone != new.timezone:
        yield (
            Fact.ZONE_ADDED
            if old.timezone is None
            else Fact.ZONE_REMOVED
            if new.timezone is None
            else Fact.ZONE_CHANGED
        )


def _binary(old: Any, new: Any) -> Iterator[Fact]:
    if old.fixed_length != new.fixed_length:
        yield Fact.BYTE_LENGTH_CHANGED


def _list(old: Any, new: Any) -> Iterator[Fact]:
    if old.fixed_length != new.fixed_length:
        yield (
            Fact.LIST_SIZE_FIXED
            if old.fixed_length is None
            else Fact.LIST_SIZE_FREED
            if new.fixed_length is None
            else Fact.LIST_SIZE_CHANGED
        )


def _map(old: Any, new: Any) -> Iterator[Fact]:
    if bool(old.keys_sorted) != bool(new.keys_sorted):
        yield Fact.SORTED_KEYS_CHANGED


_WITHIN = {
    "Decimal": _decimal,
    "Time": _unit,
    "Duration": _unit,
    "Timestamp": _timestamp,
    "Binary": _binary,
    "List": _list,
    "Map": _map,
}
