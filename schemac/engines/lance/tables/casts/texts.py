"""Texts and bytes, and all other types written out.

Layer: engines.
Shape: what is written can be read back; a number or moment is read where the text means exactly that. A binary float counts
as what a text means where, rounded to the digits of the text, it is the number of the text: 0.1 is, 1e400 is not.
"""

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.attributes.family import Family
from schemac.engines.lance.tables.casts.clocks import FIRST_SECOND, LAST_SECOND, offsets_at, offsets_of
from schemac.engines.lance.tables.casts.numbers import to_decimal, to_float
from schemac.engines.lance.tables.casts.timestamps import DAY, moved
from schemac.engines.lance.tables.casts.wanted import Cast, Wanted, array_of, fitting, numbers_of, one_by_one
from schemac.kinds.units import PER_SECOND

_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,5})?")
_NO_NUMBERS = {"nan": "nan", "inf": "inf", "infinity": "inf"}
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?)?"
    r"(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?"
)


def cast_bytes(values: Any, wanted: Wanted) -> Cast:
    """Between texts and bytes of any layout."""
    length = getattr(wanted.new, "fixed_length", None)
    if wanted.new.family is Family.TEXT and wanted.old.family is Family.BYTES:
        if pa.types.is_fixed_size_binary(values.type):
            values = values.cast(pa.binary())
        return one_by_one(values, wanted.type, _text_of)
    if length is not None and getattr(wanted.old, "fixed_length", None) != length:
        values = values.cast(pa.large_binary())
        lengths = np.asarray(pc.fill_null(pc.binary_length(values), length).to_numpy(zero_copy_only=False))
        misfits = lengths != length
        kept = pc.if_else(pa.array(misfits), pa.scalar(None, values.type), values)
        return Cast(kept.cast(wanted.type), misfits)
    return fitting(values.cast(wanted.type), len(values))


def write_out(values: Any, wanted: Wanted) -> Cast:
    """As text."""
    family = wanted.old.family
    if family is Family.DURATION:
        return fitting(values.cast(pa.int64()).cast(wanted.type), len(values))
    if family not in (Family.DATE, Family.TIMESTAMP):
        return fitting(values.cast(wanted.type), len(values))
    numbers, there = numbers_of(values)
    per_second = PER_SECOND[wanted.old.unit] if family is Family.TIMESTAMP else 1
    seconds = np.floor_divide(numbers.astype(np.int64), per_second)
    if family is Family.DATE:
        seconds = seconds // 1000 if pa.types.is_date64(values.type) else seconds * DAY
    zone = wanted.old.timezone if family is Family.TIMESTAMP else None
    offsets, fits = offsets_at(seconds, zone or "UTC")
    # The offset is written in minutes; a clock that was ahead by seconds too cannot be written.
    fits &= offsets % 60 == 0
    fits &= (seconds + offsets >= FIRST_SECOND) & (seconds + offsets <= LAST_SECOND)
    plain = pa.timestamp(values.type.unit) if family is Family.TIMESTAMP else values.type
    readings, held = moved(numbers, offsets * per_second)
    shown = array_of(readings, there, fits & held, plain)
    written = shown.values.cast(pa.string())
    if zone is not None:
        suffix = pa.array([_offset_text(int(o), zone) for o in offsets], pa.string())
        written = pc.binary_join_element_wise(written, suffix, "")
    return Cast(written.cast(wanted.type), shown.misfits)


def read_text(values: Any, wanted: Wanted) -> Cast:
    """Return a text as what it says."""
    values = values.cast(pa.large_string())
    family, new = wanted.new.family, wanted.new
    if family is Family.TIMESTAMP:
        found = one_by_one(values, pa.int64(), lambda text: _moment_in(text, wanted))
        return Cast(found.values.view(wanted.type), found.misfits)
    if family is Family.BOOLEAN:
        return one_by_one(values, wanted.type, lambda text: _TRUTHS.get(text.lower()))
    if family is Family.DATE:
        return one_by_one(values, wanted.type, _date_in)
    if family is Family.DECIMAL:
        return one_by_one(
            values,
            wanted.type,
            lambda text: to_decimal(Decimal(text), wanted) if _NUMBER.fullmatch(text) else None,
        )
    if family is Family.FLOAT:
        return one_by_one(values, wanted.type, lambda text: _float_in(text, wanted))
    if family is not Family.INTEGER:
        raise ValueError(f"no cast from a text to {new.type_text()}")
    bits = new.bits - new.is_signed
    low, high = -(2**bits) if new.is_signed else 0, 2**bits - 1

    def whole(text: str) -> int | None:
        found = int(text) if _WHOLE.fullmatch(text) else None
        return found if found is not None and low <= found <= high else None

    return one_by_one(values, wanted.type, whole)


def _text_of(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _offset_text(offset: int, zone: str) -> str:
    if zone == "UTC":
        return "Z"
    minutes = abs(offset) // 60
    return f"{'-' if offset < 0 else '+'}{minutes // 60:02}{minutes % 60:02}"


def _float_in(text: str, wanted: Wanted) -> float | None:
    sign, bare = (text[0], text[1:]) if text[:1] in ("+", "-") and text else ("", text)
    if bare.lower() in _NO_NUMBERS:
        return float(sign + _NO_NUMBERS[bare.lower()])
    if not _NUMBER.fullmatch(text):
        return None
    if wanted.new.bits == 64 and repr(float(text)) == text:
        return float(text)
    value = Decimal(text)
    exponent = value.as_tuple().exponent
    found = to_float(value, -int(exponent), wanted)
    return -0.0 if found == 0 and sign == "-" else found


def _date_in(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def _moment_in(text: str, wanted: Wanted) -> int | None:
    """Return the number to be stored."""
    found = _MOMENT.fullmatch(text)
    if found is None:
        return None
    day, hour, minute, second, fraction, offset = found.groups()
    if offset and hour is None:
        return None
    try:
        shown = datetime.fromisoformat(f"{day}T{hour or '00'}:{minute or '00'}:{second or '00'}+00:00")
    except ValueError:
        return None
    seconds = _in_zone(round(shown.timestamp()), offset, wanted)
    if seconds is None:
        return None
    per_second = PER_SECOND[wanted.new.unit]
    nanoseconds = int((fraction or "").ljust(9, "0"))
    parts, rest = divmod(nanoseconds * per_second, 10**9)
    number = seconds * per_second + parts
    return number if (wanted.is_rounded or not rest) and -(2**63) <= number < 2**63 else None


def _in_zone(seconds: int, offset: str | None, wanted: Wanted) -> int | None:
    """Return the instant or reading that is stored: a text with an offset is an instant, one without a reading."""
    is_instant = wanted.new.timezone is not None
    if offset:
        instant = seconds - _ahead(offset)
        if is_instant:
            return instant
        if not wanted.zone:
            return None
        ahead, known = offsets_at(np.array([instant]), wanted.zone)
        return instant + int(ahead[0]) if known[0] else None
    if not is_instant:
        return seconds
    if not wanted.zone:
        return None
    ahead, known = offsets_of(np.array([seconds]), wanted.zone)
    return seconds - int(ahead[0]) if known[0] else None


def _ahead(offset: str) -> int:
    if offset == "Z":
        return 0
    digits = offset[1:].replace(":", "").ljust(4, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if offset[0] == "-" else seconds
