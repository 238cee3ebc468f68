"""Whether the values of one type fit another type, and whether arrays of one layout are cast to another.

Layer: versions.
Shape: one level of a type; items, keys, values and members are fields of their own. A value fits if converting it back
gives the old value; NaN is equal to itself, and -0.0 to 0.
Source: Arrow's safe cast and `pyarrow.dataset`, asked for every pair of types and layouts
(`tests/conformance/test_verdicts.py`), and exact arithmetic (`tests/conformance/test_values.py`).
"""

from collections.abc import Callable
from typing import Any

from schemac.language.attributes.arrow import read_hints
from schemac.language.attributes.attribute import NUMBERS, TEMPORAL, Family
from schemac.language.kinds.answers import is_finer
from schemac.language.logical.model import Castability, LogicalType
from schemac.language.logical.schema_fields import SchemaField

_REACH = {
    "Second": "292 billion years",
    "Millisecond": "292 million years",
    "Microsecond": "the years -290308 to 294247",
    "Nanosecond": "the years 1677 to 2262",
}


def castability(old: LogicalType, new: LogicalType) -> Castability:
    """Return how well values of the old type fit the new one; they do not fit if there is no rule for both families."""
    if old.kind == new.kind:
        return old.castability(new)
    if old.family is Family.NULL:
        return Castability.LOSSLESS
    rule = _BETWEEN.get((old.family, new.family))
    return Castability.NEVER if rule is None or old.parts() or new.parts() else rule(old, new)


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
    if old.kind == new.kind and new.family is Family.MAP:
        return "the keys of a map may be in any order"
    if old.family is Family.TIMESTAMP and new.family is Family.TIME:
        return "a Time has no date, so only timestamps on 1970-01-01 fit"
    if old.family is Family.TIMESTAMP and new.family is Family.DATE:
        return "only timestamps at midnight fit"
    if old.family in (Family.DATE, Family.TIMESTAMP) and new.family is Family.TEXT:
        return "years before 1 or after 9999, and offsets with seconds, cannot be written as text"
    if new.family is Family.TIMESTAMP and (old.family is Family.DATE or _is_refined(old, new)):
        return f"{new.type_text()} covers only {_REACH[new.unit]}"
    if old.kind == new.kind and new.family is Family.DURATION and _is_refined(old, new):
        return f"{new.type_text()} holds at most 2⁶³ of its units"
    return ""


def _is_refined(old: Any, new: Any) -> bool:
    return bool(old.kind == new.kind and is_finer(new.unit, old.unit))


def _lossless_if(is_lossless: bool, otherwise: Castability = Castability.DEPENDS) -> Castability:
    return Castability.LOSSLESS if is_lossless else otherwise


def _always(old: Any, new: Any) -> Castability:
    return Castability.LOSSLESS


def _depends(old: Any, new: Any) -> Castability:
    return Castability.DEPENDS


def _integers(old: Any, new: Any) -> Castability:
    has_sign = new.is_signed or not old.is_signed
    return _lossless_if(has_sign and _value_bits(new) >= _value_bits(old))


def _value_bits(type_: Any) -> int:
    """Bits besides the sign."""
    return int(type_.bits - type_.is_signed)


def _integer_to_float(old: Any, new: Any) -> Castability:
    return _lossless_if(new.mantissa >= _value_bits(old))


def _integer_to_decimal(old: Any, new: Any) -> Castability:
    # Arrow looks at the types alone: there has to be room for every integer of this width.
    digits = len(str(2 ** _value_bits(old)))
    has_room = new.scale >= 0 and new.precision - new.scale >= digits
    return _lossless_if(has_room, Castability.NEVER)


def _floats(old: Any, new: Any) -> Castability:
    return _lossless_if(new.mantissa > old.mantissa)


def _depends_but_for_halves(old: Any, new: Any) -> Castability:
    return Castability.NEVER if old.bits == 16 else Castability.DEPENDS


def _decimal_to_integer(old: Any, new: Any) -> Castability:
    has_room = new.is_signed and 10 ** (old.precision - old.scale) <= 2 ** _value_bits(new)
    return _lossless_if(old.scale <= 0 and has_room)


def _decimal_to_float(old: Any, new: Any) -> Castability:
    if new.bits == 16:
        return Castability.NEVER
    # The powers of two in 10ⁿ take none of the mantissa.
    has_room = 10**old.precision * 5**-old.scale <= 2**new.mantissa
    return _lossless_if(old.scale <= 0 and has_room)


def _boolean_to_float(old: Any, new: Any) -> Castability:
    return Castability.NEVER if new.bits == 16 else Castability.LOSSLESS


def _timestamp_to_text(old: Any, new: Any) -> Castability:
    # Clocks of old were ahead of UTC by odd seconds, for which offsets have no digits.
    return _lossless_if(old.unit == "Nanosecond" and old.timezone in (None, "UTC"))


def _date_to_timestamp(old: Any, new: Any) -> Castability:
    # Clocks that are put forward at midnight have days without one.
    has_midnights = new.timezone in (None, "UTC")
    return _lossless_if(has_midnights and new.unit in ("Second", "Millisecond"))


def _text_to_bytes(old: Any, new: Any) -> Castability:
    return _lossless_if(new.fixed_length is None)


def _text_to_decimal(old: Any, new: Any) -> Castability:
    return Castability.NEVER if new.scale < 0 else Castability.DEPENDS


_BETWEEN: dict[tuple[Family, Family], Callable[[Any, Any], Castability]] = {
    (Family.INTEGER, Family.INTEGER): _integers,
    (Family.INTEGER, Family.FLOAT): _integer_to_float,
    (Family.INTEGER, Family.DECIMAL): _integer_to_decimal,
    (Family.INTEGER, Family.BOOLEAN): _depends,
    (Family.INTEGER, Family.TEXT): _always,
    (Family.FLOAT, Family.FLOAT): _floats,
    (Family.FLOAT, Family.INTEGER): _depends,
    (Family.FLOAT, Family.DECIMAL): _depends_but_for_halves,
    (Family.FLOAT, Family.BOOLEAN): _depends_but_for_halves,
    (Family.FLOAT, Family.TEXT): _always,
    (Family.DECIMAL, Family.INTEGER): _decimal_to_integer,
    (Family.DECIMAL, Family.FLOAT): _decimal_to_float,
    (Family.DECIMAL, Family.TEXT): _always,
    (Family.BOOLEAN, Family.INTEGER): _always,
    (Family.BOOLEAN, Family.FLOAT): _boolean_to_float,
    (Family.BOOLEAN, Family.TEXT): _always,
    (Family.DATE, Family.TIMESTAMP): _date_to_timestamp,
    (Family.DATE, Family.TEXT): _depends,
    (Family.TIME, Family.TEXT): _always,
    (Family.TIMESTAMP, Family.DATE): _depends,
    (Family.TIMESTAMP, Family.TIME): _depends,
    (Family.TIMESTAMP, Family.TEXT): _timestamp_to_text,
    (Family.DURATION, Family.TEXT): _always,
    (Family.BYTES, Family.TEXT): _depends,
    (Family.TEXT, Family.BYTES): _text_to_bytes,
    (Family.TEXT, Family.INTEGER): _depends,
    (Family.TEXT, Family.FLOAT): _depends,
    (Family.TEXT, Family.DECIMAL): _text_to_decimal,
    (Family.TEXT, Family.BOOLEAN): _depends,
    (Family.TEXT, Family.DATE): _depends,
    (Family.TEXT, Family.TIMESTAMP): _depends,
}
"""All pairs of families between which there is a way; kinds of one family may be two, as Int8 and Int16 are."""


_BYTES = (Family.TEXT, Family.BYTES)


def missing_cast(old: SchemaField, new: SchemaField) -> str:
    """Which cast pyarrow lacks between two layouts; empty if it has the one in question."""
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
