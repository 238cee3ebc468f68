"""How values are written in JSON: what a pipeline takes for each type, as bounds, regular expressions and lists.

Layer: engines, below their folders. For engines whose artifacts describe records of JSON.
Shape: the expressions have no anchors, and only what ECMA-262, Python, Java and RE2 have in common: no lookaround, no `\\d`. Dates, times of
      day and timestamps without a zone have their digits from the greatest to the least, so that a pattern tells whether a text is at
      least as late as another one: all up to some digit is the same, and that digit is greater. Zeros at the end may be left out. An
      instant may be written in any zone, and has no such pattern.
Source: the values that a pipeline takes (`schemac/rows/judging/values.py`); `tests/engines/json_records.py` has its verdicts.
"""

from decimal import Decimal

from schemac.language.attributes.arrow import EXTENSION_TYPE
from schemac.language.attributes.attribute import Family
from schemac.language.constraints.constraint import shown
from schemac.language.constraints.field_constraints import Bound, Enum
from schemac.language.kinds.sequences import Binary
from schemac.language.kinds.temporal import FRACTION_DIGITS, PER_SECOND
from schemac.language.logical.model import LogicalType
from schemac.rows.judging import values
from schemac.text.source.json_object import Json, in_order

_YEAR = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DAY = "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
DATE = f"(?:{_YEAR}-{_DAY}|{_LEAP_YEAR}-02-29)"
"""A day of the years 0001 to 9999 that the calendar has."""
OFFSET = "(?:[Zz]|[+-](?:(?:0[0-9]|1[0-7])(?::?[0-5][0-9])?|18(?::?00)?))"
"""An offset from UTC, at most 18 hours."""
_MINUTE = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"

NUMBER, NOT_FINITE, UUID = values.NUMBER.pattern, values.NOT_FINITE.pattern, values.UUID_FORM.pattern
"""A number as the key of a map, which JSON has as text; and a UUID."""
BOOLEAN = "[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]"

FLOAT_LIMITS = {16: Decimal("65519.998046875"), 32: Decimal(2**128 - 2**103)}
"""By bits, the first number that rounds to infinity, for 16 bits by way of a single; that of 64 bits is none itself."""
LARGEST_DOUBLE = 1.7976931348623157e308


UUID_TYPE: Json = {
    "kind": Binary.__name__,
    "fixedLength": 16,
    "extra": {EXTENSION_TYPE.key: {"name": "arrow.uuid"}},
}


def timestamp(unit: str, zone: str) -> str:
    """Return the texts of timestamps in one of Arrow's units, with the form of their zone; a fraction may have zeros behind the digits of the unit."""
    return f"{DATE}[Tt ]{_MINUTE}(?::[0-5][0-9](?:[.,][0-9]{{0,{FRACTION_DIGITS[unit]}}}0*)?)?{zone}"


def time_of_day(unit: str) -> str:
    """Return the texts of times of day in one of Arrow's units."""
    return rf"{_MINUTE}(?::[0-5][0-9](?:\.[0-9]{{0,{FRACTION_DIGITS[unit]}}}0*)?)?"


def base64(length: int | None) -> str:
    """Return the texts of binaries, of any length or of one in bytes."""
    alphabet = "[A-Za-z0-9+/]"
    if length is None:
        return f"(?:{alphabet}{{4}})*(?:{alphabet}{{2}}==|{alphabet}{{3}}=)?"
    padding = -length % 3
    return f"{alphabet}{{{(length + padding) // 3 * 4 - padding}}}{'=' * padding}"


def integer_bounds(bits: int, *, is_signed: bool) -> tuple[int, int]:
    """Return the lowest and the highest integer of a width."""
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else (0, 2**bits - 1)


def own_tree(type_: LogicalType) -> Json:
    """Return a type as a manifest writes it, without its parts and their attributes, and without what is a default anyway."""
    # Not by `exclude_defaults`, which leaves the kind out of a type that is a property of another one.
    defaults = {
        name: info.get_default(call_default_factory=True) for name, info in type(type_).model_fields.items()
    }
    changed = {name for name, default in defaults.items() if getattr(type_, name) != default}
    properties = type_.model_dump(mode="json", by_alias=True, include=changed)
    own = {key: in_order(value) for key, value in properties.items() if key not in _PARTS}
    return {"kind": str(type_.kind), **own}


_PARTS = frozenset({"itemType", "keyType", "valueType", "fields", "extra"})


_SECONDS_A_DAY = 86400
_LAST_DAY = 2932896
"""9999-12-31, in days since 1970."""


def bound_keywords(constraint: Bound) -> Json | None:
    """Return the JSON Schema keywords of a bound; None for a type whose texts have no order."""
    type_, limit = constraint.type, constraint.limit
    if not _has_ordered_texts(type_):
        return None
    assert isinstance(limit, int)
    # "Greater than" and "at most" are about the value behind the limit.
    first = limit + (constraint.is_lower == constraint.is_exclusive)
    text = _shortest(type_, first)
    if constraint.is_lower:
        return {"pattern": _at_least_pattern(type_, text) if text is not None else "^$"}
    return {"not": {"type": "string", "pattern": _at_least_pattern(type_, text)}} if text is not None else {}


def enum_keywords(constraint: Enum) -> Json | None:
    """Return the JSON Schema keywords of an enumeration; None for a type whose values have no patterns."""
    type_ = constraint.type
    if type_.family is Family.DATE:
        return {"enum": [shown(type_, value) for value in constraint.values]}
    if not _has_ordered_texts(type_):
        return None
    texts = [_shortest(type_, value) for value in constraint.values if isinstance(value, int)]
    return {"pattern": f"^(?:{'|'.join(_spellings_of(type_, text) for text in texts if text is not None)})$"}


def _has_ordered_texts(type_: LogicalType) -> bool:
    """Whether the JSON texts of a type can be compared digit by digit: dates, times, timestamps without a zone."""
    if type_.family is Family.TIMESTAMP:
        return getattr(type_, "timezone", None) is None
    return type_.family in (Family.DATE, Family.TIME)


def _shortest(type_: LogicalType, value: int) -> str | None:
    """Return the shortest text of a value, without zeros that may be left out; None for a value after the last day."""
    per_day = 1 if type_.family is Family.DATE else _SECONDS_A_DAY * PER_SECOND[getattr(type_, "unit")]  # noqa: B009  of the family
    if value // per_day > (0 if type_.family is Family.TIME else _LAST_DAY):
        return None
    text = shown(type_, value)
    if type_.family is Family.DATE:
        return text
    return text.rstrip("0") if "." in text else text.removesuffix(":00")


def _at_least_pattern(type_: LogicalType, text: str) -> str:
    """Return the pattern of the texts that are at least as late as one."""
    greater = [
        f"{_prefix_pattern(type_, text[:i])}{'9' if digit == '8' else f'[{int(digit) + 1}-9]'}"
        for i, digit in enumerate(text)
        if digit.isdigit() and digit != "9"
    ]
    return f"^(?:{'|'.join([*greater, _prefix_pattern(type_, text)])})"


def _spellings_of(type_: LogicalType, text: str) -> str:
    """Return a pattern of all spellings of a value, whose trailing zeros and zero seconds may be absent."""
    written = _prefix_pattern(type_, text)
    if "." in text:
        return f"{written}0*"
    point = _prefix_pattern(type_, ".")
    has_seconds = text.count(":") == 2
    return f"{written}(?:{point}0*)?" if has_seconds else f"{written}(?::00(?:{point}0*)?)?"


def _prefix_pattern(type_: LogicalType, text: str) -> str:
    """Return the pattern of the start of a text: a `T` and a point may be written otherwise in timestamps."""
    if type_.family is Family.TIMESTAMP:
        return text.replace("T", "[Tt ]").replace(".", "[.,]")
    return text.replace(".", r"\.")
