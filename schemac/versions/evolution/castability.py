"""Whether the values of one type fit another type, and whether arrays of one layout are cast to another.

Layer: versions.
Shape: one level of a type; items, keys, values and members are fields of their own. A value fits if converting it back
gives the old value; NaN is equal to itself, and -0.0 to 0.
Source: Arrow's safe cast and `pyarrow.dataset`, asked for every pair of types and layouts
(`tests/conformance/test_verdicts.py`), and exact arithmetic (`tests/conformance/test_values.py`).
"""

from itertools import product
from typing import Any

from schemac.language.attributes.arrow import read_hints
from schemac.language.attributes.attribute import NUMBERS, TEMPORAL, Family
from schemac.language.kinds.temporal import is_finer
from schemac.language.logical.model import Castability, SchemaField

_REACH = {
    "Second": "292 billion years",
    "Millisecond": "292 million years",
    "Microsecond": "the years -290308 to 294247",
    "Nanosecond": "the years 1677 to 2262",
}


def castability(old: Any, new: Any) -> Castability:
    """Return how well values of the old type fit the new one; they do not fit if the table has no entry for both families."""
    if old.kind == new.kind:
        within_kind: Castability = old.castability(new)
        return within_kind
    if old.family is Family.NULL:
        return Castability.LOSSLESS
    entry = _BETWEEN.get((old.family, new.family))
    if entry is None:
        return Castability.NEVER
    match old.family, new.family:
        case Family.INTEGER, Family.INTEGER:
            has_room = (new.is_signed or not old.is_signed) and _value_bits(new) >= _value_bits(old)
        case Family.INTEGER, Family.FLOAT:
            has_room = new.mantissa >= _value_bits(old)
        case Family.INTEGER, Family.DECIMAL:
            # Arrow looks at the types alone: there has to be room for every integer of this width.
            digits = len(str(2 ** _value_bits(old)))
            has_room = new.scale >= 0 and new.precision - new.scale >= digits
        case Family.FLOAT, Family.FLOAT:
            has_room = new.mantissa > old.mantissa
        case Family.DECIMAL, Family.INTEGER:
            has_room = (
                old.scale <= 0
                and new.is_signed
                and 10 ** (old.precision - old.scale) <= 2 ** _value_bits(new)
            )
        case Family.DECIMAL, Family.FLOAT if new.bits != 16:
            # The powers of two in 10ⁿ take none of the mantissa.
            has_room = old.scale <= 0 and 10**old.precision * 5**-old.scale <= 2**new.mantissa
        case Family.TIMESTAMP, Family.TEXT:
            # Clocks of old were ahead of UTC by odd seconds, for which offsets have no digits.
            has_room = old.unit == "Nanosecond" and old.timezone in (None, "UTC")
        case Family.DATE, Family.TIMESTAMP:
            # Clocks that are put forward at midnight have days without one.
            has_room = new.timezone in (None, "UTC") and new.unit in ("Second", "Millisecond")
        case Family.TEXT, Family.BYTES:
            has_room = new.fixed_length is None
        case (Family.FLOAT, Family.DECIMAL | Family.BOOLEAN) if old.bits == 16:
            return Castability.NEVER
        case (Family.DECIMAL | Family.BOOLEAN, Family.FLOAT) if new.bits == 16:
            return Castability.NEVER
        case (Family.TEXT, Family.DECIMAL) if new.scale < 0:
            return Castability.NEVER
        case _:
            return entry
    return Castability.LOSSLESS if has_room else entry


def _value_bits(type_: Any) -> int:
    """Return the bits of an integer type besides the sign."""
    return int(type_.bits - type_.is_signed)


def can_be_rounded(old: Any, new: Any) -> bool:
    """Whether values that do not fit may have a nearest one that does."""
    if castability(old, new) is not Castability.DEPENDS:
        return False
    if new.family in TEMPORAL:
        return _is_refined(new, old) or (old.family, new.family) == (Family.TIMESTAMP, Family.DATE)
    if new.family is Family.DECIMAL:
        return old.family is not Family.INTEGER
    if new.family is Family.FLOAT:
        return old.family in (*NUMBERS, Family.DECIMAL, Family.TEXT)
    return new.family is Family.INTEGER and old.family in (Family.FLOAT, Family.DECIMAL)


def is_doubtful(old: SchemaField, new: SchemaField) -> bool:
    """Whether values may not fit, by their kinds; where they are timestamps, those of the years 1 to 9999."""
    return castability(old.type, new.type) >= Castability.DEPENDS and not is_lossless_by_calendar(
        old.type, new.type
    )


def is_lossless_by_calendar(old: Any, new: Any) -> bool:
    """Whether all timestamps of the years 1 to 9999 fit, and only what is beyond may not."""
    if old.family not in (Family.DATE, Family.TIMESTAMP) or getattr(old, "timezone", None) not in (
        None,
        "UTC",
    ):
        return False
    if new.family is Family.TEXT:
        return True
    is_finer = old.family is Family.DATE or _is_refined(old, new)
    has_no_clock = new.family is Family.TIMESTAMP and new.timezone == getattr(old, "timezone", None)
    return is_finer and has_no_clock and new.unit != "Nanosecond"


def misfit(old: Any, new: Any) -> str:
    """Return why values of the old type may not fit, for a cast that depends on them."""
    return why_misfit(old, new) or f"some values of {old.type_text()} may not fit {new.type_text()}"


def why_misfit(old: Any, new: Any) -> str:
    """Return a more exact reason than that values do not fit; empty if there is none."""
    if (
        old.kind == new.kind
        and new.family is Family.TIMESTAMP
        and (old.timezone is None) != (new.timezone is None)
    ):
        return "a timestamp without a zone becomes an instant only if the zone of its clock is known"
    if new.family is Family.MAP:
        return "the keys of a map may be in any order"
    if old.family is Family.TIMESTAMP and new.family is Family.TIME:
        return "a Time has no date, so only timestamps on 1970-01-01 fit"
    if old.family is Family.TIMESTAMP and new.family is Family.DATE:
        return "only timestamps at midnight fit"
    if old.family in (Family.DATE, Family.TIMESTAMP) and new.family is Family.TEXT:
        return "years before 1 or after 9999, and offsets with seconds, cannot be written as text"
    if new.family is Family.TIMESTAMP and (old.family is Family.DATE or _is_refined(old, new)):
        return f"{new.type_text()} covers only {_REACH[new.unit]}"
    if new.family is Family.DURATION and _is_refined(old, new):
        return f"{new.type_text()} holds at most 2⁶³ of its units"
    return ""


def _is_refined(old: Any, new: Any) -> bool:
    """Whether two types of one kind differ in their unit, and the new one is finer."""
    return bool(old.kind == new.kind and is_finer(new.unit, old.unit))


_WRITTEN_EXACTLY = (*NUMBERS, Family.DECIMAL, Family.BOOLEAN, Family.TIME, Family.DURATION)
_READ_FROM_TEXT = (*NUMBERS, Family.DECIMAL, Family.BOOLEAN, Family.DATE, Family.TIMESTAMP, Family.BYTES)
_BETWEEN: dict[tuple[Family, Family], Castability] = {
    **dict.fromkeys(product(NUMBERS, (*NUMBERS, Family.BOOLEAN)), Castability.DEPENDS),
    **dict.fromkeys(product((Family.BOOLEAN,), NUMBERS), Castability.LOSSLESS),
    **dict.fromkeys(product((Family.DECIMAL,), NUMBERS), Castability.DEPENDS),
    (Family.FLOAT, Family.DECIMAL): Castability.DEPENDS,
    (Family.INTEGER, Family.DECIMAL): Castability.NEVER,
    (Family.DATE, Family.TIMESTAMP): Castability.DEPENDS,
    (Family.TIMESTAMP, Family.DATE): Castability.DEPENDS,
    (Family.TIMESTAMP, Family.TIME): Castability.DEPENDS,
    **dict.fromkeys(product(_WRITTEN_EXACTLY, (Family.TEXT,)), Castability.LOSSLESS),
    **dict.fromkeys(
        product((Family.DATE, Family.TIMESTAMP, Family.BYTES), (Family.TEXT,)), Castability.DEPENDS
    ),
    **dict.fromkeys(product((Family.TEXT,), _READ_FROM_TEXT), Castability.DEPENDS),
}
"""All pairs of families between which there is a way, and how well values fit where their types do not say more.

Kinds of one family may be two, as Int8 and Int16 are.
"""


_BYTES = (Family.TEXT, Family.BYTES)


def missing_cast(old: SchemaField, new: SchemaField) -> str:
    """Return why pyarrow cannot cast one layout to another; empty if it can."""
    before, after = read_hints(old.extra), read_hints(new.extra)
    had_view = before.buffer is not None and before.buffer.kind == "View"
    has_view = after.buffer is not None and after.buffer.kind == "View"
    if Family.LIST in (old.type.family, new.type.family) and (had_view or has_view):
        # Out of views it makes lists, but loses the last one, and says nothing.
        return "pyarrow cannot cast between lists and list views"
    if before.dictionary is None and after.dictionary is not None:
        is_cast = old.type.family in _BYTES and new.type.family in _BYTES and not had_view
        return "" if is_cast else "pyarrow can make dictionaries only of contiguous texts and bytes"
    if before.dictionary is not None and after.dictionary is None and (had_view or has_view):
        return "pyarrow cannot cast between dictionaries and views"
    return ""
