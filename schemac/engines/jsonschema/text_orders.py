"""Bounds and lists of values that are texts with an order: dates, times of day, timestamps without a zone.

Layer: engines.
Shape: such a text has its digits from the greatest to the least, so that a pattern tells whether it is at least as late as
another one: all up to some digit is the same, and that digit is greater. Zeros at the end may be left out. Keywords for texts
that are of the type; the pattern of the type says which ones are. An instant may be written in any zone, and has no such pattern.
"""

from schemac.language.attributes.attribute import Family
from schemac.language.constraints.field_constraints import Bound, Enum
from schemac.language.constraints.values import shown
from schemac.language.kinds.answers import PER_SECOND
from schemac.language.logical.model import LogicalType
from schemac.text.source.json_object import Json

_DAY = 86400
_LAST_DAY = 2932896
"""9999-12-31, in days since 1970."""


def bound(constraint: Bound) -> Json | None:
    """Return the keywords of a bound; None for a type without such texts."""
    type_, limit = constraint.type, constraint.limit
    if not _has_order(type_):
        return None
    assert isinstance(limit, int)
    # "Greater than" and "at most" are about the value behind the limit.
    first = limit + (constraint.is_lower == constraint.is_exclusive)
    text = _shortest(type_, first)
    if constraint.is_lower:
        return {"pattern": _at_least(type_, text) if text is not None else "^$"}
    return {"not": {"type": "string", "pattern": _at_least(type_, text)}} if text is not None else {}


def among(constraint: Enum) -> Json | None:
    """Return the keywords of the only values; None for a type without such texts."""
    type_ = constraint.type
    if type_.family is Family.DATE:
        return {"enum": [shown(type_, value) for value in constraint.values]}
    if not _has_order(type_):
        return None
    texts = [_shortest(type_, value) for value in constraint.values if isinstance(value, int)]
    return {"pattern": f"^(?:{'|'.join(_same(type_, text) for text in texts if text is not None)})$"}


def _has_order(type_: LogicalType) -> bool:
    if type_.family is Family.TIMESTAMP:
        return getattr(type_, "timezone", None) is None
    return type_.family in (Family.DATE, Family.TIME)


def _shortest(type_: LogicalType, value: int) -> str | None:
    """Return a value without the zeros that may be left out; None for one behind the last."""
    per_day = 1 if type_.family is Family.DATE else _DAY * PER_SECOND[getattr(type_, "unit")]  # noqa: B009  of the family
    if value // per_day > (0 if type_.family is Family.TIME else _LAST_DAY):
        return None
    text = shown(type_, value)
    if type_.family is Family.DATE:
        return text
    if _has_fraction(text):
        return text.rstrip("0")
    return text.removesuffix(":00")


def _has_fraction(text: str) -> bool:
    return "." in text


def _at_least(type_: LogicalType, text: str) -> str:
    greater = [
        f"{_prefix_pattern(type_, text[:i])}{_above(int(digit))}"
        for i, digit in enumerate(text)
        if digit.isdigit() and digit != "9"
    ]
    return f"^(?:{'|'.join([*greater, _prefix_pattern(type_, text)])})"


def _above(digit: int) -> str:
    return "9" if digit == 8 else f"[{digit + 1}-9]"


def _same(type_: LogicalType, text: str) -> str:
    written = _prefix_pattern(type_, text)
    if _has_fraction(text):
        return f"{written}0*"
    point = _prefix_pattern(type_, ".")
    has_seconds = text.count(":") == 2
    return f"{written}(?:{point}0*)?" if has_seconds else f"{written}(?::00(?:{point}0*)?)?"


def _prefix_pattern(type_: LogicalType, text: str) -> str:
    """Return the pattern of the start of a text: a `T` and a point may be written otherwise in timestamps."""
    if type_.family is Family.TIMESTAMP:
        return text.replace("T", "[Tt ]").replace(".", "[.,]")
    return text.replace(".", r"\.")
