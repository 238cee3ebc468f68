"""Whether the values of one type fit another.

Layer: evolution.
Shape: about one level of a type; items, keys, values and members are fields of their own.
Shape of the rule: a value fits if the new value, brought back, is the old one; NaN is equal to itself, and -0.0 to 0.
Source: what Arrow's safe cast does, asked for every pair of types (`tests/conformance/test_verdicts.py`), and exact arithmetic
(`tests/conformance/test_values.py`).
"""

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from schemac.kinds.units import ARROW_UNITS
from schemac.logical.model import LogicalType


class Fit(IntEnum):
    """From the best to the worst."""

    EQUAL = 0
    """The same values."""
    LOSSLESS = 1
    """Every value has its like in the new type."""
    DEPENDS = 2
    """Some values do not fit, or lose digits."""
    NEVER = 3
    """There is no way from one to the other."""


_SIGNED = {"Int8": 7, "Int16": 15, "Int32": 31, "Int64": 63}
_UNSIGNED = {"UInt8": 8, "UInt16": 16, "UInt32": 32, "UInt64": 64}
_INTEGERS = {**_SIGNED, **_UNSIGNED}
_DIGITS = {7: 3, 8: 3, 15: 5, 16: 5, 31: 10, 32: 10, 63: 19, 64: 20}
_MANTISSA = {"Float16": 11, "Float32": 24, "Float64": 53}
_UNITS = list(ARROW_UNITS)
_REACH = {
    "Second": "292 billion years",
    "Millisecond": "292 million years",
    "Microsecond": "the years -290308 to 294247",
    "Nanosecond": "the years 1677 to 2262",
}


def fit(old: LogicalType, new: LogicalType) -> Fit:
    """How values of the old type fit the new one."""
    if old.kind == new.kind:
        within = _WITHIN.get(old.kind)
        if within is not None:
            return within(old, new)
        return Fit.EQUAL if old.kind in _ALWAYS_ALIKE or old == new else Fit.NEVER
    if old.kind == "Null":
        return Fit.LOSSLESS
    if new.kind == "Null" or old.parts() or new.parts():
        return Fit.NEVER
    return _between(old, new)


def can_be_rounded(old: Any, new: Any) -> bool:
    """Whether values that do not fit may have a nearest one that does."""
    if fit(old, new) is not Fit.DEPENDS:
        return False
    if new.kind in ("Timestamp", "Date", "Time", "Duration"):
        is_cut = old.kind == new.kind and _is_refined(new, old)
        return is_cut or (old.kind == "Timestamp" and new.kind == "Date")
    if new.kind == "Decimal":
        return old.kind not in _INTEGERS
    if new.kind in _MANTISSA:
        return old.kind in (*_INTEGERS, *_MANTISSA, "Decimal", "String")
    return new.kind in _INTEGERS and old.kind in (*_MANTISSA, "Decimal")


def is_lossless_by_calendar(old: Any, new: Any) -> bool:
    """Whether all moments of the years 1 to 9999 fit, and only what lies beyond may not."""
    if old.kind not in ("Date", "Timestamp") or getattr(old, "timezone", None) not in (None, "UTC"):
        return False
    if new.kind == "String":
        return True
    is_finer = old.kind == "Date" or _is_refined(old, new)
    has_no_clock = new.kind == "Timestamp" and new.timezone == getattr(old, "timezone", None)
    return is_finer and has_no_clock and new.unit != "Nanosecond"


def misfit(old: Any, new: Any) -> str:
    """What may be wrong with values of the old type, where it depends on them."""
    return why_misfit(old, new) or f"some values of {old.title()} may not fit {new.title()}"


def why_misfit(old: Any, new: Any) -> str:
    """The same where there is more to say than that they do not fit; else empty."""
    if old.kind == new.kind == "Timestamp" and (old.timezone is None) != (new.timezone is None):
        return "a reading of a clock without a zone is an instant only where it is known what clock that was"
    if old.kind == new.kind == "Map":
        return "the keys of a map may stand in any order"
    if old.kind == "Timestamp" and new.kind == "Time":
        return "a Time has no day, so only times of 1970-01-01 fit"
    if old.kind == "Timestamp" and new.kind == "Date":
        return "only midnights fit"
    if old.kind in ("Date", "Timestamp") and new.kind == "String":
        return "years before 1 or after 9999 cannot be written, nor offsets with seconds"
    if new.kind == "Timestamp" and (old.kind == "Date" or _is_refined(old, new)):
        return f"{new.title()} reaches {_REACH[new.unit]} only"
    if old.kind == new.kind == "Duration" and _is_refined(old, new):
        return f"{new.title()} holds 2⁶³ of its units only"
    return ""


def _between(old: Any, new: Any) -> Fit:
    """Two plain types of different kinds."""
    if new.kind == "String":
        return _to_text(old)
    if old.kind in _INTEGERS:
        return _from_integer(old.kind, new)
    if old.kind in _MANTISSA:
        return _from_float(old.kind, new)
    if old.kind == "Decimal":
        return _from_decimal(old, new)
    if old.kind == "Bool":
        return Fit.LOSSLESS if new.kind in (*_INTEGERS, "Float32", "Float64") else Fit.NEVER
    if old.kind in ("Date", "Timestamp"):
        return _from_moment(old, new)
    if old.kind == "String":
        return _from_text(new)
    return Fit.NEVER


def _to_text(old: Any) -> Fit:
    """Every value can be written down; bytes only where they are UTF-8, and moments where a calendar has them."""
    if old.kind == "Timestamp":
        # Clocks of old were ahead of UTC by odd seconds, for which offsets have no digits.
        is_written = old.unit == "Nanosecond" and old.timezone in (None, "UTC")
        return Fit.LOSSLESS if is_written else Fit.DEPENDS
    if old.kind in (*_INTEGERS, *_MANTISSA, "Decimal", "Bool", "Time", "Duration"):
        return Fit.LOSSLESS
    return Fit.DEPENDS if old.kind in ("Binary", "Date") else Fit.NEVER


def _from_integer(kind: str, new: Any) -> Fit:
    bits = _INTEGERS[kind]
    if new.kind in _INTEGERS:
        has_sign = new.kind in _SIGNED or kind in _UNSIGNED
        return Fit.LOSSLESS if has_sign and _INTEGERS[new.kind] >= bits else Fit.DEPENDS
    if new.kind in _MANTISSA:
        return Fit.LOSSLESS if _MANTISSA[new.kind] >= bits else Fit.DEPENDS
    if new.kind == "Decimal":
        # Arrow looks at the types alone: there has to be room for every integer of this width.
        has_room = new.scale >= 0 and new.precision - new.scale >= _DIGITS[bits]
        return Fit.LOSSLESS if has_room else Fit.NEVER
    return Fit.DEPENDS if new.kind == "Bool" else Fit.NEVER


def _from_float(kind: str, new: Any) -> Fit:
    if new.kind in _MANTISSA:
        return Fit.LOSSLESS if _MANTISSA[new.kind] > _MANTISSA[kind] else Fit.DEPENDS
    if new.kind == "Decimal":
        return Fit.NEVER if kind == "Float16" else Fit.DEPENDS
    if new.kind == "Bool":
        return Fit.NEVER if kind == "Float16" else Fit.DEPENDS
    return Fit.DEPENDS if new.kind in _INTEGERS else Fit.NEVER


def _from_decimal(old: Any, new: Any) -> Fit:
    is_whole = old.scale <= 0
    if new.kind in _INTEGERS:
        has_room = new.kind in _SIGNED and 10 ** (old.precision - old.scale) <= 2 ** _INTEGERS[new.kind]
        return Fit.LOSSLESS if is_whole and has_room else Fit.DEPENDS
    if new.kind in ("Float32", "Float64"):
        # The powers of two in 10ⁿ take none of the mantissa.
        has_room = 10**old.precision * 5**-old.scale <= 2 ** _MANTISSA[new.kind]
        return Fit.LOSSLESS if is_whole and has_room else Fit.DEPENDS
    return Fit.NEVER


def _from_moment(old: Any, new: Any) -> Fit:
    if old.kind == "Date" and new.kind == "Timestamp":
        # Clocks that are put forward at midnight have days without one.
        has_midnights = new.timezone in (None, "UTC")
        return Fit.LOSSLESS if has_midnights and new.unit in ("Second", "Millisecond") else Fit.DEPENDS
    return Fit.DEPENDS if old.kind == "Timestamp" and new.kind in ("Date", "Time") else Fit.NEVER


def _from_text(new: Any) -> Fit:
    if new.kind == "Binary":
        return Fit.LOSSLESS if new.fixed_length is None else Fit.DEPENDS
    if new.kind == "Decimal":
        return Fit.NEVER if new.scale < 0 else Fit.DEPENDS
    return Fit.DEPENDS if new.kind in (*_INTEGERS, *_MANTISSA, "Bool", "Date", "Timestamp") else Fit.NEVER


def _decimal(old: Any, new: Any) -> Fit:
    if (old.precision, old.scale) == (new.precision, new.scale):
        return Fit.EQUAL
    has_room = new.precision - new.scale >= old.precision - old.scale and new.scale >= old.scale
    return Fit.LOSSLESS if has_room else Fit.DEPENDS


def _unit(old: Any, new: Any) -> Fit:
    if old.unit == new.unit:
        return Fit.EQUAL
    # A finer unit does not reach as far; a time of day is always within reach.
    return Fit.LOSSLESS if _is_refined(old, new) and new.kind == "Time" else Fit.DEPENDS


def _is_refined(old: Any, new: Any) -> bool:
    return old.kind == new.kind and _UNITS.index(new.unit) > _UNITS.index(old.unit)


def _timestamp(old: Any, new: Any) -> Fit:
    """Between zones an instant stays what it is; from none to one, a reading of a clock becomes an instant."""
    unit = _unit(old, new)
    if old.timezone == new.timezone:
        return unit
    if old.timezone is None or new.timezone is None:
        return max(unit, Fit.DEPENDS)
    return max(unit, Fit.LOSSLESS)


def _length(old: Any, new: Any) -> Fit:
    if old.fixed_length == new.fixed_length:
        return Fit.EQUAL
    if new.fixed_length is None:
        return Fit.LOSSLESS
    return Fit.DEPENDS if old.fixed_length is None else Fit.NEVER


def _map(old: Any, new: Any) -> Fit:
    if bool(old.keys_sorted) == bool(new.keys_sorted):
        return Fit.EQUAL
    return Fit.LOSSLESS if old.keys_sorted else Fit.DEPENDS


_WITHIN: dict[str, Callable[[Any, Any], Fit]] = {
    "Decimal": _decimal,
    "Time": _unit,
    "Duration": _unit,
    "Timestamp": _timestamp,
    "Binary": _length,
    "List": _length,
    "Map": _map,
}
_ALWAYS_ALIKE = frozenset({*_INTEGERS, *_MANTISSA, "Bool", "Date", "Null", "String", "Struct"})
"""Kinds without properties that decide about values; the members of a struct are fields of their own."""
