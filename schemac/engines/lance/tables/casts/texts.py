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
from schemac.engines.lance.tables.casts.cast_target import (
    Cast,
    CastTarget,
    array_of,
    fitting,
    numbers_of,
    one_by_one,
)
from schemac.engines.lance.tables.casts.clocks import FIRST_SECOND, LAST_SECOND, offsets_at, offsets_of
from schemac.engines.lance.tables.casts.numbers import to_decimal, to_float
from schemac.engines.lance.tables.casts.timestamps import DAY, moved
from schemac.kinds.units import PER_SECOND

_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,5})?")
_NO_NUMBERS = {"nan": "nan", "inf": "inf", "infinity": "inf"}
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?)?"
    r"(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?"
)


def cast_bytes(values: Any, target: CastTarget) -> Cast:
    """Between texts and bytes of any layout."""
    length = getattr(target.new, "fixed_length", None)
    if target.new.family is Family.TEXT and target.old.family is Family.BYTES:
        if pa.types.is_fixed_size_binary(values.type):
            values = values.cast(pa.binary())
        return one_by_one(values, target.type, _text_of)
    if length is not None and getattr(target.old, "fixed_length", None) != length:
        values = values.cast(pa.large_binary())
        lengths = np.asarray(pc.fill_null(pc.binary_length(values), length).to_numpy(zero_copy_only=False))
        misfits = lengths != length
        fitting_values = pc.if_else(pa.array(misfits), pa.scalar(None, values.type), values)
        return Cast(fitting_values.cast(target.type), misfits)
    return fitting(values.cast(target.type), len(values))


def write_out(values: Any, target: CastTarget) -> Cast:
    """As text."""
    family = target.old.family
    if family is Family.DURATION:
        return fitting(values.cast(pa.int64()).cast(target.type), len(values))
    if family not in (Family.DATE, Family.TIMESTAMP):
        return fitting(values.cast(target.type), len(values))
    numbers, there = numbers_of(values)
    per_second = PER_SECOND[target.old.unit] if family is Family.TIMESTAMP else 1
    seconds = np.floor_divide(numbers.astype(np.int64), per_second)
    if family is Family.DATE:
        seconds = seconds // 1000 if pa.types.is_date64(values.type) else seconds * DAY
    zone = target.old.timezone if family is Family.TIMESTAMP else None
    offsets, fits = offsets_at(seconds, zone or "UTC")
    # The offset is written in minutes; a clock that was ahead by seconds too cannot be written.
    fits &= offsets % 60 == 0
    fits &= (seconds + offsets >= FIRST_SECOND) & (seconds + offsets <= LAST_SECOND)
    plain = pa.timestamp(values.type.unit) if family is Family.TIMESTAMP else values.type
    readings, in_range = moved(numbers, offsets * per_second)
    local_times = array_of(readings, there, fits & in_range, plain)
    written = local_times.values.cast(pa.string())
    if zone is not None:
        suffix = pa.array([_offset_text(int(o), zone) for o in offsets], pa.string())
        written = pc.binary_join_element_wise(written, suffix, "")
    return Cast(written.cast(target.type), local_times.misfits)


def read_text(values: Any, target: CastTarget) -> Cast:
    """Return a text as what it says."""
    values = values.cast(pa.large_string())
    family, new = target.new.family, target.new
    if family is Family.TIMESTAMP:
        parsed = one_by_one(values, pa.int64(), lambda text: _timestamp_in(text, target))
        return Cast(parsed.values.view(target.type), parsed.misfits)
    if family is Family.BOOLEAN:
        return one_by_one(values, target.type, lambda text: _TRUTHS.get(text.lower()))
    if family is Family.DATE:
        return one_by_one(values, target.type, _date_in)
    if family is Family.DECIMAL:
        return one_by_one(
            values,
            target.type,
            lambda text: to_decimal(Decimal(text), target) if _NUMBER.fullmatch(text) else None,
        )
    if family is Family.FLOAT:
        return one_by_one(values, target.type, lambda text: _float_in(text, target))
    if family is not Family.INTEGER:
        raise ValueError(f"no cast from a text to {new.type_text()}")
    bits = new.bits - new.is_signed
    low, high = -(2**bits) if new.is_signed else 0, 2**bits - 1

    def whole(text: str) -> int | None:
        number = int(text) if _WHOLE.fullmatch(text) else None
        return number if number is not None and low <= number <= high else None

    return one_by_one(values, target.type, whole)


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


def _float_in(text: str, target: CastTarget) -> float | None:
    sign, bare = (text[0], text[1:]) if text[:1] in ("+", "-") and text else ("", text)
    if bare.lower() in _NO_NUMBERS:
        return float(sign + _NO_NUMBERS[bare.lower()])
    if not _NUMBER.fullmatch(text):
        return None
    if target.new.bits == 64 and repr(float(text)) == text:
        return float(text)
    value = Decimal(text)
    exponent = value.as_tuple().exponent
    number = to_float(value, -int(exponent), target)
    return -0.0 if number == 0 and sign == "-" else number


def _date_in(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def _timestamp_in(text: str, target: CastTarget) -> int | None:
    """Return the number to be stored."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    day, hour, minute, second, fraction, offset = match.groups()
    if offset and hour is None:
        return None
    try:
        local_time = datetime.fromisoformat(f"{day}T{hour or '00'}:{minute or '00'}:{second or '00'}+00:00")
    except ValueError:
        return None
    seconds = _in_zone(round(local_time.timestamp()), offset, target)
    if seconds is None:
        return None
    per_second = PER_SECOND[target.new.unit]
    nanoseconds = int((fraction or "").ljust(9, "0"))
    parts, rest = divmod(nanoseconds * per_second, 10**9)
    number = seconds * per_second + parts
    return number if (target.is_rounded or not rest) and -(2**63) <= number < 2**63 else None


def _in_zone(seconds: int, offset: str | None, target: CastTarget) -> int | None:
    """Return the instant or reading that is stored: a text with an offset is an instant, one without a reading."""
    is_instant = target.new.timezone is not None
    if offset:
        instant = seconds - _ahead(offset)
        if is_instant:
            return instant
        if not target.zone:
            return None
        ahead, known = offsets_at(np.array([instant]), target.zone)
        return instant + int(ahead[0]) if known[0] else None
    if not is_instant:
        return seconds
    if not target.zone:
        return None
    ahead, known = offsets_of(np.array([seconds]), target.zone)
    return seconds - int(ahead[0]) if known[0] else None


def _ahead(offset: str) -> int:
    if offset == "Z":
        return 0
    digits = offset[1:].replace(":", "").ljust(4, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if offset[0] == "-" else seconds
